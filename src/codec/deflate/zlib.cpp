// SPDX-License-Identifier: MIT OR Apache-2.0
// Deflate by zlib, in the only file that knows it. Tested by tests/codec/inflate_stream_test.cpp
// and tests/codec/deflate_stream_test.cpp
#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <new>

#include "src/codec/deflate/streams.h"

namespace andiron::inline v1::detail {
namespace {

constexpr int raw_window_bits = -15;                        // no header and no trailer
constexpr std::size_t most_at_once = std::size_t{1} << 30;  // zlib counts in 32 bits

// The two spans of a step, of which zlib uses as much as it can count.
class ZlibSpans {
 public:
  ZlibSpans(z_stream& zlib, std::span<const std::byte> in, std::span<std::byte> out)
      : zlib_(zlib),
        in_(static_cast<uInt>(std::min(in.size(), most_at_once))),
        out_(static_cast<uInt>(std::min(out.size(), most_at_once))) {
    zlib.next_in = reinterpret_cast<const Bytef*>(in.data());
    zlib.avail_in = in_;
    // zlib takes no null, not even for nothing.
    zlib.next_out = out.empty() ? &nowhere_ : reinterpret_cast<Bytef*>(out.data());
    zlib.avail_out = out_;
  }
  std::size_t taken() const { return in_ - zlib_.avail_in; }
  std::size_t made() const { return out_ - zlib_.avail_out; }

 private:
  z_stream& zlib_;
  uInt in_;
  uInt out_;
  Bytef nowhere_ = 0;
};

class ZlibInflate final : public InflateStream {
 public:
  ~ZlibInflate() override {
    if (is_ready_) inflateEnd(&zlib_);
  }

  bool init() noexcept { return is_ready_ = inflateInit2(&zlib_, raw_window_bits) == Z_OK; }

  Step step(std::span<const std::byte> in, std::span<std::byte> out) noexcept override {
    const ZlibSpans spans(zlib_, in, out);
    const State state = state_of(::inflate(&zlib_, Z_NO_FLUSH));
    return {spans.taken(), spans.made(), state};
  }

  void reset() noexcept override { inflateReset(&zlib_); }

 private:
  static State state_of(int code) {
    switch (code) {
      case Z_OK:
      case Z_BUF_ERROR:  // nothing to do
        return State::goes_on;
      case Z_STREAM_END:
        return State::ended;
      case Z_MEM_ERROR:
        return State::out_of_memory;
      default:
        return State::damaged;
    }
  }

  z_stream zlib_ = {};
  bool is_ready_ = false;
};

class ZlibDeflate final : public DeflateStream {
 public:
  ~ZlibDeflate() override {
    if (is_ready_) deflateEnd(&zlib_);
  }

  bool init() noexcept {
    constexpr int usual_memory = 8;
    return is_ready_ = deflateInit2(&zlib_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, raw_window_bits,
                                    usual_memory, Z_DEFAULT_STRATEGY) == Z_OK;
  }

  Step step(std::span<const std::byte> in, std::span<std::byte> out,
            bool is_last) noexcept override {
    const ZlibSpans spans(zlib_, in, out);
    const bool takes_all = in.size() <= most_at_once;
    // It cannot fail: without anything to do, it does nothing.
    ::deflate(&zlib_, is_last && takes_all ? Z_FINISH : Z_NO_FLUSH);
    return {spans.taken(), spans.made()};
  }

 private:
  z_stream zlib_ = {};
  bool is_ready_ = false;
};

template <class Stream>
std::unique_ptr<Stream> new_zlib_stream() noexcept {
  std::unique_ptr<Stream> stream(new (std::nothrow) Stream);
  if (stream != nullptr && !stream->init()) stream.reset();
  return stream;
}

}  // namespace

std::unique_ptr<InflateStream> new_inflate_stream() noexcept {
  return new_zlib_stream<ZlibInflate>();
}

std::unique_ptr<DeflateStream> new_deflate_stream() noexcept {
  return new_zlib_stream<ZlibDeflate>();
}

std::uint32_t continue_crc(std::uint32_t crc, std::span<const std::byte> data) noexcept {
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const Bytef*>(data.data()), data.size()));
}

}  // namespace andiron::inline v1::detail
