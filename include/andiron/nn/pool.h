// SPDX-License-Identifier: MIT OR Apache-2.0
// Pooling.
//
//   nn::MaxPool2d pool = nn::MaxPool2dConfig({2, 2}).init();   // the stride is the kernel's size
//   Result<Tensor> smaller = pool.forward(image);              // link andiron::nn
//
// forward() takes [batch, channels, sizes ...] and returns f32 or f64 as the input (f16 and bf16
// are widened to f32). It returns an input that is an error. It fails with ShapeMismatch if the
// input has another rank or is smaller than the kernel, and with InvalidArgument for a kernel,
// stride, dilation or output of size 0, and for given padding of more than half the kernel.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "andiron/detail/builder.h"
#include "andiron/error.h"
#include "andiron/nn/conv.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {
namespace nn {

/// The largest element of each window.
struct MaxPool1d {
  std::uint64_t stride = 1;
  std::uint64_t kernel_size = 1;
  PaddingConfig1d padding = {};
  std::uint64_t dilation = 1;
  bool ceil_mode = false;  ///< a last window may reach over the end

  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}  // a module without parameters, like those below
};

/// The largest element of each window.
struct MaxPool2d {
  std::array<std::uint64_t, 2> stride = {1, 1};
  std::array<std::uint64_t, 2> kernel_size = {1, 1};
  PaddingConfig2d padding = {};
  std::array<std::uint64_t, 2> dilation = {1, 1};
  bool ceil_mode = false;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}
};

/// The mean of each window.
struct AvgPool1d {
  std::uint64_t stride = 1;
  std::uint64_t kernel_size = 1;
  PaddingConfig1d padding = {};
  bool count_include_pad = true;  ///< padding counts as zeros; otherwise it does not count
  bool ceil_mode = false;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}
};

/// The mean of each window.
struct AvgPool2d {
  std::array<std::uint64_t, 2> stride = {1, 1};
  std::array<std::uint64_t, 2> kernel_size = {1, 1};
  PaddingConfig2d padding = {};
  bool count_include_pad = true;
  bool ceil_mode = false;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}
};

/// Divides the input into `output_size` windows and returns the mean of each.
struct AdaptiveAvgPool1d {
  std::uint64_t output_size = 1;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}
};

/// The same in two dimensions.
struct AdaptiveAvgPool2d {
  std::array<std::uint64_t, 2> output_size = {1, 1};

  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}
};

/// The largest element instead of the mean.
struct AdaptiveMaxPool1d {
  std::uint64_t output_size = 1;

  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}
};

/// The same in two dimensions.
struct AdaptiveMaxPool2d {
  std::array<std::uint64_t, 2> output_size = {1, 1};

  Result<Tensor> forward(const Result<Tensor>& input) const;
  static void fields(auto&, auto&&) {}
};

/// The builders of all poolings. Each changes the config and returns it: a named one by reference,
/// a temporary by value.
template <class Self, class Size, class Padding>
class PoolBuilder {
 public:
  /// Distance between two windows. Default: the size of the kernel.
  ANDIRON_BUILDER(Self, with_stride, (Size stride), stride_ = stride)
  /// Burn's name for it in two dimensions.
  ANDIRON_BUILDER(Self, with_strides, (Size stride), with_stride(stride))
  /// Default: none. At most half the kernel.
  ANDIRON_BUILDER(Self, with_padding, (Padding padding), padding_ = padding)
  /// Whether a last window may reach over the end. Default: false.
  ANDIRON_BUILDER(Self, with_ceil_mode, (bool ceil_mode), ceil_mode_ = ceil_mode)

 private:
  friend Self;
  explicit PoolBuilder(Size kernel_size) : kernel_size_(kernel_size) {}
  Size stride() const { return stride_.value_or(kernel_size_); }

  Size kernel_size_;
  std::optional<Size> stride_;
  Padding padding_ = {};
  bool ceil_mode_ = false;
};

/// Config of MaxPool1d.
class MaxPool1dConfig : public PoolBuilder<MaxPool1dConfig, std::uint64_t, PaddingConfig1d> {
 public:
  explicit MaxPool1dConfig(std::uint64_t kernel_size) : PoolBuilder(kernel_size) {}

  /// Distance between two elements of the kernel. Default: 1.
  ANDIRON_BUILDER(MaxPool1dConfig, with_dilation, (std::uint64_t dilation), dilation_ = dilation)

  MaxPool1d init() const { return {stride(), kernel_size_, padding_, dilation_, ceil_mode_}; }

 private:
  std::uint64_t dilation_ = 1;
};

/// Config of MaxPool2d.
class MaxPool2dConfig
    : public PoolBuilder<MaxPool2dConfig, std::array<std::uint64_t, 2>, PaddingConfig2d> {
 public:
  explicit MaxPool2dConfig(std::array<std::uint64_t, 2> kernel_size) : PoolBuilder(kernel_size) {}

  /// Distance between two elements of the kernel. Default: 1.
  ANDIRON_BUILDER(MaxPool2dConfig, with_dilation, (std::array<std::uint64_t, 2> dilation),
                  dilation_ = dilation)

  MaxPool2d init() const { return {stride(), kernel_size_, padding_, dilation_, ceil_mode_}; }

 private:
  std::array<std::uint64_t, 2> dilation_ = {1, 1};
};

/// Config of AvgPool1d.
class AvgPool1dConfig : public PoolBuilder<AvgPool1dConfig, std::uint64_t, PaddingConfig1d> {
 public:
  explicit AvgPool1dConfig(std::uint64_t kernel_size) : PoolBuilder(kernel_size) {}

  /// Whether padding counts, as zeros. Default: true.
  ANDIRON_BUILDER(AvgPool1dConfig, with_count_include_pad, (bool count), count_include_pad_ = count)

  AvgPool1d init() const {
    return {stride(), kernel_size_, padding_, count_include_pad_, ceil_mode_};
  }

 private:
  bool count_include_pad_ = true;
};

/// Config of AvgPool2d.
class AvgPool2dConfig
    : public PoolBuilder<AvgPool2dConfig, std::array<std::uint64_t, 2>, PaddingConfig2d> {
 public:
  explicit AvgPool2dConfig(std::array<std::uint64_t, 2> kernel_size) : PoolBuilder(kernel_size) {}

  /// Whether padding counts, as zeros. Default: true.
  ANDIRON_BUILDER(AvgPool2dConfig, with_count_include_pad, (bool count), count_include_pad_ = count)

  AvgPool2d init() const {
    return {stride(), kernel_size_, padding_, count_include_pad_, ceil_mode_};
  }

 private:
  bool count_include_pad_ = true;
};

/// Config of AdaptiveAvgPool1d.
class AdaptiveAvgPool1dConfig {
 public:
  explicit AdaptiveAvgPool1dConfig(std::uint64_t output_size) : output_size_(output_size) {}
  AdaptiveAvgPool1d init() const { return {output_size_}; }

 private:
  std::uint64_t output_size_;
};

/// Config of AdaptiveAvgPool2d.
class AdaptiveAvgPool2dConfig {
 public:
  explicit AdaptiveAvgPool2dConfig(std::array<std::uint64_t, 2> output_size)
      : output_size_(output_size) {}
  AdaptiveAvgPool2d init() const { return {output_size_}; }

 private:
  std::array<std::uint64_t, 2> output_size_;
};

}  // namespace nn
}  // namespace andiron::inline v1
