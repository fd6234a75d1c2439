// SPDX-License-Identifier: MIT OR Apache-2.0
// Records by their content: what is one, and in which encoding.
// Tested by tests/format/record_reader_test.cpp and record_hostile_test.cpp
#include <algorithm>
#include <string>

#include "src/codec/gzip.h"
#include "src/codec/msgpack_reader.h"
#include "src/core/try.h"
#include "src/format/header_findings.h"
#include "src/format/record/bincode.h"
#include "src/format/record/reader.h"
#include "src/format/record/record.h"
#include "src/format/sniff.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::string_view json_space = " \n\r\t";

std::string_view without_space(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(json_space), text.size()));
  return text;
}

bool is_json(std::string_view head) { return without_space(head).starts_with('{'); }

const char* name_of(const Sniffed& content) {
  switch (content.content) {
    case Content::safetensors:
      return "a SafeTensors file";
    case Content::burnpack:
      return "a Burnpack file";
    case Content::pytorch:
      return "a PyTorch file";
    case Content::json:
      return "JSON that is no record";
    case Content::gzip:
      return "another gzip file";
    case Content::foreign:
      return content.what;
    default:
      return "unknown content";
  }
}

// Looks before a file is inflated, which may take long and much memory.
Status check_compressed(const std::string& file, std::string_view head) {
  ANDIRON_ASSIGN(const Bytes copy, Bytes::copy(std::as_bytes(std::span(head))));
  ANDIRON_ASSIGN(const Sniffed content, sniff(*memory_source(copy)));
  if (content.content == Content::record || content.content == Content::unnamed_record) return {};
  return Error{.code = ErrorCode::not_a_weight_file,
               .message = "this is no weight file that we know",
               .file = file,
               .found = std::string("a gzip file that holds ") + name_of(content),
               .hint = "unpack it first"};
}

}  // namespace

bool is_msgpack_record(std::string_view head) {
  MsgpackReader reader(head);
  MsgpackItem item;
  std::string_view key;
  return reader.next(item) && item.kind == MsgpackKind::map && item.size != 0 && reader.text(key) &&
         (key == "metadata" || key == "item");
}

bool is_json_record(std::string_view head) {
  if (!is_json(head)) return false;
  const std::string_view first_key = without_space(without_space(head).substr(1));
  return first_key.starts_with("\"item\"") ||
         head.find("burn_core::record::") != std::string_view::npos;
}

Result<Archive> read_record(const ByteSourcePtr& source, const OpenOptions& options) {
  ANDIRON_ASSIGN(const ContentHead head, content_head(*source, sniffed_bytes));
  if (is_bincode_record(head.bytes)) return needs_module(source->name());
  if (head.compressed && !options.format) ANDIRON_TRY(check_compressed(source->name(), head.bytes));
  RecordOrigin origin{.file = source, .content = source, .container = {}};
  if (head.compressed) {
    ANDIRON_ASSIGN(origin.content, inflated(*source, options.limits));
  }
  const bool json = is_json(head.bytes);
  origin.container = std::string(json ? "json" : "msgpack") + (head.compressed ? ".gz" : "");
  const bool holds_text = json && !origin.content->in_memory();
  if (head.compressed || holds_text) origin.held_bytes = origin.content->size();
  if (origin.held_bytes > options.limits.inflated_bytes) {
    return over_limit(source->name(), "JSON that is too long",
                      std::to_string(origin.held_bytes) + " bytes", options.limits.inflated_bytes);
  }
  if (!json) return read_tree(origin, *msgpack_cursor(origin.content, options.limits), options);
  ANDIRON_ASSIGN(const auto cursor, json_cursor(origin.content));
  return read_tree(origin, *cursor, options);
}

}  // namespace andiron::inline v1::detail
