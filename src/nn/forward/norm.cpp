// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/norm_test.cpp
#include "andiron/nn/norm.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "src/nn/forward/operand.h"
#include "src/nn/forward/parallel.h"
#include "src/nn/forward/vector_math.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

template <class T>
Status check_channels(std::string_view layer, const Operand<T>& input, std::uint64_t channels) {
  if (input.rank() >= 2 && input.shape()[1] == channels) return {};
  return shape_error(layer, "the input does not fit the layer", input.shape(),
                     "[batch, " + std::to_string(channels) + ", ...]");
}

// GroupNorm and InstanceNorm: each group of channels of each item is normalized by itself.
struct Groups {
  std::string_view layer;
  const std::optional<Param>& gamma;
  const std::optional<Param>& beta;
  std::uint64_t groups;
  std::uint64_t channels;
  double epsilon;
};

template <class T>
Result<Tensor> normalize_groups(const Groups& norm, const Operand<T>& x) {
  if (norm.groups == 0 || norm.channels % norm.groups != 0) {
    return argument_error(
        norm.layer, "the channels cannot be divided into groups",
        std::to_string(norm.channels) + " channels, " + std::to_string(norm.groups) + " groups",
        "a number of groups that divides the channels");
  }
  ANDIRON_TRY(check_channels(norm.layer, x, norm.channels));
  ANDIRON_ASSIGN(const std::optional<Operand<T>> gamma,
                 optional_operand<T>(norm.layer, "gamma", norm.gamma));
  ANDIRON_ASSIGN(const std::optional<Operand<T>> beta,
                 optional_operand<T>(norm.layer, "beta", norm.beta));
  const Shape per_channel({norm.channels});
  if (gamma) ANDIRON_TRY(check_parameter(norm.layer, "gamma", gamma->shape(), per_channel));
  if (beta) ANDIRON_TRY(check_parameter(norm.layer, "beta", beta->shape(), per_channel));
  ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(x.shape()));
  if (out.size() == 0) return std::move(out).take();

  const std::size_t channels = x.dim(1);
  const std::size_t plane = x.size() / (x.dim(0) * channels);
  const std::size_t in_group = channels / static_cast<std::size_t>(norm.groups);
  const std::size_t group = in_group * plane;
  parallel_for(x.size() / group, row_grain(group), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Moments found = moments(x.data() + i * group, group);
      const double scale = 1 / std::sqrt(found.variance + norm.epsilon);
      for (std::size_t c = 0; c < in_group; ++c) {
        const std::size_t channel = (i * in_group + c) % channels;
        const double factor = scale * (gamma ? static_cast<double>(gamma->data()[channel]) : 1);
        const double term = beta ? static_cast<double>(beta->data()[channel]) : 0;
        const std::size_t at = i * group + c * plane;
        const ElementwiseSettings<T> settings = {static_cast<T>(factor), static_cast<T>(term),
                                                 static_cast<T>(found.mean)};
        apply_to_all(Elementwise::centered, settings, x.data() + at, out.data() + at, plane);
      }
    }
  });
  return std::move(out).take();
}

}  // namespace

