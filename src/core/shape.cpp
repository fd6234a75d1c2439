// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/shape_test.cpp
#include "andiron/shape.h"

#include <ostream>

#include "andiron/detail/no_throw.h"
#include "andiron/limits.h"
#include "src/core/check_limit.h"

namespace andiron::inline v1 {

Result<std::uint64_t> Shape::element_count() const ANDIRON_NO_THROW {
  std::uint64_t count = 0;
  if (!andiron::element_count(dims(), count)) {
    return Error{.code = ErrorCode::overflow,
                 .message = "the shape has too many elements",
                 .found = to_string(),
                 .expected = "fewer than 2^64"};
  }
  return count;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<std::uint64_t> Shape::byte_count(DType dtype) const ANDIRON_NO_THROW {
  if (is_opaque(dtype)) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "the size of this dtype cannot be computed from its shape",
                 .found = std::string(dtype_name(dtype))};
  }
  std::uint64_t bytes = 0;
  switch (andiron::byte_count(dtype, dims(), bytes)) {
    case SizeCheck::ok:
      return bytes;
    case SizeCheck::overflow:
      return Error{.code = ErrorCode::overflow,
                   .message = "the tensor is too large to address",
                   .found = std::string(dtype_name(dtype)) + " " + to_string(),
                   .expected = "fewer than 2^64 bits"};
    case SizeCheck::partial_byte:
      break;
  }
  return Error{.code = ErrorCode::misaligned,
               .message = "the elements do not fill whole bytes",
               .found = std::string(dtype_name(dtype)) + " " + to_string(),
               .expected = "a number of bits divisible by 8"};
}
ANDIRON_OR_OUT_OF_MEMORY

Status Shape::check_rank() const ANDIRON_NO_THROW {
  return detail::check_limit(rank(), max_rank, {"too many dimensions", nullptr});
}
ANDIRON_OR_OUT_OF_MEMORY

std::string Shape::to_string() const {
  std::string text = "[";
  for (std::uint64_t dim : dims()) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(dim);
  }
  return text + "]";
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.to_string(); }

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << dtype_name(dtype); }

}  // namespace andiron::inline v1
