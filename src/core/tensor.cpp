// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/tensor_test.cpp
#include "andiron/tensor.h"

#include <algorithm>
#include <cstring>

#include "andiron/tensor.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
Result<Tensor> Tensor::from_bytes(DType dtype, Shape shape, Bytes bytes) ANDIRON_NO_THROW {
  ANDIRON_TRY(shape.check_rank());
  ANDIRON_ASSIGN(const std::uint64_t wanted, shape.byte_count(dtype));
  if (bytes.size() != wanted) {
    return Error{.code = ErrorCode::size_mismatch,
                 .message = "the data size does not match dtype and shape",
                 .found = std::to_string(bytes.size()) + " bytes",
                 .expected = std::to_string(wanted) + " bytes for " +
                             std::string(dtype_name(dtype)) + " " + shape.to_string()};
  }
  return Tensor(dtype, std::move(shape), std::move(bytes), {});
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> Tensor::raw(std::string file_dtype, Shape shape, Bytes bytes) ANDIRON_NO_THROW {
  ANDIRON_TRY(shape.check_rank());
  return Tensor(DType::raw, std::move(shape), std::move(bytes), std::move(file_dtype));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> Tensor::qfloat(const QuantScheme& scheme, Shape shape, Bytes bytes)
    ANDIRON_NO_THROW {
  ANDIRON_TRY(shape.check_rank());
  return Tensor(DType::qfloat, std::move(shape), std::move(bytes), quant_scheme_text(scheme));
}
ANDIRON_OR_OUT_OF_MEMORY

std::optional<QuantScheme> Tensor::scheme() const {
  if (dtype_ != DType::qfloat) return std::nullopt;
  return detail::value_or_bad_alloc(quant_scheme_from_text(raw_name_));
}

Result<Tensor> Tensor::zeros(DType dtype, Shape shape) ANDIRON_NO_THROW {
  ANDIRON_TRY(shape.check_rank());
  ANDIRON_ASSIGN(const std::uint64_t size, shape.byte_count(dtype));
  ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(size));
  if (size != 0) std::memset(bytes.writable().data(), 0, bytes.size());
  return Tensor(dtype, std::move(shape), std::move(bytes), {});
}
ANDIRON_OR_OUT_OF_MEMORY

std::string Tensor::dtype_text() const {
  std::string text(dtype_name(dtype_));
  return dtype_ == DType::raw ? text + ":" + raw_name_ : text;
}

Status Tensor::check_access(DType wanted, std::size_t alignment) const {
  if (wanted != dtype_) {
    return Error{.code = ErrorCode::dtype_mismatch,
                 .message = "the tensor has a different dtype",
                 .found = dtype_text(),
                 .expected = std::string(dtype_name(wanted)),
                 .hint = "ask for that type, cast the snapshot before reading it, or load with " +
                         Message(Advice::cast_to_module)};
  }
  if (reinterpret_cast<std::uintptr_t>(bytes_.data()) % alignment != 0) {
    return Error{.code = ErrorCode::misaligned,
                 .message = "the borrowed data does not start on an element boundary",
                 .expected = "an address divisible by " + std::to_string(alignment),
                 .hint = "read the tensor instead of borrowing it"};
  }
  // A bool of any other value is undefined behavior in C++, and files hold what they like.
  const auto is_bool = [](std::byte b) { return b <= std::byte{1}; };
  if (wanted == DType::boolean &&
      !std::all_of(bytes_.span().begin(), bytes_.span().end(), is_bool)) {
    return Error{.code = ErrorCode::dtype_mismatch,
                 .message = "the tensor has booleans that are neither 0 nor 1",
                 .hint = "cast the snapshot to u8, or to bool by way of u8"};
  }
  return {};
}

Result<std::span<std::byte>> Tensor::mutable_bytes() ANDIRON_NO_THROW {
  if (bytes_.empty()) return std::span<std::byte>();
  if (bytes_.writable().empty()) {
    ANDIRON_ASSIGN(bytes_, Bytes::copy(bytes_.span()));
  }
  return bytes_.writable();
}
ANDIRON_OR_OUT_OF_MEMORY

Result<std::uint64_t> Tensor::element_index(std::span<const std::uint64_t> coordinates) const {
  std::uint64_t index = 0;
  bool is_inside = coordinates.size() == shape_.rank();
  for (std::size_t d = 0; is_inside && d < coordinates.size(); ++d) {
    is_inside = coordinates[d] < shape_[d];
    index = index * shape_[d] + coordinates[d];
  }
  if (is_inside) return index;
  return Error{.code = ErrorCode::invalid_argument,
               .message = "no such element",
               .found = Shape(coordinates).to_string(),
               .expected = "coordinates within " + shape_.to_string()};
}

}  // namespace andiron::inline v1
