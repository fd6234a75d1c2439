// SPDX-License-Identifier: MIT OR Apache-2.0
// How the files of a sharded model are called:
//
//   STEM-00001-of-00003.safetensors     the first set of a model
//   STEM-2-00001-of-00003.safetensors   a set that replaced another
//
// Hugging Face's tools read and clean up both.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace andiron::inline v1::detail {

// What the names of a model's shards have in common.
struct ShardNames {
  std::string stem;
  std::string ending;  // ".safetensors"

  // Number 0 is the first set of a model. Shards count from 1.
  std::string name(unsigned set_number, std::size_t shard, std::size_t count) const;
  // The number of the set that a shard of this model belongs to; nothing for other files.
  std::optional<unsigned> set_number(std::string_view name) const;
  // Those files that an index names and that are shards of this model; nothing if the text is not
  // an index. What else an index may name is not ours to remove.
  std::optional<std::set<std::string>> in_index(std::string_view text) const;
};

}  // namespace andiron::inline v1::detail
