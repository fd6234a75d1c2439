// SPDX-License-Identifier: MIT OR Apache-2.0
// Layers that PyTorch keeps otherwise, under the names of its state dicts, there and back.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/nn/attention.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/recurrent.h"
#include "andiron/nn/transformer.h"
#include "tests/adapters/list_lookup.h"

namespace andiron {
namespace {

using test::counting;
using test::expect_same;
using test::Floats;
using test::floats_of;
using Names = std::vector<std::string>;

// A model with one layer. Parameters that are not set take what they get.
template <class Layer>
struct Model {
  Layer layer = {};
  ANDIRON_MODULE(Model, layer)
};

// A state dict. No two tensors have a number in common.
class StateDict {
 public:
  StateDict& add(const std::string& name, const Shape& shape) {
    tensors_.push_back(counting("layer." + name, shape, next_));
    next_ += static_cast<float>(shape.element_count().value());
    return *this;
  }
  StateDict& add_linear(const std::string& name, std::uint64_t in, std::uint64_t out,
                        bool bias = true) {
    add(name + ".weight", {out, in});
    return bias ? add(name + ".bias", {out}) : *this;
  }
  StateDict& add_norm(const std::string& name, std::uint64_t size) {
    return add(name + ".weight", {size}).add(name + ".bias", {size});
  }
  StateDict& add_attention(const std::string& name, std::uint64_t size, bool bias = true) {
    add(name + "in_proj_weight", {3 * size, size});
    if (bias) add(name + "in_proj_bias", {3 * size});
    return add_linear(name + "out_proj", size, size, bias);
  }
  const Snapshots& tensors() const { return tensors_; }

