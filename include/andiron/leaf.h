// SPDX-License-Identifier: MIT OR Apache-2.0
// Leaves: the types that hold a tensor of a module.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "andiron/bytes.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/param.h"
#include "andiron/shape.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {

/// Specialise it to keep tensors in a type of your own. These three are required; make() builds the
/// new value beside the old one, which is then replaced by move assignment once everything is read.
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
/// Two more are optional, for values whose memory is not ours to choose (pinned, shared, mapped
/// from a device; the processor must be able to write it):
///
///     // Memory for a new value. A load reads straight into it, whatever zero_copy says, and gives
///     // make() a tensor that lies there; a load that fails gives it back. See Bytes::adopt.
///     static Result<Bytes> allocate(const T& current, DType dtype, const Shape& shape);
///     // The value's own memory, for loads in_place, when nobody else can see it and it has this
///     // dtype and shape; otherwise nothing. make() then gets what get() gives.
///     static std::span<std::byte> buffer(T& current, DType dtype, const Shape& shape);
template <class T>
struct Leaf;

/// What is known of a leaf without looking at its numbers.
struct LeafInfo {
  DType dtype = DType::f32;
  Shape shape = {};
  bool accepts_any_shape = false;  ///< not set yet
  bool accepts_any_dtype = false;  ///< can hold every dtype; otherwise `dtype` alone
  std::string raw_name = {};       ///< of DType::raw
};

template <>
struct Leaf<Tensor> {
  static LeafInfo info(const Tensor& tensor);
  static Result<Tensor> get(const Tensor& tensor) { return tensor; }
  static Result<Tensor> make(const Tensor&, const Tensor& tensor) { return tensor; }
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
