// SPDX-License-Identifier: MIT OR Apache-2.0
// Layers whose settings, parameters and input are drawn from bytes, and need not fit each other. A
// forward pass gives floats or an error that says something, and the same with plain loops alone.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "andiron/andiron.h"
#include "fuzz/property.h"
#include "src/nn/forward/plain_loops.h"

using namespace andiron;
using namespace andiron::fuzz;

namespace {

// Takes bytes for everything that a layer has; zeros when they are used up.
class Draw {
 public:
  Draw(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }

  void fill(bool& flag) { flag = byte() % 2 != 0; }
  // Most are small: a product of them is done in no time. What is not cannot be done at all.
  void fill(std::uint64_t& size) {
    constexpr std::uint64_t large[] = {9,
                                       17,
                                       std::uint64_t{1} << 40,
                                       std::uint64_t{1} << 62,
                                       std::uint64_t{1} << 63,
                                       ~std::uint64_t{0}};
    const std::uint8_t drawn = byte();
    size = drawn < 240 ? drawn % 8 : large[drawn % std::size(large)];
  }
  void fill(double& number) {
    constexpr double odd[] = {0,
                              -0.0,
                              1e-30,
                              1e30,
                              -1e30,
                              1e-5,
                              std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()};
    const std::uint8_t drawn = byte();
    number = drawn < 240 ? drawn / 8.0 : odd[drawn % std::size(odd)];
  }
  template <class T, std::size_t n>
  void fill(std::array<T, n>& values) {
    for (T& value : values) fill(value);
  }
  template <class T>
  void fill(std::optional<T>& value) {
    if (byte() % 2 != 0) fill(value.emplace());
  }
  void fill(nn::PaddingConfig1d& padding) { kind(padding, 3), fill(padding.left, padding.right); }
  void fill(nn::PaddingConfig2d& padding) {
    kind(padding, 3), fill(padding.top, padding.left, padding.bottom, padding.right);
  }
  void fill(nn::PaddingConfig3d& padding) {
    kind(padding, 3), fill(padding.depth, padding.height, padding.width);
  }
  void fill(nn::Activation& activation) { activation = static_cast<nn::Activation>(byte() % 14); }
  void fill(nn::InterpolateMode& mode) { mode = static_cast<nn::InterpolateMode>(byte() % 4); }
  void fill(nn::Linear& linear) { fill(linear.weight, linear.bias); }
  void fill(nn::GateController& gate) { fill(gate.input_transform, gate.hidden_transform); }
  void fill(Param& param) {
    if (const std::uint8_t drawn = byte(); drawn != 255) param = Param(tensor(drawn));
  }
  template <class First, class Second, class... More>
  void fill(First& first, Second& second, More&... more) {
    fill(first), fill(second), (fill(more), ...);
  }

  // Of small whole numbers, whose sums are exact.
  Tensor tensor(std::uint8_t kind) {
    constexpr DType dtypes[] = {DType::f32, DType::f32,  DType::f64,
                                DType::f16, DType::bf16, DType::i64};
    std::vector<std::uint64_t> sizes(kind % 6);
    std::uint64_t count = 1;
    for (std::uint64_t& size : sizes) {
      size = byte() % 8;
      if (count * size > most_elements) size = 1;
      count *= size;
    }
    const Shape shape{std::span<const std::uint64_t>(sizes)};
    const std::uint8_t first = byte();
    std::vector<float> elements(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<float>((first + i * 7) % 9) - 2;
    }
    const Tensor floats = must(Tensor::from_values<float>(shape, elements));
    const DType dtype = dtypes[kind / 6 % std::size(dtypes)];
    return must(must(TensorSnapshot("", floats).cast(dtype)).read());
  }

 private:
  static constexpr std::uint64_t most_elements = 1024;

