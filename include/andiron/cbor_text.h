// SPDX-License-Identifier: MIT OR Apache-2.0
// A text string inside CBOR, as it stands there. Freestanding.
#pragma once

#include <cstddef>
#include <string_view>

namespace andiron::inline v1 {

/// The UTF-8 text of a CBOR string, checked. A string of indefinite length comes in chunks, each
/// with a length of its own before it.
struct CborText {
  std::string_view raw;  ///< the text itself, or all chunks with their lengths
  bool is_chunked = false;

  /// Compares the text without the lengths.
  bool equals(std::string_view text) const noexcept;
  /// Copies the text into `out`, which has room for raw.size() bytes; returns its size.
  std::size_t decode(char* out) const noexcept;
};

}  // namespace andiron::inline v1
