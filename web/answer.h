// SPDX-License-Identifier: MIT OR Apache-2.0
// What a call of JavaScript's returns.
#pragma once

#include <cstdint>
#include <string>

#include "andiron/bytes.h"
#include "andiron/error.h"

namespace andiron::web {

/// JavaScript reads the first three words.
struct Answer {
  std::uint32_t failed = 0;
  const void* data = nullptr;
  std::uint32_t size = 0;

  std::string text = {};
  Bytes bytes = {};
};

/// Each is handed over to the caller; nullptr if there is no memory.
Answer* answer(Result<std::string> text);
Answer* answer(Result<Bytes> bytes);

}  // namespace andiron::web
