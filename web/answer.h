// SPDX-License-Identifier: MIT OR Apache-2.0
// What a call of JavaScript's returns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "andiron/bytes.h"
#include "andiron/error.h"

namespace andiron::web {

/// JavaScript reads the first five words.
struct Answer {
  std::uint32_t failed = 0;
  const void* data = nullptr;
  std::uint32_t size = 0;
  const void* notes_data = nullptr;
  std::uint32_t notes_size = 0;

  std::string text = {};
  Bytes bytes = {};
  std::string notes = {};  ///< on the bytes: a JSON list of texts, or nothing
};

/// What a conversion has made.
struct Converted {
  Bytes bytes;
  std::vector<std::string> notes = {};
};

/// Each is handed over to the caller; nullptr if there is no memory.
Answer* answer(Result<std::string> text);
Answer* answer(Result<Bytes> bytes);
Answer* answer(Result<Converted> converted);

}  // namespace andiron::web
