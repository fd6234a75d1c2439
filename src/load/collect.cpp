// SPDX-License-Identifier: MIT OR Apache-2.0
// From modules to lists of tensors and to archives.
// Tested by tests/load/collect_test.cpp
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "andiron/apply.h"
#include "src/core/name_collision.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace detail {
namespace {

// What passes the filter.
struct Taken {
  Snapshots tensors;                // as the module has them
  std::vector<const void*> leaves;  // what each tensor is in the module: ties have one
};

// A leaf that shows another's tensor transposed is a view of it, so that what is transposed once
// more is seen to be the same.
Result<TensorSnapshot> snapshot_of(const Slot& slot) {
  if (slot.ops->is_transposed(slot.leaf)) {
    ANDIRON_ASSIGN(const Tensor stored, slot.ops->get_stored(slot.leaf));
    const TensorSnapshot snapshot("", stored);
    return stored.shape().rank() == 2 ? snapshot.transpose(0, 1) : snapshot;
  }
  ANDIRON_ASSIGN(const Tensor tensor, slot.ops->get(slot.leaf));
  return TensorSnapshot("", tensor);
}

// Moves the paths out of the slots.
Result<Taken> take_filtered(std::vector<Slot>& slots, const CollectOptions& options) {
  ANDIRON_TRY(options.filter.status());
  ANDIRON_TRY(options.adapter->status());
  ANDIRON_TRY(check_paths(slots));
  Taken taken;
  taken.tensors.reserve(slots.size());
  taken.leaves.reserve(slots.size());
  for (Slot& slot : slots) {
    if (!options.filter.matches(slot.path, slot.container)) continue;
    Result<TensorSnapshot> tensor = snapshot_of(slot);
    if (!tensor) {
      Error error = std::move(tensor).error();
      error.tensor = slot.path;
      return error;
    }
    taken.tensors.push_back((*std::move(tensor))
                                .with_path(std::move(slot.path))
                                .with_container(std::move(slot.container))
                                .with_param_id(slot.ops->id(slot.leaf)));
    taken.leaves.push_back(slot.ops->identity(slot.leaf));
  }
  return taken;
}

using IdAndIndex = std::pair<std::uint64_t, std::size_t>;

// False if all ids differ, which a table shows many times faster than sorting does. Their low bits
// tell random ids apart; where a file's ids do not, the answer is that there may be repeats.
bool may_have_repeats(const std::vector<IdAndIndex>& ids) {
  constexpr std::size_t most_steps = 64;
  std::vector<std::uint64_t> table(std::bit_ceil(2 * ids.size() + 1));  // 0: a free place
  for (const auto& [id, index] : ids) {
    if (id == 0) return true;
    std::size_t at = static_cast<std::size_t>(id) & (table.size() - 1);
    for (std::size_t steps = 0; table[at] != 0; ++steps) {
      if (table[at] == id || steps == most_steps) return true;
      at = (at + 1) & (table.size() - 1);
    }
    table[at] = id;
  }
  return false;
}

// Different parameters with one id: a Param was copied and its copy not given an id of its own.
// Optimizers, and readers that tie by id, take them for one.
void note_shared_ids(const Taken& taken, Archive& archive) {
  std::vector<IdAndIndex> by_id;
  by_id.reserve(taken.leaves.size());
  for (std::size_t i = 0; i < taken.leaves.size(); ++i) {
    if (const auto id = taken.tensors[i].param_id()) by_id.emplace_back(id->value, i);
  }
  if (!may_have_repeats(by_id)) return;
  std::sort(by_id.begin(), by_id.end());
  std::size_t first = 0;  // with the id of the one at hand
  std::optional<std::pair<std::size_t, std::size_t>> pair;
  std::size_t copies = 0;
  for (std::size_t i = 1; i < by_id.size(); ++i) {
    if (by_id[i].first != by_id[first].first) first = i;
    const std::pair now(by_id[i].second, by_id[first].second);
    if (taken.leaves[now.first] == taken.leaves[now.second]) continue;
    if (copies++ == 0 || now < *pair) pair = now;
  }
  if (!pair) return;
  std::string note = in_quotes(taken.tensors[pair->first].full_path()) + " has the id of " +
                     in_quotes(taken.tensors[pair->second].full_path());
  if (copies > 1) note += " (and " + count_of(copies - 1, "other") + " of another parameter)";
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
    std::unordered_map<const void*, std::uint64_t> numbers(taken.leaves.size());
    for (std::size_t i = 0; i < taken.leaves.size(); ++i) {
      TensorSnapshot& tensor = taken.tensors[i];
      if (!tensor.param_id()) continue;
      const auto [number, is_new] = numbers.try_emplace(taken.leaves[i], ids_.size());
      if (is_new) ids_.push_back(*tensor.param_id());
      tensor = std::move(tensor).with_param_id(ParamId{number->second});
    }
    first_.resize(ids_.size());
  }

