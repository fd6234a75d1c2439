// SPDX-License-Identifier: MIT OR Apache-2.0
// The pieces of a tensor's name.
#pragma once

#include <string>
#include <string_view>

namespace andiron::inline v1::detail {

// What separates segments: dots, and slashes in files of TensorFlow.
inline constexpr std::string_view name_separators = "./";

// The name without its last segment; empty if there is only one.
inline std::string_view module_path(std::string_view name) {
  const std::size_t at = name.find_last_of(name_separators);
  return at == std::string_view::npos ? std::string_view() : name.substr(0, at);
}
inline std::string_view last_segment(std::string_view name) {
  const std::size_t at = name.find_last_of(name_separators);
  return at == std::string_view::npos ? name : name.substr(at + 1);
}

// Whether a module above the tensor has this name.
inline bool has_segment(std::string_view name, std::string_view segment) {
  for (std::size_t at = name.find(segment); at != name.npos; at = name.find(segment, at + 1)) {
    const std::size_t end = at + segment.size();
    if ((at == 0 || name[at - 1] == '.') && end < name.size() && name[end] == '.') return true;
  }
  return false;
}

// Stands for a number in name_kind(); no name that is looked at has it.
inline constexpr char number_mark = '\x01';

// The name with number_mark for its numbers: equal for the same tensor of all blocks.
std::string name_kind(std::string_view name);

}  // namespace andiron::inline v1::detail
