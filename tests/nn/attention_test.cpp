// SPDX-License-Identifier: MIT OR Apache-2.0
// Attention: its weights, masks and heads.
#include "andiron/nn/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
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
using test::filled;
using test::random_tensor;
using test::tensor_of;
using test::vector_of;

const double ln3 = std::log(3.0);
const Tensor one_query = filled({1, 1, 1, 1}, 1);
const Tensor two_keys = tensor_of({1, 1, 2, 1}, {0, ln3});
const Tensor two_values = tensor_of({1, 1, 2, 1}, {10, 20});

Result<Tensor> attention_of(const AttentionOptions& options) {
  return scaled_dot_product_attention(one_query, two_keys, two_values, options);
}

TEST(ScaledDotProduct, WeighsValuesByKeys) {
  expect_near(attention_of({}), {1, 1, 1, 1}, {17.5}, 1e-5);
  expect_near(attention_of({.scale = 2}), {1, 1, 1, 1}, {19}, 1e-5);
  // One for nothing: 1, 3 and 1.
  expect_near(attention_of({.quiet_softmax = true}), {1, 1, 1, 1}, {14}, 1e-5);
  // By default, the scale is 1 / sqrt(4).
  const Tensor wide_query = filled({1, 1, 1, 4}, 1);
  const Tensor wide_keys = tensor_of({1, 1, 2, 4}, {0, 0, 0, 0, ln3, ln3, 0, 0});
  expect_near(scaled_dot_product_attention(wide_query, wide_keys, two_values), {1, 1, 1, 1}, {17.5},
              1e-5);
}

TEST(ScaledDotProduct, HidesWhatMasksSay) {
  const auto masked = [](AttentionMasks masks) { return attention_of({.masks = masks}); };
  expect_near(masked({.pad = bools_of({1, 2}, {0, 1})}), {1, 1, 1, 1}, {10}, 1e-5);
  expect_near(masked({.attn = bools_of({1, 2}, {1, 0})}), {1, 1, 1, 1}, {20}, 1e-5);
  expect_near(masked({.attn = bools_of({1, 1, 2}, {1, 0})}), {1, 1, 1, 1}, {20}, 1e-5);
  expect_near(masked({.causal = true}), {1, 1, 1, 1}, {10}, 1e-5);
  // If all is hidden, all is equal; or nothing, if it may be.
  const AttentionMasks all = {.pad = bools_of({1, 2}, {0, 1}), .attn = bools_of({1, 2}, {1, 0})};
  expect_near(masked(all), {1, 1, 1, 1}, {15}, 1e-5);
  expect_near(attention_of({.masks = all, .quiet_softmax = true}), {1, 1, 1, 1}, {0}, 1e-5);
  // What is hidden has a score, not no score.
  expect_near(attention_of({.masks = {.pad = bools_of({1, 2}, {1, 0})}, .min_float = ln3}),
              {1, 1, 1, 1}, {15}, 1e-5);
}

TEST(ScaledDotProduct, HidesForEachItemAndQuery) {
  const Tensor queries = filled({2, 1, 2, 1}, 0);
  const Tensor values = counting({2, 1, 2, 1}, 1);  // 1 2, 3 4
  const auto masked = [&](AttentionMasks masks) {
    return scaled_dot_product_attention(queries, queries, values, {.masks = masks});
  };
  expect_near(masked({}), {2, 1, 2, 1}, {1.5, 1.5, 3.5, 3.5});
  expect_near(masked({.causal = true}), {2, 1, 2, 1}, {1, 1.5, 3, 3.5});
  expect_near(masked({.pad = bools_of({2, 2}, {1, 0, 0, 1})}), {2, 1, 2, 1}, {2, 2, 3, 3});
  expect_near(masked({.attn = bools_of({2, 2}, {1, 0, 0, 1})}), {2, 1, 2, 1}, {2, 1, 4, 3});
  expect_near(masked({.attn = bools_of({2, 2, 2}, {1, 0, 0, 1, 0, 0, 1, 0})}), {2, 1, 2, 1},
              {2, 1, 3.5, 4});
}

