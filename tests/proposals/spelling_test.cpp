// SPDX-License-Identifier: MIT OR Apache-2.0
// Which of several modules that hold the same belong together by how they are written.
#include "src/proposals/spelling.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/proposals/sides.h"

namespace andiron::test {
namespace {

using Pairs = std::map<std::string, std::string>;

TEST(Spelling, EqualNamesAndEqualLastNumbersComeBeforeTheOrder) {
  const Side source = vectors_named({"gamma1", "gamma3", "gamma2"});
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"scale_a", "gamma3", "scale_b"},
        {"g1", "g3", "gam2"},
        {"left", "gamma3", "right"}}) {
    const Pairs pairs = sure_pairs(source, vectors_named(names));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto pair = pairs.find("blocks.1." + names[i]);
      if (pair == pairs.end()) continue;
      const std::vector<std::string> right = {"blocks.1.gamma1", "blocks.1.gamma3",
                                              "blocks.1.gamma2"};
      EXPECT_EQ(pair->second, right[i]) << names[i];
    }
    EXPECT_TRUE(names[1] != "gamma3" || pairs.contains("blocks.1.gamma3"));
  }
}

TEST(Spelling, WeightsOfARecurrentCellAreToldApartByNameOrGuessed) {
  const auto cell = [](const std::string& input, const std::string& state) {
    return Side{{"tokens.weight", {9, 3}, 0},
                {"cell." + input, {8, 8}, 0},
                {"cell." + state, {8, 8}, 0},
                {"head.weight", {5, 8}, 0},
                {"head.bias", {5}, 0}};
  };
  const Side wanted = cell("w_h", "w_x");
  EXPECT_FALSE(sure_pairs(cell("first", "second"), wanted).contains("cell.w_x"));
  const Pairs pairs = sure_pairs(cell("input_weight", "hidden_weight"), wanted);
  EXPECT_EQ(pairs.at("cell.w_x"), "cell.input_weight");
  EXPECT_EQ(pairs.at("cell.w_h"), "cell.hidden_weight");
}

}  // namespace
}  // namespace andiron::test
