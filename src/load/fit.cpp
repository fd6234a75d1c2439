// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/fit_test.cpp
#include "src/load/fit.h"

#include <cstdint>
#include <string>
#include <utility>

#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

enum class DataKind : std::uint8_t { floating, integer, boolean, complex, unknown };

DataKind kind_of(DType dtype) {
  if (is_float(dtype) || dtype == DType::qfloat) return DataKind::floating;
  if (is_integer(dtype)) return DataKind::integer;
  if (is_complex(dtype)) return DataKind::complex;
  return dtype == DType::boolean ? DataKind::boolean : DataKind::unknown;
}

Error dtype_mismatch(const LeafInfo& wanted, const TensorSnapshot& tensor, Message hint) {
  return Error{.code = ErrorCode::dtype_mismatch,
               .message = "the dtype does not match",
               .found = tensor.dtype_text(),
               .expected = std::string(dtype_name(wanted.dtype)),
               .hint = std::move(hint)};
}

// The tensor in the dtype that the leaf will have, or why it cannot be.
Result<TensorSnapshot> with_dtype(TensorSnapshot tensor, const LeafInfo& wanted,
                                  DTypePolicy policy) {
  const DType found = tensor.dtype();
  if (wanted.accepts_any_shape && wanted.accepts_any_dtype) return tensor;  // not set: no dtype yet
  // Formats without a bool of their own store it in these.
  const bool holds_booleans = wanted.dtype == DType::boolean &&
                              (found == DType::u8 || found == DType::u32) &&
                              policy != DTypePolicy::strict;
  if (holds_booleans) return tensor.cast(DType::boolean);
  if (kind_of(found) != kind_of(wanted.dtype)) {
    return dtype_mismatch(
        wanted, tensor,
        "convert it with an adapter, or load the rest with " + Message(Advice::without_validate));
  }
  if (found == wanted.dtype && tensor.raw_name() == wanted.raw_name) return tensor;
  if (policy == DTypePolicy::cast_to_module && !is_opaque(found)) return tensor.cast(wanted.dtype);
  if (policy == DTypePolicy::from_file && wanted.accepts_any_dtype) return tensor;
  return dtype_mismatch(wanted, tensor,
                        is_opaque(found) ? Message("data of this type cannot be converted")
                                         : "use " + Message(Advice::cast_to_module));
}

Error shape_mismatch(const LeafInfo& wanted, const TensorSnapshot& tensor) {
  const Shape& found = tensor.shape();
  Error error{.code = ErrorCode::shape_mismatch,
              .message = "the shape does not match",
              .found = found.to_string(),
              .expected = wanted.shape.to_string()};
  const bool is_transposed = found.rank() == 2 && wanted.shape.rank() == 2 &&
                             found[0] == wanted.shape[1] && found[1] == wanted.shape[0];
  if (is_transposed) {
    error.hint =
        "it fits transposed; " + Message(Advice::adapt_from_pytorch) + " transposes Linear weights";
  }
  return error;
}

}  // namespace

Result<TensorSnapshot> fit(TensorSnapshot tensor, const LeafInfo& wanted, DTypePolicy policy) {
  ANDIRON_ASSIGN(tensor, with_dtype(std::move(tensor), wanted, policy));
  if (!wanted.accepts_any_shape && tensor.shape() != wanted.shape) {
    return shape_mismatch(wanted, tensor);
  }
  return tensor;
}

}  // namespace andiron::inline v1::detail
