// SPDX-License-Identifier: MIT OR Apache-2.0
// Deflate data put together by hand, right or wrong.
//
//   DeflateWriting data;
//   data.begin_fixed(true);
//   data.fixed_symbol('a').fixed_symbol(257).put(0, 5).fixed_symbol(256);   // "aaaa"
//   inflate(data.text());
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace andiron::test {

class DeflateWriting {
 public:
  /// Bits of a number, the lowest first.
  DeflateWriting& put(std::uint64_t value, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i) put_bit((value >> i & 1) != 0);
    return *this;
  }
  /// Bits of a code, the highest first.
  DeflateWriting& code(std::uint64_t value, unsigned bits) {
    for (unsigned i = bits; i-- > 0;) put_bit((value >> i & 1) != 0);
    return *this;
  }
  DeflateWriting& fill_byte() {
    while (bits_ != 0) put_bit(false);
    return *this;
  }

  DeflateWriting& begin(bool is_last, unsigned type) {
    return put(is_last ? 1 : 0, 1).put(type, 2);
  }

  DeflateWriting& stored(bool is_last, std::string_view content) {
    begin(is_last, 0).fill_byte();
    put(content.size(), 16).put(~content.size() & 0xffff, 16);
    text_ += content;
    return *this;
  }

  DeflateWriting& begin_fixed(bool is_last) { return begin(is_last, 1); }
  DeflateWriting& fixed_symbol(unsigned symbol) {
    if (symbol < 144) return code(0x30 + symbol, 8);
    if (symbol < 256) return code(0x190 + symbol - 144, 9);
    if (symbol < 280) return code(symbol - 256, 7);
    return code(0xc0 + symbol - 280, 8);
  }
  DeflateWriting& fixed_literals(std::string_view literals) {
    for (const char literal : literals) fixed_symbol(static_cast<unsigned char>(literal));
    return *this;
  }
  /// A match by the symbols of its length and distance, and their extra bits.
  DeflateWriting& fixed_match(unsigned length, std::uint64_t length_extra, unsigned length_bits,
                              unsigned distance, std::uint64_t distance_extra,
                              unsigned distance_bits) {
    return fixed_symbol(length)
        .put(length_extra, length_bits)
        .code(distance, 5)
        .put(distance_extra, distance_bits);
  }

  /// The head of a block with codes of its own, up to the lengths of the code of lengths.
  DeflateWriting& begin_dynamic(bool is_last, std::size_t literals, std::size_t distances,
                                const std::vector<unsigned>& lengths_of_lengths) {
    begin(is_last, 2).put(literals - 257, 5).put(distances - 1, 5);
    put(lengths_of_lengths.size() - 4, 4);
    for (const unsigned length : lengths_of_lengths) put(length, 3);
    return *this;
  }
  /// The whole head; all lengths are written out.
  DeflateWriting& begin_dynamic(bool is_last, const std::vector<unsigned>& literals,
                                const std::vector<unsigned>& distances) {
    // Thirteen symbols with four bits and six with five: lengths up to 12, then the rest.
    std::vector<unsigned> lengths_of_lengths;
    for (const unsigned symbol :
         {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}) {
      lengths_of_lengths.push_back(symbol < 13 ? 4 : 5);
    }
    begin_dynamic(is_last, literals.size(), distances.size(), lengths_of_lengths);
    for (const auto* lengths : {&literals, &distances}) {
      for (const unsigned length : *lengths) {
        if (length < 13) {
          code(length, 4);
        } else {
          code(26 + length - 13, 5);
        }
      }
    }
    return *this;
  }

  const std::string& text() const { return text_; }

 private:
  void put_bit(bool bit) {
    if (bits_ == 0) text_ += '\0';
    if (bit) text_.back() = static_cast<char>(text_.back() | 1 << bits_);
    bits_ = (bits_ + 1) % 8;
  }

  std::string text_;
  int bits_ = 0;  // of the last byte
};

}  // namespace andiron::test
