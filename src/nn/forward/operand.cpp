// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/operand_test.cpp
#include "src/nn/forward/operand.h"

#include <cstring>

#include "src/core/kernels/convert.h"
#include "src/nn/forward/parallel.h"

namespace andiron::inline v1 {
namespace nn {

template <class T>
Result<Operand<T>> Operand<T>::of(std::string_view layer, const Tensor& tensor) {
  constexpr DType wanted = ElementOf<T>::dtype;
  ANDIRON_ASSIGN(const std::uint64_t elements, tensor.shape().element_count());
  const auto count = static_cast<std::size_t>(elements);
  const DType dtype = tensor.dtype();
  if (dtype == wanted) {
    if (const auto own = tensor.as<T>()) return Operand(tensor, own->data(), count);
  } else if (dtype == DType::qfloat) {
    ANDIRON_ASSIGN(const Tensor plain, dequantize(tensor));
    return of(layer, plain);
  } else if (dtype != DType::f16 && dtype != DType::bf16 && dtype != DType::f32 &&
             dtype != DType::f64) {
    return Error{.code = ErrorCode::dtype_mismatch,
                 .message = std::string(layer) + ": cannot compute with this dtype",
                 .found = tensor.dtype_text(),
                 .expected = "f32, f64, f16, bf16 or a quantized parameter",
                 .hint = "nn::cast() makes floats of integers"};
  }
  ANDIRON_ASSIGN(NewTensor<T> copy, NewTensor<T>::of(tensor.shape()));
  if (dtype == wanted) {
    // Borrowed from a file, where it does not start on a boundary.
    if (count != 0) std::memcpy(copy.data(), tensor.bytes().data(), count * sizeof(T));
  } else {
    const std::byte* const from = tensor.bytes().data();
    const std::size_t width = bit_width(dtype) / 8;
    parallel_for(count, element_grain, [&](std::size_t begin, std::size_t end) {
      convert(dtype, from + begin * width, wanted,
              reinterpret_cast<std::byte*>(copy.data() + begin), end - begin);
    });
  }
  const T* const data = copy.data();
  return Operand(std::move(copy).take(), data, count);
}

template <class T>
Result<Operand<T>> Operand<T>::of(std::string_view layer, std::string_view name,
                                  const Param& param) {
  Result<Tensor> tensor = param.val();
  if (!tensor) return parameter_error(layer, name, std::move(tensor).error());
  return of(layer, *tensor);
}

template <class T>
Result<NewTensor<T>> NewTensor<T>::of(Shape shape) {
  constexpr DType dtype = ElementOf<T>::dtype;
  ANDIRON_ASSIGN(const std::uint64_t size, shape.byte_count(dtype));
  ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(size));
  T* const data = reinterpret_cast<T*>(bytes.writable().data());
  ANDIRON_ASSIGN(Tensor tensor, Tensor::from_bytes(dtype, std::move(shape), std::move(bytes)));
  return NewTensor(std::move(tensor), data, static_cast<std::size_t>(size / sizeof(T)));
}

template class Operand<float>;
template class Operand<double>;
template class NewTensor<float>;
template class NewTensor<double>;
template class NewTensor<std::int64_t>;

Error shape_error(std::string_view layer, std::string message, const Shape& found,
                  std::string expected) {
  return Error{.code = ErrorCode::shape_mismatch,
               .message = std::string(layer) + ": " + std::move(message),
               .found = found.to_string(),
               .expected = std::move(expected)};
}

Error argument_error(std::string_view layer, std::string message, std::string found,
                     std::string expected) {
  return Error{.code = ErrorCode::invalid_argument,
               .message = std::string(layer) + ": " + std::move(message),
               .found = std::move(found),
               .expected = std::move(expected)};
}

Error parameter_error(std::string_view layer, std::string_view name, Error error) {
  error.message =
      std::string(layer) + ": its " + std::string(name) + ": " + std::move(error.message);
  return error;
}

Status check_parameter(std::string_view layer, std::string_view name, const Shape& found,
                       const Shape& wanted) {
  if (found == wanted) return {};
  return shape_error(layer, "its " + std::string(name) + " does not fit the layer", found,
                     wanted.to_string());
}

Result<std::size_t> checked_dim(std::string_view function, std::int64_t dim, const Shape& shape) {
  const auto rank = static_cast<std::int64_t>(shape.rank());
  if (dim >= -rank && dim < rank) return static_cast<std::size_t>(dim < 0 ? dim + rank : dim);
  return argument_error(function, "there is no such dimension",
                        std::to_string(dim) + " of " + shape.to_string(),
                        rank == 0 ? "a tensor with dimensions"
                                  : std::to_string(-rank) + " to " + std::to_string(rank - 1));
}

}  // namespace nn
}  // namespace andiron::inline v1
