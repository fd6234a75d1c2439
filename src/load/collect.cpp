// SPDX-License-Identifier: MIT OR Apache-2.0
// From modules to lists of tensors and to archives.
// Tested by tests/load/collect_test.cpp
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "andiron/apply.h"
#include "src/core/name_collision.h"
#include "src/core/text/quoted.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace detail {
namespace {

// What passes the filter.
struct Taken {
  Snapshots tensors;                // as the module has them
  std::vector<const Slot*> places;  // of each tensor
};

Result<Taken> take_filtered(const std::vector<Slot>& slots, const CollectOptions& options) {
  ANDIRON_TRY(options.filter.status());
  ANDIRON_TRY(options.adapter->status());
  ANDIRON_TRY(check_paths(slots));
  Taken taken;
  taken.tensors.reserve(slots.size());
  taken.places.reserve(slots.size());
  for (const Slot& slot : slots) {
    if (!options.filter.matches(slot.path, slot.container)) continue;
    Result<Tensor> tensor = slot.ops->get(slot.leaf);
    if (!tensor) {
      Error error = std::move(tensor).error();
      error.tensor = slot.path;
      return error;
    }
    taken.tensors.push_back(TensorSnapshot(slot.path, *tensor)
                                .with_container(slot.container)
                                .with_param_id(slot.ops->id(slot.leaf)));
    taken.places.push_back(&slot);
  }
  return taken;
}

// Different parameters with one id: a Param was copied and its copy not given an id of its own.
// Optimizers, and readers that tie by id, take them for one.
void note_shared_ids(const Taken& taken, Archive& archive) {
  std::unordered_map<std::uint64_t, const Slot*> first_with;
  std::string note;
  std::size_t others = 0;
  for (std::size_t i = 0; i < taken.places.size(); ++i) {
    const std::optional<ParamId> id = taken.tensors[i].param_id();
    if (!id) continue;
    const Slot& slot = *taken.places[i];
    const auto [first, is_new] = first_with.try_emplace(id->value, &slot);
    const Slot& other = *first->second;
    if (is_new || slot.ops->identity(slot.leaf) == other.ops->identity(other.leaf)) continue;
    if (note.empty()) {
      note = quoted(slot.path) + " has the id of " + quoted(other.path);
    } else {
      ++others;
    }
  }
  if (note.empty()) return;
  if (others != 0) note += " (and " + count_of(others, "other") + " of another parameter)";
  archive.add_note(note +
                   ", though they are not tied: a copy of a Param has its id; call "
                   "set_id(ParamId::generate()) on the copy, or tie() them");
}

bool is_same_memory(const TensorSnapshot& a, const TensorSnapshot& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (!a.is_in_memory() || !b.is_in_memory()) return false;
  const Result<Tensor> first = a.borrow();
  const Result<Tensor> second = b.borrow();
  return first && second && first->bytes().data() == second->bytes().data();
}

// Which tensors are one parameter. Adapters carry ids along: while they run, the id of a tensor is
// the number of its parameter, as a copy of a parameter has the same id, but is another one.
class Ties {
 public:
  // Numbers the tensors.
  explicit Ties(Taken& taken) {
    std::unordered_map<const void*, std::uint64_t> numbers;
    for (std::size_t i = 0; i < taken.places.size(); ++i) {
      TensorSnapshot& tensor = taken.tensors[i];
      if (!tensor.param_id()) continue;
      const Slot& slot = *taken.places[i];
      const auto [number, is_new] = numbers.try_emplace(slot.ops->identity(slot.leaf), ids_.size());
      if (is_new) ids_.push_back(*tensor.param_id());
      tensor = tensor.with_param_id(ParamId{number->second});
    }
  }

  // Gives a tensor its id back. Returns the name of the first of its parameter that has the very
  // same data; nothing for that first one.
  std::optional<std::string> resolve(TensorSnapshot& tensor) {
    const std::optional<ParamId> number = tensor.param_id();
    if (!number) return std::nullopt;
    // An adapter may have made a number up.
    const bool is_known = number->value < ids_.size();
    tensor = tensor.with_param_id(
        is_known ? std::optional(ids_[static_cast<std::size_t>(number->value)]) : std::nullopt);
    const auto [first, is_first] = first_.try_emplace(number->value, tensor);
    if (is_first || !is_same_memory(first->second, tensor)) return std::nullopt;
    return first->second.full_path();
  }

 private:
  std::vector<ParamId> ids_;
  std::unordered_map<std::uint64_t, TensorSnapshot> first_;
};

Error named_twice(const std::string& name) {
  return name_collision(name, "", "check the adapter, or filter one out");
}

}  // namespace

Result<Snapshots> collect_slots(const std::vector<Slot>& slots, const CollectOptions& options) {
  ANDIRON_ASSIGN(Taken taken, take_filtered(slots, options));
  return options.adapter->save(std::move(taken.tensors));
}

Result<Archive> collect_slots_as_archive(const std::vector<Slot>& slots,
                                         const CollectOptions& options) {
  ANDIRON_ASSIGN(Taken taken, take_filtered(slots, options));
  Archive archive;
  note_shared_ids(taken, archive);
  std::optional<Ties> ties;
  if (options.ties_once) ties.emplace(taken);
  ANDIRON_ASSIGN(Snapshots tensors, options.adapter->save(std::move(taken.tensors)));
  Aliases aliases;
  for (TensorSnapshot& tensor : tensors) {
    const std::optional<std::string> kept = ties ? ties->resolve(tensor) : std::nullopt;
    const std::string name = tensor.full_path();
    if (kept && !aliases.emplace(name, *kept).second) return named_twice(name);
    if (kept) continue;
    Status added = archive.add(std::move(tensor));
    if (!added && added.error().code == ErrorCode::duplicate_key) return named_twice(name);
    ANDIRON_TRY(std::move(added));
  }
  for (const auto& [alias, kept] : aliases) {
    if (archive.find(alias)) return named_twice(alias);
  }
  if (!aliases.empty()) archive.set_aliases(std::move(aliases));
  if (archive.empty() && !slots.empty()) {
    archive.add_note("no parameter matches the filter; parameters look like " +
                     quoted(slots.front().path));
  }
  return archive;
}

}  // namespace detail

}  // namespace andiron::inline v1
