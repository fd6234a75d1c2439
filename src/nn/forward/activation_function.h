// SPDX-License-Identifier: MIT OR Apache-2.0
// What each Activation computes.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "andiron/nn/activation.h"
#include "src/nn/forward/vector_math.h"

namespace andiron::inline v1 {
namespace nn {

struct ActivationFunction {
  std::string_view name;
  Elementwise function;
  double a = 0;
  double b = 0;
};

// In the order of the enumeration.
inline constexpr std::array<ActivationFunction, 13> activation_functions = {{
    {"identity", Elementwise::scale, 1},
    {"relu", Elementwise::relu},
    {"leaky_relu", Elementwise::leaky_relu, 0.01},
    {"gelu", Elementwise::gelu},
    {"gelu_tanh", Elementwise::gelu_tanh},
    {"silu", Elementwise::silu},
    {"sigmoid", Elementwise::sigmoid},
    {"tanh", Elementwise::tanh},
    {"hard_sigmoid", Elementwise::hard_sigmoid, 1.0 / 6, 0.5},
    {"hard_swish", Elementwise::hard_swish},
    {"mish", Elementwise::mish},
    {"softplus", Elementwise::softplus, 1},
    {"elu", Elementwise::elu, 1},
}};
static_assert(static_cast<std::size_t>(Activation::elu) + 1 == activation_functions.size());

// Fails with InvalidArgument, in the name of `layer`, for a number that is none of them.
Status check_activation(std::string_view layer, Activation activation);

}  // namespace nn
}  // namespace andiron::inline v1
