// SPDX-License-Identifier: MIT OR Apache-2.0
// The settings that all stores share. Every store of stores.h has these functions:
//
//   auto store = SafetensorsStore::from_file("model.safetensors")
//                    .with_key_remapping(R"(^model\.)", "")
//                    .allow_partial(true);
//
// They may throw std::bad_alloc (error.h). A bad argument is reported by the first operation of the
// store, and by Store::status().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/detail/store_settings.h"
#include "andiron/limits.h"
#include "andiron/names.h"
#include "andiron/open.h"
#include "andiron/progress.h"
#include "andiron/store.h"

namespace andiron::inline v1 {

/// The builders, the same for every store. Each changes the store and returns it: a named store by
/// reference, a temporary by value.
template <class Self>
class StoreBuilder : public Store {
 public:
  // ---- Where ----
  /// A file to save into, or to load as open() does: a shard index or a folder works too.
  static Self from_file(std::string path) { return make(std::move(path)); }
  /// A file in memory. Without bytes, an empty store to save into.
  static Self from_bytes(std::optional<Bytes> bytes = std::nullopt) {
    return make(std::move(bytes));
  }
  static Self from_bytes(std::vector<std::byte> bytes) {
    return make(Bytes::own(std::move(bytes)));
  }
  static Self from_bytes(std::vector<std::uint8_t> bytes) {
    return make(Bytes::own(std::move(bytes)));
  }
  static Self from_bytes(std::string bytes) { return make(Bytes::own(std::move(bytes))); }
  /// Files that are not in a folder (byte_source.h). Without a name, the only model among them. For
  /// loads; a save fails with Unsupported.
  static Self from_files(FileSetPtr files, std::string name = {}) {
    return make(detail::StoreFiles{std::move(files), std::move(name)});
  }
  /// A file in static memory, for example an array compiled into the program. Parameters borrow
  /// from it.
  static Self from_static(std::span<const std::byte> bytes) {
    return from_bytes(Bytes::borrow(bytes)).zero_copy(true);
  }
  static Self from_static(std::span<const std::uint8_t> bytes) {
    return from_static(std::as_bytes(bytes));
  }

  // ---- Which parameters take part ----
  /// Replaces the whole filter.
  Self& filter(const PathFilter& filter) & {
    return change_filter([&](PathFilter& one) { one = filter; });
  }
  /// Adds a criterion, as PathFilter does (names.h). A parameter takes part if any criterion
  /// matches and nothing excludes it.
  Self& with_regex(std::string_view pattern) & {
    return change_filter([&](PathFilter& one) { one.with_regex(pattern); });
  }
  Self& with_regexes(const std::vector<std::string>& patterns) & {
    return change_filter([&](PathFilter& one) { one.with_regexes(patterns); });
  }
  Self& with_glob(std::string_view pattern) & {
    return change_filter([&](PathFilter& one) { one.with_glob(pattern); });
  }
  Self& with_full_path(const std::string& path) & {
    return change_filter([&](PathFilter& one) { one.with_full_path(path); });
  }
  Self& with_full_paths(const std::vector<std::string>& paths) & {
    return change_filter([&](PathFilter& one) { one.with_full_paths(paths); });
  }
  Self& with_predicate(const PathFilter::Predicate& predicate) & {
    return change_filter([&](PathFilter& one) { one.with_predicate(predicate); });
  }
  Self& with_predicates(const std::vector<PathFilter::Predicate>& predicates) & {
    for (const PathFilter::Predicate& predicate : predicates) with_predicate(predicate);
    return self();
  }
  Self& match_all() & {
    return change_filter([](PathFilter& one) { one.match_all(); });
  }
  Self& exclude_regex(std::string_view pattern) & {
    return change_filter([&](PathFilter& one) { one.exclude_regex(pattern); });
  }
  Self& exclude_full_path(const std::string& path) & {
    return change_filter([&](PathFilter& one) { one.exclude_full_path(path); });
  }
  Self& exclude_predicate(const PathFilter::Predicate& predicate) & {
    return change_filter([&](PathFilter& one) { one.exclude_predicate(predicate); });
  }
  Self& exclude_glob(std::string_view pattern) & {
    return change_filter([&](PathFilter& one) { one.exclude_glob(pattern); });
  }

