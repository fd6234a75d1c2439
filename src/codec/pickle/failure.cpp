// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/pickle_hostile_test.cpp
#include "src/codec/pickle/failure.h"

#include <array>
#include <charconv>

namespace andiron::inline v1::detail {

bool PickleFailure::fail(Error error) {
  wants_place_ = error_ == nullptr;
  return fail_as_is(std::move(error));
}

bool PickleFailure::fail_as_is(Error error) {
  if (error_ == nullptr) error_ = std::make_unique<Error>(std::move(error));
  return false;
}

bool PickleFailure::add_place(Opcode opcode, std::uint64_t position) {
  if (!wants_place_) return false;
  const auto byte = static_cast<std::uint8_t>(opcode);
  std::array<char, 2> digits{};
  const auto [end, _] = std::to_chars(digits.data(), digits.data() + digits.size(), byte, 16);
  const std::string hex = "0x" + std::string(digits.data(), end);
  const std::string_view name = opcode_infos[byte].name;
  error_->found = name.empty() ? hex : std::string(name) + " (" + hex + ")";
  error_->found += " at byte " + std::to_string(position) + " of the pickle";
  return false;
}

}  // namespace andiron::inline v1::detail
