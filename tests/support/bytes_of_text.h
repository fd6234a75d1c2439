// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "andiron/bytes.h"

namespace andiron::test {

inline Bytes bytes_of_text(std::string_view text) {
  return Bytes::copy(std::as_bytes(std::span(text))).value();
}

}  // namespace andiron::test
