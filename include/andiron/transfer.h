// SPDX-License-Identifier: MIT OR Apache-2.0
// The module's side of a load and of a save: from an archive, or a list of tensors, into a module,
// and back. Without a file, that is model surgery.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply_result.h"
#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/module.h"
#include "andiron/names.h"
#include "andiron/path_filter.h"
#include "andiron/progress.h"
#include "andiron/snapshots.h"

namespace andiron::inline v1 {

/// Which dtype a parameter has after a load. Whatever it says, data of another kind than the
/// parameter's (integers for floats) is a DTypeMismatch.
enum class DTypePolicy : std::uint8_t {
  from_file,       ///< the source's, as in Burn
  cast_to_module,  ///< the parameter's own: the data is converted
  strict,          ///< they must be equal; otherwise DTypeMismatch
};

struct CollectOptions {
  PathFilter filter = {};           ///< sees the module's paths and containers
  AnyAdapter adapter = {};          ///< how the tensors are to be stored
  bool skip_enum_variants = false;  ///< leave the names of variants out of paths
  /// For archives: tied parameters once, their other names as aliases. Otherwise, and where an
  /// adapter converts them, each name gets a tensor.
  bool ties_once = false;
};

struct ApplyOptions {
  PathFilter filter = {};           ///< sees the module's paths and containers
  AnyAdapter adapter = {};          ///< how the source stores tensors
  bool skip_enum_variants = false;  ///< leave the names of variants out of paths
  bool allow_partial = false;       ///< missing tensors are reported, not refused
  bool validate = true;             ///< tensors that do not fit are refused; else only reported
  bool allow_unused = true;         ///< otherwise tensors without a place are refused
  DTypePolicy dtype_policy = DTypePolicy::from_file;
  /// Borrow from the source (a mapping, memory) where it can lend its data; that stays alive as
  /// long as the parameter. Otherwise parameters get memory of their own.
  bool zero_copy = false;
  /// Replace tensors one by one, reusing their memory, instead of reading all before the first is
  /// replaced. Takes no second copy of the model, but a load that fails half way leaves half of it
  /// replaced. With zero_copy, what can be borrowed is.
  bool in_place = false;
  Progress progress = {};
  Limits limits = {};
};

/// What a load will do with one parameter.
struct PlannedTensor {
  std::string path;                  ///< of the parameter
  std::vector<std::string> sources;  ///< tensors that it is made of
  DType dtype = DType::f32;          ///< that it will have
  Shape shape;
  std::uint64_t byte_size = 0;
};

/// A load that has not been done.
struct Plan {
  std::vector<PlannedTensor> tensors;  ///< in module order
  std::uint64_t byte_size = 0;         ///< of all
  ApplyResult result;                  ///< what the load will report, unless reading fails
};

namespace detail {
// What a load takes its tensors from: an archive as it was opened, the stages that its names go
// through, and what these give.
struct LoadSource {
  const Archive& opened;
  const NameOptions& names;
  const Archive& named;

  static LoadSource as_it_is(const Archive& archive);
};

Result<Snapshots> collect_slots(const std::vector<Slot>& slots, const CollectOptions& options);
Result<Archive> collect_slots_as_archive(const std::vector<Slot>& slots,
                                         const CollectOptions& options);
Result<Plan> plan_slots(const std::vector<Slot>& slots, const LoadSource& source,
                        const ApplyOptions& options);
Result<ApplyResult> apply_slots(const std::vector<Slot>& slots, const LoadSource& source,
                                const ApplyOptions& options);
}  // namespace detail

/// The tensors of a module under their paths, in module order. Nothing is copied: they share the
/// parameters' memory, and a parameter that is changed later leaves them as they are.
template <class M>
Result<Snapshots> collect(const M& module, const CollectOptions& options = {}) {
  return detail::collect_slots(detail::slots_of(module, options.skip_enum_variants), options);
}

/// The same as an archive, for apply_names() and write(). NameCollision when the adapter gives one
/// name to two.
template <class M>
Result<Archive> collect_archive(const M& module, const CollectOptions& options = {}) {
  return detail::collect_slots_as_archive(detail::slots_of(module, options.skip_enum_variants),
                                          options);
}

/// Puts the tensors of an archive into the parameters of the same path. All is checked first
/// (names, shapes, dtypes), then read, then put in place: on an error the module is exactly as it
/// was. The error of a load that does not match carries the whole report.
template <class M>
Result<ApplyResult> apply(M& module, const Archive& source, const ApplyOptions& options = {}) {
  return detail::apply_slots(detail::slots_to_change(module, options.skip_enum_variants),
                             detail::LoadSource::as_it_is(source), options);
}
/// The same for a list of tensors.
template <class M>
Result<ApplyResult> apply(M& module, const Snapshots& snapshots, const ApplyOptions& options = {}) {
  Result<Archive> source = to_archive(snapshots);
  if (!source) return std::move(source).error();
  return andiron::apply(module, *source, options);
}

/// What apply() would do. Reads no tensor and changes nothing; a mismatch is in the result.
template <class M>
Result<Plan> plan(const M& module, const Archive& source, const ApplyOptions& options = {}) {
  return detail::plan_slots(detail::slots_of(module, options.skip_enum_variants),
                            detail::LoadSource::as_it_is(source), options);
}
template <class M>
Result<Plan> plan(const M& module, const Snapshots& snapshots, const ApplyOptions& options = {}) {
  Result<Archive> source = to_archive(snapshots);
  if (!source) return std::move(source).error();
  return andiron::plan(module, *source, options);
}

}  // namespace andiron::inline v1