 private:
  Snapshots tensors_;
  float next_ = 0;
};

// Loads the file, which must feed the whole model and be used up, and expects it from a save.
template <class Layer>
void expect_round_trip(Model<Layer>& model, const Snapshots& file) {
  const auto applied =
      apply(model, file, {.adapter = PyTorchToBurnAdapter(), .allow_unused = false});
  ASSERT_TRUE(applied) << applied.error().to_string();
  const auto saved = collect(model, {.adapter = BurnToPyTorchAdapter()});
  ASSERT_TRUE(saved) << saved.error().to_string();
  ASSERT_EQ(saved->size(), file.size());
  for (const TensorSnapshot& tensor : file) {
    const TensorSnapshot* found = saved->find(tensor.full_path());
    ASSERT_NE(found, nullptr) << tensor.full_path();
    expect_same(*found, tensor);
  }
}

// Part `part` of `parts` of a tensor of the file, as the module has it.
Floats part_of(const Snapshots& file, const std::string& name, std::uint64_t part,
               std::uint64_t parts) {
  const TensorSnapshot& whole = *file.find("layer." + name);
  const auto rows = static_cast<std::int64_t>(whole.shape()[0] / parts);
  const auto first = static_cast<std::int64_t>(part) * rows;
  const TensorSnapshot cut = whole.slice(0, first, first + rows).value();
  return floats_of(cut.shape().rank() == 2 ? cut.transpose(0, 1).value() : cut);
}

Floats values_of(const Param& param) { return param.val().value().to_vector<float>().value(); }

nn::Linear unset_linear(bool bias) { return bias ? nn::Linear{.bias = Param()} : nn::Linear{}; }

// ---- Recurrent layers ----

nn::GateController gate(bool bias) { return {unset_linear(bias), unset_linear(bias)}; }
nn::Lstm lstm(bool bias) { return {gate(bias), gate(bias), gate(bias), gate(bias)}; }
nn::Gru gru(bool bias) { return {gate(bias), gate(bias), gate(bias)}; }

template <class Layer>
Layer recurrent(bool bias);
template <>
nn::Lstm recurrent(bool bias) {
  return lstm(bias);
}
template <>
nn::Gru recurrent(bool bias) {
  return gru(bias);
}
template <>
nn::BiLstm recurrent(bool bias) {
  return {lstm(bias), lstm(bias)};
}
template <>
nn::BiGru recurrent(bool bias) {
  return {gru(bias), gru(bias)};
}

// torch.nn.LSTM and torch.nn.GRU.
struct RecurrentKind {
  std::uint64_t gates;
  bool is_bidirectional = false;
};
constexpr RecurrentKind lstm_kind{4};
constexpr RecurrentKind gru_kind{3};
constexpr RecurrentKind bi_lstm_kind{4, true};
constexpr RecurrentKind bi_gru_kind{3, true};

Snapshots recurrent_file(RecurrentKind kind, std::size_t layers, bool bias) {
  constexpr std::uint64_t inputs = 3;
  constexpr std::uint64_t hidden = 2;
  StateDict file;
  for (std::size_t i = 0; i < layers; ++i) {
    for (const std::string suffix : {"", "_reverse"}) {
      if (!suffix.empty() && !kind.is_bidirectional) break;
      const std::string layer = "_l" + std::to_string(i) + suffix;
      const std::uint64_t rows = kind.gates * hidden;
      file.add("weight_ih" + layer,
               {rows, i == 0 ? inputs : hidden * (kind.is_bidirectional ? 2 : 1)});
      file.add("weight_hh" + layer, {rows, hidden});
      if (bias) file.add("bias_ih" + layer, {rows}).add("bias_hh" + layer, {rows});
    }
  }
  return file.tensors();
}

template <class Layer>
void expect_recurrent_round_trips(RecurrentKind kind) {
  for (const bool bias : {true, false}) {
    SCOPED_TRACE(bias);
    Model<Layer> one{recurrent<Layer>(bias)};
    expect_round_trip(one, recurrent_file(kind, 1, bias));
    for (const std::size_t layers : {1U, 2U, 12U}) {
      SCOPED_TRACE(layers);
      Model<nn::RecurrentStack<Layer>> stack;
      for (std::size_t i = 0; i < layers; ++i) {
        stack.layer.layers.push_back(recurrent<Layer>(bias));
      }
      expect_round_trip(stack, recurrent_file(kind, layers, bias));
    }
  }
}

TEST(PyTorchLayers, MoveLstm) { expect_recurrent_round_trips<nn::Lstm>(lstm_kind); }
TEST(PyTorchLayers, MoveGru) { expect_recurrent_round_trips<nn::Gru>(gru_kind); }
TEST(PyTorchLayers, MoveBiLstm) { expect_recurrent_round_trips<nn::BiLstm>(bi_lstm_kind); }
TEST(PyTorchLayers, MoveBiGru) { expect_recurrent_round_trips<nn::BiGru>(bi_gru_kind); }

TEST(PyTorchLayers, KnowTheOrderOfTheGatesOfLstm) {
  const Snapshots file = recurrent_file(lstm_kind, 1, true);
  Model<nn::Lstm> model{lstm(true)};
  apply(model, file, {.adapter = PyTorchToBurnAdapter()}).value();
  const nn::Lstm& layer = model.layer;
  const nn::GateController* gates[] = {&layer.input_gate, &layer.forget_gate, &layer.cell_gate,
                                       &layer.output_gate};
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(gates[i]->input_transform.weight.shape(), (Shape{3, 2}));
    EXPECT_EQ(values_of(gates[i]->input_transform.weight), part_of(file, "weight_ih_l0", i, 4));
    EXPECT_EQ(values_of(gates[i]->hidden_transform.weight), part_of(file, "weight_hh_l0", i, 4));
    EXPECT_EQ(values_of(*gates[i]->input_transform.bias), part_of(file, "bias_ih_l0", i, 4));
    EXPECT_EQ(values_of(*gates[i]->hidden_transform.bias), part_of(file, "bias_hh_l0", i, 4));
  }
}

TEST(PyTorchLayers, KnowTheOrderOfTheGatesOfGru) {
  const Snapshots file = recurrent_file(gru_kind, 1, true);
  Model<nn::Gru> model{gru(true)};
  apply(model, file, {.adapter = PyTorchToBurnAdapter()}).value();
  const nn::GateController* gates[] = {&model.layer.reset_gate, &model.layer.update_gate,
                                       &model.layer.new_gate};
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(values_of(gates[i]->input_transform.weight), part_of(file, "weight_ih_l0", i, 3));
    EXPECT_EQ(values_of(*gates[i]->hidden_transform.bias), part_of(file, "bias_hh_l0", i, 3));
  }
}

