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

// Whether a name says that its file is one of at least two: "...-00001-of-00003" and an extension.
bool is_one_of_several(std::string_view name);

// What the names of a model's shards have in common.
struct ShardNames {
  static constexpr unsigned max_set_number = 999'999'998;

  std::string stem;
  std::string ending;  // ".safetensors"

  // Number 0 is the first set of a model. Shards count from 1.
  std::string name(unsigned set_number, std::size_t shard, std::size_t count) const;
  // The number of the set that a shard of this model belongs to; nothing for other files.
  std::optional<unsigned> set_number(std::string_view name) const;
  // "STEM-2.safetensors": the model whose first set has the names of this model's second.
  std::string namesake(unsigned set_number) const;
  // Those files that an index names and that are shards of this model; nothing if the text is not
  // an index. What else an index may name is not ours to remove.
  std::optional<std::set<std::string>> in_index(std::string_view text) const;
};

}  // namespace andiron::inline v1::detail
