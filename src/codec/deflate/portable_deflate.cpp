// SPDX-License-Identifier: MIT OR Apache-2.0
// Deflate data in stored blocks: a byte that says whether the block is the last, its length and the
// complement of that in 16 bits each, and the bytes as they are. Tested by
// tests/codec/deflate_stream_test.cpp
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "src/codec/deflate/portable.h"

namespace andiron::inline v1::detail {
namespace {

class StoredDeflate final : public DeflateStream {
 public:
  StoredDeflate() noexcept {}  // leaves its memory as it is

  Step step(std::span<const std::byte> in, std::span<std::byte> out,
            bool is_last) noexcept override {
    Step step;
    for (;;) {
      const std::size_t made = std::min(made_.size(), out.size() - step.made);
      if (made != 0) std::memcpy(out.data() + step.made, made_.data(), made);
      made_ = made_.subspan(made);
      step.made += made;
      if (has_ended_ || !made_.empty()) return step;

      const std::size_t taken = std::min(most_bytes - used_, in.size() - step.taken);
      if (taken != 0) std::memcpy(&block_[header_bytes + used_], in.data() + step.taken, taken);
      used_ += taken;
      step.taken += taken;
      has_ended_ = is_last && step.taken == in.size();
      if (used_ < most_bytes && !has_ended_) return step;
      finish_block();
    }
  }

 private:
  static constexpr std::size_t header_bytes = 5;
  static constexpr std::size_t most_bytes = 0xffff;

  void finish_block() noexcept {
    const auto low = static_cast<std::byte>(used_ & 0xff);
    const auto high = static_cast<std::byte>(used_ >> 8);
    block_[0] = std::byte{has_ended_};
    block_[1] = low;
    block_[2] = high;
    block_[3] = ~low;
    block_[4] = ~high;
    made_ = std::span(block_).first(header_bytes + used_);
    used_ = 0;
  }

  bool has_ended_ = false;
  std::size_t used_ = 0;             // bytes in the block that is being filled
  std::span<const std::byte> made_;  // of a finished block, what is still to be handed out
  std::array<std::byte, header_bytes + most_bytes> block_;
};

}  // namespace

std::unique_ptr<DeflateStream> portable_deflate_stream() noexcept {
  return std::unique_ptr<DeflateStream>(new (std::nothrow) StoredDeflate);
}

}  // namespace andiron::inline v1::detail
