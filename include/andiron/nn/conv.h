// SPDX-License-Identifier: MIT OR Apache-2.0
// Convolutions and transposed convolutions.
//
//   nn::Conv2d conv = nn::Conv2dConfig({3, 16}, {5, 5})
//                         .with_stride({2, 2})
//                         .with_padding(nn::PaddingConfig2d::same())
//                         .init();
//   Result<Tensor> features = conv.forward(image);   // [batch, 3, height, width]; link andiron::nn
//
// Channels are {in, out}; sizes are {height, width} in two dimensions, {depth, height, width} in
// three.
//
// forward() takes [batch, channels, sizes ...] and returns the same with other channels and sizes,
// f32 or f64 as the input (f16 and bf16 are widened to f32). It returns an input that is an error,
// and fails with ShapeMismatch if the input does not fit the layer, and with the errors of val().
//
// init() never fails. val() of weight and bias fails with InvalidArgument for a kernel of size 0,
// for groups that do not divide both channels, and for sizes that cannot be addressed. If the
// groups do not divide the channels, the weight's shape has 0 channels per group, so that no load
// fits it.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <array>
#include <cstdint>
#include <numbers>
#include <optional>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/module.h"
#include "andiron/nn/initializer.h"
#include "andiron/param.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {

namespace nn {

// NOLINTBEGIN(readability-identifier-naming): Burn's name for given padding is a keyword here

/// How padding is chosen.
enum class PaddingKind : std::uint8_t {
  valid,  ///< none
  same,   ///< the output is as long as the input, divided by the stride; if the padding is odd,
          ///< more goes to the end
  given,  ///< the values next to it
};

/// Padding in one dimension.
struct PaddingConfig1d {
  PaddingKind kind = PaddingKind::valid;
  /// Only for given padding.
  std::uint64_t left = 0;
  std::uint64_t right = 0;

  static PaddingConfig1d valid() { return {}; }
  static PaddingConfig1d same() { return {.kind = PaddingKind::same}; }
  static PaddingConfig1d explicit_(std::uint64_t left, std::uint64_t right) {
    return {PaddingKind::given, left, right};
  }
  friend bool operator==(const PaddingConfig1d&, const PaddingConfig1d&) = default;
};

/// Padding in two dimensions.
struct PaddingConfig2d {
  PaddingKind kind = PaddingKind::valid;
  /// Only for given padding.
  std::uint64_t top = 0;
  std::uint64_t left = 0;
  std::uint64_t bottom = 0;
  std::uint64_t right = 0;

  static PaddingConfig2d valid() { return {}; }
  static PaddingConfig2d same() { return {.kind = PaddingKind::same}; }
  static PaddingConfig2d explicit_(std::uint64_t top, std::uint64_t left, std::uint64_t bottom,
                                   std::uint64_t right) {
    return {PaddingKind::given, top, left, bottom, right};
  }
  /// The same above and below, and the same left and right.
  static PaddingConfig2d explicit_(std::uint64_t height, std::uint64_t width) {
    return explicit_(height, width, height, width);
  }
  friend bool operator==(const PaddingConfig2d&, const PaddingConfig2d&) = default;
};

/// Padding in three dimensions.
struct PaddingConfig3d {
  PaddingKind kind = PaddingKind::valid;
  /// Only for given padding: on both sides of each dimension.
  std::uint64_t depth = 0;
  std::uint64_t height = 0;
  std::uint64_t width = 0;

  static PaddingConfig3d valid() { return {}; }
  static PaddingConfig3d same() { return {.kind = PaddingKind::same}; }
  static PaddingConfig3d explicit_(std::uint64_t depth, std::uint64_t height, std::uint64_t width) {
    return {PaddingKind::given, depth, height, width};
  }
  friend bool operator==(const PaddingConfig3d&, const PaddingConfig3d&) = default;
};

// NOLINTEND(readability-identifier-naming)

}  // namespace nn

