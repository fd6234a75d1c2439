// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/recurrent_test.cpp
#include "andiron/nn/recurrent.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "andiron/nn/functions.h"
#include "src/nn/forward/operand.h"
#include "src/nn/forward/product.h"
#include "src/nn/forward/vector_math.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

template <class T>
struct Transform {
  Operand<T> weight;
  std::optional<Operand<T>> bias;
};

// The parameters of a gate, checked.
template <class T>
struct Gate {
  Transform<T> input;
  Transform<T> hidden;
};

template <class T>
Result<Transform<T>> transform_of(std::string_view layer, const Linear& linear, std::size_t in,
                                  std::size_t out) {
  ANDIRON_ASSIGN(Operand<T> weight, Operand<T>::of(linear.weight));
  ANDIRON_ASSIGN(std::optional<Operand<T>> bias, optional_operand<T>(linear.bias));
  ANDIRON_TRY(check_parameter(layer, "gate's weight", weight.shape(), Shape({in, out})));
  if (bias) ANDIRON_TRY(check_parameter(layer, "gate's bias", bias->shape(), Shape({out})));
  return Transform<T>{std::move(weight), std::move(bias)};
}

template <class T>
Result<Gate<T>> gate_of(std::string_view layer, const GateController& gate, std::size_t in,
                        std::size_t hidden) {
  ANDIRON_ASSIGN(Transform<T> of_input, transform_of<T>(layer, gate.input_transform, in, hidden));
  ANDIRON_ASSIGN(Transform<T> of_hidden,
                 transform_of<T>(layer, gate.hidden_transform, hidden, hidden));
  return Gate<T>{std::move(of_input), std::move(of_hidden)};
}

template <class T>
void apply_to_row(Activation activation, T* row, std::size_t count) {
  constexpr std::array functions = {
      Elementwise::scale,      Elementwise::relu,      Elementwise::leaky_relu,
      Elementwise::gelu,       Elementwise::gelu_tanh, Elementwise::silu,
      Elementwise::sigmoid,    Elementwise::tanh,      Elementwise::hard_sigmoid,
      Elementwise::hard_swish, Elementwise::mish,      Elementwise::softplus,
      Elementwise::elu};
  ElementwiseSettings<T> settings = {1, 0};  // of identity, softplus and elu
  if (activation == Activation::leaky_relu) settings.a = T(0.01);
  if (activation == Activation::hard_sigmoid) settings = {T(1.0 / 6), T(0.5)};
  apply_to_all(functions[static_cast<std::size_t>(activation)], settings, row, row, count);
}

// A sequence as the steps of a recurrent layer see it.
struct Steps {
  std::size_t batch;
  std::size_t time;
  std::size_t width;
  std::size_t batch_stride;  // rows from one item to the next
  std::size_t time_stride;   // rows from one step to the next
};

// [d_input, d_hidden], by the first of a layer's gates.
Result<Shape> weight_shape(std::string_view layer, const GateController& gate) {
  const Param& weight = gate.input_transform.weight;
  if (!weight.is_set()) return weight.val().error();
  Shape shape = weight.shape();
  if (shape.rank() == 2) return shape;
  return shape_error(layer, "its weight is not a matrix", shape, "[d_input, d_hidden]");
}

Result<Steps> steps_of(std::string_view layer, const Shape& shape, bool batch_first,
                       std::uint64_t d_input) {
  if (shape.rank() != 3 || shape[2] != d_input) {
    return shape_error(
        layer, "the input does not fit the layer", shape,
        (batch_first ? "[batch, time, " : "[time, batch, ") + std::to_string(d_input) + "]");
  }
  const auto first = static_cast<std::size_t>(shape[0]);
  const auto second = static_cast<std::size_t>(shape[1]);
  const auto width = static_cast<std::size_t>(shape[2]);
  if (batch_first) return Steps{first, second, width, second, 1};
  return Steps{second, first, width, 1, second};
}

