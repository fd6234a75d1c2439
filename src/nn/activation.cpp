// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/activation_test.cpp
#include "andiron/nn/activation.h"

#include "andiron/nn/initializer.h"

namespace andiron::inline v1 {
namespace nn {

PRelu PReluConfig::init() const {
  return {.alpha = Initializer::constant(alpha_).init({num_parameters_})};
}

}  // namespace nn
}  // namespace andiron::inline v1
