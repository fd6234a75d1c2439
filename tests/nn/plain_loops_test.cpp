// SPDX-License-Identifier: MIT OR Apache-2.0
// Products and convolutions: plain loops, oneDNN and the definition agree.
#include "src/nn/forward/plain_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "andiron/nn/conv.h"
#include "andiron/nn/threads.h"
#include "src/nn/forward/convolution.h"
#include "src/nn/forward/onednn.h"
#include "src/nn/forward/product.h"
#include "src/nn/forward/unrolled_convolution.h"
#include "tests/nn/numbers.h"

namespace andiron::nn {
namespace {

class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  std::size_t from_to(std::size_t least, std::size_t most) {
    return least + engine_() % (most - least + 1);
  }
  bool coin() { return engine_() % 2 == 0; }
  std::vector<float> floats(std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(engine_()) / 0x1p31F - 1;
    return values;
  }

 private:
  std::mt19937 engine_;
};

std::vector<double> as_doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

template <class T>
void expect_close(const std::vector<T>& found, const std::vector<double>& expected,
                  double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(found[i]), expected[i], tolerance) << i;
  }
}

TEST(Backend, IsNamed) {
  const std::string name = backend();
  EXPECT_EQ(name, onednn::name() == nullptr ? "plain loops" : onednn::name());
  if (onednn::name() != nullptr) {
    EXPECT_TRUE(name.starts_with("oneDNN ")) << name;
  }
  {
    const plain::Only only;
    EXPECT_STREQ(backend(), "plain loops");
    {
      const plain::Only twice;
      EXPECT_TRUE(plain::is_wanted());
    }
    EXPECT_TRUE(plain::is_wanted());
  }
  EXPECT_EQ(backend(), name);
}

// --- products ---

struct ProductCase {
  ProductSize size;
  bool a_transposed, b_transposed, adds;
  std::size_t a_stride, b_stride, out_stride;
  std::vector<float> a, b, out;

  static ProductCase of(Draw& draw, std::size_t most) {
    ProductCase one = {};
    one.size = {draw.from_to(1, most), draw.from_to(1, most), draw.from_to(0, most)};
    one.a_transposed = draw.coin();
    one.b_transposed = draw.coin();
    one.adds = draw.coin();
    const auto [rows, columns, inner] = one.size;
    one.a_stride = (one.a_transposed ? rows : inner) + draw.from_to(0, 2);
    one.b_stride = (one.b_transposed ? inner : columns) + draw.from_to(0, 2);
    one.out_stride = columns + draw.from_to(0, 2);
    one.a = draw.floats(one.a_stride * (one.a_transposed ? inner : rows) + 1);
    one.b = draw.floats(one.b_stride * (one.b_transposed ? columns : inner) + 1);
    one.out = draw.floats(one.out_stride * rows);
    return one;
  }

  std::vector<double> expected() const {
    std::vector<double> result = as_doubles(out);
    for (std::size_t i = 0; i < size.rows; ++i) {
      for (std::size_t j = 0; j < size.columns; ++j) {
        double sum = adds ? result[i * out_stride + j] : 0;
        for (std::size_t k = 0; k < size.inner; ++k) {
          sum += double{a[a_transposed ? k * a_stride + i : i * a_stride + k]} *
                 double{b[b_transposed ? j * b_stride + k : k * b_stride + j]};
        }
        result[i * out_stride + j] = sum;
      }
    }
    return result;
  }

  template <class T>
  std::vector<T> product() const {
    const std::vector<T> left(a.begin(), a.end());
    const std::vector<T> right(b.begin(), b.end());
    std::vector<T> result(out.begin(), out.end());
    multiply(size, MatrixView<T>{left.data(), a_stride, a_transposed},
             MatrixView<T>{right.data(), b_stride, b_transposed},
             ProductTarget<T>{result.data(), out_stride, adds});
    return result;
  }
};

