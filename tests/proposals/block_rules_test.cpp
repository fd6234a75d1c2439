// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/block_rules.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "andiron/names.h"

namespace andiron {
namespace {

using detail::block_rules;
using detail::NameRule;
using detail::Renaming;
using NamePairs = std::vector<std::pair<std::string, std::string>>;

std::optional<std::vector<NameRule>> rules_for(const NamePairs& pairs) {
  std::vector<Renaming> renamings;
  for (const auto& [from, to] : pairs) renamings.push_back({from, to});
  return block_rules(renamings);
}

// Expects rules that give each name the other, applied as a store applies them. Returns their
// number.
std::size_t count_of_right_rules(const NamePairs& pairs) {
  const std::optional<std::vector<NameRule>> rules = rules_for(pairs);
  if (!rules) {
    ADD_FAILURE() << "no rules";
    return 0;
  }
  KeyRemapper remapper;
  for (const NameRule& rule : *rules) remapper.add_pattern(rule.pattern, rule.replacement);
  EXPECT_TRUE(remapper.status());
  EXPECT_TRUE(remapper.warnings().empty());
  for (const auto& [from, to] : pairs) EXPECT_EQ(remapper.remap(from), to) << remapper;
  return rules->size();
}

// The places of blocks with these numbers, renamed.
NamePairs pairs_in_blocks(const std::string& from, const std::string& to, int count,
                          const NamePairs& places, int shift = 0) {
  NamePairs pairs;
  for (int i = 0; i < count; ++i) {
    for (const auto& [place, new_place] : places) {
      for (const char* leaf : {".weight", ".bias"}) {
        pairs.emplace_back(from + std::to_string(i) + "." + place + leaf,
                           to + std::to_string(i + shift) + "." + new_place + leaf);
      }
    }
  }
  return pairs;
}

void append_pairs(NamePairs& pairs, const NamePairs& more) {
  pairs.insert(pairs.end(), more.begin(), more.end());
}

TEST(BlockRules, AreNoneForNamesThatStay) {
  EXPECT_EQ(count_of_right_rules({}), 0u);
  EXPECT_EQ(count_of_right_rules({{"a.weight", "a.weight"}, {"b", "b"}}), 0u);
}

TEST(BlockRules, AreOneForBlocksAndOneForEachPlace) {
  const NamePairs pairs = pairs_in_blocks(
      "model.layers.", "h.", 12,
      {{"self_attn.q_proj", "attn.q"}, {"mlp.up_proj", "mlp.fc1"}, {"norm", "norm"}});
  EXPECT_EQ(count_of_right_rules(pairs), 3u);
}

TEST(BlockRules, RenameNamesOutsideBlocksToo) {
  NamePairs pairs = pairs_in_blocks("h.", "layers.", 3, {{"fc", "linear"}});
  append_pairs(pairs, {{"wte.weight", "embed.tokens.weight"},
                       {"ln_f.weight", "norm.weight"},
                       {"ln_f.bias", "norm.bias"},
                       {"lm_head", "head.weight"}});
  count_of_right_rules(pairs);
}

TEST(BlockRules, ShiftNumbers) {
  for (const int shift : {1, 2}) {
    count_of_right_rules(pairs_in_blocks("block", "layers.", 6, {{"fc", "linear"}}, shift));
    // Names and numbers overlap: 1 must not become 2 and then 3.
    count_of_right_rules(pairs_in_blocks("layers.", "layers.", 6, {{"fc", "fc"}}, shift));
  }
  NamePairs down;
  for (const auto& [to, from] : pairs_in_blocks("layers.", "layers.", 6, {{"fc", "fc"}}, 1)) {
    down.emplace_back(from, to);
  }
  count_of_right_rules(down);
}

TEST(BlockRules, DoNotUndoOneAnother) {
  // The result of one rule is what another begins with.
  count_of_right_rules(pairs_in_blocks("h.", "h.", 3, {{"a", "b"}, {"b", "c"}, {"c", "d"}}));
  count_of_right_rules(pairs_in_blocks("h.", "h.", 3, {{"d", "c"}, {"c", "b"}, {"b", "a"}}));
}

TEST(BlockRules, KeepPlacesOfDifferentBlocksApart) {
  NamePairs pairs = pairs_in_blocks("encoder.layers.", "enc.", 3, {{"norm", "ln_1"}, {"fc", "up"}});
  append_pairs(pairs,
               pairs_in_blocks("decoder.layers.", "dec.", 3, {{"norm", "ln_2"}, {"fc", "up"}}));
  count_of_right_rules(pairs);
}

TEST(BlockRules, ScopeAPlaceThatStaysElsewhere) {
  NamePairs pairs = pairs_in_blocks("encoder.", "encoder.", 4, {{"norm2", "ln"}, {"fc", "fc"}});
  append_pairs(pairs, pairs_in_blocks("decoder.", "decoder.", 4, {{"norm2", "norm2"}}));
  count_of_right_rules(pairs);
}

TEST(BlockRules, RenameNumbersInPlaces) {
  const NamePairs pairs = pairs_in_blocks(
      "stages.", "layer", 3,
      {{"conv1", "convs.1"}, {"conv2", "convs.2"}, {"conv3", "convs.3"}, {"down.0", "shortcut"}});
  count_of_right_rules(pairs);
}

TEST(BlockRules, CopeWithOddNames) {
  NamePairs pairs = pairs_in_blocks("h.", "layers.", 6, {{"attn", "self_attn"}, {"fc", "linear"}});
  pairs[5].second = "odd.weight.of.all";
  append_pairs(pairs, {{"a+b.(c).weight", "price$.weight"}, {"x$1y.bias", "x${1}.bias"}});
  count_of_right_rules(pairs);
}

TEST(BlockRules, KeepNumbersThatTouchLetters) {
  NamePairs pairs;
  for (int i = 0; i < 12; ++i) {
    const std::string number = std::to_string(i);
    pairs.emplace_back("block" + number + "a.weight", "b" + number + "_x.weight");
    pairs.emplace_back("block" + number + "b.weight", "b" + number + "y3.weight");
  }
  count_of_right_rules(pairs);
}

TEST(BlockRules, AreRightWhereThereAreAny) {
  // Names of few words, so that they collide often.
  std::mt19937 random(11);
  const std::vector<std::string> words = {"a", "b", "c", "0", "1", "2", "x1", "weight"};
  std::uniform_int_distribution<std::size_t> word(0, words.size() - 1);
  std::uniform_int_distribution<int> length(1, 4);
  const auto name = [&] {
    std::string text;
    for (int i = length(random); i > 0; --i) {
      text += (text.empty() ? "" : ".") + words[word(random)];
    }
    return text;
  };
  int written = 0;
  for (int round = 0; round < 200; ++round) {
    NamePairs pairs;
    for (int i = 0; i < 6; ++i) pairs.emplace_back(name(), name());
    if (!rules_for(pairs)) continue;
    ++written;
    count_of_right_rules(pairs);
  }
  EXPECT_GT(written, 0);
}

TEST(ModuleRules, LetNamesChangePlaces) {
  const NamePairs pairs = {{"a.weight", "b.weight"}, {"a.bias", "b.bias"},
                           {"b.weight", "a.weight"}, {"b.bias", "a.bias"},
                           {"c.0.scale", "c.1.g"},   {"c.1.scale", "c.0.g"}};
  std::vector<Renaming> renamings;
  for (const auto& [from, to] : pairs) renamings.push_back({from, to});
  KeyRemapper remapper;
  const std::vector<NameRule> rules = detail::module_rules(renamings, 100).value();
  for (const NameRule& rule : rules) {
    remapper.add_pattern(rule.pattern, rule.replacement);
  }
  for (const auto& [from, to] : pairs) EXPECT_EQ(remapper.remap(from), to) << remapper;
  EXPECT_EQ(remapper.remap("other.weight"), "other.weight");
}

TEST(ModuleRules, MarkNothingWhereNoNameIsInTheWay) {
  const std::vector<Renaming> renamings = {{"a.weight", "x.weight"}, {"b.weight", "y.weight"}};
  const std::vector<NameRule> rules = detail::module_rules(renamings, 100).value();
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].replacement, "x.$1");
  EXPECT_FALSE(detail::module_rules(renamings, 2));
}

