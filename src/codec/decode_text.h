// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON text as an owned string.
#pragma once

#include <string>

#include "andiron/safetensors_view.h"

namespace andiron::inline v1::detail {

inline std::string decode_text(const JsonText& text) {
  std::string out(text.raw.size(), '\0');
  out.resize(text.decode(out.data()));
  return out;
}

}  // namespace andiron::inline v1::detail
