// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/activation_test.cpp
#include "src/nn/forward/vector_math.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "src/core/kernels/vector_clones.h"

// glibc has functions of whole vectors, which loops call once they are declared to be there.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35)
extern "C" {
__attribute__((simd("notinbranch"))) float expf(float) noexcept;
__attribute__((simd("notinbranch"))) float tanhf(float) noexcept;
__attribute__((simd("notinbranch"))) float erff(float) noexcept;
__attribute__((simd("notinbranch"))) float log1pf(float) noexcept;
__attribute__((simd("notinbranch"))) float logf(float) noexcept;
}
#endif
#endif

namespace andiron::inline v1 {
namespace nn {
namespace {

inline float exp_of(float x) { return expf(x); }
inline double exp_of(double x) { return std::exp(x); }
inline float tanh_of(float x) { return tanhf(x); }
inline double tanh_of(double x) { return std::tanh(x); }
inline float erf_of(float x) { return erff(x); }
inline double erf_of(double x) { return std::erf(x); }
inline float log1p_of(float x) { return log1pf(x); }
inline double log1p_of(double x) { return std::log1p(x); }
inline float log_of(float x) { return logf(x); }
inline double log_of(double x) { return std::log(x); }

template <class T>
inline T sigmoid_of(T x) {
  return 1 / (1 + exp_of(-x));
}

// PyTorch's: above 20, exp(x) hides the 1.
template <class T>
inline T softplus_of(T x, T beta) {
  const T scaled = x * beta;
  const T soft = log1p_of(exp_of(scaled > 20 ? T{20} : scaled)) / beta;
  return scaled > 20 ? x : soft;
}

// The limits are written so that NaN stays NaN.
template <class T>
inline T within_0_and_1(T x) {
  return x < 0 ? T{0} : (x > 1 ? T{1} : x);
}

template <class T, class Function>
inline __attribute__((always_inline)) void for_all(const T* in, T* out, std::size_t count,
                                                   const Function& function) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) out[i] = function(in[i]);
}

template <class T>
inline __attribute__((always_inline)) void apply(Elementwise function,
                                                 ElementwiseSettings<T> settings, const T* in,
                                                 T* out, std::size_t count) {
  const T a = settings.a;
  const T b = settings.b;
  const T c = settings.c;
  constexpr T root_2_by_pi = std::numbers::sqrt2_v<T> * std::numbers::inv_sqrtpi_v<T>;
  constexpr T root_half = 1 / std::numbers::sqrt2_v<T>;
  switch (function) {
    case Elementwise::relu:
      return for_all(in, out, count, [](T x) { return x < 0 ? T{0} : x; });
    case Elementwise::leaky_relu:
      return for_all(in, out, count, [a](T x) { return x < 0 ? a * x : x; });
    case Elementwise::gelu:
      return for_all(in, out, count, [](T x) { return x * T{0.5} * (1 + erf_of(x * root_half)); });
    case Elementwise::gelu_tanh:
      return for_all(in, out, count, [](T x) {
        return T{0.5} * x * (1 + tanh_of(root_2_by_pi * (x + T(0.044715) * x * x * x)));
      });
    case Elementwise::silu:
      return for_all(in, out, count, [](T x) { return x / (1 + exp_of(-x)); });
    case Elementwise::sigmoid:
      return for_all(in, out, count, [](T x) { return sigmoid_of(x); });
    case Elementwise::tanh:
      return for_all(in, out, count, [](T x) { return tanh_of(x); });
    case Elementwise::hard_sigmoid:
      return for_all(in, out, count, [a, b](T x) { return within_0_and_1(a * x + b); });
    case Elementwise::hard_swish:
      return for_all(in, out, count, [](T x) { return x * within_0_and_1(x / T{6} + T{0.5}); });
    case Elementwise::mish:
      return for_all(in, out, count, [](T x) { return x * tanh_of(softplus_of(x, T{1})); });
    case Elementwise::softplus:
      return for_all(in, out, count, [a](T x) { return softplus_of(x, a); });
    case Elementwise::elu:
      return for_all(in, out, count, [a](T x) {
        const T below = a * (exp_of(x > 0 ? T{0} : x) - 1);
        return x > 0 ? x : below;
      });
    case Elementwise::sqrt:
      return for_all(in, out, count, [](T x) { return std::sqrt(x); });
    case Elementwise::exp:
      return for_all(in, out, count, [](T x) { return exp_of(x); });
    case Elementwise::log:
      return for_all(in, out, count, [](T x) { return log_of(x); });
    case Elementwise::clamp:
      return for_all(in, out, count, [a, b](T x) { return x < a ? a : (x > b ? b : x); });
    case Elementwise::scale:
      return for_all(in, out, count, [a, b](T x) { return a * x + b; });
    case Elementwise::centered:
      return for_all(in, out, count, [a, b, c](T x) { return a * (x - c) + b; });
  }
}

template <class T>
inline __attribute__((always_inline)) T exp_of_all(const T* in, T* out, std::size_t count,
                                                   T shift) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < count; ++i) {
    const T value = exp_of(in[i] - shift);
    out[i] = value;
    sum += value;
  }
  return sum;
}

