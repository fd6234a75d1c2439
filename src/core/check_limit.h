// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks what a file asks for against a limit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "andiron/error.h"
#include "andiron/limits.h"

namespace andiron::inline v1::detail {

// The words for an error message.
struct LimitCheck {
  std::string_view message;                 // "too many tensors"
  std::uint64_t Limits::* limit = nullptr;  // the one that can be moved; none for what is fixed
  std::string_view unit = "";
  std::string_view file = {};
  std::string_view tensor = {};
};

// Returns LimitExceeded. `found` may be empty if it is unknown.
Error over_limit(std::string found, std::uint64_t most, const LimitCheck& check);

// Fails with LimitExceeded if `found` is more than `most`.
inline Status check_limit(std::uint64_t found, std::uint64_t most, const LimitCheck& check) {
  if (found <= most) return {};
  return over_limit(std::to_string(found), most, check);
}

// The same where each tensor is checked: the words are made when they are needed.
template <class MakeCheck>
  requires std::is_invocable_r_v<LimitCheck, MakeCheck>
Status check_limit(std::uint64_t found, std::uint64_t most, const MakeCheck& make_check) {
  if (found <= most) return {};
  return over_limit(std::to_string(found), most, make_check());
}

Error name_too_long(std::string_view name, const Limits& limits, std::string_view file);

// The same for the length of a name.
inline Status check_name_length(std::string_view name, const Limits& limits,
                                std::string_view file) {
  if (name.size() <= limits.name_bytes) return {};
  return name_too_long(name, limits, file);
}

}  // namespace andiron::inline v1::detail
