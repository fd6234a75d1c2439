// SPDX-License-Identifier: MIT OR Apache-2.0
// Records by their content: what is one, and in which encoding.
// Tested by tests/format/record_reader_test.cpp and record_hostile_test.cpp
#include <algorithm>
#include <memory>
#include <string>

#include "src/codec/gzip.h"
#include "src/core/check_limit.h"
#include "src/core/try.h"
#include "src/format/header_diagnostics.h"
#include "src/format/record/bincode.h"
#include "src/format/record/record.h"
#include "src/format/record/tree_reader.h"
#include "src/freestanding/json_reader.h"
#include "src/freestanding/msgpack_reader.h"

namespace andiron::inline v1::detail {
namespace {

std::string_view without_space(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(json_space), text.size()));
  return text;
}

bool is_json(std::string_view head) { return without_space(head).starts_with('{'); }

// A map whose first key is "metadata" or "item".
bool is_msgpack_record(std::string_view head) {
  MsgpackReader reader(head);
  MsgpackItem item;
  std::string_view key;
  return reader.next(item) && item.kind == MsgpackKind::map && item.size != 0 && reader.text(key) &&
         (key == "metadata" || key == "item");
}

// An object whose first key is "item", or which names one of Burn's recorders.
bool is_json_record(std::string_view head) {
  if (!is_json(head)) return false;
  const std::string_view first_key = without_space(without_space(head).substr(1));
  return first_key.starts_with("\"item\"") ||
         head.find("burn_core::record::") != std::string_view::npos;
}

// A record that could also be read as bincode, since a map of three begins like a text of 131
// bytes, is MessagePack.
bool is_unnamed_record(std::string_view head) {
  return !is_msgpack_record(head) && is_bincode_record(head);
}

}  // namespace

bool is_record(const FileHead& head) {
  return is_msgpack_record(head.bytes) || is_bincode_record(head.bytes) ||
         is_json_record(head.bytes);
}

Result<Archive> read_record(const ReadContext& context) {
  ANDIRON_ASSIGN(const ContentHead head, content_head(*context.source, head_bytes));
  const ByteSourcePtr& source = context.source;
  const OpenOptions& options = context.options;
  if (is_unnamed_record(head.bytes) && !options.expected) return needs_module(source->name());
  RecordOrigin origin{.file = source, .content = source, .packaging = {}};
  if (head.compressed) {
    ANDIRON_ASSIGN(origin.content, inflated(*source, options.limits, *context.budget));
  }
  const auto noted = [&](Result<Archive> archive) {
    if (archive && options.verify && !head.compressed) {
      archive->add_note(std::string(no_checksums));
    }
    return archive;
  };
  if (is_unnamed_record(head.bytes)) return noted(read_bincode(origin.content, options));
  const bool json = is_json(head.bytes);
  origin.packaging = std::string(json ? "json" : "msgpack") + (head.compressed ? ".gz" : "");
  const bool holds_text = json && !origin.content->in_memory();
  if (head.compressed || holds_text) origin.held_bytes = origin.content->size();
  ANDIRON_TRY(
      check_limit(origin.held_bytes, options.limits.inflated_bytes,
                  {"the JSON text is too long", &Limits::inflated_bytes, "bytes", source->name()}));
  std::unique_ptr<RecordCursor> cursor;
  if (json) {
    ANDIRON_ASSIGN(cursor, json_cursor(origin.content));
  } else {
    cursor = msgpack_cursor(origin.content, options.limits);
  }
  return noted(read_tree(origin, *cursor, options, *context.budget));
}

}  // namespace andiron::inline v1::detail
