// SPDX-License-Identifier: MIT OR Apache-2.0
// Activations, as functions and as layers.
//
//   Result<Tensor> hidden = nn::relu(model.conv.forward(image));
//
// They take f32 and f64, and widen f16 and bf16 to f32. If the input is an error, they return it.
// Link andiron::nn for everything here that computes.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/module.h"
#include "andiron/param.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// x, without a copy.
Result<Tensor> identity(const Result<Tensor>& input);
/// max(0, x)
Result<Tensor> relu(const Result<Tensor>& input);
/// x where it is at least 0, and slope * x below.
Result<Tensor> leaky_relu(const Result<Tensor>& input, double slope = 0.01);
/// x times the normal distribution function of x, exactly.
Result<Tensor> gelu(const Result<Tensor>& input);
/// The same by the formula with tanh, which GPT-2 uses.
Result<Tensor> gelu_tanh(const Result<Tensor>& input);
/// x * sigmoid(x)
Result<Tensor> silu(const Result<Tensor>& input);
/// 1 / (1 + exp(-x))
Result<Tensor> sigmoid(const Result<Tensor>& input);
Result<Tensor> tanh(const Result<Tensor>& input);
/// alpha * x + beta, limited to 0 and 1. The defaults are those of PyTorch's function; the layer
/// HardSigmoid has Burn's.
Result<Tensor> hard_sigmoid(const Result<Tensor>& input, double alpha = 1.0 / 6, double beta = 0.5);
/// x * hard_sigmoid(x), with PyTorch's alpha of 1/6.
Result<Tensor> hard_swish(const Result<Tensor>& input);
/// x * tanh(softplus(x))
Result<Tensor> mish(const Result<Tensor>& input);
/// log(1 + exp(beta * x)) / beta
Result<Tensor> softplus(const Result<Tensor>& input, double beta = 1);
/// x where it is above 0, and alpha * (exp(x) - 1) below.
Result<Tensor> elu(const Result<Tensor>& input, double alpha = 1);
/// x where it is at least 0, and alpha * x below. `alpha` has one element, or one for each channel
/// (dimension 1). Fails with ShapeMismatch otherwise.
Result<Tensor> prelu(const Result<Tensor>& input, const Result<Tensor>& alpha);

// Along a dimension; a negative one counts from the end. They fail with InvalidArgument if there is
// no such dimension.

/// Makes the elements along `dim` positive, with a sum of 1.
Result<Tensor> softmax(const Result<Tensor>& input, std::int64_t dim = -1);
/// log(softmax(x)), without its loss of precision.
Result<Tensor> log_softmax(const Result<Tensor>& input, std::int64_t dim = -1);
/// Softmax with 1 more in the divisor, so that all elements may be near 0.
Result<Tensor> quiet_softmax(const Result<Tensor>& input, std::int64_t dim = -1);
/// Splits the input in two halves along `dim` and returns first * sigmoid(second). Fails with
/// ShapeMismatch if the dimension is odd.
Result<Tensor> glu(const Result<Tensor>& input, std::int64_t dim = -1);

/// An activation without parameters, as a setting of other layers.
enum class Activation : std::uint8_t {
  identity,
  relu,
  leaky_relu,  ///< with a slope of 0.01
  gelu,
  gelu_tanh,
  silu,
  sigmoid,
  tanh,
  hard_sigmoid,  ///< with PyTorch's alpha of 1/6, not the layer's 0.2
  hard_swish,
  mish,
  softplus,
  elu,
};
/// Returns the activation of each element.
Result<Tensor> activate(Activation activation, const Result<Tensor>& input);

// ---- Layers ----

/// max(0, x) for each element.
struct Relu {
  Result<Tensor> forward(const Result<Tensor>& input) const { return relu(input); }
  static void fields(auto&, auto&&) {}  // a module without parameters, like those below
};

/// PyTorch's name for it.
using ReLU = Relu;

struct LeakyRelu {
  double negative_slope = 0.01;

  Result<Tensor> forward(const Result<Tensor>& input) const {
    return leaky_relu(input, negative_slope);
  }
  static void fields(auto&, auto&&) {}
};

struct Gelu {
  bool approximate = false;  ///< by the formula with tanh

  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}
};

struct Silu {
  Result<Tensor> forward(const Result<Tensor>& input) const { return silu(input); }
  static void fields(auto&, auto&&) {}
};

struct Sigmoid {
  Result<Tensor> forward(const Result<Tensor>& input) const { return sigmoid(input); }
  static void fields(auto&, auto&&) {}
};

struct Tanh {
  Result<Tensor> forward(const Result<Tensor>& input) const { return nn::tanh(input); }
  static void fields(auto&, auto&&) {}
};

/// alpha * x + beta, limited to 0 and 1. The defaults are those of Burn's layer. nn.Hardsigmoid of
/// PyTorch is HardSigmoid{1.0 / 6}, and what hard_sigmoid() computes.
struct HardSigmoid {
  double alpha = 0.2;
  double beta = 0.5;

  Result<Tensor> forward(const Result<Tensor>& input) const {
    return hard_sigmoid(input, alpha, beta);
  }
  static void fields(auto&, auto&&) {}
};

struct HardSwish {
  Result<Tensor> forward(const Result<Tensor>& input) const { return hard_swish(input); }
  static void fields(auto&, auto&&) {}
};

struct Mish {
  Result<Tensor> forward(const Result<Tensor>& input) const { return mish(input); }
  static void fields(auto&, auto&&) {}
};

struct Softplus {
  double beta = 1;

  Result<Tensor> forward(const Result<Tensor>& input) const { return softplus(input, beta); }
  static void fields(auto&, auto&&) {}
};

struct Elu {
  double alpha = 1;

  Result<Tensor> forward(const Result<Tensor>& input) const { return elu(input, alpha); }
  static void fields(auto&, auto&&) {}
};

struct Glu {
  std::int64_t dim = -1;

  Result<Tensor> forward(const Result<Tensor>& input) const { return glu(input, dim); }
  static void fields(auto&, auto&&) {}
};

struct Softmax {
  std::int64_t dim = -1;

  Result<Tensor> forward(const Result<Tensor>& input) const { return softmax(input, dim); }
  static void fields(auto&, auto&&) {}
};

/// A leaky ReLU with a slope that is learned.
struct PRelu {
  Param alpha = {};  ///< [1], or [channels]; PyTorch calls it weight

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(PRelu, alpha)
};

/// Config of PRelu. Builders return a named config by reference, a temporary by value.
class PReluConfig {
 public:
  /// The number of slopes: 1, or one for each channel. Default: 1.
  ANDIRON_BUILDER(PReluConfig, with_num_parameters, (std::uint64_t count), num_parameters_ = count)
  /// Where the slopes start. Default: 0.25.
  ANDIRON_BUILDER(PReluConfig, with_alpha, (double alpha), alpha_ = alpha)

  /// Never fails.
  PRelu init() const;

 private:
  std::uint64_t num_parameters_ = 1;
  double alpha_ = 0.25;
};

/// Sets elements to zero at random during training. Here, where nothing is trained, it does
/// nothing.
struct Dropout {
  double prob = 0.5;  ///< probability of being set to zero, from 0 to 1

  Result<Tensor> forward(const Result<Tensor>& input) const { return identity(input); }
  static void fields(auto&, auto&&) {}
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
