// SPDX-License-Identifier: MIT OR Apache-2.0
// An output layer that is tied to the embedding, in Burn's layout and in PyTorch's.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "andiron/nn/embedding.h"
#include "andiron/nn/linear.h"
#include "andiron/open.h"
#include "andiron/stores.h"
#include "andiron/write.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;
using Names = std::vector<std::string>;

struct TiedModel {
  nn::Embedding embedding = nn::EmbeddingConfig(4, 3).init();
  nn::Linear output = nn::LinearConfig(3, 4).with_bias(false).init();
  TiedModel() { tie_transposed(embedding.weight, output.weight).value(); }
  ANDIRON_MODULE(TiedModel, embedding, output)
};

// The output layer comes first, so that loads go through the transposed side.
struct OutputFirst {
  nn::Linear output = nn::LinearConfig(3, 4).with_bias(false).init();
  nn::Embedding embedding = nn::EmbeddingConfig(4, 3).init();
  OutputFirst() { tie_transposed(embedding.weight, output.weight).value(); }
  ANDIRON_MODULE(OutputFirst, output, embedding)
};

std::vector<float> floats(const Param& param) {
  return param.val().value().to_vector<float>().value();
}

template <class M>
void expect_tied_to(const M& model, const Tensor& embedding) {
  EXPECT_TRUE(model.embedding.weight.is_tied_with(model.output.weight));
  EXPECT_EQ(floats(model.embedding.weight), embedding.to_vector<float>().value());
  EXPECT_EQ(model.output.weight.shape(), Shape({3, 4}));
}

TEST(TransposedTies, ASaveInPytorchsLayoutSeesTheTie) {
  TiedModel model;
  model.embedding.weight.set_val(f32({4, 3}, 1));
  auto store = SafetensorsStore().with_to_adapter(BurnToPyTorchAdapter()).write_ties_once(true);
  save_into(model, store).value();
  const Archive file = open(store.get_bytes().value()).value();
  EXPECT_EQ(file.size(), 1u);
  EXPECT_EQ(file.aliases(), (Aliases{{"output.weight", "embedding.weight"}}));
  TiedModel loaded;
  load_from(loaded, store.with_from_adapter(PyTorchToBurnAdapter())).value();
  expect_tied_to(loaded, f32({4, 3}, 1));
}

TEST(TransposedTies, ASaveInOurOwnLayoutHasBothMatrices) {
  TiedModel model;
  model.embedding.weight.set_val(f32({4, 3}, 1));
  auto store = SafetensorsStore().write_ties_once(true);
  save_into(model, store).value();
  const Archive file = open(store.get_bytes().value()).value();
  EXPECT_EQ(file.get("embedding.weight").value().shape(), Shape({4, 3}));
  EXPECT_EQ(file.get("output.weight").value().shape(), Shape({3, 4}));
  EXPECT_EQ(file.get("output.weight").value().read().value().to_vector<float>().value(),
            floats(model.output.weight));
}

TEST(TransposedTies, ALoadFeedsBothFromEitherName) {
  Archive embedding;
  embedding.add(TensorSnapshot("embedding.weight", f32({4, 3}, 1))).value();
  Archive output;
  output.add(TensorSnapshot("output.weight", f32({4, 3}, 1))).value();
  for (const Archive& source : {embedding, output}) {
    TiedModel model;
    apply(model, source, {.adapter = PyTorchToBurnAdapter()}).value();
    expect_tied_to(model, f32({4, 3}, 1));
    OutputFirst other;
    apply(other, source, {.adapter = PyTorchToBurnAdapter()}).value();
    expect_tied_to(other, f32({4, 3}, 1));
  }
}

TEST(TransposedTies, AFileWithBothFeedsTheFirst) {
  Archive both;
  both.add(TensorSnapshot("embedding.weight", f32({4, 3}, 1))).value();
  both.add(TensorSnapshot("output.weight", f32({3, 4}, 100))).value();
  TiedModel model;
  EXPECT_EQ(
      apply(model, both).value().notes,
      std::vector<Message>{"'output.weight' is tied to 'embedding.weight' and gets its tensor"});
  expect_tied_to(model, f32({4, 3}, 1));
}

TEST(TransposedTies, InPlaceLoadsKeepThem) {
  Archive source;
  source.add(TensorSnapshot("embedding.weight", f32({4, 3}, 1))).value();
  OutputFirst model;
  apply(model, source, {.adapter = PyTorchToBurnAdapter(), .in_place = true}).value();
  expect_tied_to(model, f32({4, 3}, 1));
}

TEST(TransposedTies, APlanHasTheShapeOfEach) {
  Archive source;
  source.add(TensorSnapshot("embedding.weight", f32({4, 3}, 1))).value();
  const Plan planned = plan(TiedModel(), source, {.adapter = PyTorchToBurnAdapter()}).value();
  EXPECT_EQ(planned.tensors.at(0).shape, Shape({4, 3}));
  EXPECT_EQ(planned.tensors.at(1).shape, Shape({3, 4}));
}

TEST(TransposedTies, ACopyOfAModelLoadsOnItsOwn) {
  const TiedModel model;
  TiedModel copy = model;
  EXPECT_FALSE(copy.embedding.weight.is_tied_with(copy.output.weight));
  Archive source;
  source.add(TensorSnapshot("embedding.weight", f32({4, 3}, 1))).value();
  source.add(TensorSnapshot("output.weight", f32({3, 4}, 50))).value();
  apply(copy, source).value();
  EXPECT_EQ(copy.output.weight.as<float>().value()[0], 50);
}

}  // namespace
}  // namespace andiron