TEST(ModuleRules, AreForTheirOwnModulesWhereNumbersDoNotTell) {
  const NamePairs pairs = {{"s.0.0.w.weight", "e.0.layer.0.w.weight"},
                           {"s.1.0.w.weight", "e.1.layer.0.w.weight"},
                           {"s.2.0.w.weight", "e.2.down.w.weight"},
                           {"s.3.0.w.weight", "e.3.down.w.weight"},
                           {"s.3.0.w.weight_g", "e.3.down.w.parametrizations.weight.original0"}};
  std::vector<Renaming> renamings;
  for (const auto& [from, to] : pairs) renamings.push_back({from, to});
  KeyRemapper remapper;
  const std::vector<NameRule> rules = detail::module_rules(renamings, 100).value();
  for (const NameRule& rule : rules) remapper.add_pattern(rule.pattern, rule.replacement);
  for (const auto& [from, to] : pairs) EXPECT_EQ(remapper.remap(from), to) << remapper;
}

TEST(BlockRules, AreNoneWhereThereWouldBeTooMany) {
  NamePairs pairs;
  for (int i = 0; i < 300; ++i) {
    const std::string letters = {static_cast<char>('a' + i % 26), static_cast<char>('a' + i / 26)};
    pairs.emplace_back("from_" + letters, "to_" + letters);
  }
  EXPECT_FALSE(rules_for(pairs));
}

TEST(BlockRules, AreNoneWhereOneNameShallBecomeTwo) {
  EXPECT_FALSE(rules_for({{"a.weight", "b.weight"}, {"a.weight", "c.weight"}}));
}

}  // namespace
}  // namespace andiron
