// SPDX-License-Identifier: MIT OR Apache-2.0
// An archive over several files, as Hugging Face's tools expect them. The index is described in
// sharded.h. Tested by tests/format/sharded_test.cpp
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "andiron/value.h"
#include "src/codec/file_json.h"
#include "src/core/check_limit.h"
#include "src/core/try.h"
#include "src/format/output_file.h"
#include "src/format/sharded.h"
#include "src/io/folder.h"

namespace andiron::inline v1::detail {
namespace {

class ShardedWriter {
 public:
  ShardedWriter(const Archive& archive, const std::string& path, const NamedFormat& named,
                const WriteOptions& options)
      : archive_(archive),
        named_(named),
        folder_(folder_of(path)),
        stem_(file_name_of(path)),
        options_(options) {
    if (stem_.ends_with(named.ending)) stem_.resize(stem_.size() - named.ending.size());
    for (std::size_t i = 0; i < archive.size(); ++i) total_bytes_ += archive.info(i).byte_size;
    metadata_ = archive.metadata();
    metadata_.emplace("format", "pt");
    shard_options_ = options;
    if (options.progress) {
      shard_options_.progress = [this](std::uint64_t done, std::uint64_t) {
        return options_.progress(done_bytes_ + done, total_bytes_);
      };
    }
  }

  Result<WriteReport> write(const std::vector<std::vector<std::size_t>>& shards) {
    for (std::size_t i = 0; i < shards.size(); ++i) {
      ANDIRON_TRY(write_shard(shards[i], shard_name(i + 1, shards.size())));
    }
    ANDIRON_TRY(write_index());
    ANDIRON_TRY(publish());
    return std::move(report_);
  }

 private:
  std::string shard_name(std::size_t number, std::size_t count) const {
    char suffix[48];
    std::snprintf(suffix, sizeof suffix, "-%05zu-of-%05zu", number, count);
    return stem_ + suffix + std::string(named_.ending);
  }

  Result<Sink*> create(const std::string& name) {
    const std::string path = join_path(folder_, name);
    ANDIRON_ASSIGN(std::unique_ptr<OutputFile> file, OutputFile::create(path, options_));
    files_.push_back(std::move(file));
    report_.files.push_back(path);
    return static_cast<Sink*>(files_.back().get());
  }

  Status write_shard(const std::vector<std::size_t>& tensors, const std::string& name) {
    ANDIRON_ASSIGN(Sink * sink, create(name));
    ANDIRON_ASSIGN(Archive shard, archive_.select(tensors));
    shard.set_metadata(metadata_);
    ANDIRON_ASSIGN(const std::uint64_t bytes,
                   named_.row->write({shard, *sink, shard_options_, named_.ending}));
    report_.bytes += bytes;
    for (std::size_t i : tensors) {
      const TensorInfo info = archive_.info(i);
      done_bytes_ += info.byte_size;
      weight_map_.emplace_back(std::string(info.name), Value(name));
    }
    return {};
  }

  Status write_index() {
    std::sort(weight_map_.begin(), weight_map_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    const Value index(ValueDict{
        {"metadata",
         Value(ValueDict{{"total_size", Value(static_cast<std::int64_t>(total_bytes_))}})},
        {"weight_map", Value(std::move(weight_map_))}});
    const std::string text = to_file_json(index, 2) + "\n";
    ANDIRON_ASSIGN(Sink * sink,
                   create(stem_ + std::string(named_.ending) + std::string(index_ending)));
    ANDIRON_TRY(sink->write(std::as_bytes(std::span(text))));
    report_.bytes += text.size();
    return {};
  }

  // Shards first, so that an index never names a file that is not there.
  Status publish() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      Status status = files_[i]->commit();
      if (status) continue;
      // What replaced an old file stays: taking it away would lose more.
      for (std::size_t k = 0; k < i && !options_.overwrite; ++k) remove_file(report_.files[k]);
      return status;
    }
    return {};
  }

  const Archive& archive_;
  const NamedFormat& named_;
  std::string folder_;
  std::string stem_;
  const WriteOptions& options_;
  WriteOptions shard_options_;
  Metadata metadata_;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t done_bytes_ = 0;
  std::vector<std::unique_ptr<OutputFile>> files_;
  ValueDict weight_map_;
  WriteReport report_;
};

}  // namespace

std::vector<std::vector<std::size_t>> plan_shards(const Archive& archive, std::uint64_t most) {
  std::vector<std::vector<std::size_t>> shards(1);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const std::uint64_t size = archive.info(i).byte_size;
    if (!shards.back().empty() && (bytes >= most || size > most - bytes)) {
      shards.emplace_back();
      bytes = 0;
    }
    shards.back().push_back(i);
    bytes += size;
  }
  return shards;
}

Result<WriteReport> write_sharded(const Archive& archive, const std::string& path,
                                  const NamedFormat& named,
                                  const std::vector<std::vector<std::size_t>>& shards,
                                  const WriteOptions& options) {
  ANDIRON_TRY(
      check_limit(shards.size(), options.limits.shards, {"too many shards", "shards", "", path}));
  return ShardedWriter(archive, path, named, options).write(shards);
}

}  // namespace andiron::inline v1::detail
