// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/fused_layers.h"

#include <gtest/gtest.h>

#include <string>

#include "andiron/nn/attention.h"
#include "andiron/nn/recurrent.h"
#include "andiron/nn/transformer.h"
#include "andiron/store.h"
#include "andiron/stores.h"
#include "andiron/write.h"

namespace andiron {
namespace {

// A model as PyTorch has it, below a prefix, in a file that does not say who wrote it.
template <class Model>
Archive pytorch_file(Model& model, const std::string& prefix) {
  Archive file;
  const Snapshots tensors = BurnToPyTorchAdapter().save(collect(model).value()).value();
  for (const TensorSnapshot& tensor : tensors) {
    TensorSnapshot moved = tensor;
    moved.set_full_path(prefix + tensor.full_path());
    file.add(std::move(moved)).value();
  }
  return file;
}

// The first proposal for loading the file without an adapter.
template <class Model>
std::string first_code(Model& model, const Archive& file) {
  auto store = SafetensorsStore::from_bytes(write_to_memory(file).value());
  const Result<ApplyResult> result = load_from(model, store);
  if (result) return "loaded";
  const std::vector<Proposal>& proposals = result.error().report->proposals;
  return proposals.empty() ? "nothing" : proposals.front().code;
}

struct Net {
  nn::MultiHeadAttention attention = nn::MultiHeadAttentionConfig(4, 2).init();
  nn::LayerNorm norm = nn::LayerNormConfig(4).init();
  ANDIRON_MODULE(Net, attention, norm)
};

TEST(FusedLayers, OfAttentionAreProposedWithTheAdapterOfPyTorch) {
  Net net;
  EXPECT_EQ(first_code(net, pytorch_file(net, "")), ".with_from_adapter(PyTorchToBurnAdapter())");
}

TEST(FusedLayers, BelowAPrefixAreProposedWithIt) {
  Net net;
  const std::string code = first_code(net, pytorch_file(net, "module.net."));
  EXPECT_NE(code.find(".with_from_adapter(PyTorchToBurnAdapter())"), std::string::npos) << code;
  EXPECT_NE(code.find("module.net"), std::string::npos) << code;
  EXPECT_EQ(code.find("split_tensors"), std::string::npos) << code;
}

TEST(FusedLayers, OfRecurrentStacksAndTransformersAreFound) {
  nn::LstmStack lstm = nn::LstmConfig(3, 5).init_stack(2);
  const std::string of_lstm = first_code(lstm, pytorch_file(lstm, "encoder.rnn."));
  EXPECT_NE(of_lstm.find("PyTorchToBurnAdapter"), std::string::npos) << of_lstm;
  nn::TransformerEncoder encoder = nn::TransformerEncoderConfig(4, 4, 2, 2).init();
  const std::string of_encoder = first_code(encoder, pytorch_file(encoder, "module."));
  EXPECT_NE(of_encoder.find("PyTorchToBurnAdapter"), std::string::npos) << of_encoder;
}

struct Wrapped {
  nn::TransformerEncoder body =
      nn::TransformerEncoderConfig(4, 4, 2, 2).with_norm_first(true).init();
  ANDIRON_MODULE(Wrapped, body)
};

TEST(FusedLayers, BelowAPrefixOfTheModuleAreProposedWithIt) {
  Wrapped model;
  const Archive file = pytorch_file(model.body, "");
  auto store = SafetensorsStore::from_bytes(write_to_memory(file).value())
                   .with_from_adapter(PyTorchToBurnAdapter());
  const Result<ApplyResult> result = load_from(model, store);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().report->proposals.front().code,
            ".with_key_remapping(R\"(^)\", \"body.\")");
}

TEST(FusedLayers, ThatDoNotFitAreNotProposed) {
  Net net;
  const Archive file = pytorch_file(net, "");
  nn::MultiHeadAttention wider = nn::MultiHeadAttentionConfig(8, 2).init();
  const std::string code = first_code(wider, file);
  EXPECT_EQ(code.find("PyTorchToBurnAdapter"), std::string::npos) << code;
}

}  // namespace
}  // namespace andiron
