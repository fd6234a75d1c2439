// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/plan_test.cpp
#include "src/load/load_plan.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/load/fit.h"
#include "src/load/load_notes.h"
#include "src/load/source_lookup.h"
#include "src/load/suggested_name.h"
#include "src/load/told_names.h"
#include "src/names/training_names.h"

namespace andiron::inline v1::detail {
namespace {

// Builds a plan slot by slot.
class Planner {
 public:
  Planner(const ModuleSlots& module, const Archive& source, const ApplyOptions& options)
      : module_(module),
        slots_(module.slots),
        source_(source),
        options_(options),
        lookup_(source),
        told_(source) {}

  Result<LoadPlan> plan() {
    ANDIRON_TRY(options_.filter.status());
    ANDIRON_TRY(options_.adapter->status());
    ANDIRON_TRY(check_paths(slots_));
    plan_.assignments.reserve(slots_.size());
    lookup_.found().reserve(slots_.size());
    has_ties_ = has_ties();
    for (std::size_t i = 0; i < slots_.size(); ++i) place(i);
    if (has_ties_) feed_ties();
    plan_.sources = std::move(lookup_.found());
    ApplyResult& result = plan_.result;
    result.applied.reserve(plan_.assignments.size());
    for (const Assignment& assignment : plan_.assignments) {
      result.applied.push_back(slots_[assignment.slot].path);
      if (!assignment.is_read()) continue;
      if (__builtin_add_overflow(plan_.byte_size, assignment.tensor.byte_size(),
                                 &plan_.byte_size)) {
        return Error{.code = ErrorCode::overflow,
                     .message = "the total size of the tensors does not fit in 64 bits",
                     .file = source_.origin()};
      }
    }
    std::sort(missing_.begin(), missing_.end(),
              [&](std::size_t a, std::size_t b) { return slots_[a].path < slots_[b].path; });
    for (const std::size_t i : skipped_) result.skipped.push_back(slots_[i].path);
    std::sort(result.skipped.begin(), result.skipped.end());
    plan_.unused = lookup_.unused();
    for (const std::size_t i : plan_.unused) {
      result.unused.emplace_back(told_.own(source_.info(i).name));
    }
    std::sort(result.unused.begin(), result.unused.end());
    for (const std::size_t i : missing_) {
      result.missing.push_back({slots_[i].path, slots_[i].container});
    }
    tell_what_was_meant();
    plan_.shape_reason = shared_reason(plan_.misfits);
    if (!plan_.shape_reason.empty()) result.notes.push_back(plan_.shape_reason);
    result.notes.insert(result.notes.end(), source_.notes().begin(), source_.notes().end());
    add_load_notes(module_, source_, options_, plan_);
    plan_.skipped = std::move(skipped_);
    return std::move(plan_);
  }

 private:
  void place(std::size_t index) {
    const Slot& slot = slots_[index];
    const bool takes_part = options_.filter.matches(slot.path, slot.container);
    const std::size_t first_source = lookup_.found().size();
    Result<std::optional<TensorSnapshot>> found = options_.adapter->load(slot, lookup_);
    throw_if_out_of_memory(found);
    if (!takes_part) {
      // It was looked up all the same: its tensor is not unused, but left out.
      skipped_.push_back(index);
      return leave(index, first_source, KeyOutcome::skipped);
    }
    if (!found) return fail(index, first_source, std::move(found).error());
    if (!*found) {
      missing_.push_back(index);
      return leave(index, first_source, KeyOutcome::refused, "the adapter makes no tensor of it");
    }
    const LeafInfo info = slot.ops->info(slot.leaf);
    const Shape shape = (*found)->shape();
    Result<TensorSnapshot> tensor = fit(**std::move(found), info, options_.dtype_policy);
    throw_if_out_of_memory(tensor);
    if (!tensor) {
      if (tensor.error().code == ErrorCode::shape_mismatch && is_whole(shape, first_source)) {
        plan_.misfits.push_back({shape, info.shape});
      }
      return fail(index, first_source, with_stored_shape(std::move(tensor).error(), first_source));
    }
    const bool changes_dtype = !info.accepts_any_shape && info.dtype != tensor->dtype();
    feed(index, {.slot = index,
                 .tensor = *std::move(tensor),
                 .first_source = static_cast<std::uint32_t>(first_source),
                 .source_count = static_cast<std::uint32_t>(lookup_.found().size() - first_source),
                 .read_slot = index,
                 .changes_dtype = changes_dtype});
  }

  // Whether a tensor of this shape is all of one in the source. What an adapter took apart has
  // sizes that the source does not.
  bool is_whole(const Shape& shape, std::size_t first_source) {
    const std::vector<std::uint32_t>& found = lookup_.found();
    std::uint64_t count = 0;
    std::uint64_t stored = 0;
    return found.size() == first_source + 1 && element_count(shape.dims(), count) &&
           element_count(source_.info(found[first_source]).shape, stored) && count == stored;
  }

