// SPDX-License-Identifier: MIT OR Apache-2.0
// The directory of a zip archive, read and checked completely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "src/codec/zip/end.h"
#include "src/codec/zip/layout.h"
#include "src/core/name_table.h"
#include "src/core/parse_index.h"
#include "src/core/shared_array.h"

namespace andiron::inline v1::detail {

struct ZipEntry {
  std::string_view name;  // UTF-8 or not; lives as long as the reader
  std::uint64_t header_offset = 0;
  std::uint64_t stored_bytes = 0;  // in the file
  std::uint64_t bytes = 0;         // of the content
  std::uint32_t crc = 0;           // 0 where the writer did not compute it
  std::uint16_t method = 0;
  std::uint16_t flags = 0;  // zip_encrypted and the others

  bool is_stored() const noexcept { return method == 0; }
};

// Adjacent entries of one folder whose names ascend and are in lower case. PyTorch's records are
// such a run: 100 000 of them, numbered from 0, in older files in text order.
struct ZipRun {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::string_view folder = {};  // up to the last slash, if there is one; lives as the names do
  bool is_text = false;          // names ascend as text, not as numbers
  bool is_digits = false;        // names are digits alone
  // If the names are consecutive numbers: the first of them.
  std::optional<std::uint64_t> first_number = {};

  std::uint32_t size() const noexcept { return end - begin; }
  // The entry behind another, with those left out that are digits beside that one: to who asks for
  // a folder, or for an ending that is no digit, the first of them tells of all.
  std::uint32_t next_other(std::uint32_t entry) const noexcept {
    return entry == begin && is_digits ? end : entry + 1;
  }
  // The entry whose name is this number, found from first_number alone.
  std::optional<std::uint32_t> find_number(std::string_view name) const {
    const auto number = first_number ? parse_printed_index(name) : std::nullopt;
    if (!number || *number < *first_number || *number - *first_number >= size()) return {};
    return begin + static_cast<std::uint32_t>(*number - *first_number);
  }
};

// When two entries have the same name. For PyTorch, names that differ only in case are the same.
enum class ZipNames : std::uint8_t { any_case, exact };

class ZipDirectory {
 public:
  static Result<ZipDirectory> read(const ByteSource& source, const ZipEnd& end, ZipNames compared);

  const SharedArray<ZipEntry>& entries() const noexcept { return entries_; }
  std::optional<std::uint32_t> find(std::string_view name) const;
  // The longest run; empty if there are no entries.
  const ZipRun& run() const noexcept { return run_; }

  // The entry whose header is the last that begins at or before `offset`, by its rank in the order
  // of the file. It is there at once when it is the one with rank `guess`, or the one after it.
  // REQUIRES: there is an entry; the first one begins at 0.
  std::size_t rank_before(std::uint64_t offset, std::size_t guess = 0) const;
  std::uint32_t at_rank(std::size_t rank) const noexcept {
    return by_offset_ == nullptr ? static_cast<std::uint32_t>(rank) : by_offset_[rank];
  }
  // Where the next entry begins, or the directory.
  std::uint64_t end_of(std::uint32_t entry) const;

 private:
  friend class ZipDirectoryReader;

  // The hash for the table of names: equal names have equal hashes.
  std::uint64_t hash_of(std::string_view name) const;
  // Position in the run of a name that is in it.
  std::optional<std::uint32_t> find_in_run(std::string_view name) const;

  Bytes memory_;                   // what the names are views of
  SharedArray<ZipEntry> entries_;  // in the order of the directory
  ZipRun run_;                     // its entries are found by halving, and cannot be there twice
  NameTable names_;                // the others, by hash_of()
  ZipNames compared_ = ZipNames::any_case;
  // Entries in the order of the file; null where the directory is in that order.
  std::unique_ptr<std::uint32_t[]> by_offset_;
  std::uint64_t begin_ = 0;
};

// Returns the ZIP64 part of an extra field; empty if there is none. Fails with BadArchive if the
// field is malformed or has two.
Result<std::span<const std::byte>> zip64_field(std::span<const std::byte> extra);

// "zip entry 'NAME' WHAT".
Error zip_entry_error(ErrorCode code, const ByteSource& source, std::string_view name,
                      std::string_view what);

}  // namespace andiron::inline v1::detail
