// SPDX-License-Identifier: MIT OR Apache-2.0
// Sets of characters that are made while a pattern is read.
#pragma once

#include <vector>

#include "src/core/text/code_point_range.h"

namespace andiron::inline v1::automaton {

constexpr char32_t last_code_point = 0x10ffff;
// Stands for a byte that is no part of a character. Only \C takes it.
constexpr char32_t not_utf8 = last_code_point + 1;

// Normal if the ranges ascend and none touches the next.
using CodePointRanges = std::vector<detail::CodePointRange>;

void normalize(CodePointRanges& ranges);

// REQUIRES of both: `ranges` is normal.
CodePointRanges complement(const CodePointRanges& ranges);
bool meets(const CodePointRanges& ranges, detail::CodePointRange other) noexcept;

}  // namespace andiron::inline v1::automaton
