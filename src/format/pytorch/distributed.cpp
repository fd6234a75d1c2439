// SPDX-License-Identifier: MIT OR Apache-2.0
// Folders of torch.distributed.checkpoint:
//
//   .metadata      a pickle of a Metadata object, all of whose parts are objects with their
//                  attributes as state:
//                    state_dict_metadata   {name: TensorStorageMetadata or BytesStorageMetadata}
//                    storage_data          {MetadataIndex: _StorageInfo}
//   __R_N.distcp   items one after the other; each is a whole zip archive of torch.save that
//                  holds a piece of one tensor, or any object
//
// A tensor lists its pieces (offsets and sizes); storage_data tells where the item of each lies.
// Tested by tests/format/pytorch_distributed_test.cpp
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/codec/pickle/machine.h"
#include "src/core/archive_builder.h"
#include "src/core/check_limit.h"
#include "src/core/try.h"
#include "src/core/with_file.h"
#include "src/format/pytorch/distributed.h"
#include "src/format/pytorch/distributed_items.h"
#include "src/format/pytorch/distributed_pieces.h"
#include "src/format/pytorch/pickled_file.h"
#include "src/format/pytorch/value_tree.h"
#include "src/io/folder.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::uint32_t most_attributes = 64;

// A piece of a tensor, with its source and a part of the expression.
constexpr std::uint64_t piece_bytes = 4096;

// Where an item lies.
struct Item {
  std::string file;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::string transform;  // how it was changed on the way; empty for not at all
};

class DistributedReader {
 public:
  explicit DistributedReader(const ReadContext& context)
      : context_(context),
        path_(context.source->name()),
        options_(context.options),
        budget_(*context.budget),
        builder_(context.files->name(), std::string(format_name(Format::pytorch)), "distributed"),
        names_(path_, options_.limits, budget_) {
    builder_.state().is_pickled = true;
  }

  // Takes all that the metadata says; entries() can be taken after.
  Status take_metadata(PickleGraph graph) {
    const ByteSourcePtr& source = context_.source;
    builder_.state().file_bytes = source->size();
    content_.emplace(std::move(graph), source, Storage::no_file);
    const PickleValue root = content_->graph().root();
    const auto tensors = attribute(*content_, root, "state_dict_metadata");
    const auto items = attribute(*content_, root, "storage_data");
    if (!tensors || !items || !content_->is_dict(*tensors) || !content_->is_dict(*items)) {
      return bad("not the metadata of a distributed checkpoint");
    }
    entries_ = *tensors;
    return read_items(*content_, *items);
  }

  // Keys and values by turns.
  PickleItems entries() const { return content_->graph().pairs(entries_); }

  struct Entry {
    std::string name;
    std::optional<ItemPlace> object;  // to be fetched and added
  };
  Result<Entry> entry_named(PickleValue key) const {
    const auto name = content_->text(key);
    if (!name) return bad("a tensor has no name");
    return Entry{std::string(*name), std::nullopt};
  }
  Status take_entry(Entry& entry, PickleValue metadata) {
    const std::string_view kind = class_name(*content_, metadata);
    if (kind == "TensorStorageMetadata") return read_tensor(*content_, entry.name, metadata);
    if (kind != "BytesStorageMetadata")
      return bad("an entry of an unknown kind", std::string(kind));
    ANDIRON_ASSIGN(entry.object, object_place(entry.name));
    return {};
  }

  // Anything that was saved and is no tensor: tensors in it get names below its own.
  Status take_object(const std::string& name, const std::shared_ptr<ItemSource>& item) {
    ANDIRON_ASSIGN(std::shared_ptr<PickledFile> file, open_item(item, options_, budget_));
    item->release_ends();
    const std::size_t first = builder_.size();
    ANDIRON_TRY(add_below(*file, name, options_, names_, notes_, builder_));
    objects_.push_back({name, std::move(file), first});
    return {};
  }

  // Skips what cannot be read, if that is asked for.
  Status skip_or_fail(const std::string& name, Error error) {
    error = with_file(std::move(error), path_);
    if (options_.strictness == Strictness::lenient && !stops_reading(error.code)) {
      return skip(name, sentence_of(error));
    }
    if (error.tensor.empty()) error.tensor = name;
    return error;
  }