TEST(PyTorchLayers, FeedEachLayerOfAStackFromItsOwnNumber) {
  const Snapshots file = recurrent_file(bi_lstm_kind, 12, true);
  Model<nn::BiLstmStack> model;
  model.layer.layers.assign(12, recurrent<nn::BiLstm>(true));
  apply(model, file, {.adapter = PyTorchToBurnAdapter()}).value();
  for (std::size_t i = 0; i < 12; ++i) {
    const nn::BiLstm& layer = model.layer.layers[i];
    const std::string number = std::to_string(i);
    EXPECT_EQ(values_of(layer.forward_lstm.cell_gate.hidden_transform.weight),
              part_of(file, "weight_hh_l" + number, 2, 4));
    EXPECT_EQ(values_of(layer.reverse_lstm.cell_gate.hidden_transform.weight),
              part_of(file, "weight_hh_l" + number + "_reverse", 2, 4));
  }
}

TEST(PyTorchLayers, SaveTheLayersOfAStackInTheirOrder) {
  Model<nn::GruStack> model;
  model.layer.layers.assign(11, gru(false));
  apply(model, recurrent_file(gru_kind, 11, false), {.adapter = PyTorchToBurnAdapter()}).value();
  const Names names = collect(model, {.adapter = BurnToPyTorchAdapter()}).value().keys();
  EXPECT_EQ(Names(names.end() - 4, names.end()),
            (Names{"layer.weight_ih_l9", "layer.weight_hh_l9", "layer.weight_ih_l10",
                   "layer.weight_hh_l10"}));
}

TEST(PyTorchLayers, LoadRecurrentLayersThatWereSavedOneByOne) {
  // A file of a ModuleList of single layers, and one with a tensor for each gate.
  Snapshots one_by_one;
  Snapshots apart;
  for (const std::string number : {"0", "1"}) {
    for (const std::string kind : {"ih", "hh"}) {
      one_by_one.push_back(counting("layer.layers." + number + ".weight_" + kind + "_l0", {8, 3}));
      one_by_one.push_back(counting("layer.layers." + number + ".bias_" + kind + "_l0", {8}));
    }
    for (const std::string gate : {"input", "forget", "cell", "output"}) {
      for (const std::string part : {"input", "hidden"}) {
        const std::string path = "layer.layers." + number + "." + gate + "_gate." + part;
        apart.push_back(counting(path + "_transform.weight", {2, 3}));
        apart.push_back(counting(path + "_transform.bias", {2}));
      }
    }
  }
  for (const Snapshots& file : {one_by_one, apart}) {
    Model<nn::LstmStack> model;
    model.layer.layers.assign(2, lstm(true));
    const auto applied =
        apply(model, file, {.adapter = PyTorchToBurnAdapter(), .allow_unused = false});
    ASSERT_TRUE(applied) << applied.error().to_string();
    EXPECT_EQ(model.layer.layers[1].cell_gate.input_transform.weight.shape(), (Shape{3, 2}));
  }
}

TEST(PyTorchLayers, LoadCellsWhichHaveNoNumber) {
  Snapshots file;
  for (TensorSnapshot tensor : recurrent_file(lstm_kind, 1, true)) {
    const std::string& name = tensor.full_path();
    tensor.set_full_path(name.substr(0, name.size() - 3));
    file.push_back(std::move(tensor));
  }
  Model<nn::Lstm> cell{lstm(true)};
  apply(cell, file, {.adapter = PyTorchToBurnAdapter(), .allow_unused = false}).value();
  Model<nn::Lstm> layer{lstm(true)};
  apply(layer, recurrent_file(lstm_kind, 1, true), {.adapter = PyTorchToBurnAdapter()}).value();
  const Param& weight = cell.layer.cell_gate.hidden_transform.weight;
  EXPECT_EQ(values_of(weight), values_of(layer.layer.cell_gate.hidden_transform.weight));
}

// ---- Attention ----

nn::MultiHeadAttention attention(bool bias) {
  return {unset_linear(bias), unset_linear(bias), unset_linear(bias), unset_linear(bias)};
}

TEST(PyTorchLayers, MoveMultiHeadAttention) {
  for (const bool bias : {true, false}) {
    const Snapshots file = StateDict().add_attention("", 4, bias).tensors();
    Model<nn::MultiHeadAttention> model{attention(bias)};
    expect_round_trip(model, file);
    EXPECT_EQ(values_of(model.layer.query.weight), part_of(file, "in_proj_weight", 0, 3));
    EXPECT_EQ(values_of(model.layer.key.weight), part_of(file, "in_proj_weight", 1, 3));
    EXPECT_EQ(values_of(model.layer.value.weight), part_of(file, "in_proj_weight", 2, 3));
    EXPECT_EQ(values_of(model.layer.output.weight), part_of(file, "out_proj.weight", 0, 1));
    if (!bias) continue;
    EXPECT_EQ(values_of(*model.layer.key.bias), part_of(file, "in_proj_bias", 1, 3));
  }
}

