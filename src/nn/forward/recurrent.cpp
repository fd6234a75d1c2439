// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/recurrent_test.cpp
#include "andiron/nn/recurrent.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "andiron/nn/functions.h"
#include "src/nn/forward/gates.h"
#include "src/nn/forward/operand.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

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
  for (const Activation one :
       {lstm.gate_activation, lstm.cell_activation, lstm.hidden_activation}) {
    ANDIRON_TRY(check_activation(layer, one));
  }
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
  for (const Activation one : {gru.gate_activation, gru.hidden_activation}) {
    ANDIRON_TRY(check_activation(layer, one));
  }
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

std::string_view name_of(const Lstm&) { return "Lstm"; }
std::string_view name_of(const Gru&) { return "Gru"; }

template <class Layer, class State>
Result<RecurrentOutput<State>> pass_through(const Layer& layer, Pass pass,
                                            const Result<Tensor>& input, const State* start) {
  return compute_with(name_of(layer), input,
                      [&](const auto& x) { return run(layer, pass, x, start); });
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
