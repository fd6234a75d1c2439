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
  // Fails with DTypeMismatch for what is not a float.
  static Result<Operand> of(const Tensor& tensor);
  // Quantized parameters are dequantized.
  static Result<Operand> of(const Param& param);

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
Result<std::optional<Operand<T>>> optional_operand(const std::optional<Param>& param) {
  std::optional<Operand<T>> found;
  if (param) {
    ANDIRON_ASSIGN(found, Operand<T>::of(*param));
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
Result<Tensor> compute_with(const Result<Tensor>& input, const Compute& compute) {
  if (!input) return input.error();
  if (input->dtype() == DType::f64) {
    ANDIRON_ASSIGN(const Operand<double> operand, Operand<double>::of(*input));
    return compute(operand);
  }
  ANDIRON_ASSIGN(const Operand<float> operand, Operand<float>::of(*input));
  return compute(operand);
}

// An error of the layer that found it.
Error shape_error(std::string_view layer, std::string message, const Shape& found,
                  std::string expected);
Error argument_error(std::string_view layer, std::string message, std::string found,
                     std::string expected);

// The parameter `name` of a layer must have this shape.
Status check_parameter(std::string_view layer, std::string_view name, const Shape& found,
                       const Shape& wanted);

// The dimension that `dim` means, which counts from the end if it is negative.
Result<std::size_t> checked_dim(std::string_view function, std::int64_t dim, const Shape& shape);

}  // namespace nn
}  // namespace andiron::inline v1
