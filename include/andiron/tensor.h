// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensor: a tensor in memory.
//
//   Tensor weight = Tensor::from_values<float>({2, 2}, {1, 2, 3, 4}).value();
//   std::span<const float> elements = weight.as<float>().value();
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "andiron/bytes.h"
#include "andiron/detail/no_throw.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/quant_scheme.h"
#include "andiron/shape.h"

namespace andiron::inline v1 {

static_assert(std::endian::native == std::endian::little,
              "andiron: only little-endian hosts are supported");

/// Row-major, little-endian data of one dtype and shape. Tensor is a value: copies share their
/// bytes, and the first write to shared, mapped or borrowed bytes makes a private copy. Const calls
/// are safe from several threads at once.
class Tensor {
 public:
  /// An empty f32 tensor of shape [0].
  Tensor() : shape_({0}) {}

  /// Uses `bytes` without a copy. Fails with SizeMismatch if their number does not fit dtype and
  /// shape.
  static Result<Tensor> from_bytes(DType dtype, Shape shape, Bytes bytes);
  /// Bytes of an unknown type, with the file's name for that type.
  static Result<Tensor> raw(std::string file_dtype, Shape shape, Bytes bytes);
  /// A quantized payload, not decoded; dequantize() returns its elements.
  static Result<Tensor> qfloat(const QuantScheme& scheme, Shape shape, Bytes bytes);
  /// A tensor of zeros.
  static Result<Tensor> zeros(DType dtype, Shape shape);
  /// Copies `values`. Fails with SizeMismatch if their number does not fit the shape.
  template <Element T>
  static Result<Tensor> from_values(Shape shape, std::span<const T> values) ANDIRON_NO_THROW {
    Result<Bytes> bytes = Bytes::copy(std::as_bytes(values));
    if (!bytes) return std::move(bytes).error();
    return from_bytes(ElementOf<T>::dtype, std::move(shape), *std::move(bytes));
  }
  ANDIRON_OR_OUT_OF_MEMORY
  template <Element T>
  static Result<Tensor> from_values(Shape shape, std::initializer_list<T> values) {
    return from_values(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }

  DType dtype() const noexcept { return dtype_; }
  /// "f32", or "raw:NAME" for an unknown type.
  std::string dtype_text() const;
  /// The file's name for a raw dtype, or the scheme's text for a quantized one (quant_scheme_text).
  /// Otherwise empty.
  const std::string& raw_name() const& noexcept { return raw_name_; }
  /// The scheme of a quantized tensor; nothing for others.
  std::optional<QuantScheme> scheme() const;
  const Shape& shape() const& noexcept { return shape_; }
  const Bytes& bytes() const& noexcept { return bytes_; }
  // Of a temporary, by value.
  std::string raw_name() && { return std::move(raw_name_); }
  Shape shape() && { return std::move(shape_); }
  Bytes bytes() && { return std::move(bytes_); }
  std::size_t byte_size() const noexcept { return bytes_.size(); }

  /// Returns the elements without a copy, valid until this tensor is changed or destroyed: keep it
  /// in a variable. Fails with DTypeMismatch if T is another type, and Misaligned if the bytes do
  /// not start on a T boundary, which can happen if they are borrowed from a file. For bool, checks
  /// every byte.
  template <Element T>
  Result<std::span<const T>> as() const& ANDIRON_NO_THROW {
    if (Status status = check_access(ElementOf<T>::dtype, alignof(T)); !status) {
      return std::move(status).error();
    }
    return std::span<const T>(reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T));
  }
  ANDIRON_OR_OUT_OF_MEMORY

  template <Element T>
  Result<std::span<const T>> as() const&& = delete;  // the span would outlive the tensor

  /// Returns one element by its coordinates, outermost first. Fails with InvalidArgument if there
  /// is no such element, and with the errors of as().
  template <Element T>
  Result<T> at(std::span<const std::uint64_t> coordinates) const ANDIRON_NO_THROW {
    Result<std::span<const T>> elements = as<T>();
    if (!elements) return std::move(elements).error();
    Result<std::uint64_t> index = element_index(coordinates);
    if (!index) return std::move(index).error();
    return (*elements)[static_cast<std::size_t>(*index)];
  }
  ANDIRON_OR_OUT_OF_MEMORY
  template <Element T>
  Result<T> at(std::initializer_list<std::uint64_t> coordinates) const {
    return at<T>(std::span(coordinates.begin(), coordinates.size()));
  }

  /// Returns a copy of the elements, for tensors that are temporaries.
  template <Element T>
  Result<std::vector<T>> to_vector() const ANDIRON_NO_THROW {
    Result<std::span<const T>> elements = as<T>();
    if (!elements) return std::move(elements).error();
    return std::vector<T>(elements->begin(), elements->end());
  }
  ANDIRON_OR_OUT_OF_MEMORY

  /// Returns the elements for writing. Copies them first if this tensor is not their only owner.
  template <Element T>
  Result<std::span<T>> as_mutable() & ANDIRON_NO_THROW {
    Result<std::span<std::byte>> data = mutable_bytes();
    if (!data) return std::move(data).error();
    if (Status status = check_access(ElementOf<T>::dtype, alignof(T)); !status) {
      return std::move(status).error();
    }
    return std::span<T>(reinterpret_cast<T*>(data->data()), data->size() / sizeof(T));
  }
  ANDIRON_OR_OUT_OF_MEMORY

  /// Returns the bytes for writing. Copies them first if this tensor is not their only owner.
  Result<std::span<std::byte>> mutable_bytes();
  /// Returns the bytes for writing if this tensor is their only owner. Otherwise returns an empty
  /// span.
  std::span<std::byte> writable() noexcept { return bytes_.writable(); }

 private:
  Tensor(DType dtype, Shape shape, Bytes bytes, std::string raw_name)
      : dtype_(dtype),
        shape_(std::move(shape)),
        bytes_(std::move(bytes)),
        raw_name_(std::move(raw_name)) {}
  Status check_access(DType wanted, std::size_t alignment) const;
  Result<std::uint64_t> element_index(std::span<const std::uint64_t> coordinates) const;

  DType dtype_ = DType::f32;
  Shape shape_;
  Bytes bytes_;
  std::string raw_name_;
};

/// Burn's name for it.
using TensorData = Tensor;

/// A scheme on one line: "QFloat(Q4S,PackedU32(0),Symmetric,tensor=F32,block=[2,16]:F16)". Parts
/// that the scheme does not have are left out. This text is the file_dtype of a quantized tensor.
std::string quant_scheme_text(const QuantScheme& scheme);
/// Parses that text. Fails with InvalidArgument for other text.
Result<QuantScheme> quant_scheme_from_text(std::string_view text);

/// Returns the elements of a quantized tensor as f32. Fails with DTypeMismatch if the tensor is not
/// quantized, and SizeMismatch if the payload does not fit scheme and shape. Two kinds of scheme
/// fail with Unsupported: QuantMode::lookup, and float values in QuantStore::native, where Burn's
/// backends disagree about the bytes.
Result<Tensor> dequantize(const Tensor& tensor);

}  // namespace andiron::inline v1
