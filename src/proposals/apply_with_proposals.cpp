// SPDX-License-Identifier: MIT OR Apache-2.0
// A load from end to end: plan, propose where it does not match, check, read, swap.
// Tested by tests/load/apply_test.cpp and tests/load/plan_test.cpp
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "andiron/apply.h"
#include "src/core/try.h"
#include "src/load/alternatives.h"
#include "src/load/load_plan.h"
#include "src/load/loader.h"
#include "src/names/training_names.h"
#include "src/proposals/proposals.h"
#include "src/proposals/training_notes.h"

namespace andiron::inline v1::detail {
namespace {

bool is_mismatch(const Error& error) {
  return error.code == ErrorCode::shape_mismatch || error.code == ErrorCode::adapter_failed;
}

// `skipped`: slots that are left out, in order. Of tied parameters the first counts: it feeds the
// others.
std::vector<WantedTensor> wanted_tensors(const std::vector<Slot>& slots,
                                         const std::vector<std::size_t>& skipped,
                                         bool other_paths) {
  std::vector<WantedTensor> wanted;
  wanted.reserve(slots.size());
  std::unordered_set<const void*> seen;
  seen.reserve(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (std::binary_search(skipped.begin(), skipped.end(), i)) continue;
    const Slot& slot = slots[i];
    if (!seen.insert(slot.ops->identity(slot.leaf)).second) continue;
    const bool is_other = other_paths && !slot.other_path.empty();
    wanted.push_back(
        {{is_other ? slot.other_path : slot.path, slot.container}, slot.ops->info(slot.leaf)});
  }
  return wanted;
}

// The same filter, which is not asked again for parameters that it was asked for.
PathFilter remembered(const PathFilter& filter, const std::vector<Slot>& slots,
                      const std::vector<std::size_t>& skipped) {
  auto is_taken = std::make_shared<std::unordered_map<std::string_view, bool>>();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const bool is_skipped = std::binary_search(skipped.begin(), skipped.end(), i);
    is_taken->emplace(slots[i].path, !is_skipped);
    if (!slots[i].other_path.empty()) is_taken->emplace(slots[i].other_path, !is_skipped);
  }
  return PathFilter().with_predicate(
      [is_taken, filter](std::string_view path, const Container& container) {
        const auto known = is_taken->find(path);
        return known != is_taken->end() ? known->second : filter.matches(path, container);
      });
}

// A tensor that a load by a proposal would refuse, as the module is too short for it.
std::string refused_by(const Proposal& proposal, const ModuleSlots& module,
                       const LoadSource& source, const ApplyOptions& present,
                       const std::vector<std::size_t>& skipped) {
  NameOptions names = source.names;
  ApplyOptions options = present;
  options.filter = remembered(present.filter, module.slots, skipped);
  apply_proposal(proposal, names, options);
  const Result<Archive> named = pass_on_out_of_memory(apply_names(source.opened, names));
  if (!named) return {};
  ModuleSlots flipped;
  const bool flips = options.skip_enum_variants != present.skip_enum_variants;
  if (flips) {
    flipped.slots = module.slots;
    flipped.vacancies = module.vacancies;
    for (Slot& slot : flipped.slots) {
      if (!slot.other_path.empty()) std::swap(slot.path, slot.other_path);
    }
  }
  const Result<LoadPlan> plan =
      pass_on_out_of_memory(make_load_plan(flips ? flipped : module, *named, options));
  return plan && is_refused_as_too_short(*plan, options) ? plan->too_short->tensor : std::string();
}

// Mismatches are rare, so what the search costs is spent only on them.
Result<LoadPlan> plan_with_proposals(const ModuleSlots& module, const LoadSource& source,
                                     const ApplyOptions& options) {
  ANDIRON_ASSIGN(LoadPlan plan, make_load_plan(module, source.named, options));
  ApplyResult& result = plan.result;
  const bool tells_why = note_training_names(result);
  const auto drop_key_note = [&] {
    std::erase_if(result.notes,
                  [](const Message& note) { return note.advises(Advice::top_level_key); });
  };
  const bool matches = result.missing.empty() &&
                       std::none_of(result.errors.begin(), result.errors.end(), is_mismatch);
  const bool takes_any = !result.applied.empty() || !result.errors.empty();
  if (!source.names.top_level_key.empty() || (matches && takes_any)) drop_key_note();
  if (matches || !options.propose) return plan;
  const std::vector<WantedTensor> wanted = wanted_tensors(module.slots, plan.skipped, false);
  const bool has_variants = std::any_of(module.slots.begin(), module.slots.end(),
                                        [](const Slot& slot) { return !slot.other_path.empty(); });
  std::vector<WantedTensor> wanted_other;
  if (has_variants) wanted_other = wanted_tensors(module.slots, plan.skipped, true);
  Guidance guidance = guide({.wanted = wanted,
                             .wanted_other = has_variants ? wanted_other : wanted,
                             .source = source,
                             .options = options,
                             .tells_shapes = !plan.shape_reason.empty(),
                             .tells_why = tells_why,
                             .too_short_for = [&](const Proposal& proposal) {
                               return refused_by(proposal, module, source, options, plan.skipped);
                             }});
  result.proposals = std::move(guidance.proposals);
  // A proposal that changes names knows better what the model is under.
  const bool names_key =
      !result.proposals.empty() &&
      std::any_of(
          result.proposals.front().steps.begin(), result.proposals.front().steps.end(),
          [](const ProposedStep& step) { return step.sets<TakeKey>() || step.sets<RenameKeys>(); });
  if (names_key) drop_key_note();
  std::move(guidance.notes.begin(), guidance.notes.end(), std::back_inserter(result.notes));
  // Both speak of the same tensors. If nothing fits, similar names are chance.
  const bool is_hopeless = guidance.is_other_family ||
                           (result.proposals.empty() && 2 * result.missing.size() > wanted.size());
  for (std::size_t i = 0; i < result.missing.size(); ++i) {
    MissingTensor& missing = result.missing[i];
    const auto meant = guidance.meant.find(missing.path);
    const auto guessed = guidance.guessed.find(missing.path);
    const bool is_guessed =
        guessed != guidance.guessed.end() && guessed->second == missing.did_you_mean;
    if (meant != guidance.meant.end()) {
      const bool helps = i < ApplyResult::shown && meant->second != missing.path;
      missing.did_you_mean = helps ? meant->second : "";
    } else if (is_hopeless || (!result.proposals.empty() && !is_guessed) ||
               is_lora_matrix(missing.did_you_mean)) {
      missing.did_you_mean.clear();
    }
  }
  return plan;
}

}  // namespace

