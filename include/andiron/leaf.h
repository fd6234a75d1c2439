// SPDX-License-Identifier: MIT OR Apache-2.0
// Leaves: the types that hold a tensor of a module. Specialize Leaf to keep tensors in your own
// type. Exceptions that its functions throw pass through: a load then changed nothing.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "andiron/bytes.h"
#include "andiron/detail/no_throw.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/param.h"
#include "andiron/shape.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {

/// Specialize this to keep tensors in your own type. Three functions are required. make() builds
/// the new value next to the old one; when everything is read, the old value is replaced by move
/// assignment.
///
///   template <>
///   struct andiron::Leaf<std::vector<float>> {
///     static LeafInfo info(const std::vector<float>& v) { return {DType::f32, {v.size()}}; }
///     static Result<Tensor> get(const std::vector<float>& v) {
///       return Tensor::from_values<float>({v.size()}, v);
///     }
///     static Result<std::vector<float>> make(const std::vector<float>&, const Tensor& tensor) {
///       return tensor.to_vector<float>();
///     }
///   };
///
/// Two more are optional, for values in special memory (pinned, shared, mapped from a device). The
/// CPU must be able to write to it.
///
///     // Allocates memory for a new value (Bytes::adopt). A load reads straight into it, even with
///     // zero_copy, and passes make() a tensor over it. A load that fails releases it.
///     static Result<Bytes> allocate(const T& current, DType dtype, const Shape& shape);
///     // Returns the value's own memory, for loads in_place, if nobody else can see it and it has
///     // this dtype and shape; otherwise an empty span. make() then gets the result of get().
///     static std::span<std::byte> buffer(T& current, DType dtype, const Shape& shape);
template <class T>
struct Leaf;

/// The properties of a leaf, without its elements.
struct LeafInfo {
  DType dtype = DType::f32;
  Shape shape = {};
  bool accepts_any_shape = false;  ///< not set yet
  bool accepts_any_dtype = false;  ///< can hold every dtype; otherwise only `dtype`
  std::string raw_name = {};       ///< for DType::raw
};

template <>
struct Leaf<Tensor> {
  static LeafInfo info(const Tensor& tensor);
  static Result<Tensor> get(const Tensor& tensor) ANDIRON_NO_THROW { return tensor; }
  ANDIRON_OR_OUT_OF_MEMORY
  static Result<Tensor> make(const Tensor&, const Tensor& tensor) ANDIRON_NO_THROW {
    return tensor;
  }
  ANDIRON_OR_OUT_OF_MEMORY
  static std::span<std::byte> buffer(Tensor& tensor, DType dtype, const Shape& shape);
};

template <>
struct Leaf<Param> {
  static LeafInfo info(const Param& param);
  static Result<Tensor> get(const Param& param) { return param.val(); }
  static Result<Param> make(const Param& current, const Tensor& tensor);
  static std::span<std::byte> buffer(Param& param, DType dtype, const Shape& shape);
};

}  // namespace andiron::inline v1
