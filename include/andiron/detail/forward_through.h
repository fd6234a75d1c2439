// SPDX-License-Identifier: MIT OR Apache-2.0
// How layers in a row are called.
#pragma once

#include <tuple>
#include <utility>

#include "andiron/error.h"
#include "andiron/tensor.h"

namespace andiron::inline v1::nn {

template <class Layers>
Result<Tensor> forward_through(const Layers& layers, const Result<Tensor>& input) {
  if (!input) return input.error();
  Result<Tensor> x = *input;
  const auto pass = [&x](const auto& layer) { x = layer.forward(x); };
  if constexpr (requires { std::tuple_size<Layers>::value; }) {
    std::apply([&](const auto&... layer) { (pass(layer), ...); }, layers);
  } else {
    for (const auto& layer : layers) pass(layer);
  }
  return x;
}

}  // namespace andiron::inline v1::nn
