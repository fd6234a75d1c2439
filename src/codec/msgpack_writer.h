// SPDX-License-Identifier: MIT OR Apache-2.0
// MessagePack, value by value, each in its shortest form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace andiron::inline v1::detail {

// Appends to a string. Sizes must fit in 32 bits; the caller checks those that may be larger.
class MsgpackWriter {
 public:
  static constexpr std::uint64_t max_size = 0xffffffff;

  explicit MsgpackWriter(std::string& out) : out_(out) {}

  void nil();
  void boolean(bool value);
  void integer(std::int64_t value);
  void unsigned_integer(std::uint64_t value);
  void floating(double value);
  void text(std::string_view value);
  // The head of so many bytes, which the caller appends.
  void begin_bytes(std::uint64_t size);
  // The head of so many values, or pairs of key and value.
  void begin_list(std::uint64_t count);
  void begin_map(std::uint64_t count);

 private:
  void put(unsigned marker);
  // The marker, then the number in big-endian order.
  void put(unsigned marker, std::uint64_t number, unsigned count);
  // The shortest of three forms with 1, 2 or 4 bytes of size.
  void put_size(unsigned first_marker, std::uint64_t size);

  std::string& out_;
};

}  // namespace andiron::inline v1::detail
