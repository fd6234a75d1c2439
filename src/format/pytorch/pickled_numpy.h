// SPDX-License-Identifier: MIT OR Apache-2.0
// NumPy's arrays and scalars in pickles.
#pragma once

#include <optional>
#include <string>

#include "andiron/error.h"
#include "andiron/value.h"
#include "src/format/pytorch/pickle_document.h"
#include "src/format/pytorch/torch_tensor.h"

namespace andiron::inline v1::detail {

// Why an array is no tensor.
struct NumpyArray {
  std::string refused;                 // empty for one of numbers that we can take
  std::optional<PickleValue> objects;  // what an array of objects holds
};

// Fills in a fresh `tensor`. REQUIRES: the object is a numpy_array or a numpy_buffer.
Result<NumpyArray> numpy_array(const PickleDocument& content, PickleValue object,
                               const Limits& limits, TorchTensor& tensor);

// A scalar as a number; null for dates and the like. REQUIRES: the object is a numpy_scalar.
Result<Value> numpy_scalar(const PickleDocument& content, PickleValue object, const Limits& limits);

}  // namespace andiron::inline v1::detail
