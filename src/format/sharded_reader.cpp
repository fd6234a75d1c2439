// SPDX-License-Identifier: MIT OR Apache-2.0
// A model spread over several SafeTensors files, with Hugging Face's index:
//
//   {"metadata": {"total_size": bytes, ...}, "weight_map": {"tensor": "model-00001-of-00002.safetensors", ...}}
//
// The map decides which shard a tensor comes from.
// Tested by tests/format/sharded_test.cpp
#include <algorithm>
#include <map>
#include <unordered_map>

#include "andiron/display_text.h"
#include "andiron/file.h"
#include "andiron/json.h"
#include "andiron/natural_order.h"
#include "src/core/archive_builder.h"
#include "src/core/try.h"
#include "src/format/format.h"
#include "src/io/folder.h"

namespace andiron {
inline namespace v1 {
namespace detail {
namespace {

struct NaturalLess {
  bool operator()(const std::string& a, const std::string& b) const { return natural_less(a, b); }
};

// A name below the index's own folder, on any system.
bool stays_in_folder(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != std::string_view::npos ||
      name.find(':') != std::string_view::npos || name.find('\0') != std::string_view::npos) {
    return false;
  }
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view segment = name.substr(begin, end - begin);
    if (segment.empty() || segment == "." || segment == "..") return false;
    begin = end + 1;
  }
  return true;
}

class ShardedReader {
 public:
  ShardedReader(const std::string& path, const OpenOptions& options)
      : path_(path), options_(options), builder_("safetensors", "sharded") {}

  Result<Archive> read(std::string_view index_text) {
    Result<Value> parsed = parse_json(index_text);
    if (!parsed) {
      Error error = std::move(parsed).error();
      error.file = path_;
      if (error.code == ErrorCode::bad_header) error.code = ErrorCode::bad_index;
      return error;
    }
    index_ = *std::move(parsed);
    ANDIRON_TRY(read_map());
    for (const auto& [name, wanted] : shards_) ANDIRON_TRY(open_shard(name));
    ANDIRON_TRY(check_map());
    ANDIRON_TRY(merge());
    note_total();
    if (const Value* metadata = index_.find("metadata")) builder_.state().value = *metadata;
    builder_.state().file_bytes += index_text.size();
    return builder_.finish();
  }

 private:
  Error bad_index(std::string message, std::string found, std::string expected) const {
    return Error{.code = ErrorCode::bad_index,
                 .message = std::move(message),
                 .file = path_,
                 .found = std::move(found),
                 .expected = std::move(expected)};
  }

  Status read_map() {
    const Value* map = index_.find("weight_map");
    if (map == nullptr) {
      return Error{.code = ErrorCode::not_a_weight_file,
                   .message = "this is JSON, but no shard index",
                   .file = path_,
                   .expected = "a top-level \"weight_map\""};
    }
    weight_map_ = map->get<ValueDict>();
    if (weight_map_ == nullptr) {
      return bad_index("weight_map is no object", "", "tensor names with file names");
    }
    if (weight_map_->size() > options_.limits.tensors) {
      return Error{.code = ErrorCode::limit_exceeded,
                   .message = "too many tensors",
                   .file = path_,
                   .found = std::to_string(weight_map_->size()),
                   .expected = "at most " + std::to_string(options_.limits.tensors)};
    }
    for (const auto& [tensor, file] : *weight_map_) {
      const std::string* name = file.get<std::string>();
      if (name == nullptr || !stays_in_folder(*name)) {
        Error error = bad_index("a shard must be a file in the index's folder",
                                name == nullptr ? "no text" : "'" + display_text(*name) + "'",
                                "a relative name without '..'");
        error.tensor = tensor;
        return error;
      }
      if (!name->ends_with(".safetensors")) {
        return Error{.code = ErrorCode::unsupported,
                     .message = "this shard is no SafeTensors file",
                     .file = path_,
                     .tensor = tensor,
                     .found = "'" + display_text(*name) + "'",
                     .hint = "this version reads SafeTensors"};
      }
      shards_[*name];
    }
    if (shards_.size() > options_.limits.shards) {
      return Error{.code = ErrorCode::limit_exceeded,
                   .message = "too many shards",
                   .file = path_,
                   .found = std::to_string(shards_.size()),
                   .expected = "at most " + std::to_string(options_.limits.shards)};
    }
    return {};
  }

  Status open_shard(const std::string& name) {
    const std::string path = join_path(folder_of(path_), name);
    Result<ByteSourcePtr> source = open_file(path, options_.io);
    if (!source) {
      Error error = std::move(source).error();
      if (error.code == ErrorCode::not_found) {
        error.code = ErrorCode::missing_shard;
        error.message = "a shard that the index names is not there";
        error.found.clear();
        error.hint = "download it, next to the index";
      }
      return error;
    }
    ANDIRON_ASSIGN(Archive archive, read_safetensors(*source, options_));
    Shard& shard = shards_[name];
    shard.file = builder_.add_file(*std::move(source), name);
    builder_.keep_names_of(archive);
    for (const std::string& note : archive.notes()) {
      builder_.state().notes.push_back(display_text(name) + ": " + note);
    }
    shard.archive = std::move(archive);
    return {};
  }

  // Every tensor of the map is in its shard.
  Status check_map() const {
    for (const auto& [tensor, file] : *weight_map_) {
      const std::string& name = *file.get<std::string>();
      if (shards_.at(name).archive.find(tensor)) continue;
      Error error{.code = ErrorCode::missing_tensor,
                  .message = "the index and the shard disagree",
                  .file = path_,
                  .tensor = tensor,
                  .found = "the tensor is not in '" + display_text(name) + "'"};
      for (const auto& [other, shard] : shards_) {
        if (!shard.archive.find(tensor)) continue;
        error.found += " but in '" + display_text(other) + "'";
        break;
      }
      error.hint = "the files may come from different versions of the model";
      return error;
    }
    return {};
  }

  Status merge() {
    ANDIRON_TRY(builder_.reserve(weight_map_->size(), 2 * weight_map_->size()));
    std::unordered_map<std::string_view, const std::string*> home;
    home.reserve(weight_map_->size());
    for (const auto& [tensor, file] : *weight_map_) home[tensor] = file.get<std::string>();

    std::size_t unlisted = 0;
    std::string first_unlisted;
    for (const auto& [name, shard] : shards_) {
      for (std::size_t i = 0; i < shard.archive.size(); ++i) {
        const std::string_view tensor = shard.archive.info(i).name;
        const auto at = home.find(tensor);
        if (at != home.end() && *at->second == name) {
          ANDIRON_TRY(builder_.add_from(shard.archive, i, shard.file));
        } else if (unlisted++ == 0) {
          first_unlisted = display_text(tensor) + "' in '" + display_text(name);
        }
      }
      merge_metadata(name, shard.archive);
    }
    if (unlisted != 0) {
      builder_.state().notes.push_back(std::to_string(unlisted) +
                                       " tensors are not listed there by the index and were left "
                                       "out, the first: '" + first_unlisted + "'");
    }
    return {};
  }

  void merge_metadata(const std::string& shard, const Archive& archive) {
    ArchiveState& state = builder_.state();
    for (const auto& [key, value] : archive.metadata()) {
      const auto [at, added] = state.metadata.emplace(key, value);
      if (!added && at->second != value) {
        state.notes.push_back("'" + display_text(shard) + "' has other metadata for '" +
                              display_text(key) + "' than the shards before it");
      }
    }
    for (const auto& [alias, kept] : archive.aliases()) state.aliases.emplace(alias, kept);
  }

  void note_total() {
    const Value* metadata = index_.find("metadata");
    const Value* total = metadata != nullptr ? metadata->find("total_size") : nullptr;
    const std::int64_t* claimed = total != nullptr ? total->get<std::int64_t>() : nullptr;
    if (claimed == nullptr) return;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < builder_.size(); ++i) {
      bytes += builder_.state().entries[i].byte_size;
    }
    if (bytes == static_cast<std::uint64_t>(*claimed)) return;
    builder_.state().notes.push_back("the index claims " + std::to_string(*claimed) +
                                     " bytes of tensors, the shards hold " + std::to_string(bytes));
  }

  struct Shard {
    Archive archive;
    std::uint32_t file = 0;
  };

  const std::string& path_;
  const OpenOptions& options_;
  ArchiveBuilder builder_;
  Value index_;
  const ValueDict* weight_map_ = nullptr;
  std::map<std::string, Shard, NaturalLess> shards_;
};

}  // namespace

Result<Archive> read_sharded(const std::string& path, std::string_view index_text,
                             const OpenOptions& options) {
  return ShardedReader(path, options).read(index_text);
}

}  // namespace detail
}  // namespace v1
}  // namespace andiron
