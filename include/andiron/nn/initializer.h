// SPDX-License-Identifier: MIT OR Apache-2.0
// Initial values of parameters.
//
//   Param weight = nn::Initializer::normal(0, 0.02).init({512, 512});
//
// All parameters of layers are lazy: their elements are drawn on first use, so a load that replaces
// them never draws them.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "andiron/error.h"
#include "andiron/param.h"
#include "andiron/shape.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// How a parameter gets its initial elements: Burn's initializers, with its formulas. A value.
///
/// `gain` scales the distribution. `fan_in` and `fan_out` are the numbers of inputs and outputs
/// that one weight connects; layers pass their own.
class Initializer {
 public:
  static Initializer constant(double value) { return {Distribution::constant, value, 0}; }
  static Initializer zeros() { return constant(0); }
  static Initializer ones() { return constant(1); }
  /// From `min` to `max`.
  static Initializer uniform(double min, double max) { return {Distribution::uniform, min, max}; }
  static Initializer normal(double mean, double std) { return {Distribution::normal, mean, std}; }
  /// Uniform within gain * sqrt(3 / fan_in), or fan_out.
  static Initializer kaiming_uniform(double gain, bool fan_out_only = false);
  /// Normal with standard deviation gain / sqrt(fan_in), or fan_out.
  static Initializer kaiming_normal(double gain, bool fan_out_only = false);
  /// Uniform within gain * sqrt(6 / (fan_in + fan_out)).
  static Initializer xavier_uniform(double gain);
  /// Normal with standard deviation gain * sqrt(2 / (fan_in + fan_out)).
  static Initializer xavier_normal(double gain);

  /// Returns a lazy f32 parameter. Its val() fails with InvalidArgument if the shape is too large
  /// to address, if the arguments are not a distribution (`min` above `max`, a negative `std` or
  /// gain), and for Kaiming and Xavier, which need init_with().
  Param init(Shape shape) const { return init_with(std::move(shape), {}, {}); }
  /// The same with fans. val() also fails with InvalidArgument if a fan that is needed is missing
  /// or 0.
  Param init_with(Shape shape, std::optional<std::uint64_t> fan_in,
                  std::optional<std::uint64_t> fan_out) const;

  friend bool operator==(const Initializer&, const Initializer&) = default;

 private:
  enum class Distribution : std::uint8_t { constant, uniform, normal };
  // What the distribution is divided by.
  enum class Scale : std::uint8_t { none, fan_in, fan_out, both_fans };

  Initializer(Distribution distribution, double first, double second, Scale scale = Scale::none)
      : distribution_(distribution), scale_(scale), first_(first), second_(second) {}
  Result<double> factor(std::optional<std::uint64_t> fan_in,
                        std::optional<std::uint64_t> fan_out) const;
  Status check_distribution() const;
  Result<Tensor> draw(const Shape& shape, double factor, std::uint64_t stream) const;

  Distribution distribution_;
  Scale scale_;
  double first_;   // the value, the minimum or the mean
  double second_;  // the maximum or the standard deviation
};

/// Makes the elements of parameters created from now on repeatable. Each parameter takes its own
/// random stream when it is created, not when it is first used. So the same layers created in the
/// same order get the same elements, on every machine up to rounding. Without a seed, the system
/// provides one. Safe from several threads at once.
void seed(std::uint64_t seed);

}  // namespace nn
}  // namespace andiron::inline v1
