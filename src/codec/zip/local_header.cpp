// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/zip_reader_test.cpp and tests/codec/zip_hostile_test.cpp
#include "src/codec/zip/local_header.h"

#include <algorithm>
#include <string>
#include <utility>

#include "andiron/bytes.h"
#include "src/core/little_endian.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

std::string method_name(std::uint16_t method) {
  constexpr std::pair<std::uint16_t, const char*> names[] = {
      {9, "Deflate64"},  {12, "bzip2"}, {14, "LZMA"},
      {93, "Zstandard"}, {95, "xz"},    {99, "AES encryption"}};
  std::string text = "method " + std::to_string(method);
  for (const auto& [number, name] : names) {
    if (number == method) text += " (" + std::string(name) + ")";
  }
  return text;
}

class LocalHeader {
 public:
  LocalHeader(const ByteSource& source, const ZipEntry& entry, std::span<const std::byte> head)
      : source_(source), entry_(entry), head_(head) {}

  Result<std::uint64_t> check(std::uint64_t end) const {
    if (load_u32(at(0)) != zip_local_number) {
      return bad("has no header", "at byte " + std::to_string(entry_.header_offset));
    }
    ANDIRON_TRY(check_name());
    const std::size_t fixed = zip_local_header_bytes + entry_.name.size();
    const std::size_t extra = load_u16(at(28));
    if (extra > end - entry_.header_offset - fixed - entry_.stored_bytes) {
      return bad("overlaps what follows",
                 std::to_string(entry_.stored_bytes) + " bytes from " +
                     std::to_string(entry_.header_offset + fixed + extra),
                 "all of it before byte " + std::to_string(end));
    }
    ANDIRON_TRY(check_numbers(head_.subspan(fixed, extra)));
    return entry_.header_offset + fixed + extra;
  }

 private:
  const std::byte* at(std::size_t offset) const { return head_.data() + offset; }

  Error bad(std::string_view what, std::string found, std::string expected = {}) const {
    Error error = zip_entry_error(ErrorCode::bad_archive, source_, entry_.name, what);
    error.found = std::move(found);
    error.expected = std::move(expected);
    return error;
  }
  Error differs(const char* what, std::uint64_t here, std::uint64_t in_directory) const {
    return bad(std::string("has a header that disagrees with the directory about its ") + what,
               std::to_string(here), std::to_string(in_directory));
  }

  Status check_name() const {
    const std::size_t size = load_u16(at(26));
    if (size != entry_.name.size()) {
      return differs("name length", size, entry_.name.size());
    }
    const std::string_view name(reinterpret_cast<const char*>(at(zip_local_header_bytes)), size);
    if (name == entry_.name) return {};
    return bad("has a different name in its header", in_quotes(name));
  }

  Status check_numbers(std::span<const std::byte> extra) const {
    const std::uint16_t flags = load_u16(at(6));
    const std::uint16_t method = load_u16(at(8));
    if (((flags ^ entry_.flags) & ~zip_has_descriptor) != 0) {
      return differs("flags", flags, entry_.flags);
    }
    if (method != entry_.method) return differs("method", method, entry_.method);
    // What the writer did not know when it wrote the header, it wrote as 0.
    const bool unknown_yet = ((flags | entry_.flags) & zip_has_descriptor) != 0;
    const auto agrees = [&](std::uint64_t here, std::uint64_t in_directory) {
      return here == in_directory || (here == 0 && unknown_yet);
    };
    const std::uint32_t crc = load_u32(at(14));
    if (!agrees(crc, entry_.crc)) return differs("checksum", crc, entry_.crc);

    std::uint64_t stored_bytes = load_u32(at(18));
    std::uint64_t bytes = load_u32(at(22));
    if (bytes == zip64_elsewhere || stored_bytes == zip64_elsewhere) {
      const Result<std::span<const std::byte>> found = zip64_field(extra);
      if (!found) return bad(found.error().message, "in its header");
      std::span<const std::byte> field = *found;
      for (std::uint64_t* number : {&bytes, &stored_bytes}) {
        if (*number != zip64_elsewhere) continue;
        if (field.size() < 8) return bad("has an incomplete ZIP64 field", "in its header");
        *number = load_u64(field.data());
        field = field.subspan(8);
      }
    }
    if (!agrees(bytes, entry_.bytes)) return differs("size", bytes, entry_.bytes);
    if (!agrees(stored_bytes, entry_.stored_bytes)) {
      return differs("stored size", stored_bytes, entry_.stored_bytes);
    }
    return {};
  }

  const ByteSource& source_;
  const ZipEntry& entry_;
  const std::span<const std::byte> head_;
};

}  // namespace

Status check_zip_entry_is_readable(const ByteSource& source, const ZipEntry& entry) {
  constexpr std::uint16_t deflate = 8;
  const char* const what =
      (entry.flags & (zip_encrypted | zip_strongly_encrypted | zip_masked_header)) != 0
          ? "is encrypted"
      : (entry.flags & zip_patch) != 0 ? "is a patch of other data"
                                       : nullptr;
  if (what != nullptr) return zip_entry_error(ErrorCode::unsupported, source, entry.name, what);
  if (entry.is_stored() || entry.method == deflate) return {};
  Error error = zip_entry_error(ErrorCode::unsupported, source, entry.name,
                                "is compressed with " + method_name(entry.method));
  error.expected = "stored or deflated data";
  error.hint = "repack the archive without compression";
  return error;
}

std::uint64_t zip_local_header_size(const ZipEntry& entry, std::span<const std::byte> head) {
  const std::uint64_t fixed = zip_local_header_bytes + entry.name.size();
  return head.size() < fixed ? fixed : fixed + load_u16(head.data() + 28);
}

Result<std::uint64_t> check_zip_local_header(const ByteSource& source, const ZipEntry& entry,
                                             std::uint64_t end, std::span<const std::byte> head) {
  return LocalHeader(source, entry, head).check(end);
}

}  // namespace andiron::inline v1::detail
