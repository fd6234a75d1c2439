// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack files read from memory, and what is told of them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/archive_reading.h"
#include "tests/support/burnpack_file.h"

namespace andiron::test {

/// Why a file is refused.
inline ErrorCode code_of(const std::string& file, Strictness strictness = Strictness::standard,
                         const Limits& limits = {}) {
  Result<Archive> archive = open_burnpack(file, strictness, limits);
  EXPECT_FALSE(archive);
  return archive ? ErrorCode::io : archive.error().code;
}

inline std::string data_of(const Archive& archive, std::string_view name) {
  return std::string(archive.get(name).value().read().value().bytes().text());
}

}  // namespace andiron::test
