// SPDX-License-Identifier: MIT OR Apache-2.0
// The identity of a parameter.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "andiron/error.h"

namespace andiron::inline v1 {

/// Identity of a parameter that survives save and load, in formats that store it. Optimizer state
/// is keyed by it.
struct ParamId {
  std::uint64_t value = 0;

  /// A random one. Safe from several threads.
  static ParamId generate();
  /// Reads Burn's text form: 13 characters, or the 10 or the UUID (hashed, as Burn does) that older
  /// releases wrote. InvalidArgument for anything else.
  static Result<ParamId> from_text(std::string_view text);
  /// Burn's text form: the little-endian bytes in base 32 (digits, then a to v), 13 characters.
  std::string to_text() const;

  friend auto operator<=>(ParamId, ParamId) = default;
};

}  // namespace andiron::inline v1
