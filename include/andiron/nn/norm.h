// SPDX-License-Identifier: MIT OR Apache-2.0
// Normalisation layers.
//
//   nn::BatchNorm norm = nn::BatchNormConfig(64).with_momentum(0.05).init();
//
// All compute normalised(input) * gamma + beta. Gamma starts as ones, beta as zeros; both are lazy.
// In PyTorch they are called weight and bias.
//
// init() never fails. Arguments that cannot be are InvalidArgument from val() of the parameters,
// when they are first needed. Builders change the config and return it: a named one by
// reference, a temporary by value.
#pragma once

#include <cstdint>
#include <optional>

#include "andiron/module.h"
#include "andiron/param.h"

namespace andiron::inline v1 {
namespace nn {

/// Over the batch, for each channel.
struct BatchNorm {
  Param gamma = {};         ///< [num_features]
  Param beta = {};          ///< [num_features]
  Param running_mean = {};  ///< [num_features]; counted, not trained: requires_grad() is false
  Param running_var = {};   ///< [num_features]; likewise
  double momentum = 0.1;
  double epsilon = 1e-5;

  ANDIRON_MODULE(BatchNorm, gamma, beta, running_mean, running_var)
};

class BatchNormConfig {
 public:
  explicit BatchNormConfig(std::uint64_t num_features) : num_features_(num_features) {}

  /// Added to the variance. Unless set: 1e-5.
  BatchNormConfig& with_epsilon(double epsilon) & { return epsilon_ = epsilon, *this; }
  /// The share of a new batch in the running statistics. Unless set: 0.1.
  BatchNormConfig& with_momentum(double momentum) & { return momentum_ = momentum, *this; }
  // For a temporary, by value.
  BatchNormConfig with_epsilon(double epsilon) && { return std::move(with_epsilon(epsilon)); }
  BatchNormConfig with_momentum(double momentum) && { return std::move(with_momentum(momentum)); }

  /// The running mean starts as zeros, the running variance as ones.
  BatchNorm init() const;

 private:
  std::uint64_t num_features_;
  double epsilon_ = 1e-5;
  double momentum_ = 0.1;
};

/// Over the last dimension.
struct LayerNorm {
  Param gamma = {};                ///< [d_model]
  std::optional<Param> beta = {};  ///< [d_model]
  double epsilon = 1e-5;

  ANDIRON_MODULE(LayerNorm, gamma, beta)
};

class LayerNormConfig {
 public:
  explicit LayerNormConfig(std::uint64_t d_model) : d_model_(d_model) {}

  /// Added to the variance. Unless set: 1e-5.
  LayerNormConfig& with_epsilon(double epsilon) & { return epsilon_ = epsilon, *this; }
  /// Whether there is a beta. Unless set: true.
  LayerNormConfig& with_bias(bool bias) & { return bias_ = bias, *this; }
  // For a temporary, by value.
  LayerNormConfig with_epsilon(double epsilon) && { return std::move(with_epsilon(epsilon)); }
  LayerNormConfig with_bias(bool bias) && { return std::move(with_bias(bias)); }

  LayerNorm init() const;

 private:
  std::uint64_t d_model_;
  double epsilon_ = 1e-5;
  bool bias_ = true;
};

/// Over groups of channels.
struct GroupNorm {
  std::optional<Param> gamma = {};  ///< [num_channels]
  std::optional<Param> beta = {};   ///< [num_channels]
  std::uint64_t num_groups = 1;
  std::uint64_t num_channels = 0;
  double epsilon = 1e-5;
  bool affine = true;

  ANDIRON_MODULE(GroupNorm, gamma, beta)
};

/// The groups must divide the channels.
class GroupNormConfig {
 public:
  GroupNormConfig(std::uint64_t num_groups, std::uint64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}

  /// Added to the variance. Unless set: 1e-5.
  GroupNormConfig& with_epsilon(double epsilon) & { return epsilon_ = epsilon, *this; }
  /// Whether there are gamma and beta. Unless set: true.
  GroupNormConfig& with_affine(bool affine) & { return affine_ = affine, *this; }
  // For a temporary, by value.
  GroupNormConfig with_epsilon(double epsilon) && { return std::move(with_epsilon(epsilon)); }
  GroupNormConfig with_affine(bool affine) && { return std::move(with_affine(affine)); }

  GroupNorm init() const;

 private:
  std::uint64_t num_groups_;
  std::uint64_t num_channels_;
  double epsilon_ = 1e-5;
  bool affine_ = true;
};

/// Over each channel of each item.
struct InstanceNorm {
  std::optional<Param> gamma = {};  ///< [num_channels]
  std::optional<Param> beta = {};   ///< [num_channels]
  std::uint64_t num_channels = 0;
  double epsilon = 1e-5;
  bool affine = true;

  ANDIRON_MODULE(InstanceNorm, gamma, beta)
};

class InstanceNormConfig {
 public:
  explicit InstanceNormConfig(std::uint64_t num_channels) : num_channels_(num_channels) {}

  /// Added to the variance. Unless set: 1e-5.
  InstanceNormConfig& with_epsilon(double epsilon) & { return epsilon_ = epsilon, *this; }
  /// Whether there are gamma and beta. Unless set: true.
  InstanceNormConfig& with_affine(bool affine) & { return affine_ = affine, *this; }
  // For a temporary, by value.
  InstanceNormConfig with_epsilon(double epsilon) && { return std::move(with_epsilon(epsilon)); }
  InstanceNormConfig with_affine(bool affine) && { return std::move(with_affine(affine)); }

  InstanceNorm init() const;

 private:
  std::uint64_t num_channels_;
  double epsilon_ = 1e-5;
  bool affine_ = true;
};

/// By the root of the mean square over the last dimension.
struct RmsNorm {
  Param gamma = {};  ///< [d_model]
  double epsilon = 1e-5;

  ANDIRON_MODULE(RmsNorm, gamma)
};

class RmsNormConfig {
 public:
  explicit RmsNormConfig(std::uint64_t d_model) : d_model_(d_model) {}

  /// Added to the mean square; above 0. Unless set: 1e-5.
  RmsNormConfig& with_epsilon(double epsilon) & { return epsilon_ = epsilon, *this; }
  // For a temporary, by value.
  RmsNormConfig with_epsilon(double epsilon) && { return std::move(with_epsilon(epsilon)); }

  RmsNorm init() const;

 private:
  std::uint64_t d_model_;
  double epsilon_ = 1e-5;
};

}  // namespace nn
}  // namespace andiron::inline v1
