// SPDX-License-Identifier: MIT OR Apache-2.0
// A load is open, names, apply; a save is collect, names, write.
// Tested by tests/store/store_test.cpp
#include "andiron/store.h"

#include <utility>

#include "andiron/names.h"
#include "src/adapters/archive_lookup.h"
#include "src/core/lock.h"
#include "src/core/sort.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/model_in_folder.h"
#include "src/format/record/bincode.h"
#include "src/format/write_with_notes.h"
#include "src/load/module_lists.h"

namespace andiron::inline v1 {
namespace detail {

// Where the bytes are, and what was found in them. A failure is not kept: the file may be there the
// next time.
class StoreState {
 public:
  explicit StoreState(StoreLocation place) : location(std::move(place)) {}

  StoreLocation location;  // never changed once a store has this state
  detail::Mutex mutex;
  std::optional<Archive> opened;
  std::optional<Archive> named;
};

namespace {

Error nothing_in_memory() {
  return Error{.code = ErrorCode::invalid_argument,
               .message = "this in-memory store is empty",
               .hint = "pass a file's bytes to from_bytes(), or save into the store first"};
}

Error no_files() {
  return Error{.code = ErrorCode::invalid_argument,
               .message = "this store has no set of files",
               .hint = "pass a set to from_files()"};
}

Error with_extension_hint(Error error, Format format) {
  error.hint = in_quotes(file_extension(format)) + " was added to the path; " +
               Message(Advice::keep_path) + " keeps the path as it is";
  return error;
}

std::vector<ExpectedTensor> expected_by(const std::vector<Slot>& slots) {
  std::vector<ExpectedTensor> expected;
  for (const Slot& slot : slots) {
    const LeafInfo info = slot.ops->info(slot.leaf);
    expected.push_back(
        {slot.path, info.accepts_any_shape ? std::nullopt : std::optional(info.shape)});
  }
  return expected;
}

// Saves as another adapter does, under the names that a file has.
class SavesBack final : public Chainable<SavesBack> {
 public:
  SavesBack(AnyAdapter adapter, const Archive& file) : adapter_(std::move(adapter)), file_(file) {}
  Result<Snapshots> save(Snapshots tensors) const override {
    ArchiveLookup lookup(file_);
    return adapter_->save_back(std::move(tensors), lookup);
  }
  Status status() const override { return adapter_->status(); }

