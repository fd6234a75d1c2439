// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/recurrent_test.cpp
#include "andiron/nn/recurrent.h"

#include <utility>

namespace andiron::inline v1 {
namespace nn {
namespace {

GateController gate(std::uint64_t d_input, std::uint64_t d_hidden, bool bias,
                    const Initializer& initializer) {
  const auto linear = [&](std::uint64_t in) {
    return LinearConfig(in, d_hidden).with_bias(bias).with_initializer(initializer).init();
  };
  return {linear(d_input), linear(d_hidden)};
}

// Layers of one kind; init_layer(number) makes each.
template <class Layer, class InitLayer>
RecurrentStack<Layer> stack_of(std::uint64_t count, const InitLayer& init_layer) {
  RecurrentStack<Layer> stack;
  for (std::uint64_t i = 0; i < count; ++i) stack.layers.push_back(init_layer(i));
  return stack;
}

}  // namespace

Lstm LstmConfig::init() const {
  const auto new_gate = [&] { return gate(d_input_, d_hidden_, bias_, initializer_); };
  return {.input_gate = new_gate(),
          .forget_gate = new_gate(),
          .output_gate = new_gate(),
          .cell_gate = new_gate(),
          .d_hidden = d_hidden_,
          .batch_first = batch_first_,
          .reverse = reverse_,
          .clip = clip_,
          .input_forget = input_forget_,
          .gate_activation = gate_activation_,
          .cell_activation = cell_activation_,
          .hidden_activation = hidden_activation_};
}

LstmStack LstmConfig::init_stack(std::uint64_t layers) const {
  return stack_of<Lstm>(layers, [&](std::uint64_t number) {
    LstmConfig config = *this;
    if (number > 0) config.d_input_ = d_hidden_;
    return config.init();
  });
}

BiLstm BiLstmConfig::init() const {
  LstmConfig config = LstmConfig(d_input_, d_hidden_, bias_)
                          .with_initializer(initializer_)
                          .with_clip(clip_)
                          .with_input_forget(input_forget_)
                          .with_gate_activation(gate_activation_)
                          .with_cell_activation(cell_activation_)
                          .with_hidden_activation(hidden_activation_);
  return {
      .forward_lstm = config.init(), .reverse_lstm = config.init(), .batch_first = batch_first_};
}

BiLstmStack BiLstmConfig::init_stack(std::uint64_t layers) const {
  return stack_of<BiLstm>(layers, [&](std::uint64_t number) {
    BiLstmConfig config = *this;
    if (number > 0) config.d_input_ = 2 * d_hidden_;
    return config.init();
  });
}

Gru GruConfig::init() const {
  const auto new_gate = [&] { return gate(d_input_, d_hidden_, bias_, initializer_); };
  return {.update_gate = new_gate(),
          .reset_gate = new_gate(),
          .new_gate = new_gate(),
          .d_hidden = d_hidden_,
          .reset_after = reset_after_,
          .batch_first = batch_first_,
          .clip = clip_,
          .gate_activation = gate_activation_,
          .hidden_activation = hidden_activation_};
}

GruStack GruConfig::init_stack(std::uint64_t layers) const {
  return stack_of<Gru>(layers, [&](std::uint64_t number) {
    GruConfig config = *this;
    if (number > 0) config.d_input_ = d_hidden_;
    return config.init();
  });
}

BiGru BiGruConfig::init() const {
  GruConfig config = GruConfig(d_input_, d_hidden_, bias_)
                         .with_initializer(initializer_)
                         .with_clip(clip_)
                         .with_reset_after(reset_after_)
                         .with_gate_activation(gate_activation_)
                         .with_hidden_activation(hidden_activation_);
  return {.forward_gru = config.init(), .reverse_gru = config.init(), .batch_first = batch_first_};
}

BiGruStack BiGruConfig::init_stack(std::uint64_t layers) const {
  return stack_of<BiGru>(layers, [&](std::uint64_t number) {
    BiGruConfig config = *this;
    if (number > 0) config.d_input_ = 2 * d_hidden_;
    return config.init();
  });
}

}  // namespace nn
}  // namespace andiron::inline v1
