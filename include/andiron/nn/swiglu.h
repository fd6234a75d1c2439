// SPDX-License-Identifier: MIT OR Apache-2.0
// The gated linear layer of LLaMA and others.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/module.h"
#include "andiron/nn/initializer.h"
#include "andiron/nn/linear.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// silu(linear_inner(x)) * linear_outer(x)
struct SwiGlu {
  Linear linear_inner = {};  ///< LLaMA's gate_proj, or w1
  Linear linear_outer = {};  ///< LLaMA's up_proj, or w3

  /// Fails as Linear::forward() does. Link andiron::nn.
  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(SwiGlu, linear_inner, linear_outer)
};

/// Config of SwiGlu. Builders return a named config by reference, a temporary by value.
class SwiGluConfig {
 public:
  SwiGluConfig(std::uint64_t d_input, std::uint64_t d_output) : linear_(d_input, d_output) {
    linear_.with_bias(false);
  }

  /// Default: false.
  ANDIRON_BUILDER(SwiGluConfig, with_bias, (bool bias), linear_.with_bias(bias))
  /// For both layers. Default: uniform within 1 / sqrt(d_input).
  ANDIRON_BUILDER(SwiGluConfig, with_initializer, (Initializer how), linear_.with_initializer(how))

  /// Never fails, as LinearConfig::init().
  SwiGlu init() const { return {linear_.init(), linear_.init()}; }

 private:
  LinearConfig linear_;
};

}  // namespace nn
}  // namespace andiron::inline v1
