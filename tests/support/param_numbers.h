// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <vector>

#include "andiron/module.h"

namespace andiron::test {

inline std::vector<float> numbers(const Param& param) {
  return param.val().value().to_vector<float>().value();
}

}  // namespace andiron::test
