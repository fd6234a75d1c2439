// SPDX-License-Identifier: MIT OR Apache-2.0
// Recurrent layers: against their formulas, with states, in both directions and stacked.
#include "andiron/nn/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "andiron/nn/functions.h"
#include "tests/nn/module_places.h"
#include "tests/nn/numbers.h"

namespace andiron::nn {
namespace {

using test::counting;
using test::expect_error;
using test::expect_near;
using test::expect_same;
using test::filled;
using test::random_tensor;
using test::tensor_of;
using test::Values;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

GateController gate_with(double input, double hidden, double bias = 0) {
  return {
      .input_transform = {.weight = Param(filled({1, 1}, input)), .bias = Param(filled({1}, bias))},
      .hidden_transform = {.weight = Param(filled({1, 1}, hidden))}};
}

// One number in, one number out.
Lstm small_lstm() {
  return {.input_gate = gate_with(0.5, 0.25, 0.1),
          .forget_gate = gate_with(-1, 0.5),
          .output_gate = gate_with(1, -0.5, 0.2),
          .cell_gate = gate_with(2, 1),
          .d_hidden = 1};
}
Gru small_gru() {
  return {.update_gate = gate_with(0.5, 0.25, 0.1),
          .reset_gate = gate_with(-1, 0.5),
          .new_gate = gate_with(2, 1, 0.3),
          .d_hidden = 1};
}

struct LstmNumbers {
  double cell = 0;
  double hidden = 0;

