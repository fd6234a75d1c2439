// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/inflate_test.cpp and tests/codec/zip_hostile_test.cpp
#include "src/codec/inflate.h"

#include <algorithm>
#include <array>
#include <string>

#include "src/core/check_limit.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace andiron::inline v1::detail {
namespace {

Error bad(const char* what) { return Error{.code = ErrorCode::bad_archive, .message = what}; }

}  // namespace

Status check_inflated_ratio(std::uint64_t bytes, std::uint64_t file_bytes, const Limits& limits,
                            std::string_view file) {
  constexpr std::uint64_t always_allowed = std::uint64_t{64} << 20;
  if (bytes <= always_allowed ||
      bytes / std::max<std::uint64_t>(limits.inflated_ratio, 1) <= file_bytes) {
    return {};
  }
  Error error = over_limit(
      std::to_string(bytes) + " bytes from a file of " + std::to_string(file_bytes),
      limits.inflated_ratio,
      {"the data inflates to too many times its size", &Limits::inflated_ratio, "", file});
  error.expected += " times its size";
  return error;
}

Inflater::Inflater(std::span<std::byte> out, Wanted wanted)
    : own_(new_inflate_stream()), stream_(own_.get()), out_(out), wanted_(wanted) {}

Inflater::Inflater(std::span<std::byte> out, Wanted wanted, InflateStream& stream)
    : stream_(&stream), out_(out), wanted_(wanted) {
  stream.reset();
}

Status Inflater::take(std::span<const std::byte> part) {
  if (stream_ == nullptr) return no_memory_for_deflate();
  for (;;) {
    if (wanted_ == Wanted::head && is_full()) return {};
    if (has_ended_) return part.empty() ? Status() : bad("bytes follow its deflated data");
    std::byte spare;  // data that goes on where it should end shows here
    const InflateStream::Step step = stream_->step(part, is_full() ? std::span(&spare, 1) : out_);
    if (step.made > out_.size()) return bad("its data inflates to more than the directory says");
    out_ = out_.subspan(step.made);
    part = part.subspan(step.taken);
    switch (step.state) {
      case InflateStream::State::goes_on:
        if (step.taken == 0 && step.made == 0) return {};  // it waits for more
        break;
      case InflateStream::State::ended:
        has_ended_ = true;
        break;
      case InflateStream::State::damaged:
        return bad("its deflated data is damaged");
      case InflateStream::State::out_of_memory:
        return no_memory_for_deflate();
    }
  }
}

Status Inflater::finish() {
  if (wanted_ == Wanted::head ? !is_full() : !has_ended_) return bad("its data ends too early");
  if (!is_full()) return bad("its data inflates to less than the directory says");
  return {};
}

#if defined(__x86_64__)
namespace {

// A CRC is the remainder of a polynomial over bits: bytes in front may be multiplied by a power of
// x, modulo the divisor, and added to bytes behind them, and it stays the same.
[[gnu::target("pclmul")]] __m128i fold(__m128i front, __m128i power, __m128i behind) noexcept {
  return _mm_xor_si128(behind, _mm_xor_si128(_mm_clmulepi64_si128(front, power, 0x00),
                                             _mm_clmulepi64_si128(front, power, 0x11)));
}

// Takes all blocks of 64 bytes off `data` and gives the 16 that they come down to, several times
// faster than tables do. The register's state is added to the first. REQUIRES: there is a block.
[[gnu::target("pclmul")]] std::array<std::byte, 16> fold_blocks(std::span<const std::byte>& data,
                                                                std::uint32_t state) noexcept {
  const auto load = [&](std::size_t i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data.data()) + i);
  };
  // x^(n + 32) and x^(n - 32), with their bits reversed, for n bits.
  const __m128i by_512 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
  const __m128i by_128 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  __m128i a = _mm_xor_si128(load(0), _mm_cvtsi32_si128(static_cast<int>(state)));
  __m128i b = load(1);
  __m128i c = load(2);
  __m128i d = load(3);
  for (data = data.subspan(64); data.size() >= 64; data = data.subspan(64)) {
    a = fold(a, by_512, load(0));
    b = fold(b, by_512, load(1));
    c = fold(c, by_512, load(2));
    d = fold(d, by_512, load(3));
  }
  std::array<std::byte, 16> rest;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest.data()),
                   fold(fold(fold(a, by_128, b), by_128, c), by_128, d));
  return rest;
}

}  // namespace
#endif

std::uint32_t crc_of(std::span<const std::byte> data, std::uint32_t before) noexcept {
  std::uint32_t crc = before;
#if defined(__x86_64__)
  if (data.size() >= 64 && __builtin_cpu_supports("pclmul")) {
    // The bytes that were folded have the register's state in them.
    const std::array<std::byte, 16> folded = fold_blocks(data, ~before);
    crc = continue_crc(~std::uint32_t{0}, folded);
  }
#endif
  return continue_crc(crc, data);
}

}  // namespace andiron::inline v1::detail