Status check_state(std::string_view layer, const Tensor& state, std::size_t batch,
                   std::size_t hidden) {
  if (state.shape() == Shape({batch, hidden})) return {};
  return shape_error(layer, "the state does not fit the input", state.shape(),
                     Shape({batch, hidden}).to_string());
}

// A copy of a state that changes with each step; zeros if there is none.
template <class T>
Result<NewTensor<T>> state_copy(std::string_view layer, const Tensor* state, std::size_t batch,
                                std::size_t hidden) {
  ANDIRON_ASSIGN(NewTensor<T> copy, NewTensor<T>::of({batch, hidden}));
  if (state == nullptr) {
    std::fill_n(copy.data(), copy.size(), T{0});
  } else {
    ANDIRON_TRY(check_state(layer, *state, batch, hidden));
    ANDIRON_ASSIGN(const Operand<T> from, Operand<T>::of(*state));
    std::copy_n(from.data(), from.size(), copy.data());
  }
  return copy;
}

// Fills each row of [rows, width] at `out` with a bias, or zeros.
template <class T>
void fill_rows(T* out, std::size_t rows, std::size_t stride, const std::optional<Operand<T>>& bias,
               std::size_t width) {
  for (std::size_t i = 0; i < rows; ++i) {
    if (bias) {
      std::copy_n(bias->data(), width, out + i * stride);
    } else {
      std::fill_n(out + i * stride, width, T{0});
    }
  }
}

// The products of the input with all gates, for every step: [rows of the input, gates * hidden].
template <class T, std::size_t count>
Result<NewTensor<T>> input_products(const Operand<T>& x, const std::array<Gate<T>, count>& gates,
                                    std::size_t width, std::size_t hidden) {
  const std::size_t rows = x.dim(0) * x.dim(1);
  ANDIRON_ASSIGN(NewTensor<T> products, NewTensor<T>::of({rows, count * hidden}));
  for (std::size_t g = 0; g < count; ++g) {
    T* const out = products.data() + g * hidden;
    fill_rows(out, rows, count * hidden, gates[g].input.bias, hidden);
    multiply({rows, hidden, width}, {x.data(), width}, {gates[g].input.weight.data(), hidden},
             {out, count * hidden, true});
  }
  return products;
}

// hidden state * weight + bias of some gates, which each step needs.
template <class T>
class HiddenProducts {
 public:
  // REQUIRES: `gates` outlive it.
  static Result<HiddenProducts> of(std::span<const Gate<T>> gates, std::size_t hidden,
                                   std::size_t steps) {
    HiddenProducts products(gates, hidden);
    // One product is faster than one for each gate. A copy of the weights pays after a few steps.
    constexpr std::size_t few_steps = 4;
    if (steps > few_steps) {
      ANDIRON_ASSIGN(NewTensor<T> joined, NewTensor<T>::of({hidden, gates.size() * hidden}));
      for (std::size_t i = 0; i < hidden * gates.size(); ++i) {
        const Gate<T>& gate = gates[i % gates.size()];
        std::copy_n(gate.hidden.weight.data() + i / gates.size() * hidden, hidden,
                    joined.data() + i * hidden);
      }
      products.joined_ = std::move(joined);
    }
    return products;
  }

  // Writes [batch, gates * hidden]; its rows are `stride` elements apart.
  void run(const T* state, std::size_t batch, T* out, std::size_t stride) {
    const std::size_t width = gates_.size() * hidden_;
    for (std::size_t g = 0; g < gates_.size(); ++g) {
      fill_rows(out + g * hidden_, batch, stride, gates_[g].hidden.bias, hidden_);
      if (joined_) continue;
      multiply({batch, hidden_, hidden_}, {state, hidden_},
               {gates_[g].hidden.weight.data(), hidden_}, {out + g * hidden_, stride, true});
    }
    if (joined_) {
      multiply({batch, width, hidden_}, {state, hidden_}, {joined_->data(), width},
               {out, stride, true});
    }
  }

