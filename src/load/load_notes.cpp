// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/load_notes_test.cpp
#include "src/load/load_notes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "src/core/text/in_quotes.h"
#include "src/load/gap_notes.h"
#include "src/load/layout_notes.h"
#include "src/load/told_names.h"
#include "src/load/vacancies.h"
#include "src/names/training_names.h"

namespace andiron::inline v1::detail {
namespace {

void note_empty_filter(const std::vector<Slot>& slots, ApplyResult& result) {
  if (slots.empty() || result.skipped.size() != slots.size()) return;
  result.notes.push_back("no parameter matches the filter; parameters look like " +
                         in_quotes(slots.front().path));
}

void note_changed_dtypes(const std::vector<Slot>& slots, const std::vector<Assignment>& assignments,
                         ApplyResult& result) {
  std::vector<std::string_view> changed;
  std::string example;
  for (const Assignment& assignment : assignments) {
    if (!assignment.changes_dtype) continue;
    const Slot& slot = slots[assignment.slot];
    if (changed.empty()) {
      example = std::string(dtype_name(slot.ops->info(slot.leaf).dtype)) + " to " +
                assignment.tensor.dtype_text();
    }
    changed.push_back(slot.path);
  }
  if (changed.empty()) return;
  result.notes.push_back("the source changes the dtype of " + in_quotes_and_others(changed) + " (" +
                         example + "); use " + Message(Advice::cast_to_module) +
                         " to keep the module's");
}

// What is missing, and is in the file.
void note_not_taken(const Archive& source, ApplyResult& result) {
  if (result.missing.empty() || source.skipped().empty()) return;
  std::unordered_map<std::string_view, const Message*> reasons;
  for (const Skipped& skipped : source.skipped()) reasons.emplace(skipped.name, &skipped.reason);
  std::vector<std::string_view> names;
  for (const MissingTensor& missing : result.missing) {
    if (reasons.contains(missing.path)) names.push_back(missing.path);
  }
  if (names.empty()) return;
  result.notes.push_back("skipped in the file: " + in_quotes_and_others(names) + ": " +
                         *reasons[names.front()]);
}

// A weight that is missing, while the source has what it is computed from.
void note_parts_of_weights(const Archive& source, const LoadPlan& plan, ApplyResult& result) {
  if (result.missing.empty()) return;
  std::vector<std::string_view> parts;
  for (const std::size_t index : plan.unused) {
    const std::string_view name = source.info(index).name;
    if (is_weight_part(name)) parts.push_back(name);
  }
  if (parts.empty()) return;
  result.notes.push_back(
      "PyTorch computes a weight from " + ToldNames(source).quoted_and_others(parts) + "; " +
      Message(Advice::fold_weight_norm) +
      " computes the weights of weight norm; for others, remove the parametrization in PyTorch and "
      "save again");
}

void note_guesses(const ApplyOptions& options, ApplyResult& result) {
  if (options.guesses.empty()) return;
  std::string text = options.guesses.size() == 1
                         ? "a setting was guessed; check what it loads: "
                         : "some settings were guessed; check what they load: ";
  for (std::size_t i = 0; i < options.guesses.size(); ++i) {
    text += (i == 0 ? "" : ", ") + options.guesses[i];
  }
  result.notes.push_back(std::move(text));
}

}  // namespace

void add_load_notes(const ModuleSlots& module, const Archive& source, const ApplyOptions& options,
                    LoadPlan& plan) {
  ApplyResult& result = plan.result;
  note_guesses(options, result);
  note_empty_filter(module.slots, result);
  note_changed_dtypes(module.slots, plan.assignments, result);
  if (!result.unused.empty()) find_vacancies(module, source, options, plan);
  note_not_taken(source, result);
  note_parts_of_weights(source, plan, result);
  note_closed_gaps(module.slots, source, plan);
  note_layout(module.slots, source, options, plan);
}

}  // namespace andiron::inline v1::detail
