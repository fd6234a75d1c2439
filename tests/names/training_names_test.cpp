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

TEST(NamesOfTorch, MatricesOfLoraHaveTheirOwnSegments) {
  for (const char* name :
       {"base_model.model.layers.0.q_proj.lora_A.default.weight", "q_proj.lora_B.weight",
        "attn.qkv.lora_A", "embed.lora_embedding_B.default",
        "lora_unet_mid_attn_to_q.lora_up.weight", "attn1.processor.to_q_lora.down.weight",
        "to_q.lora.up.weight", "q_proj.lora_magnitude_vector.default.weight"}) {
    EXPECT_TRUE(is_lora_matrix(name)) << name;
  }
  for (const char* name : {"", "lora", "q_proj.base_layer.weight", "lora_A_norm.weight",
                           "down.weight", "flora.down.weight", "lora.norm.down.weight"}) {
    EXPECT_FALSE(is_lora_matrix(name)) << name;
  }
}

TEST(NamesOfTorch, FlattenedParametersAreNamedByFsdp) {
  for (const char* name : {"_flat_param", "flat_param", "layers.0._fsdp_wrapped_module._flat_param",
                           "_fpw_module.flat_param_0"}) {
    EXPECT_TRUE(is_flattened(name)) << name;
  }
  for (const char* name : {"", "flat_params", "flat_param.weight", "flat_param_a", "_flat"}) {
    EXPECT_FALSE(is_flattened(name)) << name;
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
