// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/linear_test.cpp
#include "andiron/nn/linear.h"

namespace andiron::inline v1 {
namespace nn {

Linear LinearConfig::init() const {
  Linear linear = {
      .weight = initializer_.init_with({d_input_, d_output_}, d_input_, d_output_),
  };
  if (bias_) linear.bias = initializer_.init_with({d_output_}, d_input_, d_output_);
  return linear;
}

}  // namespace nn
}  // namespace andiron::inline v1
