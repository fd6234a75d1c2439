// SPDX-License-Identifier: MIT OR Apache-2.0
// Deflate data of all kinds, small enough to be taken apart.
#pragma once

#include <bit>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/deflate_writing.h"
#include "tests/support/deflating.h"
#include "tests/support/noise.h"

namespace andiron::test {

struct DeflateSample {
  std::string data;
  std::string text;
};

inline std::string bytes_of_hex(std::string_view hex) {
  const auto digit = [](char c) { return c < 'a' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  }
  return bytes;
}

/// Written by zlib: fixed codes with matches, codes without, and codes with matches.
inline std::vector<DeflateSample> samples_of_zlib() {
  std::string words;
  for (int i = 0; i < 8; ++i) words += "layers." + std::to_string(i) + ".weight, layers.bias; ";
  std::string names;
  for (int i = 0; i < 12; ++i) {
    for (const char* part : {"attn", "mlp", "ln"}) {
      for (const char* kind : {"weight", "bias"}) {
        names += "h." + std::to_string(i) + "." + part + "." + kind + "\n";
      }
    }
  }
  return {
      {bytes_of_hex("cb49ac4c2d2ad633d02b4fcd4ccf28d151c88108246526165bc3388678658df0ca1ae39535c1"
                    "2b6b8a57d60cafac39765900"),
       words},
      {bytes_of_hex("05c1cb6928300c04c05654805992f7f239b89a352cb64027c960d47d6682ad2c7ce0c9f7b9c3"
                    "82ad2c2c674d0bb6b2f08927dfe70e0bb6b2b09c352dd8cac23f3cf93e7758b09585e5ac69c1"
                    "5616fee3c9f7b9c382ad2c2c674d0bb6b2f08527dfe70e0bb6b2b09c352dd8cac2379e7c9f3b"
                    "2cd8cac272d6b4602b0b3f78f27deeb0602b0bcb59d382ad2cfce2c9f7b9c382ad2c2c674dfb"
                    "03"),
       words},
      {bytes_of_hex("65d35b0ac2400c46e1771753ccdc673915c42954112cb87d51b0fe273e8690ef29674cc769de"
                    "b6dbf43c2f97b11dc6773e2df3e3335dd7bb2edfe3be5b71b7ee57e64c8369344d4d83696206"
                    "67069881665033c00c624667469891665433c28c622667269889665233c14c62666766989966"
                    "5633c3cc6216671698856651b3c02c6256675698956655b3c2ac62366736988d6653b3c16c62"
                    "766776989d6657b3c3ecfaf33e246349e65232b4648cc950d35f4eae271f148b7249fd9a7a01"),
       names}};
}

inline std::vector<DeflateSample> deflate_samples() {
  std::vector<DeflateSample> samples = samples_of_zlib();
  for (const std::string& text :
       {samples[0].text, noise(200), std::string(3000, 'a') + noise(20)}) {
    samples.push_back({deflated(text), text});
  }
  samples.push_back({DeflateWriting()
                         .stored(false, "stored")
                         .begin_fixed(false)
                         .fixed_match(260, 0, 0, 4, 1, 1)  // 6 from 6 before
                         .fixed_symbol(256)
                         .stored(false, "")
                         .stored(true, "again")
                         .text(),
                     "storedstoredagain"});
  return samples;
}

inline std::vector<std::string> large_texts() {
  std::mt19937 random(1);
  std::string skewed;  // codes of many lengths
  while (skewed.size() < 100'000) {
    skewed += static_cast<char>(std::countr_zero(static_cast<unsigned>(random()) | 1U << 30) * 8);
  }
  std::string words;
  while (words.size() < 300'000) words += "word" + std::to_string(random() % 3000) + ' ';
  std::string far = noise(32'768);
  far += far + noise(40'000) + far;
  return {std::string(200'000, 'z'), noise(100'000), skewed, words, far};
}

/// Calls use(damaged, bit) for the data with each of its bits flipped.
template <class Use>
void for_each_flipped_bit(std::string data, const Use& use) {
  for (std::size_t bit = 0; bit < 8 * data.size(); ++bit) {
    char& byte = data[bit / 8];
    byte = static_cast<char>(byte ^ 1 << bit % 8);
    use(data, bit);
    byte = static_cast<char>(byte ^ 1 << bit % 8);
  }
}

}  // namespace andiron::test
