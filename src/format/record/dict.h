// SPDX-License-Identifier: MIT OR Apache-2.0
// Looks up entries in the dicts of a record.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/shape.h"
#include "andiron/value.h"

namespace andiron::inline v1::detail {

// The value under a key, or nullptr.
const Value* find(const ValueDict& dict, std::string_view key);
// REQUIRES: the key is there.
void set(ValueDict& dict, std::string_view key, Value value);
// A key that is there twice, or nullptr.
const std::string* repeated_key(const ValueDict& dict);

// A list of sizes, or {"dims": list}.
std::optional<Shape> shape_of(const Value* value);
// The metadata of a record: a dict of texts.
std::optional<Metadata> metadata_of(const Value* value);

}  // namespace andiron::inline v1::detail
