// SPDX-License-Identifier: MIT OR Apache-2.0
// Asks the rows of the table (formats.cpp), whose formats know their own first bytes; here are
// those of files that are not read. Tested by tests/format/recognize_test.cpp
#include "src/format/recognize.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "src/codec/gzip.h"
#include "src/core/try.h"
#include "src/freestanding/json_reader.h"

namespace andiron::inline v1::detail {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view bytes;
  const char* what;
  const char* hint;
};

constexpr Signature signatures[] = {
    {"version https://git-lfs.github.com/spec/"sv, "a Git LFS pointer, not the file itself",
     "run `git lfs pull`"},
    {"GGUF"sv, "a GGUF file", "convert it to SafeTensors first"},
    {"\x89HDF\r\n\x1a\n"sv, "an HDF5 file (Keras)", "convert it to SafeTensors first"},
};

// Content of no format, by its first bytes.
Recognized by_signature(std::string_view head) {
  for (const Signature& known : signatures) {
    if (head.starts_with(known.bytes)) return {.what = known.what, .hint = known.hint};
  }
  const std::size_t start = head.find_first_not_of(json_space);
  if (start == std::string_view::npos) return {};
  if (head[start] == '{') return {.is_json = true};
  if (head[start] != '<') return {};
  return {.what = "a web page or XML",
          .hint = "the download returned a web page instead of the file"};
}

std::string in_words(const Recognized& content) {
  if (content.row != nullptr) return "a " + std::string(content.row->info.title) + " file";
  if (content.is_json) return "JSON that is not a record";
  return content.what.empty() ? "unknown content" : content.what;
}

// By how the content begins: inflating all of it may take long and much memory.
Result<Recognized> by_content_of_gzip(std::string_view head) {
  std::string what = "another gzip file";
  if (!is_gzip(head)) {
    const Bytes bytes = Bytes::borrow(std::as_bytes(std::span(head.data(), head.size())));
    ANDIRON_ASSIGN(Recognized content, recognize(*memory_source(bytes)));
    if (content.row != nullptr && content.row->may_be_gzip) return content;
    what = in_words(content);
  }
  return Recognized{.what = "a gzip file that contains " + what, .hint = "unpack it first"};
}

}  // namespace

Result<Recognized> recognize(const ByteSource& source) {
  if (source.size() == 0) {
    return Recognized{.what = "an empty file", .hint = "the download may have failed"};
  }
  std::array<std::byte, head_bytes> buffer;
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(head_bytes, source.size()));
  ANDIRON_TRY(source.read_at(0, std::span(buffer).first(count)));
  const std::string_view bytes(reinterpret_cast<const char*>(buffer.data()), count);
  for (const FormatRow& row : format_rows()) {
    if (row.is_format({bytes, source})) return Recognized{.row = &row};
  }
  if (!is_gzip(bytes)) return by_signature(bytes);
  ANDIRON_ASSIGN(const ContentHead content, content_head(source, head_bytes));
  return by_content_of_gzip(content.bytes);
}

}  // namespace andiron::inline v1::detail
