// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions that compute with elements.
// Tested by tests/nn/functions_test.cpp
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "andiron/nn/functions.h"
#include "andiron/snapshot.h"
#include "src/nn/forward/operand.h"
#include "src/nn/forward/parallel.h"
#include "src/nn/forward/product.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

// The shape that both become when dimensions of size 1 are repeated.
Result<Shape> broadcast(std::string_view function, const Shape& a, const Shape& b) {
  std::vector<std::uint64_t> dims(std::max(a.rank(), b.rank()));
  for (std::size_t i = 1; i <= dims.size(); ++i) {
    const std::uint64_t x = i <= a.rank() ? a[a.rank() - i] : 1;
    const std::uint64_t y = i <= b.rank() ? b[b.rank() - i] : 1;
    if (x != y && x != 1 && y != 1) {
      return shape_error(function, "the shapes do not fit each other", a,
                         "one that can be repeated to fit " + b.to_string());
    }
    dims[dims.size() - i] = x == 1 ? y : x;
  }
  return Shape(std::span<const std::uint64_t>(dims));
}

// The distance between elements along each dimension of `out`: 0 where a tensor is repeated.
std::vector<std::size_t> repeated_strides(const Shape& shape, const Shape& out) {
  std::vector<std::size_t> strides(out.rank(), 0);
  std::size_t stride = 1;
  for (std::size_t i = 1; i <= shape.rank(); ++i) {
    const auto size = static_cast<std::size_t>(shape[shape.rank() - i]);
    if (size != 1) strides[out.rank() - i] = stride;
    stride *= size;
  }
  return strides;
}

// The offset of line number `line`, which runs along the last dimension.
std::size_t line_offset(std::size_t line, const Shape& shape,
                        const std::vector<std::size_t>& strides) {
  std::size_t offset = 0;
  for (std::size_t d = shape.rank() - 1; d-- > 0;) {
    const auto size = static_cast<std::size_t>(shape[d]);
    offset += line % size * strides[d];
    line /= size;
  }
  return offset;
}

// Two elements at a time; a stride of 0 repeats one.
template <class T, class Function>
void combine_line(const T* a, std::size_t a_stride, const T* b, std::size_t b_stride, T* out,
                  std::size_t count, const Function& function) {
  if (a_stride != 0 && b_stride != 0) {
    for (std::size_t i = 0; i < count; ++i) out[i] = function(a[i], b[i]);
  } else if (a_stride != 0) {
    for (std::size_t i = 0; i < count; ++i) out[i] = function(a[i], *b);
  } else {
    for (std::size_t i = 0; i < count; ++i) out[i] = function(*a, b[i * b_stride]);
  }
}

template <class T, class Function>
Result<Tensor> combine_as(std::string_view name, const Tensor& first, const Tensor& second,
                          const Function& function) {
  ANDIRON_ASSIGN(const Operand<T> a, Operand<T>::of(name, first));
  ANDIRON_ASSIGN(const Operand<T> b, Operand<T>::of(name, second));
  ANDIRON_ASSIGN(const Shape shape, broadcast(name, a.shape(), b.shape()));
  ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(shape));
  if (out.size() == 0) return std::move(out).take();
  if (a.shape() == b.shape()) {
    parallel_for(out.size(), element_grain, [&](std::size_t begin, std::size_t end) {
      combine_line(a.data() + begin, 1, b.data() + begin, 1, out.data() + begin, end - begin,
                   function);
    });
    return std::move(out).take();
  }
  const std::vector<std::size_t> a_strides = repeated_strides(a.shape(), shape);
  const std::vector<std::size_t> b_strides = repeated_strides(b.shape(), shape);
  const auto length = static_cast<std::size_t>(shape[shape.rank() - 1]);
  parallel_for(out.size() / length, row_grain(length), [&](std::size_t begin, std::size_t end) {
    for (std::size_t line = begin; line < end; ++line) {
      combine_line(a.data() + line_offset(line, shape, a_strides), a_strides.back(),
                   b.data() + line_offset(line, shape, b_strides), b_strides.back(),
                   out.data() + line * length, length, function);
    }
  });
  return std::move(out).take();
}

template <class Function>
Result<Tensor> combine(std::string_view name, const Result<Tensor>& a, const Result<Tensor>& b,
                       const Function& function) {
  if (!a) return a.error();
  if (!b) return b.error();
  if (a->dtype() == DType::f64 || b->dtype() == DType::f64) {
    return combine_as<double>(name, *a, *b, function);
  }
  return combine_as<float>(name, *a, *b, function);
}

