// SPDX-License-Identifier: MIT OR Apache-2.0
// What recurrent layers are made of: gates, their products with a sequence and with a state.
// Tested by tests/nn/recurrent_test.cpp
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "andiron/nn/recurrent.h"
#include "src/nn/forward/activation_function.h"
#include "src/nn/forward/operand.h"
#include "src/nn/forward/product.h"
#include "src/nn/forward/vector_math.h"

namespace andiron::inline v1 {
namespace nn {

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
  ANDIRON_ASSIGN(Operand<T> weight, Operand<T>::of(layer, "gate's weight", linear.weight));
  ANDIRON_ASSIGN(std::optional<Operand<T>> bias,
                 optional_operand<T>(layer, "gate's bias", linear.bias));
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
  const auto& [name, function, a, b] = activation_functions[static_cast<std::size_t>(activation)];
  apply_to_all(function, {static_cast<T>(a), static_cast<T>(b)}, row, row, count);
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
inline Result<Shape> weight_shape(std::string_view layer, const GateController& gate) {
  const Param& weight = gate.input_transform.weight;
  if (!weight.is_set()) return weight.val().error();
  Shape shape = weight.shape();
  if (shape.rank() == 2) return shape;
  return shape_error(layer, "its weight is not a matrix", shape, "[d_input, d_hidden]");
}

inline Result<Steps> steps_of(std::string_view layer, const Shape& shape, bool batch_first,
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

inline Status check_state(std::string_view layer, const Tensor& state, std::size_t batch,
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
    ANDIRON_ASSIGN(const Operand<T> from, Operand<T>::of(layer, *state));
    std::copy_n(from.data(), from.size(), copy.data());
  }
  return copy;
}

// Fills each row of [rows, width] at `out` with a bias, or zeros.
template <class T>
void fill_with_bias(T* out, std::size_t rows, std::size_t stride,
                    const std::optional<Operand<T>>& bias, std::size_t width) {
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
  if (products.size() == 0) return products;
  for (std::size_t g = 0; g < count; ++g) {
    T* const out = products.data() + g * hidden;
    fill_with_bias(out, rows, count * hidden, gates[g].input.bias, hidden);
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
      fill_with_bias(out + g * hidden_, batch, stride, gates_[g].hidden.bias, hidden_);
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

inline Status check_clip(std::string_view layer, const std::optional<double>& clip) {
  if (!clip || *clip >= 0) return {};
  return argument_error(layer, "invalid clip", std::to_string(*clip), "at least 0");
}

}  // namespace nn
}  // namespace andiron::inline v1
