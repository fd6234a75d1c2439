// SPDX-License-Identifier: MIT OR Apache-2.0
// Functions of many floats at a time, compiled for several kinds of vector units; the machine's own
// is chosen when the program starts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace andiron::inline v1 {
namespace nn {

// Functions of one element, some with a setting or two.
enum class Elementwise : std::uint8_t {
  relu,
  leaky_relu,  // a: slope
  gelu,
  gelu_tanh,
  silu,
  sigmoid,
  tanh,
  hard_sigmoid,  // a * x + b
  hard_swish,
  mish,
  softplus,  // a: beta
  elu,       // a: alpha
  sqrt,
  exp,
  log,
  clamp,     // from a to b
  scale,     // a * x + b
  centered,  // a * (x - c) + b
};

template <class T>
struct ElementwiseSettings {
  T a = 0;
  T b = 0;
  T c = 0;
};

// `in` and `out` may be the same.
void apply_to_all(Elementwise function, ElementwiseSettings<float> settings, const float* in,
                  float* out, std::size_t count) noexcept;
void apply_to_all(Elementwise function, ElementwiseSettings<double> settings, const double* in,
                  double* out, std::size_t count) noexcept;

// out[i] = exp(in[i] - shift); returns their sum.
float exp_all(const float* in, float* out, std::size_t count, float shift) noexcept;
double exp_all(const double* in, double* out, std::size_t count, double shift) noexcept;

// The largest element, or NaN if one is. REQUIRES: count > 0.
float largest(const float* in, std::size_t count) noexcept;
double largest(const double* in, std::size_t count) noexcept;

// The mean, and the mean of the squares of what differs from it. REQUIRES: count > 0.
struct Moments {
  double mean;
  double variance;
};
Moments moments(const float* in, std::size_t count) noexcept;
Moments moments(const double* in, std::size_t count) noexcept;
// The mean of the squares.
double mean_square(const float* in, std::size_t count) noexcept;
double mean_square(const double* in, std::size_t count) noexcept;

// out[i] = (in[i] - shift) * scale * factors[i] + terms[i]; factors and terms may be nullptr.
void normalize(const float* in, float* out, std::size_t count, float shift, float scale,
               const float* factors, const float* terms) noexcept;
void normalize(const double* in, double* out, std::size_t count, double shift, double scale,
               const double* factors, const double* terms) noexcept;

}  // namespace nn
}  // namespace andiron::inline v1
