// SPDX-License-Identifier: MIT OR Apache-2.0
// The numbers beside the tensors of a file.
#pragma once

#include <string>

#include "andiron/archive.h"
#include "cli/terminal.h"

namespace andiron::cli {

/// The numbers and truth values at the top of value(), by name: what Burnpack has a place for.
ValueDict top_level_scalars(const Archive& archive);

/// Appends a table of scalars, if there are any.
void append_scalar_table(std::string& out, const Archive& archive, const Page& page);
/// Appends `,"scalars":{"lr":{"Float":0.001}}`, if there are any. Numbers that JSON lacks are
/// strings.
void append_json_scalars(std::string& out, const Archive& archive);

}  // namespace andiron::cli
