// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON text to and from Value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "andiron/error.h"
#include "andiron/value.h"

namespace andiron::inline v1 {

/// Parses strict JSON (RFC 8259, UTF-8, no comments, no trailing bytes but white space). Duplicate
/// keys, nesting deeper than max_json_depth and numbers outside double are errors (DuplicateKey,
/// LimitExceeded, BadHeader with the byte position).
Result<Value> parse_json(std::string_view text);

/// Compact JSON, or with `indent` spaces a level when that is not zero. Bytes become a list of
/// numbers, a tensor index {"tensor": i}; NaN and infinities become null.
std::string to_json(const Value& value, unsigned indent = 0);

/// Appends a quoted JSON string. Escapes quote, backslash and control characters; text that is not
/// UTF-8 has its bad bytes replaced by U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace andiron::inline v1
