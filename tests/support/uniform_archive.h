// SPDX-License-Identifier: MIT OR Apache-2.0
// An archive whose elements are all the same number, so that a mix of two shows.
#pragma once

#include <string>
#include <vector>

#include "andiron/archive.h"

namespace andiron::test {

// Tensors layers.0, layers.1 ... of ten floats.
inline Archive uniform_archive(int tensors, float value) {
  Archive archive;
  const Tensor tensor = Tensor::from_values<float>({10}, std::vector<float>(10, value)).value();
  for (int i = 0; i < tensors; ++i) archive.add({"layers." + std::to_string(i), tensor}).value();
  return archive;
}

}  // namespace andiron::test
