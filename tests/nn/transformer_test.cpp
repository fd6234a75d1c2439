// SPDX-License-Identifier: MIT OR Apache-2.0
// Transformers: how their parts follow each other.
#include "andiron/nn/transformer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "andiron/nn/functions.h"
#include "tests/nn/module_places.h"
#include "tests/nn/numbers.h"

namespace andiron::nn {
namespace {

using test::bools_of;
using test::counting;
using test::expect_error;
using test::expect_near;
using test::expect_same;
using test::random_tensor;
using test::tensor_of;
using test::vector_of;

TEST(PositionWiseFeedForward, IsTwoLayersAndAnActivation) {
  PositionWiseFeedForward layer =
      PositionWiseFeedForwardConfig(1, 2).with_activation(Activation::relu).init();
  layer.linear_inner.weight = Param(tensor_of({1, 2}, {1, -1}));
  layer.linear_inner.bias = Param(vector_of({0, 1}));
  layer.linear_outer.weight = Param(tensor_of({2, 1}, {10, 100}));
  layer.linear_outer.bias = Param(vector_of({0.5}));
  expect_near(layer.forward(tensor_of({2, 1}, {2, -3})), {2, 1}, {20.5, 400.5});
  layer.activation = Activation::gelu;
  EXPECT_EQ(PositionWiseFeedForwardConfig(1, 2).init().activation, Activation::gelu);
  const double two = (1 + std::erf(std::sqrt(2.0)));
  const double minus_one = -0.5 * (1 + std::erf(-std::sqrt(0.5)));
  expect_near(layer.forward(tensor_of({1, 1}, {2})), {1, 1}, {10 * two + 100 * minus_one + 0.5},
              1e-5);
}

// A norm that differs from all others.
LayerNorm norm_of(unsigned seed) {
  return {.gamma = Param(random_tensor({4}, seed)), .beta = Param(random_tensor({4}, seed + 100))};
}

const AttentionMasks& causal() {
  static const AttentionMasks masks = {.causal = true};
  return masks;
}

TEST(TransformerEncoder, NormalizesAfterEachPart) {
  TransformerEncoderLayer layer = TransformerEncoderConfig(4, 8, 2, 1).init().layers[0];
  layer.norm_1 = norm_of(1);
  layer.norm_2 = norm_of(2);
  const Tensor x = random_tensor({2, 3, 4}, 3);
  const Result<Tensor> attended = layer.norm_1.forward(add(x, layer.mha.forward(x, causal())));
  expect_same(layer.forward(x, causal()),
              layer.norm_2.forward(add(attended, layer.pwff.forward(attended))));
  EXPECT_EQ(layer.module_kind(), "nn.TransformerEncoderLayer");
}

TEST(TransformerEncoder, NormalizesBeforeEachPartIfAskedTo) {
  TransformerEncoderLayer layer =
      TransformerEncoderConfig(4, 8, 2, 1).with_norm_first(true).init().layers[0];
  layer.norm_1 = norm_of(1);
  layer.norm_2 = norm_of(2);
  const Tensor x = random_tensor({2, 3, 4}, 3);
  // Burn's order: the second norm is for attention.
  const Result<Tensor> attended = add(x, layer.mha.forward(layer.norm_2.forward(x), causal()));
  expect_same(layer.forward(x, causal()),
              add(attended, layer.pwff.forward(layer.norm_1.forward(attended))));
  EXPECT_EQ(layer.module_kind(), "nn.PreNormTransformerEncoderLayer");
}

TEST(TransformerEncoder, PassesThroughItsLayersAndNorm) {
  const Tensor x = random_tensor({2, 3, 4}, 1);
  TransformerEncoder encoder =
      TransformerEncoderConfig(4, 8, 2, 2).with_activation(Activation::relu).init();
  EXPECT_FALSE(encoder.norm.has_value());
  EXPECT_EQ(encoder.layers[1].pwff.activation, Activation::relu);
  const Result<Tensor> layers = encoder.layers[1].forward(encoder.layers[0].forward(x));
  expect_same(encoder.forward(x), layers);
  encoder.norm = norm_of(5);
  expect_same(encoder.forward(x), encoder.norm->forward(layers));
  EXPECT_TRUE(TransformerEncoderConfig(4, 8, 2, 1).with_final_norm(true).init().norm.has_value());
  expect_same(TransformerEncoder().forward(x), x);
  const TransformerEncoder quiet =
      TransformerEncoderConfig(4, 8, 2, 1).with_quiet_softmax(true).with_layer_norm_eps(0.5).init();
  EXPECT_TRUE(quiet.layers[0].mha.quiet_softmax);
  EXPECT_EQ(quiet.layers[0].norm_2.epsilon, 0.5);
}

TEST(TransformerEncoder, DoesNotLookAheadIfItIsCausal) {
  const TransformerEncoder encoder = TransformerEncoderConfig(4, 8, 2, 2).init();
  const Tensor x = random_tensor({1, 3, 4}, 1);
  const Result<Tensor> other = concat({slice(x, 1, 0, 2), random_tensor({1, 1, 4}, 2)}, 1);
  expect_near(slice(encoder.forward(x, causal()), 1, 0, 2),
              slice(encoder.forward(other, causal()), 1, 0, 2));
  // What is padding does not count.
  const AttentionMasks last = {.pad = bools_of({1, 3}, {0, 0, 1})};
  expect_near(slice(encoder.forward(x, last), 1, 0, 2),
              slice(encoder.forward(other, last), 1, 0, 2));
  expect_near(slice(encoder.forward(x, last), 1, 0, 2), encoder.forward(slice(x, 1, 0, 2)), 1e-5);
}

TransformerDecoderLayer decoder_layer(bool norm_first) {
  TransformerDecoderLayer layer =
      TransformerDecoderConfig(4, 8, 2, 1).with_norm_first(norm_first).init().layers[0];
  layer.norm_1 = norm_of(1);
  layer.norm_2 = norm_of(2);
  layer.norm_3 = norm_of(3);
  return layer;
}

TEST(TransformerDecoder, AttendsToItselfAndThenToTheMemory) {
  const TransformerDecoderLayer layer = decoder_layer(false);
  const Tensor x = random_tensor({2, 3, 4}, 4);
  const Tensor memory = random_tensor({2, 5, 4}, 5);
  const AttentionMasks masks = {.pad = bools_of({2, 5}, {0, 0, 0, 1, 1, 0, 0, 0, 0, 0})};
  const Result<Tensor> own = layer.norm_1.forward(add(x, layer.self_attn.forward(x, causal())));
  const Result<Tensor> crossed =
      layer.norm_2.forward(add(own, layer.cross_attn.forward(own, memory, memory, masks)));
  expect_same(layer.forward(x, memory, causal(), masks),
              layer.norm_3.forward(add(crossed, layer.pwff.forward(crossed))));
  EXPECT_EQ(layer.module_kind(), "nn.TransformerDecoderLayer");
}

TEST(TransformerDecoder, NormalizesBeforeEachPartIfAskedTo) {
  const TransformerDecoderLayer layer = decoder_layer(true);
  const Tensor x = random_tensor({2, 3, 4}, 4);
  const Tensor memory = random_tensor({2, 5, 4}, 5);
  // Burn's order: norms 3, 1 and 2.
  const Result<Tensor> own = add(x, layer.self_attn.forward(layer.norm_3.forward(x), causal()));
  const Result<Tensor> crossed =
      add(own, layer.cross_attn.forward(layer.norm_1.forward(own), memory, memory));
  expect_same(layer.forward(x, memory, causal()),
              add(crossed, layer.pwff.forward(layer.norm_2.forward(crossed))));
  EXPECT_EQ(layer.module_kind(), "nn.PreNormTransformerDecoderLayer");
}

TEST(TransformerDecoder, PassesThroughItsLayersAndNorm) {
  TransformerDecoder decoder = TransformerDecoderConfig(4, 8, 2, 2).init();
  const Tensor x = random_tensor({1, 3, 4}, 1);
  const Tensor memory = random_tensor({1, 2, 4}, 2);
  const Result<Tensor> layers =
      decoder.layers[1].forward(decoder.layers[0].forward(x, memory), memory);
  expect_same(decoder.forward(x, memory), layers);
  decoder.norm = norm_of(5);
  expect_same(decoder.forward(x, memory), decoder.norm->forward(layers));
}

TEST(Transformer, KeepsDoublesAndWidensSmallFloats) {
  const TransformerEncoder encoder = TransformerEncoderConfig(4, 8, 2, 1).init();
  const Tensor x = random_tensor({1, 3, 4}, 1);
  const Result<Tensor> exact = encoder.forward(cast(x, DType::f64));
  EXPECT_EQ(exact.value().dtype(), DType::f64);
  expect_near(encoder.forward(x), exact, 1e-5);
  EXPECT_EQ(encoder.forward(cast(x, DType::bf16)).value().dtype(), DType::f32);
}

TEST(Transformer, RefusesWhatDoesNotFit) {
  const TransformerEncoder encoder = TransformerEncoderConfig(4, 8, 2, 1).init();
  expect_error(encoder.forward(counting({1, 3, 5})), ErrorCode::shape_mismatch,
               {"[1, 3, 5]", "[4, 4]"});
  expect_error(encoder.forward(counting({3, 4})), ErrorCode::shape_mismatch, {"[3, 4]"});
  const TransformerDecoder decoder = TransformerDecoderConfig(4, 8, 2, 1).init();
  expect_error(decoder.forward(counting({1, 3, 4}), counting({2, 3, 4})), ErrorCode::shape_mismatch,
               {"[2, 3, 4]"});
  expect_error(TransformerEncoderConfig(4, 8, 3, 1).init().forward(counting({1, 3, 4})),
               ErrorCode::invalid_argument, {"heads"});
  expect_error(TransformerEncoderLayer().forward(counting({1, 3, 4})), ErrorCode::missing_tensor);
  expect_error(TransformerDecoderLayer().forward(counting({1, 3, 4}), counting({1, 3, 4})),
               ErrorCode::missing_tensor);
  expect_error(PositionWiseFeedForward().forward(counting({1})), ErrorCode::missing_tensor);
}

}  // namespace
}  // namespace andiron::nn
