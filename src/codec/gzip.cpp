// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/gzip_test.cpp
#include "src/codec/gzip.h"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>
#include <string>

#include "src/codec/inflate.h"
#include "src/core/check_limit.h"
#include "src/core/little_endian.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t window_bytes = 64 * 1024;
// zlib's largest window, and a gzip header and trailer around the data.
constexpr int gzip_window_bits = 15 + 16;

using Window = std::array<std::byte, window_bytes>;

const Bytef* zlib_bytes(const std::byte* data) { return reinterpret_cast<const Bytef*>(data); }
Bytef* zlib_bytes(std::byte* data) { return reinterpret_cast<Bytef*>(data); }

class GzipInflater {
 public:
  GzipInflater(const ByteSource& source, const Limits& limits, MemoryBudget* budget)
      : source_(source), limits_(limits), budget_(budget) {}
  ~GzipInflater() {
    if (open_) inflateEnd(&stream_);
  }
  GzipInflater(const GzipInflater&) = delete;
  GzipInflater& operator=(const GzipInflater&) = delete;

  // Makes room for as much as the end of the file says, which is the size of the last member: most
  // files have one. Growing would take twice the memory.
  Status reserve() {
    std::array<std::byte, 4> size;
    if (source_.size() < size.size()) return {};
    ANDIRON_TRY(source_.read_at(source_.size() - size.size(), size));
    const std::uint64_t said = load_u32(size.data());
    const bool may_be = can_inflate_to(source_.size(), said) && said <= limits_.inflated_bytes;
    return may_be ? grow(said) : Status();
  }

  // Stops when there are `enough` bytes.
  Result<Bytes> run(std::uint64_t enough = ~std::uint64_t{0}) {
    if (inflateInit2(&stream_, gzip_window_bits) != Z_OK) return no_memory_for_zlib();
    open_ = true;
    windows_ = std::make_unique<Windows>();
    for (bool has_ended = false;;) {
      if (stream_.avail_in == 0) {
        const auto part = std::span(windows_->in)
                              .first(static_cast<std::size_t>(
                                  std::min<std::uint64_t>(window_bytes, source_.size() - read_)));
        ANDIRON_TRY(source_.read_at(read_, part));
        read_ += part.size();
        stream_.next_in = zlib_bytes(part.data());
        stream_.avail_in = static_cast<uInt>(part.size());
      }
      if (stream_.avail_in == 0 && has_ended) return out_.take();
      if (stream_.avail_in == 0) return error(ErrorCode::truncated, "the gzip data ends too early");
      if (has_ended && inflateReset(&stream_) != Z_OK) return no_memory_for_zlib();
      stream_.next_out = zlib_bytes(windows_->out.data());
      stream_.avail_out = window_bytes;
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      ANDIRON_TRY(take_output());
      if (inflated_ >= enough) return out_.take();
      has_ended = code == Z_STREAM_END;
      if (code == Z_MEM_ERROR) return no_memory_for_zlib();
      if (code != Z_OK && !has_ended) {
        return error(ErrorCode::bad_header, "the gzip data is damaged");
      }
    }
  }

 private:
  struct Windows {
    Window in;
    Window out;
  };

  Error error(ErrorCode code, const char* what) const {
    return Error{.code = code,
                 .message = what,
                 .file = source_.name(),
                 .found = "at byte " + std::to_string(read_ - stream_.avail_in),
                 .hint = "the download may be incomplete"};
  }

  Status take_output() {
    const std::size_t count = window_bytes - stream_.avail_out;
    inflated_ += count;
    ANDIRON_TRY(check_limit(inflated_, limits_.inflated_bytes, [&] {
      return LimitCheck{"the file inflates to more than allowed", "inflated_bytes", "bytes",
                        source_.name()};
    }));
    ANDIRON_TRY(check_inflated_ratio(inflated_, source_.size(), limits_, source_.name()));
    if (inflated_ > room_) ANDIRON_TRY(grow(std::max(inflated_, 2 * room_)));
    return out_.write(std::span(windows_->out).first(count));
  }

  Status grow(std::uint64_t room) {
    if (budget_ != nullptr) ANDIRON_TRY(budget_->charge(room, "inflated data"));
    room_ = room;
    return out_.reserve(room);
  }

  const ByteSource& source_;
  const Limits& limits_;
  MemoryBudget* budget_;  // null for none
  z_stream stream_ = {};
  bool open_ = false;
  std::unique_ptr<Windows> windows_;
  std::uint64_t read_ = 0;
  std::uint64_t inflated_ = 0;
  std::uint64_t room_ = 0;
  MemorySink out_;
};

}  // namespace

Result<Bytes> inflate_gzip(const ByteSource& source, const Limits& limits, MemoryBudget* budget) {
  GzipInflater inflater(source, limits, budget);
  ANDIRON_TRY(inflater.reserve());
  return inflater.run();
}

Result<ByteSourcePtr> inflated(const ByteSource& source, const Limits& limits,
                               MemoryBudget& budget) {
  ANDIRON_ASSIGN(Bytes content, inflate_gzip(source, limits, &budget));
  return memory_source(std::move(content), source.name());
}

Result<ContentHead> content_head(const ByteSource& source, std::size_t count) {
  std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(count, source.size())), '\0');
  ANDIRON_TRY(source.read_at(0, std::as_writable_bytes(std::span(head))));
  if (!is_gzip(head)) return ContentHead{false, std::move(head)};
  // Not the caller's limit, which is for content that is kept.
  const Limits a_window_more{.inflated_bytes = count + window_bytes};
  ANDIRON_ASSIGN(const Bytes content, GzipInflater(source, a_window_more, nullptr).run(count));
  return ContentHead{true, std::string(content.text().substr(0, count))};
}

struct GzipSink::Stream {
  z_stream zlib = {};
  Window out;
};

GzipSink::GzipSink(Sink& sink) : sink_(sink), stream_(std::make_unique<Stream>()) {}

GzipSink::~GzipSink() { deflateEnd(&stream_->zlib); }

Result<std::unique_ptr<GzipSink>> GzipSink::create(Sink& sink) {
  std::unique_ptr<GzipSink> gzip(new GzipSink(sink));
  constexpr int usual_memory = 8;
  if (deflateInit2(&gzip->stream_->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window_bits,
                   usual_memory, Z_DEFAULT_STRATEGY) != Z_OK) {
    return no_memory_for_zlib();
  }
  return gzip;
}

Status GzipSink::write(std::span<const std::byte> data) {
  constexpr std::size_t most = std::size_t{1} << 30;  // zlib counts in 32 bits
  while (!data.empty()) {
    const auto part = data.first(std::min(data.size(), most));
    data = data.subspan(part.size());
    stream_->zlib.next_in = zlib_bytes(part.data());
    stream_->zlib.avail_in = static_cast<uInt>(part.size());
    ANDIRON_TRY(deflate_all(Z_NO_FLUSH));
  }
  return {};
}

Status GzipSink::finish() { return deflate_all(Z_FINISH); }

Status GzipSink::deflate_all(int flush) {
  z_stream& zlib = stream_->zlib;
  do {
    zlib.next_out = zlib_bytes(stream_->out.data());
    zlib.avail_out = window_bytes;
    ::deflate(&zlib, flush);  // cannot fail with room for its output
    const std::size_t count = window_bytes - zlib.avail_out;
    ANDIRON_TRY(sink_.write(std::span(stream_->out).first(count)));
    bytes_ += count;
  } while (zlib.avail_out == 0);
  return {};
}

}  // namespace andiron::inline v1::detail
