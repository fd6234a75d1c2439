// SPDX-License-Identifier: MIT OR Apache-2.0
// An archive over several files, as Hugging Face's tools expect them. The index is described in
// sharded.h. Tested by tests/format/sharded_test.cpp
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "andiron/value.h"
#include "src/codec/file_json.h"
#include "src/core/check_limit.h"
#include "src/core/sort.h"
#include "src/core/try.h"
#include "src/format/output_file.h"
#include "src/format/shard_set.h"
#include "src/format/sharded.h"

namespace andiron::inline v1::detail {
namespace {

class ShardedWriter {
 public:
  ShardedWriter(const Archive& archive, const NamedFormat& named, const WriteOptions& options)
      : archive_(archive), named_(named), options_(options), shard_options_(options) {
    for (std::size_t i = 0; i < archive.size(); ++i) total_bytes_ += archive.info(i).byte_size;
    metadata_ = archive.metadata();
    metadata_.emplace("format", "pt");
    if (options.progress) {
      shard_options_.progress = [this](std::uint64_t done, std::uint64_t) {
        return options_.progress(done_bytes_ + done, total_bytes_);
      };
    }
  }

  Result<WriteReport> write(const std::string& path, const ShardPlan& shards, WriteReport report) {
    ANDIRON_ASSIGN(const std::unique_ptr<ShardSet> set,
                   ShardSet::create(path, named_.ending, shards.size(), options_));
    Result<WriteReport> written = write_set(*set, shards, std::move(report));
    if (written || set->take_back()) return written;
    Error error = std::move(written).error();
    error.hint += error.hint.empty() ? "" : "; ";
    error.hint += "some of the new shards could not be removed; the next save does that";
    return error;
  }

 private:
  Result<WriteReport> write_set(ShardSet& set, const ShardPlan& shards, WriteReport report) {
    const std::string index = index_text(shards, set.names());
    ANDIRON_TRY(set.write_index(index));
    report.files = set.shown_paths();
    report.bytes = index.size();
    for (std::size_t i = 0; i < shards.size(); ++i) {
      ANDIRON_ASSIGN(const std::unique_ptr<OutputFile> file, set.create_shard(i));
      ANDIRON_ASSIGN(const std::uint64_t bytes, write_shard(shards[i], *file));
      ANDIRON_TRY(set.add_shard(*file));
      report.bytes += bytes;
    }
    const std::vector<Message> notes = set.notes();
    report.notes.insert(report.notes.end(), notes.begin(), notes.end());
    // Room for a note on what stays of the old set.
    report.notes.reserve(report.notes.size() + 1);
    ANDIRON_ASSIGN(Message stays, set.commit());
    if (!stays.empty()) report.notes.push_back(std::move(stays));
    return report;
  }

  std::string index_text(const ShardPlan& shards, const std::vector<std::string>& names) const {
    ValueDict weight_map;
    for (std::size_t shard = 0; shard < shards.size(); ++shard) {
      for (const std::size_t tensor : shards[shard]) {
        weight_map.emplace_back(std::string(archive_.info(tensor).name), Value(names[shard]));
      }
    }
    detail::sort(weight_map.begin(), weight_map.end(),
                 [](const auto& a, const auto& b) { return a.first < b.first; });
    const Value index(ValueDict{
        {"metadata",
         Value(ValueDict{{"total_size", Value(static_cast<std::int64_t>(total_bytes_))}})},
        {"weight_map", Value(std::move(weight_map))}});
    return to_file_json(index, 2) + "\n";
  }

  Result<std::uint64_t> write_shard(const std::vector<std::size_t>& tensors, OutputFile& file) {
    ANDIRON_ASSIGN(Archive shard, archive_.select(tensors));
    shard.set_metadata(metadata_);
    ANDIRON_ASSIGN(const std::uint64_t bytes,
                   named_.row->write({shard, file, shard_options_, named_.ending, &file}));
    for (const std::size_t i : tensors) done_bytes_ += archive_.info(i).byte_size;
    return bytes;
  }

  const Archive& archive_;
  const NamedFormat& named_;
  const WriteOptions& options_;
  WriteOptions shard_options_;
  Metadata metadata_;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t done_bytes_ = 0;
};

}  // namespace

ShardPlan plan_shards(const Archive& archive, std::uint64_t most) {
  ShardPlan shards(1);
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
                                  const NamedFormat& named, const ShardPlan& shards,
                                  const WriteOptions& options, WriteReport report) {
  ANDIRON_TRY(check_limit(shards.size(), options.limits.shards,
                          {"too many shards", &Limits::shards, "", path}));
  return ShardedWriter(archive, named, options).write(path, shards, std::move(report));
}

}  // namespace andiron::inline v1::detail
