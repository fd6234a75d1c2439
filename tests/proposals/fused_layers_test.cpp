// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/fused_layers.h"

#include <gtest/gtest.h>

#include <string>

#include "andiron/nn/attention.h"
#include "andiron/nn/embedding.h"
#include "andiron/nn/linear.h"
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

// A model around a recurrent layer, in a file with names of its own: "emb", "rnn" and "out".
template <class Layer>
struct Tagger {
  nn::Embedding tokens = nn::EmbeddingConfig(11, 3).init();
  Layer lstm;
  nn::Linear classifier = nn::LinearConfig(5, 7).init();
  ANDIRON_MODULE(Tagger, tokens, lstm, classifier)
};
template <class Layer>
Archive renamed_file(Tagger<Layer>& model) {
  const Archive file = pytorch_file(model, "");
  return apply_names(file, {.remapper = KeyRemapper()
                                            .add_pattern("^tokens", "emb")
                                            .add_pattern("^lstm", "rnn")
                                            .add_pattern("^classifier", "out")})
      .value();
}

// Expects that the first proposal loads all of a file, and says nothing of parameters left out.
template <class Layer>
void expect_whole(Tagger<Layer> model) {
  auto store = SafetensorsStore::from_bytes(write_to_memory(renamed_file(model)).value());
  Tagger<Layer> empty = model;
  const Result<ApplyResult> refused = load_from(empty, store);
  ASSERT_FALSE(refused.ok());
  ASSERT_FALSE(refused.error().report->proposals.empty());
  const Proposal& first = refused.error().report->proposals.front();
  EXPECT_EQ(first.matched, first.wanted) << first.code;
  EXPECT_EQ(first.code.find("exclude"), std::string::npos) << first.code;
  store.apply(first);
  const Result<ApplyResult> loaded = load_from(empty, store);
  EXPECT_TRUE(loaded.ok()) << first.code << (loaded ? "" : loaded.error().to_string());
}

TEST(FusedLayers, OfRecurrentNetworksAreSeenBesideLayersWithOtherNames) {
  expect_whole<nn::Lstm>({.lstm = nn::LstmConfig(3, 5).init()});
  expect_whole<nn::Gru>({.lstm = nn::GruConfig(3, 5).init()});
  expect_whole<nn::LstmStack>({.lstm = nn::LstmConfig(3, 5).init_stack(2)});
  expect_whole<nn::BiLstm>({.lstm = nn::BiLstmConfig(3, 5).init()});
}

struct Translator {
  nn::Embedding words = nn::EmbeddingConfig(9, 4).init();
  nn::TransformerEncoder encoder = nn::TransformerEncoderConfig(4, 8, 2, 2).init();
  nn::MultiHeadAttention pool = nn::MultiHeadAttentionConfig(4, 2).init();
  ANDIRON_MODULE(Translator, words, encoder, pool)
};

TEST(FusedLayers, AreNeverReadWithTheAdapterForSaving) {
  Translator model;
  const Archive file =
      apply_names(
          pytorch_file(model, "net."),
          {.remapper = KeyRemapper().add_pattern("words", "embed").add_pattern("pool", "mha")})
          .value();
  for (const bool is_set : {true, false}) {
    auto store = SafetensorsStore::from_bytes(write_to_memory(file).value());
    if (is_set) store.with_from_adapter(PyTorchToBurnAdapter());
    const Result<ApplyResult> refused = load_from(model, store);
    ASSERT_FALSE(refused.ok());
    const std::vector<Proposal>& proposals = refused.error().report->proposals;
    ASSERT_FALSE(proposals.empty());
    EXPECT_EQ(proposals.front().matched, proposals.front().wanted) << proposals.front().code;
    for (const Proposal& one : proposals) {
      EXPECT_EQ(one.code.find("BurnToPyTorch"), std::string::npos) << one.code;
      const bool names_one = one.code.find("PyTorchToBurnAdapter") != std::string::npos;
      EXPECT_NE(names_one, is_set) << one.code;
    }
  }
}

TEST(FusedLayers, ThatDoNotFitAreNotProposed) {
  Net net;
  const Archive file = pytorch_file(net, "");
  nn::MultiHeadAttention wider = nn::MultiHeadAttentionConfig(8, 2).init();
  const std::string code = first_code(wider, file);
  EXPECT_EQ(code.find("PyTorchToBurnAdapter"), std::string::npos) << code;
}

TEST(FusedLayers, OfAGruForAnLstmAreToldByTheirGates) {
  nn::Gru gru = nn::GruConfig(10, 16, true).init();
  nn::LstmStack lstm = nn::LstmConfig(10, 16, true).init_stack(1);
  const Result<ApplyResult> refused =
      apply(lstm, pytorch_file(gru, ""), {.adapter = PyTorchToBurnAdapter()});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().report->notes.back(),
            "no settings make it fit: the recurrent layers of the source have 3 gates, as a GRU's, "
            "those of the module 4, as an LSTM's");
}

}  // namespace
}  // namespace andiron
