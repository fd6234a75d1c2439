// SPDX-License-Identifier: MIT OR Apache-2.0
// The order of the stages that change names. Nothing else knows it.
// Tested by tests/names/names_test.cpp
#include "andiron/names.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "andiron/text.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/core/with_file.h"

namespace andiron::inline v1 {
namespace {

// The remapper may have put the model under a key that no reader of the file knows.
bool is_in_file(const Archive& archive, std::string_view key) {
  const std::string prefix = std::string(key) + ".";
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (archive.name_in_file(i).starts_with(prefix)) return true;
  }
  return false;
}

// Other formats have no wrappers: a "model" in their names is a part of the model.
void note_top_level_key(Archive& archive) {
  if (!archive.is_pickled()) return;
  const std::optional<std::string> key = suggest_top_level_key(archive);
  if (!key || !is_in_file(archive, *key)) return;
  Message note = "the model seems to be under the key " + detail::in_quotes(*key) + "; " +
                 Message(Advice::top_level_key, *key);
  // Stages may run again on what they gave.
  const std::vector<Message>& notes = archive.notes();
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) archive.add_note(std::move(note));
}

Result<Archive> in_order(Archive archive, const NameOptions& options) {
  if (!options.top_level_key.empty()) {
    ANDIRON_ASSIGN(archive, at_top_level_key(archive, options.top_level_key));
  }
  if (options.fold_weight_norm) {
    ANDIRON_ASSIGN(archive, fold_weight_norm(archive));
  }
  ANDIRON_ASSIGN(archive, remap(archive, options.remapper));
  if (options.top_level_key.empty()) note_top_level_key(archive);
  if (!options.edits.empty()) {
    ANDIRON_ASSIGN(archive, edit_tensors(archive, options.edits));
  }
  if (!options.close_gaps) return archive;
  return close_index_gaps(archive, {.except = options.except, .kept_lists = options.kept_lists});
}

}  // namespace

Status NameOptions::status() const ANDIRON_NO_THROW {
  ANDIRON_TRY(remapper.status());
  for (const std::string& pattern : except) ANDIRON_TRY(Pattern::regex(pattern));
  for (const TensorEdit& edit : edits) ANDIRON_TRY(edit.status());
  return {};
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Archive> apply_names(const Archive& archive, const NameOptions& options) ANDIRON_NO_THROW {
  ANDIRON_TRY(options.status());
  Result<Archive> named = in_order(archive, options);
  if (!named) return with_file(std::move(named).error(), archive.origin());
  return named;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
