// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/alternatives_test.cpp
#include "src/load/alternatives.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "src/adapters/archive_lookup.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

using BuiltList = std::vector<std::unique_ptr<BuiltAlternative>>;

// Slots that take the place of others.
struct Splice {
  std::size_t first;
  std::size_t count;
  std::vector<Slot> slots;
};

template <class T>
void move_to_end(std::vector<T>& list, std::vector<T>& further) {
  list.insert(list.end(), std::move_iterator(further.begin()), std::move_iterator(further.end()));
}

std::vector<Slot> spliced(const std::vector<Slot>& slots, std::vector<Splice> splices) {
  std::sort(splices.begin(), splices.end(),
            [](const Splice& a, const Splice& b) { return a.first < b.first; });
  std::vector<Slot> result;
  std::size_t next = 0;
  for (Splice& splice : splices) {
    result.insert(result.end(), slots.begin() + static_cast<std::ptrdiff_t>(next),
                  slots.begin() + static_cast<std::ptrdiff_t>(splice.first));
    move_to_end(result, splice.slots);
    next = splice.first + splice.count;
  }
  result.insert(result.end(), slots.begin() + static_cast<std::ptrdiff_t>(next), slots.end());
  return result;
}

// An alternative that could replace the present one, with all that is chosen within it.
struct Candidate {
  std::size_t index = 0;
  std::vector<Slot> slots = {};
  std::vector<Vacancy> vacancies = {};
  BuiltList built = {};             // inner ones first, itself last
  std::vector<Message> notes = {};  // on those within it
};

using TensorNames = std::set<std::string, std::less<>>;

class RecordingLookup final : public TensorLookup {
 public:
  explicit RecordingLookup(const Archive& archive) : lookup_(archive) {}
  Result<std::optional<TensorSnapshot>> find(std::string_view name) override ANDIRON_NO_THROW {
    Result<std::optional<TensorSnapshot>> found = lookup_.find(name);
    if (found && *found) names.emplace(name);
    return found;
  }
  ANDIRON_OR_OUT_OF_MEMORY

  TensorNames names;

 private:
  ArchiveLookup lookup_;
};

class Chooser {
 public:
  Chooser(const Archive& source, const ApplyOptions& options)
      : source_(source), options_(options) {}

  // The slots of a module after the choice, if something is chosen.
  std::optional<std::vector<Slot>> choose(const ModuleSlots& module, BuiltList& built,
                                          std::vector<Vacancy>& vacancies,
                                          std::vector<Message>& notes) const {
    std::vector<Splice> splices;
    const std::set<const void*> shared = shared_variants(module);
    for (std::size_t i = 0; i < module.variants.size();) {
      const VariantPlace& place = module.variants[i];
      if (shared.contains(place.variant)) {
        i = place.next_variant;
        continue;
      }
      std::optional<Candidate> candidate = only_match(module, place);
      if (!candidate) {
        ++i;
        continue;
      }
      notes.push_back(note(place, candidate->index));
      splices.push_back({place.first_slot, place.slot_count, std::move(candidate->slots)});
      move_to_end(vacancies, candidate->vacancies);
      move_to_end(notes, candidate->notes);
      move_to_end(built, candidate->built);
      i = place.next_variant;
    }
    if (splices.empty()) return std::nullopt;
    return spliced(module.slots, std::move(splices));
  }

 private:
  // Variants that several shared pointers lead to. What one place chooses would pull the others'
  // alternative from under them.
  static std::set<const void*> shared_variants(const ModuleSlots& module) {
    std::set<const void*> seen;
    std::set<const void*> shared;
    for (const VariantPlace& place : module.variants) {
      if (!seen.insert(place.variant).second) shared.insert(place.variant);
    }
    return shared;
  }

  // `used`, if there is one, gets the names of the tensors that it is made from.
  std::optional<TensorSnapshot> find(const Slot& slot, TensorNames* used = nullptr) const {
    RecordingLookup lookup(source_);
    auto found =
        pass_on_out_of_memory(options_.adapter->load(Place{slot.path, slot.container}, lookup));
    if (!found || !*found) return std::nullopt;
    if (used != nullptr) used->merge(lookup.names);
    return *std::move(found);
  }

  TensorNames tensors_for(std::span<const Slot> slots) const {
    TensorNames used;
    for (const Slot& slot : slots) find(slot, &used);
    return used;
  }

  bool takes_part(const Slot& slot) const {
    return options_.filter.matches(slot.path, slot.container);
  }

  // By name, and with as many dimensions as the parameter has.
  bool is_served(const Slot& slot) const {
    const std::optional<TensorSnapshot> found = find(slot);
    if (!found) return false;
    const LeafInfo info = slot.ops->info(slot.leaf);
    return info.accepts_any_shape || info.shape.rank() == found->shape().rank();
  }

  // Whether a name of the present alternative is missing. One without parameters gives way to one
  // that the source has.
  bool misses_names(std::span<const Slot> present) const {
    const auto misses = [&](const Slot& slot) { return takes_part(slot) && !find(slot); };
    return present.empty() || std::any_of(present.begin(), present.end(), misses);
  }

  std::optional<Candidate> only_match(const ModuleSlots& module, const VariantPlace& place) const {
    const auto present = std::span(module.slots).subspan(place.first_slot, place.slot_count);
    if (!misses_names(present)) return std::nullopt;
    const TensorNames taken = tensors_for(present);
    std::optional<Candidate> match;
    for (std::size_t i = 0; i < place.ops->count; ++i) {
      if (i == place.present) continue;
      std::optional<Candidate> candidate = build(place, i);
      // One that takes nothing but what the present one takes as well is not told apart by names.
      if (!candidate) continue;
      const TensorNames wanted = tensors_for(candidate->slots);
      if (std::includes(taken.begin(), taken.end(), wanted.begin(), wanted.end())) continue;
      if (match) return std::nullopt;
      match = std::move(candidate);
    }
    return match;
  }

