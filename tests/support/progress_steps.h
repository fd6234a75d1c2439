// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "andiron/progress.h"

namespace andiron::test {

/// Writes down how many of `total` bytes are done at each step.
inline Progress steps_into(std::vector<std::uint64_t>& steps, std::uint64_t total) {
  return [&steps, total](std::uint64_t done, std::uint64_t all) {
    EXPECT_EQ(all, total);
    steps.push_back(done);
    return true;
  };
}

}  // namespace andiron::test