  Result<Archive> finish() {
    ANDIRON_ASSIGN(const auto taken, builder_.index_names());
    if (taken)
      return bad("a tensor is listed twice", std::string(builder_.state().name_at(*taken)));
    notes_.move_to(builder_.state().notes);
    if (!objects_.empty()) {
      builder_.state().value =
          LazyValue([objects = std::move(objects_), options = options_, budget = budget_] {
            return values_of(objects, options, budget);
          });
    }
    return builder_.finish();
  }

 private:
  Error bad(std::string message, std::string found = {}) const {
    return Error{.code = ErrorCode::bad_index,
                 .message = std::move(message),
                 .file = path_,
                 .found = std::move(found)};
  }

  static std::optional<PickleValue> attribute(const PickleDocument& content, PickleValue object,
                                              std::string_view name) {
    if (object.kind != PickleKind::object) return std::nullopt;
    const auto state = content.state(object);
    if (!state || state->kind != PickleKind::dict) return std::nullopt;
    // The objects of such files have a handful.
    if (content.graph().pairs(*state).size() > 2 * most_attributes) return std::nullopt;
    return content.entry(*state, name);
  }

  static std::string_view class_name(const PickleDocument& content, PickleValue object) {
    if (object.kind != PickleKind::object) return "";
    const PickleValue made_by = content.graph().object(object).callable;
    return made_by.kind == PickleKind::global ? content.graph().global(made_by).name : "";
  }

  static Result<std::vector<std::uint64_t>> sizes(const PickleDocument& content, PickleValue tuple,
                                                  const Error& otherwise) {
    const auto values = content.tuple(tuple);
    if (!values || values->size() > max_rank) return Error(otherwise);
    std::vector<std::uint64_t> numbers;
    for (const PickleValue value : *values) {
      const auto number = content.size(value);
      if (!number) return Error(otherwise);
      numbers.push_back(*number);
    }
    return numbers;
  }

  // A name no tensor can have: names hold no NUL here, which is checked below.
  static std::string item_key(std::string_view name, const std::vector<std::uint64_t>* offsets) {
    std::string key(name);
    if (offsets == nullptr) return key;
    key += '\0';
    for (const std::uint64_t offset : *offsets) key += std::to_string(offset) + ",";
    return key;
  }

  Status read_items(const PickleDocument& content, PickleValue dict) {
    const PickleItems pairs = content.graph().pairs(dict);
    for (auto at = pairs.begin(); at != pairs.end(); ++at) {
      const PickleValue index = *at++;
      const PickleValue info = *at;
      const auto name_value = attribute(content, index, "fqn");
      const auto name = name_value ? content.text(*name_value) : std::nullopt;
      const auto file_value = attribute(content, info, "relative_path");
      const auto file = file_value ? content.text(*file_value) : std::nullopt;
      const auto offset = attribute(content, info, "offset");
      const auto length = attribute(content, info, "length");
      Item item;
      if (!name || name->find('\0') != name->npos || !file || !offset || !length ||
          !content.size(*offset) || !content.size(*length)) {
        return bad("an item lacks its name, file, offset or length");
      }
      ANDIRON_TRY(names_.count(*name, 0, file->size()));
      item.file = *file;
      item.offset = *content.size(*offset);
      item.bytes = *content.size(*length);
      if (!stays_in_folder(item.file)) {
        return bad("an item is in a file outside the folder", item.file);
      }
      const auto transforms = attribute(content, info, "transform_descriptors");
      const auto list = transforms ? content.tuple(*transforms) : std::nullopt;
      if (list && !list->empty()) {
        item.transform = content.text(list->front()).value_or("unknown");
        ANDIRON_TRY(budget_.charge_entries(0, item.transform.size()));
      }
      const auto piece = attribute(content, index, "offset");
      std::optional<std::vector<std::uint64_t>> offsets;
      if (piece && piece->kind != PickleKind::none) {
        ANDIRON_ASSIGN(offsets, sizes(content, *piece, bad("an item has bad offsets")));
      }
      items_.insert_or_assign(item_key(*name, offsets ? &*offsets : nullptr), std::move(item));
    }
    return {};
  }

