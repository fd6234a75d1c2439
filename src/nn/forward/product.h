// SPDX-License-Identifier: MIT OR Apache-2.0
// Products of matrices.
#pragma once

#include <cstddef>

namespace andiron::inline v1 {
namespace nn {

// A matrix in memory: rows of `stride` elements. If it is transposed, these are its columns.
template <class T>
struct MatrixView {
  const T* data;
  std::size_t stride;
  bool is_transposed = false;
};

// The sizes of a product: [rows, inner] * [inner, columns].
struct ProductSize {
  std::size_t rows;
  std::size_t columns;
  std::size_t inner;
};

// What the product is written to.
template <class T>
struct ProductTarget {
  T* data;
  std::size_t stride;
  bool adds = false;  // to what is there
};

// By oneDNN for floats where the library has it, and by plain loops otherwise.
void multiply(ProductSize size, MatrixView<float> a, MatrixView<float> b, ProductTarget<float> out);
void multiply(ProductSize size, MatrixView<double> a, MatrixView<double> b,
              ProductTarget<double> out);

}  // namespace nn
}  // namespace andiron::inline v1
