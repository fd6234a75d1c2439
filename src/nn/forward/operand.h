// SPDX-License-Identifier: MIT OR Apache-2.0
// What layers compute with: the elements of tensors as float or double, and new tensors for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "andiron/error.h"
#include "andiron/param.h"
#include "andiron/tensor.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace nn {

// The elements of a tensor as T: its own where they are that already, otherwise a copy.
template <class T>
class Operand {
 public:
  // Quantized tensors are dequantized. Fails with DTypeMismatch, in the name of `layer`, for what
  // is not a float.
  static Result<Operand> of(std::string_view layer, const Tensor& tensor);
  // The parameter `name` of the layer.
  static Result<Operand> of(std::string_view layer, std::string_view name, const Param& param);

  const T* data() const noexcept { return data_; }
  const Shape& shape() const noexcept { return tensor_.shape(); }
  std::size_t rank() const noexcept { return shape().rank(); }
  std::size_t dim(std::size_t index) const { return static_cast<std::size_t>(shape()[index]); }
  std::size_t size() const noexcept { return size_; }
  const Tensor& tensor() const noexcept { return tensor_; }

 private:
  Operand(Tensor tensor, const T* data, std::size_t size)
      : tensor_(std::move(tensor)), data_(data), size_(size) {}

  Tensor tensor_;
  const T* data_;
  std::size_t size_;
};

// A parameter that a layer may lack.
template <class T>
Result<std::optional<Operand<T>>> optional_operand(std::string_view layer, std::string_view name,
                                                   const std::optional<Param>& param) {
  std::optional<Operand<T>> found;
  if (param) {
    ANDIRON_ASSIGN(found, Operand<T>::of(layer, name, *param));
  }
  return found;
}

// A tensor whose elements are yet to be written.
template <class T>
class NewTensor {
 public:
  static Result<NewTensor> of(Shape shape);

  T* data() noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  Tensor take() && { return std::move(tensor_); }

 private:
  NewTensor(Tensor tensor, T* data, std::size_t size)
      : tensor_(std::move(tensor)), data_(data), size_(size) {}

  Tensor tensor_;
  T* data_;
  std::size_t size_;
};

// Calls compute(Operand<float or double>) with the elements of `input`: doubles stay doubles,
// everything else becomes float. Passes an error on.
template <class Compute>
auto compute_with(std::string_view layer, const Result<Tensor>& input, const Compute& compute)
    -> decltype(compute(std::declval<const Operand<float>&>())) {
  if (!input) return input.error();
  if (input->dtype() == DType::f64) {
    ANDIRON_ASSIGN(const Operand<double> operand, Operand<double>::of(layer, *input));
    return compute(operand);
  }
  ANDIRON_ASSIGN(const Operand<float> operand, Operand<float>::of(layer, *input));
  return compute(operand);
}

// An error of the layer that found it.
Error shape_error(std::string_view layer, std::string message, const Shape& found,
                  std::string expected);
Error argument_error(std::string_view layer, std::string message, std::string found,
                     std::string expected);

// An error of a parameter, in the name of its layer.
Error parameter_error(std::string_view layer, std::string_view name, Error error);

// The parameter `name` of a layer must have this shape.
Status check_parameter(std::string_view layer, std::string_view name, const Shape& found,
                       const Shape& wanted);

// The dimension that `dim` means, which counts from the end if it is negative.
Result<std::size_t> checked_dim(std::string_view function, std::int64_t dim, const Shape& shape);

}  // namespace nn
}  // namespace andiron::inline v1
