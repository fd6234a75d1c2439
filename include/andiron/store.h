// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads and saves modules. This header has the settings that all stores share; stores.h has a store
// for each format.
//
//   auto store = SafetensorsStore::from_file("model.safetensors")
//                    .with_key_remapping(R"(^model\.)", "")
//                    .allow_partial(true);
//   Result<ApplyResult> result = load_from(model, store);
//
// Every store runs the same stages, in this order:
//
//   load:  file -> top-level key -> remap -> index gaps -> filter -> match and adapt -> check
//          -> read -> replace
//   save:  module -> filter -> adapt -> remap -> file
//
// A filter always sees the module's own paths and containers. Remapping rules run as written in
// both directions: on a load from the file's names to the module's, on a save from the module's to
// the file's.
//
// Builders, and other functions that return no Result, may throw std::bad_alloc (error.h).
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
#include "andiron/detail/no_throw.h"
#include "andiron/detail/store_settings.h"
#include "andiron/error.h"
#include "andiron/key_map.h"
#include "andiron/limits.h"
#include "andiron/module.h"
#include "andiron/names.h"
#include "andiron/open.h"
#include "andiron/progress.h"
#include "andiron/snapshot.h"
#include "andiron/write.h"

namespace andiron::inline v1 {

/// A weight file or memory, and the settings for moving tensors between it and modules.
///
/// A store is a cheap value: copies share the opened file. The file is opened once, on first use;
/// if the path is replaced later, the store keeps reading the file it opened. Const calls are safe
/// from several threads at once; builders are not.
class Store {
 public:
  // Defined in the library, so that they are not compiled wherever a store is used.
  Store(const Store& other);
  Store& operator=(const Store& other);
  Store(Store&& other) noexcept;
  Store& operator=(Store&& other) noexcept;
  ~Store();

  /// Returns the names of all tensors after top-level key, remapping and index gaps, sorted
  /// bytewise. Aliases are not listed, but get_snapshot() finds them. The filter and the adapters
  /// do not apply to this function and the next four.
  Result<std::vector<std::string>> keys() const;
  /// Returns the tensor with this name, unread, or nothing.
  Result<std::optional<TensorSnapshot>> get_snapshot(std::string_view name) const;
  /// Returns all tensors, unread, sorted bytewise by name.
  Result<Snapshots> get_all_snapshots() const;
  /// The same as an archive: in file order, with notes, metadata and aliases.
  Result<Archive> archive() const;
  /// The file itself, under its own names: before the top-level key and the remapping.
  Result<Archive> file() const;
  /// Returns all tensors of the file, in file order, with their names in the file and after each
  /// stage, dtype and shape (key_map.h). Those outside the top-level key are listed as left out.
  Result<KeyMap> key_map() const;
  /// Returns the string metadata of the file.
  Result<Metadata> get_metadata() const;
  /// Returns the bytes of a store in memory: those it was given, or those last saved. Fails with
  /// InvalidArgument if the store is not in memory or is empty.
  Result<Bytes> get_bytes() const;
  /// Returns the key that the tensors seem to be under ("state_dict"), or nothing.
  Result<std::optional<std::string>> suggest_top_level_key() const;
  /// The first bad argument that a builder got, for example a regular expression that does not
  /// parse. Every operation except get_bytes() fails with it.
  Status status() const;
  /// The file's path, with the extension that auto_extension() adds. Empty for memory and file
  /// sets.
  std::string path() const;

 protected:
  Store(detail::StoreLocation location, detail::StoreSettings settings);

  // Access for builders. change_names() also drops the names derived so far; change_source() also
  // drops the opened file.
  detail::StoreSettings& change_names();
  detail::StoreSettings& change_source();
  detail::StoreSettings& change() noexcept { return settings_; }

 private:
  template <class M>
  friend Result<ApplyResult> load_from(M& module, const Store& store);
  template <class M>
  friend Result<Plan> plan(const M& module, const Store& store);
  template <class M>
  friend Result<KeyMap> key_map(const M& module, const Store& store);
  template <class M>
  friend Result<WriteReport> save_into(const M& module, Store& store);
  template <class M>
  friend Result<std::vector<ChosenVariant>> choose_variants(M& module, const Store& store);

  // The file, opened on first use. With slots, opens it again as a record without names, whose
  // tensors are in the order of the slots.
  Result<Archive> opened(const std::vector<detail::Slot>* slots = nullptr) const;
  // The same archive under its new names.
  Result<Archive> named(const Archive& opened) const;
  // What a module is loaded from.
  struct Source {
    Archive opened;
    Archive named;
  };
  Result<Source> source_for(const std::vector<detail::Slot>& slots, Result<Archive> file) const;
  Result<ApplyResult> load(const detail::ModuleSlots& module) const;
  Result<Plan> plan_load(const detail::ModuleSlots& module) const;
  Result<KeyMap> map_keys(const detail::ModuleSlots& module) const;
  Result<WriteReport> save(const std::vector<detail::Slot>& slots);