Result<Tensor> BatchNorm::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return compute_with("BatchNorm", input, [&]<class T>(const Operand<T>& x) -> Result<Tensor> {
    ANDIRON_ASSIGN(const Operand<T> factors, Operand<T>::of("BatchNorm", "gamma", gamma));
    ANDIRON_ASSIGN(const Operand<T> terms, Operand<T>::of("BatchNorm", "beta", beta));
    ANDIRON_ASSIGN(const Operand<T> means,
                   Operand<T>::of("BatchNorm", "running_mean", running_mean));
    ANDIRON_ASSIGN(const Operand<T> variances,
                   Operand<T>::of("BatchNorm", "running_var", running_var));
    ANDIRON_TRY(check_channels("BatchNorm", x, means.size()));
    const std::size_t channels = std::max<std::size_t>(x.dim(1), 1);
    const Shape per_channel({x.dim(1)});
    ANDIRON_TRY(check_parameter("BatchNorm", "gamma", factors.shape(), per_channel));
    ANDIRON_TRY(check_parameter("BatchNorm", "beta", terms.shape(), per_channel));
    ANDIRON_TRY(check_parameter("BatchNorm", "running_var", variances.shape(), per_channel));
    ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(x.shape()));
    if (out.size() == 0) return std::move(out).take();

    std::vector<ElementwiseSettings<T>> settings(channels);
    for (std::size_t c = 0; c < channels; ++c) {
      const double factor = static_cast<double>(factors.data()[c]) /
                            std::sqrt(static_cast<double>(variances.data()[c]) + epsilon);
      settings[c] = {static_cast<T>(factor), terms.data()[c], means.data()[c]};
    }
    const std::size_t planes = x.dim(0) * channels;
    const std::size_t plane = x.size() / planes;
    parallel_for(planes, row_grain(plane), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        apply_to_all(Elementwise::centered, settings[i % channels], x.data() + i * plane,
                     out.data() + i * plane, plane);
      }
    });
    return std::move(out).take();
  });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> LayerNorm::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return compute_with("LayerNorm", input, [&]<class T>(const Operand<T>& x) -> Result<Tensor> {
    ANDIRON_ASSIGN(const Operand<T> factors, Operand<T>::of("LayerNorm", "gamma", gamma));
    ANDIRON_ASSIGN(const std::optional<Operand<T>> terms,
                   optional_operand<T>("LayerNorm", "beta", beta));
    if (terms) {
      ANDIRON_TRY(check_parameter("LayerNorm", "beta", terms->shape(), factors.shape()));
    }
    const std::size_t rank = factors.rank();
    if (rank == 0 || x.rank() < rank ||
        Shape(x.shape().dims().subspan(x.rank() - rank)) != factors.shape()) {
      return shape_error("LayerNorm", "the input does not fit the layer", x.shape(),
                         "last dimensions " + factors.shape().to_string());
    }
    ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(x.shape()));
    const std::size_t length = factors.size();
    if (out.size() == 0) return std::move(out).take();
    parallel_for(x.size() / length, row_grain(length), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const T* const from = x.data() + i * length;
        const Moments found = moments(from, length);
        normalize(from, out.data() + i * length, length, static_cast<T>(found.mean),
                  static_cast<T>(1 / std::sqrt(found.variance + epsilon)), factors.data(),
                  terms ? terms->data() : nullptr);
      }
    });
    return std::move(out).take();
  });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> GroupNorm::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  const Groups norm = {"GroupNorm", gamma, beta, num_groups, num_channels, epsilon};
  return compute_with(norm.layer, input, [&](const auto& x) { return normalize_groups(norm, x); });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> InstanceNorm::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  const Groups norm = {"InstanceNorm", gamma, beta, num_channels, num_channels, epsilon};
  return compute_with(norm.layer, input, [&](const auto& x) { return normalize_groups(norm, x); });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> RmsNorm::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return compute_with("RmsNorm", input, [&]<class T>(const Operand<T>& x) -> Result<Tensor> {
    ANDIRON_ASSIGN(const Operand<T> factors, Operand<T>::of("RmsNorm", "gamma", gamma));
    const std::size_t length = factors.size();
    if (x.rank() == 0 || factors.rank() != 1 || x.dim(x.rank() - 1) != length) {
      return shape_error("RmsNorm", "the input does not fit the layer", x.shape(),
                         "the last dimension of " + factors.shape().to_string());
    }
    ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(x.shape()));
    if (out.size() == 0) return std::move(out).take();
    parallel_for(x.size() / length, row_grain(length), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const T* const from = x.data() + i * length;
        normalize(from, out.data() + i * length, length, T{0},
                  static_cast<T>(1 / std::sqrt(mean_square(from, length) + epsilon)),
                  factors.data(), nullptr);
      }
    });
    return std::move(out).take();
  });
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
