// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/transfer/key_remapper_test.cpp
#include "andiron/key_remapper.h"

#include "src/core/try.h"
#include "src/transfer/new_names.h"

namespace andiron {
inline namespace v1 {

KeyRemapper& KeyRemapper::add_pattern(std::string_view from, std::string to) & {
  Result<Pattern> pattern = Pattern::regex(from);
  if (pattern) {
    rules_.emplace_back(*std::move(pattern), std::move(to));
  } else if (!first_error_) {
    first_error_ = std::move(pattern).error();
  }
  return *this;
}

KeyRemapper&& KeyRemapper::add_pattern(std::string_view from, std::string to) && {
  return std::move(add_pattern(from, std::move(to)));
}

Status KeyRemapper::status() const {
  if (first_error_) return *first_error_;
  return {};
}

std::string KeyRemapper::remap(std::string name) const {
  for (const auto& [pattern, replacement] : rules_) name = pattern.replace_all(name, replacement);
  return name;
}

std::vector<std::string> KeyRemapper::warnings() const {
  std::vector<std::string> warnings;
  for (const auto& [pattern, replacement] : rules_) {
    std::string warning = pattern.check_replacement(replacement);
    if (!warning.empty()) warnings.push_back(std::move(warning));
  }
  return warnings;
}

Result<Archive> remap(const Archive& archive, const KeyRemapper& remapper) {
  ANDIRON_TRY(remapper.status());
  if (remapper.is_empty()) return archive;
  std::vector<std::optional<std::string>> names;
  for (const std::string_view name : names_and_aliases(archive)) {
    names.emplace_back(remapper.remap(std::string(name)));
  }
  Result<Archive> renamed = with_new_names(archive, std::move(names));
  for (std::string& warning : remapper.warnings()) {
    // A group that is not there makes names equal more often than not.
    if (!renamed) {
      Error error = std::move(renamed).error();
      error.hint = std::move(warning);
      return error;
    }
    renamed->add_note(std::move(warning));
  }
  return renamed;
}

}  // namespace v1
}  // namespace andiron
