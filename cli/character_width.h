// SPDX-License-Identifier: MIT OR Apache-2.0
// How much room a character takes on a terminal.
#pragma once

#include <cstddef>

namespace andiron::cli {

/// Columns of a character: 0 for combining marks, 2 for East Asian wide ones, else 1.
std::size_t character_width(char32_t code_point);

}  // namespace andiron::cli
