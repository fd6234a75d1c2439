// SPDX-License-Identifier: MIT OR Apache-2.0
// Zip archives: the directory, and the data of entries. Supports stored and deflated entries, ZIP64
// and data descriptors; one disk, no encryption.
//
// The directory is read and checked completely when an archive is opened: names are distinct, and
// entries do not overlap and fill the file from its first byte to the directory at its end. Entries
// are read only on request: a checkpoint may have a hundred thousand.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "src/codec/deflate/streams.h"
#include "src/codec/zip/directory.h"
#include "src/core/memory_budget.h"

namespace andiron::inline v1::detail {

// Which checksums are compared. One of 0 in the directory means that the writer left it out.
enum class ZipChecksums : std::uint8_t {
  of_whole_reads,  // of entries that are read whole: by read(), and by inflated_source()
  of_all,  // also of the others, before their first byte is returned; each is read whole once
};
constexpr ZipChecksums zip_checksums(bool verify) noexcept {
  return verify ? ZipChecksums::of_all : ZipChecksums::of_whole_reads;
}

// In which the beginnings of entries are read one after the other: memory of its own for each would
// leave a heap of holes. What it takes is charged to the budget.
class ZipHeadMemory {
 public:
  explicit ZipHeadMemory(MemoryBudget& budget) : budget_(budget) {}

 private:
  friend class ZipReader;

  // The first `count` bytes of one of the two, which grows.
  Result<std::span<std::byte>> room(Bytes& memory, std::uint64_t count);
  Result<InflateStream*> stream();

  MemoryBudget& budget_;
  Bytes stored_;   // as it lies in the file
  Bytes content_;  // and what that is
  std::unique_ptr<InflateStream> stream_;
};

struct ZipState;
class ZipReader;
using ZipReaderPtr = std::shared_ptr<const ZipReader>;

// Immutable and safe from several threads at once. All errors except OutOfMemory name the file and
// the entry.
class ZipReader : public std::enable_shared_from_this<ZipReader> {
 public:
  // Fails with BadArchive if a rule is broken, Truncated if the directory is cut off, Unsupported
  // for archives on several disks, LimitExceeded beyond limits.zip_entries. Folders are entries
  // like others.
  //
  // The archive ends at `end`, or at the end of the file (find_zip_end).
  static Result<ZipReaderPtr> open(ByteSourcePtr source, const Limits& limits,
                                   ZipNames compared = ZipNames::any_case,
                                   std::optional<std::uint64_t> end = {},
                                   ZipChecksums checksums = ZipChecksums::of_whole_reads);

  const ByteSourcePtr& source() const noexcept;
  ZipChecksums checksums() const noexcept;
  // In the order of the directory.
  std::span<const ZipEntry> entries() const noexcept;
  // The longest run of them.
  const ZipRun& run() const noexcept;
  // By its exact name.
  std::optional<std::uint32_t> find(std::string_view name) const;
  // Notes that there are entries without a checksum, if all were to be compared.
  void note_missing_checksums(std::vector<Message>& notes) const;

  // Returns where the data of an entry begins in the file. If the entry is padded as PyTorch pads
  // (its data begins at the next multiple of `alignment` and ends where the next entry, or its
  // descriptor, begins), the directory is enough. Otherwise, and always for an `alignment` of 0,
  // reads the local header. Fails with Unsupported for entries that are encrypted or use another
  // compression.
  Result<std::uint64_t> data_offset(std::uint32_t entry, std::uint64_t alignment = 64) const;

  // Finds where the data of all stored entries begins, so that data_offset() does not read for
  // them. Returns how many bytes the others inflate to.
  std::uint64_t locate_data(std::uint64_t alignment) const;

  // The file as a source for the data of stored entries. Before the first byte of an entry is
  // returned, its local header is read once and must agree with the directory and with
  // data_offset(). The CRC is compared only for ZipChecksums::of_all: reads may be partial, and
  // PyTorch does not check it either. Small sequential reads are combined into larger ones
  // (ReadAhead).
  const ByteSourcePtr& checked_source() const noexcept;

  // How large an entry may be, and the member of Limits that says so, if one does.
  struct Most {
    Most(std::uint64_t most_bytes, std::uint64_t Limits::* limit_member = nullptr)
        : bytes(most_bytes), limit(limit_member) {}
    std::uint64_t bytes;
    std::uint64_t Limits::* limit;
  };

  // Returns the content of one entry: checks its local header, decompresses it, and compares its
  // CRC unless that is 0. Fails with ChecksumMismatch if that differs, BadArchive if anything else
  // disagrees, LimitExceeded beyond `most`.
  Result<Bytes> read(std::uint32_t entry, Most most) const;

  // What read() takes: the content, and while it runs a window into the file, and the stream that
  // inflates.
  std::uint64_t memory_to_read(std::uint32_t entry) const;

  // Returns the first `count` bytes of an entry, or all if there are fewer, with one small read.
  // They stay until the memory is used again. Checks the local header; compares the CRC only for
  // ZipChecksums::of_all.
  Result<std::span<const std::byte>> read_head(std::uint32_t entry, std::size_t count,
                                               ZipHeadMemory& memory) const;

  // The content of a deflated entry, decompressed when it is read. Keeps the last results, so that
  // reading the views of one storage decompresses it once. Fails with LimitExceeded beyond
  // limits.inflated_bytes, and if entries are inflated again and again for little that is read.
  ByteSourcePtr inflated_source(std::uint32_t entry) const;

 private:
  explicit ZipReader(std::shared_ptr<const ZipState> state);
  // Compares the checksum of a deflated entry.
  Status verify_inflated(std::uint32_t entry, ZipHeadMemory& memory) const;

  std::shared_ptr<const ZipState> state_;
  ByteSourcePtr checked_source_;
};

}  // namespace andiron::inline v1::detail
