// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/conv_test.cpp
#include "andiron/nn/conv.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/nn/refused_param.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

using Channels = std::array<std::uint64_t, 2>;  // in, out

enum class ConvKind : bool { plain, transposed };

struct WeightAndBias {
  Param weight;
  std::optional<Param> bias;
};

// Of channels that the groups do not divide, none.
std::uint64_t per_group(std::uint64_t channels, std::uint64_t groups) {
  return groups != 0 && channels % groups == 0 ? channels / groups : 0;
}

std::optional<Error> fault(Channels channels, const Shape& kernel, std::uint64_t groups) {
  const auto [in, out] = channels;
  if (groups == 0 || in % groups != 0 || out % groups != 0) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "the channels cannot be divided into groups",
                 .found = std::to_string(in) + " channels in, " + std::to_string(out) + " out, " +
                          std::to_string(groups) + " groups",
                 .expected = "a number of groups that divides both"};
  }
  for (std::uint64_t size : kernel) {
    if (size == 0) {
      return Error{.code = ErrorCode::invalid_argument,
                   .message = "the kernel is empty",
                   .found = "size " + kernel.to_string(),
                   .expected = "at least 1 in each dimension"};
    }
  }
  return std::nullopt;
}

WeightAndBias make(ConvKind kind, Channels channels, std::span<const std::uint64_t> kernel,
                   std::uint64_t groups, bool has_bias, const Initializer& initializer) {
  const auto [in, out] = channels;
  // The weight has its first channels whole and its second by group.
  const auto [first, second] = kind == ConvKind::plain ? std::pair(out, in) : std::pair(in, out);
  std::vector<std::uint64_t> dims = {first, per_group(second, groups)};
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  const Shape weight_shape{std::span<const std::uint64_t>(dims)};

  std::optional<Error> error = fault(channels, Shape(kernel), groups);
  // Burn counts the inputs of a transposed convolution as PyTorch does, by the weight's second
  // dimension.
  std::uint64_t kernel_elements = 0;
  std::uint64_t fan_in = 0;
  std::uint64_t fan_out = 0;
  if (!error && (!element_count(kernel, kernel_elements) ||
                 __builtin_mul_overflow(dims[1], kernel_elements, &fan_in) ||
                 __builtin_mul_overflow(per_group(first, groups), kernel_elements, &fan_out))) {
    error = Error{.code = ErrorCode::invalid_argument,
                  .message = "the kernel is too large to address",
                  .found = "weight " + weight_shape.to_string(),
                  .expected = "fewer than 2^64 elements"};
  }

  const auto param = [&](Shape shape) {
    return error ? refused_param(std::move(shape), *error)
                 : initializer.init_with(std::move(shape), fan_in, fan_out);
  };
  WeightAndBias made = {param(weight_shape), std::nullopt};
  if (has_bias) made.bias = param({out});
  return made;
}

}  // namespace

// They differ in the types of their fields, which aggregates can only be given by name.
Conv1d Conv1dConfig::init() const {
  auto [weight, bias] =
      make(ConvKind::plain, channels_, std::span(&kernel_size_, 1), groups_, bias_, initializer_);
  return {.weight = std::move(weight),
          .bias = std::move(bias),
          .stride = stride_,
          .kernel_size = kernel_size_,
          .dilation = dilation_,
          .groups = groups_,
          .padding = padding_};
}

Conv2d Conv2dConfig::init() const {
  auto [weight, bias] =
      make(ConvKind::plain, channels_, kernel_size_, groups_, bias_, initializer_);
  return {.weight = std::move(weight),
          .bias = std::move(bias),
          .stride = stride_,
          .kernel_size = kernel_size_,
          .dilation = dilation_,
          .groups = groups_,
          .padding = padding_};
}

Conv3d Conv3dConfig::init() const {
  auto [weight, bias] =
      make(ConvKind::plain, channels_, kernel_size_, groups_, bias_, initializer_);
  return {.weight = std::move(weight),
          .bias = std::move(bias),
          .stride = stride_,
          .kernel_size = kernel_size_,
          .dilation = dilation_,
          .groups = groups_,
          .padding = padding_};
}

ConvTranspose1d ConvTranspose1dConfig::init() const {
  auto [weight, bias] = make(ConvKind::transposed, channels_, std::span(&kernel_size_, 1), groups_,
                             bias_, initializer_);
  return {.weight = std::move(weight),
          .bias = std::move(bias),
          .stride = stride_,
          .kernel_size = kernel_size_,
          .dilation = dilation_,
          .groups = groups_,
          .padding = padding_,
          .padding_out = padding_out_,
          .channels = channels_};
}

ConvTranspose2d ConvTranspose2dConfig::init() const {
  auto [weight, bias] =
      make(ConvKind::transposed, channels_, kernel_size_, groups_, bias_, initializer_);
  return {.weight = std::move(weight),
          .bias = std::move(bias),
          .stride = stride_,
          .kernel_size = kernel_size_,
          .dilation = dilation_,
          .groups = groups_,
          .padding = padding_,
          .padding_out = padding_out_,
          .channels = channels_};
}

ConvTranspose3d ConvTranspose3dConfig::init() const {
  auto [weight, bias] =
      make(ConvKind::transposed, channels_, kernel_size_, groups_, bias_, initializer_);
  return {.weight = std::move(weight),
          .bias = std::move(bias),
          .stride = stride_,
          .kernel_size = kernel_size_,
          .dilation = dilation_,
          .groups = groups_,
          .padding = padding_,
          .padding_out = padding_out_,
          .channels = channels_};
}

}  // namespace nn
}  // namespace andiron::inline v1
