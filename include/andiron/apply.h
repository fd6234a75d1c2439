// SPDX-License-Identifier: MIT OR Apache-2.0
// Moves tensors into a module and out of it, without a store.
//
//   Snapshots encoder = collect(teacher, {.filter = PathFilter().with_regex("^encoder")}).value();
//   apply(student, encoder, {.allow_partial = true}).value();
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/archive.h"
#include "andiron/detail/no_throw.h"
#include "andiron/detail/slots.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/module.h"
#include "andiron/names.h"
#include "andiron/place.h"
#include "andiron/progress.h"
#include "andiron/proposal.h"
#include "andiron/snapshot.h"
#include "andiron/value.h"

namespace andiron::inline v1 {

/// A parameter that has no tensor in the source.
struct MissingTensor {
  std::string path;
  Container container;
  /// The unused tensor that was probably meant, by its name in `unused`, or empty. Only filled in
  /// for the first few.
  std::string did_you_mean = {};
};

/// The outcome of a load, for every parameter of the module and every tensor of the source.
struct Report {
  /// How many names of each kind to_string() lists.
  static constexpr std::size_t shown = 10;

  std::vector<std::string> applied;    ///< parameters that got a tensor, in module order
  std::vector<std::string> skipped;    ///< parameters that the filter excluded, sorted
  std::vector<MissingTensor> missing;  ///< parameters without a tensor, sorted by path
  /// Tensors that no parameter uses, sorted. Where index gaps were closed, with the file's numbers.
  std::vector<std::string> unused;
  std::vector<Error> errors;        ///< tensors that do not fit or cannot be read, in module order
  std::vector<Message> notes;       ///< what a user should know
  std::vector<Proposal> proposals;  ///< settings that would make it match, best first

  /// True if there are no errors. Missing tensors are not errors here.
  bool is_success() const noexcept { return errors.empty(); }
  /// A summary of several lines: counts, the first names of each kind, "did you mean", proposals.
  /// Names are escaped, so it is safe to print.
  std::string to_string() const;
  /// The same for programs. `to_json(result.to_value())` returns:
  ///   {"applied":[...],"skipped":[...],"missing":[{"path","container","did_you_mean"}],
  ///    "unused":[...],
  ///    "errors":[{"code","path","message","found","expected","hint"}],"notes":[...],
  ///    "proposals":[{"text","code","matched","wanted","guess",
  ///                  "steps":[{"code","why","guess"}]}]}
  Value to_value() const;
};
using ApplyResult = Report;

/// Writes ApplyResult::to_string().
std::ostream& operator<<(std::ostream& out, const ApplyResult& result);

/// Which dtype a parameter has after a load. With every policy, data of another kind (integers for
/// a float parameter) fails with DTypeMismatch.
enum class DTypePolicy : std::uint8_t {
  from_file,       ///< the source's dtype, as in Burn
  cast_to_module,  ///< the parameter's dtype; the data is converted
  strict,          ///< they must be equal; otherwise DTypeMismatch
};

/// What collect() and collect_archive() return.
struct CollectOptions {
  PathFilter filter = {};           ///< sees the module's paths and containers
  AnyAdapter adapter = {};          ///< how the tensors are stored
  bool skip_enum_variants = false;  ///< leave the names of variants out of paths
  /// For collect_archive(): tied parameters become one tensor and aliases. If false, and for
  /// tensors that the adapter changes, each name gets its own tensor.
  bool ties_once = false;
};

/// How tensors get into a module.
struct ApplyOptions {
  PathFilter filter = {};           ///< sees the module's paths and containers
  AnyAdapter adapter = {};          ///< how the source stores tensors
  bool skip_enum_variants = false;  ///< leave the names of variants out of paths
  /// True: report missing tensors instead of failing with MissingTensor, and tensors of the source
  /// that the module is too short for.
  bool allow_partial = false;
  /// False: report tensors that do not fit and leave them out, instead of failing.
  bool validate = true;
  /// True: report tensors that no parameter uses. False: fail with UnusedTensor. Not set: fail for
  /// those that go on where the module ends, and report the others. These are tensors beyond the
  /// end of a list, under another key of a map, or for a list, map, optional or pointer that is
  /// empty; and parameters for which a layer has no place, as a second direction for an nn::Lstm or
  /// a weight for an nn::Relu; of what the filter takes.
  std::optional<bool> allow_unused = {};
  DTypePolicy dtype_policy = DTypePolicy::from_file;
  /// Borrow data from the source (a mapping, memory) if it can lend it; the parameter keeps it
  /// alive. Otherwise, and if false, parameters get their own memory.
  bool zero_copy = false;
  /// Replace tensors one by one and reuse their memory. Saves a second copy of the model, but a
  /// load that fails half way leaves part of it replaced. With zero_copy, tensors are borrowed or
  /// get new memory; memory is not reused.
  bool in_place = false;
  /// Let a std::variant hold another alternative after the load if the source's names say so: names
  /// of the present one are missing, and exactly one other has all of its names in the source,
  /// among them some that the present one does not take, with as many dimensions as its parameters.
  /// Shapes alone decide nothing; choose_variants() goes by them. A note tells of each. The new
  /// alternative is default constructed beside the old one and moved in when the load succeeds;
  /// types that cannot be, or may throw when moved, are not considered.
  bool choose_variants = true;
  /// Search for settings under which a source that does not match would. False saves that time.
  bool propose = true;
  /// Settings that were guessed (apply_proposal). A note of the load lists them.
  std::vector<std::string> guesses = {};
  /// Called while data is read; may cancel the load.
  Progress progress = {};
  /// `load_bytes` bounds the memory of the load.
  Limits limits = {};
};

/// Adds the settings of a proposal to those of a load, for those who call the stages themselves;
/// made twice, they are there twice. A store does it with StoreBuilder::apply().
void apply_proposal(const Proposal& proposal, NameOptions& names, ApplyOptions& options);

/// What a load will do with one parameter.
struct PlannedTensor {
  std::string path;                  ///< of the parameter
  std::vector<std::string> sources;  ///< the tensors it is made from, by their names in the file
  DType dtype = DType::f32;          ///< after the load
  Shape shape;
  std::uint64_t byte_size = 0;
};

/// A load that has been checked but not run.
struct Plan {
  std::vector<PlannedTensor> tensors;  ///< in module order
  std::uint64_t byte_size = 0;         ///< of all tensors
  /// The source has tensors that go on where the module ends (ApplyOptions::allow_unused).
  bool is_too_short = false;
  ApplyResult result;  ///< what the load will report, unless a read fails
};

namespace detail {
// `apply` deduces its source instead of taking a const&. Otherwise std::apply would be the better
// overload if the module is a standard container.
template <class Given, class T>
concept IsA = std::same_as<std::remove_cvref_t<Given>, T>;

// The source of a load: the opened archive, its name stages, and the archive after them.
struct LoadSource {
  const Archive& opened;
  const NameOptions& names;
  const Archive& named;

