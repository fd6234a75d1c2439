// SPDX-License-Identifier: MIT OR Apache-2.0
// Adds to an error what only the caller knows.
#pragma once

#include <string>
#include <utility>

#include "andiron/error.h"

namespace andiron::inline v1 {

// `error` with the file it concerns, unless it names one.
inline Error with_file(Error error, const std::string& file) {
  if (error.file.empty()) error.file = file;
  return error;
}

}  // namespace andiron::inline v1
