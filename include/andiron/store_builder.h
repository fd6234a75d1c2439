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
#include "andiron/detail/builder.h"
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
  ANDIRON_BUILDER(Self, filter, (const PathFilter& filter),
                  change_filter([&](PathFilter& one) { one = filter; }))
  /// Adds a criterion, as PathFilter does (names.h). A parameter takes part if any criterion
  /// matches and nothing excludes it.
  ANDIRON_BUILDER(Self, with_regex, (std::string_view pattern),
                  change_filter([&](PathFilter& one) { one.with_regex(pattern); }))
  ANDIRON_BUILDER(Self, with_regexes, (const std::vector<std::string>& patterns),
                  change_filter([&](PathFilter& one) { one.with_regexes(patterns); }))
  ANDIRON_BUILDER(Self, with_glob, (std::string_view pattern),
                  change_filter([&](PathFilter& one) { one.with_glob(pattern); }))
  ANDIRON_BUILDER(Self, with_full_path, (const std::string& path),
                  change_filter([&](PathFilter& one) { one.with_full_path(path); }))
  ANDIRON_BUILDER(Self, with_full_paths, (const std::vector<std::string>& paths),
                  change_filter([&](PathFilter& one) { one.with_full_paths(paths); }))
  ANDIRON_BUILDER(Self, with_predicate, (const PathFilter::Predicate& predicate),
                  change_filter([&](PathFilter& one) { one.with_predicate(predicate); }))
  ANDIRON_BUILDER(Self, with_predicates, (const std::vector<PathFilter::Predicate>& predicates),
                  for (const PathFilter::Predicate& predicate : predicates)
                      with_predicate(predicate))
  ANDIRON_BUILDER(Self, match_all, (), change_filter([](PathFilter& one) { one.match_all(); }))
  ANDIRON_BUILDER(Self, exclude_regex, (std::string_view pattern),
                  change_filter([&](PathFilter& one) { one.exclude_regex(pattern); }))
  ANDIRON_BUILDER(Self, exclude_full_path, (const std::string& path),
                  change_filter([&](PathFilter& one) { one.exclude_full_path(path); }))
  ANDIRON_BUILDER(Self, exclude_predicate, (const PathFilter::Predicate& predicate),
                  change_filter([&](PathFilter& one) { one.exclude_predicate(predicate); }))
  ANDIRON_BUILDER(Self, exclude_glob, (std::string_view pattern),
                  change_filter([&](PathFilter& one) { one.exclude_glob(pattern); }))

  // ---- Names ----
  /// Replaces every match in every name. Rules run in the order they were added.
  ANDIRON_BUILDER(Self, with_key_remapping, (std::string_view from, std::string to),
                  change_names().names.remapper.add_pattern(from, std::move(to)))
  /// Replaces all rules.
  ANDIRON_BUILDER(Self, remap, (KeyRemapper remapper),
                  change_names().names.remapper = std::move(remapper))
  /// Loads only the tensors under this key, and drops the key from their names. A dotted key goes
  /// down several levels. Ignored by saves.
  ANDIRON_BUILDER(Self, with_top_level_key, (std::string key),
                  change_names().names.top_level_key = std::move(key))
  /// Replaces the parts that PyTorch's weight norm keeps (weight_g and weight_v) with their
  /// weights, before names are remapped. See fold_weight_norm() in names.h. Ignored by saves.
  ANDIRON_BUILDER(Self, fold_weight_norm, (bool fold = true),
                  change_names().names.fold_weight_norm = fold)
  /// Cuts, joins or transposes tensors by name, after names are remapped. See TensorEdit in
  /// names.h. Ignored by saves.
  ANDIRON_BUILDER(Self, split_tensors,
                  (std::string pattern, std::vector<std::string> parts, std::size_t dim = 0,
                   std::vector<std::uint64_t> shares = {}),
                  edit_tensors(TensorEdit::split(std::move(pattern), std::move(parts), dim,
                                                 std::move(shares))))
  ANDIRON_BUILDER(Self, join_tensors,
                  (std::string pattern, std::vector<std::string> others, std::string whole,
                   std::size_t dim = 0),
                  edit_tensors(TensorEdit::join(std::move(pattern), std::move(others),
                                                std::move(whole), dim)))
  ANDIRON_BUILDER(Self, transpose_tensors, (std::string pattern),
                  edit_tensors(TensorEdit::transpose(std::move(pattern))))
  ANDIRON_BUILDER(Self, edit_tensors, (TensorEdit edit),
                  change_names().names.edits.push_back(std::move(edit)))
  /// Closes gaps in numbered names: fc.0 fc.2 fc.4 load as fc.0 fc.1 fc.2. A list of the module
  /// that has gaps itself, as a std::tuple with the layers without parameters, gets the file's
  /// numbers. Ignored by saves.
  ANDIRON_BUILDER(Self, map_indices_contiguous, (bool map = true),
                  change_names().names.close_gaps = map)
  /// Keeps the numbers that follow a path matched by this regular expression.
  ANDIRON_BUILDER(Self, map_indices_contiguous_except, (std::string pattern),
                  change_names().names.except.push_back(std::move(pattern)))
  /// Makes the settings of a proposal (ApplyResult::proposals). Loads with guesses among them say
  /// so in their notes.
  ANDIRON_BUILDER(Self, apply, (const Proposal& proposal), adopt(proposal))
  /// False: loads that do not match are refused without a search for settings that would.
  ANDIRON_BUILDER(Self, search_proposals, (bool search = true), change().apply.propose = search)
  /// Leaves the names of variants out of paths.
  ANDIRON_BUILDER(Self, skip_enum_variants, (bool skip = true),
                  change().apply.skip_enum_variants = skip;
                  change().collect.skip_enum_variants = skip)

  /// If false, a load keeps the alternatives that variants hold, whatever the file's names say.
  /// Default: true. See ApplyOptions.
  ANDIRON_BUILDER(Self, choose_variants, (bool choose), change().apply.choose_variants = choose)

  // ---- Tensors ----
  /// How the file stores tensors, for loads.
  ANDIRON_BUILDER(Self, with_from_adapter, (AnyAdapter adapter),
                  change().apply.adapter = std::move(adapter))
  /// How the file should store tensors, for saves.
  ANDIRON_BUILDER(Self, with_to_adapter, (AnyAdapter adapter),
                  change().collect.adapter = std::move(adapter))
  /// Which dtype parameters have after a load.
  ANDIRON_BUILDER(Self, dtype_policy, (DTypePolicy policy), change().apply.dtype_policy = policy)
  /// Parameters borrow from the file's mapping or from memory, and keep it alive. See ApplyOptions.
  ANDIRON_BUILDER(Self, zero_copy, (bool borrow = true), change().apply.zero_copy = borrow)

  // ---- What is refused ----
  /// Reports parameters that the file lacks, instead of failing with MissingTensor, and tensors
  /// that the module is too short for.
  ANDIRON_BUILDER(Self, allow_partial, (bool allow = true), change().apply.allow_partial = allow)
  /// If false, reports tensors that do not fit and leaves them out, instead of failing. Default:
  /// true.
  ANDIRON_BUILDER(Self, validate, (bool validate), change().apply.validate = validate)
  /// If false, fails with UnusedTensor if no parameter uses a tensor. If true, never does. By
  /// default, fails only for tensors that the module is too short for (ApplyOptions).
  ANDIRON_BUILDER(Self, allow_unused, (bool allow), change().apply.allow_unused = allow)
  /// Replaces tensors one by one and reuses their memory. See ApplyOptions.
  ANDIRON_BUILDER(Self, in_place, (bool in_place = true), change().apply.in_place = in_place)

  // ---- Writing ----
  /// Makes a save write the file that `loaded` reads, with the module's tensors in place of the old
  /// ones. Names are as they were before the top-level key, the remapping and closed index gaps,
  /// layouts as they were before the adapter (Adapter::inverse). Everything that the module did not
  /// take is carried over. Ties stay as the file has them; write_ties_once() has no effect. A
  /// filter leaves the file's tensors as they are. Fails as put_back() in names.h does, which
  /// refuses folded weight norm, and with Unsupported if the adapter has no inverse.
  ANDIRON_BUILDER(Self, based_on, (const Store& loaded),
                  set_basis(loaded, Self::defaults().write.metadata))
  /// Adds an entry to the metadata that a save writes.
  ANDIRON_BUILDER(Self, metadata, (std::string key, std::string value),
                  change().write.metadata.insert_or_assign(std::move(key), std::move(value)))
  /// Drops all entries, including the default ones (format, producer, version).
  ANDIRON_BUILDER(Self, clear_metadata, (), change().write.metadata.clear())
  /// Lets a save replace an existing file.
  ANDIRON_BUILDER(Self, overwrite, (bool overwrite = true), change().write.overwrite = overwrite)
  /// Adds the format's extension to a path that has none. A load falls back to the path as given if
  /// the extended path does not exist.
  ANDIRON_BUILDER(Self, auto_extension, (bool add = true), change_source().auto_extension = add)
  /// Makes a save survive a power cut (fsync). Default: true.
  ANDIRON_BUILDER(Self, sync, (bool sync), change().write.sync = sync)
  /// Writes tied parameters once and records the other names in the metadata, as Hugging Face does.
  /// By default, and for tensors that an adapter changes, each name gets a copy.
  ANDIRON_BUILDER(Self, write_ties_once, (bool once = true), change().collect.ties_once = once)
  /// Splits a save into files of at most this size. See WriteOptions.
  ANDIRON_BUILDER(Self, max_shard_bytes, (std::uint64_t bytes),
                  change().write.max_shard_bytes = bytes)

  // ---- How ----
  /// Called during loads and saves.
  ANDIRON_BUILDER(Self, progress, (const Progress& progress), change().apply.progress = progress;
                  change().write.progress = progress)
  /// Limits for all stages.
  ANDIRON_BUILDER(Self, limits, (const Limits& limits), change_source().open.limits = limits;
                  change().apply.limits = limits; change().write.limits = limits)
  /// How the file is read (file.h).
  ANDIRON_BUILDER(Self, io, (IoMode mode), change_source().open.io = mode)
  /// How forgiving the reader is (open.h).
  ANDIRON_BUILDER(Self, strictness, (Strictness strictness),
                  change_source().open.strictness = strictness)
  /// Compares the file's checksums for all data that is read (open.h).
  ANDIRON_BUILDER(Self, verify, (bool verify = true), change_source().open.verify = verify)

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
  void change_filter(Change change_one) {
    change_one(change().apply.filter);
    change_one(change().collect.filter);
  }
};

}  // namespace andiron::inline v1
