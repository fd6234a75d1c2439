// SPDX-License-Identifier: MIT OR Apache-2.0
// Normalization layers.
//
//   nn::BatchNorm norm = nn::BatchNormConfig(64).with_momentum(0.05).init();
//
//   Result<Tensor> y = norm.forward(x);   // of the same shape; link andiron::nn
//
// All of them compute normalized(input) * gamma + beta. Gamma starts as ones, beta as zeros; both
// are lazy. PyTorch calls them weight and bias.
//
// forward() returns f32 or f64 as the input (f16 and bf16 are widened to f32). It returns an input
// that is an error, and fails with ShapeMismatch if the input does not fit the layer, and with the
// errors of val(). Channels are dimension 1.
//
// init() never fails. For invalid arguments, val() of the parameters fails with InvalidArgument.
// Builders return a named config by reference, a temporary by value.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/module.h"
#include "andiron/param.h"
#include "andiron/shape.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// Normalizes each channel with the running statistics, which training has left: nothing is trained
/// here.
struct BatchNorm {
  Param gamma = {};         ///< [num_features]
  Param beta = {};          ///< [num_features]
  Param running_mean = {};  ///< [num_features]; not trained: requires_grad() is false
  Param running_var = {};   ///< [num_features]; not trained
  double momentum = 0.1;
  double epsilon = 1e-5;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(BatchNorm, gamma, beta, running_mean, running_var)
};

/// Config of BatchNorm.
class BatchNormConfig {
 public:
  explicit BatchNormConfig(std::uint64_t num_features) : num_features_(num_features) {}

  /// Added to the variance. Default: 1e-5.
  ANDIRON_BUILDER(BatchNormConfig, with_epsilon, (double epsilon), epsilon_ = epsilon)
  /// The weight of a new batch in the running statistics. Default: 0.1.
  ANDIRON_BUILDER(BatchNormConfig, with_momentum, (double momentum), momentum_ = momentum)

  /// The running mean starts as zeros, the running variance as ones.
  BatchNorm init() const;

 private:
  std::uint64_t num_features_;
  double epsilon_ = 1e-5;
  double momentum_ = 0.1;
};

/// Normalizes over the last dimension, or the last dimensions.
struct LayerNorm {
  Param gamma = {};                ///< [d_model], or the shape of the last dimensions
  std::optional<Param> beta = {};  ///< as gamma
  double epsilon = 1e-5;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(LayerNorm, gamma, beta)
};

/// Config of LayerNorm.
class LayerNormConfig {
 public:
  explicit LayerNormConfig(std::uint64_t d_model) : shape_({d_model}) {}
  /// Over several dimensions: LayerNormConfig(Shape{8, 4, 4}).
  explicit LayerNormConfig(Shape shape) : shape_(std::move(shape)) {}

  /// Added to the variance. Default: 1e-5.
  ANDIRON_BUILDER(LayerNormConfig, with_epsilon, (double epsilon), epsilon_ = epsilon)
  /// Whether there is a beta. Default: true.
  ANDIRON_BUILDER(LayerNormConfig, with_bias, (bool bias), bias_ = bias)

  LayerNorm init() const;

 private:
  Shape shape_;
  double epsilon_ = 1e-5;
  bool bias_ = true;
};

/// Normalizes over groups of channels.
struct GroupNorm {
  std::optional<Param> gamma = {};  ///< [num_channels]
  std::optional<Param> beta = {};   ///< [num_channels]
  std::uint64_t num_groups = 1;
  std::uint64_t num_channels = 0;
  double epsilon = 1e-5;
  bool affine = true;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(GroupNorm, gamma, beta)
};

/// Config of GroupNorm. The number of groups must divide the number of channels.
class GroupNormConfig {
 public:
  GroupNormConfig(std::uint64_t num_groups, std::uint64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}

  /// Added to the variance. Default: 1e-5.
  ANDIRON_BUILDER(GroupNormConfig, with_epsilon, (double epsilon), epsilon_ = epsilon)
  /// Whether there are gamma and beta. Default: true.
  ANDIRON_BUILDER(GroupNormConfig, with_affine, (bool affine), affine_ = affine)

  GroupNorm init() const;

 private:
  std::uint64_t num_groups_;
  std::uint64_t num_channels_;
  double epsilon_ = 1e-5;
  bool affine_ = true;
};

/// Normalizes over each channel of each item.
struct InstanceNorm {
  std::optional<Param> gamma = {};  ///< [num_channels]
  std::optional<Param> beta = {};   ///< [num_channels]
  std::uint64_t num_channels = 0;
  double epsilon = 1e-5;
  bool affine = true;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(InstanceNorm, gamma, beta)
};

/// Config of InstanceNorm.
class InstanceNormConfig {
 public:
  explicit InstanceNormConfig(std::uint64_t num_channels) : num_channels_(num_channels) {}

  /// Added to the variance. Default: 1e-5.
  ANDIRON_BUILDER(InstanceNormConfig, with_epsilon, (double epsilon), epsilon_ = epsilon)
  /// Whether there are gamma and beta. Default: true.
  ANDIRON_BUILDER(InstanceNormConfig, with_affine, (bool affine), affine_ = affine)

  InstanceNorm init() const;

 private:
  std::uint64_t num_channels_;
  double epsilon_ = 1e-5;
  bool affine_ = true;
};

/// Normalizes by the root mean square over the last dimension. There is no beta.
struct RmsNorm {
  Param gamma = {};  ///< [d_model]
  double epsilon = 1e-5;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(RmsNorm, gamma)
};

/// Config of RmsNorm.
class RmsNormConfig {
 public:
  explicit RmsNormConfig(std::uint64_t d_model) : d_model_(d_model) {}

  /// Added to the mean square; must be above 0. Default: 1e-5.
  ANDIRON_BUILDER(RmsNormConfig, with_epsilon, (double epsilon), epsilon_ = epsilon)

  RmsNorm init() const;

 private:
  std::uint64_t d_model_;
  double epsilon_ = 1e-5;
};

}  // namespace nn
}  // namespace andiron::inline v1
