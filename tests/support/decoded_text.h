// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

namespace andiron::test {

/// What a CborText or a JsonText stands for.
template <class EncodedText>
std::string decode_text(const EncodedText& text) {
  std::string out(text.raw.size(), '\0');
  out.resize(text.decode(out.data()));
  return out;
}

}  // namespace andiron::test
