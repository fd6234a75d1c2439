// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/inflate_stream_test.cpp
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "src/codec/deflate/portable.h"
#include "src/codec/deflate/portable_block_codes.h"
#include "src/codec/deflate/portable_window.h"
#include "src/core/little_endian.h"

namespace andiron::inline v1::detail {
namespace {

// Copies bytes that were made before to behind them, eight at a time where the two are that far
// apart, and so up to seven too many.
std::byte* repeat(std::byte* out, std::size_t distance, std::size_t count) noexcept {
  const std::byte* from = out - distance;
  std::byte* const end = out + count;
  if (distance >= 8) {
    for (; out < end; out += 8, from += 8) std::memcpy(out, from, 8);
  } else if (distance == 1) {
    std::memset(out, std::to_integer<int>(*from), count);
  } else {
    while (out < end) *out++ = *from++;
  }
  return end;
}

class PortableInflate final : public InflateStream {
 public:
  PortableInflate() noexcept {}  // leaves its tables and its window as they are

  Step step(std::span<const std::byte> in, std::span<std::byte> out) noexcept override {
    in_ = in.data();
    in_end_ = in_ + in.size();
    out_begin_ = out_ = out.data();
    out_end_ = out_ + out.size();
    while (advance()) {
    }
    const std::size_t made = static_cast<std::size_t>(out_ - out_begin_);
    const std::size_t taken = in.size() - in_left();
    if (at_ == At::end) return {taken, made, State::ended};
    if (at_ == At::damage) return {taken, made, State::damaged};
    window_.append(out.first(made));
    return {taken, made, State::goes_on};
  }

  void reset() noexcept override {
    at_ = At::block;
    is_last_block_ = false;
    held_ = 0;
    held_bits_ = 0;
    window_.clear();
  }

 private:
  // What comes next.
  enum class At : std::uint8_t {
    block,
    stored_size,
    stored_bytes,
    code_counts,
    lengths_of_lengths,
    lengths,
    symbol,
    match,
    end,
    damage,
  };

  // A literal, a match, or the end of the block, with all its bits.
  struct Symbol {
    enum class Kind : std::uint8_t { literal, match, end, invalid, incomplete };
    Kind kind;
    unsigned bits = 0;
    unsigned value = 0;  // of a literal, or the length of a match
    unsigned distance = 0;
  };

  // Each of these does the next thing. False if it waits, or if nothing more comes.
  bool advance() noexcept {
    switch (at_) {
      case At::block:
        return begin_block();
      case At::stored_size:
        return read_stored_size();
      case At::stored_bytes:
        return copy_stored_bytes();
      case At::code_counts:
        return read_code_counts();
      case At::lengths_of_lengths:
        return read_lengths_of_lengths();
      case At::lengths:
        return read_lengths();
      case At::symbol:
        return read_symbol();
      case At::match:
        return copy_match();
      case At::end:
      case At::damage:
        break;
    }
    return false;
  }

  bool begin_block() noexcept {
    if (is_last_block_) {
      take_bits(held_bits_);  // what is left of the last byte
      at_ = At::end;
      return false;
    }
    if (!hold(3)) return false;
    is_last_block_ = take_bits(1) != 0;
    switch (take_bits(2)) {
      case 0:
        take_bits(held_bits_);
        at_ = At::stored_size;
        return true;
      case 1:
        codes_.use_fixed();
        at_ = At::symbol;
        return true;
      case 2:
        at_ = At::code_counts;
        return true;
      default:
        return fail();
    }
  }

  bool read_stored_size() noexcept {
    if (!hold(32)) return false;
    const std::uint64_t size = take_bits(16);
    if (take_bits(16) != (size ^ 0xffff)) return fail();
    stored_left_ = static_cast<std::size_t>(size);
    at_ = At::stored_bytes;
    return true;
  }

  bool copy_stored_bytes() noexcept {
    const std::size_t count = std::min({stored_left_, in_left(), out_left()});
    if (count != 0) std::memcpy(out_, in_, count);
    in_ += count;
    out_ += count;
    stored_left_ -= count;
    if (stored_left_ != 0) return false;
    at_ = At::block;
    return true;
  }

  bool read_code_counts() noexcept {
    if (!hold(14)) return false;
    literal_count_ = static_cast<std::size_t>(take_bits(5)) + 257;
    distance_count_ = static_cast<std::size_t>(take_bits(5)) + 1;
    length_count_ = static_cast<std::size_t>(take_bits(4)) + 4;
    if (literal_count_ > literal_symbols || distance_count_ > distance_symbols) return fail();
    lengths_read_ = 0;
    at_ = At::lengths_of_lengths;
    return true;
  }

