// SPDX-License-Identifier: MIT OR Apache-2.0
// The second half of a load: reading what was planned, and putting it in place.
// Tested by tests/transfer/apply_test.cpp
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "andiron/transfer.h"
#include "src/core/try.h"
#include "src/transfer/load_plan.h"

namespace andiron::inline v1::detail {
namespace {

// Where the elements of a tensor must start for Tensor::as.
bool is_aligned(const Tensor& tensor) {
  const unsigned parts = is_complex(tensor.dtype()) ? 2 : 1;
  const std::size_t alignment = std::max(bit_width(tensor.dtype()) / 8 / parts, 1U);
  return reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % alignment == 0;
}

// Reads tensors, telling how far it is.
class Reader {
 public:
  Reader(const ApplyOptions& options, std::uint64_t total) : options_(options), total_(total) {}

  Result<Tensor> read(const TensorSnapshot& snapshot) {
    if (options_.zero_copy && snapshot.can_borrow()) {
      ANDIRON_ASSIGN(Tensor lent, snapshot.borrow());
      if (is_aligned(lent)) {
        ANDIRON_TRY(advance(snapshot.byte_size()));
        return lent;
      }
    }
    ANDIRON_TRY(allow(snapshot.byte_size()));
    if (!options_.progress) return snapshot.read();
    ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(snapshot.byte_size()));
    ANDIRON_TRY(read_into(snapshot, bytes.writable()));
    return snapshot.with_bytes(std::move(bytes));
  }

  Status read_into(const TensorSnapshot& snapshot, std::span<std::byte> out) {
    if (!options_.progress) return snapshot.read_into(out);
    // Whole elements of every type.
    const std::uint64_t step = std::max<std::uint64_t>(options_.limits.window_bytes / 16 * 16, 16);
    for (std::uint64_t done = 0; done < out.size();) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(step, out.size() - done));
      ANDIRON_TRY(snapshot.read_part(done, out.subspan(static_cast<std::size_t>(done), count)));
      ANDIRON_TRY(advance(count));
      done += count;
    }
    return {};
  }

  // Counts data that was read before.
  Status pass(std::uint64_t bytes) { return advance(bytes); }

  // Counts memory that is taken, up to the limit.
  Status allow(std::uint64_t bytes) {
    if (bytes <= options_.limits.load_bytes - taken_) {
      taken_ += bytes;
      return {};
    }
    return Error{.code = ErrorCode::out_of_memory,
                 .message = "the tensors need more memory than a load may take",
                 .found = std::to_string(total_) + " bytes in all",
                 .expected = "at most " + std::to_string(options_.limits.load_bytes),
                 .hint = "raise Limits::load_bytes, filter, or borrow with zero_copy"};
  }

 private:
  Status advance(std::uint64_t bytes) {
    done_ += bytes;
    if (bytes == 0 || !options_.progress || options_.progress(done_, total_)) return {};
    return Error{.code = ErrorCode::cancelled, .message = "the progress callback said stop"};
  }

  const ApplyOptions& options_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::uint64_t taken_ = 0;
};

// What several parameters take is read once: tensors that the file ties, as the embedding and the
// output layer of a language model.
class SharedReads {
 public:
  SharedReads(const Archive& source, const LoadPlan& plan) : plan_(plan), ties_(source.ties()) {
    std::vector<std::uint32_t> taken(source.size(), 0);
    for (const Assignment& assignment : plan.assignments) {
      if (assignment.is_read() && assignment.source_count == 1) ++taken[first_of(assignment)];
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (taken[i] > 1) reads_.try_emplace(i);
    }
  }

  // The data of `assignment`, if it was read for another one.
  const Tensor* find(const Assignment& assignment) const {
    const auto read = reads_of(assignment);
    if (read == reads_.end() || read->second.assignment == nullptr) return nullptr;
    return read->second.assignment->tensor.is_same_data(assignment.tensor) ? &read->second.data
                                                                           : nullptr;
  }
  void keep(const Assignment& assignment, const Tensor& data) {
    const auto read = reads_of(assignment);
    if (read != reads_.end()) read->second = {&assignment, data};
  }

 private:
  struct Read {
    const Assignment* assignment = nullptr;
    Tensor data;
  };
  using Reads = std::unordered_map<std::size_t, Read>;

