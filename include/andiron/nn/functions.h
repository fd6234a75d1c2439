// SPDX-License-Identifier: MIT OR Apache-2.0
// The few functions on tensors that forward passes need beside layers. This is not a tensor
// library: nothing is differentiated, and every call returns a new tensor.
//
//   Result<Tensor> sum = nn::add(block.forward(x), x);
//
// If an argument is an error, it is returned. Dimensions may be negative and then count from the
// end. All functions fail with InvalidArgument if there is no such dimension, and with
// ShapeMismatch, which names both shapes, if shapes do not fit. Those that compute take f32 and
// f64, and widen f16 and bf16 to f32; the others take every dtype whose elements fill whole bytes.
// Link andiron::nn.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/shape.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

// ---- Arithmetic ----
// Shapes are broadcast: aligned at the end, dimensions of size 1 are repeated.

Result<Tensor> add(const Result<Tensor>& a, const Result<Tensor>& b);
Result<Tensor> subtract(const Result<Tensor>& a, const Result<Tensor>& b);
Result<Tensor> multiply(const Result<Tensor>& a, const Result<Tensor>& b);
Result<Tensor> divide(const Result<Tensor>& a, const Result<Tensor>& b);
Result<Tensor> add(const Result<Tensor>& a, double number);
Result<Tensor> multiply(const Result<Tensor>& a, double number);
/// The larger and the smaller of both; NaN if one of them is.
Result<Tensor> maximum(const Result<Tensor>& a, const Result<Tensor>& b);
Result<Tensor> minimum(const Result<Tensor>& a, const Result<Tensor>& b);
/// Of each element.
Result<Tensor> sqrt(const Result<Tensor>& input);
Result<Tensor> exp(const Result<Tensor>& input);
Result<Tensor> log(const Result<Tensor>& input);
/// Each element, or the bound that it is beyond: clamp(x, 0, 6) is PyTorch's ReLU6. Fails with
/// InvalidArgument if `least` is above `most`.
Result<Tensor> clamp(const Result<Tensor>& input, double least, double most);
/// The product of two matrices, or of two stacks of matrices whose leading dimensions are
/// broadcast.
Result<Tensor> matmul(const Result<Tensor>& a, const Result<Tensor>& b);

/// Which elements are this number, as bool; also of integers. Makes masks: equal(tokens, 0).
Result<Tensor> equal(const Result<Tensor>& input, double number);

// ---- Over a dimension ----
// It becomes 1 if `keep_dim`, and is dropped otherwise. They fail with InvalidArgument if it is 0.

Result<Tensor> sum(const Result<Tensor>& input, std::int64_t dim, bool keep_dim = false);
Result<Tensor> mean(const Result<Tensor>& input, std::int64_t dim, bool keep_dim = false);
/// The largest element; NaN if one is.
Result<Tensor> max(const Result<Tensor>& input, std::int64_t dim, bool keep_dim = false);
/// The index of the largest element, as i64; of equal ones the first. NaN is larger than all
/// numbers.
Result<Tensor> argmax(const Result<Tensor>& input, std::int64_t dim = -1, bool keep_dim = false);

// ---- Rearranging ----

/// The same elements in another shape, without a copy. One dimension may be -1: it is computed.
Result<Tensor> reshape(const Result<Tensor>& input, std::span<const std::int64_t> shape);
Result<Tensor> reshape(const Result<Tensor>& input, std::initializer_list<std::int64_t> shape);
/// Joins the dimensions from `start` on into one, without a copy.
Result<Tensor> flatten(const Result<Tensor>& input, std::int64_t start = 1);
/// Dimension i of the result is dimension dims[i].
Result<Tensor> permute(const Result<Tensor>& input, std::span<const std::int64_t> dims);
Result<Tensor> permute(const Result<Tensor>& input, std::initializer_list<std::int64_t> dims);
/// Exchanges two dimensions.
Result<Tensor> swap_dims(const Result<Tensor>& input, std::int64_t a, std::int64_t b);
/// Repeats dimensions of size 1, and adds leading dimensions, up to `shape`.
Result<Tensor> expand(const Result<Tensor>& input, const Shape& shape);
/// The elements from `start` to before `end` along a dimension. A negative bound counts from the
/// end. Fails with InvalidArgument if the bounds are outside, or start is above end.
Result<Tensor> slice(const Result<Tensor>& input, std::int64_t dim, std::int64_t start,
                     std::int64_t end);
/// The same up to the end.
Result<Tensor> slice(const Result<Tensor>& input, std::int64_t dim, std::int64_t start);

/// A tensor, or the result that one is, passed without a copy. Valid during the call.
class TensorRef {
 public:
  TensorRef(const Tensor& tensor) noexcept : tensor_(&tensor) {}  // NOLINT(google-explicit-*)
  TensorRef(const Result<Tensor>& result) noexcept                // NOLINT(google-explicit-*)
      : tensor_(result.ok() ? &*result : nullptr),
        error_(result.ok() ? nullptr : &result.error()) {}
  /// nullptr if it is an error.
  const Tensor* tensor() const noexcept { return tensor_; }
  const Error* error() const noexcept { return error_; }

 private:
  const Tensor* tensor_;
  const Error* error_ = nullptr;
};
/// Joins tensors along a dimension: nn::concat({a, b}, 1). They must have one dtype.
Result<Tensor> concat(std::initializer_list<TensorRef> tensors, std::int64_t dim);
Result<Tensor> concat(std::span<const Tensor> tensors, std::int64_t dim);

/// What is put around a tensor.
enum class PadMode : std::uint8_t {
  constant,  ///< one value
  reflect,   ///< the elements inside, mirrored at the border, which is not repeated
};
/// Adds `before` and `after` elements along a dimension. Reflected padding must be smaller than the
/// dimension.
Result<Tensor> pad(const Result<Tensor>& input, std::int64_t dim, std::uint64_t before,
                   std::uint64_t after, PadMode mode = PadMode::constant, double value = 0);

/// The elements as another dtype: f16, bf16, f32 or f64, from any of these or from integers and
/// bool.
Result<Tensor> cast(const Result<Tensor>& input, DType dtype);

// ---- Layers in a row ----

/// Passes the input through the layers of a std::tuple, std::array or std::vector, in their order,
/// as PyTorch's Sequential does. If a tuple has the layers without parameters too, its numbers are
/// those of the file, and a load keeps them.
template <class Layers>
Result<Tensor> forward_through(const Layers& layers, const Result<Tensor>& input);

}  // namespace nn
}  // namespace andiron::inline v1

#include "andiron/detail/forward_through.h"  // IWYU pragma: export
