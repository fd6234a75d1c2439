// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads gzip files into memory, and compresses into a sink.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/sink.h"
#include "src/codec/deflate/streams.h"
#include "src/core/memory_budget.h"

namespace andiron::inline v1::detail {

// Files are read and written in pieces of this size.
inline constexpr std::size_t gzip_window_bytes = 64 * 1024;
using GzipWindow = std::array<std::byte, gzip_window_bytes>;

inline bool is_gzip(std::string_view head) { return head.starts_with("\x1f\x8b"); }

// Returns the content of a gzip file; several members in a row count as one. Fails with
// LimitExceeded beyond limits.inflated_bytes and inflated_ratio, Truncated if the file ends too
// early, BadHeader if it is damaged.
// What that takes is charged to the budget, if there is one.
Result<Bytes> inflate_gzip(const ByteSource& source, const Limits& limits,
                           MemoryBudget* budget = nullptr);

// The same as a source with the file's name.
Result<ByteSourcePtr> inflated(const ByteSource& source, const Limits& limits,
                               MemoryBudget& budget);

// The first bytes of a source, decompressed if it is a gzip file.
struct ContentHead {
  bool compressed = false;
  std::string bytes;
};

// Returns up to `count` bytes. Reads and decompresses little beyond them.
Result<ContentHead> content_head(const ByteSource& source, std::size_t count);

// Compresses what it gets and passes it on.
class GzipSink : public Sink {
 public:
  static Result<std::unique_ptr<GzipSink>> create(Sink& sink);

  Status write(std::span<const std::byte> data) override;
  // Writes the rest. Nothing can be written afterwards.
  Status finish();
  // Compressed bytes so far.
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  GzipSink(Sink& sink, std::unique_ptr<DeflateStream> stream);
  Status deflate(std::span<const std::byte> data, bool is_last);
  Status pass_on();

  Sink& sink_;
  std::unique_ptr<DeflateStream> stream_;
  std::unique_ptr<GzipWindow> out_;  // what is still to be passed on
  std::size_t out_used_ = 0;
  std::uint32_t crc_ = 0;
  std::uint64_t size_ = 0;  // before it was compressed
  std::uint64_t bytes_ = 0;
};

}  // namespace andiron::inline v1::detail