  static LoadSource as_it_is(const Archive& archive);
};

AnyAdapter adapter_of(const UseAdapter& setting);
Result<Snapshots> collect_slots(std::vector<Slot> slots, const CollectOptions& options);
Result<Archive> collect_slots_as_archive(std::vector<Slot> slots, const CollectOptions& options);
Result<Plan> plan_slots(const ModuleSlots& module, const LoadSource& source,
                        const ApplyOptions& options);
Result<ApplyResult> apply_slots(const ModuleSlots& module, const LoadSource& source,
                                const ApplyOptions& options);
}  // namespace detail

/// Returns the tensors of a module under their paths, in module order. Copies nothing: they share
/// the parameters' memory. Changing a parameter later does not change them. Fails with
/// MissingTensor if a parameter is not set, and with the errors of the filter and the adapter.
template <class M>
Result<Snapshots> collect(const M& module, const CollectOptions& options = {}) ANDIRON_NO_THROW {
  return detail::collect_slots(detail::slots_of(module, options.skip_enum_variants), options);
}
ANDIRON_OR_OUT_OF_MEMORY

/// The same as an archive, for apply_names() and write(). Notes tell of a filter that takes
/// nothing, and of different parameters with one id, as a copied Param has. Fails with
/// NameCollision if the adapter gives two tensors one name.
template <class M>
Result<Archive> collect_archive(const M& module, const CollectOptions& options = {})
    ANDIRON_NO_THROW {
  return detail::collect_slots_as_archive(detail::slots_of(module, options.skip_enum_variants),
                                          options);
}
ANDIRON_OR_OUT_OF_MEMORY

/// Puts the tensors of an archive into the parameters with the same paths. Checks all names, shapes
/// and dtypes first, then reads, then replaces. If it fails, the module is unchanged (see in_place
/// for the exception).
///
/// Fails with MissingTensor, ShapeMismatch, DTypeMismatch or UnusedTensor if the source does not
/// match; `error().report` then contains the whole ApplyResult. Also fails with OutOfMemory,
/// Cancelled, and the errors of reading.
template <class M, detail::IsA<Archive> Source>
Result<ApplyResult> apply(M& module, Source&& source, const ApplyOptions& options = {})
    ANDIRON_NO_THROW {
  return detail::apply_slots(detail::slots_to_change(module, options.skip_enum_variants),
                             detail::LoadSource::as_it_is(source), options);
}
ANDIRON_OR_OUT_OF_MEMORY
/// The same for a list of tensors. If a name repeats, the later tensor counts.
template <class M, detail::IsA<Snapshots> List>
Result<ApplyResult> apply(M& module, List&& snapshots, const ApplyOptions& options = {})
    ANDIRON_NO_THROW {
  Result<Archive> source = to_archive(snapshots);
  if (!source) return std::move(source).error();
  return andiron::apply(module, *source, options);
}
ANDIRON_OR_OUT_OF_MEMORY

/// Returns what apply() would do. Reads no tensor and changes nothing. A mismatch is not a failure
/// here: it is in `result`, and so is the error of a module that is too short for the source.
template <class M>
Result<Plan> plan(const M& module, const Archive& source, const ApplyOptions& options = {})
    ANDIRON_NO_THROW {
  return detail::plan_slots(detail::module_slots(module, options.skip_enum_variants),
                            detail::LoadSource::as_it_is(source), options);
}
ANDIRON_OR_OUT_OF_MEMORY
template <class M>
Result<Plan> plan(const M& module, const Snapshots& snapshots, const ApplyOptions& options = {})
    ANDIRON_NO_THROW {
  Result<Archive> source = to_archive(snapshots);
  if (!source) return std::move(source).error();
  return andiron::plan(module, *source, options);
}
ANDIRON_OR_OUT_OF_MEMORY

/// A parameter of a model that is not a C++ type here.
struct ListedParameter {
  std::string path;
  DType dtype = DType::f32;
  Shape shape = {};
  std::string kind = {};  ///< of the module around it, for adapters: "Linear"; may be empty
};

/// plan() for a model of which only the parameters are known, from a listing or another file.
/// `names` are the stages between the file and the model. Dtypes of one kind, such as f32 and f16,
/// fit each other. Fails with NameCollision if a path is listed twice, and with the errors of
/// apply_names() and of the filter.
Result<Plan> plan_listing(const std::vector<ListedParameter>& model, const Archive& file,
                          const NameOptions& names = {}, const ApplyOptions& options = {});

/// How choose_variants() and grow_to_fit() compare a module with a source.
struct ChooseOptions {
  AnyAdapter adapter = {};          ///< how the source stores tensors
  bool skip_enum_variants = false;  ///< the source's names do not contain the names of variants
};

/// A variant that choose_variants() changed.
struct ChosenVariant {
  std::string path;  ///< of the variant
  std::string name;  ///< of the alternative it holds now
};

/// A container, optional or pointer that grow_to_fit() added to.
struct GrownPart {
  std::string path;
  std::size_t before = 0;  ///< how many elements it had
  std::size_t after = 0;   ///< and has now; 1 for an optional or pointer that was empty
};

}  // namespace andiron::inline v1