  // A shape that the adapter changed, and the one that the source's owner knows.
  Error with_stored_shape(Error error, std::size_t first_source) {
    const std::vector<std::uint32_t>& found = lookup_.found();
    if (error.code != ErrorCode::shape_mismatch || found.size() != first_source + 1) return error;
    const TensorInfo stored = source_.info(found[first_source]);
    const std::string shape = Shape(stored.shape).to_string();
    if (shape != error.found) error.found += ", adapted from " + shape;
    return error;
  }

  void feed(std::size_t index, Assignment assignment) {
    if (has_ties_) {
      const auto [fed, is_first] = fed_.try_emplace(identity(index), plan_.assignments.size());
      if (!is_first) {
        const Assignment& first = plan_.assignments[fed->second];
        if (!has_same_sources(first, assignment)) {
          note_tie(index, first.slot);
          leave(index, assignment.first_source, KeyOutcome::tied, slots_[first.slot].path);
        }
        assignment = tied_to(first, index);
      }
    }
    plan_.assignments.push_back(std::move(assignment));
  }

  const void* identity(std::size_t index) const {
    return slots_[index].ops->identity(slots_[index].leaf);
  }

  // Most modules have no ties, and need not be asked again for each parameter.
  bool has_ties() const {
    std::vector<const void*> identities;
    identities.reserve(slots_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i) identities.push_back(identity(i));
    std::sort(identities.begin(), identities.end(), std::less<>());
    return std::adjacent_find(identities.begin(), identities.end()) != identities.end();
  }

  bool has_same_sources(const Assignment& a, const Assignment& b) {
    const std::span found(lookup_.found());
    const std::span of_a = found.subspan(a.first_source, a.source_count);
    const std::span of_b = found.subspan(b.first_source, b.source_count);
    return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
  }

  static Assignment tied_to(const Assignment& first, std::size_t index) {
    Assignment tied = first;
    tied.slot = index;
    return tied;
  }

  // The unused tensors that the first few missing parameters probably are.
  void tell_what_was_meant() {
    std::vector<SizedName> shown;
    for (const std::size_t i : missing_) {
      if (shown.size() == ApplyResult::shown) break;
      SizedName& one = shown.emplace_back(SizedName{slots_[i].path, std::nullopt});
      const LeafInfo info = slots_[i].ops->info(slots_[i].leaf);
      std::uint64_t size = 0;
      if (!info.accepts_any_shape && element_count(info.shape.dims(), size)) one.size = size;
    }
    std::vector<SizedName> sized;
    for (const std::size_t i : plan_.unused) {
      const TensorInfo tensor = source_.info(i);
      if (is_weight_part(tensor.name)) continue;  // to be computed from, not to be taken for it
      SizedName& one = sized.emplace_back(SizedName{tensor.name, std::nullopt});
      std::uint64_t size = 0;
      if (element_count(tensor.shape, size)) one.size = size;
    }
    const std::vector<std::string_view> names = suggested_names(shown, sized);
    for (std::size_t i = 0; i < names.size(); ++i) {
      plan_.result.missing[i].did_you_mean = told_.own(names[i]);
    }
  }

  // Records what was found for a parameter since `first_source`, if anything.
  void leave(std::size_t index, std::size_t first_source, KeyOutcome outcome,
             std::string reason = {}) {
    const std::size_t count = lookup_.found().size() - first_source;
    if (count == 0) return;
    plan_.not_taken.push_back({index, static_cast<std::uint32_t>(first_source),
                               static_cast<std::uint32_t>(count), outcome, std::move(reason)});
  }

  void fail(std::size_t index, std::size_t first_source, Error error) {
    error.tensor.clear();
    tell_sources(first_source, error);
    leave(index, first_source, KeyOutcome::refused, sentence_of(error).to_string());
    error.tensor = slots_[index].path;
    if (error.file.empty()) error.file = source_.origin();
    plan_.result.errors.push_back(std::move(error));
  }

  // What does not fit has other numbers in the file than its parameter.
  void tell_sources(std::size_t first_source, Error& error) {
    std::vector<std::string_view> names;
    for (const std::uint32_t source : std::span(lookup_.found()).subspan(first_source)) {
      names.push_back(source_.info(source).name);
    }
    const std::string renumbered = told_.renumbered(names);
    if (!renumbered.empty()) error.found += (error.found.empty() ? "" : ", of ") + renumbered;
  }

  void note_tie(std::size_t index, std::size_t first) {
    plan_.result.notes.push_back(in_quotes(slots_[index].path) + " is tied to " +
                                 in_quotes(slots_[first].path) + " and gets its tensor");
  }

