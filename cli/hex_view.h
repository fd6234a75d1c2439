// SPDX-License-Identifier: MIT OR Apache-2.0
// Bytes in hex with what they mean, one field after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cli/terminal.h"

namespace andiron::cli {

/// Bytes as two digits each with spaces between: "4e 52 55 42".
std::string hex_text(std::span<const std::byte> bytes);

/// Appends tables of bytes.
class HexView {
 public:
  /// Lines have 16 bytes, or 8 where the page would leave too little room for meanings.
  explicit HexView(const Page& page);

  void append_heading(std::string& out) const;
  /// Appends a field: as many lines as its bytes and its meaning need. Lines that repeat the one
  /// above become a single "*". `meaning` is safe to print.
  void append_field(std::string& out, std::uint64_t offset, std::span<const std::byte> bytes,
                    unsigned depth, std::string_view meaning) const;

 private:
  std::string line(std::string_view offset, std::string_view hex, std::string_view text,
                   std::string_view meaning) const;

  const Page& page_;
  std::size_t bytes_a_line_ = 16;
  std::size_t meaning_width_ = 0;
};

}  // namespace andiron::cli