 private:
  HiddenProducts(std::span<const Gate<T>> gates, std::size_t hidden)
      : gates_(gates), hidden_(hidden) {}

  std::span<const Gate<T>> gates_;
  std::size_t hidden_;
  std::optional<NewTensor<T>> joined_;  // [hidden, gates * hidden]
};

template <class T>
void clamp_row(T* row, std::size_t count, const std::optional<double>& clip) {
  if (!clip) return;
  const auto limit = static_cast<T>(*clip);
  for (std::size_t i = 0; i < count; ++i) row[i] = std::clamp(row[i], -limit, limit);
}

Status check_clip(std::string_view layer, const std::optional<double>& clip) {
  if (!clip || *clip >= 0) return {};
  return argument_error(layer, "invalid clip", std::to_string(*clip), "at least 0");
}

// What the settings of a layer come to for one sequence.
struct Pass {
  bool batch_first;
  bool reverse;
};

template <class T>
Result<RecurrentOutput<LstmState>> run(const Lstm& lstm, Pass pass, const Operand<T>& x,
                                       const LstmState* start) {
  constexpr std::string_view layer = "Lstm";
  ANDIRON_ASSIGN(const Shape weight, weight_shape(layer, lstm.input_gate));
  ANDIRON_TRY(check_clip(layer, lstm.clip));
  ANDIRON_ASSIGN(const Steps steps, steps_of(layer, x.shape(), pass.batch_first, weight[0]));
  const auto hidden = static_cast<std::size_t>(weight[1]);
  const std::size_t batch = steps.batch;
  const std::size_t time = steps.time;
  const std::size_t width = steps.width;
  ANDIRON_ASSIGN(Gate<T> input, gate_of<T>(layer, lstm.input_gate, width, hidden));
  // Where the gates are coupled, the forget gate is not used and may be empty.
  const GateController& forget_gate = lstm.input_forget ? lstm.input_gate : lstm.forget_gate;
  ANDIRON_ASSIGN(Gate<T> forget, gate_of<T>(layer, forget_gate, width, hidden));
  ANDIRON_ASSIGN(Gate<T> output, gate_of<T>(layer, lstm.output_gate, width, hidden));
  ANDIRON_ASSIGN(Gate<T> cell, gate_of<T>(layer, lstm.cell_gate, width, hidden));
  const std::array<Gate<T>, 4> gates = {std::move(input), std::move(forget), std::move(output),
                                        std::move(cell)};
  ANDIRON_ASSIGN(NewTensor<T> cells,
                 state_copy<T>(layer, start ? &start->cell : nullptr, batch, hidden));
  ANDIRON_ASSIGN(NewTensor<T> state,
                 state_copy<T>(layer, start ? &start->hidden : nullptr, batch, hidden));
  Shape shape = x.shape();
  shape[2] = hidden;
  ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(shape));
  ANDIRON_ASSIGN(NewTensor<T> products, input_products(x, gates, width, hidden));
  ANDIRON_ASSIGN(HiddenProducts<T> of_state, HiddenProducts<T>::of(gates, hidden, time));
  ANDIRON_ASSIGN(NewTensor<T> sums, NewTensor<T>::of({batch, 4 * hidden}));
  for (std::size_t step = 0; step < time && batch > 0; ++step) {
    const std::size_t t = pass.reverse ? time - 1 - step : step;
    of_state.run(state.data(), batch, sums.data(), 4 * hidden);
    for (std::size_t b = 0; b < batch; ++b) {
      T* const row = sums.data() + b * 4 * hidden;
      const std::size_t at = b * steps.batch_stride + t * steps.time_stride;
      const T* const of_input = products.data() + at * 4 * hidden;
      for (std::size_t i = 0; i < 4 * hidden; ++i) row[i] += of_input[i];
      apply_to_row(lstm.gate_activation, row, 3 * hidden);
      apply_to_row(lstm.cell_activation, row + 3 * hidden, hidden);
      T* const c = cells.data() + b * hidden;
      T* const h = state.data() + b * hidden;
      for (std::size_t i = 0; i < hidden; ++i) {
        const T kept = lstm.input_forget ? 1 - row[i] : row[hidden + i];
        c[i] = kept * c[i] + row[i] * row[3 * hidden + i];
      }
      clamp_row(c, hidden, lstm.clip);
      std::copy_n(c, hidden, h);
      apply_to_row(lstm.hidden_activation, h, hidden);
      for (std::size_t i = 0; i < hidden; ++i) h[i] *= row[2 * hidden + i];
      std::copy_n(h, hidden, out.data() + at * hidden);
    }
  }
  return RecurrentOutput<LstmState>{std::move(out).take(),
                                    {std::move(cells).take(), std::move(state).take()}};
}

