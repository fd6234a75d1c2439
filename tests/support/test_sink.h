// SPDX-License-Identifier: MIT OR Apache-2.0
// Sinks that tell how much they were given at once, or take nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

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

class FullSink : public Sink {
 public:
  Status write(std::span<const std::byte>) override {
    return Error{.code = ErrorCode::io, .message = "no space"};
  }
};

}  // namespace andiron::test