  // A parameter that the source lacks but that is tied to one it has is fed with it. One that the
  // filter leaves out changes with it all the same.
  void feed_ties() {
    for (const std::size_t index : skipped_) {
      const auto fed = fed_.find(identity(index));
      if (fed != fed_.end()) note_tie(index, plan_.assignments[fed->second].slot);
    }
    std::vector<Assignment> tied;
    const auto is_fed = [&](std::size_t index) {
      const auto fed = fed_.find(identity(index));
      if (fed == fed_.end()) return false;
      const Assignment& first = plan_.assignments[fed->second];
      note_tie(index, first.slot);
      tied.push_back(tied_to(first, index));
      return true;
    };
    std::erase_if(missing_, is_fed);
    if (tied.empty()) return;
    for (Assignment& one : tied) plan_.assignments.push_back(std::move(one));
    std::sort(plan_.assignments.begin(), plan_.assignments.end(),
              [](const Assignment& a, const Assignment& b) { return a.slot < b.slot; });
  }

  const ModuleSlots& module_;
  const std::vector<Slot>& slots_;
  const Archive& source_;
  const ApplyOptions& options_;
  SourceLookup lookup_;
  ToldNames told_;
  LoadPlan plan_;
  std::vector<std::size_t> missing_;
  std::vector<std::size_t> skipped_;
  bool has_ties_ = false;
  std::unordered_map<const void*, std::size_t> fed_;  // identity of a leaf to its assignment
};

// Whether parameters are missing under a proposal, too, and it does not leave them out.
bool leaves_missing(const Proposal& proposal) {
  const auto leaves_out = [](const ProposedStep& step) { return step.sets<ExcludePaths>(); };
  return proposal.matched < proposal.wanted &&
         std::none_of(proposal.steps.begin(), proposal.steps.end(), leaves_out);
}

}  // namespace

Result<LoadPlan> make_load_plan(const ModuleSlots& module, const Archive& source,
                                const ApplyOptions& options) {
  return Planner(module, source, options).plan();
}

Error with_report(Error error, ApplyResult result, std::string note) {
  result.notes.insert(result.notes.begin(), std::move(note));
  error.report = std::make_shared<const ApplyResult>(std::move(result));
  return error;
}

bool is_refused_as_too_short(const LoadPlan& plan, const ApplyOptions& options) {
  return !options.allow_unused.has_value() && !options.allow_partial && plan.too_short;
}

Status check_load(const LoadPlan& plan, const Archive& source, const ApplyOptions& options) {
  const ApplyResult& result = plan.result;
  Error refused;
  if (options.validate && !result.errors.empty()) {
    refused = result.errors.front();
    if (result.errors.size() > 1) {
      refused.message += " (and " + count_of(result.errors.size() - 1, "other tensor") +
                         " cannot be loaded" +
                         (plan.shape_reason.empty() ? "" : "; " + plan.shape_reason) + ")";
    }
  } else if (!options.allow_partial && !result.missing.empty()) {
    refused.code = ErrorCode::missing_tensor;
    refused.tensor = result.missing.front().path;
    refused.message = "the source has no tensor for this parameter";
    if (result.missing.size() > 1) {
      refused.message += " (nor for " + count_of(result.missing.size() - 1, "other") + ")";
    }
    const std::vector<Skipped>& skipped = source.skipped();
    const auto not_taken = std::find_if(skipped.begin(), skipped.end(), [&](const Skipped& one) {
      return one.name == refused.tensor;
    });
    if (not_taken != skipped.end()) {
      refused.found = "it is in the file, but was skipped: " + not_taken->reason.to_string();
    } else if (source.empty()) {
      refused.found = "no tensors";
      if (!skipped.empty()) {
        refused.found += "; " + in_quotes(skipped.front().name) +
                         " was skipped: " + skipped.front().reason.to_string();
      }
    }
    refused.hint = "see the report, or load the rest with " + Message(Advice::allow_partial);
  } else if (options.allow_unused == false && !result.unused.empty()) {
    refused.code = ErrorCode::unused_tensor;
    refused.tensor = result.unused.front();
    refused.message = "the module has no parameter for this tensor";
    if (result.unused.size() > 1) {
      refused.message += " (nor for " + count_of(result.unused.size() - 1, "other") + ")";
    }
    refused.hint = "pass " + Message(Advice::allow_unused) + " to ignore it";
  } else if (is_refused_as_too_short(plan, options)) {
    refused = *plan.too_short;
  } else {
    return {};
  }
  if (!result.proposals.empty()) {
    const Proposal& best = result.proposals.front();
    Message otherwise;
    if (refused.code == ErrorCode::missing_tensor && leaves_missing(best)) {
      otherwise = "; or load the rest with " + Message(Advice::allow_partial);
    } else if (refused.code == ErrorCode::unused_tensor) {
      otherwise = "; or " + refused.hint;
    }
    refused.hint = "try " + best.text + otherwise;
  }
  if (refused.file.empty()) refused.file = source.origin();
  return with_report(
      std::move(refused), result,
      "the load was refused and changed nothing; 'applied' lists the tensors that would fit");
}

}  // namespace andiron::inline v1::detail