  // ---- Names ----
  /// Replaces every match in every name. Rules run in the order they were added.
  Self& with_key_remapping(std::string_view from, std::string to) & {
    return change_names().names.remapper.add_pattern(from, std::move(to)), self();
  }
  /// Replaces all rules.
  Self& remap(KeyRemapper remapper) & {
    return change_names().names.remapper = std::move(remapper), self();
  }
  /// Loads only the tensors under this key, and drops the key from their names. A dotted key goes
  /// down several levels. Ignored by saves.
  Self& with_top_level_key(std::string key) & {
    return change_names().names.top_level_key = std::move(key), self();
  }
  /// Replaces the parts that PyTorch's weight norm keeps (weight_g and weight_v) with their
  /// weights, before names are remapped. See fold_weight_norm() in names.h. Ignored by saves.
  Self& fold_weight_norm(bool fold = true) & {
    return change_names().names.fold_weight_norm = fold, self();
  }
  /// Cuts, joins or transposes tensors by name, after names are remapped. See TensorEdit in
  /// names.h. Ignored by saves.
  Self& split_tensors(std::string pattern, std::vector<std::string> parts, std::size_t dim = 0,
                      std::vector<std::uint64_t> shares = {}) & {
    return edit_tensors(
        TensorEdit::split(std::move(pattern), std::move(parts), dim, std::move(shares)));
  }
  Self& join_tensors(std::string pattern, std::vector<std::string> others, std::string whole,
                     std::size_t dim = 0) & {
    return edit_tensors(
        TensorEdit::join(std::move(pattern), std::move(others), std::move(whole), dim));
  }
  Self& transpose_tensors(std::string pattern) & {
    return edit_tensors(TensorEdit::transpose(std::move(pattern)));
  }
  Self& edit_tensors(TensorEdit edit) & {
    return change_names().names.edits.push_back(std::move(edit)), self();
  }
  /// Closes gaps in numbered names: fc.0 fc.2 fc.4 load as fc.0 fc.1 fc.2. A list of the module
  /// that has gaps itself, as a std::tuple with the layers without parameters, gets the file's
  /// numbers. Ignored by saves.
  Self& map_indices_contiguous(bool map = true) & {
    return change_names().names.close_gaps = map, self();
  }
  /// Keeps the numbers that follow a path matched by this regular expression.
  Self& map_indices_contiguous_except(std::string pattern) & {
    return change_names().names.except.push_back(std::move(pattern)), self();
  }
  /// Makes the settings of a proposal (ApplyResult::proposals). Loads with guesses among them say
  /// so in their notes.
  Self& apply(const Proposal& proposal) & {
    adopt(proposal);
    return self();
  }
  /// False: loads that do not match are refused without a search for settings that would.
  Self& search_proposals(bool search = true) & {
    change().apply.propose = search;
    return self();
  }
  /// Leaves the names of variants out of paths.
  Self& skip_enum_variants(bool skip = true) & {
    change().apply.skip_enum_variants = skip;
    return change().collect.skip_enum_variants = skip, self();
  }

  /// If false, a load keeps the alternatives that variants hold, whatever the file's names say.
  /// Default: true. See ApplyOptions.
  Self& choose_variants(bool choose) & { return change().apply.choose_variants = choose, self(); }

  // ---- Tensors ----
  /// How the file stores tensors, for loads.
  Self& with_from_adapter(AnyAdapter adapter) & {
    return change().apply.adapter = std::move(adapter), self();
  }
  /// How the file should store tensors, for saves.
  Self& with_to_adapter(AnyAdapter adapter) & {
    return change().collect.adapter = std::move(adapter), self();
  }
  /// Which dtype parameters have after a load.
  Self& dtype_policy(DTypePolicy policy) & { return change().apply.dtype_policy = policy, self(); }
  /// Parameters borrow from the file's mapping or from memory, and keep it alive. See ApplyOptions.
  Self& zero_copy(bool borrow = true) & { return change().apply.zero_copy = borrow, self(); }

