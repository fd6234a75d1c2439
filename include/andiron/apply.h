// SPDX-License-Identifier: MIT OR Apache-2.0
// Moving tensors into a module and out of it. Without a file, that is model surgery:
//
//   Snapshots encoder = collect(teacher, {.filter = PathFilter().with_regex("^encoder")}).value();
//   apply(student, encoder, {.allow_partial = true}).value();
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/archive.h"
#include "andiron/detail/slots.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/module.h"
#include "andiron/names.h"
#include "andiron/place.h"
#include "andiron/progress.h"
#include "andiron/snapshot.h"
#include "andiron/value.h"

namespace andiron::inline v1 {

/// A parameter that the source has no tensor for.
struct MissingTensor {
  std::string path;
  Container container;
  /// The unused tensor that is probably meant; told for the first few, where there is one.
  std::string did_you_mean = {};
};

/// A change of settings that would make more of a source fit a module.
struct Proposal {
  std::string text;  ///< for people: "names start with 'module.': strip it"
  std::string code;  ///< calls to paste behind a store: .with_key_remapping(R"(^module\.)", "")
  std::size_t matched = 0;  ///< parameters that would then be fed
  std::size_t wanted = 0;   ///< parameters there are
};

/// What became of every parameter of the module and of every tensor of the source.
struct ApplyResult {
  /// Names of each kind that the text shows.
  static constexpr std::size_t shown = 10;

  std::vector<std::string> applied;    ///< parameters that got their tensor, in module order
  std::vector<std::string> skipped;    ///< parameters that the filter left out, sorted
  std::vector<MissingTensor> missing;  ///< parameters without a tensor, sorted by path
  std::vector<std::string> unused;     ///< tensors that no parameter asked for, sorted
  std::vector<Error> errors;        ///< tensors that do not fit or cannot be read, in module order
  std::vector<std::string> notes;   ///< what a reader should know
  std::vector<Proposal> proposals;  ///< what would make it match, best first

  /// No errors. Missing tensors do not count.
  bool is_success() const noexcept { return errors.empty(); }
  /// A summary of several lines: counts, the first names of each kind, "did you mean", proposals.
  /// Names are safe to print.
  std::string to_string() const;
  /// The same for programs; `to_json(result.to_value())` is its JSON:
  /// {"applied":[...],"skipped":[...],"missing":[{"path","container","did_you_mean"}],
  ///  "unused":[...],
  ///  "errors":[{"code","path","message","found","expected","hint"}],"notes":[...],
  ///  "proposals":[{"text","code","matched","wanted"}]}
  Value to_value() const;
};

std::ostream& operator<<(std::ostream& out, const ApplyResult& result);

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
// Named by its type rather than taken by const&: std::apply would fit better where the module is a
// standard container.
template <class Given, class T>
concept IsA = std::same_as<std::remove_cvref_t<Given>, T>;

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
template <class M, detail::IsA<Archive> Source>
Result<ApplyResult> apply(M& module, Source&& source, const ApplyOptions& options = {}) {
  return detail::apply_slots(detail::slots_to_change(module, options.skip_enum_variants),
                             detail::LoadSource::as_it_is(source), options);
}
/// The same for a list of tensors.
template <class M, detail::IsA<Snapshots> List>
Result<ApplyResult> apply(M& module, List&& snapshots, const ApplyOptions& options = {}) {
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

struct ChooseOptions {
  AnyAdapter adapter = {};          ///< how the source stores tensors
  bool skip_enum_variants = false;  ///< the source's names lack the names of variants
};

/// A variant that was changed.
struct ChosenVariant {
  std::string path;  ///< of the variant
  std::string name;  ///< of the alternative that it holds now
};

}  // namespace andiron::inline v1

// Below what it works on.
#include "andiron/detail/choose_variants.h"

namespace andiron::inline v1 {

/// Makes every std::variant of a module hold the alternative whose parameters the source has, all
/// of them, by name and shape. Of several the one with most parameters wins; a variant whose
/// present alternative is served as well, or for which none is, stays as it is. Alternatives are
/// made by default construction and moved in (those that cannot be are not considered), with
/// optional parts where the source has them. Run it before a load. Returns what was changed,
/// variants before those inside them.
///
/// Parameters that are not set, as after default construction, fit every shape. With
/// skip_enum_variants, alternatives that list the same names can therefore not be told apart, and
/// the present one stays.
template <class M>
Result<std::vector<ChosenVariant>> choose_variants(M& module, const Archive& source,
                                                   const ChooseOptions& options = {}) {
  if (Status status = options.adapter->status(); !status) return std::move(status).error();
  detail::VariantChooser chooser(source, options);
  std::vector<ChosenVariant> chosen;
  detail::walk_to_change(module, detail::ChoosingWalker{chooser, chosen});
  return chosen;
}

}  // namespace andiron::inline v1
