// SPDX-License-Identifier: MIT OR Apache-2.0
// The model of data/make_checkpoint.py. Layers without parameters are left out.
#pragma once

#include <andiron/andiron.h>

#include <array>
#include <tuple>

struct Net {
  std::tuple<andiron::nn::Conv2d, andiron::nn::BatchNorm, andiron::nn::Conv2d,
             andiron::nn::BatchNorm>
      features = {andiron::nn::Conv2dConfig({1, 4}, {3, 3}).with_bias(false).init(),
                  andiron::nn::BatchNormConfig(4).init(),
                  andiron::nn::Conv2dConfig({4, 8}, {3, 3}).with_bias(false).init(),
                  andiron::nn::BatchNormConfig(8).init()};
  std::array<andiron::nn::Linear, 2> classifier = {andiron::nn::LinearConfig(8, 16).init(),
                                                   andiron::nn::LinearConfig(16, 10).init()};
  ANDIRON_MODULE(Net, features, classifier)
};
