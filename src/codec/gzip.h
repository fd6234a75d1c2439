// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads gzip files into memory, and compresses into a sink.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/sink.h"
#include "src/core/memory_budget.h"

namespace andiron::inline v1::detail {

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
  ~GzipSink() override;

  Status write(std::span<const std::byte> data) override;
  // Writes the rest. Nothing can be written afterwards.
  Status finish();
  // Compressed bytes so far.
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Stream;
  explicit GzipSink(Sink& sink);
  Status deflate_all(int flush);

  Sink& sink_;
  std::unique_ptr<Stream> stream_;
  std::uint64_t bytes_ = 0;
};

}  // namespace andiron::inline v1::detail