// Included here because it uses the types above.
#include "andiron/detail/choose_variants.h"
#include "andiron/detail/grow_to_fit.h"

namespace andiron::inline v1 {

/// Makes every std::variant of a module hold the alternative that matches the source. Call it
/// before a load. Returns the variants it changed, outer ones first.
///
/// An alternative matches if the source has a tensor of the right shape for every one of its
/// parameters. If several match, the one with the most parameters wins. The current alternative
/// stays if it is as good, or if none matches.
///
/// New alternatives are default constructed and moved in; types that cannot be are not considered.
/// Their optional parts are filled if the source has tensors for them.
///
/// A parameter that is not set, as after default construction, fits every shape. So with
/// skip_enum_variants, alternatives with the same field names look alike, and the current one
/// stays.
///
/// If it fails with OutOfMemory, some variants may hold their new alternatives already. Call it
/// again.
template <class M>
Result<std::vector<ChosenVariant>> choose_variants(M& module, const Archive& source,
                                                   const ChooseOptions& options = {})
    ANDIRON_NO_THROW {
  if (Status status = options.adapter->status(); !status) return std::move(status).error();
  detail::VariantChooser chooser(source, options);
  std::vector<ChosenVariant> chosen;
  detail::walk_to_change(module, detail::ChoosingWalker{chooser, chosen});
  return chosen;
}
ANDIRON_OR_OUT_OF_MEMORY

/// Adds to the vectors, deques, maps, optionals and pointers of a module what the source has and
/// they lack: with blocks.0 to blocks.23 in the source, a vector `blocks` gets 24 elements. Call it
/// before a load. New elements are default constructed; types that cannot be are left alone, and
/// vectors of types that may throw when moved. Never removes anything. Returns the parts that have
/// grown, outer ones first. A new std::variant holds its first alternative; choose_variants(),
/// called next, goes by shapes.
///
/// All or nothing: if it fails, the module is as it was. Fails with MissingTensor if the numbers of
/// a list have gaps, so a list never gets more elements than the source has tensors, and with
/// LimitExceeded for parts more than 128 levels deep.
template <class M>
Result<std::vector<GrownPart>> grow_to_fit(M& module, const Archive& source,
                                           const ChooseOptions& options = {}) ANDIRON_NO_THROW {
  if (Status status = options.adapter->status(); !status) return std::move(status).error();
  detail::ContainerGrower grower(source, options);
  detail::walk_to_change(module, detail::GrowingWalker{grower});
  return grower.finish();
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
