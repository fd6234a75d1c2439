// SPDX-License-Identifier: MIT OR Apache-2.0
// The first half of a load: decides which tensor goes where, without reading any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "andiron/apply.h"
#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/key_map.h"
#include "andiron/module.h"
#include "src/load/shape_reason.h"

namespace andiron::inline v1::detail {

// A tensor, as the parameter will hold it, and its slot.
struct Assignment {
  std::size_t slot;
  TensorSnapshot tensor;
  std::uint32_t first_source;  // in LoadPlan::sources
  std::uint32_t source_count;
  // The slot that the tensor is read into: this one, or one that shares its memory.
  std::size_t read_slot;

  // The parameter has another dtype than the tensor.
  bool changes_dtype;

  bool is_read() const noexcept { return slot == read_slot; }
};

// Tensors that were found for a parameter that does not take them.
struct NotTaken {
  std::size_t slot;
  std::uint32_t first_source;  // in LoadPlan::sources
  std::uint32_t source_count;
  KeyOutcome outcome;
  std::string reason;  // as in KeyUse
};

struct LoadPlan {
  std::vector<Assignment> assignments;  // in slot order, one for each of result.applied
  std::vector<std::uint32_t> sources;   // tensors of the source, by index
  std::vector<WrongShape> misfits;      // of the errors
  std::string shape_reason;             // what these have in common; empty if nothing
  std::vector<std::size_t> skipped;     // slots that the filter leaves out, in order
  std::vector<std::size_t> unused;      // tensors of the source, by index, in the order of names
  std::vector<NotTaken> not_taken;      // in slot order
  std::uint64_t byte_size = 0;
  std::optional<Error> too_short;  // tensors go on where the module ends (vacancies.h)
  ApplyResult result;
};

Result<LoadPlan> make_load_plan(const ModuleSlots& module, const Archive& source,
                                const ApplyOptions& options);

// Returns the error with the report of the load, and a note about it.
Error with_report(Error error, ApplyResult result, std::string note);

// Whether a load by this plan must not go ahead because the source goes on where the module ends.
bool is_refused_as_too_short(const LoadPlan& plan, const ApplyOptions& options);

// Fails if a load by this plan must not go ahead.
Status check_load(const LoadPlan& plan, const Archive& source, const ApplyOptions& options);

}  // namespace andiron::inline v1::detail
