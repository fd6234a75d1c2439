// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions that move elements and compute nothing. Most of them are those of snapshots.
// Tested by tests/nn/functions_test.cpp
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "andiron/nn/functions.h"
#include "andiron/snapshot.h"
#include "src/core/kernels/convert.h"
#include "src/nn/forward/operand.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

Result<Tensor> with_shape(const Tensor& tensor, std::vector<std::uint64_t> dims) {
  return Tensor::from_bytes(tensor.dtype(), Shape(std::span<const std::uint64_t>(dims)),
                            tensor.bytes());
}

std::string text_of(std::span<const std::int64_t> numbers) {
  std::string text = "[";
  for (const std::int64_t number : numbers) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(number);
  }
  return text + "]";
}

Result<Tensor> join(const std::vector<const Tensor*>& tensors, std::int64_t dim) {
  if (tensors.empty()) {
    return argument_error("concat", "there is nothing to join", "no tensors", "at least one");
  }
  const Tensor& first = *tensors.front();
  ANDIRON_ASSIGN(const std::size_t at, checked_dim("concat", dim, first.shape()));
  std::vector<TensorSnapshot> parts;
  for (const Tensor* tensor : tensors) {
    Shape expected = first.shape();
    if (tensor->shape().rank() == expected.rank()) expected[at] = tensor->shape()[at];
    if (tensor->shape() != expected) {
      return shape_error("concat", "the shapes do not fit each other", tensor->shape(),
                         first.shape().to_string() + " but for dimension " + std::to_string(at));
    }
    parts.emplace_back("", *tensor);
  }
  ANDIRON_ASSIGN(const TensorSnapshot joined, TensorSnapshot::concat(parts, at));
  return joined.read();
}

// The place that reflected padding takes its element from.
std::uint64_t reflected(std::uint64_t index, std::uint64_t before, std::uint64_t size) {
  if (index < before) return before - index;
  const std::uint64_t inside = index - before;
  return inside < size ? inside : 2 * (size - 1) - inside;
}

}  // namespace

