// SPDX-License-Identifier: MIT OR Apache-2.0
// The map of an index decides which shard a tensor comes from. The index is described in sharded.h.
// Tested by tests/format/sharded_test.cpp
#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "andiron/text.h"
#include "src/codec/decode_text.h"
#include "src/core/archive_builder.h"
#include "src/core/check_limit.h"
#include "src/core/name_table.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/sharded.h"
#include "src/freestanding/json_reader.h"
#include "src/io/folder.h"

namespace andiron::inline v1::detail {
namespace {

// Whether a tensor of this very name is there, not one tied to it.
bool stores(const Archive& archive, std::string_view tensor) {
  const auto index = archive.find(tensor);
  return index && archive.info(*index).name == tensor;
}

// What a shard is, by its name: an index names files of one kind.
const FormatRow* shard_format(std::string_view file) {
  const FormatRow* row = format_by_name(file).row;
  return row != nullptr && row->info.has_shards ? row : nullptr;
}

}  // namespace

class ShardedModel::State {
 public:
  State(const ReadContext& context, Bytes index_text)
      : context_(context),
        path_(context.source->name()),
        text_(std::move(index_text)),
        json_(text_.text()),
        options_(context.options),
        builder_(path_, "", "sharded") {
    builder_.state().file_bytes = text_.size();
  }

  // Read piece by piece rather than into a tree: an index can be large, and most of what a hostile
  // one holds is only skipped.
  Status read_index() {
    bool first = true;
    bool has_map = false;
    json_.expect('{', "an index must be a JSON object");
    while (json_.next_item('}', first)) {
      JsonText key;
      if (!json_.key(key)) break;
      if (key.equals("weight_map")) {
        if (has_map) json_.fail(ErrorCode::duplicate_key, "duplicate weight_map");
        has_map = true;
        ANDIRON_TRY(read_map());
      } else if (key.equals("metadata") && json_.peek() == '{') {
        read_metadata();
      } else {
        json_.skip_value(1);
      }
    }
    if (!json_.failed() && !json_.at_end())
      json_.fail(ErrorCode::bad_index, "text after the index");
    if (json_.failed()) return json_error();
    if (has_map) return {};
    return Error{.code = ErrorCode::not_a_weight_file,
                 .message = "this is JSON, but not a shard index",
                 .file = path_,
                 .expected = "a top-level \"weight_map\""};
  }

  Result<bool> next() {
    at_ = is_begun_ ? std::next(at_) : shards_.begin();
    is_begun_ = true;
    if (at_ == shards_.end()) return false;
    place_ = context_.name_beside(at_->first);
    Result<ByteSourcePtr> source = context_.files->open(place_);
    if (source) {
      source_ = *std::move(source);
      context_.budget->add_file(source_->size());
      return true;
    }
    Error error = std::move(source).error();
    if (error.code == ErrorCode::not_found) {
      error.code = ErrorCode::missing_shard;
      error.message = "a shard that the index names is missing";
      error.found.clear();
      error.hint = "download it to the folder of the index";
    }
    return error;
  }

  ReadContext shard() const { return {source_, options_, context_.files, place_, context_.budget}; }
  const FormatRow& format() const noexcept { return *row_; }

  void add(Archive archive) {
    auto& [name, shard] = *at_;
    shard.archive = std::move(archive);
    shard.file = builder_.add_file_of(shard.archive, name);
    builder_.keep_names_of(shard.archive);
    builder_.state().is_pickled |= shard.archive.is_pickled();
    for (const Message& note : shard.archive.notes()) {
      builder_.state().notes.push_back(name + ": " + note);
    }
    for (const Skipped& skipped : shard.archive.skipped()) {
      builder_.state().skipped.push_back(skipped);
    }
  }

  Result<Archive> finish() {
    builder_.state().format = row_->info.name;
    ANDIRON_TRY(check_map());
    ANDIRON_TRY(merge());
    note_total();
    return builder_.finish();
  }

 private:
  struct Shard {
    Archive archive;
    std::uint32_t file = 0;
  };
  using Shards = std::map<std::string, Shard, NaturalLess>;
  struct Mapping {
    std::string tensor;
    Shards::value_type* shard;
  };