// How a dimension lies in a tensor: `outer` times `length` times `inner` elements.
struct Lines {
  std::size_t outer = 1;
  std::size_t length = 1;
  std::size_t inner = 1;
  Shape shape;  // after the dimension is gone, or 1
};

Result<Lines> lines_along(std::string_view function, const Shape& shape, std::int64_t dim,
                          bool keep_dim) {
  ANDIRON_ASSIGN(const std::size_t at, checked_dim(function, dim, shape));
  Lines lines;
  std::vector<std::uint64_t> dims;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const auto size = static_cast<std::size_t>(shape[d]);
    if (d != at) {
      (d < at ? lines.outer : lines.inner) *= size;
      dims.push_back(size);
    } else {
      lines.length = size;
      if (keep_dim) dims.push_back(1);
    }
  }
  lines.shape = Shape(std::span<const std::uint64_t>(dims));
  if (lines.length != 0) return lines;
  return argument_error(function, "the dimension is empty", shape.to_string(),
                        "at least one element in dimension " + std::to_string(at));
}

Result<Tensor> sum_times(std::string_view function, const Result<Tensor>& input, std::int64_t dim,
                         bool keep_dim, bool divides) {
  return compute_with(function, input, [&]<class T>(const Operand<T>& x) -> Result<Tensor> {
    ANDIRON_ASSIGN(const Lines lines, lines_along(function, x.shape(), dim, keep_dim));
    ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(lines.shape));
    const double divisor = divides ? static_cast<double>(lines.length) : 1;
    std::vector<double> sums(lines.inner);
    for (std::size_t i = 0; i < lines.outer; ++i) {
      std::fill(sums.begin(), sums.end(), 0.0);
      const T* const from = x.data() + i * lines.length * lines.inner;
      for (std::size_t j = 0; j < lines.length; ++j) {
        for (std::size_t k = 0; k < lines.inner; ++k) sums[k] += from[j * lines.inner + k];
      }
      for (std::size_t k = 0; k < lines.inner; ++k) {
        out.data()[i * lines.inner + k] = static_cast<T>(sums[k] / divisor);
      }
    }
    return std::move(out).take();
  });
}

template <class T>
std::size_t index_of_largest(const T* from, std::size_t count, std::size_t stride) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const T value = from[i * stride];
    if (std::isnan(value)) return i;
    if (value > from[best * stride]) best = i;
  }
  return best;
}

template <class T>
Result<Tensor> product(const Tensor& first, const Tensor& second) {
  ANDIRON_ASSIGN(const Operand<T> a, Operand<T>::of("matmul", first));
  ANDIRON_ASSIGN(const Operand<T> b, Operand<T>::of("matmul", second));
  const auto fails = [&] {
    return shape_error("matmul", "the shapes do not fit each other", a.shape(),
                       "[..., rows, inner] for [..., inner, columns] " + b.shape().to_string());
  };
  if (a.rank() < 2 || b.rank() < 2 || a.dim(a.rank() - 1) != b.dim(b.rank() - 2)) return fails();
  const ProductSize size = {a.dim(a.rank() - 2), b.dim(b.rank() - 1), a.dim(a.rank() - 1)};
  const auto stack_of = [](const Operand<T>& x) {
    return Shape(x.shape().dims().first(x.rank() - 2));
  };
  const Shape a_stack = stack_of(a);
  const Shape b_stack = stack_of(b);
  ANDIRON_ASSIGN(const Shape stack, broadcast("matmul", a_stack, b_stack));
  std::vector<std::uint64_t> dims(stack.begin(), stack.end());
  dims.insert(dims.end(), {size.rows, size.columns});
  ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(Shape(std::span<const std::uint64_t>(dims))));
  if (out.size() == 0) return std::move(out).take();
  // Each matrix counts as one element of the stack, with a line of its own.
  dims.assign(stack.begin(), stack.end());
  dims.push_back(1);
  const Shape lines{std::span<const std::uint64_t>(dims)};
  const auto strides_of = [&](const Shape& shape) {
    std::vector<std::size_t> strides = repeated_strides(shape, stack);
    strides.push_back(0);
    return strides;
  };
  const std::vector<std::size_t> a_strides = strides_of(a_stack);
  const std::vector<std::size_t> b_strides = strides_of(b_stack);
  const std::size_t count = out.size() / (size.rows * size.columns);
  for (std::size_t i = 0; i < count; ++i) {
    multiply(
        size, {a.data() + line_offset(i, lines, a_strides) * size.rows * size.inner, size.inner},
        {b.data() + line_offset(i, lines, b_strides) * size.inner * size.columns, size.columns},
        {out.data() + i * size.rows * size.columns, size.columns});
  }
  return std::move(out).take();
}

}  // namespace