TEST(ScaledDotProduct, GroupsHeads) {
  // Heads 0 and 1 see the first keys, heads 2 and 3 the others.
  const Tensor queries = random_tensor({2, 4, 3, 2}, 1);
  const Tensor keys = random_tensor({2, 2, 5, 2}, 2);
  const Tensor values = random_tensor({2, 2, 5, 3}, 3);
  const Result<Tensor> grouped = scaled_dot_product_attention(queries, keys, values);
  ASSERT_EQ(grouped.value().shape(), Shape({2, 4, 3, 3}));
  for (std::int64_t head = 0; head < 4; ++head) {
    expect_near(slice(grouped, 1, head, head + 1),
                scaled_dot_product_attention(slice(queries, 1, head, head + 1),
                                             slice(keys, 1, head / 2, head / 2 + 1),
                                             slice(values, 1, head / 2, head / 2 + 1)));
  }
}

TEST(ScaledDotProduct, RefusesWhatDoesNotFit) {
  const auto attend = [](const Shape& q, const Shape& k, const Shape& v) {
    return scaled_dot_product_attention(counting(q), counting(k), counting(v));
  };
  constexpr std::string_view name = "scaled_dot_product_attention";
  expect_error(attend({1, 2, 2}, {1, 1, 2, 2}, {1, 1, 2, 2}), ErrorCode::shape_mismatch,
               {name, "[1, 2, 2]", "[batch, heads, queries, d_head]"});
  expect_error(attend({1, 3, 2, 2}, {1, 2, 2, 2}, {1, 2, 2, 2}), ErrorCode::shape_mismatch,
               {name, "[1, 3, 2, 2]", "[1, 2, 2, 2]"});
  expect_error(attend({1, 1, 2, 2}, {1, 1, 2, 3}, {1, 1, 2, 2}), ErrorCode::shape_mismatch,
               {"[1, 1, 2, 3]"});
  expect_error(attend({1, 1, 2, 2}, {1, 1, 2, 2}, {1, 1, 3, 2}), ErrorCode::shape_mismatch,
               {"[1, 1, 3, 2]"});
  expect_error(attend({1, 1, 2, 2}, {1, 1, 0, 2}, {1, 1, 0, 2}), ErrorCode::shape_mismatch);
  expect_error(attention_of({.masks = {.pad = bools_of({2, 1}, {0, 0})}}),
               ErrorCode::shape_mismatch, {name, "'pad'", "[2, 1]", "[1, 2]"});
  expect_error(attention_of({.masks = {.attn = bools_of({2, 1}, {0, 0})}}),
               ErrorCode::shape_mismatch, {name, "'attn'", "[2, 1]", "[1, 1, 2]"});
  expect_error(attention_of({.masks = {.pad = counting({1, 2})}}), ErrorCode::dtype_mismatch,
               {name, "'pad'", "f32", "bool"});
  expect_near(attend({0, 1, 2, 2}, {0, 1, 2, 2}, {0, 1, 2, 2}), {0, 1, 2, 2}, {});
  expect_near(attend({1, 1, 0, 2}, {1, 1, 2, 2}, {1, 1, 2, 2}), {1, 1, 0, 2}, {});
}

// --- heads and masks ---

TEST(Heads, AreSplitAndJoined) {
  const Tensor input = counting({1, 2, 4});
  const Result<Tensor> heads = split_heads(input, 2);
  expect_near(heads, {1, 2, 2, 2}, {0, 1, 4, 5, 2, 3, 6, 7}, 0);
  expect_same(join_heads(heads), input);
  expect_error(split_heads(input, 3), ErrorCode::shape_mismatch, {"split_heads", "[1, 2, 4]"});
  expect_error(split_heads(input, 0), ErrorCode::shape_mismatch);
  expect_error(split_heads(counting({2, 4}), 2), ErrorCode::shape_mismatch, {"[2, 4]"});
  EXPECT_FALSE(split_heads(Tensor::zeros(DType::f32, {1, 2, 0}), test::huge_size).ok());
  expect_error(join_heads(input), ErrorCode::shape_mismatch, {"join_heads", "[1, 2, 4]"});
}

