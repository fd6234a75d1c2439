// SPDX-License-Identifier: MIT OR Apache-2.0
// Gzip files: into memory, and out through a sink.
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

namespace andiron::inline v1::detail {

inline bool is_gzip(std::string_view head) { return head.starts_with("\x1f\x8b"); }

// What a gzip file holds; several members, one after the other, are one. LimitExceeded beyond
// limits.inflated_bytes, Truncated when the file ends too soon, BadHeader when it is damaged.
Result<Bytes> inflate_gzip(const ByteSource& source, const Limits& limits);

// The same as a source under the name of the file.
Result<ByteSourcePtr> inflated(const ByteSource& source, const Limits& limits);

// How the content of a source begins, inflated where that is a gzip file.
struct ContentHead {
  bool compressed = false;
  std::string bytes;
};

// Up to `count` bytes; reads and inflates little beyond them.
Result<ContentHead> content_head(const ByteSource& source, std::size_t count);

// Compresses what it takes and hands it on.
class GzipSink : public Sink {
 public:
  static Result<std::unique_ptr<GzipSink>> create(Sink& sink);
  ~GzipSink() override;

  Status write(std::span<const std::byte> data) override;
  // Writes what is left, after which nothing more may come.
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
