// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/nn/activation_test.cpp
#include "andiron/nn/activation.h"

#include <algorithm>
#include <string>

#include "andiron/nn/functions.h"
#include "src/nn/forward/activation_function.h"
#include "src/nn/forward/operand.h"
#include "src/nn/forward/parallel.h"
#include "src/nn/forward/softmax.h"
#include "src/nn/forward/vector_math.h"

namespace andiron::inline v1 {
namespace nn {
namespace {

Result<Tensor> each(std::string_view name, const Result<Tensor>& input, Elementwise function,
                    double a = 0, double b = 0) {
  return compute_with(name, input, [&]<class T>(const Operand<T>& x) -> Result<Tensor> {
    ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(x.shape()));
    const ElementwiseSettings<T> settings = {static_cast<T>(a), static_cast<T>(b)};
    // Parts are whole vectors: what vector units round differs from the rest in the last bit, and
    // must not depend on the number of threads.
    constexpr std::size_t vectors = 64;
    const std::size_t count = x.size();
    parallel_for((count + vectors - 1) / vectors, element_grain / vectors,
                 [&](std::size_t first, std::size_t last) {
                   const std::size_t begin = first * vectors;
                   const std::size_t end = std::min(last * vectors, count);
                   apply_to_all(function, settings, x.data() + begin, out.data() + begin,
                                end - begin);
                 });
    return std::move(out).take();
  });
}

Result<Tensor> softmax_of(std::string_view name, SoftmaxKind kind, const Result<Tensor>& input,
                          std::int64_t dim) {
  return compute_with(name, input, [&]<class T>(const Operand<T>& x) -> Result<Tensor> {
    // A scalar is softened by itself, as in PyTorch.
    std::size_t at = 0;
    if (x.rank() > 0 || (dim != 0 && dim != -1)) {
      ANDIRON_ASSIGN(at, checked_dim(name, dim, x.shape()));
    }
    if (x.rank() > 0 && at + 1 != x.rank()) {
      const auto last = static_cast<std::int64_t>(x.rank()) - 1;
      const auto other = static_cast<std::int64_t>(at);
      return swap_dims(softmax_of(name, kind, swap_dims(x.tensor(), other, last), last), other,
                       last);
    }
    ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(x.shape()));
    const std::size_t length = x.rank() == 0 ? 1 : x.dim(at);
    if (x.size() == 0) return std::move(out).take();
    parallel_for(x.size() / length, row_grain(length), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        softmax_line(kind, x.data() + i * length, out.data() + i * length, length);
      }
    });
    return std::move(out).take();
  });
}

}  // namespace