 private:
  AnyAdapter adapter_;
  Archive file_;
};

// A folder, or nothing, is no name to be completed.
bool lacks_extension(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  return !name.empty() && (dot == std::string_view::npos || dot == 0 || name == "..");
}

// A rule that leaves nothing of a name is a mistake.
Status check_names_to_save(const Archive& archive) {
  const std::optional<std::size_t> nameless = archive.find("");
  if (!nameless || archive.name_in_file(*nameless).empty()) return {};
  return Error{.code = ErrorCode::invalid_argument,
               .message = "the remapping leaves this name empty",
               .tensor = std::string(archive.name_in_file(*nameless)),
               .hint = "check the replacements; a group that does not exist becomes empty text"};
}

// Says in the metadata whose layout the tensors have, as the adapter knows it. What the caller or
// the file that a save is based on say counts more.
WriteOptions with_format_mark(WriteOptions options, const Adapter& adapter,
                              const Metadata* of_basis) {
  const std::string_view mark = adapter.format_mark();
  if (mark.empty()) return options;
  const auto format = options.metadata.find("format");
  if (format != options.metadata.end()) {
    if (format->second == "safetensors") format->second = mark;
  } else if (of_basis != nullptr && !of_basis->contains("format")) {
    options.metadata.emplace("format", mark);
  }
  return options;
}

}  // namespace
}  // namespace detail

using detail::StoreState;

Store::Store(detail::StoreLocation location, detail::StoreSettings settings)
    : settings_(std::move(settings)), content_(std::make_shared<StoreState>(std::move(location))) {}

Store::Store(const Store& other) = default;
Store& Store::operator=(const Store& other) = default;
Store::Store(Store&& other) noexcept = default;
Store& Store::operator=(Store&& other) noexcept = default;
Store::~Store() = default;

void Store::adopt(const Proposal& proposal) {
  detail::StoreSettings& settings = change_names();
  apply_proposal(proposal, settings.names, settings.apply);
}

detail::StoreSettings& Store::change_names() {
  auto fresh = std::make_shared<StoreState>(content_->location);
  {
    const detail::Lock lock(content_->mutex);
    fresh->opened = content_->opened;
  }
  content_ = std::move(fresh);
  return settings_;
}

detail::StoreSettings& Store::change_source() {
  content_ = std::make_shared<StoreState>(content_->location);
  return settings_;
}

void Store::set_basis(const Store& loaded, const Metadata& usual) {
  auto basis = std::make_shared<Store>(loaded);
  basis->basis_ = nullptr;  // what it was based on itself does not matter any more
  basis_ = std::move(basis);
  settings_.collect.skip_enum_variants = loaded.settings_.apply.skip_enum_variants;
  std::erase_if(settings_.write.metadata, [&](const auto& entry) {
    const auto found = usual.find(entry.first);
    return found != usual.end() && found->second == entry.second;
  });
}

std::string Store::path() const {
  const auto* path = std::get_if<std::string>(&content_->location);
  if (path == nullptr) return {};
  if (!settings_.auto_extension || !detail::lacks_extension(*path)) return *path;
  return *path + std::string(file_extension(*settings_.write.format));
}

Status Store::status() const ANDIRON_NO_THROW {
  ANDIRON_TRY(settings_.apply.filter.status());
  ANDIRON_TRY(settings_.names.status());
  ANDIRON_TRY(settings_.apply.adapter->status());
  return settings_.collect.adapter->status();
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Archive> Store::opened(const std::vector<detail::Slot>* slots) const {
  ANDIRON_TRY(status());
  const detail::Lock lock(content_->mutex);
  if (slots == nullptr && content_->opened) return *content_->opened;
  OpenOptions options = settings_.open;
  if (slots != nullptr) options.expected = detail::expected_by(*slots);
  Result<Archive> archive = detail::nothing_in_memory();
  if (const auto* path_given = std::get_if<std::string>(&content_->location)) {
    const std::string file = path();
    for (const std::string& tried : {file, *path_given}) {
      ANDIRON_ASSIGN(const detail::PathInFolder place, detail::folder_and_name(tried, options.io));
      Result<Archive> found = open(*place.files, place.name, options);
      const bool is_there = found || found.error().code != ErrorCode::not_found;
      if (is_there || tried == file) archive = std::move(found);
      if (is_there || file == *path_given) break;
    }
    if (!archive && archive.error().code == ErrorCode::not_found && file != *path_given) {
      return detail::with_extension_hint(std::move(archive).error(), *settings_.write.format);
    }
  } else if (const auto* in = std::get_if<detail::StoreFiles>(&content_->location)) {
    if (in->files == nullptr) return detail::no_files();
    archive = open(*in->files, in->name, options);
  } else if (const auto& bytes = std::get<std::optional<Bytes>>(content_->location)) {
    archive = open(*bytes, options);
  }
  if (archive && slots == nullptr) content_->opened = *archive;
  return archive;
}

Result<Archive> Store::named(const Archive& opened) const {
  const detail::Lock lock(content_->mutex);
  if (!content_->named) {
    ANDIRON_ASSIGN(content_->named, apply_names(opened, settings_.names));
  }
  return *content_->named;
}

Result<Store::Source> Store::source_for(const std::vector<detail::Slot>& slots,
                                        Result<Archive> file) const {
  if (file) {
    ANDIRON_ASSIGN(Archive archive, named(*file));
    NameOptions names = detail::names_for(slots, settings_.names);
    const bool keeps_more = names.kept_lists.size() > settings_.names.kept_lists.size();
    if (keeps_more && archive.before(NameStage::index_gaps)) {
      ANDIRON_ASSIGN(archive, apply_names(*file, names));
    }
    return Source{*std::move(file), std::move(names), std::move(archive)};
  }
  if (!detail::asks_for_module(file.error())) return std::move(file).error();
  ANDIRON_ASSIGN(const Archive in_order, opened(&slots));
  return Source{in_order, settings_.names, in_order};
}

Result<Archive> Store::archive() const ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const Archive file, opened());
  return named(file);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Archive> Store::file() const ANDIRON_NO_THROW { return opened(); }
ANDIRON_OR_OUT_OF_MEMORY

Result<std::vector<std::string>> Store::keys() const ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const Archive named, archive());
  std::vector<std::string> names;
  names.reserve(named.size());
  for (std::size_t i = 0; i < named.size(); ++i) names.emplace_back(named.info(i).name);
  detail::sort(names.begin(), names.end());
  return names;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<std::optional<TensorSnapshot>> Store::get_snapshot(std::string_view name) const
    ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const Archive named, archive());
  if (!named.find(name)) return std::optional<TensorSnapshot>();
  ANDIRON_ASSIGN(TensorSnapshot snapshot, named.get(name));
  return std::make_optional(std::move(snapshot));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Snapshots> Store::get_all_snapshots() const ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const Archive named, archive());
  std::vector<TensorSnapshot> list;
  list.reserve(named.size());
  for (std::size_t i = 0; i < named.size(); ++i) list.push_back(named.snapshot(i));
  detail::sort(list.begin(), list.end(), [](const TensorSnapshot& a, const TensorSnapshot& b) {
    return a.full_path() < b.full_path();
  });
  return Snapshots(std::move(list));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<KeyMap> Store::key_map() const ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const Archive named, archive());
  return andiron::key_map(named);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Metadata> Store::get_metadata() const ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const Archive file, opened());
  return file.metadata();
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Bytes> Store::get_bytes() const ANDIRON_NO_THROW {
  const auto* bytes = std::get_if<std::optional<Bytes>>(&content_->location);
  if (bytes == nullptr) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "only an in-memory store can return its bytes",
                 .file = path(),
                 .hint = "read the file, or save into a store made with from_bytes()"};
  }
  if (!*bytes) return detail::nothing_in_memory();
  return **bytes;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<std::optional<std::string>> Store::suggest_top_level_key() const ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const Archive file, opened());
  return andiron::suggest_top_level_key(file);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<ApplyResult> Store::load(const detail::ModuleSlots& module) const {
  ANDIRON_ASSIGN(const Source source, source_for(module.slots, opened()));
  return detail::apply_slots(module, {source.opened, source.names, source.named}, settings_.apply);
}