TEST(PlainLoops, MultiplyAsTheDefinitionAndOneDnnDo) {
  Draw draw(1);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const ProductCase one = ProductCase::of(draw, round % 10 == 0 ? 70 : 9);
    const std::vector<double> expected = one.expected();
    const auto steps = static_cast<double>(one.size.inner + 1);
    expect_close(one.product<float>(), expected, 2e-7 * steps);
    expect_close(one.product<double>(), expected, 1e-15 * steps);
    const plain::Only only;
    expect_close(one.product<float>(), expected, 2e-7 * steps);
    if (HasFatalFailure()) return;
  }
}

TEST(PlainLoops, OverwriteWhateverIsThere) {
  // What is not added to is not read: it may be NaN.
  const float ones[] = {1, 1, 1, 1};
  for (const bool only_plain : {false, true}) {
    for (const std::size_t inner : {2U, 0U}) {
      std::vector<float> out(4, std::nanf(""));
      std::optional<plain::Only> only;
      if (only_plain) only.emplace();
      multiply({2, 2, inner}, {ones, 2}, {ones, 2}, {out.data(), 2});
      expect_close(out, std::vector<double>(4, static_cast<double>(inner)), 0);
    }
  }
}

// --- convolutions ---

struct ConvCase {
  ConvSize size = {};
  bool is_transposed = false;
  std::vector<float> input, weight, bias;

  static ConvCase of(Draw& draw, bool is_transposed) {
    ConvCase one;
    one.is_transposed = is_transposed;
    ConvSize& size = one.size;
    size.rank = draw.from_to(1, 3);
    size.batch = draw.from_to(1, 2);
    size.groups = draw.from_to(1, 3);
    size.channels_in = size.groups * draw.from_to(1, 3);
    size.channels_out = size.groups * draw.from_to(1, 3);
    size.in = size.out = size.kernel = size.stride = size.dilation = {1, 1, 1};
    for (std::size_t d = 3 - size.rank; d < 3; ++d) {
      size.kernel[d] = draw.from_to(1, 3);
      size.stride[d] = draw.from_to(1, 3);
      size.dilation[d] = draw.from_to(1, 3);
      const std::size_t span = (size.kernel[d] - 1) * size.dilation[d] + 1;
      size.padding[d] = draw.from_to(0, 3);
      size.padding_end[d] = is_transposed ? size.padding[d] : draw.from_to(0, 3);
      const std::size_t padded = size.padding[d] + size.padding_end[d];
      if (is_transposed) {
        // Enough that something is left, and more at the end.
        const std::size_t most = std::max(size.stride[d], size.dilation[d]) - 1;
        const std::size_t padding_out = draw.coin() ? 0 : draw.from_to(0, most);
        size.in[d] = draw.from_to(1, 4) + padded;
        size.out[d] = (size.in[d] - 1) * size.stride[d] + span + padding_out - padded;
      } else {
        size.in[d] = draw.from_to(span > padded ? span - padded : 1, span + 6);
        size.out[d] = (size.in[d] + padded - span) / size.stride[d] + 1;
      }
    }
    one.input = draw.floats(size.batch * size.channels_in * size.in_elements());
    one.weight =
        draw.floats(size.channels_in * size.channels_out / size.groups * size.kernel_elements());
    if (draw.coin()) one.bias = draw.floats(size.channels_out);
    return one;
  }

  // Calls visit(element of the input, element of the output) for each pair that a tap joins in one
  // dimension.
  template <class Visit>
  void for_each_pair(std::size_t d, std::size_t tap, const Visit& visit) const {
    const std::size_t few = is_transposed ? size.in[d] : size.out[d];
    const std::size_t many = is_transposed ? size.out[d] : size.in[d];
    for (std::size_t i = 0; i < few; ++i) {
      const std::size_t at = i * size.stride[d] + tap * size.dilation[d];
      if (at < size.padding[d] || at - size.padding[d] >= many) continue;
      const std::size_t j = at - size.padding[d];
      is_transposed ? visit(i, j) : visit(j, i);
    }
  }