Result<Tensor> identity(const Result<Tensor>& input) ANDIRON_NO_THROW {
  if (!input) return input.error();
  return *input;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> relu(const Result<Tensor>& input) ANDIRON_NO_THROW {
  return each("relu", input, Elementwise::relu);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> leaky_relu(const Result<Tensor>& input, double slope) ANDIRON_NO_THROW {
  return each("leaky_relu", input, Elementwise::leaky_relu, slope);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> gelu(const Result<Tensor>& input) ANDIRON_NO_THROW {
  return each("gelu", input, Elementwise::gelu);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> gelu_tanh(const Result<Tensor>& input) ANDIRON_NO_THROW {
  return each("gelu_tanh", input, Elementwise::gelu_tanh);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> silu(const Result<Tensor>& input) ANDIRON_NO_THROW {
  return each("silu", input, Elementwise::silu);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> sigmoid(const Result<Tensor>& input) ANDIRON_NO_THROW {
  return each("sigmoid", input, Elementwise::sigmoid);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> tanh(const Result<Tensor>& input) ANDIRON_NO_THROW {
  return each("tanh", input, Elementwise::tanh);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> hard_sigmoid(const Result<Tensor>& input, double alpha, double beta)
    ANDIRON_NO_THROW {
  return each("hard_sigmoid", input, Elementwise::hard_sigmoid, alpha, beta);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> hard_swish(const Result<Tensor>& input) ANDIRON_NO_THROW {
  return each("hard_swish", input, Elementwise::hard_swish);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> mish(const Result<Tensor>& input) ANDIRON_NO_THROW {
  return each("mish", input, Elementwise::mish);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> softplus(const Result<Tensor>& input, double beta) ANDIRON_NO_THROW {
  return each("softplus", input, Elementwise::softplus, beta);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> elu(const Result<Tensor>& input, double alpha) ANDIRON_NO_THROW {
  return each("elu", input, Elementwise::elu, alpha);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> sqrt(const Result<Tensor>& input) ANDIRON_NO_THROW {
  return each("sqrt", input, Elementwise::sqrt);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> exp(const Result<Tensor>& input) ANDIRON_NO_THROW {
  return each("exp", input, Elementwise::exp);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> log(const Result<Tensor>& input) ANDIRON_NO_THROW {
  return each("log", input, Elementwise::log);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> clamp(const Result<Tensor>& input, double least, double most) ANDIRON_NO_THROW {
  if (!input) return input.error();
  if (!(least <= most)) {
    return argument_error("clamp", "the bounds are not in order",
                          std::to_string(least) + " to " + std::to_string(most),
                          "the smaller one first");
  }
  return each("clamp", input, Elementwise::clamp, least, most);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> add(const Result<Tensor>& a, double number) ANDIRON_NO_THROW {
  return each("add", a, Elementwise::scale, 1, number);
}
ANDIRON_OR_OUT_OF_MEMORY
Result<Tensor> multiply(const Result<Tensor>& a, double number) ANDIRON_NO_THROW {
  return each("multiply", a, Elementwise::scale, number);
}
ANDIRON_OR_OUT_OF_MEMORY

Status check_activation(std::string_view layer, Activation activation) {
  if (static_cast<std::size_t>(activation) < activation_functions.size()) return {};
  return argument_error(layer, "unknown activation",
                        std::to_string(static_cast<unsigned>(activation)), "one of Activation");
}

Result<Tensor> activate(Activation activation, const Result<Tensor>& input) ANDIRON_NO_THROW {
  // Nothing to compute, and no copy.
  if (activation == Activation::identity) {
    return compute_with("identity", input,
                        [](const auto& x) -> Result<Tensor> { return x.tensor(); });
  }
  ANDIRON_TRY(check_activation("activate", activation));
  const auto& [name, function, a, b] = activation_functions[static_cast<std::size_t>(activation)];
  return each(name, input, function, a, b);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> prelu(const Result<Tensor>& input, const Result<Tensor>& alpha) ANDIRON_NO_THROW {
  if (!input) return input.error();
  if (!alpha) return alpha.error();
  return compute_with("PRelu", input, [&]<class T>(const Operand<T>& x) -> Result<Tensor> {
    ANDIRON_ASSIGN(const Operand<T> slopes, Operand<T>::of("PRelu", *alpha));
    const std::size_t channels = x.rank() > 1 ? x.dim(1) : 1;
    if (slopes.size() != 1 && (slopes.size() != channels || slopes.rank() != 1)) {
      return shape_error("PRelu", "alpha does not fit the input " + x.shape().to_string(),
                         slopes.shape(), "[1] or [" + std::to_string(channels) + "]");
    }
    ANDIRON_ASSIGN(NewTensor<T> out, NewTensor<T>::of(x.shape()));
    if (x.size() == 0) return std::move(out).take();
    const std::size_t planes = x.rank() > 1 ? x.dim(0) * channels : 1;
    const std::size_t plane = x.size() / planes;
    parallel_for(planes, row_grain(plane), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const T slope = slopes.data()[slopes.size() == 1 ? 0 : i % channels];
        apply_to_all(Elementwise::leaky_relu, ElementwiseSettings<T>{slope, 0},
                     x.data() + i * plane, out.data() + i * plane, plane);
      }
    });
    return std::move(out).take();
  });
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> Gelu::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return approximate ? gelu_tanh(input) : gelu(input);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> PRelu::forward(const Result<Tensor>& input) const ANDIRON_NO_THROW {
  return prelu(input, alpha.val());
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> softmax(const Result<Tensor>& input, std::int64_t dim) ANDIRON_NO_THROW {
  return softmax_of("softmax", SoftmaxKind::plain, input, dim);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> log_softmax(const Result<Tensor>& input, std::int64_t dim) ANDIRON_NO_THROW {
  return softmax_of("log_softmax", SoftmaxKind::log, input, dim);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> quiet_softmax(const Result<Tensor>& input, std::int64_t dim) ANDIRON_NO_THROW {
  return softmax_of("quiet_softmax", SoftmaxKind::quiet, input, dim);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> glu(const Result<Tensor>& input, std::int64_t dim) ANDIRON_NO_THROW {
  if (!input) return input.error();
  ANDIRON_ASSIGN(const std::size_t at, checked_dim("glu", dim, input->shape()));
  const auto size = static_cast<std::int64_t>(input->shape()[at]);
  if (size % 2 != 0) {
    return shape_error("glu", "the dimension cannot be halved", input->shape(),
                       "an even dimension " + std::to_string(at));
  }
  return multiply(slice(input, dim, 0, size / 2), sigmoid(slice(input, dim, size / 2, size)));
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace nn
}  // namespace andiron::inline v1
