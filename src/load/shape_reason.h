// SPDX-License-Identifier: MIT OR Apache-2.0
// What many tensors of other shapes have in common.
#pragma once

#include <span>
#include <string>

#include "andiron/shape.h"

namespace andiron::inline v1::detail {

// A tensor that was found for a parameter and does not fit it.
struct WrongShape {
  Shape found;
  Shape expected;
};

// "59 tensors have other shapes for one reason: 160 wide in the file, 192 in the model"; empty
// where no size explains at least three of them and half of all.
std::string shared_reason(std::span<const WrongShape> wrong);

}  // namespace andiron::inline v1::detail