  template <class Padding>
  void kind(Padding& padding, unsigned kinds) {
    padding.kind = static_cast<nn::PaddingKind>(byte() % kinds);
  }

  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

template <class... Fields>
void fill_all(Draw& draw, Fields&... fields) {
  (draw.fill(fields), ...);
}

// Fills the fields of a layer: those without parameters list none.
template <class Layer>
void fill_layer(Draw& draw, Layer& layer) {
  if constexpr (requires { layer.running_var; }) {
    fill_all(draw, layer.gamma, layer.beta, layer.running_mean, layer.running_var);
  } else if constexpr (requires { layer.gamma; }) {
    fill_all(draw, layer.gamma);
    if constexpr (requires { layer.beta; }) fill_all(draw, layer.beta);
  }
  if constexpr (requires { layer.weight; }) fill_all(draw, layer.weight);
  if constexpr (requires { layer.bias; }) fill_all(draw, layer.bias);
  if constexpr (requires { layer.alpha; }) fill_all(draw, layer.alpha);
  if constexpr (requires { layer.epsilon; }) fill_all(draw, layer.epsilon);
  if constexpr (requires { layer.num_groups; }) fill_all(draw, layer.num_groups);
  if constexpr (requires { layer.num_channels; }) fill_all(draw, layer.num_channels);
  if constexpr (requires { layer.affine; }) fill_all(draw, layer.affine);
  if constexpr (requires { layer.kernel_size; }) fill_all(draw, layer.kernel_size, layer.stride);
  if constexpr (requires { layer.dilation; }) fill_all(draw, layer.dilation);
  if constexpr (requires { layer.groups; }) fill_all(draw, layer.groups);
  if constexpr (requires { layer.padding; }) fill_all(draw, layer.padding);
  if constexpr (requires { layer.padding_out; }) fill_all(draw, layer.padding_out);
  if constexpr (requires { layer.ceil_mode; }) fill_all(draw, layer.ceil_mode);
  if constexpr (requires { layer.count_include_pad; }) fill_all(draw, layer.count_include_pad);
  if constexpr (requires { layer.output_size; }) fill_all(draw, layer.output_size);
  if constexpr (requires { layer.scale_factor; }) {
    fill_all(draw, layer.scale_factor, layer.mode, layer.align_corners);
  }
  if constexpr (requires { layer.theta; }) {
    fill_all(draw, layer.max_sequence_length, layer.d_model, layer.theta);
  }
  if constexpr (requires { layer.max_timescale; }) {
    fill_all(draw, layer.max_sequence_size, layer.d_model, layer.max_timescale);
  }
  if constexpr (requires { layer.input_gate; }) {
    fill_all(draw, layer.input_gate, layer.forget_gate, layer.output_gate, layer.cell_gate,
             layer.input_forget, layer.cell_activation);
  }
  if constexpr (requires { layer.update_gate; }) {
    fill_all(draw, layer.update_gate, layer.reset_gate, layer.new_gate, layer.reset_after);
  }
  if constexpr (requires { layer.gate_activation; }) {
    fill_all(draw, layer.batch_first, layer.reverse, layer.clip, layer.gate_activation,
             layer.hidden_activation);
  }
  if constexpr (requires { layer.query; }) {
    fill_all(draw, layer.query, layer.key, layer.value, layer.output, layer.n_heads,
             layer.min_float, layer.quiet_softmax);
  }
  if constexpr (requires { layer.n_heads_kv; }) fill_all(draw, layer.n_heads_kv);
}

template <class Layer>
Result<Tensor> pass(Draw& draw) {
  Layer layer;
  fill_layer(draw, layer);
  const Tensor input = draw.tensor(draw.byte());
  if constexpr (requires { layer.n_heads_kv; }) {
    return layer.forward(input, draw.tensor(draw.byte()));
  } else {
    return layer.forward(input);
  }
}

using Pass = Result<Tensor> (*)(Draw&);
// Seeds know a layer by its place.
constexpr Pass passes[] = {
    pass<nn::Linear>,
    pass<nn::Conv1d>,
    pass<nn::Conv2d>,
    pass<nn::Conv3d>,
    pass<nn::ConvTranspose1d>,
    pass<nn::ConvTranspose2d>,
    pass<nn::ConvTranspose3d>,
    pass<nn::Embedding>,
    pass<nn::BatchNorm>,
    pass<nn::LayerNorm>,
    pass<nn::GroupNorm>,
    pass<nn::InstanceNorm>,
    pass<nn::RmsNorm>,
    pass<nn::MaxPool1d>,
    pass<nn::MaxPool2d>,
    pass<nn::AvgPool1d>,
    pass<nn::AvgPool2d>,
    pass<nn::AdaptiveAvgPool1d>,
    pass<nn::AdaptiveAvgPool2d>,
    pass<nn::AdaptiveMaxPool1d>,
    pass<nn::AdaptiveMaxPool2d>,
    pass<nn::Unfold4d>,
    pass<nn::Interpolate1d>,
    pass<nn::Interpolate2d>,
    pass<nn::PositionalEncoding>,
    pass<nn::RotaryEncoding>,
    pass<nn::Lstm>,
    pass<nn::Gru>,
    pass<nn::MultiHeadAttention>,
    pass<nn::CrossAttention>,
    pass<nn::PRelu>,
};
constexpr std::size_t products = 7;  // the first ones are sums of products, and nothing else

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t which = data[0] % std::size(passes);
  const auto run = [&] {
    Draw draw(data + 1, size - 1);
    return passes[which](draw);
  };
  const Result<Tensor> found = run();
  const nn::plain::Only only;
  const Result<Tensor> plain = run();
  ANDIRON_HOLDS(found.ok() == plain.ok());
  if (!found) {
    ANDIRON_HOLDS(!found.error().message.empty() && found.error().code == plain.error().code);
    return 0;
  }
  ANDIRON_HOLDS(found->shape() == plain->shape() && found->dtype() == plain->dtype());
  ANDIRON_HOLDS(is_float(found->dtype()));
  if (which >= products || found->dtype() != DType::f32) return 0;
  const std::vector<float> a = must(found->to_vector<float>());
  const std::vector<float> b = must(plain->to_vector<float>());
  // The elements are whole numbers, small enough for exact sums.
  ANDIRON_HOLDS(a == b);
  return 0;
}
