// SPDX-License-Identifier: MIT OR Apache-2.0
// Freestanding.
#pragma once

namespace andiron::inline v1::detail {

// Unlike std::isdigit, the same in every locale.
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace andiron::inline v1::detail
