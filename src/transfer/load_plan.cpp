// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/transfer/plan_test.cpp
#include "src/transfer/load_plan.h"

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "andiron/display_text.h"
#include "src/core/try.h"
#include "src/transfer/proposals/proposals.h"
#include "src/transfer/suggested_name.h"

namespace andiron {
inline namespace v1 {
namespace detail {
namespace {

// The tensors of the source by name; remembers which were asked for.
class SourceLookup final : public TensorLookup {
 public:
  explicit SourceLookup(const Archive& source) : source_(source), used_(source.size(), false) {}

  Result<std::optional<TensorSnapshot>> find(std::string_view name) override {
    const std::optional<std::size_t> index = source_.find(name);
    if (!index) return std::optional<TensorSnapshot>();
    used_[*index] = true;
    found_.emplace_back(source_.info(*index).name);
    return std::make_optional(source_.snapshot(*index));
  }

  // What was found since the last call.
  std::vector<std::string> take_found() { return std::exchange(found_, {}); }
  // Indices of tensors that were never found, in the order of their names.
  std::vector<std::size_t> unused() const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i]) indices.push_back(i);
    }
    std::sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
      return source_.info(a).name < source_.info(b).name;
    });
    return indices;
  }

 private:
  const Archive& source_;
  std::vector<bool> used_;
  std::vector<std::string> found_;
};

enum class DataKind : std::uint8_t { floating, integer, boolean, complex, unknown };

DataKind kind_of(DType dtype) {
  if (is_float(dtype) || dtype == DType::qfloat) return DataKind::floating;
  if (is_integer(dtype)) return DataKind::integer;
  if (is_complex(dtype)) return DataKind::complex;
  return dtype == DType::boolean ? DataKind::boolean : DataKind::unknown;
}

Error dtype_mismatch(const LeafInfo& wanted, const TensorSnapshot& tensor, std::string hint) {
  return Error{.code = ErrorCode::dtype_mismatch,
               .message = "the dtype does not fit",
               .found = display_text(tensor.dtype_text()),
               .expected = std::string(dtype_name(wanted.dtype)),
               .hint = std::move(hint)};
}

// The tensor in the dtype that the leaf will have, or why it cannot be.
Result<TensorSnapshot> with_dtype(TensorSnapshot tensor, const LeafInfo& wanted,
                                  DTypePolicy policy) {
  const DType found = tensor.dtype();
  if (wanted.accepts_any_shape && wanted.accepts_any_dtype) return tensor;  // not set: no dtype yet
  // Formats without a bool of their own store it in these.
  const bool holds_booleans = wanted.dtype == DType::boolean &&
                              (found == DType::u8 || found == DType::u32) &&
                              policy != DTypePolicy::strict;
  if (holds_booleans) return tensor.cast(DType::boolean);
  if (kind_of(found) != kind_of(wanted.dtype)) {
    return dtype_mismatch(wanted, tensor,
                          "convert it with an adapter, or load the rest with .validate(false)");
  }
  if (found == wanted.dtype) return tensor;
  if (policy == DTypePolicy::cast_to_module && !is_opaque(found)) return tensor.cast(wanted.dtype);
  if (policy == DTypePolicy::from_file && wanted.accepts_any_dtype) return tensor;
  return dtype_mismatch(wanted, tensor,
                        is_opaque(found)
                            ? "quantized data cannot be converted; load it with from_file"
                            : ".dtype_policy(DTypePolicy::cast_to_module) converts it");
}

Error shape_mismatch(const LeafInfo& wanted, const TensorSnapshot& tensor) {
  const Shape& found = tensor.shape();
  Error error{.code = ErrorCode::shape_mismatch,
              .message = "the shape does not fit",
              .found = found.to_string(),
              .expected = wanted.shape.to_string()};
  const bool is_transposed = found.rank() == 2 && wanted.shape.rank() == 2 &&
                             found[0] == wanted.shape[1] && found[1] == wanted.shape[0];
  if (is_transposed) {
    error.hint = "it fits transposed, as PyTorchToBurnAdapter() does for Linear weights";
  }
  return error;
}

Result<TensorSnapshot> fitted(TensorSnapshot tensor, const LeafInfo& wanted,
                              const ApplyOptions& options) {
  ANDIRON_ASSIGN(tensor, with_dtype(std::move(tensor), wanted, options.dtype_policy));
  if (!wanted.accepts_any_shape && tensor.shape() != wanted.shape) {
    return shape_mismatch(wanted, tensor);
  }
  return tensor;
}