  bool read_lengths_of_lengths() noexcept {
    for (; lengths_read_ < length_count_; ++lengths_read_) {
      if (!hold(3)) return false;
      lengths_[order_of_lengths[lengths_read_]] = static_cast<std::uint8_t>(take_bits(3));
    }
    for (std::size_t i = length_count_; i < order_of_lengths.size(); ++i) {
      lengths_[order_of_lengths[i]] = 0;
    }
    if (!code_of_lengths_.use(std::span(lengths_).first(order_of_lengths.size()))) return fail();
    lengths_read_ = 0;
    at_ = At::lengths;
    return true;
  }

  bool read_lengths() noexcept {
    const std::size_t count = literal_count_ + distance_count_;
    while (lengths_read_ < count) {
      const HuffmanEntry entry = code_of_lengths_.find(held_);
      const unsigned symbol = entry.value();
      const SymbolRange range =
          symbol < repeat_length ? SymbolRange{1, 0} : repeat_ranges[symbol - repeat_length];
      if (entry.bits() + range.extra_bits > held_bits_) {
        if (!hold_byte()) return false;
        continue;
      }
      take_bits(entry.bits());
      const std::size_t times = range.base + static_cast<std::size_t>(take_bits(range.extra_bits));
      if (times > count - lengths_read_) return fail();
      if (symbol == repeat_length && lengths_read_ == 0) return fail();
      const std::uint8_t length = symbol < repeat_length    ? static_cast<std::uint8_t>(symbol)
                                  : symbol == repeat_length ? lengths_[lengths_read_ - 1]
                                                            : std::uint8_t{0};
      std::fill_n(lengths_.data() + lengths_read_, times, length);
      lengths_read_ += times;
    }
    const auto lengths = std::span<const std::uint8_t>(lengths_).first(count);
    if (!codes_.use(lengths.first(literal_count_), lengths.subspan(literal_count_))) return fail();
    at_ = At::symbol;
    return true;
  }

  bool read_symbol() noexcept {
    if (in_left() >= fast_in && out_left() >= fast_out) {
      read_symbols_fast();
      return at_ != At::damage;
    }
    const Symbol symbol = held_symbol();
    switch (symbol.kind) {
      case Symbol::Kind::incomplete:
        return hold_byte();
      case Symbol::Kind::invalid:
        return fail();
      case Symbol::Kind::end:
        at_ = At::block;
        break;
      case Symbol::Kind::literal:
        if (out_left() == 0) return false;
        *out_++ = static_cast<std::byte>(symbol.value);
        break;
      case Symbol::Kind::match:
        match_left_ = symbol.value;
        match_distance_ = symbol.distance;
        at_ = At::match;
        break;
    }
    take_bits(symbol.bits);
    return true;
  }

  // The symbol that the bits at hand begin with. It takes none of them, so that a symbol of which
  // bits are missing is looked at again when there are more.
  Symbol held_symbol() const noexcept {
    const HuffmanEntry entry = codes_.literals().find(held_);
    unsigned bits = entry.bits();
    if (bits > held_bits_) return {Symbol::Kind::incomplete};
    if (entry.is_literal()) return {Symbol::Kind::literal, bits, entry.value()};
    if (entry.is_end()) return {Symbol::Kind::end, bits};
    if (entry.is_invalid()) return {Symbol::Kind::invalid};
    const auto length =
        entry.value() + static_cast<unsigned>(low_bits(held_ >> bits, entry.extra_bits()));
    bits += entry.extra_bits();
    if (bits > held_bits_) return {Symbol::Kind::incomplete};
    const HuffmanEntry far = codes_.distances().find(held_ >> bits);
    bits += far.bits();
    if (bits > held_bits_) return {Symbol::Kind::incomplete};
    if (far.is_invalid()) return {Symbol::Kind::invalid};
    const auto distance =
        far.value() + static_cast<unsigned>(low_bits(held_ >> bits, far.extra_bits()));
    bits += far.extra_bits();
    if (bits > held_bits_) return {Symbol::Kind::incomplete};
    return {Symbol::Kind::match, bits, length, distance};
  }

  // Reads symbols while there is enough of everything for any: of the data, as a turn of the loop
  // looks at 8 bytes twice, and of room for two literals, a match and what repeat() makes too much.
  static constexpr std::size_t fast_in = 16;
  static constexpr std::size_t fast_out = 2 + longest_match + 8;

