// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/names/training_names.h"

#include <gtest/gtest.h>

namespace andiron::detail {
namespace {

TEST(NamesOfTorch, StateOfAnOptimizerIsNumberedBelowState) {
  for (const char* name : {"optimizer.state.0.exp_avg", "state.12.momentum_buffer",
                           "optimizer_states.0.state.3.step"}) {
    EXPECT_TRUE(is_optimizer_state(name)) << name;
  }
  for (const char* name : {"", "exp_avg", ".exp_avg", "0.exp_avg", "state.exp_avg",
                           "model.state.0.weight", "estate.0.exp_avg", "state.0.a.b"}) {
    EXPECT_FALSE(is_optimizer_state(name)) << name;
  }
}

TEST(NamesOfTorch, PartsOfAWeightAreNamedByItsParametrization) {
  for (const char* name :
       {"fc.weight_g", "fc.weight_v", "weight_orig", "fc.parametrizations.weight.original0",
        "net.0.parametrizations.weight.0._u"}) {
    EXPECT_TRUE(is_weight_part(name)) << name;
  }
  for (const char* name : {"", "fc.weight", "fc.weight_va", "parametrizations", "fc.original0"}) {
    EXPECT_FALSE(is_weight_part(name)) << name;
  }
}

TEST(NamesOfTorch, PartsOfWeightNormAreTwo) {
  EXPECT_EQ(partner_in_weight_norm("fc.weight_g"), "fc.weight_v");
  EXPECT_EQ(partner_in_weight_norm("rnn.weight_hh_l0_v"), "rnn.weight_hh_l0_g");
  EXPECT_EQ(partner_in_weight_norm("parametrizations.weight.original1"),
            "parametrizations.weight.original0");
  for (const char* name : {"", "fc.weight", "fc.weight_orig", "fc.bias_g", "fc.original0"}) {
    EXPECT_EQ(partner_in_weight_norm(name), "") << name;
  }
}

}  // namespace
}  // namespace andiron::detail
