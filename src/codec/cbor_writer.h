// SPDX-License-Identifier: MIT OR Apache-2.0
// CBOR as Burn writes it: definite lengths, every head and every float in its shortest form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace andiron::inline v1::detail {

class CborWriter {
 public:
  explicit CborWriter(std::string& out) : out_(out) {}

  void unsigned_integer(std::uint64_t value) { head(0, value); }
  void integer(std::int64_t value);
  void text(std::string_view text);
  void list(std::uint64_t items) { head(4, items); }
  void map(std::uint64_t entries) { head(5, entries); }
  void boolean(bool value) { out_ += static_cast<char>(value ? 0xf5 : 0xf4); }
  void null() { out_ += static_cast<char>(0xf6); }
  // The shortest of f16, f32 and f64 that keeps every bit.
  void floating(double value);

 private:
  void head(unsigned major, std::uint64_t argument);
  void big_endian(std::uint64_t value, unsigned bytes);

  std::string& out_;
};

}  // namespace andiron::inline v1::detail
