// SPDX-License-Identifier: MIT OR Apache-2.0
// What lies beside the tensors of a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "andiron/archive.h"
#include "andiron/limits.h"
#include "andiron/value.h"
#include "cli/terminal.h"

namespace andiron::cli {

/// The values of an archive. If they cannot be had, null, and one note more that says why: whoever
/// asks for tensors gets them all the same.
struct ValuesBeside {
  Value tree;
  std::vector<Message> notes;  ///< the archive's
};
ValuesBeside values_beside(const Archive& archive);

/// How deep values may nest in the JSON objects that the tool prints. JSON readers, ours too, bound
/// the depth of a text.
inline constexpr unsigned levels_within_json = max_json_depth - 1;

/// The tree without tensors, and without lists and dicts of nothing else; null stands for a tensor
/// among other items of a list, and for lists and dicts below so many levels. Nothing if nothing is
/// left.
std::optional<Value> without_tensors(const Value& tree, unsigned levels = levels_within_json);

/// Appends a table of values with their dotted names, if there are any: the first ones, those near
/// the top before those below them, and how many more there are.
void append_value_table(std::string& out, const Value& tree, const Page& page);
/// Appends a table of scalars with their types, if there are any.
void append_scalar_table(std::string& out, const Value& tree, const Page& page);
/// Appends `,"values":...`: the tree without its tensors, if something is left.
void append_json_values(std::string& out, const Value& tree);
/// Appends `,"scalars":{"lr":{"Float":0.001}}`, if there are any at the top of the tree. Numbers
/// that JSON lacks are strings.
void append_json_scalars(std::string& out, const Value& tree);

}  // namespace andiron::cli