  std::vector<double> expected() const {
    std::vector<double> result(size.batch * size.channels_out * size.out_elements());
    const std::size_t in_group = size.channels_in / size.groups;
    const std::size_t out_group = size.channels_out / size.groups;
    for (std::size_t n = 0; n < size.batch; ++n) {
      for (std::size_t o = 0; o < size.channels_out; ++o) {
        double* const out = result.data() + (n * size.channels_out + o) * size.out_elements();
        if (!bias.empty()) std::fill_n(out, size.out_elements(), double{bias[o]});
        for (std::size_t c = 0; c < in_group; ++c) {
          const std::size_t i = o / out_group * in_group + c;
          const float* const in = input.data() + (n * size.channels_in + i) * size.in_elements();
          const float* const taps =
              weight.data() + (is_transposed ? i * out_group + o % out_group : o * in_group + c) *
                                  size.kernel_elements();
          add_taps(in, taps, out);
        }
      }
    }
    return result;
  }

  void add_taps(const float* in, const float* taps, double* out) const {
    for (std::size_t d = 0; d < size.kernel[0]; ++d) {
      for (std::size_t h = 0; h < size.kernel[1]; ++h) {
        for (std::size_t w = 0; w < size.kernel[2]; ++w) {
          const double tap = double{*taps++};
          for_each_pair(0, d, [&](std::size_t d_in, std::size_t d_out) {
            for_each_pair(1, h, [&](std::size_t h_in, std::size_t h_out) {
              for_each_pair(2, w, [&](std::size_t w_in, std::size_t w_out) {
                out[(d_out * size.out[1] + h_out) * size.out[2] + w_out] +=
                    tap * double{in[(d_in * size.in[1] + h_in) * size.in[2] + w_in]};
              });
            });
          });
        }
      }
    }
  }

  template <class T>
  std::vector<T> convolved() const {
    const std::vector<T> in(input.begin(), input.end());
    const std::vector<T> taps(weight.begin(), weight.end());
    const std::vector<T> added(bias.begin(), bias.end());
    std::vector<T> out(size.batch * size.channels_out * size.out_elements(), T(std::nan("")));
    const ConvOperands<T> operands = {in.data(), taps.data(), bias.empty() ? nullptr : added.data(),
                                      out.data()};
    is_transposed ? convolve_transposed(size, operands) : convolve(size, operands);
    return out;
  }
};

TEST(UnrolledConvolutions, AreAsTheDefinition) {
  Draw draw(3);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const ConvCase one = ConvCase::of(draw, false);
    const ConvSize& size = one.size;
    std::vector<float> out(size.batch * size.channels_out * size.out_elements(), NAN);
    ASSERT_TRUE(
        convolve_unrolled(size, {one.input.data(), one.weight.data(),
                                 one.bias.empty() ? nullptr : one.bias.data(), out.data()}));
    expect_close(out, one.expected(), 2e-5);
  }
}

TEST(UnrolledConvolutions, AreForLongKernelsOverFewChannels) {
  ConvSize sound = {.rank = 1,
                    .batch = 8,
                    .channels_in = 1,
                    .channels_out = 1024,
                    .groups = 1,
                    .in = {1, 1, 1024},
                    .out = {1, 1, 256},
                    .kernel = {1, 1, 512},
                    .stride = {1, 1, 4},
                    .dilation = {1, 1, 1},
                    .padding = {0, 0, 254},
                    .padding_end = {0, 0, 254}};
  EXPECT_TRUE(is_better_unrolled(sound));
  sound.channels_in = 64;
  EXPECT_FALSE(is_better_unrolled(sound));
  sound.groups = 64;
  EXPECT_TRUE(is_better_unrolled(sound));
  sound.kernel = {1, 1, 3};
  EXPECT_FALSE(is_better_unrolled(sound));
}

