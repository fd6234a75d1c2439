// SPDX-License-Identifier: MIT OR Apache-2.0
// PyTorch's names for the types of elements.
#pragma once

#include <cstdint>
#include <string_view>

#include "andiron/dtype.h"

namespace andiron::inline v1::detail {

struct ElementType {
  std::string_view torch_name;  // "float32"; of a raw type what it is called
  DType dtype = DType::raw;
  std::uint8_t bytes = 1;     // of one element in a storage
  std::uint8_t per_item = 1;  // elements of ours in one of PyTorch's: 2 for float4_e2m1fn_x2
  // What int_repr() of a quantized type gives; raw for all others.
  DType int_repr = DType::raw;

  // Of quantized types, how many values share a byte of the storage.
  std::uint8_t values_per_byte = 1;

  bool is_quantized() const noexcept { return int_repr != DType::raw; }
};

// "float32" or its alias "float"; nullptr for no dtype.
const ElementType* torch_dtype(std::string_view name);

// The elements of "FloatStorage" or "UntypedStorage" (bytes); the writer in C++ names more of them
// than Python knows. nullptr for no storage.
const ElementType* storage_elements(std::string_view class_name);

// The elements of "FloatTensor", a class of tensors before 0.4; nullptr for no such class.
const ElementType* tensor_class_elements(std::string_view class_name);

// Those of a dtype; nullptr where PyTorch has no such type.
const ElementType* elements_of(DType dtype);

// Elements that are single bytes.
const ElementType& byte_elements();

}  // namespace andiron::inline v1::detail
