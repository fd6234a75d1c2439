// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/zip_reader_test.cpp and tests/codec/zip_hostile_test.cpp
#include "src/codec/zip/end.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "andiron/bytes.h"
#include "src/codec/zip/layout.h"
#include "src/core/check_limit.h"
#include "src/core/little_endian.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::uint64_t most_tail_bytes =
    zip_locator_bytes + zip_end_bytes + zip_most_text_bytes;  // with a comment
// PyTorch's own limit. It keeps the memory for a directory within reason.
constexpr std::uint64_t max_directory_bytes = 0xffffffff;

std::string with_words(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what;
}

std::string range_of(std::uint64_t count, std::uint64_t offset) {
  return with_words(count, "bytes from ") + std::to_string(offset);
}

// What the bytes at the end of an archive tell.
class EndRecords {
 public:
  // `tail` are the last bytes of the archive, which ends at `end`.
  EndRecords(const ByteSource& source, std::uint64_t end, Bytes tail)
      : source_(source), end_of_archive_(end), tail_(std::move(tail)) {
    for (std::size_t at = tail_.size(); at != 0 && !second_;) {
      at = tail_.text().rfind(zip_end_signature, at - 1);
      if (at == std::string_view::npos) break;
      if (tail_.size() - at < zip_end_bytes) continue;
      const std::size_t ends = at + zip_end_bytes + load_u16(tail_.data() + at + 20);
      if (ends != tail_.size()) {
        if (!elsewhere_) elsewhere_ = ends;
      } else {
        (record_ ? second_ : record_) = at;
      }
    }
  }

  bool has_record() const noexcept { return record_.has_value(); }

  // Where the archive ends by its last record, if that is before its bytes do.
  std::optional<std::uint64_t> ends_before() const noexcept {
    if (record_ || !elsewhere_ || *elsewhere_ >= tail_.size()) return std::nullopt;
    return tail_offset() + *elsewhere_;
  }

  // Why there is no record; `head` is how the file begins.
  Error no_record(std::string_view head) const {
    if (ends_before()) {
      return bad("bytes follow the end of the zip archive",
                 with_words(end_of_archive_ - *ends_before(), "more bytes"), "none",
                 "something was appended to the file; " + Message(Advice::lenient) + " ignores it");
    }
    if (elsewhere_ || zip_local_signature.starts_with(head)) {
      return error(ErrorCode::truncated, "the zip archive is cut off",
                   with_words(end_of_archive_, "bytes, no directory at the end"),
                   "a directory at the end of the file", "the download may be incomplete");
    }
    return bad("not a zip archive", "a file that begins with " + in_quotes(head),
               "PK\\x03\\x04, and a directory at the end of the file");
  }

  // REQUIRES: has_record().
  Status take_record() {
    if (second_) {
      return bad("the zip archive has two end records",
                 "at bytes " + std::to_string(tail_offset() + *second_) + " and " +
                     std::to_string(tail_offset() + *record_));
    }
    const std::byte* const record = tail_.data() + *record_;
    end_ = {load_u16(record + 4),  load_u16(record + 6),  load_u16(record + 8),
            load_u16(record + 10), load_u32(record + 12), load_u32(record + 16)};
    directory_end_ = tail_offset() + *record_;
    if (*record_ < zip_locator_bytes ||
        load_u32(record - zip_locator_bytes) != zip_locator_number) {
      return {};
    }
    return take_locator(record - zip_locator_bytes);
  }

  // Where the ZIP64 record lies, if there is one.
  std::optional<std::uint64_t> record64_offset() const noexcept { return record64_offset_; }

  // REQUIRES: there is a ZIP64 record, and these are its bytes.
  Status take_record64(std::span<const std::byte, zip_end64_bytes> record) {
    const std::uint64_t locator_offset = directory_end_ - zip_locator_bytes;
    const std::uint64_t offset = *record64_offset_;
    const std::byte* const at = record.data();
    if (load_u32(at) != zip_end64_number) {
      return bad("there is no ZIP64 record where its locator points",
                 "byte " + std::to_string(offset));
    }
    if (load_u64(at + 4) != locator_offset - offset - 12) {
      return bad("the ZIP64 record does not end where its locator begins",
                 with_words(load_u64(at + 4), "bytes"),
                 std::to_string(locator_offset - offset - 12));
    }
    const End end{load_u32(at + 16), load_u32(at + 20), load_u64(at + 24),
                  load_u64(at + 32), load_u64(at + 40), load_u64(at + 48)};
    const auto agrees = [](std::uint64_t small, std::uint64_t large, std::uint64_t elsewhere) {
      return small == large || small == elsewhere;
    };
    if (!agrees(end_.disk, end.disk, zip64_elsewhere16) ||
        !agrees(end_.directory_disk, end.directory_disk, zip64_elsewhere16) ||
        !agrees(end_.count_here, end.count_here, zip64_elsewhere16) ||
        !agrees(end_.count, end.count, zip64_elsewhere16) ||
        !agrees(end_.bytes, end.bytes, zip64_elsewhere) ||
        !agrees(end_.offset, end.offset, zip64_elsewhere)) {
      return bad("the two end records of the zip archive contradict each other",
                 with_words(end_.count, "entries in ") + range_of(end_.bytes, end_.offset),
                 with_words(end.count, "entries in ") + range_of(end.bytes, end.offset));
    }
    end_ = end;
    directory_end_ = offset;
    return {};
  }