  detail::StoreSettings settings_;
  std::shared_ptr<detail::StoreState> content_;
};

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
  /// Closes gaps in numbered names: fc.0 fc.2 fc.4 load as fc.0 fc.1 fc.2. Ignored by saves.
  Self& map_indices_contiguous(bool map = true) & {
    return change_names().names.close_gaps = map, self();
  }
  /// Keeps the numbers that follow a path matched by this regular expression.
  Self& map_indices_contiguous_except(std::string pattern) & {
    return change_names().names.except.push_back(std::move(pattern)), self();
  }
  /// Leaves the names of variants out of paths.
  Self& skip_enum_variants(bool skip = true) & {
    change().apply.skip_enum_variants = skip;
    return change().collect.skip_enum_variants = skip, self();
  }

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
  /// Reports parameters that the file lacks, instead of failing with MissingTensor.
  Self& allow_partial(bool allow = true) & { return change().apply.allow_partial = allow, self(); }
  /// If false, reports tensors that do not fit and leaves them out, instead of failing. Default:
  /// true.
  Self& validate(bool validate) & { return change().apply.validate = validate, self(); }
  /// If false, fails with UnusedTensor if no parameter uses a tensor. Default: true.
  Self& allow_unused(bool allow) & { return change().apply.allow_unused = allow, self(); }
  /// Replaces tensors one by one and reuses their memory. See ApplyOptions.
  Self& in_place(bool in_place = true) & { return change().apply.in_place = in_place, self(); }

  // ---- Writing ----
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

/// Loads the tensors of a store into a module. Checks everything first, then reads, then replaces.
/// If it fails, the module, its ids and its dtypes are unchanged (see in_place for the exception).
///
/// Fails with MissingTensor, ShapeMismatch, DTypeMismatch or UnusedTensor if the file does not
/// match; `error().report` then contains the whole ApplyResult, with proposals for settings that
/// would match. Also fails with the errors of open(), apply_names() and apply().
template <class M>
Result<ApplyResult> load_from(M& module, const Store& store) ANDIRON_NO_THROW {
  return store.load(detail::slots_to_change(module, store.settings_.apply.skip_enum_variants));
}
ANDIRON_OR_OUT_OF_MEMORY

/// Returns what load_from() would do. Reads no tensor and changes nothing. A mismatch is not a
/// failure here: it is in `result`.
template <class M>
Result<Plan> plan(const M& module, const Store& store) ANDIRON_NO_THROW {
  return store.plan_load(detail::module_slots(module, store.settings_.apply.skip_enum_variants));
}
ANDIRON_OR_OUT_OF_MEMORY

/// Returns all tensors of the file as Store::key_map() does, and for each what load_from() would do
/// with it: which parameters take it and how, or that it is skipped, refused or unused. Reads no
/// tensor and changes nothing. Fails with the errors of plan().
template <class M>
Result<KeyMap> key_map(const M& module, const Store& store) ANDIRON_NO_THROW {
  return store.map_keys(detail::module_slots(module, store.settings_.apply.skip_enum_variants));
}
ANDIRON_OR_OUT_OF_MEMORY

/// Writes the tensors of a module. A file appears whole or not at all. A store in memory then
/// contains the new bytes; copies of the store made before keep the old ones. Fails with the errors
/// of collect_archive(), apply_names() and write().
template <class M>
Result<WriteReport> save_into(const M& module, Store& store) ANDIRON_NO_THROW {
  return store.save(detail::slots_of(module, store.settings_.collect.skip_enum_variants));
}
ANDIRON_OR_OUT_OF_MEMORY
template <class M>
Result<WriteReport> save_into(const M& module, Store&& store) {
  return save_into(module, store);
}
template <class M>
Result<WriteReport> save_into(const M&, const Store&) = delete;  // a save changes the store

/// Makes every std::variant of a module hold the alternative that matches the file. Call it before
/// a load. See choose_variants() in apply.h.
template <class M>
Result<std::vector<ChosenVariant>> choose_variants(M& module, const Store& store) ANDIRON_NO_THROW {
  Result<Archive> source = store.archive();
  if (!source) return std::move(source).error();
  return choose_variants(module, *source,
                         {.adapter = store.settings_.apply.adapter,
                          .skip_enum_variants = store.settings_.apply.skip_enum_variants});
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
