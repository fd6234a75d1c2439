// SPDX-License-Identifier: MIT OR Apache-2.0
// What a call of JavaScript's returns.
#pragma once

#include <cstdint>
#include <string>

#include "andiron/bytes.h"
#include "andiron/error.h"

namespace andiron::web {

/// JavaScript reads the first five words.
struct Answer {
  std::uint32_t failed = 0;
  const void* data = nullptr;
  std::uint32_t size = 0;
  const void* about_data = nullptr;
  std::uint32_t about_size = 0;

  std::string text = {};
  Bytes bytes = {};
  std::string about = {};  ///< what there is to say about the bytes, as JSON, or nothing
};

/// Elements and the name of their dtype, or a file and notes on it.
struct Made {
  Bytes bytes;
  std::string about;
};

/// Each is handed over to the caller; nullptr if there is no memory.
Answer* answer(Result<std::string> text);
Answer* answer(Result<Made> made);

}  // namespace andiron::web
