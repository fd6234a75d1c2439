// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/analysis/statistics_test.cpp
#include "src/analysis/numbers.h"

#include <cmath>
#include <limits>

#include "src/core/dequantized_source.h"
#include "src/core/kernels/convert.h"

namespace andiron::inline v1::detail {

Result<TensorSnapshot> numbers_of(const TensorSnapshot& snapshot) {
  const DType dtype = snapshot.dtype();
  if (dtype == DType::qfloat) return dequantized(snapshot);
  if (is_complex(dtype) || can_convert(dtype, DType::f64)) return snapshot;
  const bool is_raw = dtype == DType::raw;
  return Error{.code = ErrorCode::unsupported_dtype,
               .message = is_raw
                              ? "the dtype is not known, so its elements are not known as numbers"
                              : "no format says how elements of this dtype are packed",
               .tensor = snapshot.full_path(),
               .found = snapshot.dtype_text(),
               .expected = "booleans, integers, floats or complex numbers"};
}

void read_numbers(DType dtype, const std::byte* elements, std::size_t count, double* out) noexcept {
  convert(component_of(dtype), elements, DType::f64, reinterpret_cast<std::byte*>(out),
          parts_of(dtype) * count);
}

void to_magnitudes(DType dtype, double* numbers, std::size_t count) noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    const double real = numbers[2 * i];
    const double imaginary = numbers[2 * i + 1];
    if (std::isnan(real) || std::isnan(imaginary)) {
      numbers[i] = std::numeric_limits<double>::quiet_NaN();
    } else if (std::isinf(real) || std::isinf(imaginary)) {
      numbers[i] = infinity;
    } else if (dtype == DType::c128) {
      numbers[i] = std::hypot(real, imaginary);
    } else {
      // Squares of smaller floats do not overflow.
      numbers[i] = std::sqrt(real * real + imaginary * imaginary);
    }
  }
}

}  // namespace andiron::inline v1::detail
