// SPDX-License-Identifier: MIT OR Apache-2.0
// CBOR as Burn writes it: definite lengths, every head and every float in its shortest form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/freestanding/append_cbor.h"

namespace andiron::inline v1::detail {

class CborWriter : public CborAppender<std::string> {
 public:
  using CborAppender::CborAppender;

  void integer(std::int64_t value);
  void boolean(bool value) { out_ += static_cast<char>(value ? 0xf5 : 0xf4); }
  void null() { out_ += static_cast<char>(0xf6); }
  // The shortest of f16, f32 and f64 that keeps every bit.
  void floating(double value);
};

}  // namespace andiron::inline v1::detail