TEST(Convolutions, OverADimensionOfOneElementAreThoseWithoutIt) {
  Draw draw(4);
  ConvCase flat;
  flat.size = {.rank = 1,
               .batch = 2,
               .channels_in = 8,
               .channels_out = 16,
               .groups = 1,
               .in = {1, 1, 20},
               .out = {1, 1, 10},
               .kernel = {1, 1, 3},
               .stride = {1, 1, 2},
               .dilation = {1, 1, 1},
               .padding = {0, 0, 1},
               .padding_end = {0, 0, 1}};
  flat.input = draw.floats(2 * 8 * 20);
  flat.weight = draw.floats(8 * 16 * 3);
  ConvCase tall = flat;
  tall.size.rank = 3;
  for (ConvSize::Sizes* sizes : {&tall.size.in, &tall.size.out, &tall.size.kernel,
                                 &tall.size.stride, &tall.size.padding, &tall.size.padding_end}) {
    std::swap((*sizes)[1], (*sizes)[2]);
  }
  expect_close(flat.convolved<float>(), flat.expected(), 2e-5);
  EXPECT_EQ(tall.convolved<float>(), flat.convolved<float>());
}

class PlainConvolutions : public testing::TestWithParam<bool> {};

TEST_P(PlainConvolutions, AreAsTheDefinitionAndOneDnnHaveThem) {
  Draw draw(2);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const ConvCase one = ConvCase::of(draw, GetParam());
    const std::vector<double> expected = one.expected();
    expect_close(one.convolved<float>(), expected, 2e-5);
    expect_close(one.convolved<double>(), expected, 1e-13);
    const plain::Only only;
    expect_close(one.convolved<float>(), expected, 2e-5);
    if (HasFatalFailure()) return;
  }
}

TEST_P(PlainConvolutions, WithoutInputAreTheBias) {
  // oneDNN would write nothing.
  for (const bool only_plain : {false, true}) {
    std::optional<plain::Only> only;
    if (only_plain) only.emplace();
    ConvCase one;
    one.is_transposed = GetParam();
    one.size = {.rank = 1,
                .batch = 1,
                .channels_in = 0,
                .channels_out = 2,
                .groups = 1,
                .in = {1, 1, 3},
                .out = {1, 1, 3},
                .kernel = {1, 1, 1},
                .stride = {1, 1, 1},
                .dilation = {1, 1, 1},
                .padding = {},
                .padding_end = {}};
    one.bias = {4, 5};
    expect_close(one.convolved<float>(), {4, 4, 4, 5, 5, 5}, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PlainConvolutions, testing::Values(false, true),
                         [](const auto& kind) {
                           return kind.param ? std::string("Transposed") : std::string("Plain");
                         });

TEST(UnrolledConvolutions, WithoutInputAreTheBias) {
  // Few channels, a long kernel: a layer that would be unrolled.
  const Conv2d conv = {.weight = test::filled({16, 0, 8, 8}, 1),
                       .bias = Param(test::filled({16}, 7)),
                       .kernel_size = {8, 8}};
  const Tensor empty = Tensor::zeros(DType::f32, {1, 0, 8, 8}).value();
  test::expect_near(conv.forward(empty), test::filled({1, 16, 1, 1}, 7), 0);
}

TEST(PlainLoops, ConvolveNothingButPadding) {
  const Conv1d conv = {.weight = test::filled({1, 1, 3}, 1),
                       .bias = Param(test::vector_of({7})),
                       .kernel_size = 3,
                       .padding = PaddingConfig1d::explicit_(2, 2)};
  const Tensor empty = Tensor::zeros(DType::f32, {1, 1, 0}).value();
  test::expect_near(conv.forward(empty), {1, 1, 2}, {7, 7}, 0);
  const plain::Only only;
  test::expect_near(conv.forward(empty), {1, 1, 2}, {7, 7}, 0);
}

}  // namespace
}  // namespace andiron::nn