  Status read_tensor(const PickleDocument& content, const std::string& name, PickleValue metadata) {
    ANDIRON_TRY(names_.count(name, builder_.size()));
    const auto properties = attribute(content, metadata, "properties");
    const auto size = attribute(content, metadata, "size");
    const auto chunks = attribute(content, metadata, "chunks");
    const ElementType* type = properties ? dtype_of(content, *properties) : nullptr;
    if (!size || !chunks || chunks->kind != PickleKind::list) return bad("a tensor has no pieces");
    if (type == nullptr || type->dtype == DType::raw || type->per_item != 1) {
      return skip(name, "this dtype is not supported in a distributed checkpoint");
    }
    ANDIRON_ASSIGN(const auto shape, sizes(content, *size, bad("a tensor has no size")));
    std::vector<Piece> pieces;
    for (const PickleValue chunk : content.graph().items(*chunks)) {
      const auto offsets = attribute(content, chunk, "offsets");
      const auto extent = attribute(content, chunk, "sizes");
      if (!offsets || !extent) return bad("a piece has no offsets or sizes");
      ANDIRON_TRY(check_limit(++pieces_, options_.limits.tensors,
                              {"too many pieces", &Limits::tensors, "", path_}));
      ANDIRON_TRY(budget_.charge(piece_bytes, "pieces of tensors"));
      Piece piece;
      ANDIRON_ASSIGN(piece.offsets, sizes(content, *offsets, bad("a piece has bad offsets")));
      ANDIRON_ASSIGN(piece.sizes, sizes(content, *extent, bad("a piece has bad sizes")));
      ANDIRON_ASSIGN(piece.tensor, piece_tensor(name, piece, type->dtype));
      pieces.push_back(std::move(piece));
    }
    ANDIRON_ASSIGN(TensorSnapshot whole, assemble(shape, type->dtype, std::move(pieces)));
    ANDIRON_TRY(budget_.charge_data(whole.byte_size(), name));
    return builder_.add(builder_.store(name), type->torch_name, std::move(whole));
  }

  // The first property of a state that is a tuple.
  static const ElementType* dtype_of(const PickleDocument& content, PickleValue properties) {
    if (properties.kind != PickleKind::object) return nullptr;
    const auto state = content.state(properties);
    const auto values = state ? content.tuple(*state) : std::nullopt;
    const auto dtype = values && !values->empty()
                           ? std::optional(values->front())
                           : (state ? content.entry(*state, "dtype") : std::nullopt);
    if (!dtype || dtype->kind != PickleKind::global) return nullptr;
    return torch_dtype(content.graph().global(*dtype).name);
  }

  Result<TensorSnapshot> piece_tensor(const std::string& name, const Piece& piece, DType dtype) {
    const auto found = items_.find(item_key(name, &piece.offsets));
    if (found == items_.end()) {
      return Error{.code = ErrorCode::missing_storage,
                   .message = "the checkpoint has no data for a piece of a tensor",
                   .file = path_,
                   .tensor = name,
                   .found = "no item at " + Shape(piece.offsets).to_string()};
    }
    ANDIRON_ASSIGN(ItemPlace place, place_of(found->second));
    const Shape shape(piece.sizes);
    ANDIRON_ASSIGN(const std::uint64_t bytes, shape.byte_count(dtype));
    // A tensor takes more room in its archive than alone.
    if (bytes > place.bytes) {
      return Error{.code = ErrorCode::size_mismatch,
                   .message = "an item is smaller than its piece",
                   .file = place.file->name(),
                   .tensor = name,
                   .found = std::to_string(place.bytes) + " bytes",
                   .expected = std::to_string(bytes)};
    }
    ByteSourcePtr data = piece_source(std::move(place), dtype, shape, bytes, options_);
    return TensorSnapshot::from_source(name, std::move(data), 0, bytes, dtype, shape);
  }

