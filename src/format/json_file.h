// SPDX-License-Identifier: MIT OR Apache-2.0
// Small JSON files: configs.
#pragma once

#include <string>

#include "andiron/error.h"
#include "andiron/value.h"

namespace andiron::inline v1::detail {

// Errors of parse_json() name the file.
Result<Value> read_json_file(const std::string& path);

// Replaces what is there; the file appears whole or not at all.
Status write_json_file(const Value& value, const std::string& path);

}  // namespace andiron::inline v1::detail