  Result<ZipEnd> checked(const Limits& limits) const {
    if (end_.disk != 0 || end_.directory_disk != 0 || end_.count_here != end_.count) {
      return zip_on_several_disks(source_);
    }
    // Anything between could hide bytes that programs take for different things.
    if (end_.bytes > directory_end_ || end_.offset != directory_end_ - end_.bytes) {
      return bad("the zip directory is not where the end record says",
                 range_of(end_.bytes, end_.offset),
                 "a directory that ends at byte " + std::to_string(directory_end_),
                 "bytes may be missing, or come before the archive");
    }
    if (end_.count > end_.bytes / zip_entry_bytes) {
      return bad("the zip directory is too small for its entries",
                 with_words(end_.count, "entries in ") + with_words(end_.bytes, "bytes"));
    }
    const std::uint64_t most = std::min<std::uint64_t>(limits.zip_entries, 0xfffffffe);
    ANDIRON_TRY(check_limit(end_.count, most,
                            {"the zip archive has more entries than allowed", &Limits::zip_entries,
                             "", source_.name()}));
    ANDIRON_TRY(check_limit(
        end_.bytes, max_directory_bytes,
        {"the zip directory is larger than allowed", nullptr, "bytes", source_.name()}));
    return ZipEnd{end_.offset, end_.bytes, end_.count};
  }

 private:
  // What the end record and its ZIP64 form tell.
  struct End {
    std::uint64_t disk;
    std::uint64_t directory_disk;
    std::uint64_t count_here;
    std::uint64_t count;
    std::uint64_t bytes;
    std::uint64_t offset;
  };

  std::uint64_t tail_offset() const noexcept { return end_of_archive_ - tail_.size(); }

  Error error(ErrorCode code, std::string message, std::string found = {},
              std::string expected = {}, Message hint = {}) const {
    return Error{.code = code,
                 .message = std::move(message),
                 .file = source_.name(),
                 .found = std::move(found),
                 .expected = std::move(expected),
                 .hint = std::move(hint)};
  }
  Error bad(std::string message, std::string found = {}, std::string expected = {},
            Message hint = {}) const {
    return error(ErrorCode::bad_archive, std::move(message), std::move(found), std::move(expected),
                 std::move(hint));
  }

  Status take_locator(const std::byte* locator) {
    const std::uint64_t locator_offset = directory_end_ - zip_locator_bytes;
    const std::uint64_t offset = load_u64(locator + 8);
    if (load_u32(locator + 4) != 0 || load_u32(locator + 16) > 1) {
      return zip_on_several_disks(source_);
    }
    if (locator_offset < zip_end64_bytes || offset > locator_offset - zip_end64_bytes) {
      return bad("the ZIP64 locator points to an impossible place",
                 "byte " + std::to_string(offset),
                 "at least 56 bytes before byte " + std::to_string(locator_offset));
    }
    record64_offset_ = offset;
    return {};
  }

  const ByteSource& source_;
  const std::uint64_t end_of_archive_;
  const Bytes tail_;
  // Records in the tail that could end the archive: one whose comment reaches to its last byte, and
  // no other that claims the same.
  std::optional<std::size_t> record_;
  std::optional<std::size_t> second_;
  std::optional<std::size_t> elsewhere_;  // where the archive would end by the last of the others
  End end_{};
  std::optional<std::uint64_t> record64_offset_;
  std::uint64_t directory_end_ = 0;
};

}  // namespace

Result<std::uint64_t> find_zip_end(const ByteSource& source, std::vector<Message>& notes) {
  ANDIRON_ASSIGN(Bytes tail, Bytes::allocate(std::min(source.size(), most_tail_bytes)));
  ANDIRON_TRY(source.read_at(source.size() - tail.size(), tail.writable()));
  const auto end = EndRecords(source, source.size(), std::move(tail)).ends_before();
  if (!end) return source.size();
  notes.push_back("bytes after the zip archive were ignored, from byte " + std::to_string(*end));
  return *end;
}

Result<ZipEnd> read_zip_end(const ByteSource& source, std::uint64_t end, const Limits& limits) {
  ANDIRON_ASSIGN(Bytes tail, Bytes::allocate(std::min(end, most_tail_bytes)));
  ANDIRON_TRY(source.read_at(end - tail.size(), tail.writable()));
  EndRecords records(source, end, std::move(tail));
  if (!records.has_record()) {
    std::array<std::byte, zip_local_signature.size()> head{};
    const auto there = static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), end));
    ANDIRON_TRY(source.read_at(0, std::span(head).first(there)));
    return records.no_record({reinterpret_cast<const char*>(head.data()), there});
  }
  ANDIRON_TRY(records.take_record());
  if (const auto offset = records.record64_offset()) {
    std::array<std::byte, zip_end64_bytes> record;
    ANDIRON_TRY(source.read_at(*offset, record));
    ANDIRON_TRY(records.take_record64(record));
  }
  return records.checked(limits);
}

Error zip_on_several_disks(const ByteSource& source) {
  return Error{.code = ErrorCode::unsupported,
               .message = "the zip archive spans several disks",
               .file = source.name(),
               .hint = "join its parts first"};
}

}  // namespace andiron::inline v1::detail
