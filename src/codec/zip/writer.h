// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes zip archives of stored entries from front to back. Written bytes are never changed, so the
// sink may be a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "andiron/error.h"
#include "andiron/sink.h"
#include "src/codec/zip/layout.h"

namespace andiron::inline v1::detail {

// Computes the positions of all parts of an archive from the sizes of its entries.
class ZipLayout {
 public:
  // The next entry. Its data begins at a multiple of `alignment`; 0 is for no padding, and not even
  // a field for it. InvalidArgument for a name that is empty or longer than a zip archive can hold
  // (65535 bytes), or an alignment beyond 32768; Overflow for sizes beyond 64 bits.
  Result<ZipPlace> add(std::string_view name, std::uint64_t bytes, std::uint64_t alignment);

  std::uint64_t entries() const noexcept { return entries_; }
  std::uint64_t directory_offset() const noexcept { return end_; }
  std::uint64_t directory_bytes() const noexcept { return directory_bytes_; }
  // Whether the end of the archive needs its ZIP64 records.
  bool has_zip64_end() const noexcept;
  // Of the whole archive, if no entry is to come.
  std::uint64_t size() const noexcept;

 private:
  std::uint64_t entries_ = 0;
  std::uint64_t end_ = 0;  // of the entries so far
  std::uint64_t directory_bytes_ = 0;
};

// Writes an archive into a sink:
//
//   ZipWriter zip(sink);
//   ANDIRON_TRY(zip.begin("weights.npy", bytes, 64));
//   ANDIRON_TRY(zip.write(part));                        // as often as needed
//   ANDIRON_TRY(zip.end());
//   ANDIRON_TRY(zip.finish());
//
// It is itself the sink of the current entry. The same entries always give the same bytes. The
// caller makes sure that names are distinct. Do not continue after an error.
class ZipWriter final : public Sink {
 public:
  // REQUIRES: the sink outlives this.
  explicit ZipWriter(Sink& sink) : sink_(sink) {}

  // Begins an entry of that many bytes; see ZipLayout::add.
  Status begin(std::string_view name, std::uint64_t bytes, std::uint64_t alignment = 0);
  // Data of the entry. SizeMismatch for more than was announced.
  Status write(std::span<const std::byte> data) override;
  // Ends the entry. SizeMismatch for less than was announced.
  Status end();
  // Writes the directory, after which nothing may come.
  Status finish();

  // Where the data of the entry that was begun last lies in the archive.
  std::uint64_t data_offset() const noexcept { return place_.data; }
  // What was written so far.
  std::uint64_t size() const noexcept { return written_; }

 private:
  enum class State : std::uint8_t { between, in_entry, finished };

  Status expect(State state, const char* call) const;
  Status put(const std::string& text);
  std::string local_header() const;
  void append_to_directory();
  std::string ending() const;

  Sink& sink_;
  State state_ = State::between;
  ZipLayout layout_;
  std::string directory_;
  std::uint64_t written_ = 0;
  // Of the entry that is being written.
  ZipPlace place_;
  std::string name_;
  std::uint64_t bytes_ = 0;
  std::uint64_t left_ = 0;
  std::uint32_t crc_ = 0;
};

}  // namespace andiron::inline v1::detail
