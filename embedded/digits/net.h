// SPDX-License-Identifier: MIT OR Apache-2.0
// The network of examples/080-digits, as firmware sees it: views of the weights, and plain loops.
#pragma once

#include <andiron/fields.h>
#include <andiron/tensor_view.h>

#include <cstddef>
#include <cstdint>

namespace digits {

template <std::size_t In, std::size_t Out>
struct Convolution {
  andiron::TensorView<float, Out, In, 3, 3> weight;
  ANDIRON_MODULE(Convolution, weight)
};

template <std::size_t Channels>
struct Norm {
  andiron::TensorView<float, Channels> weight, bias, running_mean, running_var;
  ANDIRON_MODULE(Norm, weight, bias, running_mean, running_var)
};

template <std::size_t In, std::size_t Out>
struct Linear {
  andiron::TensorView<float, Out, In> weight;
  andiron::TensorView<float, Out> bias;
  ANDIRON_MODULE(Linear, weight, bias)
};

// Convolution with a border of zeros, normalization, relu, and the largest of each 2 x 2 pixels.
// `in` has In images of Size x Size, `out` gets Out images of half the size.
template <std::size_t Size, std::size_t In, std::size_t Out>
void block(const Convolution<In, Out>& convolution, const Norm<Out>& norm, const float* in,
           float* out) {
  const auto pixel = [&](std::size_t channel, std::size_t y, std::size_t x) {
    // Below 0 wraps around, beyond the other border.
    return y < Size && x < Size ? in[(channel * Size + y) * Size + x] : 0.0f;
  };
  for (std::size_t o = 0; o < Out; ++o) {
    const float scale = norm.weight[o] / __builtin_sqrtf(norm.running_var[o] + 1e-5f);
    const float shift = norm.bias[o] - norm.running_mean[o] * scale;
    for (std::size_t at = 0; at < Size * Size / 4; ++at) out[o * Size * Size / 4 + at] = 0;
    for (std::size_t y = 0; y < Size; ++y) {
      for (std::size_t x = 0; x < Size; ++x) {
        float sum = 0;
        for (std::size_t i = 0; i < In; ++i) {
          for (std::size_t v = 0; v < 3; ++v) {
            for (std::size_t u = 0; u < 3; ++u) {
              sum += convolution.weight(o, i, v, u) * pixel(i, y + v - 1, x + u - 1);
            }
          }
        }
        float& pooled = out[(o * (Size / 2) + y / 2) * (Size / 2) + x / 2];
        const float value = sum * scale + shift;
        if (value > pooled) pooled = value;
      }
    }
  }
}

template <std::size_t In, std::size_t Out>
void linear(const Linear<In, Out>& layer, const float* in, float* out) {
  for (std::size_t o = 0; o < Out; ++o) {
    out[o] = layer.bias[o];
    for (std::size_t i = 0; i < In; ++i) out[o] += layer.weight(o, i) * in[i];
  }
}

struct Net {
  Convolution<1, 16> conv1;
  Norm<16> norm1;
  Convolution<16, 32> conv2;
  Norm<32> norm2;
  Linear<128, 32> hidden;
  Linear<32, 10> output;
  ANDIRON_MODULE(Net, conv1, norm1, conv2, norm2, hidden, output)

  // An image of 8 x 8 grey values from 0 to 16 becomes one number for each digit.
  void forward(const std::uint8_t* image, float* answer) const {
    float pixels[64];
    for (std::size_t i = 0; i < 64; ++i) pixels[i] = static_cast<float>(image[i]) / 16;
    float first[16 * 4 * 4];
    block<8>(conv1, norm1, pixels, first);
    float second[32 * 2 * 2];
    block<4>(conv2, norm2, first, second);
    float last[32];
    linear(hidden, second, last);
    for (float& value : last) value = value > 0 ? value : 0;
    linear(output, last, answer);
  }
};

constexpr std::size_t image_count = 360;

struct TestSet {
  andiron::TensorView<std::uint8_t, image_count, 1, 8, 8> images;
  andiron::TensorView<std::uint8_t, image_count> labels;
  ANDIRON_MODULE(TestSet, images, labels)
};

inline std::size_t largest_of(const float* answer) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < 10; ++i) best = answer[i] > answer[best] ? i : best;
  return best;
}

}  // namespace digits
