// SPDX-License-Identifier: MIT OR Apache-2.0
// What was measured, for people and for programs.
#pragma once

#include <span>
#include <string>

#include "bench/harness.h"

namespace andiron::bench {

std::string table(std::span<const Row> rows);
// A list with one object a row; times in seconds, memory in bytes.
std::string json(std::span<const Row> rows);

}  // namespace andiron::bench
