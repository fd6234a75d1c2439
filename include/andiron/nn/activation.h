// SPDX-License-Identifier: MIT OR Apache-2.0
// Activation functions.
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
}  // namespace andiron::inline v1
