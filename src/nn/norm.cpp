// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/norm_test.cpp
#include "andiron/nn/norm.h"

#include <string>
#include <utility>

#include "andiron/nn/initializer.h"
#include "src/nn/refused_param.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

Param ones(std::uint64_t size) { return Initializer::ones().init({size}); }
Param zeros(std::uint64_t size) { return Initializer::zeros().init({size}); }

Param untrained(Param param) {
  param.set_requires_grad(false);
  return param;
}

}  // namespace

BatchNorm BatchNormConfig::init() const {
  return {.gamma = ones(num_features_),
          .beta = zeros(num_features_),
          .running_mean = untrained(zeros(num_features_)),
          .running_var = untrained(ones(num_features_)),
          .momentum = momentum_,
          .epsilon = epsilon_};
}

LayerNorm LayerNormConfig::init() const {
  LayerNorm norm = {.gamma = Initializer::ones().init(shape_), .epsilon = epsilon_};
  if (bias_) norm.beta = Initializer::zeros().init(shape_);
  return norm;
}

GroupNorm GroupNormConfig::init() const {
  GroupNorm norm = {.num_groups = num_groups_,
                    .num_channels = num_channels_,
                    .epsilon = epsilon_,
                    .affine = affine_};
  if (!affine_) return norm;
  if (num_groups_ == 0 || num_channels_ % num_groups_ != 0) {
    const Error error{.code = ErrorCode::invalid_argument,
                      .message = "the channels cannot be divided into groups",
                      .found = std::to_string(num_channels_) + " channels, " +
                               std::to_string(num_groups_) + " groups",
                      .expected = "a number of groups that divides the channels"};
    norm.gamma = refused_param({num_channels_}, error);
    norm.beta = refused_param({num_channels_}, error);
    return norm;
  }
  norm.gamma = ones(num_channels_);
  norm.beta = zeros(num_channels_);
  return norm;
}

InstanceNorm InstanceNormConfig::init() const {
  InstanceNorm norm = {.num_channels = num_channels_, .epsilon = epsilon_, .affine = affine_};
  if (affine_) {
    norm.gamma = ones(num_channels_);
    norm.beta = zeros(num_channels_);
  }
  return norm;
}

RmsNorm RmsNormConfig::init() const {
  if (epsilon_ > 0) return {.gamma = ones(d_model_), .epsilon = epsilon_};
  return {.gamma = refused_param({d_model_}, Error{.code = ErrorCode::invalid_argument,
                                                   .message = "invalid epsilon",
                                                   .found = std::to_string(epsilon_),
                                                   .expected = "a number above 0"}),
          .epsilon = epsilon_};
}

}  // namespace nn
}  // namespace andiron::inline v1
