// SPDX-License-Identifier: MIT OR Apache-2.0
// Recurrent layers: LSTM and GRU, in one or both directions, alone or stacked.
//
//   nn::BiLstmStack rnn = nn::BiLstmConfig(40, 128, true).init_stack(2);
//   Result<Tensor> states = rnn.forward(frames);   // [batch, time, 40] -> [batch, time, 256]
//
// forward() takes [batch, time, d_input], or [time, batch, d_input] unless batch_first, and returns
// the hidden state after each step, f32 or f64 as the input. It starts with zeros;
// forward_with_state() starts with a state and also returns the last one. Both return an input that
// is an error, and fail with ShapeMismatch if shapes do not fit, and with the errors of val(). Link
// andiron::nn.
//
// PyTorch keeps the gates of a layer in one tensor (weight_ih_l0 ...). Its adapters cut and join
// them. A single layer is PyTorch's LSTM with num_layers=1, or an LSTMCell or GRUCell (weight_ih);
// a stack has any number of layers.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/module.h"
#include "andiron/nn/activation.h"
#include "andiron/nn/initializer.h"
#include "andiron/nn/linear.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// What a recurrent layer returns: the hidden state after each step, and the last state.
template <class State>
struct RecurrentOutput {
  Tensor output;
  State state;
};

/// The two products of a gate: of the input and of the hidden state.
struct GateController {
  Linear input_transform = {};
  Linear hidden_transform = {};

  ANDIRON_MODULE(GateController, input_transform, hidden_transform)
};

/// [batch, d_hidden] each; [2, batch, d_hidden] of a BiLstm, forward first.
struct LstmState {
  Tensor cell;
  Tensor hidden;
};

/// Long short-term memory.
struct Lstm {
  using State = LstmState;

  GateController input_gate = {};
  GateController forget_gate = {};
  GateController output_gate = {};
  GateController cell_gate = {};
  std::uint64_t d_hidden = 0;
  bool batch_first = true;
  bool reverse = false;             ///< from the last step to the first
  std::optional<double> clip = {};  ///< keeps the cell's state within +-clip
  bool input_forget = false;        ///< forgets as much as it takes in; forget_gate is not used
  Activation gate_activation = Activation::sigmoid;
  Activation cell_activation = Activation::tanh;
  Activation hidden_activation = Activation::tanh;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  Result<RecurrentOutput<State>> forward_with_state(const Result<Tensor>& input,
                                                    const std::optional<State>& state = {}) const;
  /// Ours alone: PyTorch's rules must not take a user's struct of this name.
  static constexpr std::string_view module_kind() { return "nn.Lstm"; }
  ANDIRON_MODULE(Lstm, input_gate, forget_gate, output_gate, cell_gate)
};

/// Gated recurrent unit. Its state is the hidden state, [batch, d_hidden].
struct Gru {
  using State = Tensor;

  GateController update_gate = {};
  GateController reset_gate = {};
  GateController new_gate = {};
  std::uint64_t d_hidden = 0;
  bool reset_after = true;  ///< as in PyTorch; otherwise the reset gate acts before the product
  bool batch_first = true;
  bool reverse = false;
  std::optional<double> clip = {};  ///< keeps the hidden state within +-clip
  Activation gate_activation = Activation::sigmoid;
  Activation hidden_activation = Activation::tanh;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  Result<RecurrentOutput<State>> forward_with_state(const Result<Tensor>& input,
                                                    const std::optional<State>& state = {}) const;
  /// Ours alone: PyTorch's rules must not take a user's struct of this name.
  static constexpr std::string_view module_kind() { return "nn.Gru"; }
  ANDIRON_MODULE(Gru, update_gate, reset_gate, new_gate)
};

/// An Lstm from first to last and one from last to first. Their outputs are joined along the last
/// dimension, forward first.
struct BiLstm {
  using State = LstmState;

  Lstm forward_lstm = {};  ///< "forward" in paths, as in Burn
  Lstm reverse_lstm = {};  ///< "reverse" in paths
  bool batch_first = true;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  Result<RecurrentOutput<State>> forward_with_state(const Result<Tensor>& input,
                                                    const std::optional<State>& state = {}) const;
  /// Ours alone: PyTorch's rules must not take a user's struct of this name.
  static constexpr std::string_view module_kind() { return "nn.BiLstm"; }
  static void fields(auto& self, auto&& field) {
    field("forward", self.forward_lstm);
    field("reverse", self.reverse_lstm);
  }
};

/// The same of two Gru. Its state is [2, batch, d_hidden], forward first.
struct BiGru {
  using State = Tensor;

  Gru forward_gru = {};  ///< "forward" in paths, as in Burn
  Gru reverse_gru = {};  ///< "reverse" in paths
  bool batch_first = true;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  Result<RecurrentOutput<State>> forward_with_state(const Result<Tensor>& input,
                                                    const std::optional<State>& state = {}) const;
  /// Ours alone: PyTorch's rules must not take a user's struct of this name.
  static constexpr std::string_view module_kind() { return "nn.BiGru"; }
  static void fields(auto& self, auto&& field) {
    field("forward", self.forward_gru);
    field("reverse", self.reverse_gru);
  }
};

/// The kind of module that a stack of `Layer` is.
template <class Layer>
inline constexpr std::string_view stack_name = "";
template <>
inline constexpr std::string_view stack_name<Lstm> = "nn.LstmStack";
template <>
inline constexpr std::string_view stack_name<Gru> = "nn.GruStack";
template <>
inline constexpr std::string_view stack_name<BiLstm> = "nn.BiLstmStack";
template <>
inline constexpr std::string_view stack_name<BiGru> = "nn.BiGruStack";

