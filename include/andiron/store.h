// SPDX-License-Identifier: MIT OR Apache-2.0
// What all stores share: their settings, looking into a file, loading and saving a module.
//
//   auto store = SafetensorsStore::from_file("model.safetensors")
//                    .with_key_remapping(R"(^model\.)", "")
//                    .allow_partial(true);
//   Result<ApplyResult> result = load_from(model, store);
//
// The order of stages is the same for every store:
//
//   load:  file -> top-level key -> remap -> index gaps -> filter -> match and adapt -> check
//          -> read -> replace
//   save:  module -> filter -> adapt -> remap -> file
//
// A filter sees the module's own paths and containers, both ways. Remapping rules run as written,
// both ways: on a load from the file's names to the module's, on a save from the module's to the
// file's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/module.h"
#include "andiron/names.h"
#include "andiron/open.h"
#include "andiron/progress.h"
#include "andiron/snapshot.h"
#include "andiron/write.h"

namespace andiron::inline v1 {

namespace detail {
class StoreState;

// One struct for each stage, in the order of a load, and of a save.
struct StoreSettings {
  OpenOptions open = {};
  NameOptions names = {};
  ApplyOptions apply = {};
  CollectOptions collect = {};
  WriteOptions write = {};
  bool auto_extension = false;
};

// Files that are not in a folder, and which of them is the model.
struct StoreFiles {
  FileSetPtr files;
  std::string name;
};
// A path; memory, which may have nothing in it yet; or files.
using StoreLocation = std::variant<std::string, std::optional<Bytes>, StoreFiles>;
}  // namespace detail

/// A weight file or a piece of memory, and how to move tensors between it and modules. A cheap
/// value: settings, and what was opened, which copies share. The file is opened when first needed,
/// once: a store goes on with that file even if another takes its name. Const calls are safe from
/// several threads; builders are not.
class Store {
 public:
  // Not in the header: they would be compiled wherever a store is used.
  Store(const Store& other);
  Store& operator=(const Store& other);
  Store(Store&& other) noexcept;
  Store& operator=(Store&& other) noexcept;
  ~Store();

  /// The name of every tensor in the file, after top-level key, remapping and index closing, in
  /// bytewise order. Names that the metadata ties to another are not listed, but get_snapshot()
  /// finds them. Filters and adapters do not apply here, nor in the next three.
  Result<std::vector<std::string>> keys() const;
  /// One tensor by that name, unread; nothing when there is none.
  Result<std::optional<TensorSnapshot>> get_snapshot(std::string_view name) const;
  /// All of them, in bytewise order of names.
  Result<Snapshots> get_all_snapshots() const;
  /// The same as an archive, in file order, with notes, metadata and aliases.
  Result<Archive> archive() const;
  /// The string metadata of the file.
  Result<Metadata> get_metadata() const;
  /// The bytes of a store in memory: those given to it, or those last saved. InvalidArgument for a
  /// store on a file, and for memory that nothing was put into.
  Result<Bytes> get_bytes() const;
  /// A key under which the tensors of the file seem to be wrapped ("state_dict"), or nothing.
  Result<std::optional<std::string>> suggest_top_level_key() const;
  /// The first bad argument that a builder got, such as a regular expression that does not parse.
  /// Every operation but get_bytes() returns it.
  Status status() const;
  /// The file's path; empty for memory.
  std::string path() const;

 protected:
  Store(detail::StoreLocation location, detail::StoreSettings settings);

  // For settings on which names depend, and for those on which opening depends: what was derived
  // from the old ones is dropped.
  detail::StoreSettings& change_names();
  detail::StoreSettings& change_source();
  detail::StoreSettings& change() noexcept { return settings_; }

 private:
  template <class M>
  friend Result<ApplyResult> load_from(M& module, const Store& store);
  template <class M>
  friend Result<Plan> plan(const M& module, const Store& store);
  template <class M>
  friend Result<WriteReport> save_into(const M& module, Store& store);
  template <class M>
  friend Result<std::vector<ChosenVariant>> choose_variants(M& module, const Store& store);