  // Gives a tensor its id back. Returns the first of its parameter that has the very same data;
  // nullptr for that first one. Keeps a reference to the tensor.
  const TensorSnapshot* resolve(TensorSnapshot& tensor) {
    const std::optional<ParamId> number = tensor.param_id();
    if (!number) return nullptr;
    // An adapter may have made a number up.
    if (number->value >= ids_.size()) {
      tensor = std::move(tensor).with_param_id(std::nullopt);
      return nullptr;
    }
    const auto index = static_cast<std::size_t>(number->value);
    tensor = std::move(tensor).with_param_id(ids_[index]);
    const TensorSnapshot*& first = first_[index];
    if (first == nullptr) first = &tensor;
    return first != &tensor && is_same_memory(*first, tensor) ? first : nullptr;
  }

 private:
  std::vector<ParamId> ids_;
  std::vector<const TensorSnapshot*> first_;  // by number
};

Error named_twice(const std::string& name) {
  return name_collision(name, "", "check the adapter, or filter one out");
}

}  // namespace

Result<Snapshots> collect_slots(std::vector<Slot> slots, const CollectOptions& options) {
  ANDIRON_ASSIGN(Taken taken, take_filtered(slots, options));
  return options.adapter->save(std::move(taken.tensors));
}

Result<Archive> collect_slots_as_archive(std::vector<Slot> slots, const CollectOptions& options) {
  ANDIRON_ASSIGN(Taken taken, take_filtered(slots, options));
  Archive archive;
  if (taken.leaves.empty() && !slots.empty()) {
    archive.add_note("no parameter matches the filter; parameters look like " +
                     in_quotes(slots.front().path));
  }
  note_shared_ids(taken, archive);
  std::optional<Ties> ties;
  if (options.ties_once) ties.emplace(taken);
  ANDIRON_ASSIGN(Snapshots tensors, options.adapter->save(std::move(taken.tensors)));
  Aliases aliases;
  std::vector<bool> is_alias(tensors.size());
  for (std::size_t i = 0; ties && i < tensors.size(); ++i) {
    const TensorSnapshot* kept = ties->resolve(tensors[i]);
    if (kept == nullptr) continue;
    const std::string& name = tensors[i].full_path();
    if (!aliases.emplace(name, kept->full_path()).second) return named_twice(name);
    is_alias[i] = true;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (is_alias[i]) continue;
    Status added = archive.add(std::move(tensors[i]));
    if (!added && added.error().code == ErrorCode::duplicate_key) {
      return named_twice(added.error().tensor);
    }
    ANDIRON_TRY(std::move(added));
  }
  for (const auto& [alias, kept] : aliases) {
    if (archive.find(alias)) return named_twice(alias);
  }
  if (!aliases.empty()) archive.set_aliases(std::move(aliases));
  return archive;
}

}  // namespace detail

}  // namespace andiron::inline v1
