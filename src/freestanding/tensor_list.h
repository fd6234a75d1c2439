// SPDX-License-Identifier: MIT OR Apache-2.0
// The tensors that a heapless writer writes, and an order of them without memory for a sorted list.
// Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "andiron/view_writer.h"

namespace andiron::inline v1::detail {

struct ListedTensor {
  TensorToWrite tensor;
  bool is_transposed = false;  // shape and data are those of the program, not of the file
  bool has_long_name = false;  // which is cut off
  std::size_t index = 0;       // in the list
  std::uint64_t begin = 0;     // of the data, if it lies in the order of the list

  std::size_t rank() const noexcept { return tensor.shape.size(); }
  // Of the file's shape.
  std::uint64_t dim(std::size_t i) const noexcept {
    return tensor.shape[is_transposed ? rank() - 1 - i : i];
  }
};

// A list of the caller's, or the fields of a model.
class TensorList {
 public:
  // Data of tensors begins at multiples of `alignment`.
  TensorList(std::span<const TensorToWrite> tensors, std::uint64_t alignment) noexcept
      : tensors_(tensors), alignment_(alignment) {}
  TensorList(const ViewModel& model, std::uint64_t alignment) noexcept
      : model_(&model), alignment_(alignment) {}

  template <class Take>
  void each(Take take) const noexcept {
    each(&take, [](void* to, const ListedTensor& tensor) { (*static_cast<Take*>(to))(tensor); });
  }
  // False if a name is gone after each() has passed it.
  bool has_lasting_names() const noexcept { return model_ == nullptr; }

 private:
  using Function = void (*)(void* take, const ListedTensor& tensor);
  void each(void* take, Function function) const noexcept;

  std::span<const TensorToWrite> tensors_;
  const ViewModel* model_ = nullptr;
  std::uint64_t alignment_;
};

// Goes through a list by name, or as SafeTensors orders it: by type, then by name. Each step looks
// at the whole list.
class InOrder {
 public:
  enum class Order : std::uint8_t { by_name, by_type };

  InOrder(const TensorList& list, Order order) noexcept : list_(list), order_(order) {}
  // False at the end.
  bool next() noexcept;
  const ListedTensor& tensor() const noexcept { return tensor_; }
  // True if another tensor of the same place in the order exists.
  bool is_repeated() const noexcept { return is_repeated_; }

 private:
  int compare(const ListedTensor& a, const ListedTensor& b) const noexcept;
  void keep(const ListedTensor& tensor, ListedTensor& out, char* name) const noexcept;

  const TensorList& list_;
  Order order_;
  bool has_tensor_ = false;
  bool is_repeated_ = false;
  ListedTensor tensor_;
  char name_[max_path_bytes];
};

}  // namespace andiron::inline v1::detail