  // The file, opened by whoever asks first. With slots, anew: a record without names, whose tensors
  // are in the order of the slots.
  Result<Archive> opened(const std::vector<detail::Slot>* slots = nullptr) const;
  // The same under its new names.
  Result<Archive> named(const Archive& opened) const;
  // What a module is loaded from.
  struct Source {
    Archive opened;
    Archive named;
  };
  Result<Source> source_for(const std::vector<detail::Slot>& slots, Result<Archive> file) const;
  Result<ApplyResult> load(const std::vector<detail::Slot>& slots) const;
  Result<Plan> plan_load(const std::vector<detail::Slot>& slots) const;
  Result<WriteReport> save(const std::vector<detail::Slot>& slots);

  detail::StoreSettings settings_;
  std::shared_ptr<detail::StoreState> content_;
};

/// The builders, the same for every store. Each changes the store and returns it: a named store by
/// reference, a temporary by value, so that what a chain returns can be kept.
template <class Self>
class StoreBuilder : public Store {
 public:
  // ---- Where ----
  /// A file to write, or to read as open() does: a shard index or a folder, too.
  static Self from_file(std::string path) { return make(std::move(path)); }
  /// A file in memory; without bytes, nothing, to be saved into.
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
  /// Files that are not in a folder (file_set.h); without a name, the one model among them. For
  /// loads.
  static Self from_files(FileSetPtr files, std::string name = {}) {
    return make(detail::StoreFiles{std::move(files), std::move(name)});
  }
  /// A file that lies in memory for as long as the program runs, such as an array compiled into it.
  /// Parameters borrow from it.
  static Self from_static(std::span<const std::byte> bytes) {
    return from_bytes(Bytes::borrow(bytes)).zero_copy(true);
  }
  static Self from_static(std::span<const std::uint8_t> bytes) {
    return from_static(std::as_bytes(bytes));
  }

  // ---- Which parameters take part: criteria are joined by OR (path_filter.h) ----
  /// Replaces the whole filter.
  Self& filter(PathFilter filter) & {
    return change_filter([&](PathFilter& one) { one = filter; });
  }
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
  /// Replaces every match in every name; rules run in order.
  Self& with_key_remapping(std::string_view from, std::string to) & {
    return change_names().names.remapper.add_pattern(from, std::move(to)), self();
  }
  /// Replaces all rules.
  Self& remap(KeyRemapper remapper) & {
    return change_names().names.remapper = std::move(remapper), self();
  }
  /// Takes the tensors below this key alone, named from there; a dotted key goes down several
  /// levels. For loads.
  Self& with_top_level_key(std::string key) & {
    return change_names().names.top_level_key = std::move(key), self();
  }
  /// Closes gaps in numbered names: fc.0 fc.2 fc.4 are loaded as fc.0 fc.1 fc.2.
  Self& map_indices_contiguous(bool map = true) & {
    return change_names().names.close_gaps = map, self();
  }
  /// Leaves the numbers alone that follow a path which this regular expression matches.
  Self& map_indices_contiguous_except(std::string pattern) & {
    return change_names().names.except.push_back(std::move(pattern)), self();
  }
  /// Leaves the names of variants out of paths.
  Self& skip_enum_variants(bool skip = true) & {
    change().apply.skip_enum_variants = skip;
    return change().collect.skip_enum_variants = skip, self();
  }

  // ---- Tensors ----
  /// How the file stores what is loaded.
  Self& with_from_adapter(AnyAdapter adapter) & {
    return change().apply.adapter = std::move(adapter), self();
  }
  /// How the file is to store what is saved.
  Self& with_to_adapter(AnyAdapter adapter) & {
    return change().collect.adapter = std::move(adapter), self();
  }
  Self& dtype_policy(DTypePolicy policy) & { return change().apply.dtype_policy = policy, self(); }
  /// Parameters borrow from the file's mapping or from memory, which stays alive as long as they
  /// do. See ApplyOptions.
  Self& zero_copy(bool borrow = true) & { return change().apply.zero_copy = borrow, self(); }

