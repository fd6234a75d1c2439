// SPDX-License-Identifier: MIT OR Apache-2.0
// How the freestanding parsers answer. Freestanding.
#pragma once

#include <cstdint>

#include "andiron/error_code.h"

namespace andiron::inline v1 {

/// Success, or what is wrong and where.
struct [[nodiscard]] ViewStatus {
  ErrorCode code = ErrorCode::io;
  const char* what = nullptr;  ///< a few words; nullptr on success
  std::uint64_t offset = 0;    ///< bytes from the start of the file

  bool ok() const noexcept { return what == nullptr; }
};

}  // namespace andiron::inline v1