TEST(PyTorchLayers, LoadAttentionWhoseKeysAndValuesHaveWidthsOfTheirOwn) {
  const Snapshots file = StateDict()
                             .add("q_proj_weight", {4, 4})
                             .add("k_proj_weight", {4, 3})
                             .add("v_proj_weight", {4, 2})
                             .add("in_proj_bias", {12})
                             .add_linear("out_proj", 4, 4)
                             .tensors();
  Model<nn::MultiHeadAttention> model{attention(true)};
  apply(model, file, {.adapter = PyTorchToBurnAdapter(), .allow_unused = false}).value();
  EXPECT_EQ(model.layer.key.weight.shape(), (Shape{3, 4}));
  EXPECT_EQ(values_of(model.layer.value.weight), part_of(file, "v_proj_weight", 0, 1));
  // Such weights have no place in one tensor.
  const Error error = collect(model, {.adapter = BurnToPyTorchAdapter()}).error();
  EXPECT_EQ(error.tensor, "layer.in_proj_weight");
  EXPECT_EQ(error.code, ErrorCode::shape_mismatch);
  // Back into the file there is.
  test::ListLookup lookup(file);
  const Snapshots saved = BurnToPyTorchAdapter().save_back(collect(model).value(), lookup).value();
  ASSERT_EQ(saved.size(), file.size());
  for (const TensorSnapshot& tensor : file) {
    ASSERT_NE(saved.find(tensor.full_path()), nullptr) << tensor.full_path();
    expect_same(*saved.find(tensor.full_path()), tensor);
  }
}

TEST(PyTorchLayers, LoadAttentionWhoseProjectionsAreApart) {
  const Snapshots file = StateDict()
                             .add_linear("query", 4, 4)
                             .add_linear("key", 4, 4)
                             .add_linear("value", 4, 4)
                             .add_linear("output", 4, 4)
                             .tensors();
  Model<nn::MultiHeadAttention> model{attention(true)};
  apply(model, file, {.adapter = PyTorchToBurnAdapter(), .allow_unused = false}).value();
  EXPECT_EQ(values_of(model.layer.key.weight), part_of(file, "key.weight", 0, 1));
  EXPECT_EQ(values_of(*model.layer.output.bias), part_of(file, "output.bias", 0, 1));
}

TEST(PyTorchLayers, DoNotTransposeConv1D) {
  Model<nn::Conv1D> model;
  expect_round_trip(model, StateDict().add("weight", {2, 3}).tensors());
  EXPECT_EQ(model.layer.weight.shape(), (Shape{2, 3}));
}

// ---- Transformers ----

nn::LayerNorm unset_norm() {
  nn::LayerNorm norm;
  norm.beta = Param();
  return norm;
}

nn::PositionWiseFeedForward feed_forward() { return {unset_linear(true), unset_linear(true)}; }

nn::TransformerEncoder encoder(std::size_t layers, bool norm_first) {
  nn::TransformerEncoder encoder;
  for (std::size_t i = 0; i < layers; ++i) {
    encoder.layers.push_back(
        {attention(true), feed_forward(), unset_norm(), unset_norm(), norm_first});
  }
  encoder.norm = unset_norm();
  return encoder;
}

nn::TransformerDecoder decoder(std::size_t layers, bool norm_first) {
  nn::TransformerDecoder decoder;
  for (std::size_t i = 0; i < layers; ++i) {
    decoder.layers.push_back({attention(true), attention(true), feed_forward(), unset_norm(),
                              unset_norm(), unset_norm(), norm_first});
  }
  decoder.norm = unset_norm();
  return decoder;
}

void add_feed_forward(StateDict& file, const std::string& layer) {
  file.add_linear(layer + "linear1", 4, 6).add_linear(layer + "linear2", 6, 4);
}

Snapshots encoder_file(std::size_t layers) {
  StateDict file;
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".";
    file.add_attention(layer + "self_attn.", 4);
    add_feed_forward(file, layer);
    file.add_norm(layer + "norm1", 4).add_norm(layer + "norm2", 4);
  }
  return file.add_norm("norm", 4).tensors();
}

