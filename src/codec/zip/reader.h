// SPDX-License-Identifier: MIT OR Apache-2.0
// Zip archives: the directory, and the data of entries. Stored and deflated entries, ZIP64, data
// descriptors; one disk, no encryption.
//
// The directory is read and checked whole when an archive is opened: names are unlike each other,
// entries lie apart and fill the file from its first byte to the directory, which ends it. Of the
// entries themselves nothing is read before it is asked for: a checkpoint may have a hundred
// thousand.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "src/codec/zip/directory.h"

namespace andiron::inline v1::detail {

struct ZipState;
class ZipReader;
using ZipReaderPtr = std::shared_ptr<const ZipReader>;

// Immutable and safe from several threads. All errors but OutOfMemory name the file
// and the entry.
class ZipReader : public std::enable_shared_from_this<ZipReader> {
 public:
  // BadArchive for what breaks the rules, Truncated where the directory is cut off, Unsupported for
  // archives on several disks, LimitExceeded beyond limits.zip_entries. Folders and whatever else
  // the archive lists are entries like others.
  //
  // The archive reaches to `end`, or to the end of the file (find_zip_end).
  static Result<ZipReaderPtr> open(ByteSourcePtr source, const Limits& limits,
                                   ZipNames compared = ZipNames::any_case,
                                   std::optional<std::uint64_t> end = {});

  const ByteSourcePtr& source() const noexcept;
  // In the order of the directory.
  std::span<const ZipEntry> entries() const noexcept;
  // The longest run of them.
  const ZipRun& run() const noexcept;
  // By its exact name.
  std::optional<std::uint32_t> find(std::string_view name) const;

  // Where the data of an entry begins in the file. Told by the directory alone where the entry is
  // padded as PyTorch pads (its data begins at the next multiple of `alignment` and ends where the
  // next entry, or its descriptor, begins); read from its local header otherwise, and always for an
  // `alignment` of 0. Unsupported for entries that are encrypted or compressed by other methods.
  Result<std::uint64_t> data_offset(std::uint32_t entry, std::uint64_t alignment = 64) const;

  // Finds where the data of all stored entries begins, after which data_offset() reads nothing for
  // them. Where one cannot be found, it says why.
  void locate_data(std::uint64_t alignment) const;

  // The file as a source of the data of stored entries: before the first byte of one is handed out,
  // its local header is read once, and must agree with the directory and with data_offset(). CRCs
  // are not compared: reads may be of parts, and PyTorch does not look at them either. Small reads
  // in order come out of larger ones (ReadAhead), which bring what lies in between.
  const ByteSourcePtr& checked_source() const noexcept;

  // How large an entry may be, and the member of Limits that says so, if one does.
  struct Most {
    Most(std::uint64_t most_bytes, std::string_view limit_name = "")
        : bytes(most_bytes), limit(limit_name) {}
    std::uint64_t bytes;
    std::string_view limit;
  };

  // The content of one entry: its local header is checked, it is inflated where it is deflated, and
  // its CRC compared unless that is 0. BadArchive when anything disagrees, LimitExceeded beyond
  // `most`.
  Result<Bytes> read(std::uint32_t entry, Most most) const;

  // The first `count` bytes of an entry, or all where there are fewer, by one small read: the local
  // header, which is checked, comes along, and what is deflated is inflated that far. CRCs are not
  // compared.
  Result<Bytes> read_head(std::uint32_t entry, std::size_t count) const;

  // The content of a deflated entry, inflated when it is read. What was inflated last is kept, so
  // that reading the views of one storage inflates it once. LimitExceeded when that is more than
  // limits.inflated_bytes.
  ByteSourcePtr inflated_source(std::uint32_t entry) const;

 private:
  explicit ZipReader(std::shared_ptr<const ZipState> state);

  std::shared_ptr<const ZipState> state_;
  ByteSourcePtr checked_source_;
};

}  // namespace andiron::inline v1::detail