LoadSource LoadSource::as_it_is(const Archive& archive) {
  static const NameOptions no_stages;
  return {archive, no_stages, archive};
}

Result<ApplyResult> apply_slots(const ModuleSlots& module, const LoadSource& source,
                                const ApplyOptions& options) {
  ANDIRON_ASSIGN(Alternatives alternatives, Alternatives::choose(module, source.named, options));
  const ModuleSlots& chosen = alternatives.module();
  ANDIRON_ASSIGN(LoadPlan plan, plan_with_proposals(chosen, source, options));
  alternatives.add_notes(plan.result);
  ANDIRON_TRY(check_load(plan, source.named, options));
  Loader loader(plan, chosen.slots, source.named, options);
  ANDIRON_TRY(loader.take_all());
  ApplyResult result = std::move(loader).finish();
  alternatives.swap_in();
  return result;
}

Result<Plan> plan_slots(const ModuleSlots& given, const LoadSource& source,
                        const ApplyOptions& options) {
  ANDIRON_ASSIGN(const Alternatives alternatives,
                 Alternatives::choose(given, source.named, options));
  const ModuleSlots& module = alternatives.module();
  ANDIRON_ASSIGN(LoadPlan load, plan_with_proposals(module, source, options));
  alternatives.add_notes(load.result);
  Plan plan;
  plan.byte_size = load.byte_size;
  plan.is_too_short = load.too_short.has_value();
  for (const Assignment& assignment : load.assignments) {
    PlannedTensor& planned = plan.tensors.emplace_back();
    planned.path = module.slots[assignment.slot].path;
    for (std::uint32_t i = 0; i < assignment.source_count; ++i) {
      const std::uint32_t index = load.sources[assignment.first_source + i];
      planned.sources.emplace_back(source.named.name_in_file(index));
    }
    planned.dtype = assignment.tensor.dtype();
    planned.shape = assignment.tensor.shape();
    const Slot& slot = module.slots[assignment.slot];
    const Slot& read = module.slots[assignment.read_slot];
    const bool is_turned = slot.ops->is_transposed(slot.leaf) != read.ops->is_transposed(read.leaf);
    if (is_turned && planned.shape.rank() == 2) std::swap(planned.shape[0], planned.shape[1]);
    planned.byte_size = assignment.tensor.byte_size();
  }
  if (is_refused_as_too_short(load, options)) {
    Error& error = load.result.errors.emplace_back(*load.too_short);
    error.file = source.named.origin();
  }
  plan.result = std::move(load.result);
  return plan;
}

}  // namespace andiron::inline v1::detail
