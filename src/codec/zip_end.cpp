// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/zip_reader_test.cpp and tests/codec/zip_hostile_test.cpp
#include "src/codec/zip_end.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "andiron/bytes.h"
#include "src/codec/zip_directory.h"
#include "src/core/limit.h"
#include "src/core/little_endian.h"
#include "src/core/quoted.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::string_view local_signature = "PK\3\4";
constexpr std::string_view end_signature = "PK\5\6";
constexpr std::uint32_t end64_signature = 0x06064b50;
constexpr std::uint32_t locator_signature = 0x07064b50;

constexpr std::size_t end_bytes = 22;
constexpr std::size_t end64_bytes = 56;
constexpr std::size_t locator_bytes = 20;
constexpr std::size_t max_comment_bytes = 65535;
// PyTorch's own limit. It keeps the memory for a directory within reason.
constexpr std::uint64_t max_directory_bytes = 0xffffffff;

std::string count_of(std::uint64_t count, const char* what) {
  return std::to_string(count) + " " + what;
}

std::string range_of(std::uint64_t count, std::uint64_t offset) {
  return count_of(count, "bytes from ") + std::to_string(offset);
}

// Reads from the end of the file to the front: the record that ends it, then its ZIP64 form.
class EndReader {
 public:
  EndReader(const ByteSource& source, const Limits& limits) : source_(source), limits_(limits) {}

  Result<ZipEnd> read() {
    ANDIRON_TRY(read_tail());
    const Candidates candidates = find_records();
    if (candidates.second) {
      return bad("two records claim to end the zip archive",
                 "at bytes " + std::to_string(tail_offset_ + *candidates.second) + " and " +
                     std::to_string(tail_offset_ + *candidates.first));
    }
    if (!candidates.first) return no_end(candidates.elsewhere);
    ANDIRON_TRY(read_end(*candidates.first));
    ANDIRON_TRY(check_end());
    return ZipEnd{end_.offset, end_.bytes, end_.count};
  }