Snapshots decoder_file(std::size_t layers) {
  StateDict file;
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string layer = "layers." + std::to_string(i) + ".";
    file.add_attention(layer + "self_attn.", 4).add_attention(layer + "multihead_attn.", 4);
    add_feed_forward(file, layer);
    for (const char* name : {"norm1", "norm2", "norm3"}) file.add_norm(layer + name, 4);
  }
  return file.add_norm("norm", 4).tensors();
}

TEST(PyTorchLayers, MoveTransformerEncoders) {
  for (const bool norm_first : {false, true}) {
    const Snapshots file = encoder_file(11);
    Model<nn::TransformerEncoder> model{encoder(11, norm_first)};
    expect_round_trip(model, file);
    const nn::TransformerEncoderLayer& last = model.layer.layers.back();
    EXPECT_EQ(values_of(last.mha.value.weight),
              part_of(file, "layers.10.self_attn.in_proj_weight", 2, 3));
    EXPECT_EQ(values_of(last.pwff.linear_inner.weight),
              part_of(file, "layers.10.linear1.weight", 0, 1));
    EXPECT_EQ(values_of(last.pwff.linear_outer.weight),
              part_of(file, "layers.10.linear2.weight", 0, 1));
    // PyTorch's norm1 goes with attention.
    EXPECT_EQ(values_of((norm_first ? last.norm_2 : last.norm_1).gamma),
              part_of(file, "layers.10.norm1.weight", 0, 1));
    EXPECT_EQ(values_of(*(norm_first ? last.norm_1 : last.norm_2).beta),
              part_of(file, "layers.10.norm2.bias", 0, 1));
  }
}

TEST(PyTorchLayers, MoveTransformerDecoders) {
  for (const bool norm_first : {false, true}) {
    const Snapshots file = decoder_file(2);
    Model<nn::TransformerDecoder> model{decoder(2, norm_first)};
    expect_round_trip(model, file);
    const nn::TransformerDecoderLayer& last = model.layer.layers.back();
    EXPECT_EQ(values_of(last.cross_attn.key.weight),
              part_of(file, "layers.1.multihead_attn.in_proj_weight", 1, 3));
    EXPECT_EQ(values_of(last.self_attn.output.weight),
              part_of(file, "layers.1.self_attn.out_proj.weight", 0, 1));
    const nn::LayerNorm* norms[] = {&last.norm_1, &last.norm_2, &last.norm_3};
    if (norm_first) {
      norms[0] = &last.norm_3;
      norms[1] = &last.norm_1;
      norms[2] = &last.norm_2;
    }
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(values_of(norms[i]->gamma),
                part_of(file, "layers.1.norm" + std::to_string(i + 1) + ".weight", 0, 1));
    }
  }
}

TEST(PyTorchLayers, LoadTransformersUnderBurnsNames) {
  for (const bool norm_first : {false, true}) {
    Model<nn::TransformerDecoder> model{decoder(2, norm_first)};
    apply(model, decoder_file(2), {.adapter = PyTorchToBurnAdapter()}).value();
    // The file of a framework that lays weights out as PyTorch does.
    Snapshots file;
    for (const TensorSnapshot& tensor : collect(model).value()) {
      file.push_back(tensor.container().is("Linear") && tensor.shape().rank() == 2
                         ? tensor.transpose(0, 1).value()
                         : tensor);
    }
    Model<nn::TransformerDecoder> other{decoder(2, norm_first)};
    apply(other, file, {.adapter = PyTorchToBurnAdapter(), .allow_unused = false}).value();
    test::expect_list(collect(other).value(), collect(model).value());
  }
}

// ---- What goes wrong, and what else there is ----

template <class Layer>
Error error_of_part(Model<Layer> model, const Snapshots& file, const char* regex) {
  apply(model, file, {.adapter = PyTorchToBurnAdapter()}).value();
  return collect(model,
                 {.filter = PathFilter().with_regex(regex), .adapter = BurnToPyTorchAdapter()})
      .error();
}

