// SPDX-License-Identifier: MIT OR Apache-2.0
// A model of two parameters, and archives whose tensors would fit them.
#pragma once

#include <string>
#include <vector>

#include "andiron/archive.h"
#include "tests/support/sample_net.h"

namespace andiron::test {

struct Pair {
  Param a;
  Param b;
  ANDIRON_MODULE(Pair, a, b)
};

inline Pair pair_of(float first) { return {Param(f32({2}, first)), Param(f32({2}, first + 2))}; }

/// Tensors of shape [2] under these names, without ids.
inline Archive archive_with(const std::vector<std::string>& names) {
  Archive archive;
  float first = 1;
  for (const std::string& name : names) {
    archive.add(TensorSnapshot(name, f32({2}, first))).value();
    first += 10;
  }
  return archive;
}

}  // namespace andiron::test
