// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/sniff_test.cpp
#include "src/format/sniff.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "andiron/limits.h"
#include "src/codec/gzip.h"
#include "src/codec/tar_reader.h"
#include "src/core/little_endian.h"
#include "src/core/try.h"
#include "src/format/pytorch/pytorch.h"
#include "src/format/record/bincode.h"
#include "src/format/record/record.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::string_view json_space = " \n\r\t";

struct Signature {
  std::size_t offset;
  std::string_view bytes;
  const char* what;
  const char* hint;
};

using namespace std::string_view_literals;

constexpr Signature signatures[] = {
    {0, "version https://git-lfs.github.com/spec/"sv, "a Git LFS pointer, not the file itself",
     "run `git lfs pull`"},
    {0, "\x93NUMPY"sv, "a NumPy array", "convert it to SafeTensors first"},
    {0, "GGUF"sv, "a GGUF file", "convert it to SafeTensors first"},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file (Keras)", "convert it to SafeTensors first"},
};

// A length that fits a header, then JSON. This must come before all signatures: a header of 640
// bytes makes the file begin like a pickle. A file that is cut short, or lies about its length, but
// goes on like a header is SafeTensors too, so that the reader can say what is wrong with it.
bool is_safetensors(std::string_view head, std::uint64_t file_bytes) {
  if (head.size() <= length_bytes) return false;
  const std::uint64_t length = load_u64(reinterpret_cast<const std::byte*>(head.data()));
  const std::string_view header = head.substr(length_bytes);
  const std::size_t start = header.find_first_not_of(json_space);
  if (length <= Limits().header_bytes && length <= file_bytes - length_bytes) {
    return start == std::string_view::npos || header[start] == '{';
  }
  return head.front() != '{' && header.starts_with("{\"");
}

}  // namespace

Result<Sniffed> sniff(const ByteSource& source) {
  if (source.size() == 0) {
    return Sniffed{Content::foreign, "an empty file", "the download may have failed"};
  }
  std::array<std::byte, sniffed_bytes> buffer;
  const auto count =
      static_cast<std::size_t>(std::min<std::uint64_t>(sniffed_bytes, source.size()));
  ANDIRON_TRY(source.read_at(0, std::span(buffer).first(count)));
  const std::string_view head(reinterpret_cast<const char*>(buffer.data()), count);

  if (is_safetensors(head, source.size())) return Sniffed{Content::safetensors};
  if (head.starts_with("NRUB")) return Sniffed{Content::burnpack};
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06") || is_tar(head) ||
      is_pickle(head)) {
    return Sniffed{Content::pytorch};
  }
  if (is_gzip(head)) return Sniffed{Content::gzip};
  if (is_msgpack_record(head)) return Sniffed{Content::record};
  if (is_bincode_record(head)) return Sniffed{Content::unnamed_record};
  for (const Signature& known : signatures) {
    if (head.size() >= known.offset && head.substr(known.offset).starts_with(known.bytes)) {
      return Sniffed{Content::foreign, known.what, known.hint};
    }
  }
  const std::size_t start = head.find_first_not_of(json_space);
  if (start != std::string_view::npos && head[start] == '{') {
    return Sniffed{is_json_record(head) ? Content::record : Content::json};
  }
  if (start != std::string_view::npos && head[start] == '<') {
    return Sniffed{Content::foreign, "a web page or XML",
                   "the download gave a page, or an error, instead of the file"};
  }
  return Sniffed{};
}

}  // namespace andiron::inline v1::detail