TEST(Masks, OfCausalAttentionAreTrueAboveTheDiagonal) {
  const Result<Tensor> mask = generate_autoregressive_mask(2, 3);
  expect_same(mask, bools_of({2, 3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(generate_autoregressive_mask(1, 0).value().shape(), Shape({1, 0, 0}));
  EXPECT_FALSE(generate_autoregressive_mask(2, test::huge_size).ok());
  const Tensor x = random_tensor({2, 1, 3, 2}, 1);
  expect_near(scaled_dot_product_attention(x, x, x, {.masks = {.attn = *mask}}),
              scaled_dot_product_attention(x, x, x, {.masks = {.causal = true}}));
}

TEST(Masks, OfPaddingHideWhatWasAdded) {
  const std::vector<std::vector<std::int64_t>> tokens = {{5, 6, 7}, {8}, {}};
  const auto padded = generate_padding_mask(0, tokens);
  ASSERT_TRUE(padded.ok()) << padded.error();
  expect_same(padded->tensor, tensor_of<std::int64_t>({3, 3}, {5, 6, 7, 8, 0, 0, 0, 0, 0}));
  expect_same(padded->mask, bools_of({3, 3}, {0, 0, 0, 0, 1, 1, 1, 1, 1}));
  const auto cut = generate_padding_mask(0, tokens, 2);
  expect_same(cut.value().tensor, tensor_of<std::int64_t>({3, 2}, {5, 6, 8, 0, 0, 0}));
  EXPECT_EQ(generate_padding_mask(0, tokens, static_cast<std::size_t>(-1)).value().tensor.shape(),
            Shape({3, 3}));
  EXPECT_EQ(generate_padding_mask(0, {}).value().mask.shape(), Shape({0, 0}));
}

// --- layers ---

Linear matrix_layer(Tensor weight) { return {.weight = Param(std::move(weight))}; }

TEST(MultiHeadAttention, AttendsWithEachHead) {
  const Tensor unit = tensor_of({2, 2}, {1, 0, 0, 1});
  const MultiHeadAttention layer = {.query = matrix_layer(unit),
                                    .key = matrix_layer(unit),
                                    .value = matrix_layer(tensor_of({2, 2}, {10, 0, 0, 100})),
                                    .output = matrix_layer(tensor_of({2, 1}, {1, 1})),
                                    .d_model = 2,
                                    .n_heads = 2};
  // The first head has scores of 0 for both, the second 0 and ln 3 squared.
  const double root = std::sqrt(ln3);
  const Tensor x = tensor_of({1, 2, 2}, {0, 0, 0, root});
  const double second = 100 * root;
  expect_near(layer.forward(x), {1, 2, 1}, {0.5 * second, 0.75 * second}, 1e-4);
  expect_near(layer.forward(x, {.causal = true}), {1, 2, 1}, {0, 0.75 * second}, 1e-4);
  const auto found = layer.forward(MhaInput::self_attn(x));
  ASSERT_TRUE(found.ok()) << found.error();
  expect_near(found->weights, {1, 2, 2, 2}, {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25, 0.75}, 1e-5);
  expect_near(found->context, layer.forward(x));
}

TEST(MultiHeadAttention, ProjectsQueriesKeysAndValues) {
  for (const bool quiet : {false, true}) {
    const MultiHeadAttention layer =
        MultiHeadAttentionConfig(6, 3).with_quiet_softmax(quiet).with_min_float(-5).init();
    const Tensor q = random_tensor({2, 3, 6}, 1);
    const Tensor k = random_tensor({2, 4, 6}, 2);
    const Tensor v = random_tensor({2, 4, 6}, 3);
    const AttentionMasks masks = {.pad = bools_of({2, 4}, {0, 0, 0, 1, 0, 0, 0, 0}),
                                  .attn = bools_of({3, 4}, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0})};
    const Result<Tensor> context = scaled_dot_product_attention(
        split_heads(layer.query.forward(q), 3), split_heads(layer.key.forward(k), 3),
        split_heads(layer.value.forward(v), 3),
        {.masks = masks, .min_float = -5, .quiet_softmax = quiet});
    expect_near(layer.forward(q, k, v, masks), layer.output.forward(join_heads(context)));
    expect_near(layer.forward(MhaInput{q, k, v, masks}).value().context,
                layer.forward(q, k, v, masks));
  }
  EXPECT_EQ(places_of(MultiHeadAttentionConfig(2, 1).with_bias(false).init()).size(), 4U);
  EXPECT_EQ(places_of(MultiHeadAttentionConfig(2, 1).init())[7],
            "output.bias f32 [2] in Struct:nn.MultiHeadAttention.Struct:Linear");
}

TEST(MultiHeadAttention, KeepsDoublesAndWidensSmallFloats) {
  const MultiHeadAttention layer = MultiHeadAttentionConfig(4, 2).init();
  const Tensor x = random_tensor({1, 3, 4}, 1);
  const Result<Tensor> exact = layer.forward(cast(x, DType::f64));
  EXPECT_EQ(exact.value().dtype(), DType::f64);
  expect_near(layer.forward(x), exact, 1e-5);
  EXPECT_EQ(layer.forward(cast(x, DType::f16)).value().dtype(), DType::f32);
}

TEST(MultiHeadAttention, OfNoWidthHasOneHead) {
  MultiHeadAttention layer = MultiHeadAttentionConfig(0, 1).init();
  for (Linear* linear : {&layer.query, &layer.key, &layer.value, &layer.output}) {
    *linear = {.weight = Param(Tensor::zeros(DType::f32, {0, 0}).value())};
  }
  const Tensor nothing = Tensor::zeros(DType::f32, {1, 3, 0}).value();
  expect_near(layer.forward(nothing), {1, 3, 0}, {});
  layer.n_heads = test::huge_size;
  expect_error(layer.forward(nothing), ErrorCode::invalid_argument,
               {"MultiHeadAttention", "heads"});
}

TEST(MultiHeadAttention, RefusesWhatDoesNotFit) {
  const MultiHeadAttention layer = MultiHeadAttentionConfig(4, 2).init();
  const Tensor x = counting({1, 3, 4});
  expect_error(layer.forward(counting({1, 3, 5})), ErrorCode::shape_mismatch,
               {"[1, 3, 5]", "[4, 4]"});
  expect_error(layer.forward(counting({3, 4})), ErrorCode::shape_mismatch,
               {"MultiHeadAttention", "[3, 4]"});
  expect_error(layer.forward(x, counting({2, 3, 4}), counting({2, 3, 4})),
               ErrorCode::shape_mismatch, {"MultiHeadAttention", "[1, 3, 4]", "[2, 3, 4]"});
  expect_error(layer.forward(x, counting({1, 2, 4}), x), ErrorCode::shape_mismatch);
  expect_error(layer.forward(x, {.pad = bools_of({3, 1}, {0, 0, 0})}), ErrorCode::shape_mismatch,
               {"MultiHeadAttention", "'pad'", "[3, 1]", "[1, 3]"});
  expect_error(layer.forward(x, {.attn = counting({3, 3})}), ErrorCode::dtype_mismatch,
               {"MultiHeadAttention", "'attn'"});
  expect_error(MultiHeadAttention().forward(x), ErrorCode::missing_tensor);
  for (const std::uint64_t heads : {std::uint64_t{0}, std::uint64_t{3}, test::huge_size}) {
    expect_error(MultiHeadAttentionConfig(4, heads).init().forward(x), ErrorCode::invalid_argument,
                 {"MultiHeadAttention", "heads"});
  }
}

TEST(CrossAttention, AttendsToAnotherWidth) {
  const CrossAttention layer = CrossAttentionConfig(6, 5, 4, 2, 3).init();
  const Tensor x = random_tensor({2, 3, 6}, 1);
  const Tensor context = random_tensor({2, 4, 5}, 2);
  const AttentionMasks masks = {.pad = bools_of({2, 4}, {0, 0, 0, 1, 1, 0, 0, 0})};
  const Result<Tensor> attended = scaled_dot_product_attention(
      split_heads(layer.query.forward(x), 4), split_heads(layer.key.forward(context), 2),
      split_heads(layer.value.forward(context), 2), {.masks = masks});
  expect_near(layer.forward(x, context, masks), layer.output.forward(join_heads(attended)));
  EXPECT_EQ(layer.forward(x, context).value().shape(), x.shape());
  EXPECT_EQ(layer.query.weight.shape(), Shape({6, 12}));
  EXPECT_EQ(layer.key.weight.shape(), Shape({5, 6}));
  EXPECT_EQ(layer.output.weight.shape(), Shape({12, 6}));
}

TEST(CrossAttention, RefusesWhatDoesNotFit) {
  const Tensor x = counting({1, 3, 4});
  expect_error(CrossAttentionConfig(4, 4, 3, 2, 2).init().forward(x, x),
               ErrorCode::invalid_argument, {"CrossAttention", "heads"});
  expect_error(CrossAttentionConfig(4, 4, 2, 0, 2).init().forward(x, x),
               ErrorCode::invalid_argument);
  expect_error(CrossAttentionConfig(4, 4, 2, 1, 2).init().forward(x, counting({2, 3, 4})),
               ErrorCode::shape_mismatch, {"CrossAttention", "[2, 3, 2]"});
  expect_error(CrossAttentionConfig(4, 5, 2, 1, 2).init().forward(x, x), ErrorCode::shape_mismatch,
               {"[1, 3, 4]", "[5, 2]"});
  expect_error(CrossAttention().forward(x, x), ErrorCode::missing_tensor);
}

}  // namespace
}  // namespace andiron::nn
