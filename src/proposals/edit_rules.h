// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes down which tensors are split, joined and transposed, by the names that they then have.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "andiron/names.h"
#include "src/proposals/recipe.h"

namespace andiron::inline v1::detail {

// A change that tensors of the file need once they are renamed.
struct NeededEdit {
  TensorEdit::Kind kind = TensorEdit::Kind::transpose;
  // Names in the file: of the tensors that are cut or transposed, or of the first of those that
  // are joined.
  std::vector<std::string> tensors = {};
  std::string segment = {};                // of the renamed tensor: "qkv"
  bool is_joined = false;                  // segment_weight instead of segment.weight
  std::vector<std::string> parts = {};     // segments: of the parts, or of the others
  std::vector<std::uint64_t> shares = {};  // of the parts, if they differ
  std::string whole = {};                  // of what is joined, with its separator
  bool is_guess = false;
};

// A tensor's name in the file, and as edits see it.
struct NameAtEdits {
  std::string in_file;
  std::string now;
  bool is_taken;  // feeds something
};

// In the order in which they are to run. What is cut or joined in one way is one edit, which is
// sure if that is sure for one tensor.
std::vector<ProposedEdit> write_edits(std::span<const NeededEdit> needed,
                                      std::span<const NameAtEdits> names);

}  // namespace andiron::inline v1::detail