std::vector<WantedTensor> wanted_tensors(const std::vector<Slot>& slots,
                                         const ApplyOptions& options, bool other_paths) {
  std::vector<WantedTensor> wanted;
  for (const Slot& slot : slots) {
    if (!options.filter.matches(slot.path, slot.container)) continue;
    LeafInfo info = slot.ops->info(slot.leaf);
    const bool is_other = other_paths && !slot.other_path.empty();
    WantedTensor& one = wanted.emplace_back();
    one.place = {is_other ? slot.other_path : slot.path, slot.container};
    if (!info.accepts_any_shape) one.shape = std::move(info.shape);
  }
  return wanted;
}

// Mismatches are rare, so what they cost is spent only on them.
std::vector<Proposal> proposals_for(const std::vector<Slot>& slots, const Archive& source,
                                    const ApplyOptions& options, const PresentNames* present) {
  const std::vector<WantedTensor> wanted = wanted_tensors(slots, options, false);
  const std::vector<WantedTensor> wanted_other = wanted_tensors(slots, options, true);
  return propose({.wanted = wanted,
                  .wanted_other = wanted_other,
                  .skip_enum_variants = options.skip_enum_variants,
                  .source = source,
                  .adapter = options.adapter,
                  .present = present != nullptr ? *present : PresentNames{}});
}

bool is_mismatch(const Error& error) {
  return error.code == ErrorCode::shape_mismatch || error.code == ErrorCode::adapter_failed;
}

// Builds a plan slot by slot.
class Planner {
 public:
  Planner(const std::vector<Slot>& slots, const Archive& source, const ApplyOptions& options,
          const PresentNames* present)
      : slots_(slots), source_(source), options_(options), present_(present), lookup_(source) {}

  Result<LoadPlan> plan() {
    ANDIRON_TRY(options_.filter.status());
    ANDIRON_TRY(options_.adapter->status());
    plan_.assignments.reserve(slots_.size());
    fed_.reserve(slots_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i) place(i);
    feed_ties();
    ApplyResult& result = plan_.result;
    result.applied.reserve(plan_.assignments.size());
    for (const Assignment& assignment : plan_.assignments) {
      result.applied.push_back(slots_[assignment.slot].path);
      if (!assignment.is_read()) continue;
      if (__builtin_add_overflow(plan_.byte_size, assignment.tensor.byte_size(),
                                 &plan_.byte_size)) {
        return Error{.code = ErrorCode::overflow,
                     .message = "the tensors together have more bytes than can be counted",
                     .file = source_.origin()};
      }
    }
    std::sort(missing_.begin(), missing_.end(),
              [&](std::size_t a, std::size_t b) { return slots_[a].path < slots_[b].path; });
    std::sort(result.skipped.begin(), result.skipped.end());
    const std::vector<std::size_t> unused = lookup_.unused();
    for (const std::size_t i : unused) result.unused.emplace_back(source_.info(i).name);
    for (const std::size_t i : missing_) {
      result.missing.push_back({slots_[i].path, slots_[i].container});
      if (result.missing.size() <= ApplyResult::shown) {
        result.missing.back().did_you_mean = meant(slots_[i], unused);
      }
    }
    result.notes.insert(result.notes.end(), source_.notes().begin(), source_.notes().end());
    if (!result.missing.empty() ||
        std::any_of(result.errors.begin(), result.errors.end(), is_mismatch)) {
      result.proposals = proposals_for(slots_, source_, options_, present_);
    }
    return std::move(plan_);
  }

 private:
  void place(std::size_t index) {
    const Slot& slot = slots_[index];
    const bool takes_part = options_.filter.matches(slot.path, slot.container);
    Result<std::optional<TensorSnapshot>> found =
        options_.adapter->load(Place{slot.path, slot.container}, lookup_);
    std::vector<std::string> sources = lookup_.take_found();
    if (!takes_part) {
      // It was looked up all the same: its tensor is not unused, but left out.
      plan_.result.skipped.push_back(slot.path);
    } else if (!found) {
      fail(slot, std::move(found).error());
    } else if (!*found) {
      missing_.push_back(index);
    } else if (Result<TensorSnapshot> tensor =
                   fitted(**std::move(found), slot.ops->info(slot.leaf), options_)) {
      const auto fed =
          fed_.try_emplace(slot.ops->identity(slot.leaf), plan_.assignments.size()).first;
      const bool is_first = fed->second == plan_.assignments.size();
      const std::size_t read_slot = is_first ? index : plan_.assignments[fed->second].slot;
      plan_.assignments.push_back({index, *std::move(tensor), std::move(sources), read_slot});
    } else {
      fail(slot, std::move(tensor).error());
    }
  }