template <class T>
Result<RecurrentOutput<Tensor>> run(const Gru& gru, Pass pass, const Operand<T>& x,
                                    const Tensor* start) {
  constexpr std::string_view layer = "Gru";
  ANDIRON_ASSIGN(const Shape weight, weight_shape(layer, gru.update_gate));
  ANDIRON_TRY(check_clip(layer, gru.clip));
  ANDIRON_ASSIGN(const Steps steps, steps_of(layer, x.shape(), pass.batch_first, weight[0]));
  const auto hidden = static_cast<std::size_t>(weight[1]);
  const std::size_t batch = steps.batch;
  const std::size_t time = steps.time;
  const std::size_t width = steps.width;
  ANDIRON_ASSIGN(Gate<T> reset, gate_of<T>(layer, gru.reset_gate, width, hidden));
  ANDIRON_ASSIGN(Gate<T> update, gate_of<T>(layer, gru.update_gate, width, hidden));
  ANDIRON_ASSIGN(Gate<T> fresh, gate_of<T>(layer, gru.new_gate, width, hidden));
  const std::array<Gate<T>, 3> gates = {std::move(reset), std::move(update), std::move(fresh)};
  ANDIRON_ASSIGN(NewTensor<T> state, state_copy<T>(layer, start, batch, hidden));
  Shape shape = x.shape();
  shape[2] = hidden;
  ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(shape));
  ANDIRON_ASSIGN(NewTensor<T> products, input_products(x, gates, width, hidden));
  // If the reset gate acts first, the product of the last gate has to wait for it.
  const std::span<const Gate<T>> all(gates);
  const std::size_t at_once = gru.reset_after ? 3 : 2;
  ANDIRON_ASSIGN(HiddenProducts<T> of_state,
                 HiddenProducts<T>::of(all.first(at_once), hidden, time));
  ANDIRON_ASSIGN(HiddenProducts<T> of_kept,
                 HiddenProducts<T>::of(all.subspan(at_once), hidden, time));
  ANDIRON_ASSIGN(NewTensor<T> sums, NewTensor<T>::of({batch, 3 * hidden}));
  ANDIRON_ASSIGN(NewTensor<T> kept, NewTensor<T>::of({batch, hidden}));
  for (std::size_t step = 0; step < time && batch > 0; ++step) {
    const std::size_t t = pass.reverse ? time - 1 - step : step;
    const auto row_of = [&](std::size_t b) {
      return b * steps.batch_stride + t * steps.time_stride;
    };
    of_state.run(state.data(), batch, sums.data(), 3 * hidden);
    for (std::size_t b = 0; b < batch; ++b) {
      T* const row = sums.data() + b * 3 * hidden;
      const T* const of_input = products.data() + row_of(b) * 3 * hidden;
      for (std::size_t i = 0; i < 2 * hidden; ++i) row[i] += of_input[i];
      apply_to_row(gru.gate_activation, row, 2 * hidden);
      for (std::size_t i = 0; i < hidden; ++i) {
        kept.data()[b * hidden + i] = row[i] * state.data()[b * hidden + i];
      }
    }
    of_kept.run(kept.data(), batch, sums.data() + at_once * hidden, 3 * hidden);
    for (std::size_t b = 0; b < batch; ++b) {
      T* const row = sums.data() + b * 3 * hidden;
      T* const candidate = row + 2 * hidden;
      const std::size_t at = row_of(b);
      const T* const of_input = products.data() + at * 3 * hidden + 2 * hidden;
      for (std::size_t i = 0; i < hidden; ++i) {
        candidate[i] = of_input[i] + (gru.reset_after ? row[i] : T{1}) * candidate[i];
      }
      apply_to_row(gru.hidden_activation, candidate, hidden);
      T* const h = state.data() + b * hidden;
      for (std::size_t i = 0; i < hidden; ++i) {
        const T keeps = row[hidden + i];
        h[i] = (1 - keeps) * candidate[i] + keeps * h[i];
      }
      clamp_row(h, hidden, gru.clip);
      std::copy_n(h, hidden, out.data() + at * hidden);
    }
  }
  return RecurrentOutput<Tensor>{std::move(out).take(), std::move(state).take()};
}