Result<Plan> Store::plan_load(const detail::ModuleSlots& module) const {
  ANDIRON_ASSIGN(const Source source, source_for(module.slots, opened()));
  return detail::plan_slots(module, {source.opened, source.names, source.named}, settings_.apply);
}

Result<KeyMap> Store::map_keys(const detail::ModuleSlots& module) const {
  ANDIRON_ASSIGN(const Source source, source_for(module.slots, opened()));
  return detail::key_map_of_slots(module, source.named, settings_.apply);
}

Result<Archive> Store::archive_to_save(std::vector<detail::Slot> slots) const {
  if (basis_ == nullptr) {
    return detail::collect_slots_as_archive(std::move(slots), settings_.collect);
  }
  ANDIRON_ASSIGN(const Source old, basis_->source_for(slots, basis_->opened()));
  CollectOptions options = settings_.collect;
  options.ties_once = false;
  if (!options.adapter.is_set()) {
    ANDIRON_ASSIGN(options.adapter, basis_->settings_.apply.adapter->inverse());
  }
  if (options.adapter.is_set()) options.adapter = detail::SavesBack(options.adapter, old.named);
  ANDIRON_ASSIGN(const Archive tensors,
                 detail::collect_slots_as_archive(std::move(slots), options));
  const bool was_cast = basis_->settings_.apply.dtype_policy == DTypePolicy::cast_to_module;
  Result<Archive> archive = put_back(tensors, old.named, {.keep_dtypes = was_cast});
  if (!archive) {
    Error error = std::move(archive).error();
    const NameOptions& names = basis_->settings_.names;
    if ((names.fold_weight_norm || !names.edits.empty()) &&
        error.code == ErrorCode::missing_tensor) {
      error.hint =
          "folded weight norm and tensors that were split, joined or transposed cannot be put "
          "back; "
          "leave them out with a filter, or save a file of its own";
    }
    return error;
  }
  for (const Message& note : tensors.notes()) archive->add_note(note);
  // Whoever reads it goes by this mark, as for converted files.
  if (archive->is_pickled()) mark_layout(*archive, Layout::pytorch);
  return archive;
}

Result<WriteReport> Store::save(std::vector<detail::Slot> slots) {
  ANDIRON_TRY(status());
  if (std::holds_alternative<detail::StoreFiles>(content_->location)) {
    return Error{.code = ErrorCode::unsupported,
                 .message = "a set of files can be read, but not written",
                 .hint = "save into a store made with from_file() or from_bytes()"};
  }
  ANDIRON_ASSIGN(Archive archive, archive_to_save(std::move(slots)));
  ANDIRON_ASSIGN(archive, remap(archive, settings_.names.remapper));
  ANDIRON_TRY(detail::check_names_to_save(archive));
  // What was read from the old content is not the new; copies of this store keep theirs. Made
  // first: once the file is in place, nothing may fail.
  auto fresh = std::make_shared<StoreState>(content_->location);
  const WriteOptions options = detail::with_format_mark(settings_.write, *settings_.collect.adapter,
                                                        basis_ ? &archive.metadata() : nullptr);
  WriteReport report;
  if (auto* bytes = std::get_if<std::optional<Bytes>>(&fresh->location)) {
    MemorySink sink;
    ANDIRON_ASSIGN(report, write(archive, sink, options));
    report.notes.insert(report.notes.begin(), archive.notes().begin(), archive.notes().end());
    *bytes = sink.take();
  } else {
    ANDIRON_ASSIGN(report, detail::write_with_notes(archive, path(), options));
  }
  content_ = std::move(fresh);
  return report;
}

}  // namespace andiron::inline v1
