// SPDX-License-Identifier: MIT OR Apache-2.0
// Layers without parameters.
#pragma once

namespace andiron::inline v1 {

namespace nn {

/// The larger of 0 and the element.
struct Relu {
  static void fields(auto&, auto&&) {}  // a module without parameters
};

/// PyTorch's name for it.
using ReLU = Relu;

}  // namespace nn

namespace nn {

/// Sets elements to zero at random while a model is trained; otherwise does nothing.
struct Dropout {
  double prob = 0.5;  ///< of being set to zero, from 0 to 1

  static void fields(auto&, auto&&) {}  // a module without parameters
};

class DropoutConfig {
 public:
  explicit DropoutConfig(double prob) : prob_(prob) {}

  Dropout init() const { return {.prob = prob_}; }

 private:
  double prob_;
};

}  // namespace nn

}  // namespace andiron::inline v1
