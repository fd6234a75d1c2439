// SPDX-License-Identifier: MIT OR Apache-2.0
// NumPy's names for element types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/dtype.h"

namespace andiron::inline v1::detail {

struct NpyType {
  DType dtype = DType::raw;
  std::uint64_t bytes = 0;  // of one element
  bool big_endian = false;
  std::string refused = {};  // what arrays of it hold that no tensor can; empty for tensors
};

// "f4", without byte order; nothing for what is no plain number.
std::optional<DType> numpy_dtype(std::string_view code);

// Of a descr as it stands between its quotes: byte order, kind and bytes of an element, "<f4".
// Void types are raw: NumPy's files have no other name for bfloat16 and what else was added to it.
NpyType npy_type(std::string_view descr);

// The descr of a tensor in little-endian order; empty where NumPy has no such type. Raw bytes that
// came from a void type go back as they came.
std::string npy_descr(const TensorInfo& info);

}  // namespace andiron::inline v1::detail