Result<Tensor> add(const Result<Tensor>& a, const Result<Tensor>& b) ANDIRON_NO_THROW {
  return combine("add", a, b, [](auto x, auto y) { return x + y; });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> subtract(const Result<Tensor>& a, const Result<Tensor>& b) ANDIRON_NO_THROW {
  return combine("subtract", a, b, [](auto x, auto y) { return x - y; });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> multiply(const Result<Tensor>& a, const Result<Tensor>& b) ANDIRON_NO_THROW {
  return combine("multiply", a, b, [](auto x, auto y) { return x * y; });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> divide(const Result<Tensor>& a, const Result<Tensor>& b) ANDIRON_NO_THROW {
  return combine("divide", a, b, [](auto x, auto y) { return x / y; });
}
ANDIRON_OR_OUT_OF_MEMORY

// Written so that NaN wins on either side.
Result<Tensor> maximum(const Result<Tensor>& a, const Result<Tensor>& b) ANDIRON_NO_THROW {
  return combine("maximum", a, b, [](auto x, auto y) { return x > y || x != x ? x : y; });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> minimum(const Result<Tensor>& a, const Result<Tensor>& b) ANDIRON_NO_THROW {
  return combine("minimum", a, b, [](auto x, auto y) { return x < y || x != x ? x : y; });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> equal(const Result<Tensor>& input, double number) ANDIRON_NO_THROW {
  if (!input) return input.error();
  ANDIRON_ASSIGN(const TensorSnapshot numbers, TensorSnapshot("", *input).cast(DType::f64));
  ANDIRON_ASSIGN(const Tensor tensor, numbers.borrow());
  ANDIRON_ASSIGN(const Operand<double> x, Operand<double>::of("equal", tensor));
  ANDIRON_ASSIGN(Bytes flags, Bytes::allocate(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    flags.writable()[i] = std::byte{x.data()[i] == number};
  }
  return Tensor::from_bytes(DType::boolean, x.shape(), std::move(flags));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> matmul(const Result<Tensor>& a, const Result<Tensor>& b) ANDIRON_NO_THROW {
  if (!a) return a.error();
  if (!b) return b.error();
  if (a->dtype() == DType::f64 || b->dtype() == DType::f64) return product<double>(*a, *b);
  return product<float>(*a, *b);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> sum(const Result<Tensor>& input, std::int64_t dim, bool keep_dim) ANDIRON_NO_THROW {
  return sum_times("sum", input, dim, keep_dim, false);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> mean(const Result<Tensor>& input, std::int64_t dim, bool keep_dim) ANDIRON_NO_THROW {
  return sum_times("mean", input, dim, keep_dim, true);
}
ANDIRON_OR_OUT_OF_MEMORY

namespace {

// The largest elements along a dimension, or their indices.
template <bool gives_index>
Result<Tensor> largest_along(std::string_view function, const Result<Tensor>& input,
                             std::int64_t dim, bool keep_dim) {
  return compute_with(function, input, [&]<class T>(const Operand<T>& x) -> Result<Tensor> {
    using Element = std::conditional_t<gives_index, std::int64_t, T>;
    ANDIRON_ASSIGN(const Lines lines, lines_along(function, x.shape(), dim, keep_dim));
    ANDIRON_ASSIGN(NewTensor<Element> out, NewTensor<Element>::of(lines.shape));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const T* const from =
          x.data() + i / lines.inner * lines.length * lines.inner + i % lines.inner;
      const std::size_t index = index_of_largest(from, lines.length, lines.inner);
      if constexpr (gives_index) {
        out.data()[i] = static_cast<std::int64_t>(index);
      } else {
        out.data()[i] = from[index * lines.inner];
      }
    }
    return std::move(out).take();
  });
}

}  // namespace

Result<Tensor> max(const Result<Tensor>& input, std::int64_t dim, bool keep_dim) ANDIRON_NO_THROW {
  return largest_along<false>("max", input, dim, keep_dim);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> argmax(const Result<Tensor>& input, std::int64_t dim, bool keep_dim)
    ANDIRON_NO_THROW {
  return largest_along<true>("argmax", input, dim, keep_dim);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
