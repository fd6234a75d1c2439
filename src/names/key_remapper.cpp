// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/names/key_remapper_test.cpp
#include "andiron/names.h"

#include <algorithm>
#include <cstddef>
#include <ostream>

#include "andiron/text.h"
#include "src/core/text/in_quotes.h"
#include "src/core/text/pattern_syntax.h"
#include "src/core/try.h"
#include "src/names/rename.h"

namespace andiron::inline v1 {

KeyRemapper KeyRemapper::from_patterns(
    const std::vector<std::pair<std::string, std::string>>& rules) {
  KeyRemapper remapper;
  for (const auto& [from, to] : rules) remapper.add_pattern(from, to);
  return remapper;
}

void KeyRemapper::add(std::string_view from, std::string to) {
  Result<Pattern> pattern = detail::pass_on_out_of_memory(Pattern::regex(from));
  if (pattern) {
    rules_.emplace_back(*std::move(pattern), std::move(to));
  } else if (!first_error_) {
    first_error_ = std::move(pattern).error();
  }
}

Status KeyRemapper::status() const ANDIRON_NO_THROW {
  if (first_error_) return *first_error_;
  return {};
}
ANDIRON_OR_OUT_OF_MEMORY

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

std::string KeyRemapper::to_string() const {
  std::string text;
  for (const auto& [pattern, replacement] : rules_) {
    text += (text.empty() ? "" : ", ") + detail::in_quotes(shown_pattern(pattern.text())) + " -> " +
            detail::in_quotes(replacement);
  }
  return "KeyRemapper[" + display_line(text) + "]";
}

std::ostream& operator<<(std::ostream& out, const KeyRemapper& remapper) {
  return out << remapper.to_string();
}

Result<Archive> remap(const Archive& archive, const KeyRemapper& remapper) ANDIRON_NO_THROW {
  ANDIRON_TRY(remapper.status());
  if (remapper.is_empty()) return archive;
  std::vector<std::optional<std::string>> names;
  for (const std::string_view name : detail::names_and_aliases(archive)) {
    names.emplace_back(remapper.remap(std::string(name)));
  }
  Result<Archive> renamed = detail::rename_tensors(archive, std::move(names), NameStage::remap);
  if (renamed) {
    detail::rename_skipped(*renamed, [&](std::string_view name) {
      return std::optional(remapper.remap(std::string(name)));
    });
  }
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
ANDIRON_OR_OUT_OF_MEMORY

std::vector<Rename> renames(const Archive& archive) {
  std::vector<Rename> changed;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const std::string_view from = archive.name_in_file(i);
    const std::string_view to = archive.info(i).name;
    if (from != to) changed.push_back({std::string(from), std::string(to)});
  }
  return changed;
}

}  // namespace andiron::inline v1
