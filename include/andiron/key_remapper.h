// SPDX-License-Identifier: MIT OR Apache-2.0
// Renaming tensors.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/pattern.h"

namespace andiron::inline v1 {

/// Regular expressions with replacements, applied in order, each to the result of the one before
/// and to every match (see Pattern::replace_all). The first bad pattern is kept, as in PathFilter.
///
///   KeyRemapper().add_pattern(R"(^model\.)", "").add_pattern(R"(norm(\d+))", "norm_$1")
class KeyRemapper {
 public:
  using Rule = std::pair<Pattern, std::string>;

  /// KeyRemapper::from_patterns({{R"(^model\.)", ""}, {R"(norm(\d+))", "norm_$1"}})
  static KeyRemapper from_patterns(const std::vector<std::pair<std::string, std::string>>& rules);
  KeyRemapper& add_pattern(std::string_view from, std::string to);

  const std::vector<Rule>& rules() const noexcept { return rules_; }
  bool is_empty() const noexcept { return rules_.empty() && !first_error_; }
  /// InvalidPattern for the first pattern that did not parse.
  Status status() const;
  /// REQUIRES: status() is ok.
  std::string remap(std::string name) const;
  /// Warnings about replacements that name groups their pattern lacks.
  std::vector<std::string> warnings() const;
  /// "KeyRemapper['^model\.' -> '', 'norm(\d+)' -> 'norm_$1']". Safe to print.
  std::string to_string() const;

 private:
  std::vector<Rule> rules_;
  std::optional<Error> first_error_;
};

std::ostream& operator<<(std::ostream& out, const KeyRemapper& remapper);

/// The tensors of `archive` under their new names, with the remapper's warnings as notes.
/// NameCollision when two become one.
Result<Archive> remap(const Archive& archive, const KeyRemapper& remapper);

/// A tensor's name before and after.
struct Rename {
  std::string from;
  std::string to;

  friend bool operator==(const Rename&, const Rename&) = default;
};

/// The tensors that have other names than in the file, whatever stages gave them.
std::vector<Rename> renames(const Archive& archive);

}  // namespace andiron::inline v1
