// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/load/layers_without.h"

#include <gtest/gtest.h>

namespace andiron {
namespace {

using detail::is_lacked_by;
using detail::layer_with;

TEST(LayersWithout, AreToldByTheNamesOfTheirParameters) {
  EXPECT_TRUE(is_lacked_by("nn.Lstm", "weight_ih_l0_reverse"));
  EXPECT_TRUE(is_lacked_by("nn.LstmStack", "weight_hr_l0"));
  EXPECT_TRUE(is_lacked_by("nn.MultiHeadAttention", "bias_k"));
  EXPECT_TRUE(is_lacked_by("RmsNorm", "bias"));
  EXPECT_TRUE(is_lacked_by("GroupNorm", "running_var"));
  EXPECT_FALSE(is_lacked_by("nn.Lstm", "weight_hh_l0_g"));
  EXPECT_FALSE(is_lacked_by("Lstm", "weight_ih_l0_reverse"));
  EXPECT_FALSE(is_lacked_by("LayerNorm", "weight"));
  EXPECT_FALSE(is_lacked_by("Linear", "scale"));
  EXPECT_FALSE(is_lacked_by("", "bias"));
}

TEST(LayersWithout, HaveACounterpartWithThem) {
  EXPECT_EQ(layer_with("nn.Lstm", "weight_ih_l0_reverse"), "nn::BiLstm reads both directions");
  EXPECT_EQ(layer_with("nn.Gru", "weight_ih_l1_reverse"), "nn::BiGruStack reads both directions");
  EXPECT_EQ(layer_with("nn.GruStack", "bias_hh_l0_reverse"),
            "nn::BiGruStack reads both directions");
  EXPECT_EQ(layer_with("nn.BiLstm", "bias_hh_l1_reverse"), "nn::BiLstmStack has several layers");
  EXPECT_EQ(layer_with("nn.Lstm", "weight_ih_l12"), "nn::LstmStack has several layers");
  EXPECT_EQ(layer_with("nn.Lstm", "weight_hr_l0"), "no layer has a projection (proj_size)");
  EXPECT_EQ(layer_with("nn.MultiHeadAttention", "bias_v"), "no layer has add_bias_kv");
  EXPECT_EQ(layer_with("RmsNorm", "bias"), "nn::LayerNorm has a bias");
  EXPECT_EQ(layer_with("LayerNorm", "running_mean"), "nn::BatchNorm has running statistics");
  EXPECT_EQ(layer_with("InstanceNorm", "running_mean"),
            "nn::InstanceNorm takes its statistics from its input");
  EXPECT_EQ(layer_with("Relu", "weight"), "nn::PRelu has a slope that is learned");
  EXPECT_EQ(layer_with("Head", "weight"), "");
}

}  // namespace
}  // namespace andiron
