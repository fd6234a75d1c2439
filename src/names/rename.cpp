// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/names/rename_test.cpp
#include "src/names/rename.h"

#include <cstddef>
#include <utility>

#include "src/core/name_collision.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

std::vector<std::string_view> names_and_aliases(const Archive& archive) {
  std::vector<std::string_view> names;
  names.reserve(archive.size() + archive.aliases().size());
  for (std::size_t i = 0; i < archive.size(); ++i) names.push_back(archive.info(i).name);
  for (const auto& [alias, kept] : archive.aliases()) names.push_back(alias);
  return names;
}

Result<Archive> rename_tensors(const Archive& archive,
                               std::vector<std::optional<std::string>> new_names, NameStage stage) {
  struct Tie {
    std::string alias;
    std::size_t tensor;
  };
  std::vector<Tie> ties;
  std::size_t next = archive.size();
  for (const auto& [alias, kept] : archive.aliases()) {
    std::optional<std::string> name = std::move(new_names[next++]);
    const std::optional<std::size_t> tensor = archive.find(kept);
    if (!name || !tensor) continue;
    if (!new_names[*tensor]) {
      new_names[*tensor] = std::move(name);
    } else {
      ties.push_back({*std::move(name), *tensor});
    }
  }

  std::vector<std::size_t> taken;
  std::vector<std::string> names;
  bool is_renamed = false;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (!new_names[i]) continue;
    taken.push_back(i);
    names.push_back(*new_names[i]);
    is_renamed = is_renamed || *new_names[i] != archive.info(i).name;
  }
  Archive changed = archive;
  if (taken.size() < archive.size()) {
    ANDIRON_ASSIGN(changed, archive.select(taken));
  }
  if (is_renamed) {
    ANDIRON_ASSIGN(changed, changed.rename(names, stage));
  }
  if (archive.aliases().empty()) return changed;

  changed.set_aliases({});
  Aliases aliases;
  for (Tie& tie : ties) {
    const std::string& kept = *new_names[tie.tensor];
    if (tie.alias == kept) continue;
    const auto [other, is_new] = aliases.try_emplace(tie.alias, kept);
    if (changed.find(tie.alias) || other->second != kept) {
      return name_collision(tie.alias, "one of them is tied to " + in_quotes(kept));
    }
  }
  changed.set_aliases(std::move(aliases));
  return changed;
}

void rename_skipped(Archive& archive,
                    const std::function<std::optional<std::string>(std::string_view)>& new_name) {
  if (archive.skipped().empty()) return;
  std::vector<Skipped> renamed;
  for (const Skipped& skipped : archive.skipped()) {
    if (auto name = new_name(skipped.name)) renamed.push_back({*std::move(name), skipped.reason});
  }
  archive.set_skipped(std::move(renamed));
}

}  // namespace andiron::inline v1::detail
