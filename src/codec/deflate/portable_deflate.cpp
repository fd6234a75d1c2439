// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs of a byte, and a Huffman code for each block: floats have little more to find. Tested by
// tests/codec/deflate_stream_test.cpp
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "src/codec/deflate/portable.h"
#include "src/codec/deflate/portable_huffman_code.h"
#include "src/codec/deflate/portable_symbols.h"

namespace andiron::inline v1::detail {
namespace {

// Writes bits, the first one lowest, into memory that has room for them.
class BitWriter {
 public:
  void begin(std::byte* out) noexcept { out_ = out; }

  void put(std::uint64_t bits, unsigned count) noexcept {
    held_ |= bits << held_bits_;
    for (held_bits_ += count; held_bits_ >= 8; held_bits_ -= 8, held_ >>= 8) {
      *out_++ = static_cast<std::byte>(held_ & 0xff);
    }
  }
  void fill_byte() noexcept {
    if (held_bits_ != 0) put(0, 8 - held_bits_);
  }
  // REQUIRES: all bytes are full.
  void put_bytes(std::span<const std::byte> bytes) noexcept {
    if (!bytes.empty()) std::memcpy(out_, bytes.data(), bytes.size());
    out_ += bytes.size();
  }
  const std::byte* end() const noexcept { return out_; }

 private:
  std::byte* out_ = nullptr;
  std::uint64_t held_ = 0;
  unsigned held_bits_ = 0;
};

// A Huffman code for symbols that occur so and so often.
template <std::size_t symbols, unsigned longest>
class HuffmanCode {
 public:
  using Counts = std::array<std::uint32_t, symbols>;

  void build(Counts counts) noexcept {
    set_huffman_lengths(counts, longest, lengths_);
    set_huffman_codes(lengths_, codes_);
  }
  const std::array<std::uint8_t, symbols>& lengths() const noexcept { return lengths_; }
  void write(BitWriter& out, std::size_t symbol) const noexcept {
    out.put(codes_[symbol], lengths_[symbol]);
  }

 private:
  std::array<std::uint8_t, symbols> lengths_;
  std::array<std::uint16_t, symbols> codes_;
};

constexpr std::size_t block_bytes = 32 * 1024;
constexpr unsigned shortest_run = 3;

// The symbols for these lengths, each with what its extra bits are to be, and how many these are.
template <class Use>
void for_each_length(std::span<const std::uint8_t> lengths, const Use& use) noexcept {
  for (std::size_t at = 0; at < lengths.size();) {
    const std::uint8_t length = lengths[at];
    const bool repeats = length == 0 || (at != 0 && lengths[at - 1] == length);
    const std::size_t most = !repeats ? 1 : length == 0 ? 138 : 6;
    std::size_t times = 1;
    while (times < most && at + times < lengths.size() && lengths[at + times] == length) ++times;
    if (times < 3) {
      use(length, 0, 0);
      ++at;
      continue;
    }
    const unsigned symbol = length != 0  ? repeat_length
                            : times < 11 ? repeat_zero
                                         : repeat_zero_more;
    const SymbolRange range = repeat_ranges[symbol - repeat_length];
    use(symbol, times - range.base, range.extra_bits);
    at += times;
  }
}

class PortableDeflate final : public DeflateStream {
 public:
  PortableDeflate() noexcept {}  // leaves its memory as it is

  Step step(std::span<const std::byte> in, std::span<std::byte> out,
            bool is_last) noexcept override {
    Step step;
    for (;;) {
      const std::size_t made = std::min(made_.size(), out.size() - step.made);
      if (made != 0) std::memcpy(out.data() + step.made, made_.data(), made);
      made_ = made_.subspan(made);
      step.made += made;
      if (has_ended_ || !made_.empty()) return step;

      const std::size_t taken = std::min(block_bytes - block_used_, in.size() - step.taken);
      if (taken != 0) std::memcpy(&block_[block_used_], in.data() + step.taken, taken);
      block_used_ += taken;
      step.taken += taken;
      has_ended_ = is_last && step.taken == in.size();
      if (block_used_ < block_bytes && !has_ended_) return step;
      write_block();
    }
  }

 private:
  using LiteralCode = HuffmanCode<literal_symbols, longest_code>;
  using LengthCode = HuffmanCode<order_of_lengths.size(), longest_code_of_lengths>;