  // The unused tensor that a parameter probably is: by name, and for a loose likeness by size too.
  std::string meant(const Slot& slot, const std::vector<std::size_t>& unused) const {
    const LeafInfo info = slot.ops->info(slot.leaf);
    const Result<std::uint64_t> size = info.shape.element_count();
    std::vector<std::string_view> all;
    std::vector<std::string_view> of_its_size;
    for (const std::size_t i : unused) {
      const TensorInfo tensor = source_.info(i);
      all.push_back(tensor.name);
      std::uint64_t count = 0;
      const bool fits =
          info.accepts_any_shape || (size && element_count(tensor.shape, count) && count == *size);
      if (fits) of_its_size.push_back(tensor.name);
    }
    return std::string(suggested_name(slot.path, all, of_its_size));
  }

  void fail(const Slot& slot, Error error) {
    error.tensor = slot.path;
    if (error.file.empty()) error.file = source_.origin();
    plan_.result.errors.push_back(std::move(error));
  }

  // A parameter that the source lacks but that is tied to one it has is fed with it.
  void feed_ties() {
    std::vector<Assignment> tied;
    const auto is_fed = [&](std::size_t index) {
      const auto fed = fed_.find(slots_[index].ops->identity(slots_[index].leaf));
      if (fed == fed_.end()) return false;
      const Assignment& first = plan_.assignments[fed->second];
      plan_.result.notes.push_back("'" + display_text(slots_[index].path) + "' is tied to '" +
                                   display_text(slots_[first.slot].path) + "' and gets its tensor");
      tied.push_back({index, first.tensor, first.sources, first.slot});
      return true;
    };
    std::erase_if(missing_, is_fed);
    if (tied.empty()) return;
    for (Assignment& one : tied) plan_.assignments.push_back(std::move(one));
    std::sort(plan_.assignments.begin(), plan_.assignments.end(),
              [](const Assignment& a, const Assignment& b) { return a.slot < b.slot; });
  }

  const std::vector<Slot>& slots_;
  const Archive& source_;
  const ApplyOptions& options_;
  const PresentNames* present_;
  SourceLookup lookup_;
  LoadPlan plan_;
  std::vector<std::size_t> missing_;
  std::unordered_map<const void*, std::size_t> fed_;  // identity of a leaf to its assignment
};

std::string count_of(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

}  // namespace

Result<LoadPlan> make_load_plan(const std::vector<Slot>& slots, const Archive& source,
                                const ApplyOptions& options, const PresentNames* present) {
  return Planner(slots, source, options, present).plan();
}

Status check_load(const ApplyResult& result, const Archive& source, const ApplyOptions& options) {
  Error refused;
  if (options.validate && !result.errors.empty()) {
    refused = result.errors.front();
    if (result.errors.size() > 1) {
      refused.message +=
          " (and " + count_of(result.errors.size() - 1, "other tensor") + " cannot be loaded)";
    }
  } else if (!options.allow_partial && !result.missing.empty()) {
    refused.code = ErrorCode::missing_tensor;
    refused.tensor = result.missing.front().path;
    refused.message = "the source has no tensor for this parameter";
    if (result.missing.size() > 1) {
      refused.message += " (nor for " + count_of(result.missing.size() - 1, "other") + ")";
    }
    refused.hint = "see the report, or load the rest with .allow_partial(true)";
  } else if (!options.allow_unused && !result.unused.empty()) {
    refused.code = ErrorCode::unused_tensor;
    refused.tensor = result.unused.front();
    refused.message = "the module has no place for this tensor";
    if (result.unused.size() > 1) {
      refused.message += " (nor for " + count_of(result.unused.size() - 1, "other") + ")";
    }
    refused.hint = ".allow_unused(true) leaves it out";
  } else {
    return {};
  }
  if (!result.proposals.empty()) {
    refused.hint = "try " + result.proposals.front().text;
  }
  if (refused.file.empty()) refused.file = source.origin();
  ApplyResult report = result;
  report.notes.insert(report.notes.begin(),
                      "the load was refused and changed nothing; applied are those that would fit");
  refused.report = std::make_shared<const ApplyResult>(std::move(report));
  return refused;
}

Result<Plan> plan_slots(const std::vector<Slot>& slots, const Archive& source,
                        const ApplyOptions& options, const PresentNames* present) {
  ANDIRON_ASSIGN(LoadPlan load, make_load_plan(slots, source, options, present));
  Plan plan;
  plan.byte_size = load.byte_size;
  for (Assignment& assignment : load.assignments) {
    plan.tensors.push_back({slots[assignment.slot].path, std::move(assignment.sources),
                            assignment.tensor.dtype(), assignment.tensor.shape(),
                            assignment.tensor.byte_size()});
  }
  plan.result = std::move(load.result);
  return plan;
}

}  // namespace detail
}  // namespace v1
}  // namespace andiron
