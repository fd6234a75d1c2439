// SPDX-License-Identifier: MIT OR Apache-2.0
// Models out of files of PyTorch's give what PyTorch's give.
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "andiron/nn/activation.h"
#include "andiron/nn/attention.h"
#include "andiron/nn/conv.h"
#include "andiron/nn/embedding.h"
#include "andiron/nn/functions.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/nn/recurrent.h"
#include "andiron/stores.h"
#include "tests/nn/numbers.h"
#include "tests/support/fixtures.h"
#include "tests/support/temp_dir.h"

namespace andiron::nn {
namespace {

using Json = nlohmann::json;

const std::string torch_folder = test::fixtures_folder() + "/torch-2.11/";

Json forward_truth(const std::string& file) {
  return Json::parse(test::read_file(torch_folder + "truth.json")).at(file).at("forward");
}

Shape shape_of(const Json& dims) {
  const auto sizes = dims.get<std::vector<std::uint64_t>>();
  return Shape(std::span<const std::uint64_t>(sizes));
}

void expect_as_pytorch(const Result<Tensor>& found, const Json& truth) {
  test::expect_near(found, shape_of(truth.at("shape")), truth.at("output").get<test::Values>(),
                    1e-5);
}

// From -1 to 1 in even steps, as PyTorch's linspace.
Tensor even_steps(const Shape& shape) {
  const auto count = static_cast<double>(test::elements_of(shape));
  return test::counting(shape, -1, 2 / (count - 1));
}

struct TwoConvolutions {
  Conv2d conv1 = Conv2dConfig({2, 2}, {2, 2}).init();
  Conv2d conv2 = Conv2dConfig({2, 2}, {2, 2}).with_bias(false).init();
  ANDIRON_MODULE(TwoConvolutions, conv1, conv2)
};

TEST(PytorchOutputs, OfConvolutionsAreGiven) {
  if (!test::has_fixtures()) GTEST_SKIP() << "ANDIRON_FIXTURES is not set";
  TwoConvolutions net;
  load_from(net, PytorchStore::from_file(torch_folder + "net_state_dict.pt")).value();
  const Tensor ones = test::filled({1, 2, 5, 5}, 1);
  expect_as_pytorch(net.conv2.forward(net.conv1.forward(ones)), forward_truth("net_state_dict.pt"));
}

struct MixedNet {
  std::tuple<Conv2d, Relu, Conv2d, Relu, Conv2d> fc = {
      Conv2dConfig({3, 4}, {3, 3}).with_padding(PaddingConfig2d::explicit_(1, 1)).init(),
      {},
      Conv2dConfig({4, 4}, {3, 3}).with_padding(PaddingConfig2d::same()).init(),
      {},
      Conv2dConfig({4, 2}, {1, 1}).init()};
  BatchNorm norm = BatchNormConfig(2).init();
  LayerNorm ln = LayerNormConfig(6).init();
  GroupNorm gn = GroupNormConfig(1, 2).init();
  Linear head = LinearConfig(6, 5).init();
  Embedding embed = EmbeddingConfig(9, 6).init();
  BiLstmStack lstm = BiLstmConfig(6, 3).with_batch_first(false).init_stack(2);
  Gru gru = GruConfig(6, 3).with_batch_first(false).init();
  MultiHeadAttention mha = MultiHeadAttentionConfig(6, 2).init();
  ConvTranspose2d tconv = ConvTranspose2dConfig({2, 3}, {2, 2}).with_stride({2, 2}).init();
  PRelu prelu = PReluConfig().with_num_parameters(2).init();
  Conv1d conv1 = Conv1dConfig(3, 4, 3).init();
  Conv3d conv3 = Conv3dConfig({1, 2}, {2, 2, 2}).init();
  ANDIRON_MODULE(MixedNet, fc, norm, ln, gn, head, embed, lstm, gru, mha, tconv, prelu, conv1,
                 conv3)
};

TEST(PytorchOutputs, OfManyLayersAreGiven) {
  if (!test::has_fixtures()) GTEST_SKIP() << "ANDIRON_FIXTURES is not set";
  const Json truth = forward_truth("mixed_state_dict.pt");
  for (const bool zero_copy : {false, true}) {
    MixedNet net;
    const auto store = PytorchStore::from_file(torch_folder + "mixed_state_dict.pt")
                           .map_indices_contiguous(false)
                           .zero_copy(zero_copy);
    const auto loaded = load_from(net, store);
    ASSERT_TRUE(loaded.ok()) << loaded.error();
    EXPECT_TRUE(loaded->missing.empty());
    expect_as_pytorch(net.head.forward(even_steps({2, 6})), truth.at("head"));
    expect_as_pytorch(net.ln.forward(even_steps({2, 6})), truth.at("ln"));
    expect_as_pytorch(forward_through(net.fc, even_steps({1, 3, 5, 5})), truth.at("fc"));
    expect_as_pytorch(net.norm.forward(even_steps({2, 2, 3, 3})), truth.at("norm"));
    expect_as_pytorch(net.gn.forward(even_steps({2, 2, 3})), truth.at("gn"));
    expect_as_pytorch(net.tconv.forward(even_steps({1, 2, 3, 3})), truth.at("tconv"));
    expect_as_pytorch(net.prelu.forward(even_steps({1, 2, 3})), truth.at("prelu"));
    expect_as_pytorch(net.conv1.forward(even_steps({1, 3, 7})), truth.at("conv1"));
    expect_as_pytorch(net.conv3.forward(even_steps({1, 1, 3, 3, 3})), truth.at("conv3"));
    expect_as_pytorch(net.lstm.forward(even_steps({4, 2, 6})), truth.at("lstm"));
    expect_as_pytorch(net.gru.forward(even_steps({4, 2, 6})), truth.at("gru"));
    // PyTorch's attention has time first.
    const Result<Tensor> turned = swap_dims(even_steps({4, 2, 6}), 0, 1);
    expect_as_pytorch(swap_dims(net.mha.forward(turned), 0, 1), truth.at("mha"));
    const Tensor indices = test::tensor_of<std::int64_t>({2, 3}, {0, 3, 8, 1, 1, 2});
    expect_as_pytorch(net.embed.forward(indices), truth.at("embed"));
  }
}

}  // namespace
}  // namespace andiron::nn
