// SPDX-License-Identifier: MIT OR Apache-2.0
// A sink that tells how much it was given at once.
#pragma once

#include <algorithm>
#include <cstddef>

#include "andiron/sink.h"

namespace andiron::test {

class LargestWrite : public Sink {
 public:
  Status write(std::span<const std::byte> data) override {
    largest = std::max(largest, data.size());
    return {};
  }
  std::size_t largest = 0;
};

}  // namespace andiron::test