  Result<std::uint64_t> find_end() {
    ANDIRON_TRY(read_tail());
    const Candidates candidates = find_records();
    const bool ends_before =
        !candidates.first && candidates.elsewhere && *candidates.elsewhere < tail_.size();
    return ends_before ? tail_offset_ + *candidates.elsewhere : source_.size();
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

  Error error(ErrorCode code, std::string message, std::string found = {},
              std::string expected = {}, std::string hint = {}) const {
    return Error{.code = code,
                 .message = std::move(message),
                 .file = source_.name(),
                 .found = std::move(found),
                 .expected = std::move(expected),
                 .hint = std::move(hint)};
  }
  Error bad(std::string message, std::string found = {}, std::string expected = {},
            std::string hint = {}) const {
    return error(ErrorCode::bad_archive, std::move(message), std::move(found), std::move(expected),
                 std::move(hint));
  }

  Status read_tail() {
    constexpr std::uint64_t most = locator_bytes + end_bytes + max_comment_bytes;
    ANDIRON_ASSIGN(tail_, Bytes::allocate(std::min<std::uint64_t>(source_.size(), most)));
    tail_offset_ = source_.size() - tail_.size();
    return source_.read_at(tail_offset_, tail_.writable());
  }

  // Records in the tail that could end the archive. There must be one whose comment reaches to the
  // last byte, and no other that claims the same.
  struct Candidates {
    std::optional<std::size_t> first;
    std::optional<std::size_t> second;
    std::optional<std::size_t> elsewhere;  // where the archive would end by the last of the others
  };
  Candidates find_records() const {
    const std::string_view tail = tail_.text();
    Candidates found;
    for (std::size_t at = tail.size(); at != 0 && !found.second;) {
      at = tail.rfind(end_signature, at - 1);
      if (at == tail.npos) break;
      if (tail.size() - at < end_bytes) continue;
      const std::size_t ends = at + end_bytes + load_u16(tail_.data() + at + 20);
      if (ends != tail.size()) {
        if (!found.elsewhere) found.elsewhere = ends;
      } else {
        (found.first ? found.second : found.first) = at;
      }
    }
    return found;
  }

  Error no_end(std::optional<std::size_t> elsewhere) const {
    if (elsewhere && *elsewhere < tail_.size()) {
      return bad("bytes follow the end of the zip archive",
                 count_of(tail_.size() - *elsewhere, "more bytes"), "none",
                 "something was appended to the file; a lenient reading leaves it alone");
    }
    std::array<std::byte, local_signature.size()> head{};
    const auto there =
        static_cast<std::size_t>(std::min<std::uint64_t>(head.size(), source_.size()));
    const Status status = source_.read_at(0, std::span(head).first(there));
    if (!status) return status.error();
    const std::string_view text(reinterpret_cast<const char*>(head.data()), there);
    if (elsewhere || local_signature.starts_with(text)) {
      return error(ErrorCode::truncated, "the zip archive is cut off",
                   count_of(source_.size(), "bytes without the directory that ends an archive"),
                   "a directory at the end of the file", "the download may be incomplete");
    }
    return bad("this is not a zip archive", "a file that begins with " + quoted(text),
               "PK\\x03\\x04, and a directory at the end of the file");
  }

  Status read_end(std::size_t at) {
    const std::byte* const record = tail_.data() + at;
    end_ = {load_u16(record + 4),  load_u16(record + 6),  load_u16(record + 8),
            load_u16(record + 10), load_u32(record + 12), load_u32(record + 16)};
    directory_end_ = tail_offset_ + at;
    if (at < locator_bytes || load_u32(record - locator_bytes) != locator_signature) return {};
    return read_end64(record - locator_bytes, directory_end_ - locator_bytes);
  }

  Status read_end64(const std::byte* locator, std::uint64_t locator_offset) {
    const std::uint64_t offset = load_u64(locator + 8);
    if (load_u32(locator + 4) != 0 || load_u32(locator + 16) > 1) return several_disks();
    if (locator_offset < end64_bytes || offset > locator_offset - end64_bytes) {
      return bad("the ZIP64 locator points to where no record can be",
                 "byte " + std::to_string(offset),
                 "at least 56 bytes before byte " + std::to_string(locator_offset));
    }
    std::array<std::byte, end64_bytes> record;
    ANDIRON_TRY(source_.read_at(offset, record));
    const std::byte* const at = record.data();
    if (load_u32(at) != end64_signature) {
      return bad("there is no ZIP64 record where its locator points",
                 "byte " + std::to_string(offset));
    }
    if (load_u64(at + 4) != locator_offset - offset - 12) {
      return bad("the ZIP64 record does not end where its locator begins",
                 count_of(load_u64(at + 4), "bytes"), std::to_string(locator_offset - offset - 12));
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
                 count_of(end_.count, "entries in ") + range_of(end_.bytes, end_.offset),
                 count_of(end.count, "entries in ") + range_of(end.bytes, end.offset));
    }
    end_ = end;
    directory_end_ = offset;
    return {};
  }

  Error several_disks() const { return zip_on_several_disks(source_); }

  Status check_end() const {
    if (end_.disk != 0 || end_.directory_disk != 0 || end_.count_here != end_.count) {
      return several_disks();
    }
    // Anything between could hide bytes that programs take for different things.
    if (end_.bytes > directory_end_ || end_.offset != directory_end_ - end_.bytes) {
      return bad("the zip directory is not where the end of the archive tells",
                 range_of(end_.bytes, end_.offset),
                 "it to end at byte " + std::to_string(directory_end_),
                 "bytes may be missing, or lie in front of the archive");
    }
    if (end_.count > end_.bytes / zip_entry_bytes) {
      return bad("the zip directory is too small for its entries",
                 count_of(end_.count, "entries in ") + count_of(end_.bytes, "bytes"));
    }
    const std::uint64_t most = std::min<std::uint64_t>(limits_.zip_entries, 0xfffffffe);
    ANDIRON_TRY(check_limit(
        end_.count, most,
        {"the zip archive has more entries than allowed", "zip_entries", "", source_.name()}));
    return check_limit(end_.bytes, max_directory_bytes,
                       {"the zip directory is larger than allowed", "", "bytes", source_.name()});
  }

  const ByteSource& source_;
  const Limits& limits_;
  Bytes tail_;
  std::uint64_t tail_offset_ = 0;
  End end_{};
  std::uint64_t directory_end_ = 0;
};

}  // namespace

Result<std::uint64_t> find_zip_end(const ByteSource& source) {
  return EndReader(source, {}).find_end();
}

Result<ZipEnd> read_zip_end(const ByteSource& source, const Limits& limits) {
  return EndReader(source, limits).read();
}

Error zip_on_several_disks(const ByteSource& source) {
  return Error{.code = ErrorCode::unsupported,
               .message = "the zip archive spans several disks",
               .file = source.name(),
               .hint = "join its parts first"};
}

}  // namespace andiron::inline v1::detail
