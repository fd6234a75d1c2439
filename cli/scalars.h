// SPDX-License-Identifier: MIT OR Apache-2.0
// What lies beside the tensors of a file.
#pragma once

#include <string>

#include "andiron/archive.h"
#include "cli/terminal.h"

namespace andiron::cli {

/// The numbers and truth values at the top of value(), by name: what Burnpack has a place for.
ValueDict top_level_scalars(const Archive& archive);

/// Appends a table of values with their dotted names, if there are any: the first ones, those near
/// the top before those below them, and how many more there are.
void append_value_table(std::string& out, const Archive& archive, const Page& page);
/// Appends a table of scalars with their types, if there are any.
void append_scalar_table(std::string& out, const Archive& archive, const Page& page);
/// Appends `,"scalars":{"lr":{"Float":0.001}}`, if there are any. Numbers that JSON lacks are
/// strings.
void append_json_scalars(std::string& out, const Archive& archive);

}  // namespace andiron::cli
