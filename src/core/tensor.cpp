// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/tensor_test.cpp
#include "andiron/tensor.h"

#include <cstring>

#include "src/core/try.h"

namespace andiron {
inline namespace v1 {

Result<Tensor> Tensor::from_bytes(DType dtype, Shape shape, Bytes bytes) {
  ANDIRON_ASSIGN(const std::uint64_t wanted, shape.byte_count(dtype));
  if (bytes.size() != wanted) {
    return Error{.code = ErrorCode::size_mismatch,
                 .message = "the data does not fit dtype and shape",
                 .found = std::to_string(bytes.size()) + " bytes",
                 .expected = std::to_string(wanted) + " bytes for " +
                             std::string(dtype_name(dtype)) + " " + shape.to_string()};
  }
  return Tensor(dtype, std::move(shape), std::move(bytes), {});
}

Tensor Tensor::raw(std::string file_dtype, Shape shape, Bytes bytes) {
  return Tensor(DType::raw, std::move(shape), std::move(bytes), std::move(file_dtype));
}

Tensor Tensor::qfloat(Shape shape, Bytes bytes) {
  return Tensor(DType::qfloat, std::move(shape), std::move(bytes), {});
}

Result<Tensor> Tensor::zeros(DType dtype, Shape shape) {
  ANDIRON_ASSIGN(const std::uint64_t size, shape.byte_count(dtype));
  ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(static_cast<std::size_t>(size)));
  if (size != 0) std::memset(bytes.writable().data(), 0, bytes.size());
  return Tensor(dtype, std::move(shape), std::move(bytes), {});
}

std::string Tensor::dtype_text() const {
  std::string text(dtype_name(dtype_));
  return dtype_ == DType::raw ? text + ":" + raw_name_ : text;
}

Status Tensor::check_access(DType wanted, std::size_t alignment) const {
  if (wanted != dtype_) {
    return Error{.code = ErrorCode::dtype_mismatch,
                 .message = "the tensor holds another type",
                 .found = dtype_text(),
                 .expected = std::string(dtype_name(wanted)),
                 .hint = "cast the snapshot before reading it"};
  }
  if (reinterpret_cast<std::uintptr_t>(bytes_.data()) % alignment != 0) {
    return Error{.code = ErrorCode::misaligned,
                 .message = "the borrowed data does not start on an element boundary",
                 .expected = "an address divisible by " + std::to_string(alignment),
                 .hint = "read the tensor instead of borrowing it"};
  }
  return {};
}

Result<std::span<std::byte>> Tensor::mutable_bytes() {
  if (bytes_.empty()) return std::span<std::byte>();
  if (bytes_.writable().empty()) {
    ANDIRON_ASSIGN(bytes_, Bytes::copy(bytes_.span()));
  }
  return bytes_.writable();
}

}  // namespace v1
}  // namespace andiron