  void read_symbols_fast() noexcept {
    // The compiler keeps these in registers; it must take bytes written for parts of this object.
    const HuffmanLookup literals = codes_.literals();
    const HuffmanLookup distances = codes_.distances();
    const std::byte* in = in_;
    const std::byte* const in_last = in_end_ - fast_in;
    std::byte* out = out_;
    std::byte* const out_last = out_end_ - fast_out;
    std::uint64_t held = held_;
    unsigned held_bits = held_bits_;

    // Holds 56 bits or more. Those above held_bits are already right, so they may come again.
    const auto hold_most = [&] {
      held |= load_u64(in) << held_bits;
      in += (63 - held_bits) >> 3;
      held_bits |= 56;
    };
    const auto take = [&](unsigned bits) {
      held >>= bits;
      held_bits -= bits;
    };
    const auto take_number = [&](HuffmanEntry entry) {
      take(entry.bits());
      const auto number = entry.value() + static_cast<unsigned>(low_bits(held, entry.extra_bits()));
      take(entry.extra_bits());
      return number;
    };

    while (in <= in_last && out <= out_last) {
      hold_most();
      HuffmanEntry entry = literals.first(held);
      if (entry.is_literal()) {
        take(entry.bits());
        *out++ = static_cast<std::byte>(entry.value());
        entry = literals.first(held);
        if (entry.is_literal()) {
          take(entry.bits());
          *out++ = static_cast<std::byte>(entry.value());
          continue;
        }
        hold_most();
      }
      if (entry.is_link()) entry = literals.follow(entry, held);
      if (entry.is_literal()) {
        take(entry.bits());
        *out++ = static_cast<std::byte>(entry.value());
        continue;
      }
      if (!entry.is_range()) {
        take(entry.bits());
        at_ = entry.is_end() ? At::block : At::damage;
        break;
      }
      const unsigned length = take_number(entry);
      HuffmanEntry far = distances.first(held);
      if (far.is_link()) far = distances.follow(far, held);
      if (far.is_invalid()) {
        at_ = At::damage;
        break;
      }
      const unsigned distance = take_number(far);
      if (distance <= static_cast<std::size_t>(out - out_begin_)) {
        out = repeat(out, distance, length);
        continue;
      }
      match_left_ = length;
      match_distance_ = distance;
      out_ = out;
      const bool is_copied = copy_match();
      out = out_;
      if (!is_copied) break;
    }

    in_ = in - (held_bits >> 3);  // whole bytes go back
    held_bits_ = held_bits & 7;
    held_ = low_bits(held, held_bits_);
    out_ = out;
  }

  // Copies the rest of a match, which may begin in the window.
  bool copy_match() noexcept {
    while (match_left_ != 0) {
      if (out_left() == 0) return false;
      const std::size_t made = static_cast<std::size_t>(out_ - out_begin_);
      std::size_t count = std::min(match_left_, out_left());
      if (match_distance_ <= made) {
        for (std::size_t i = 0; i < count; ++i) out_[i] = *(out_ + i - match_distance_);
      } else {
        const std::size_t back = match_distance_ - made;
        if (back > window_.used()) return fail();
        count = window_.copy(back, {out_, count});
      }
      out_ += count;
      match_left_ -= count;
    }
    at_ = At::symbol;
    return true;
  }

  std::size_t in_left() const noexcept { return static_cast<std::size_t>(in_end_ - in_); }
  std::size_t out_left() const noexcept { return static_cast<std::size_t>(out_end_ - out_); }

  bool fail() noexcept {
    at_ = At::damage;
    return false;
  }

  // Bits are held byte by byte, and only while they are needed: a byte that was taken cannot go
  // back in a later step.
  bool hold_byte() noexcept {
    if (in_ == in_end_) return false;
    held_ |= std::to_integer<std::uint64_t>(*in_++) << held_bits_;
    held_bits_ += 8;
    return true;
  }
  bool hold(unsigned bits) noexcept {
    while (held_bits_ < bits) {
      if (!hold_byte()) return false;
    }
    return true;
  }
  std::uint64_t take_bits(unsigned count) noexcept {
    const std::uint64_t bits = low_bits(held_, count);
    held_ >>= count;
    held_bits_ -= count;
    return bits;
  }

  // Of this step.
  const std::byte* in_ = nullptr;
  const std::byte* in_end_ = nullptr;
  std::byte* out_begin_ = nullptr;
  std::byte* out_ = nullptr;
  std::byte* out_end_ = nullptr;

  At at_ = At::block;
  bool is_last_block_ = false;
  std::uint64_t held_ = 0;  // bits that were taken, the next one lowest
  unsigned held_bits_ = 0;
  std::size_t stored_left_ = 0;
  std::size_t match_left_ = 0;
  std::size_t match_distance_ = 0;
  std::size_t literal_count_ = 0;
  std::size_t distance_count_ = 0;
  std::size_t length_count_ = 0;
  std::size_t lengths_read_ = 0;
  std::array<std::uint8_t, literal_symbols + distance_symbols> lengths_;

  CodeOfLengths code_of_lengths_;
  BlockCodes codes_;
  InflateWindow window_;  // what the steps before have made
};
static_assert(sizeof(PortableInflate) <= 47 * 1024, "portable.h says how much memory it takes");

}  // namespace

std::unique_ptr<InflateStream> portable_inflate_stream() noexcept {
  return std::unique_ptr<InflateStream>(new (std::nothrow) PortableInflate);
}

}  // namespace andiron::inline v1::detail
