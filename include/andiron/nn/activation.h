// SPDX-License-Identifier: MIT OR Apache-2.0
// Layers without parameters.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

namespace andiron::inline v1 {

namespace nn {

/// max(0, x) for each element.
struct Relu {
  static void fields(auto&, auto&&) {}  // a module without parameters
};

/// PyTorch's name for it.
using ReLU = Relu;

}  // namespace nn

namespace nn {

/// Sets elements to zero at random during training; otherwise does nothing.
struct Dropout {
  double prob = 0.5;  ///< probability of being set to zero, from 0 to 1

  static void fields(auto&, auto&&) {}  // a module without parameters
};

/// Config of Dropout.
class DropoutConfig {
 public:
  explicit DropoutConfig(double prob) : prob_(prob) {}

  Dropout init() const { return {.prob = prob_}; }

 private:
  double prob_;
};

}  // namespace nn

}  // namespace andiron::inline v1