  Result<ItemPlace> place_of(const Item& item) {
    if (!item.transform.empty()) {
      return Error{.code = ErrorCode::unsupported,
                   .message = "the checkpoint is compressed or otherwise transformed",
                   .file = path_,
                   .found = item.transform};
    }
    auto file = files_.find(item.file);
    if (file == files_.end()) {
      ANDIRON_TRY(check_limit(files_.size() + 1, options_.limits.shards,
                              {"too many files", &Limits::shards, "", path_}));
      Result<ByteSourcePtr> opened = context_.files->open(context_.name_beside(item.file));
      if (!opened) {
        Error error = std::move(opened).error();
        if (error.code == ErrorCode::not_found) error.code = ErrorCode::missing_shard;
        return error;
      }
      builder_.state().file_bytes += (*opened)->size();
      budget_.add_file((*opened)->size());
      file = files_.emplace(item.file, *std::move(opened)).first;
    }
    const std::uint64_t size = file->second->size();
    if (item.offset > size || item.bytes > size - item.offset) {
      return Error{
          .code = ErrorCode::truncated,
          .message = "an item extends past the end of its file",
          .file = file->second->name(),
          .found = std::to_string(item.bytes) + " bytes from " + std::to_string(item.offset),
          .expected = "a range within " + std::to_string(size) + " bytes"};
    }
    return ItemPlace{file->second, item.offset, item.bytes};
  }

  // Nothing for an object that is skipped.
  Result<std::optional<ItemPlace>> object_place(const std::string& name) {
    ANDIRON_TRY(names_.count(name, builder_.size()));
    const auto found = items_.find(item_key(name, nullptr));
    const bool is_there = found != items_.end();
    // Names cost little, and what they stand for may not.
    if (is_there && objects_seen_.emplace(found->second.file, found->second.offset).second) {
      ANDIRON_ASSIGN(ItemPlace place, place_of(found->second));
      return std::optional(std::move(place));
    }
    ANDIRON_TRY(skip(name, is_there ? "it shares its data with another object"
                                    : "the checkpoint has no data for it"));
    return std::optional<ItemPlace>();
  }

  Status skip(const std::string& name, Message reason) {
    ANDIRON_TRY(budget_.charge_entries(1, name.size() + reason.to_string().size()));
    builder_.state().skipped.push_back({name, std::move(reason)});
    return {};
  }

  struct Object {
    std::string name;
    std::shared_ptr<PickledFile> file;
    std::size_t first;  // number of its first tensor
  };
  static Result<Value> values_of(const std::vector<Object>& objects, const OpenOptions& options,
                                 MemoryBudget budget) {
    ValueDict values;
    for (const Object& object : objects) {
      Result<Value> tree = value_tree(*object.file, options, object.first, budget);
      if (!tree && stops_reading(tree.error().code)) return tree;
      if (tree) values.emplace_back(object.name, *std::move(tree));
    }
    return Value(std::move(values));
  }

  const ReadContext& context_;
  const std::string& path_;  // of the .metadata
  const OpenOptions& options_;
  MemoryBudget& budget_;
  ArchiveBuilder builder_;
  std::optional<PickleDocument> content_;  // the metadata
  PickleValue entries_ = {};
  std::map<std::string, Item, std::less<>> items_;
  std::map<std::string, ByteSourcePtr, std::less<>> files_;
  NameBudget names_;
  std::set<std::pair<std::string, std::uint64_t>> objects_seen_;  // by file and offset
  std::vector<Object> objects_;
  TensorNotes notes_;
  std::uint64_t pieces_ = 0;
};

}  // namespace

Result<Archive> read_distributed(const ReadContext& context) {
  const ByteSource& source = *context.source;
  ANDIRON_ASSIGN(PickleGraph graph, read_pickle(source, 0, source.size(), context.options.limits,
                                                context.budget.get()));
  DistributedReader reader(context);
  ANDIRON_TRY(reader.take_metadata(std::move(graph)));
  const PickleItems pairs = reader.entries();
  for (auto at = pairs.begin(); at != pairs.end(); ++at) {
    ANDIRON_ASSIGN(DistributedReader::Entry entry, reader.entry_named(*at++));
    Status status = reader.take_entry(entry, *at);
    if (status && entry.object) {
      const auto item = ItemSource::fetch(*entry.object, context.options.limits);
      status = item ? reader.take_object(entry.name, *item) : Status(item.error());
    }
    if (status) continue;
    ANDIRON_TRY(reader.skip_or_fail(entry.name, std::move(status).error()));
  }
  return reader.finish();
}

}  // namespace andiron::inline v1::detail