/// Recurrent layers on top of each other: each takes the output of the one before.
template <class Layer>
struct RecurrentStack {
  using State = std::vector<typename Layer::State>;  ///< one for each layer

  std::vector<Layer> layers = {};

  Result<Tensor> forward(const Result<Tensor>& input) const;
  Result<RecurrentOutput<State>> forward_with_state(const Result<Tensor>& input,
                                                    const std::optional<State>& state = {}) const;
  static constexpr std::string_view module_kind() { return stack_name<Layer>; }
  static void fields(auto& self, auto&& field) { field("layers", self.layers); }
};
using LstmStack = RecurrentStack<Lstm>;
using GruStack = RecurrentStack<Gru>;
using BiLstmStack = RecurrentStack<BiLstm>;
using BiGruStack = RecurrentStack<BiGru>;

/// The settings that all recurrent layers have. Builders return a named config by reference, a
/// temporary by value.
template <class Self>
class RecurrentBuilder {
 public:
  /// For weights and biases. Default: Xavier normal with a gain of 1.
  ANDIRON_BUILDER(Self, with_initializer, (Initializer initializer), initializer_ = initializer)
  /// Whether the input is [batch, time, d_input], not [time, batch, d_input]. Default: true.
  ANDIRON_BUILDER(Self, with_batch_first, (bool batch_first), batch_first_ = batch_first)
  /// Keeps the state within +-clip. Default: no limit.
  ANDIRON_BUILDER(Self, with_clip, (std::optional<double> clip), clip_ = clip)
  /// Default: sigmoid.
  ANDIRON_BUILDER(Self, with_gate_activation, (Activation how), gate_activation_ = how)
  /// Default: tanh.
  ANDIRON_BUILDER(Self, with_hidden_activation, (Activation how), hidden_activation_ = how)

 private:
  friend Self;
  RecurrentBuilder(std::uint64_t d_input, std::uint64_t d_hidden, bool bias)
      : d_input_(d_input), d_hidden_(d_hidden), bias_(bias) {}

  std::uint64_t d_input_;
  std::uint64_t d_hidden_;
  bool bias_;
  Initializer initializer_ = Initializer::xavier_normal(1);
  bool batch_first_ = true;
  std::optional<double> clip_;
  Activation gate_activation_ = Activation::sigmoid;
  Activation hidden_activation_ = Activation::tanh;
};

/// The settings of Lstm and BiLstm.
template <class Self>
class LstmBuilder : public RecurrentBuilder<Self> {
 public:
  /// Whether it forgets as much as it takes in. Default: false.
  ANDIRON_BUILDER(Self, with_input_forget, (bool both), input_forget_ = both)
  /// Default: tanh.
  ANDIRON_BUILDER(Self, with_cell_activation, (Activation how), cell_activation_ = how)

 private:
  friend Self;
  using RecurrentBuilder<Self>::RecurrentBuilder;

  bool input_forget_ = false;
  Activation cell_activation_ = Activation::tanh;
};

/// Config of Lstm. For sizes that cannot be addressed, val() of the parameters fails with
/// InvalidArgument.
class LstmConfig : public LstmBuilder<LstmConfig> {
 public:
  LstmConfig(std::uint64_t d_input, std::uint64_t d_hidden, bool bias = true)
      : LstmBuilder(d_input, d_hidden, bias) {}

  /// Whether it goes from the last step to the first. Default: false.
  ANDIRON_BUILDER(LstmConfig, with_reverse, (bool reverse), reverse_ = reverse)

  Lstm init() const;
  /// As many layers; all but the first take d_hidden.
  LstmStack init_stack(std::uint64_t layers) const;

 private:
  bool reverse_ = false;
};

/// Config of BiLstm.
class BiLstmConfig : public LstmBuilder<BiLstmConfig> {
 public:
  BiLstmConfig(std::uint64_t d_input, std::uint64_t d_hidden, bool bias = true)
      : LstmBuilder(d_input, d_hidden, bias) {}

  BiLstm init() const;
  /// As many layers; all but the first take 2 * d_hidden.
  BiLstmStack init_stack(std::uint64_t layers) const;
};

/// The settings of Gru and BiGru.
template <class Self>
class GruBuilder : public RecurrentBuilder<Self> {
 public:
  /// Whether the reset gate acts after the product, as in PyTorch. Default: true.
  ANDIRON_BUILDER(Self, with_reset_after, (bool after), reset_after_ = after)

 private:
  friend Self;
  using RecurrentBuilder<Self>::RecurrentBuilder;

  bool reset_after_ = true;
};

/// Config of Gru.
class GruConfig : public GruBuilder<GruConfig> {
 public:
  GruConfig(std::uint64_t d_input, std::uint64_t d_hidden, bool bias = true)
      : GruBuilder(d_input, d_hidden, bias) {}

  Gru init() const;
  /// As many layers; all but the first take d_hidden.
  GruStack init_stack(std::uint64_t layers) const;
};

/// Config of BiGru.
class BiGruConfig : public GruBuilder<BiGruConfig> {
 public:
  BiGruConfig(std::uint64_t d_input, std::uint64_t d_hidden, bool bias = true)
      : GruBuilder(d_input, d_hidden, bias) {}

  BiGru init() const;
  /// As many layers; all but the first take 2 * d_hidden.
  BiGruStack init_stack(std::uint64_t layers) const;
};

}  // namespace nn
}  // namespace andiron::inline v1
