// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON as it goes into files: only what JSON requires is escaped. What people see comes from
// to_json() and append_json_string() (value.h).
#pragma once

#include <string>
#include <string_view>

#include "andiron/value.h"

namespace andiron::inline v1::detail {

std::string to_file_json(const Value& value, unsigned indent = 0);
void append_file_json_string(std::string& out, std::string_view text);

}  // namespace andiron::inline v1::detail
