// SPDX-License-Identifier: MIT OR Apache-2.0
// The error for two tensors with one name.
#pragma once

#include <string>
#include <utility>

#include "andiron/error.h"

namespace andiron::inline v1::detail {

inline Error name_collision(std::string name, std::string found,
                            Message hint = Advice::rename_apart) {
  return Error{.code = ErrorCode::name_collision,
               .message = "two tensors would get this name",
               .tensor = std::move(name),
               .found = std::move(found),
               .hint = std::move(hint)};
}

}  // namespace andiron::inline v1::detail