template <class Layer, class State>
Result<RecurrentOutput<State>> pass_through(const Layer& layer, Pass pass,
                                            const Result<Tensor>& input, const State* start) {
  if (!input) return input.error();
  if (input->dtype() == DType::f64) {
    ANDIRON_ASSIGN(const Operand<double> x, Operand<double>::of(*input));
    return run(layer, pass, x, start);
  }
  ANDIRON_ASSIGN(const Operand<float> x, Operand<float>::of(*input));
  return run(layer, pass, x, start);
}

template <class State>
const State* address_of(const std::optional<State>& state) {
  return state ? &*state : nullptr;
}

// As the weights have it: the field may not be set.
std::uint64_t hidden_size(const GateController& gate) {
  const Shape shape = gate.hidden_transform.weight.shape();
  return shape.rank() == 2 ? shape[1] : 0;
}
std::uint64_t hidden_size(const Lstm& lstm) { return hidden_size(lstm.input_gate); }
std::uint64_t hidden_size(const Gru& gru) { return hidden_size(gru.update_gate); }

// One of the two states that lie on top of each other.
Result<Tensor> part_of(const Tensor& states, std::int64_t index, const Shape& wanted) {
  if (states.shape() != wanted) {
    return shape_error("BiLstm or BiGru", "the state does not fit the input", states.shape(),
                       wanted.to_string());
  }
  return flatten(swap_dims(slice(states, 0, index, index + 1), 0, 1), 1);
}
Result<LstmState> part_of(const LstmState& states, std::int64_t index, const Shape& wanted) {
  ANDIRON_ASSIGN(Tensor cell, part_of(states.cell, index, wanted));
  ANDIRON_ASSIGN(Tensor hidden, part_of(states.hidden, index, wanted));
  return LstmState{std::move(cell), std::move(hidden)};
}

Result<Tensor> stacked(const Tensor& first, const Tensor& second) {
  const auto batch = static_cast<std::int64_t>(first.shape()[0]);
  const auto hidden = static_cast<std::int64_t>(first.shape()[1]);
  return reshape(concat({first, second}, 0), {2, batch, hidden});
}
Result<LstmState> stacked(const LstmState& first, const LstmState& second) {
  ANDIRON_ASSIGN(Tensor cell, stacked(first.cell, second.cell));
  ANDIRON_ASSIGN(Tensor hidden, stacked(first.hidden, second.hidden));
  return LstmState{std::move(cell), std::move(hidden)};
}