  // ---- What is refused ----
  /// Parameters that the file lacks are reported, not refused.
  Self& allow_partial(bool allow = true) & { return change().apply.allow_partial = allow, self(); }
  /// Whether tensors that do not fit are refused. Otherwise they are left out and reported.
  Self& validate(bool validate) & { return change().apply.validate = validate, self(); }
  /// Whether tensors that no parameter asks for are allowed, as they are unless set.
  Self& allow_unused(bool allow) & { return change().apply.allow_unused = allow, self(); }
  /// See ApplyOptions.
  Self& in_place(bool in_place = true) & { return change().apply.in_place = in_place, self(); }

  // ---- Writing ----
  /// Adds an entry to the metadata that a save writes.
  Self& metadata(std::string key, std::string value) & {
    return change().write.metadata.insert_or_assign(std::move(key), std::move(value)), self();
  }
  /// Drops all entries, also those that are written unless told otherwise (format, producer,
  /// version).
  Self& clear_metadata() & { return change().write.metadata.clear(), self(); }
  /// Whether a save may replace a file.
  Self& overwrite(bool overwrite = true) & { return change().write.overwrite = overwrite, self(); }
  /// Adds the format's extension to a path that has none. A load takes the path as it is where
  /// there is nothing under the other.
  Self& auto_extension(bool add = true) & { return change_source().auto_extension = add, self(); }
  /// Whether a save survives a power cut (fsync).
  Self& sync(bool sync) & { return change().write.sync = sync, self(); }
  /// Writes tied parameters once and records the other names in the metadata, as Hugging Face does.
  /// Otherwise, and where an adapter converts them, each name gets a copy.
  Self& write_ties_once(bool once = true) & { return change().collect.ties_once = once, self(); }
  /// Spreads a save over files of at most this size (WriteOptions).
  Self& max_shard_bytes(std::uint64_t bytes) & {
    return change().write.max_shard_bytes = bytes, self();
  }

  // ---- How ----
  /// Told of loads and saves.
  Self& progress(const Progress& progress) & {
    change().apply.progress = progress;
    return change().write.progress = progress, self();
  }
  /// For all stages.
  Self& limits(const Limits& limits) & {
    change_source().open.limits = limits;
    change().apply.limits = limits;
    return change().write.limits = limits, self();
  }
  Self& io(IoMode mode) & { return change_source().open.io = mode, self(); }
  Self& strictness(Strictness strictness) & {
    return change_source().open.strictness = strictness, self();
  }

 protected:
  StoreBuilder(detail::StoreLocation location, detail::StoreSettings settings)
      : Store(std::move(location), std::move(settings)) {}

 private:
  // What the stores do not share: Self::format, which is written, and Self::defaults().
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

/// Puts the tensors of a store into a module. All is checked first, then read, then put in place:
/// on an error the module, its ids and its dtypes are exactly as they were, and the error of a load
/// that does not match carries the report (`error().report`), with what would make it match.
template <class M>
Result<ApplyResult> load_from(M& module, const Store& store) {
  return store.load(detail::slots_to_change(module, store.settings_.apply.skip_enum_variants));
}

/// What load_from() would do. Reads no tensor and changes nothing; a mismatch is in the result.
template <class M>
Result<Plan> plan(const M& module, const Store& store) {
  return store.plan_load(detail::slots_of(module, store.settings_.apply.skip_enum_variants));
}

/// Writes the tensors of a module. A file appears whole or not at all; a store in memory then holds
/// the new bytes, while copies made before keep the old.
template <class M>
Result<WriteReport> save_into(const M& module, Store& store) {
  return store.save(detail::slots_of(module, store.settings_.collect.skip_enum_variants));
}
template <class M>
Result<WriteReport> save_into(const M& module, Store&& store) {
  return save_into(module, store);
}
template <class M>
Result<WriteReport> save_into(const M&, const Store&) = delete;  // a save changes the store

/// Makes every std::variant of a module hold the alternative that the file has tensors for, before
/// a load (choose_variants.h).
template <class M>
Result<std::vector<ChosenVariant>> choose_variants(M& module, const Store& store) {
  Result<Archive> source = store.archive();
  if (!source) return std::move(source).error();
  return choose_variants(module, *source,
                         {.adapter = store.settings_.apply.adapter,
                          .skip_enum_variants = store.settings_.apply.skip_enum_variants});
}

}  // namespace andiron::inline v1