TEST(PyTorchLayers, NameWhatAFilterLeftOutOfAJoinedTensor) {
  const Error attends = error_of_part(Model<nn::MultiHeadAttention>{attention(true)},
                                      StateDict().add_attention("", 4).tensors(), "query|value");
  EXPECT_EQ(attends.code, ErrorCode::adapter_failed);
  EXPECT_EQ(attends.tensor, "layer.in_proj_weight");
  EXPECT_NE(attends.message.find("'layer.key.weight' is missing"), std::string::npos)
      << attends.message;

  Model<nn::LstmStack> stack;
  stack.layer.layers.assign(12, lstm(true));
  const Error layer = error_of_part(stack, recurrent_file(lstm_kind, 12, true),
                                    R"(layers\.(3\.|11\.(input|forget|output)))");
  EXPECT_EQ(layer.code, ErrorCode::adapter_failed);
  EXPECT_EQ(layer.tensor, "layer.weight_ih_l11");
  EXPECT_NE(layer.message.find("'layer.layers.11.cell_gate.input_transform.weight' is missing"),
            std::string::npos)
      << layer.message;
}

TEST(PyTorchLayers, SaveSomeLayersOfAStack) {
  Model<nn::LstmStack> stack;
  stack.layer.layers.assign(12, lstm(false));
  apply(stack, recurrent_file(lstm_kind, 12, false), {.adapter = PyTorchToBurnAdapter()}).value();
  EXPECT_EQ(collect(stack, {.filter = PathFilter().with_regex(R"(layers\.1\.)"),
                            .adapter = BurnToPyTorchAdapter()})
                .value()
                .keys(),
            (Names{"layer.weight_ih_l1", "layer.weight_hh_l1"}));
}

TEST(PyTorchLayers, NameATensorThatCannotBeTakenApart) {
  Model<nn::LstmStack> stack;
  stack.layer.layers.assign(1, lstm(false));
  const Error error =
      apply(stack, StateDict().add("weight_ih_l0", {7, 2}).add("weight_hh_l0", {8, 2}).tensors(),
            {.adapter = PyTorchToBurnAdapter()})
          .error();
  EXPECT_EQ(error.code, ErrorCode::shape_mismatch);
  EXPECT_NE(error.to_string().find("layer.weight_ih_l0"), std::string::npos) << error.to_string();
}

TEST(PyTorchLayers, AreStoredInHalfPrecisionWhetherJoinedOrNot) {
  Model<nn::TransformerDecoder> model{decoder(1, true)};
  apply(model, decoder_file(1), {.adapter = PyTorchToBurnAdapter()}).value();
  Model<nn::BiGruStack> stack;
  stack.layer.layers.assign(2, recurrent<nn::BiGru>(true));
  apply(stack, recurrent_file(bi_gru_kind, 2, true), {.adapter = PyTorchToBurnAdapter()}).value();
  const AnyAdapter to = BurnToPyTorchAdapter().chain(HalfPrecisionAdapter());
  const AnyAdapter from = HalfPrecisionAdapter().chain(PyTorchToBurnAdapter());
  const auto expect_halves = [&](auto& one) {
    const Snapshots file = collect(one, {.adapter = to}).value();
    for (const TensorSnapshot& tensor : file) {
      EXPECT_EQ(tensor.dtype(), DType::f16) << tensor.full_path();
    }
    apply(one, file, {.adapter = from, .allow_unused = false}).value();
    for (const TensorSnapshot& tensor : collect(one).value()) {
      EXPECT_EQ(tensor.dtype(), DType::f32) << tensor.full_path();
    }
  };
  expect_halves(model);
  expect_halves(stack);
}

// Whisper's own attention has this name, and no bias of its key.
struct MultiHeadAttention {
  nn::Linear query = nn::LinearConfig(4, 4).init();
  nn::Linear key = nn::LinearConfig(4, 4).with_bias(false).init();
  nn::Linear value = nn::LinearConfig(4, 4).init();
  ANDIRON_MODULE(MultiHeadAttention, query, key, value)
};

TEST(PyTorchLayers, OfUsersKeepTheirTensorsApart) {
  MultiHeadAttention attention;
  const Snapshots saved = BurnToPyTorchAdapter().save(collect(attention).value()).value();
  std::vector<std::string> names;
  for (const TensorSnapshot& tensor : saved) names.push_back(tensor.full_path());
  EXPECT_EQ(names, (std::vector<std::string>{"query.weight", "query.bias", "key.weight",
                                             "value.weight", "value.bias"}));
}

}  // namespace
}  // namespace andiron
