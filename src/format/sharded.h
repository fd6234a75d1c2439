// SPDX-License-Identifier: MIT OR Apache-2.0
// Models spread over several files, with Hugging Face's index:
//
//   {"metadata": {"total_size": bytes, ...},
//    "weight_map": {"tensor": "model-00001-of-00002.safetensors", ...}}
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "src/format/formats.h"

namespace andiron::inline v1::detail {

// Puts a model together from its shards. The reading of each is the caller's:
//
//   ANDIRON_ASSIGN(ShardedModel model, ShardedModel::read_index(context));
//   for (;;) {
//     ANDIRON_ASSIGN(const bool has_shard, model.next());
//     if (!has_shard) return model.finish();
//     ANDIRON_ASSIGN(Archive shard, model.format().read(model.shard()));
//     model.add(std::move(shard));
//   }
class ShardedModel {
 public:
  // The model whose index this is; NotAWeightFile for other JSON. REQUIRES: the context outlives
  // this.
  static Result<ShardedModel> read_index(const ReadContext& context);
  ShardedModel(ShardedModel&& other) noexcept;
  ~ShardedModel();

  // Opens the next shard; false after the last. MissingShard for one that is not there.
  Result<bool> next();
  // Of the shard that was opened last, until the next.
  ReadContext shard() const;
  const FormatRow& format() const noexcept;
  void add(Archive shard);

  // The map of the index decides which shard a tensor comes from.
  Result<Archive> finish();

 private:
  class State;
  explicit ShardedModel(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The tensors of each shard.
using ShardPlan = std::vector<std::vector<std::size_t>>;
// Tensors in archive order, a new shard whenever the next tensor does not fit.
ShardPlan plan_shards(const Archive& archive, std::uint64_t most);
// `named`: the format, and the end of the path. `report`: with notes, to be completed.
Result<WriteReport> write_sharded(const Archive& archive, const std::string& path,
                                  const NamedFormat& named, const ShardPlan& shards,
                                  const WriteOptions& options, WriteReport report);

}  // namespace andiron::inline v1::detail
