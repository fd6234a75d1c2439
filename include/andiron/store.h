// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads and saves modules. stores.h has a store for each format, store_builder.h the settings that
// they share.
//
//   auto store = SafetensorsStore::from_file("model.safetensors")
//                    .with_key_remapping(R"(^model\.)", "")
//                    .allow_partial(true);
//   Result<ApplyResult> result = load_from(model, store);
//
// Every store runs the same stages, in this order:
//
//   load:  file -> top-level key -> weight norm -> remap -> index gaps -> filter
//          -> match and adapt -> check -> read -> replace
//   save:  module -> filter -> adapt -> remap -> file
//          with based_on(), before the remap: -> the names of the file that was loaded
//
// A filter always sees the module's own paths and containers. Remapping rules run as written in
// both directions: on a load from the file's names to the module's, on a save from the module's to
// the file's.
//
// Builders, and other functions that return no Result, may throw std::bad_alloc (error.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/apply.h"
#include "andiron/archive.h"
#include "andiron/bytes.h"
#include "andiron/detail/no_throw.h"
#include "andiron/detail/store_settings.h"
#include "andiron/error.h"
#include "andiron/key_map.h"
#include "andiron/module.h"
#include "andiron/names.h"
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

  /// Returns the names of all tensors after all stages that change names, sorted
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
  // Makes the settings of a proposal.
  void adopt(const Proposal& proposal);
  // Saves are based on the file of `loaded`, whose metadata replaces `usual`.
  void set_basis(const Store& loaded, const Metadata& usual);

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
  template <class M>
  friend Result<std::vector<GrownPart>> grow_to_fit(M& module, const Store& store);

  // The file, opened on first use. With slots, opens it again as a record without names, whose
  // tensors are in the order of the slots.
  Result<Archive> opened(const std::vector<detail::Slot>* slots = nullptr) const;
  // The same archive under its new names.
  Result<Archive> named(const Archive& opened) const;
  // What a module is loaded from.
  struct Source {
    Archive opened;
    NameOptions names;
    Archive named;
  };
  Result<Source> source_for(const std::vector<detail::Slot>& slots, Result<Archive> file) const;
  Result<ApplyResult> load(const detail::ModuleSlots& module) const;
  Result<Plan> plan_load(const detail::ModuleSlots& module) const;
  Result<KeyMap> map_keys(const detail::ModuleSlots& module) const;
  Result<Archive> archive_to_save(std::vector<detail::Slot> slots) const;
  Result<WriteReport> save(std::vector<detail::Slot> slots);

  detail::StoreSettings settings_;
  std::shared_ptr<detail::StoreState> content_;
  std::shared_ptr<const Store> basis_;  // of saves, or nothing
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

/// Returns settings under which a store would match a module, best first: the proposals of plan().
/// Empty if it matches already, or if nothing is found. StoreBuilder::apply() makes them.
template <class M>
Result<std::vector<Proposal>> propose(const M& module, const Store& store) ANDIRON_NO_THROW {
  Result<Plan> planned = plan(module, store);
  if (!planned) return std::move(planned).error();
  return std::move(planned->result.proposals);
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
/// of collect_archive(), apply_names() and write(), and with based_on() those of put_back().
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

/// Adds to the containers and optionals of a module what the file has for them. Call it before a
/// load. See grow_to_fit() in apply.h.
template <class M>
Result<std::vector<GrownPart>> grow_to_fit(M& module, const Store& store) ANDIRON_NO_THROW {
  Result<Archive> source = store.archive();
  if (!source) return std::move(source).error();
  return grow_to_fit(module, *source,
                     {.adapter = store.settings_.apply.adapter,
                      .skip_enum_variants = store.settings_.apply.skip_enum_variants});
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