Result<Tensor> reshape(const Result<Tensor>& input, std::span<const std::int64_t> shape)
    ANDIRON_NO_THROW {
  if (!input) return input.error();
  const auto fails = [&] {
    return shape_error("reshape", "the elements do not fit the new shape", input->shape(),
                       "as many elements as " + text_of(shape));
  };
  ANDIRON_ASSIGN(const std::uint64_t elements, input->shape().element_count());
  std::vector<std::uint64_t> dims;
  std::uint64_t known = 1;
  std::optional<std::size_t> open;
  for (const std::int64_t size : shape) {
    if (size < -1 || (size == -1 && open)) {
      return argument_error("reshape", "invalid shape", text_of(shape),
                            "sizes of at least 0, at most one of them -1");
    }
    if (size == -1) open = dims.size();
    dims.push_back(size == -1 ? 1 : static_cast<std::uint64_t>(size));
    if (__builtin_mul_overflow(known, dims.back(), &known)) return fails();
  }
  if (open) {
    if (known == 0 || elements % known != 0) return fails();
    dims[*open] = elements / known;
  } else if (known != elements) {
    return fails();
  }
  return with_shape(*input, std::move(dims));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> reshape(const Result<Tensor>& input, std::initializer_list<std::int64_t> shape)
    ANDIRON_NO_THROW {
  return reshape(input, std::span(shape.begin(), shape.size()));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> flatten(const Result<Tensor>& input, std::int64_t start) ANDIRON_NO_THROW {
  if (!input) return input.error();
  ANDIRON_ASSIGN(const std::size_t at, checked_dim("flatten", start, input->shape()));
  std::vector<std::uint64_t> dims(input->shape().begin(), input->shape().end());
  while (dims.size() > at + 1) {
    const std::uint64_t last = dims.back();
    dims.pop_back();
    if (__builtin_mul_overflow(dims.back(), last, &dims.back())) {
      return shape_error("flatten", "the dimensions are too large to be joined", input->shape(),
                         "fewer than 2^64 elements");
    }
  }
  return with_shape(*input, std::move(dims));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> permute(const Result<Tensor>& input, std::span<const std::int64_t> dims)
    ANDIRON_NO_THROW {
  if (!input) return input.error();
  std::vector<std::size_t> order;
  std::vector<bool> seen(input->shape().rank());
  for (const std::int64_t dim : dims) {
    ANDIRON_ASSIGN(const std::size_t at, checked_dim("permute", dim, input->shape()));
    order.push_back(at);
    seen[at] = true;
  }
  if (order.size() != seen.size() || std::find(seen.begin(), seen.end(), false) != seen.end()) {
    return argument_error("permute", "these are not the dimensions of the tensor", text_of(dims),
                          "each dimension of " + input->shape().to_string() + " once");
  }
  ANDIRON_ASSIGN(const TensorSnapshot permuted, TensorSnapshot("", *input).permute(order));
  return permuted.borrow();
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> permute(const Result<Tensor>& input, std::initializer_list<std::int64_t> dims)
    ANDIRON_NO_THROW {
  return permute(input, std::span(dims.begin(), dims.size()));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> swap_dims(const Result<Tensor>& input, std::int64_t a, std::int64_t b)
    ANDIRON_NO_THROW {
  if (!input) return input.error();
  ANDIRON_ASSIGN(const std::size_t first, checked_dim("swap_dims", a, input->shape()));
  ANDIRON_ASSIGN(const std::size_t second, checked_dim("swap_dims", b, input->shape()));
  ANDIRON_ASSIGN(const TensorSnapshot swapped, TensorSnapshot("", *input).transpose(first, second));
  return swapped.borrow();
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> expand(const Result<Tensor>& input, const Shape& shape) ANDIRON_NO_THROW {
  if (!input) return input.error();
  ANDIRON_ASSIGN(const TensorSnapshot expanded, TensorSnapshot("", *input).expand(shape));
  return expanded.borrow();
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> slice(const Result<Tensor>& input, std::int64_t dim, std::int64_t start,
                     std::int64_t end) ANDIRON_NO_THROW {
  if (!input) return input.error();
  ANDIRON_ASSIGN(const std::size_t at, checked_dim("slice", dim, input->shape()));
  // Without elements, a dimension may be larger than any bound.
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  const auto size = static_cast<std::int64_t>(std::min(input->shape()[at], most));
  const std::int64_t from = start < 0 ? start + size : start;
  const std::int64_t to = end < 0 ? end + size : end;
  if (from < 0 || to > size || from > to) {
    return argument_error("slice", "there are no such elements",
                          std::to_string(start) + " to " + std::to_string(end) + " of dimension " +
                              std::to_string(at) + " of " + input->shape().to_string(),
                          "bounds within 0 and " + std::to_string(size) + ", in order");
  }
  ANDIRON_ASSIGN(const TensorSnapshot sliced, TensorSnapshot("", *input).slice(at, from, to));
  return sliced.borrow();
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> slice(const Result<Tensor>& input, std::int64_t dim, std::int64_t start)
    ANDIRON_NO_THROW {
  if (!input) return input.error();
  ANDIRON_ASSIGN(const std::size_t at, checked_dim("slice", dim, input->shape()));
  return slice(input, dim, start, static_cast<std::int64_t>(input->shape()[at]));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> concat(std::initializer_list<TensorRef> tensors, std::int64_t dim) ANDIRON_NO_THROW {
  std::vector<const Tensor*> list;
  for (const TensorRef& tensor : tensors) {
    if (tensor.error() != nullptr) return *tensor.error();
    list.push_back(tensor.tensor());
  }
  return join(list, dim);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> concat(std::span<const Tensor> tensors, std::int64_t dim) ANDIRON_NO_THROW {
  std::vector<const Tensor*> list;
  for (const Tensor& tensor : tensors) list.push_back(&tensor);
  return join(list, dim);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> pad(const Result<Tensor>& input, std::int64_t dim, std::uint64_t before,
                   std::uint64_t after, PadMode mode, double value) ANDIRON_NO_THROW {
  if (!input) return input.error();
  ANDIRON_ASSIGN(const std::size_t at, checked_dim("pad", dim, input->shape()));
  const std::uint64_t size = input->shape()[at];
  if (mode == PadMode::reflect && (before >= size || after >= size)) {
    return shape_error("pad", "the dimension is too small to be reflected", input->shape(),
                       "more than " + std::to_string(std::max(before, after)) +
                           " elements in dimension " + std::to_string(at));
  }
  const unsigned width = bit_width(input->dtype()) / 8;
  if (is_opaque(input->dtype()) || width == 0 || !can_convert(DType::f64, input->dtype())) {
    return Error{.code = ErrorCode::unsupported_dtype,
                 .message = "pad: cannot pad this dtype",
                 .found = input->dtype_text(),
                 .expected = "numbers that fill whole bytes"};
  }
  std::byte filler[8];
  convert(DType::f64, reinterpret_cast<const std::byte*>(&value), input->dtype(), filler, 1);

  Shape shape = input->shape();
  if (__builtin_add_overflow(size, before, &shape[at]) ||
      __builtin_add_overflow(shape[at], after, &shape[at])) {
    return argument_error("pad", "the padding is too large", std::to_string(before), "less");
  }
  ANDIRON_ASSIGN(const std::uint64_t total, shape.byte_count(input->dtype()));
  ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(total));
  std::size_t line = width;  // the bytes of one place along the dimension
  for (std::size_t d = at + 1; d < shape.rank(); ++d) line *= static_cast<std::size_t>(shape[d]);
  const std::uint64_t padded = shape[at];
  const std::byte* from = input->bytes().data();
  std::byte* out = bytes.writable().data();
  for (std::uint64_t done = 0; done < total; done += padded * line, from += size * line) {
    for (std::uint64_t i = 0; i < padded; ++i, out += line) {
      if (mode == PadMode::reflect) {
        std::memcpy(out, from + reflected(i, before, size) * line, line);
      } else if (i >= before && i - before < size) {
        std::memcpy(out, from + (i - before) * line, line);
      } else {
        for (std::uint64_t j = 0; j < line; j += width) std::memcpy(out + j, filler, width);
      }
    }
  }
  return Tensor::from_bytes(input->dtype(), std::move(shape), std::move(bytes));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> cast(const Result<Tensor>& input, DType dtype) ANDIRON_NO_THROW {
  if (!input) return input.error();
  if (dtype != DType::f16 && dtype != DType::bf16 && dtype != DType::f32 && dtype != DType::f64) {
    return argument_error("cast", "not a dtype to compute with", std::string(dtype_name(dtype)),
                          "f16, bf16, f32 or f64");
  }
  if (input->dtype() == DType::qfloat) {
    return cast(dequantize(*input), dtype);
  }
  ANDIRON_ASSIGN(const TensorSnapshot converted, TensorSnapshot("", *input).cast(dtype));
  return converted.borrow();
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