  // ---- What is refused ----
  /// Reports parameters that the file lacks, instead of failing with MissingTensor, and tensors
  /// that the module is too short for.
  Self& allow_partial(bool allow = true) & { return change().apply.allow_partial = allow, self(); }
  /// If false, reports tensors that do not fit and leaves them out, instead of failing. Default:
  /// true.
  Self& validate(bool validate) & { return change().apply.validate = validate, self(); }
  /// If false, fails with UnusedTensor if no parameter uses a tensor. If true, never does. By
  /// default, fails only for tensors that the module is too short for (ApplyOptions).
  Self& allow_unused(bool allow) & { return change().apply.allow_unused = allow, self(); }
  /// Replaces tensors one by one and reuses their memory. See ApplyOptions.
  Self& in_place(bool in_place = true) & { return change().apply.in_place = in_place, self(); }

  // ---- Writing ----
  /// Makes a save write the file that `loaded` reads, with the module's tensors in place of the old
  /// ones. Names are as they were before the top-level key, the remapping and closed index gaps,
  /// layouts as they were before the adapter (Adapter::inverse). Everything that the module did not
  /// take is carried over. Ties stay as the file has them; write_ties_once() has no effect. A
  /// filter leaves the file's tensors as they are. Fails as put_back() in names.h does, which
  /// refuses folded weight norm, and with Unsupported if the adapter has no inverse.
  Self& based_on(const Store& loaded) & {
    return set_basis(loaded, Self::defaults().write.metadata), self();
  }
  /// Adds an entry to the metadata that a save writes.
  Self& metadata(std::string key, std::string value) & {
    return change().write.metadata.insert_or_assign(std::move(key), std::move(value)), self();
  }
  /// Drops all entries, including the default ones (format, producer, version).
  Self& clear_metadata() & { return change().write.metadata.clear(), self(); }
  /// Lets a save replace an existing file.
  Self& overwrite(bool overwrite = true) & { return change().write.overwrite = overwrite, self(); }
  /// Adds the format's extension to a path that has none. A load falls back to the path as given if
  /// the extended path does not exist.
  Self& auto_extension(bool add = true) & { return change_source().auto_extension = add, self(); }
  /// Makes a save survive a power cut (fsync). Default: true.
  Self& sync(bool sync) & { return change().write.sync = sync, self(); }
  /// Writes tied parameters once and records the other names in the metadata, as Hugging Face does.
  /// By default, and for tensors that an adapter changes, each name gets a copy.
  Self& write_ties_once(bool once = true) & { return change().collect.ties_once = once, self(); }
  /// Splits a save into files of at most this size. See WriteOptions.
  Self& max_shard_bytes(std::uint64_t bytes) & {
    return change().write.max_shard_bytes = bytes, self();
  }

  // ---- How ----
  /// Called during loads and saves.
  Self& progress(const Progress& progress) & {
    change().apply.progress = progress;
    return change().write.progress = progress, self();
  }
  /// Limits for all stages.
  Self& limits(const Limits& limits) & {
    change_source().open.limits = limits;
    change().apply.limits = limits;
    return change().write.limits = limits, self();
  }
  /// How the file is read (file.h).
  Self& io(IoMode mode) & { return change_source().open.io = mode, self(); }
  /// How forgiving the reader is (open.h).
  Self& strictness(Strictness strictness) & {
    return change_source().open.strictness = strictness, self();
  }
  /// Compares the file's checksums for all data that is read (open.h).
  Self& verify(bool verify = true) & { return change_source().open.verify = verify, self(); }

 protected:
  StoreBuilder(detail::StoreLocation location, detail::StoreSettings settings)
      : Store(std::move(location), std::move(settings)) {}

 private:
  // Each store has Self::format, the format it writes, and Self::defaults().
  static Self make(detail::StoreLocation location) {
    detail::StoreSettings settings = Self::defaults();
    settings.write.format = Self::format;
    return Self(std::move(location), std::move(settings));
  }

  // A load and a save use the same filter.
  template <class Change>
  Self& change_filter(Change change_one) {
    change_one(change().apply.filter);
    return change_one(change().collect.filter), self();
  }

  Self& self() noexcept { return static_cast<Self&>(*this); }
};

}  // namespace andiron::inline v1
