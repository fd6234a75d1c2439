// SPDX-License-Identifier: MIT OR Apache-2.0
// A string inside JSON text, as it stands there. Freestanding.
#pragma once

#include <cstddef>
#include <string_view>

namespace andiron::inline v1 {

/// What lies between the quotes of a JSON string, checked but not decoded.
struct JsonText {
  std::string_view raw;
  bool has_escapes = false;

  /// Compares the decoded text.
  bool equals(std::string_view text) const noexcept;
  /// Decodes into `out`, which has room for raw.size() bytes; returns the decoded size.
  std::size_t decode(char* out) const noexcept;
};

}  // namespace andiron::inline v1