template <class Layer, class State>
Result<RecurrentOutput<State>> both_ways(const Layer& forwards, const Layer& backwards,
                                         bool batch_first, const Result<Tensor>& input,
                                         const std::optional<State>& start) {
  std::array<std::optional<State>, 2> starts;
  // An input of another rank is refused below.
  if (start && input && input->shape().rank() == 3) {
    const Shape wanted({2, input->shape()[batch_first ? 0 : 1], hidden_size(forwards)});
    for (std::size_t i = 0; i < 2; ++i) {
      ANDIRON_ASSIGN(starts[i], part_of(*start, static_cast<std::int64_t>(i), wanted));
    }
  }
  ANDIRON_ASSIGN(const RecurrentOutput<State> ahead,
                 pass_through(forwards, {batch_first, false}, input, address_of(starts[0])));
  ANDIRON_ASSIGN(const RecurrentOutput<State> back,
                 pass_through(backwards, {batch_first, true}, input, address_of(starts[1])));
  ANDIRON_ASSIGN(Tensor output, concat({ahead.output, back.output}, 2));
  ANDIRON_ASSIGN(State state, stacked(ahead.state, back.state));
  return RecurrentOutput<State>{std::move(output), std::move(state)};
}

template <class Layer>
Result<Tensor> output_of(const Layer& layer, const Result<Tensor>& input) {
  auto result = layer.forward_with_state(input);
  if (!result) return std::move(result).error();
  return std::move(result->output);
}

}  // namespace

Result<RecurrentOutput<LstmState>> Lstm::forward_with_state(const Result<Tensor>& input,
                                                            const std::optional<State>& state) const
    ANDIRON_NO_THROW {
  return pass_through(*this, {batch_first, reverse}, input, address_of(state));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<RecurrentOutput<Tensor>> Gru::forward_with_state(const Result<Tensor>& input,
                                                        const std::optional<State>& state) const
    ANDIRON_NO_THROW {
  return pass_through(*this, {batch_first, reverse}, input, address_of(state));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<RecurrentOutput<LstmState>> BiLstm::forward_with_state(
    const Result<Tensor>& input, const std::optional<State>& state) const ANDIRON_NO_THROW {
  return both_ways(forward_lstm, reverse_lstm, batch_first, input, state);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<RecurrentOutput<Tensor>> BiGru::forward_with_state(const Result<Tensor>& input,
                                                          const std::optional<State>& state) const
    ANDIRON_NO_THROW {
  return both_ways(forward_gru, reverse_gru, batch_first, input, state);
}
ANDIRON_OR_OUT_OF_MEMORY

template <class Layer>
auto RecurrentStack<Layer>::forward_with_state(const Result<Tensor>& input,
                                               const std::optional<State>& state) const
    -> Result<RecurrentOutput<State>> ANDIRON_NO_THROW {
  if (!input) return input.error();
  if (state && state->size() != layers.size()) {
    return argument_error(module_kind(), "the state does not fit the layers",
                          std::to_string(state->size()) + " states",
                          std::to_string(layers.size()) + ", one for each layer");
  }
  RecurrentOutput<State> result = {*input, {}};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::optional<typename Layer::State> start;
    if (state) start = (*state)[i];
    auto passed = layers[i].forward_with_state(result.output, start);
    if (!passed) return std::move(passed).error();
    result.output = std::move(passed->output);
    result.state.push_back(std::move(passed->state));
  }
  return result;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> Lstm::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return output_of(*this, input);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> Gru::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return output_of(*this, input);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> BiLstm::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return output_of(*this, input);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> BiGru::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return output_of(*this, input);
}
ANDIRON_OR_OUT_OF_MEMORY
template <class Layer>
Result<Tensor> RecurrentStack<Layer>::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return output_of(*this, input);
}
ANDIRON_OR_OUT_OF_MEMORY

template struct RecurrentStack<Lstm>;
template struct RecurrentStack<Gru>;
template struct RecurrentStack<BiLstm>;
template struct RecurrentStack<BiGru>;

}  // namespace nn
}  // namespace andiron::inline v1
