// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/record_writer_test.cpp and tests/store/recorder_precision_test.cpp
#include "src/format/record/precision.h"

#include "src/core/kernels/convert.h"
#include "src/core/try.h"
#include "src/format/record/checked_integers.h"

namespace andiron::inline v1::detail {

DType dtype_in_record(const RecordNumbers& numbers, DType dtype) {
  if (is_integer(dtype)) return numbers.int_type;
  const bool is_number = is_float(dtype) && can_convert(dtype, numbers.float_type);
  return is_number ? numbers.float_type : dtype;
}

Result<TensorSnapshot> converted_for_record(const TensorSnapshot& snapshot, DType stored) {
  const DType dtype = snapshot.dtype();
  if (dtype == stored) return snapshot;
  const bool may_not_fit = is_integer(dtype) && bit_width(dtype) >= bit_width(stored);
  if (!may_not_fit) return snapshot.cast(stored);
  ANDIRON_ASSIGN(TensorSnapshot checked, as_checked_integers(snapshot, stored));
  return std::move(checked).with_param_id(snapshot.param_id());
}

}  // namespace andiron::inline v1::detail
