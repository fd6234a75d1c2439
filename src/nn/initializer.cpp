// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/initializer_test.cpp
#include "andiron/nn/initializer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "src/core/lock.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

std::uint64_t seed_from_system() {
  std::random_device device;
  const std::uint64_t high = device();
  return high << 32 | device();
}

// Hands out one seed per parameter.
class Streams {
 public:
  static Streams& global() {
    static Streams streams;
    return streams;
  }
  void restart(std::uint64_t seed) {
    const detail::Lock lock(mutex_);
    engine_.seed(seed);
  }
  std::uint64_t next() {
    const detail::Lock lock(mutex_);
    return engine_();
  }

 private:
  detail::Mutex mutex_;
  std::mt19937_64 engine_{seed_from_system()};
};

// The engine is the same everywhere; the distributions of standard libraries are not, so these are
// our own.

// From 0 to below 1, as fine as a double goes.
double draw_unit(std::mt19937_64& engine) { return static_cast<double>(engine() >> 11) * 0x1p-53; }

void fill_uniform(std::span<float> values, double min, double max, std::uint64_t stream) {
  std::mt19937_64 engine(stream);
  for (float& value : values) {
    value = static_cast<float>(min + (max - min) * draw_unit(engine));
  }
}

// By the method of Box and Muller, which gives two numbers at a time.
void fill_normal(std::span<float> values, double mean, double std, std::uint64_t stream) {
  std::mt19937_64 engine(stream);
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const double radius = std * std::sqrt(-2 * std::log(1 - draw_unit(engine)));
    const double angle = 2 * std::numbers::pi * draw_unit(engine);
    values[i] = static_cast<float>(mean + radius * std::cos(angle));
    if (i + 1 < values.size()) {
      values[i + 1] = static_cast<float>(mean + radius * std::sin(angle));
    }
  }
}

Result<double> usable_fan(std::optional<std::uint64_t> fan, const char* name) {
  if (fan && *fan != 0) return static_cast<double>(*fan);
  return Error{.code = ErrorCode::invalid_argument,
               .message = std::string("the initializer divides by ") + name,
               .found = fan ? "0" : "none",
               .expected = "at least 1",
               .hint = fan ? "" : "pass it to init_with(), or use another initializer"};
}

}  // namespace

void seed(std::uint64_t seed) { Streams::global().restart(seed); }

Initializer Initializer::kaiming_uniform(double gain, bool fan_out_only) {
  const double bound = std::numbers::sqrt3 * gain;
  return {Distribution::uniform, -bound, bound, fan_out_only ? Scale::fan_out : Scale::fan_in};
}

Initializer Initializer::kaiming_normal(double gain, bool fan_out_only) {
  return {Distribution::normal, 0, gain, fan_out_only ? Scale::fan_out : Scale::fan_in};
}

Initializer Initializer::xavier_uniform(double gain) {
  const double bound = std::numbers::sqrt3 * gain;
  return {Distribution::uniform, -bound, bound, Scale::both_fans};
}

Initializer Initializer::xavier_normal(double gain) {
  return {Distribution::normal, 0, gain, Scale::both_fans};
}

Param Initializer::init_with(Shape shape, std::optional<std::uint64_t> fan_in,
                             std::optional<std::uint64_t> fan_out) const {
  const std::uint64_t stream = Streams::global().next();
  auto init = [self = *this, shape, fan_in, fan_out, stream]() -> Result<Tensor> {
    ANDIRON_TRY(self.check_distribution());
    ANDIRON_ASSIGN(const double factor, self.factor(fan_in, fan_out));
    return self.draw(shape, factor, stream);
  };
  return Param::lazy(DType::f32, std::move(shape), std::move(init));
}

Result<double> Initializer::factor(std::optional<std::uint64_t> fan_in,
                                   std::optional<std::uint64_t> fan_out) const {
  if (scale_ == Scale::none) return 1.0;
  if (scale_ == Scale::fan_in) {
    ANDIRON_ASSIGN(const double in, usable_fan(fan_in, "fan_in"));
    return 1 / std::sqrt(in);
  }
  ANDIRON_ASSIGN(const double out, usable_fan(fan_out, "fan_out"));
  if (scale_ == Scale::fan_out) return 1 / std::sqrt(out);
  ANDIRON_ASSIGN(const double in, usable_fan(fan_in, "fan_in"));
  return std::sqrt(2 / (in + out));
}

Status Initializer::check_distribution() const {
  // Written so that NaN fails.
  if (distribution_ == Distribution::uniform && !(first_ <= second_)) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "the minimum of the uniform distribution is above its maximum",
                 .found = std::to_string(first_) + " to " + std::to_string(second_),
                 .expected = "a minimum up to the maximum"};
  }
  if (distribution_ == Distribution::normal && !(second_ >= 0)) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "invalid standard deviation for the normal distribution",
                 .found = std::to_string(second_),
                 .expected = "at least 0"};
  }
  return {};
}

Result<Tensor> Initializer::draw(const Shape& shape, double factor, std::uint64_t stream) const {
  if (Result<std::uint64_t> size = shape.byte_count(DType::f32); !size) {
    Error error = std::move(size).error();
    error.code = ErrorCode::invalid_argument;  // the shape is the caller's, not a file's
    return error;
  }
  ANDIRON_ASSIGN(Tensor tensor, Tensor::zeros(DType::f32, shape));
  ANDIRON_ASSIGN(const std::span<float> values, tensor.as_mutable<float>());
  switch (distribution_) {
    case Distribution::constant:
      std::fill(values.begin(), values.end(), static_cast<float>(first_));
      break;
    case Distribution::uniform:
      fill_uniform(values, first_ * factor, second_ * factor, stream);
      break;
    case Distribution::normal:
      fill_normal(values, first_ * factor, second_ * factor, stream);
      break;
  }
  return tensor;
}

}  // namespace nn
}  // namespace andiron::inline v1