  Error json_error() const {
    return Error{
        .code = json_.code() == ErrorCode::bad_header ? ErrorCode::bad_index : json_.code(),
        .message = json_.what(),
        .file = path_,
        .found = "at byte " + std::to_string(json_.offset())};
  }

  void read_metadata() {
    bool first = true;
    json_.expect('{', "metadata must be an object");
    while (json_.next_item('}', first)) {
      JsonText key;
      if (!json_.key(key)) return;
      const bool total = key.equals("total_size") && json_.peek() >= '0' && json_.peek() <= '9';
      std::string_view number;
      if (!(total ? json_.number(number) : json_.skip_value(2))) return;
      std::uint64_t bytes = 0;
      const char* end = number.data() + number.size();
      if (total && std::from_chars(number.data(), end, bytes).ptr == end) claimed_bytes_ = bytes;
    }
  }

  Status read_map() {
    bool first = true;
    json_.expect('{', "weight_map must be an object of tensor and file names");
    while (json_.next_item('}', first)) {
      JsonText tensor;
      JsonText file;
      if (!json_.key(tensor) || !json_.string(file)) break;
      ANDIRON_TRY(map_tensor(decode_text(tensor), decode_text(file)));
    }
    return {};
  }

  Status map_tensor(std::string tensor, const std::string& file) {
    if (!stays_in_folder(file)) {
      return Error{.code = ErrorCode::bad_index,
                   .message = "a shard must be a file in the index's folder",
                   .file = path_,
                   .tensor = std::move(tensor),
                   .found = in_quotes(file),
                   .expected = "a relative name without '..'"};
    }
    const FormatRow* row = shard_format(file);
    if (map_.empty()) row_ = row;
    if (row == nullptr || row != row_) {
      return Error{.code = row != nullptr ? ErrorCode::bad_index : ErrorCode::unsupported,
                   .message = row != nullptr ? "the index names files of two formats"
                                             : "files of this format cannot be shards",
                   .file = path_,
                   .tensor = std::move(tensor),
                   .found = in_quotes(file),
                   .expected = "names that all end in " +
                               list_endings([](const FormatInfo& one) { return one.has_shards; })};
    }
    Shards::value_type& shard = *shards_.try_emplace(file).first;
    ANDIRON_TRY(check_limit(map_.size() + 1, options_.limits.tensors,
                            {"too many tensors", &Limits::tensors, "", path_}));
    ANDIRON_TRY(check_limit(shards_.size(), options_.limits.shards,
                            {"too many shards", &Limits::shards, "", path_}));
    map_.push_back({std::move(tensor), &shard});
    return {};
  }

  // Every tensor of the map is in its shard.
  Status check_map() const {
    for (const Mapping& mapping : map_) {
      const auto& [name, shard] = *mapping.shard;
      if (stores(shard.archive, mapping.tensor)) continue;
      Error error{.code = ErrorCode::missing_tensor,
                  .message = "the index and the shard disagree",
                  .file = path_,
                  .tensor = mapping.tensor,
                  .found = "the tensor is not in " + in_quotes(name)};
      for (const auto& [other, other_shard] : shards_) {
        if (!stores(other_shard.archive, mapping.tensor)) continue;
        error.found += " but in " + in_quotes(other);
        break;
      }
      error.hint = "the files may come from different versions of the model";
      return error;
    }
    return {};
  }

