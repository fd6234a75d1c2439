// SPDX-License-Identifier: MIT OR Apache-2.0
// What every heapless writer checks before it writes. Freestanding.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "andiron/view_writer.h"
#include "src/freestanding/save_output.h"
#include "src/freestanding/tensor_list.h"

namespace andiron::inline v1::detail {

SaveResult save_error(ErrorCode code, const char* what,
                      std::size_t tensor = SaveResult::no_tensor) noexcept;

struct Checked {
  SaveResult result;  // ok, or what is wrong
  std::size_t tensors = 0;
  std::uint64_t data_end = 0;  // if data lies in the order of the list
  std::uint64_t data_bytes = 0;
};

// Checks names, sizes and that no name repeats. `check` tells what one format has against a tensor.
Checked check_tensors(const TensorList& list,
                      ViewStatus (*check)(const TensorToWrite& tensor)) noexcept;

// Goes through metadata by key, which may be in any order.
class MetadataInOrder {
 public:
  explicit MetadataInOrder(std::span<const MetadataToWrite> all) noexcept : all_(all) {}
  const MetadataToWrite* next() noexcept;

 private:
  std::span<const MetadataToWrite> all_;
  const MetadataToWrite* last_ = nullptr;
};

// Checks that texts are UTF-8 and that no key repeats.
SaveResult check_metadata(std::span<const MetadataToWrite> metadata, bool allow_nul) noexcept;

// Fails if memory is too small for the file.
SaveResult check_room(const SaveTarget& target, std::uint64_t bytes) noexcept;

// The result of a save whose bytes have all been added.
SaveResult finish_save(SaveOutput& out, std::uint64_t bytes) noexcept;

}  // namespace andiron::inline v1::detail
