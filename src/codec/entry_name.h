// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the names of archive entries.
#pragma once

#include <string_view>

namespace andiron::inline v1::detail {

// Returns what is wrong with the name of an entry, or nullptr. Refuses names that leave their
// folder and names that programs read differently. `drives`: whether a letter and a colon name a
// drive.
constexpr const char* fault_of_entry_name(std::string_view name, bool drives = true) noexcept {
  if (name.empty()) return "is empty";
  if (name.front() == '/') return "begins with a slash";
  const char first = static_cast<char>(name.front() | 0x20);
  if (drives && name.size() > 1 && name[1] == ':' && first >= 'a' && first <= 'z') {
    return "begins with a drive letter";
  }
  if (name.find('\0') != name.npos) return "contains a zero byte";
  if (name.find('\\') != name.npos) return "contains a backslash";
  for (std::string_view rest = name;;) {
    const std::size_t slash = rest.find('/');
    if (rest.substr(0, slash) == "..") return "points outside its folder";
    if (slash == rest.npos) return nullptr;
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace andiron::inline v1::detail