template <class T>
inline __attribute__((always_inline)) T largest_of(const T* in, std::size_t count) {
  T most = in[0];
  T nan = 0;
#pragma omp simd reduction(max : most) reduction(+ : nan)
  for (std::size_t i = 0; i < count; ++i) {
    most = in[i] > most ? in[i] : most;
    nan += in[i] != in[i] ? T{1} : T{0};
  }
  return nan == 0 ? most : std::numeric_limits<T>::quiet_NaN();
}

template <class T>
inline __attribute__((always_inline)) Moments moments_of(const T* in, std::size_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>(in[i]);
  const double mean = sum / static_cast<double>(count);
  double squares = 0;
#pragma omp simd reduction(+ : squares)
  for (std::size_t i = 0; i < count; ++i) {
    const double difference = static_cast<double>(in[i]) - mean;
    squares += difference * difference;
  }
  return {mean, squares / static_cast<double>(count)};
}

template <class T>
inline __attribute__((always_inline)) double mean_square_of(const T* in, std::size_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < count; ++i) {
    sum += static_cast<double>(in[i]) * static_cast<double>(in[i]);
  }
  return sum / static_cast<double>(count);
}

template <class T>
inline __attribute__((always_inline)) void normalize_all(const T* in, T* out, std::size_t count,
                                                         T shift, T scale, const T* factors,
                                                         const T* terms) {
  if (factors == nullptr) {
    for (std::size_t i = 0; i < count; ++i) out[i] = (in[i] - shift) * scale;
  } else if (terms == nullptr) {
    for (std::size_t i = 0; i < count; ++i) out[i] = (in[i] - shift) * scale * factors[i];
  } else {
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = (in[i] - shift) * scale * factors[i] + terms[i];
    }
  }
}

}  // namespace

ANDIRON_VECTOR_CLONES("avx512f", "avx2")
void apply_to_all(Elementwise function, ElementwiseSettings<float> settings, const float* in,
                  float* out, std::size_t count) noexcept {
  apply(function, settings, in, out, count);
}
void apply_to_all(Elementwise function, ElementwiseSettings<double> settings, const double* in,
                  double* out, std::size_t count) noexcept {
  apply(function, settings, in, out, count);
}

ANDIRON_VECTOR_CLONES("avx512f", "avx2")
float exp_all(const float* in, float* out, std::size_t count, float shift) noexcept {
  return exp_of_all(in, out, count, shift);
}
double exp_all(const double* in, double* out, std::size_t count, double shift) noexcept {
  return exp_of_all(in, out, count, shift);
}

ANDIRON_VECTOR_CLONES("avx512f", "avx2")
float largest(const float* in, std::size_t count) noexcept { return largest_of(in, count); }
double largest(const double* in, std::size_t count) noexcept { return largest_of(in, count); }

ANDIRON_VECTOR_CLONES("avx512f", "avx2")
Moments moments(const float* in, std::size_t count) noexcept { return moments_of(in, count); }
Moments moments(const double* in, std::size_t count) noexcept { return moments_of(in, count); }

ANDIRON_VECTOR_CLONES("avx512f", "avx2")
double mean_square(const float* in, std::size_t count) noexcept {
  return mean_square_of(in, count);
}
double mean_square(const double* in, std::size_t count) noexcept {
  return mean_square_of(in, count);
}

ANDIRON_VECTOR_CLONES("avx512f", "avx2")
void normalize(const float* in, float* out, std::size_t count, float shift, float scale,
               const float* factors, const float* terms) noexcept {
  normalize_all(in, out, count, shift, scale, factors, terms);
}
void normalize(const double* in, double* out, std::size_t count, double shift, double scale,
               const double* factors, const double* terms) noexcept {
  normalize_all(in, out, count, shift, scale, factors, terms);
}

}  // namespace nn
}  // namespace andiron::inline v1