  // Nothing if the source does not have all of the alternative.
  std::optional<Candidate> build(const VariantPlace& place, std::size_t index) const {
    std::unique_ptr<BuiltAlternative> alternative = place.ops->build(place.variant, index);
    if (alternative == nullptr) return std::nullopt;
    ModuleSlots module = alternative->slots(*place.place);
    drop_empty_optionals(module);
    Candidate candidate{.index = index};
    std::optional<std::vector<Slot>> chosen =
        choose(module, candidate.built, candidate.vacancies, candidate.notes);
    move_to_end(candidate.vacancies, module.vacancies);
    candidate.slots = chosen ? *std::move(chosen) : std::move(module.slots);
    const auto served = [&](const Slot& slot) { return is_served(slot); };
    const auto takes = [&](const Slot& slot) { return takes_part(slot); };
    const std::vector<Slot>& slots = candidate.slots;
    if (!std::all_of(slots.begin(), slots.end(), served) ||
        std::none_of(slots.begin(), slots.end(), takes)) {
      return std::nullopt;
    }
    candidate.built.push_back(std::move(alternative));
    return candidate;
  }

  // Empties the optionals that the source has nothing for.
  void drop_empty_optionals(ModuleSlots& module) const {
    std::vector<bool> is_dropped(module.slots.size());
    std::vector<bool> drops_variant(module.variants.size());
    for (const FilledOptional& filled : module.optionals) {
      const std::size_t end = filled.first_slot + filled.slot_count;
      bool serves = false;
      for (std::size_t i = filled.first_slot; i < end; ++i) {
        serves = serves || (!is_dropped[i] && is_served(module.slots[i]));
      }
      // One of whose variants another alternative would be chosen has something, too.
      for (std::size_t i = filled.first_variant; i < filled.next_variant && !serves; ++i) {
        serves = !drops_variant[i] && only_match(module, module.variants[i]);
      }
      if (serves) continue;
      filled.clear(filled.optional);
      for (std::size_t i = filled.first_slot; i < end; ++i) is_dropped[i] = true;
      for (std::size_t i = filled.first_variant; i < filled.next_variant; ++i) {
        drops_variant[i] = true;
      }
    }
    keep_rest(module, is_dropped, drops_variant);
  }

  static void keep_rest(ModuleSlots& module, const std::vector<bool>& is_dropped,
                        const std::vector<bool>& drops_variant) {
    std::vector<std::size_t> slot_at(is_dropped.size() + 1);  // where each slot will be
    for (std::size_t i = 0; i < is_dropped.size(); ++i) {
      slot_at[i + 1] = slot_at[i] + (is_dropped[i] ? 0 : 1);
    }
    std::vector<std::size_t> variant_at(drops_variant.size() + 1);
    for (std::size_t i = 0; i < drops_variant.size(); ++i) {
      variant_at[i + 1] = variant_at[i] + (drops_variant[i] ? 0 : 1);
    }
    ModuleSlots kept{.vacancies = std::move(module.vacancies)};
    for (std::size_t i = 0; i < module.slots.size(); ++i) {
      if (!is_dropped[i]) kept.slots.push_back(std::move(module.slots[i]));
    }
    for (std::size_t i = 0; i < module.variants.size(); ++i) {
      if (drops_variant[i]) continue;
      VariantPlace& place = kept.variants.emplace_back(std::move(module.variants[i]));
      const std::size_t end = slot_at[place.first_slot + place.slot_count];
      place.first_slot = slot_at[place.first_slot];
      place.slot_count = end - place.first_slot;
      place.next_variant = variant_at[place.next_variant];
    }
    module = std::move(kept);
  }

  static std::string note(const VariantPlace& place, std::size_t index) {
    std::string text = "the source's names choose the alternative " +
                       in_quotes(place.ops->name(index)) + " of " +
                       (place.path.empty() ? "the module" : in_quotes(place.path));
    if (place.present < place.ops->count) {
      text += ", which held " + in_quotes(place.ops->name(place.present));
    }
    return text;
  }

  const Archive& source_;
  const ApplyOptions& options_;
};

}  // namespace

Result<Alternatives> Alternatives::choose(const ModuleSlots& module, const Archive& source,
                                          const ApplyOptions& options) ANDIRON_NO_THROW {
  Alternatives result(module);
  if (module.variants.empty() || !options.choose_variants) return result;
  ANDIRON_TRY(options.filter.status());
  ANDIRON_TRY(options.adapter->status());
  std::vector<Vacancy> vacancies = module.vacancies;
  std::optional<std::vector<Slot>> slots =
      Chooser(source, options).choose(module, result.built_, vacancies, result.notes_);
  if (!slots) return result;
  result.changed_ = ModuleSlots{.slots = *std::move(slots), .vacancies = std::move(vacancies)};
  return result;
}
ANDIRON_OR_OUT_OF_MEMORY

void Alternatives::add_notes(ApplyResult& result) const {
  result.notes.insert(result.notes.end(), notes_.begin(), notes_.end());
}

void Alternatives::swap_in() noexcept {
  for (const std::unique_ptr<BuiltAlternative>& built : built_) built->swap_in();
}

}  // namespace andiron::inline v1::detail
