// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolutions: their parameters, their settings and arguments they cannot have.
#include "andiron/nn/conv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/nn/module_places.h"

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
  for (float value : param.as<float>().value()) largest = std::max(largest, std::abs(value));
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

}  // namespace
}  // namespace andiron::nn