  Status merge() {
    ANDIRON_TRY(builder_.reserve(map_.size(), 2 * map_.size()));
    NameTable home;
    const auto tensor_at = [&](std::uint32_t at) { return std::string_view(map_[at].tensor); };
    ANDIRON_TRY(home.reset(map_.size()));
    for (std::uint32_t i = 0; i < map_.size(); ++i) {
      const Mapping& mapping = map_[i];
      if (!home.insert(mapping.tensor, i, tensor_at)) continue;
      return Error{.code = ErrorCode::duplicate_key,
                   .message = "weight_map lists a tensor twice",
                   .file = path_,
                   .tensor = mapping.tensor};
    }
    std::size_t unlisted = 0;
    std::string first_unlisted;
    for (const Shards::value_type& shard : shards_) {
      const auto& [name, content] = shard;
      for (std::size_t i = 0; i < content.archive.size(); ++i) {
        const std::string_view tensor = content.archive.info(i).name;
        const auto at = home.find(tensor, tensor_at);
        if (at && map_[*at].shard == &shard) {
          ANDIRON_TRY(builder_.add_from(content.archive, i, content.file));
        } else if (unlisted++ == 0) {
          first_unlisted = in_quotes(tensor) + " in " + in_quotes(name);
        }
      }
    }
    // The map names each tensor once, and a shard has each once.
    ANDIRON_TRY(builder_.index_names());
    for (const auto& [name, content] : shards_) merge_metadata(name, content.archive);
    if (unlisted != 0) {
      builder_.state().notes.push_back("the index does not list " + std::to_string(unlisted) +
                                       " tensors of its shards; the first is " + first_unlisted);
    }
    return {};
  }

  void merge_metadata(const std::string& shard, const Archive& archive) {
    ArchiveState& state = builder_.state();
    for (const auto& [key, value] : archive.metadata()) {
      const auto [at, added] = state.metadata.emplace(key, value);
      if (!added && at->second != value) {
        state.notes.push_back(in_quotes(shard) + " has different metadata for " + in_quotes(key) +
                              " than the shards before it");
      }
    }
    for (const auto& [alias, kept] : archive.aliases()) {
      if (!builder_.find(alias) && builder_.find(kept)) state.aliases.emplace(alias, kept);
    }
  }

  void note_total() {
    std::uint64_t bytes = 0;
    for (const ArchiveEntry& entry : builder_.state().entries.items()) bytes += entry.byte_size;
    if (!claimed_bytes_ || bytes == *claimed_bytes_) return;
    builder_.state().notes.push_back("the index claims " + std::to_string(*claimed_bytes_) +
                                     " bytes of tensors, the shards hold " + std::to_string(bytes));
  }

  const ReadContext& context_;
  const std::string& path_;
  Bytes text_;
  JsonReader json_;
  const OpenOptions& options_;
  ArchiveBuilder builder_;
  const FormatRow* row_ = &row_of(Format::safetensors);  // of the shards
  std::optional<std::uint64_t> claimed_bytes_;
  std::vector<Mapping> map_;
  Shards shards_;
  // The shard that was opened last.
  bool is_begun_ = false;
  Shards::iterator at_;
  std::string place_;
  ByteSourcePtr source_;
};

ShardedModel::ShardedModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
ShardedModel::ShardedModel(ShardedModel&& other) noexcept = default;
ShardedModel::~ShardedModel() = default;

Result<ShardedModel> ShardedModel::read_index(const ReadContext& context) {
  const ByteSource& source = *context.source;
  if (context.files == nullptr) {
    return Error{.code = ErrorCode::unsupported,
                 .message = "this is JSON; a shard index needs the files beside it",
                 .file = source.name(),
                 .hint = "open it by its path, or as part of a FileSet"};
  }
  ANDIRON_TRY(check_limit(
      source.size(), context.options.limits.index_bytes,
      {"the index is larger than allowed", &Limits::index_bytes, "bytes", source.name()}));
  ANDIRON_ASSIGN(Bytes text, Bytes::allocate(source.size()));
  ANDIRON_TRY(source.read_at(0, text.writable()));
  ANDIRON_TRY(context.budget->charge(MemoryBudget::listed * text.size(), "the index"));
  auto state = std::make_unique<State>(context, std::move(text));
  ANDIRON_TRY(state->read_index());
  return ShardedModel(std::move(state));
}

Result<bool> ShardedModel::next() { return state_->next(); }
ReadContext ShardedModel::shard() const { return state_->shard(); }
const FormatRow& ShardedModel::format() const noexcept { return state_->format(); }
void ShardedModel::add(Archive shard) { state_->add(std::move(shard)); }
Result<Archive> ShardedModel::finish() { return state_->finish(); }

}  // namespace andiron::inline v1::detail
