// SPDX-License-Identifier: MIT OR Apache-2.0
// Archives of which only the names matter.
#pragma once

#include <string>
#include <vector>

#include "andiron/archive.h"
#include "tests/support/archive_reading.h"

namespace andiron {

using Names = std::vector<std::string>;
using test::names_of;

// Tensors of these names, the i-th of shape [i + 1] so that it is known under any other name.
inline Archive archive_of(const Names& names) {
  Archive archive;
  for (const std::string& name : names) {
    const Tensor tensor = Tensor::zeros(DType::u8, Shape({archive.size() + 1})).value();
    archive.add(TensorSnapshot(name, tensor)).value();
  }
  return archive;
}

// What tells tensors apart: i + 1 for the i-th of archive_of.
inline std::uint64_t size_of(const Archive& archive, std::string_view name) {
  return archive.get(name).value().byte_size();
}

}  // namespace andiron