namespace nn {

/// A convolution in one dimension.
struct Conv1d {
  Param weight = {};               ///< [out, in / groups, kernel]
  std::optional<Param> bias = {};  ///< [out]
  std::uint64_t stride = 1;
  std::uint64_t kernel_size = 1;
  std::uint64_t dilation = 1;
  std::uint64_t groups = 1;
  PaddingConfig1d padding = {};

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(Conv1d, weight, bias)
};

/// A convolution in two dimensions.
struct Conv2d {
  Param weight = {};               ///< [out, in / groups, kernel height, kernel width]
  std::optional<Param> bias = {};  ///< [out]
  std::array<std::uint64_t, 2> stride = {1, 1};
  std::array<std::uint64_t, 2> kernel_size = {1, 1};
  std::array<std::uint64_t, 2> dilation = {1, 1};
  std::uint64_t groups = 1;
  PaddingConfig2d padding = {};

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(Conv2d, weight, bias)
};

/// A convolution in three dimensions.
struct Conv3d {
  Param weight = {};               ///< [out, in / groups, kernel depth, height, width]
  std::optional<Param> bias = {};  ///< [out]
  std::array<std::uint64_t, 3> stride = {1, 1, 1};
  std::array<std::uint64_t, 3> kernel_size = {1, 1, 1};
  std::array<std::uint64_t, 3> dilation = {1, 1, 1};
  std::uint64_t groups = 1;
  PaddingConfig3d padding = {};

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(Conv3d, weight, bias)
};

/// A transposed convolution in one dimension.
struct ConvTranspose1d {
  Param weight = {};               ///< [in, out / groups, kernel]
  std::optional<Param> bias = {};  ///< [out]
  std::uint64_t stride = 1;
  std::uint64_t kernel_size = 1;
  std::uint64_t dilation = 1;
  std::uint64_t groups = 1;
  std::uint64_t padding = 0;
  std::uint64_t padding_out = 0;
  std::array<std::uint64_t, 2> channels = {};

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(ConvTranspose1d, weight, bias)
};

/// A transposed convolution in two dimensions.
struct ConvTranspose2d {
  Param weight = {};               ///< [in, out / groups, kernel height, kernel width]
  std::optional<Param> bias = {};  ///< [out]
  std::array<std::uint64_t, 2> stride = {1, 1};
  std::array<std::uint64_t, 2> kernel_size = {1, 1};
  std::array<std::uint64_t, 2> dilation = {1, 1};
  std::uint64_t groups = 1;
  std::array<std::uint64_t, 2> padding = {};
  std::array<std::uint64_t, 2> padding_out = {};
  std::array<std::uint64_t, 2> channels = {};

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(ConvTranspose2d, weight, bias)
};

/// A transposed convolution in three dimensions.
struct ConvTranspose3d {
  Param weight = {};               ///< [in, out / groups, kernel depth, height, width]
  std::optional<Param> bias = {};  ///< [out]
  std::array<std::uint64_t, 3> stride = {1, 1, 1};
  std::array<std::uint64_t, 3> kernel_size = {1, 1, 1};
  std::array<std::uint64_t, 3> dilation = {1, 1, 1};
  std::uint64_t groups = 1;
  std::array<std::uint64_t, 3> padding = {};
  std::array<std::uint64_t, 3> padding_out = {};
  std::array<std::uint64_t, 2> channels = {};

  Result<Tensor> forward(const Result<Tensor>& input) const;
  ANDIRON_MODULE(ConvTranspose3d, weight, bias)
};

/// The builders of all convolutions. `Size` is one value, or one for each dimension. Each builder
/// changes the config and returns it: a named one by reference, a temporary by value.
template <class Self, class Size, class Padding>
class ConvBuilder {
 public:
  /// Distance between two positions of the kernel. Default: 1.
  ANDIRON_BUILDER(Self, with_stride, (Size stride), stride_ = stride)
  /// Distance between two elements of the kernel. Default: 1.
  ANDIRON_BUILDER(Self, with_dilation, (Size dilation), dilation_ = dilation)
  /// Groups of channels that are convolved separately. Default: 1.
  ANDIRON_BUILDER(Self, with_groups, (std::uint64_t groups), groups_ = groups)
  /// Default: none.
  ANDIRON_BUILDER(Self, with_padding, (Padding padding), padding_ = padding)
  /// Default: true.
  ANDIRON_BUILDER(Self, with_bias, (bool bias), bias_ = bias)
  /// For weight and bias. Default: uniform within 1 / sqrt(fan_in), where fan_in is the number of
  /// elements of weight[0].
  ANDIRON_BUILDER(Self, with_initializer, (Initializer initializer), initializer_ = initializer)

