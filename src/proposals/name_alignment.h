// SPDX-License-Identifier: MIT OR Apache-2.0
// Aligns two dotted names: what they share, what differs, and how much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace andiron::inline v1::detail {

// A run of digits, or the text between two of them in a segment: "layer1.0" has layer, 1 and 0.
struct NameToken {
  std::uint32_t word;  // equal for equal text
  std::size_t begin;   // bytes in the name
  std::size_t end;
  bool starts_segment;
};
using NameTokens = std::vector<NameToken>;

// The costs of turning one name into another.
struct AlignmentCosts {
  double drop;
  double add;
  double drop_number;
  double add_number;
  double other_number;
};

// Tokens of one name, in whole segments, that correspond to tokens of the other. Either side may be
// empty.
struct NameBlock {
  std::size_t from_begin;
  std::size_t from_end;
  std::size_t to_begin;
  std::size_t to_end;
};

class NameAligner {
 public:
  // Empty for a name with so many tokens that it is not worth the work.
  NameTokens tokens(std::string_view name);
  bool is_number(const NameToken& token) const { return words_[token.word].is_number; }
  // From 0 (nothing in common) to 1 (the same but for the way of writing).
  double similarity(const NameToken& a, const NameToken& b);

  double cost(const NameTokens& from, const NameTokens& to, const AlignmentCosts& costs);
  // The alignment of least cost, cut wherever both names begin a segment.
  std::vector<NameBlock> blocks(const NameTokens& from, const NameTokens& to,
                                const AlignmentCosts& costs);

 private:
  struct Word {
    bool is_number;
    std::vector<std::string> parts;
    std::string joined;
  };

  std::uint32_t word(std::string_view text);
  double replace_cost(const NameTokens& from, std::size_t i, const NameTokens& to, std::size_t j,
                      const AlignmentCosts& costs);
  double drop_cost(const NameToken& token, const AlignmentCosts& costs) const;
  double add_cost(const NameToken& token, const AlignmentCosts& costs) const;
  void fill_table(const NameTokens& from, const NameTokens& to, const AlignmentCosts& costs);

  std::unordered_map<std::string, std::uint32_t> word_ids_;
  std::vector<Word> words_;
  std::unordered_map<std::uint64_t, double> similarities_;
  std::vector<double> table_;  // least cost of the first i tokens to the first j
};

}  // namespace andiron::inline v1::detail