  // The tensor of the source, or the first one that it is tied to.
  std::size_t first_of(const Assignment& assignment) const {
    const std::size_t index = plan_.sources[assignment.first_source];
    return ties_[index].value_or(index);
  }
  Reads::iterator reads_of(const Assignment& assignment) {
    return assignment.source_count == 1 ? reads_.find(first_of(assignment)) : reads_.end();
  }
  Reads::const_iterator reads_of(const Assignment& assignment) const {
    return assignment.source_count == 1 ? reads_.find(first_of(assignment)) : reads_.end();
  }

  const LoadPlan& plan_;
  std::vector<std::optional<std::size_t>> ties_;
  Reads reads_;
};

struct Replacement {
  const Slot* slot;
  std::shared_ptr<void> value;
  void commit() const noexcept { slot->ops->commit(slot->leaf, value); }
};

// The new value of a slot, beside the old one; or, in place, the old one itself, already changed.
Result<Replacement> prepare(const Slot& slot, const Assignment& assignment, Reader& reader,
                            SharedReads& shared, const ApplyOptions& options) {
  const LeafOps& ops = *slot.ops;
  const TensorSnapshot& tensor = assignment.tensor;
  Tensor data;
  std::span<std::byte> own;
  if (options.in_place && !options.zero_copy) {
    own = ops.buffer(slot.leaf, tensor.dtype(), tensor.shape());
  }
  if (const Tensor* known = own.empty() ? shared.find(assignment) : nullptr) {
    ANDIRON_TRY(reader.pass(tensor.byte_size()));
    data = *known;
  } else if (own.empty()) {
    ANDIRON_ASSIGN(data, reader.read(tensor));
    shared.keep(assignment, data);
  } else {
    ANDIRON_TRY(reader.read_into(tensor, own));
    ANDIRON_ASSIGN(data, ops.get(slot.leaf));
  }
  ANDIRON_ASSIGN(std::shared_ptr<void> value,
                 ops.make(slot.leaf, std::move(data), tensor.param_id()));
  return Replacement{&slot, std::move(value)};
}

// Takes the parameters whose tensor could not be read out of those that were to be applied.
void remove_failed(LoadPlan& plan, const std::vector<bool>& failed) {
  std::vector<std::string> applied;
  for (std::size_t i = 0; i < plan.assignments.size(); ++i) {
    if (!failed[plan.assignments[i].read_slot]) {
      applied.push_back(std::move(plan.result.applied[i]));
    }
  }
  plan.result.applied = std::move(applied);
}

// The end of a load at `last`. In place, what came before it is replaced, and nothing else is.
Error stopped(Error error, LoadPlan& plan, const Assignment& last, const ApplyOptions& options) {
  std::vector<std::string>& applied = plan.result.applied;
  const auto replaced = std::find_if(plan.assignments.begin(), plan.assignments.end(),
                                     [&](const Assignment& one) { return &one == &last; });
  applied.resize(options.in_place ? static_cast<std::size_t>(replaced - plan.assignments.begin())
                                  : 0);
  if (options.in_place) error.hint = "the tensors before it are replaced (in_place)";
  return with_report(std::move(error), plan.result,
                     options.in_place ? "the load stopped half way (in_place)"
                                      : "the load stopped and changed nothing");
}

}  // namespace

Result<ApplyResult> apply_slots(const std::vector<Slot>& slots, const Archive& source,
                                const ApplyOptions& options, const PresentNames* present) {
  ANDIRON_ASSIGN(LoadPlan plan, make_load_plan(slots, source, options, present));
  ApplyResult& result = plan.result;
  ANDIRON_TRY(check_load(result, source, options));
  Reader reader(options, plan.byte_size);
  SharedReads shared(source, plan);
  std::vector<Replacement> replacements;
  std::vector<bool> failed(slots.size(), false);
  if (!options.in_place) replacements.reserve(plan.assignments.size());
  for (const Assignment& assignment : plan.assignments) {
    if (!assignment.is_read()) continue;
    const Slot& slot = slots[assignment.slot];
    Result<Replacement> replacement = prepare(slot, assignment, reader, shared, options);
    if (replacement && options.in_place) {
      replacement->commit();
    } else if (replacement) {
      replacements.push_back(*std::move(replacement));
    } else {
      Error error = std::move(replacement).error();
      error.tensor = slot.path;
      if (error.file.empty()) error.file = source.origin();
      const bool stops = options.validate || error.code == ErrorCode::cancelled;
      failed[assignment.slot] = true;
      result.errors.push_back(error);
      if (!stops) continue;
      return stopped(std::move(error), plan, assignment, options);
    }
  }
  remove_failed(plan, failed);
  for (const Replacement& replacement : replacements) replacement.commit();
  return std::move(result);
}

}  // namespace andiron::inline v1::detail
