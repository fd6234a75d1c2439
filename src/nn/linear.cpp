// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/linear_test.cpp
#include "andiron/nn/linear.h"

#include <utility>

namespace andiron::inline v1 {
namespace nn {

Linear LinearConfig::init() const {
  Linear linear = {
      .weight = initializer_.init_with({d_input_, d_output_}, d_input_, d_output_),
  };
  if (bias_) linear.bias = initializer_.init_with({d_output_}, d_input_, d_output_);
  return linear;
}

Conv1D LinearConfig::init_conv1d() const {
  Linear linear = init();
  return {.weight = std::move(linear.weight), .bias = std::move(linear.bias)};
}

}  // namespace nn
}  // namespace andiron::inline v1