  std::span<const std::byte> block() const noexcept { return std::span(block_).first(block_used_); }

  void write_block() noexcept {
    writer_.begin(out_.data());
    const BitWriter before = writer_;
    write_compressed();
    constexpr std::size_t around_stored = 6;
    if (writer_.end() > out_.data() + around_stored + block_used_) {
      writer_ = before;
      write_stored();
    }
    if (has_ended_) writer_.fill_byte();
    made_ = {out_.data(), writer_.end()};
    if (block_used_ != 0) byte_before_ = std::to_integer<int>(block().back());
    block_used_ = 0;
  }

  void write_stored() noexcept {
    writer_.put(has_ended_ ? 0b001 : 0b000, 3);
    writer_.fill_byte();
    writer_.put(block_used_, 16);
    writer_.put(~block_used_ & 0xffff, 16);
    writer_.put_bytes(block());
  }

  void write_compressed() noexcept {
    LiteralCode::Counts counts{};
    for_each_symbol([&](std::size_t symbol, std::size_t) { ++counts[symbol]; });
    literals_.build(counts);
    writer_.put(has_ended_ ? 0b101 : 0b100, 3);
    write_lengths();
    for_each_symbol([&](std::size_t symbol, std::size_t extra) {
      literals_.write(writer_, symbol);
      if (symbol < first_length) return;
      writer_.put(extra, length_ranges[symbol - first_length].extra_bits);
      writer_.put(0, 1);  // the one distance that there is
    });
  }

  // The symbols of the block, each with what its extra bits are to be.
  template <class Use>
  void for_each_symbol(const Use& use) const noexcept {
    int before = byte_before_;
    for (auto rest = block(); !rest.empty();) {
      const auto most = rest.first(std::min<std::size_t>(rest.size(), longest_match));
      const auto run_end = std::find_if(most.begin(), most.end(), [&](std::byte byte) {
        return std::to_integer<int>(byte) != before;
      });
      const auto run = static_cast<std::size_t>(run_end - most.begin());
      if (run < shortest_run) {
        before = std::to_integer<int>(rest.front());
        use(static_cast<std::size_t>(before), 0);
        rest = rest.subspan(1);
      } else {
        const auto range = std::upper_bound(
            length_ranges.begin(), length_ranges.end(), run,
            [](std::size_t length, const SymbolRange& other) { return length < other.base; });
        const auto index = static_cast<std::size_t>(range - length_ranges.begin()) - 1;
        use(first_length + index, run - length_ranges[index].base);
        rest = rest.subspan(run);
      }
    }
    use(end_of_block, 0);
  }

  // The lengths of the code of literals and of that of distances, in a code of their own.
  void write_lengths() noexcept {
    std::array<std::uint8_t, literal_symbols + 1> lengths;
    std::copy(literals_.lengths().begin(), literals_.lengths().end(), lengths.begin());
    lengths.back() = 1;  // of distance 1, the only one
    LengthCode code;
    LengthCode::Counts counts{};
    for_each_length(lengths, [&](std::size_t symbol, std::size_t, unsigned) { ++counts[symbol]; });
    code.build(counts);
    writer_.put(literal_symbols - 257, 5);
    writer_.put(0, 5);  // one distance
    writer_.put(order_of_lengths.size() - 4, 4);
    for (const std::uint8_t symbol : order_of_lengths) writer_.put(code.lengths()[symbol], 3);
    for_each_length(lengths, [&](std::size_t symbol, std::size_t extra, unsigned extra_bits) {
      code.write(writer_, symbol);
      writer_.put(extra, extra_bits);
    });
  }

  BitWriter writer_;
  LiteralCode literals_;
  int byte_before_ = -1;  // the block; none at first
  bool has_ended_ = false;
  std::size_t block_used_ = 0;
  std::span<const std::byte> made_;  // what is still to be handed out
  std::array<std::byte, block_bytes> block_;
  // A byte becomes 15 bits at most, and the lengths take less than a kilobyte.
  std::array<std::byte, 2 * block_bytes> out_;
};
static_assert(sizeof(PortableDeflate) <= 97 * 1024, "portable.h says how much memory it takes");

}  // namespace

std::unique_ptr<DeflateStream> portable_deflate_stream() noexcept {
  return std::unique_ptr<DeflateStream>(new (std::nothrow) PortableDeflate);
}

}  // namespace andiron::inline v1::detail
