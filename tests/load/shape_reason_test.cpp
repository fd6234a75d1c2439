// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/load/shape_reason.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/recurrent.h"

namespace andiron {
namespace {

using detail::shared_reason;
using detail::WrongShape;

TEST(ShapeReason, IsTheWidthOfTheModel) {
  const std::vector<WrongShape> wrong = {
      {{160, 160}, {192, 192}}, {{640, 160}, {768, 192}}, {{160}, {192}}, {{640}, {768}}};
  EXPECT_EQ(shared_reason(wrong),
            "4 tensors have other shapes for one reason: 160 wide in the file, 192 in the model");
}

TEST(ShapeReason, OfAHeadIsItsNumberOfClasses) {
  const std::vector<WrongShape> wrong = {
      {{1000, 8}, {10, 8}}, {{1000}, {10}}, {{1000, 16}, {10, 16}}};
  EXPECT_EQ(shared_reason(wrong),
            "3 tensors have other shapes for one reason: 1000 in the file, 10 in the model");
}

TEST(ShapeReason, IsToldOfMostTensorsWhereOthersHaveAnother) {
  std::vector<WrongShape> wrong(5, {{160, 4}, {192, 4}});
  wrong.push_back({{9, 160}, {7, 192}});
  EXPECT_EQ(shared_reason(wrong),
            "5 of 6 tensors of other shapes have one reason: 160 in the file, 192 in the model");
}

TEST(ShapeReason, IsNotToldWhereNoneStandsOut) {
  EXPECT_EQ(shared_reason({}), "");
  EXPECT_EQ(shared_reason(std::vector<WrongShape>{{{160}, {192}}, {{320}, {384}}}), "") << "few";
  EXPECT_EQ(shared_reason(std::vector<WrongShape>(4, {{2, 3}, {3, 2}})), "") << "transposed";
  EXPECT_EQ(shared_reason(std::vector<WrongShape>(4, {{2, 3}, {2, 3, 1}})), "") << "ranks";
  const std::vector<WrongShape> mixed = {{{2}, {3}}, {{2}, {5}}, {{2}, {7}}, {{2}, {9}},
                                         {{4}, {6}}, {{6}, {9}}, {{7}, {9}}};
  EXPECT_EQ(shared_reason(mixed), "") << "fewer than half";
}

struct Layers {
  std::vector<nn::Linear> layers;
  ANDIRON_MODULE(Layers, layers)
};

Layers layers_of(std::size_t width) {
  Layers net;
  for (int i = 0; i < 3; ++i) net.layers.push_back(nn::LinearConfig(width, width).init());
  return net;
}

TEST(ShapeReason, IsInTheReportAndInTheError) {
  const Snapshots narrow = collect(layers_of(16)).value();
  Layers wide = layers_of(24);
  const std::string reason =
      "6 tensors have other shapes for one reason: 16 wide in the file, 24 in the model";
  const std::vector<Message> notes = plan(wide, narrow).value().result.notes;
  EXPECT_EQ(notes, (std::vector<Message>{reason, "no settings were found that make it fit"}));
  EXPECT_EQ(apply(wide, narrow).error().message,
            "the shape does not match (and 5 other tensors cannot be loaded; " + reason + ")");
}

// A third of the gates of one is not a quarter of those of the other: no width differs.
TEST(ShapeReason, IsNotToldOfTensorsThatAnAdapterTookApart) {
  struct Gru {
    nn::Gru rnn = nn::GruConfig(8, 8).init();
    ANDIRON_MODULE(Gru, rnn)
  };
  struct Lstm {
    nn::Lstm rnn = nn::LstmConfig(8, 8).init();
    ANDIRON_MODULE(Lstm, rnn)
  };
  const Snapshots file = collect(Gru(), {.adapter = BurnToPyTorchAdapter()}).value();
  const ApplyResult result = plan(Lstm(), file, {.adapter = PyTorchToBurnAdapter()}).value().result;
  EXPECT_FALSE(result.is_success());
  for (const Message& note : result.notes) {
    EXPECT_EQ(note.find("one reason"), std::string::npos) << note;
  }
}

}  // namespace
}  // namespace andiron