  LstmNumbers after(double x) const {
    const double i = logistic(0.5 * x + 0.25 * hidden + 0.1);
    const double f = logistic(-x + 0.5 * hidden);
    const double o = logistic(x - 0.5 * hidden + 0.2);
    const double c = f * cell + i * std::tanh(2 * x + hidden);
    return {c, o * std::tanh(c)};
  }
};

const Tensor two_steps = tensor_of({1, 2, 1}, {1, -2});

TEST(Lstm, FollowsItsFormula) {
  const LstmNumbers first = LstmNumbers().after(1);
  const LstmNumbers second = first.after(-2);
  const auto found = small_lstm().forward_with_state(two_steps);
  ASSERT_TRUE(found.ok()) << found.error();
  expect_near(found->output, {1, 2, 1}, {first.hidden, second.hidden});
  expect_near(found->state.cell, {1, 1}, {second.cell});
  expect_near(found->state.hidden, {1, 1}, {second.hidden});
  expect_same(small_lstm().forward(two_steps), found->output);
  // From the last step to the first.
  Lstm reverse = small_lstm();
  reverse.reverse = true;
  const LstmNumbers last = LstmNumbers().after(-2);
  expect_near(reverse.forward(two_steps), {1, 2, 1}, {last.after(1).hidden, last.hidden});
}

TEST(Lstm, ContinuesFromAState) {
  const Lstm lstm = small_lstm();
  const auto first = lstm.forward_with_state(slice(two_steps, 1, 0, 1));
  const auto second = lstm.forward_with_state(slice(two_steps, 1, 1), first.value().state);
  expect_near(concat({first->output, second.value().output}, 1), lstm.forward(two_steps));
  const LstmState given = {filled({1, 1}, 0.5), filled({1, 1}, -0.5)};
  const LstmNumbers expected = LstmNumbers{0.5, -0.5}.after(1);
  const auto from_given = lstm.forward_with_state(slice(two_steps, 1, 0, 1), given);
  expect_near(from_given.value().output, {1, 1, 1}, {expected.hidden});
  expect_near(from_given->state.cell, {1, 1}, {expected.cell});
}

TEST(Lstm, TakesItsSettings) {
  const double i = logistic(0.6);
  const double o = logistic(1.2);
  const Result<Tensor> one = slice(two_steps, 1, 0, 1);
  Lstm clipped = small_lstm();
  clipped.clip = 0.25;
  expect_near(clipped.forward(one), {1, 1, 1}, {o * std::tanh(0.25)});
  expect_near(clipped.forward_with_state(one).value().state.cell, {1, 1}, {0.25});

  // The forget gate is not used: it may be empty.
  Lstm coupled = small_lstm();
  coupled.input_forget = true;
  coupled.forget_gate = {};
  const LstmState given = {filled({1, 1}, 2), filled({1, 1}, 0)};
  const double c = (1 - i) * 2 + i * std::tanh(2);
  expect_near(coupled.forward_with_state(one, given).value().state.cell, {1, 1}, {c});

  Lstm other = small_lstm();
  other.gate_activation = Activation::hard_sigmoid;
  other.cell_activation = Activation::relu;
  other.hidden_activation = Activation::identity;
  expect_near(other.forward(one), {1, 1, 1}, {(1.2 / 6 + 0.5) * ((0.6 / 6 + 0.5) * 2)});
  EXPECT_EQ(LstmConfig(1, 1).with_clip(2).with_input_forget(true).init().clip, 2);
}

TEST(Gru, FollowsItsFormula) {
  const auto after = [](double h, double x, bool reset_after) {
    const double z = logistic(0.5 * x + 0.25 * h + 0.1);
    const double r = logistic(-x + 0.5 * h);
    const double n = std::tanh(2 * x + 0.3 + (reset_after ? r * (h + 0.7) : r * h + 0.7));
    return (1 - z) * n + z * h;
  };
  for (const bool reset_after : {true, false}) {
    Gru gru = small_gru();
    gru.reset_after = reset_after;
    gru.new_gate.hidden_transform.bias = Param(filled({1}, 0.7));
    const double first = after(0, 1, reset_after);
    const double second = after(first, -2, reset_after);
    const auto found = gru.forward_with_state(two_steps);
    ASSERT_TRUE(found.ok()) << found.error();
    expect_near(found->output, {1, 2, 1}, {first, second});
    expect_near(found->state, {1, 1}, {second});
    expect_near(
        gru.forward_with_state(slice(two_steps, 1, 1), filled({1, 1}, first)).value().output,
        {1, 1, 1}, {second});
    gru.reverse = true;
    const double last = after(0, -2, reset_after);
    expect_near(gru.forward(two_steps), {1, 2, 1}, {after(last, 1, reset_after), last});
    gru.reverse = false;
    gru.clip = 0.01;
    const Values clipped = test::values_of(gru.forward(two_steps));
    EXPECT_NEAR(clipped[0], 0.01, 1e-6);
  }
}

// --- wider layers, step by step with other layers ---

Result<Tensor> gate_value(const GateController& gate, const Result<Tensor>& x,
                          const Result<Tensor>& h) {
  return add(gate.input_transform.forward(x), gate.hidden_transform.forward(h));
}

// Of [batch, time, d_input].
Result<Tensor> lstm_by_layers(const Lstm& lstm, const Tensor& input) {
  const std::uint64_t batch = input.shape()[0];
  Result<Tensor> c = filled({batch, lstm.d_hidden}, 0);
  Result<Tensor> h = filled({batch, lstm.d_hidden}, 0);
  std::vector<Tensor> outputs;
  for (std::int64_t t = 0; t < static_cast<std::int64_t>(input.shape()[1]); ++t) {
    const Result<Tensor> x = flatten(swap_dims(slice(input, 1, t, t + 1), 1, 2), 1);
    const Result<Tensor> i = sigmoid(gate_value(lstm.input_gate, x, h));
    const Result<Tensor> f = sigmoid(gate_value(lstm.forget_gate, x, h));
    const Result<Tensor> o = sigmoid(gate_value(lstm.output_gate, x, h));
    const Result<Tensor> g = nn::tanh(gate_value(lstm.cell_gate, x, h));
    c = add(multiply(f, c), multiply(i, g));
    h = multiply(o, nn::tanh(c));
    outputs.push_back(reshape(h, {static_cast<std::int64_t>(batch), 1, -1}).value());
  }
  return concat(outputs, 1);
}

TEST(Lstm, ComputesManyItemsAndUnits) {
  seed(3);
  for (const bool bias : {true, false}) {
    const Lstm lstm = LstmConfig(3, 4, bias).init();
    const Tensor input = random_tensor({2, 5, 3}, 1);
    const Result<Tensor> expected = lstm_by_layers(lstm, input);
    expect_near(lstm.forward(input), expected);
    // The other order of dimensions.
    const Lstm time_first = [&] {
      Lstm copy = lstm;
      copy.batch_first = false;
      return copy;
    }();
    expect_near(time_first.forward(swap_dims(input, 0, 1)), swap_dims(expected, 0, 1));
    // Backwards is forwards of what is turned round.
    Lstm reverse = lstm;
    reverse.reverse = true;
    std::vector<Tensor> steps;
    for (std::int64_t t = 5; t-- > 0;) steps.push_back(slice(input, 1, t, t + 1).value());
    const Result<Tensor> turned = lstm.forward(concat(steps, 1));
    expect_near(slice(reverse.forward(input), 1, 0, 1), slice(turned, 1, 4, 5));
  }
}

template <class Bi, class Layer>
void expect_both_ways(const Bi& both, const Layer& ahead, Layer back) {
  back.reverse = true;
  const Tensor input = random_tensor({2, 3, 2}, 1);
  const auto found = both.forward_with_state(input);
  ASSERT_TRUE(found.ok()) << found.error();
  const auto first = ahead.forward_with_state(input);
  const auto second = back.forward_with_state(input);
  expect_near(found->output, concat({first.value().output, second.value().output}, 2), 0);
  expect_same(both.forward(input), found->output);
  // A state goes to each direction.
  const auto again = both.forward_with_state(input, found->state);
  const auto first_again = ahead.forward_with_state(input, first->state);
  const auto second_again = back.forward_with_state(input, second->state);
  expect_near(again.value().output,
              concat({first_again.value().output, second_again.value().output}, 2), 0);
  Bi time_first = both;
  time_first.batch_first = false;
  expect_near(time_first.forward(swap_dims(input, 0, 1)), swap_dims(found->output, 0, 1));
}

TEST(BiLstm, JoinsBothDirections) {
  const BiLstm both = BiLstmConfig(2, 3).init();
  expect_both_ways(both, both.forward_lstm, both.reverse_lstm);
  const auto state = both.forward_with_state(counting({1, 1, 2})).value().state;
  EXPECT_EQ(state.cell.shape(), Shape({2, 1, 3}));
  EXPECT_EQ(state.hidden.shape(), Shape({2, 1, 3}));
  EXPECT_EQ(places_of(both)[0],
            "forward.input_gate.input_transform.weight f32 [2, 3] in "
            "Struct:nn.BiLstm.Struct:nn.Lstm.Struct:GateController.Struct:Linear");
}

TEST(BiGru, JoinsBothDirections) {
  const BiGru both = BiGruConfig(2, 3).init();
  expect_both_ways(both, both.forward_gru, both.reverse_gru);
  EXPECT_EQ(both.forward_with_state(counting({1, 1, 2})).value().state.shape(), Shape({2, 1, 3}));
}

TEST(RecurrentStack, PassesThroughItsLayers) {
  const Tensor input = random_tensor({2, 3, 2}, 1);
  const GruStack grus = GruConfig(2, 3).init_stack(2);
  ASSERT_EQ(grus.layers.size(), 2U);
  expect_same(grus.forward(input), grus.layers[1].forward(grus.layers[0].forward(input)));
  const BiLstmStack stack = BiLstmConfig(2, 3).init_stack(2);
  const auto found = stack.forward_with_state(input);
  ASSERT_TRUE(found.ok()) << found.error();
  expect_same(found->output, stack.layers[1].forward(stack.layers[0].forward(input)));
  ASSERT_EQ(found->state.size(), 2U);
  const auto again = stack.forward_with_state(input, found->state);
  const auto lower = stack.layers[0].forward_with_state(input, found->state[0]);
  const auto upper = stack.layers[1].forward_with_state(lower.value().output, found->state[1]);
  expect_same(again.value().output, upper.value().output);
  expect_same(LstmStack().forward(input), input);
  EXPECT_EQ(LstmConfig(2, 3).init_stack(3).forward(input).value().shape(), Shape({2, 3, 3}));
  EXPECT_EQ(BiGruConfig(2, 3).init_stack(3).forward(input).value().shape(), Shape({2, 3, 6}));
}

TEST(Recurrent, TakesEmptySizes) {
  const auto none = Tensor::zeros(DType::f32, {2, 0, 2});
  expect_near(LstmConfig(2, 3).init().forward(none), {2, 0, 3}, {});
  expect_near(BiGruConfig(2, 3).init().forward(Tensor::zeros(DType::f32, {0, 3, 2})), {0, 3, 6},
              {});
  // Without an input, the biases still count.
  Lstm lstm = small_lstm();
  for (GateController* gate :
       {&lstm.input_gate, &lstm.forget_gate, &lstm.output_gate, &lstm.cell_gate}) {
    gate->input_transform.weight = Param(Tensor::zeros(DType::f32, {0, 1}).value());
    gate->input_transform.bias = Param(filled({1}, 1));
  }
  const double cell = logistic(1) * std::tanh(1);
  const Result<Tensor> found = lstm.forward(Tensor::zeros(DType::f32, {2, 1, 0}));
  expect_near(found, {2, 1, 1}, Values(2, logistic(1) * std::tanh(cell)));
}

TEST(Recurrent, KeepsDoublesAndWidensSmallFloats) {
  const Tensor exact = tensor_of<double>({1, 1, 1}, {1.0 / 3});
  const auto found = small_lstm().forward_with_state(exact);
  EXPECT_EQ(found.value().output.dtype(), DType::f64);
  EXPECT_EQ(found->state.cell.dtype(), DType::f64);
  EXPECT_EQ(small_gru().forward(exact).value().dtype(), DType::f64);
  const Result<Tensor> small = cast(two_steps, DType::f16);
  EXPECT_EQ(small_gru().forward(small).value().dtype(), DType::f32);
  expect_near(small_gru().forward(small), small_gru().forward(two_steps), 0);
  Lstm stored = small_lstm();
  stored.input_gate.input_transform.weight = Param(cast(filled({1, 1}, 0.5), DType::bf16).value());
  expect_near(stored.forward(two_steps), small_lstm().forward(two_steps), 0);
}

TEST(Recurrent, RefusesWhatDoesNotFit) {
  const Lstm lstm = LstmConfig(2, 3).init();
  const Gru gru = GruConfig(2, 3).with_batch_first(false).init();
  const Tensor input = counting({1, 4, 2});
  expect_error(lstm.forward(counting({1, 4, 3})), ErrorCode::shape_mismatch,
               {"Lstm", "[1, 4, 3]", "[batch, time, 2]"});
  expect_error(gru.forward(counting({4, 2})), ErrorCode::shape_mismatch,
               {"Gru", "[4, 2]", "[time, batch, 2]"});
  expect_error(BiLstmConfig(2, 3).init().forward(counting({4, 2})), ErrorCode::shape_mismatch,
               {"Lstm", "[4, 2]"});
  expect_error(lstm.forward(Tensor::zeros(DType::i64, {1, 4, 2})), ErrorCode::dtype_mismatch);
  expect_error(Lstm().forward(input), ErrorCode::missing_tensor);
  expect_error(Gru().forward(input), ErrorCode::missing_tensor);
  expect_error(BiGru().forward(input), ErrorCode::missing_tensor);
  Lstm partly = lstm;
  partly.cell_gate.hidden_transform.weight = Param();
  expect_error(partly.forward(input), ErrorCode::missing_tensor);
  partly.cell_gate.hidden_transform.weight = Param(counting({2, 3}));
  expect_error(partly.forward(input), ErrorCode::shape_mismatch, {"Lstm", "[2, 3]", "[3, 3]"});
  Gru vector = gru;
  vector.update_gate.input_transform.weight = Param(counting({2}));
  expect_error(vector.forward(input), ErrorCode::shape_mismatch, {"Gru", "[2]"});
  for (const double clip : {-1.0, test::nan}) {
    expect_error(LstmConfig(2, 3).with_clip(clip).init().forward(input),
                 ErrorCode::invalid_argument, {"Lstm", "clip"});
    expect_error(GruConfig(2, 3).with_clip(clip).init().forward(input), ErrorCode::invalid_argument,
                 {"Gru", "clip"});
  }
}

TEST(Recurrent, RefusesStatesThatDoNotFit) {
  const Tensor input = counting({2, 4, 2});
  const Lstm lstm = LstmConfig(2, 3).init();
  const LstmState misfit = {counting({2, 3}), counting({3, 2})};
  expect_error(lstm.forward_with_state(input, misfit), ErrorCode::shape_mismatch,
               {"Lstm", "[3, 2]", "[2, 3]"});
  expect_error(GruConfig(2, 3).init().forward_with_state(input, counting({1, 3})),
               ErrorCode::shape_mismatch, {"Gru", "[1, 3]", "[2, 3]"});
  expect_error(BiGruConfig(2, 3).init().forward_with_state(input, counting({2, 3})),
               ErrorCode::shape_mismatch, {"BiGru", "[2, 3]", "[2, 2, 3]"});
  expect_error(GruConfig(2, 3).init_stack(2).forward_with_state(input, {{counting({2, 3})}}),
               ErrorCode::invalid_argument, {"nn.GruStack", "1 states", "2"});
}

TEST(Recurrent, RefusesUnknownActivations) {
  const Tensor input = counting({1, 4, 2});
  const auto unknown = static_cast<Activation>(13);
  Lstm lstm = LstmConfig(2, 3).init();
  for (Activation* one : {&lstm.gate_activation, &lstm.cell_activation, &lstm.hidden_activation}) {
    const Activation known = std::exchange(*one, unknown);
    expect_error(lstm.forward(input), ErrorCode::invalid_argument, {"Lstm", "activation", "13"});
    *one = known;
  }
  Gru gru = GruConfig(2, 3).init();
  for (Activation* one : {&gru.gate_activation, &gru.hidden_activation}) {
    const Activation known = std::exchange(*one, unknown);
    expect_error(gru.forward(input), ErrorCode::invalid_argument, {"Gru", "activation", "13"});
    *one = known;
  }
}

}  // namespace
}  // namespace andiron::nn
