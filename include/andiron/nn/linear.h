// SPDX-License-Identifier: MIT OR Apache-2.0
// The linear layer.
//
//   nn::Linear hidden = nn::LinearConfig(784, 128).with_bias(false).init();
//   Result<Tensor> y = hidden.forward(x);   // [..., 784] becomes [..., 128]; link andiron::nn
//
// forward() returns f32 or f64 as the input (f16 and bf16 are widened to f32). It returns an input
// that is an error, and fails with ShapeMismatch if the input's last dimension is not d_input, and
// with the errors of val(). An f32 weight is used where it lies, also in a mapped file. For each
// call, f16 and bf16 are widened and a quantized weight is dequantized, some rows at a time. With
// few rows of input, this takes longer than the product (the guide has numbers).
// DTypePolicy::cast_to_module widens weights once, as they are loaded.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>
#include <numbers>
#include <optional>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/module.h"
#include "andiron/nn/initializer.h"
#include "andiron/param.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// input * weight + bias.
struct Linear {
  Param weight = {};               ///< [d_input, d_output]; PyTorch's is transposed
  std::optional<Param> bias = {};  ///< [d_output]

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(Linear, weight, bias)
};

/// The layer of GPT-2 that Hugging Face calls Conv1D: a Linear whose weight is [d_input, d_output]
/// in PyTorch's files too. Adapters do not transpose it. It is not the convolution Conv1d.
struct Conv1D {
  Param weight = {};               ///< [d_input, d_output]
  std::optional<Param> bias = {};  ///< [d_output]

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(Conv1D, weight, bias)
};

/// Config of Linear. Builders return a named config by reference, a temporary by value.
class LinearConfig {
 public:
  LinearConfig(std::uint64_t d_input, std::uint64_t d_output)
      : d_input_(d_input), d_output_(d_output) {}

  /// Default: true.
  ANDIRON_BUILDER(LinearConfig, with_bias, (bool bias), bias_ = bias)
  /// For weight and bias. Default: uniform within 1 / sqrt(d_input).
  ANDIRON_BUILDER(LinearConfig, with_initializer, (Initializer initializer),
                  initializer_ = initializer)

  /// Never fails. For sizes that cannot be addressed, val() of the parameters fails with
  /// InvalidArgument.
  Linear init() const;
  /// The same as the layer of GPT-2.
  Conv1D init_conv1d() const;

 private:
  std::uint64_t d_input_;
  std::uint64_t d_output_;
  bool bias_ = true;
  Initializer initializer_ = Initializer::kaiming_uniform(std::numbers::inv_sqrt3);
};

}  // namespace nn
}  // namespace andiron::inline v1
