// SPDX-License-Identifier: MIT OR Apache-2.0
// ParamId: the identity of a parameter.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "andiron/error.h"

namespace andiron::inline v1 {

/// Identity of a parameter. It survives save and load in formats that store it. Optimizer state
/// refers to it.
struct ParamId {
  std::uint64_t value = 0;

  /// Returns a random id. Safe from several threads at once.
  static ParamId generate();
  /// Parses Burn's text form: 13 characters, or the 10 characters or UUID of older releases (UUIDs
  /// are hashed, as in Burn). Fails with InvalidArgument for other text.
  static Result<ParamId> from_text(std::string_view text);
  /// Returns Burn's text form: the little-endian bytes in base 32 (digits, then a to v), 13
  /// characters.
  std::string to_text() const;

  friend auto operator<=>(ParamId, ParamId) = default;
};

}  // namespace andiron::inline v1
