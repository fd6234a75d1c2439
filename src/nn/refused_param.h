// SPDX-License-Identifier: MIT OR Apache-2.0
// How a layer reports invalid arguments: a config returns a layer, not a Result.
#pragma once

#include <utility>

#include "andiron/param.h"

namespace andiron::inline v1 {
namespace nn {

// A parameter whose val() fails with `error`.
inline Param refused_param(Shape shape, Error error) {
  return Param::lazy(DType::f32, std::move(shape),
                     [error = std::move(error)]() -> Result<Tensor> { return error; });
}

}  // namespace nn
}  // namespace andiron::inline v1
