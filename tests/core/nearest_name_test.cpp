// SPDX-License-Identifier: MIT OR Apache-2.0
// "Did you mean": the nearest name.
#include "src/core/text/nearest_name.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace andiron {
namespace {

std::string nearest(std::string_view wanted, const std::vector<std::string>& names) {
  const auto index = nearest_name(wanted, names.size(),
                                  [&](std::size_t i) -> std::string_view { return names[i]; });
  return index ? names[*index] : "(none)";
}

// The textbook table, to check the banded one.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
      } else {
        table[i][j] = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1,
                                table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      }
    }
  }
  return table[a.size()][b.size()];
}

TEST(Similarity, FindsAMistypedName) {
  const std::vector<std::string> names = {"encoder.layer.0.weight", "encoder.layer.0.bias",
                                          "decoder.layer.0.weight"};
  EXPECT_EQ(nearest("encoder.layers.0.weight", names), "encoder.layer.0.weight");
  EXPECT_EQ(nearest("encoder.layer.0.bais", names), "encoder.layer.0.bias");
  EXPECT_EQ(nearest("decodr.layer.0.weight", names), "decoder.layer.0.weight");
}

TEST(Similarity, SuggestsNothingFarAway) {
  EXPECT_EQ(nearest("lm_head.weight", {"encoder.layer.0.attention.query", "x"}), "(none)");
  EXPECT_EQ(nearest("", {"a", "b"}), "(none)");
  EXPECT_EQ(nearest("a", {}), "(none)");
}

TEST(Similarity, PrefersTheSameNameUnderAnotherPrefix) {
  const std::vector<std::string> names = {"model.conv2.weight", "conv2.weight",
                                          "model.conv1.weight"};
  EXPECT_EQ(nearest("conv1.weight", names), "model.conv1.weight");
  EXPECT_EQ(nearest("module.conv2.weight", {"conv3.weight", "conv2.weight"}), "conv2.weight");
  EXPECT_EQ(nearest("conv1.weight", {"deconv1.weight", "my.conv1.weight"}), "my.conv1.weight");
}

TEST(Similarity, PrefersTheExactNameAndThenTheFirst) {
  EXPECT_EQ(nearest("abc", {"abd", "x.abc", "abc"}), "abc");
  EXPECT_EQ(nearest("abcdef", {"abcdex", "abcdey"}), "abcdex");
}

TEST(Similarity, AgreesWithTheTextbookDistance) {
  std::mt19937 random(7);
  const auto text = [&](std::size_t length) {
    std::string out;
    for (std::size_t i = 0; i < length; ++i) out += static_cast<char>('a' + random() % 3);
    return out;
  };
  for (int round = 0; round < 2000; ++round) {
    const std::string wanted = text(1 + random() % 30);
    std::vector<std::string> names;
    for (int i = 0; i < 8; ++i) {
      std::string name = wanted;
      for (auto edits = random() % 10; edits > 0; --edits) {
        const std::size_t at = random() % (name.size() + 1);
        if (random() % 2 == 0) {
          name.insert(at, text(1));
        } else {
          name.erase(std::min(at, name.size() - 1), name.empty() ? 0 : 1);
          if (name.empty()) name = "a";
        }
      }
      names.push_back(name);
    }
    const std::size_t limit = std::clamp<std::size_t>(wanted.size() / 3, 1, 8);
    std::string expected = "(none)";
    std::size_t best = limit + 1;
    for (const std::string& name : names) {
      const std::size_t distance = edit_distance(wanted, name);
      if (distance < best) {
        best = distance;
        expected = name;
      }
    }
    ASSERT_EQ(nearest(wanted, names), expected) << wanted;
  }
}

TEST(Similarity, StaysBoundedOverManyAndLongNames) {
  std::vector<std::string> names;
  for (int i = 0; i < 100000; ++i) {
    names.push_back("model.layers." + std::to_string(i) + ".self_attn.q_proj.weight");
  }
  EXPECT_EQ(nearest("model.layers.77777.self_attn.q_proj.wieght", names),
            "model.layers.77777.self_attn.q_proj.weight");
  const std::string long_name(60000, 'x');
  const std::vector<std::string> long_names(2000, "y" + std::string(60000, 'x') + "y");
  EXPECT_EQ(nearest("z" + long_name + "z", long_names), long_names[0]);
}

TEST(JaroSimilarity, HasTheKnownValues) {
  EXPECT_NEAR(jaro_similarity("dixon", "dicksonx"), 0.76667, 1e-5);
  EXPECT_NEAR(jaro_similarity("dwayne", "duane"), 0.82222, 1e-5);
  EXPECT_NEAR(jaro_similarity("a", "ab"), 0.83333, 1e-5);
  EXPECT_EQ(jaro_similarity("", ""), 1);
  EXPECT_EQ(jaro_similarity("", "a"), 0);
  EXPECT_EQ(jaro_similarity("a", "a"), 1);
  EXPECT_EQ(jaro_similarity("a", "b"), 0);
}

// As its definition has it, character by character.
double plain_jaro(std::string_view a, std::string_view b) {
  const std::size_t reach = std::max<std::size_t>(std::max(a.size(), b.size()) / 2, 1) - 1;
  std::string left(b);
  double matches = 0;
  double transpositions = 0;
  std::size_t previous = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i > reach ? i - reach : 0; j < b.size() && j <= i + reach; ++j) {
      if (left[j] != a[i]) continue;
      left[j] = '\0';
      transpositions += j < previous ? 1 : 0;
      previous = j;
      matches += 1;
      break;
    }
  }
  if (matches == 0) return 0;
  return (matches / static_cast<double>(a.size()) + matches / static_cast<double>(b.size()) +
          (matches - transpositions) / matches) /
         3;
}

TEST(JaroSimilarity, IsTheSameForNamesOfAnyLength) {
  std::mt19937 random(11);
  const auto name = [&](std::size_t length) {
    std::string text(length, ' ');
    for (char& c : text) c = "abc.\xff"[random() % 5];
    return text;
  };
  for (std::size_t length = 1; length <= 130; ++length) {
    for (const std::size_t other : {std::size_t{1}, std::size_t{7}, std::size_t{63},
                                    std::size_t{64}, std::size_t{65}, length, 2 * length}) {
      const std::string a = name(length);
      const std::string b = name(other);
      ASSERT_EQ(jaro_similarity(a, b), plain_jaro(a, b)) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace andiron