 private:
  friend Self;
  ConvBuilder(std::array<std::uint64_t, 2> channels, Size kernel_size, Size one)
      : channels_(channels), kernel_size_(kernel_size), stride_(one), dilation_(one) {}

  std::array<std::uint64_t, 2> channels_;
  Size kernel_size_;
  Size stride_;
  Size dilation_;
  std::uint64_t groups_ = 1;
  Padding padding_ = {};
  bool bias_ = true;
  Initializer initializer_ = Initializer::kaiming_uniform(std::numbers::inv_sqrt3);
};

/// Config of Conv1d.
class Conv1dConfig : public ConvBuilder<Conv1dConfig, std::uint64_t, PaddingConfig1d> {
 public:
  Conv1dConfig(std::uint64_t channels_in, std::uint64_t channels_out, std::uint64_t kernel_size)
      : ConvBuilder({channels_in, channels_out}, kernel_size, 1) {}

  Conv1d init() const;
};

/// Config of Conv2d.
class Conv2dConfig
    : public ConvBuilder<Conv2dConfig, std::array<std::uint64_t, 2>, PaddingConfig2d> {
 public:
  Conv2dConfig(std::array<std::uint64_t, 2> channels, std::array<std::uint64_t, 2> kernel_size)
      : ConvBuilder(channels, kernel_size, {1, 1}) {}

  Conv2d init() const;
};

/// Config of Conv3d.
class Conv3dConfig
    : public ConvBuilder<Conv3dConfig, std::array<std::uint64_t, 3>, PaddingConfig3d> {
 public:
  Conv3dConfig(std::array<std::uint64_t, 2> channels, std::array<std::uint64_t, 3> kernel_size)
      : ConvBuilder(channels, kernel_size, {1, 1, 1}) {}

  Conv3d init() const;
};

/// Config of ConvTranspose1d.
class ConvTranspose1dConfig
    : public ConvBuilder<ConvTranspose1dConfig, std::uint64_t, std::uint64_t> {
 public:
  ConvTranspose1dConfig(std::array<std::uint64_t, 2> channels, std::uint64_t kernel_size)
      : ConvBuilder(channels, kernel_size, 1) {}

  /// Added to one end of the output. Default: 0.
  ANDIRON_BUILDER(ConvTranspose1dConfig, with_padding_out, (std::uint64_t padding_out),
                  padding_out_ = padding_out)

  ConvTranspose1d init() const;

 private:
  std::uint64_t padding_out_ = 0;
};

/// Config of ConvTranspose2d.
class ConvTranspose2dConfig
    : public ConvBuilder<ConvTranspose2dConfig, std::array<std::uint64_t, 2>,
                         std::array<std::uint64_t, 2>> {
 public:
  ConvTranspose2dConfig(std::array<std::uint64_t, 2> channels,
                        std::array<std::uint64_t, 2> kernel_size)
      : ConvBuilder(channels, kernel_size, {1, 1}) {}

  /// Added to one end of the output, in each dimension. Default: 0.
  ANDIRON_BUILDER(ConvTranspose2dConfig, with_padding_out,
                  (std::array<std::uint64_t, 2> padding_out), padding_out_ = padding_out)

  ConvTranspose2d init() const;

 private:
  std::array<std::uint64_t, 2> padding_out_ = {};
};

/// Config of ConvTranspose3d.
class ConvTranspose3dConfig
    : public ConvBuilder<ConvTranspose3dConfig, std::array<std::uint64_t, 3>,
                         std::array<std::uint64_t, 3>> {
 public:
  ConvTranspose3dConfig(std::array<std::uint64_t, 2> channels,
                        std::array<std::uint64_t, 3> kernel_size)
      : ConvBuilder(channels, kernel_size, {1, 1, 1}) {}

  /// Added to one end of the output, in each dimension. Default: 0.
  ANDIRON_BUILDER(ConvTranspose3dConfig, with_padding_out,
                  (std::array<std::uint64_t, 3> padding_out), padding_out_ = padding_out)

  ConvTranspose3d init() const;

 private:
  std::array<std::uint64_t, 3> padding_out_ = {};
};

}  // namespace nn

}  // namespace andiron::inline v1
