// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolutions: their parameters, their settings, what they compute and arguments they cannot have.
#include "andiron/nn/conv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "andiron/nn/functions.h"
#include "tests/nn/module_places.h"
#include "tests/nn/numbers.h"

namespace andiron::nn {
namespace {

using Places = std::vector<std::string>;
using Pair = std::array<std::uint64_t, 2>;

static_assert(std::is_aggregate_v<Conv1d> && std::is_aggregate_v<Conv2d>);
static_assert(std::is_aggregate_v<ConvTranspose1d> && std::is_aggregate_v<ConvTranspose2d>);

TEST(Conv, HasBurnsNamesAndLayouts) {
  EXPECT_EQ(places_of(Conv1dConfig(4, 6, 3).init()),
            (Places{"weight f32 [6, 4, 3] in Struct:Conv1d", "bias f32 [6] in Struct:Conv1d"}));
  EXPECT_EQ(places_of(Conv2dConfig({4, 6}, {3, 5}).init()),
            (Places{"weight f32 [6, 4, 3, 5] in Struct:Conv2d", "bias f32 [6] in Struct:Conv2d"}));
  EXPECT_EQ(places_of(ConvTranspose1dConfig({4, 6}, 3).init()),
            (Places{"weight f32 [4, 6, 3] in Struct:ConvTranspose1d",
                    "bias f32 [6] in Struct:ConvTranspose1d"}));
  EXPECT_EQ(places_of(ConvTranspose2dConfig({4, 6}, {3, 5}).init()),
            (Places{"weight f32 [4, 6, 3, 5] in Struct:ConvTranspose2d",
                    "bias f32 [6] in Struct:ConvTranspose2d"}));
}

TEST(Conv, GroupsDivideTheSecondDimension) {
  EXPECT_EQ(Conv1dConfig(4, 6, 3).with_groups(2).init().weight.shape(), Shape({6, 2, 3}));
  EXPECT_EQ(Conv2dConfig({4, 6}, {3, 5}).with_groups(2).init().weight.shape(), Shape({6, 2, 3, 5}));
  EXPECT_EQ(ConvTranspose1dConfig({4, 6}, 3).with_groups(2).init().weight.shape(),
            Shape({4, 3, 3}));
  EXPECT_EQ(ConvTranspose2dConfig({4, 6}, {3, 5}).with_groups(2).init().weight.shape(),
            Shape({4, 3, 3, 5}));
}

TEST(Conv, HasNoBiasUnlessAskedFor) {
  EXPECT_FALSE(Conv1dConfig(4, 6, 3).with_bias(false).init().bias);
  EXPECT_FALSE(Conv2dConfig({4, 6}, {3, 5}).with_bias(false).init().bias);
  EXPECT_FALSE(ConvTranspose1dConfig({4, 6}, 3).with_bias(false).init().bias);
  EXPECT_FALSE(ConvTranspose2dConfig({4, 6}, {3, 5}).with_bias(false).init().bias);
}

TEST(Conv, DrawsNothingBeforeItIsNeeded) {
  const Conv2d conv = Conv2dConfig({2, 2}, {2, 2}).init();
  EXPECT_EQ(conv.weight.shape(), Shape({2, 2, 2, 2}));
  EXPECT_FALSE(conv.weight.is_initialized());
  EXPECT_FALSE(conv.bias->is_initialized());
}

TEST(Conv, HasBurnsDefaults) {
  const Conv2d conv = Conv2dConfig({4, 6}, {3, 5}).init();
  EXPECT_EQ(conv.kernel_size, (Pair{3, 5}));
  EXPECT_EQ(conv.stride, (Pair{1, 1}));
  EXPECT_EQ(conv.dilation, (Pair{1, 1}));
  EXPECT_EQ(conv.groups, 1U);
  EXPECT_EQ(conv.padding, PaddingConfig2d::valid());

  const ConvTranspose1d transposed = ConvTranspose1dConfig({4, 6}, 3).init();
  EXPECT_EQ(transposed.channels, (Pair{4, 6}));
  EXPECT_EQ(transposed.kernel_size, 3U);
  EXPECT_EQ(transposed.stride, 1U);
  EXPECT_EQ(transposed.dilation, 1U);
  EXPECT_EQ(transposed.padding, 0U);
  EXPECT_EQ(transposed.padding_out, 0U);
}

TEST(Conv, KeepsItsSettings) {
  const Conv1d conv1d = Conv1dConfig(4, 6, 3)
                            .with_stride(2)
                            .with_dilation(3)
                            .with_groups(2)
                            .with_padding(PaddingConfig1d::explicit_(1, 2))
                            .init();
  EXPECT_EQ(conv1d.stride, 2U);
  EXPECT_EQ(conv1d.dilation, 3U);
  EXPECT_EQ(conv1d.groups, 2U);
  EXPECT_EQ(conv1d.kernel_size, 3U);
  EXPECT_EQ(conv1d.padding, (PaddingConfig1d{PaddingKind::given, 1, 2}));

  const Conv2d conv2d = Conv2dConfig({4, 6}, {3, 5})
                            .with_stride({2, 3})
                            .with_dilation({4, 5})
                            .with_groups(2)
                            .with_padding(PaddingConfig2d::same())
                            .init();
  EXPECT_EQ(conv2d.stride, (Pair{2, 3}));
  EXPECT_EQ(conv2d.dilation, (Pair{4, 5}));
  EXPECT_EQ(conv2d.groups, 2U);
  EXPECT_EQ(conv2d.padding.kind, PaddingKind::same);

  const ConvTranspose2d transposed = ConvTranspose2dConfig({4, 6}, {3, 5})
                                         .with_stride({2, 3})
                                         .with_padding({1, 2})
                                         .with_padding_out({3, 4})
                                         .with_dilation({5, 6})
                                         .with_groups(2)
                                         .init();
  EXPECT_EQ(transposed.stride, (Pair{2, 3}));
  EXPECT_EQ(transposed.padding, (Pair{1, 2}));
  EXPECT_EQ(transposed.padding_out, (Pair{3, 4}));
  EXPECT_EQ(transposed.dilation, (Pair{5, 6}));
  EXPECT_EQ(transposed.groups, 2U);
  EXPECT_EQ(transposed.channels, (Pair{4, 6}));
  EXPECT_EQ(ConvTranspose1dConfig({4, 6}, 3).with_padding_out(1).init().padding_out, 1U);
}

TEST(Conv, PaddingCanBeGivenPerSideOrPerDimension) {
  EXPECT_EQ(PaddingConfig2d::explicit_(1, 2), PaddingConfig2d::explicit_(1, 2, 1, 2));
  const PaddingConfig2d padding = PaddingConfig2d::explicit_(1, 2, 3, 4);
  EXPECT_EQ(padding.top, 1U);
  EXPECT_EQ(padding.left, 2U);
  EXPECT_EQ(padding.bottom, 3U);
  EXPECT_EQ(padding.right, 4U);
  EXPECT_NE(PaddingConfig1d::same(), PaddingConfig1d::valid());
}

// The largest number a parameter starts with.
float reach(const Param& param) {
  float largest = 0;
  const std::span<const float> values = param.as<float>().value();
  for (const float value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

TEST(Conv, StartsUniformWithinTheRootOfItsInputs) {
  seed(42);
  // 8 / 2 channels of 4 elements, so 1 / sqrt(16).
  const Conv2d conv = Conv2dConfig({8, 128}, {2, 2}).with_groups(2).init();
  EXPECT_LE(reach(conv.weight), 0.25F);
  EXPECT_GT(reach(conv.weight), 0.24F);
  EXPECT_LE(reach(*conv.bias), 0.25F);
  EXPECT_GT(reach(*conv.bias), 0.22F);
  // A transposed one counts the channels that it gives: 32 / 2 of 4.
  const ConvTranspose1d transposed = ConvTranspose1dConfig({64, 32}, 4).with_groups(2).init();
  EXPECT_LE(reach(transposed.weight), 0.125F);
  EXPECT_GT(reach(transposed.weight), 0.12F);
}

TEST(Conv, GivesXavierBothFans) {
  seed(42);
  // Fans 5 * 4 and 19 * 4: 1 * sqrt(6 / 96).
  const Conv1d conv =
      Conv1dConfig(5, 19, 4).with_initializer(Initializer::xavier_uniform(1)).init();
  EXPECT_LE(reach(conv.weight), 0.25F);
  EXPECT_GT(reach(conv.weight), 0.23F);
}

TEST(Conv, RefusesGroupsThatDoNotDivideTheChannels) {
  const Conv2d conv = Conv2dConfig({4, 6}, {3, 5}).with_groups(4).init();
  const Result<Tensor> weight = conv.weight.val();
  ASSERT_FALSE(weight);
  EXPECT_EQ(weight.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(weight.error().to_string(),
            "the channels cannot be divided into groups: 4 channels in, 6 out, 4 groups; expected "
            "a number of groups that divides both");
  EXPECT_EQ(conv.bias->val().error().code, ErrorCode::invalid_argument);

  EXPECT_FALSE(Conv1dConfig(4, 6, 3).with_groups(0).init().weight.val());
  EXPECT_FALSE(ConvTranspose1dConfig({4, 6}, 3).with_groups(3).init().weight.val());
}

TEST(Conv, NoTensorFitsChannelsThatCannotBeDivided) {
  EXPECT_EQ(Conv1dConfig(5, 6, 3).with_groups(2).init().weight.shape(), Shape({6, 0, 3}));
  EXPECT_EQ(Conv1dConfig(4, 6, 3).with_groups(0).init().weight.shape(), Shape({6, 0, 3}));
}

TEST(Conv, RefusesAnEmptyKernel) {
  const Result<Tensor> weight = ConvTranspose2dConfig({4, 6}, {3, 0}).init().weight.val();
  ASSERT_FALSE(weight);
  EXPECT_EQ(weight.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(weight.error().found, "size [3, 0]");
  EXPECT_FALSE(Conv1dConfig(4, 6, 0).init().bias->val());
}

TEST(Conv, RefusesSizesThatCannotBe) {
  const std::uint64_t huge = std::uint64_t{1} << 40;
  for (const Conv2d& conv :
       {Conv2dConfig({huge, huge}, {1, 1}).init(), Conv2dConfig({1, 1}, {huge, huge}).init(),
        Conv2dConfig({huge, 0}, {huge, 1}).init(), Conv2dConfig({0, huge}, {huge, 1}).init()}) {
    const Result<Tensor> weight = conv.weight.val();
    ASSERT_FALSE(weight);
    EXPECT_EQ(weight.error().code, ErrorCode::invalid_argument);
    EXPECT_FALSE(weight.error().found.empty());
    EXPECT_FALSE(weight.error().expected.empty());
  }
}

struct Net {
  Conv2d conv1, conv2;
  ANDIRON_MODULE(Net, conv1, conv2)

  static Net init() {
    return {Conv2dConfig({2, 2}, {2, 2}).init(),
            Conv2dConfig({2, 2}, {2, 2}).with_bias(false).init()};
  }
};

TEST(Conv, IsAFieldOfAModule) {
  EXPECT_EQ(places_of(Net::init()),
            (Places{"conv1.weight f32 [2, 2, 2, 2] in Struct:Net.Struct:Conv2d",
                    "conv1.bias f32 [2] in Struct:Net.Struct:Conv2d",
                    "conv2.weight f32 [2, 2, 2, 2] in Struct:Net.Struct:Conv2d"}));
}

// --- what they compute ---

using test::counting;
using test::expect_error;
using test::expect_near;
using test::expect_same;
using test::filled;
using test::random_tensor;
using test::tensor_of;
using test::vector_of;

// A layer of a config, with other parameters and no bias.
template <class Config>
auto conv_of(const Config& config, Tensor weight) {
  auto conv = config.init();
  conv.weight = Param(std::move(weight));
  conv.bias.reset();
  return conv;
}

const Tensor line = counting({1, 1, 4}, 1);            // 1, 2, 3, 4
const Tensor one_ten = tensor_of({1, 1, 2}, {1, 10});  // a kernel

TEST(Conv1d, SlidesItsKernel) {
  const Conv1dConfig config(1, 1, 2);
  expect_near(conv_of(config, one_ten).forward(line), {1, 1, 3}, {21, 32, 43});
  Conv1d biased = conv_of(config, one_ten);
  biased.bias = Param(vector_of({0.5}));
  expect_near(biased.forward(line), {1, 1, 3}, {21.5, 32.5, 43.5});
  expect_near(conv_of(Conv1dConfig(config).with_stride(2), one_ten).forward(line), {1, 1, 2},
              {21, 43});
  expect_near(conv_of(Conv1dConfig(config).with_dilation(2), one_ten).forward(line), {1, 1, 2},
              {31, 42});
}

TEST(Conv1d, PadsWithZeros) {
  const Conv1dConfig config(1, 1, 2);
  const auto padded = [&](const Conv1dConfig& from, PaddingConfig1d padding) {
    return conv_of(Conv1dConfig(from).with_padding(padding), one_ten).forward(line);
  };
  expect_near(padded(config, PaddingConfig1d::explicit_(1, 2)), {1, 1, 6}, {10, 21, 32, 43, 4, 0});
  // One more is needed, at the end.
  expect_near(padded(config, PaddingConfig1d::same()), {1, 1, 4}, {21, 32, 43, 4});
  const Conv1dConfig dilated = Conv1dConfig(config).with_dilation(2);
  expect_near(padded(dilated, PaddingConfig1d::same()), {1, 1, 4}, {20, 31, 42, 3});
  // The same with a stride: ceil(4 / 3) windows.
  const Conv1dConfig strided = Conv1dConfig(config).with_stride(3);
  expect_near(padded(strided, PaddingConfig1d::same()), {1, 1, 2}, {21, 4});
  const Conv1dConfig wide = Conv1dConfig(1, 1, 3).with_stride(2);
  expect_near(conv_of(Conv1dConfig(wide).with_padding(PaddingConfig1d::same()),
                      tensor_of({1, 1, 3}, {1, 10, 100}))
                  .forward(line),
              {1, 1, 2}, {321, 43});
}

TEST(Conv1d, SumsItsChannelsByGroup) {
  const Tensor input = tensor_of({1, 2, 2}, {1, 2, 3, 4});
  expect_near(conv_of(Conv1dConfig(2, 1, 1), tensor_of({1, 2, 1}, {2, 3})).forward(input),
              {1, 1, 2}, {11, 16});
  expect_near(
      conv_of(Conv1dConfig(2, 2, 1).with_groups(2), tensor_of({2, 1, 1}, {2, 3})).forward(input),
      {1, 2, 2}, {2, 4, 9, 12});
  expect_near(conv_of(Conv1dConfig(2, 4, 1).with_groups(2), tensor_of({4, 1, 1}, {1, 2, 3, 4}))
                  .forward(input),
              {1, 4, 2}, {1, 2, 2, 4, 9, 12, 12, 16});
}

TEST(Conv2d, HasSettingsForEachDimension) {
  const Tensor image = counting({1, 1, 3, 3}, 1);
  const Tensor weight = tensor_of({1, 1, 2, 2}, {1, 2, 3, 4});
  const Conv2dConfig config({1, 1}, {2, 2});
  expect_near(conv_of(config, weight).forward(image), {1, 1, 2, 2}, {37, 47, 67, 77});
  expect_near(conv_of(Conv2dConfig(config).with_stride({2, 1}), weight).forward(image),
              {1, 1, 1, 2}, {37, 47});
  expect_near(conv_of(Conv2dConfig(config).with_dilation({2, 1}), weight).forward(image),
              {1, 1, 1, 2}, {58, 68});
  const Conv2dConfig padded =
      Conv2dConfig(config).with_padding(PaddingConfig2d::explicit_(1, 0, 0, 1));
  expect_near(conv_of(padded, weight).forward(image), {1, 1, 3, 3},
              {11, 18, 9, 37, 47, 21, 67, 77, 33});
  const Conv2dConfig same = Conv2dConfig(config).with_padding(PaddingConfig2d::same());
  expect_near(conv_of(same, weight).forward(image), {1, 1, 3, 3},
              {37, 47, 21, 67, 77, 33, 23, 26, 9});
}

TEST(Conv3d, AddsUpBlocks) {
  const Tensor block = counting({1, 1, 2, 2, 2});
  const Conv3dConfig config({1, 1}, {2, 2, 2});
  const Tensor ones = filled({1, 1, 2, 2, 2}, 1);
  expect_near(conv_of(config, ones).forward(block), {1, 1, 1, 1, 1}, {28});
  const Conv3dConfig padded =
      Conv3dConfig(config).with_padding(PaddingConfig3d::explicit_(1, 0, 0));
  expect_near(conv_of(padded, ones).forward(block), {1, 1, 3, 1, 1}, {6, 28, 22});
  const Conv3dConfig same = Conv3dConfig(config).with_padding(PaddingConfig3d::same());
  expect_near(conv_of(same, ones).forward(block), {1, 1, 2, 2, 2}, {28, 16, 18, 10, 22, 12, 13, 7});
  EXPECT_EQ(places_of(config.init())[0], "weight f32 [1, 1, 2, 2, 2] in Struct:Conv3d");
}

TEST(ConvTranspose1d, SpreadsItsKernel) {
  const Tensor input = counting({1, 1, 3}, 1);
  const ConvTranspose1dConfig config({1, 1}, 2);
  expect_near(conv_of(config, one_ten).forward(input), {1, 1, 4}, {1, 12, 23, 30});
  const ConvTranspose1dConfig strided = ConvTranspose1dConfig(config).with_stride(2);
  expect_near(conv_of(strided, one_ten).forward(input), {1, 1, 6}, {1, 10, 2, 20, 3, 30});
  expect_near(conv_of(ConvTranspose1dConfig(strided).with_padding(1), one_ten).forward(input),
              {1, 1, 4}, {10, 2, 20, 3});
  expect_near(conv_of(ConvTranspose1dConfig(strided).with_padding_out(1), one_ten).forward(input),
              {1, 1, 7}, {1, 10, 2, 20, 3, 30, 0});
  expect_near(conv_of(ConvTranspose1dConfig(strided).with_padding(1).with_padding_out(1), one_ten)
                  .forward(input),
              {1, 1, 5}, {10, 2, 20, 3, 30});
  expect_near(conv_of(ConvTranspose1dConfig(config).with_dilation(2), one_ten).forward(input),
              {1, 1, 5}, {1, 2, 13, 20, 30});
}

TEST(ConvTranspose2d, HasSettingsForEachDimension) {
  const ConvTranspose2dConfig config({1, 1}, {2, 2});
  const Tensor weight = tensor_of({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor image = tensor_of({1, 1, 1, 2}, {1, 2});
  expect_near(conv_of(ConvTranspose2dConfig(config).with_stride({2, 1}), weight).forward(image),
              {1, 1, 2, 3}, {1, 4, 4, 3, 10, 8});
  expect_near(conv_of(ConvTranspose2dConfig(config).with_padding({0, 1}), weight).forward(image),
              {1, 1, 2, 1}, {4, 10});
  // Its weight is [in, out / groups, ...].
  const ConvTranspose2dConfig grouped = ConvTranspose2dConfig({2, 4}, {1, 1}).with_groups(2);
  ConvTranspose2d layer = conv_of(grouped, tensor_of({2, 2, 1, 1}, {1, 2, 3, 4}));
  layer.bias = Param(vector_of({0, 0, 0, 1}));
  expect_near(layer.forward(tensor_of({1, 2, 1, 1}, {5, 6})), {1, 4, 1, 1}, {5, 10, 18, 25});
}

TEST(ConvTranspose3d, SpreadsBlocks) {
  const ConvTranspose3dConfig config({1, 1}, {1, 2, 1});
  const ConvTranspose3dConfig strided =
      ConvTranspose3dConfig(config).with_stride({1, 2, 3}).with_padding_out({0, 1, 2});
  expect_near(
      conv_of(strided, tensor_of({1, 1, 1, 2, 1}, {1, 10})).forward(filled({1, 1, 1, 1, 1}, 7)),
      {1, 1, 1, 3, 3}, {7, 0, 0, 70, 0, 0, 0, 0, 0});
  EXPECT_EQ(places_of(config.init())[0], "weight f32 [1, 1, 1, 2, 1] in Struct:ConvTranspose3d");
}

TEST(Conv, KeepsDoublesAndWidensSmallFloats) {
  const Conv1d exact = conv_of(Conv1dConfig(1, 1, 2), filled<double>({1, 1, 2}, 1));
  const Result<Tensor> sum = exact.forward(tensor_of<double>({1, 1, 2}, {1e9, 1.0 / 3}));
  EXPECT_EQ(sum.value().to_vector<double>().value()[0], 1e9 + 1.0 / 3);
  const Tensor image = random_tensor({1, 2, 5, 5}, 1);
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Tensor small = cast(random_tensor({3, 2, 2, 2}, 2), dtype).value();
    const Conv2dConfig config({2, 3}, {2, 2});
    const Conv2d widened = conv_of(config, cast(small, DType::f32).value());
    expect_same(conv_of(config, small).forward(image), widened.forward(image));
    EXPECT_EQ(widened.forward(cast(image, dtype)).value().dtype(), DType::f32);
  }
}

TEST(Conv, ComputesNothingOfAnEmptyBatch) {
  expect_near(Conv1dConfig(2, 3, 2).init().forward(Tensor::zeros(DType::f32, {0, 2, 5})), {0, 3, 4},
              {});
  expect_near(ConvTranspose1dConfig({2, 3}, 2).init().forward(Tensor::zeros(DType::f32, {0, 2, 5})),
              {0, 3, 6}, {});
}

TEST(Conv, RefusesInputsThatDoNotFit) {
  expect_error(Conv1dConfig(2, 3, 2).init().forward(counting({1, 3, 4})), ErrorCode::shape_mismatch,
               {"Conv1d", "[1, 3, 4]", "[batch, 2, length]"});
  expect_error(Conv2dConfig({2, 3}, {2, 2}).init().forward(counting({1, 2, 4})),
               ErrorCode::shape_mismatch, {"Conv2d", "[1, 2, 4]", "[batch, 2, height, width]"});
  expect_error(Conv3dConfig({2, 3}, {2, 2, 2}).init().forward(counting({2})),
               ErrorCode::shape_mismatch, {"Conv3d", "[2]", "[batch, 2, depth, height, width]"});
  expect_error(
      ConvTranspose2dConfig({2, 4}, {2, 2}).with_groups(2).init().forward(counting({1, 4, 3, 3})),
      ErrorCode::shape_mismatch, {"ConvTranspose2d", "[1, 4, 3, 3]", "[batch, 2, "});
  expect_error(Conv1dConfig(1, 1, 5).init().forward(line), ErrorCode::shape_mismatch,
               {"Conv1d", "[1, 1, 4]", "at least 5"});
  expect_error(ConvTranspose1dConfig({1, 1}, 1).with_padding(2).init().forward(line),
               ErrorCode::shape_mismatch, {"ConvTranspose1d", "[1, 1, 4]"});
  expect_error(Conv1dConfig(1, 1, 2).init().forward(Tensor::zeros(DType::i32, {1, 1, 4})),
               ErrorCode::dtype_mismatch, {"i32"});
}

TEST(Conv, RefusesParametersThatDoNotFit) {
  expect_error(Conv1d().forward(line), ErrorCode::missing_tensor);
  expect_error(conv_of(Conv1dConfig(1, 1, 2), counting({1, 1, 3})).forward(line),
               ErrorCode::shape_mismatch, {"Conv1d", "[1, 1, 3]", "size 2"});
  expect_error(conv_of(Conv1dConfig(1, 1, 2), counting({1, 2})).forward(line),
               ErrorCode::shape_mismatch, {"Conv1d", "[1, 2]"});
  Conv1d biased = conv_of(Conv1dConfig(1, 1, 2), one_ten);
  biased.bias = Param(vector_of({1, 2}));
  expect_error(biased.forward(line), ErrorCode::shape_mismatch, {"Conv1d", "bias", "[2]", "[1]"});
}

TEST(Conv, RefusesSettingsThatCannotBe) {
  for (const std::uint64_t size : {std::uint64_t{0}, test::huge_size, ~std::uint64_t{0}}) {
    const std::array layers = {Conv1dConfig(1, 1, size), Conv1dConfig(1, 1, 2).with_stride(size),
                               Conv1dConfig(1, 1, 2).with_dilation(size),
                               Conv1dConfig(1, 1, 2).with_groups(size)};
    for (const Conv1dConfig& config : layers) {
      expect_error(config.init().forward(line), ErrorCode::invalid_argument);
    }
    expect_error(ConvTranspose1dConfig({1, 1}, 2).with_stride(size).init().forward(line),
                 ErrorCode::invalid_argument, {"ConvTranspose1d", "stride"});
    if (size == 0) continue;
    const PaddingConfig1d padding = PaddingConfig1d::explicit_(size, size);
    expect_error(Conv1dConfig(1, 1, 2).with_padding(padding).init().forward(line),
                 ErrorCode::invalid_argument, {"Conv1d", "padding"});
    expect_error(ConvTranspose1dConfig({1, 1}, 2).with_padding(size).init().forward(line),
                 ErrorCode::invalid_argument, {"ConvTranspose1d", "padding"});
    expect_error(ConvTranspose1dConfig({1, 1}, 2).with_padding_out(size).init().forward(line),
                 ErrorCode::invalid_argument, {"ConvTranspose1d", "padding"});
  }
  expect_error(Conv1dConfig(3, 4, 2).with_groups(2).init().forward(counting({1, 3, 4})),
               ErrorCode::invalid_argument, {"groups"});
  expect_error(ConvTranspose1dConfig({1, 1}, 2).with_padding_out(1).init().forward(line),
               ErrorCode::invalid_argument, {"ConvTranspose1d", "less than the stride"});
}

}  // namespace
}  // namespace andiron::nn
