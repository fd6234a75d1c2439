// SPDX-License-Identifier: MIT OR Apache-2.0
// The numbers of quantized tensors, against a second, slow implementation.
#include "andiron/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/core/quantized_rows.h"
#include "tests/core/quant_schemes.h"

namespace andiron::test {
namespace {

// A payload written down as in the format's description.
class Payload {
 public:
  Payload& words(std::initializer_list<std::uint32_t> all) {
    for (const std::uint32_t word : all) append(&word, sizeof word);
    return *this;
  }
  Payload& bytes(std::initializer_list<unsigned> all) {
    for (const unsigned byte : all) data_.push_back(static_cast<std::uint8_t>(byte));
    return *this;
  }
  Payload& floats(std::initializer_list<float> all) {
    for (const float number : all) append(&number, sizeof number);
    return *this;
  }
  Bytes done() const { return Bytes::own(data_); }

 private:
  void append(const void* from, std::size_t size) {
    const std::size_t old = data_.size();
    data_.resize(old + size);
    std::memcpy(data_.data() + old, from, size);
  }
  std::vector<std::uint8_t> data_;
};

std::vector<float> numbers(const QuantScheme& scheme, Shape shape, const Payload& payload) {
  const Tensor tensor = Tensor::qfloat(scheme, shape, payload.done()).value();
  const Tensor result = dequantize(tensor).value();
  EXPECT_EQ(result.shape(), shape);
  return result.to_vector<float>().value();
}

std::vector<float> count_up(unsigned count) {
  std::vector<float> result;
  for (unsigned i = 0; i < count; ++i) result.push_back(static_cast<float>(i));
  return result;
}

// --- numbers, as the format's description gives them ---

TEST(Dequantize, ReadsWordsOfBytesThatEndEachLine) {
  const QuantScheme scheme = per_tensor(QuantValue::q8s, QuantStore::packed_u32);
  EXPECT_EQ(numbers(scheme, {2, 3}, Payload().words({0x00020100, 0x00050403}).floats({1})),
            count_up(6));
}

TEST(Dequantize, ReadsWordsOfNibblesFromTheLowBitsUp) {
  const Payload payload = Payload().words({0x76543210, 0xffffffff}).floats({0.5f});
  const std::vector<float> rows = {0,     0.5f,  1,     1.5f,  2,     2.5f,  3,     3.5f,
                                   -0.5f, -0.5f, -0.5f, -0.5f, -0.5f, -0.5f, -0.5f, -0.5f};
  EXPECT_EQ(numbers(per_tensor(QuantValue::q4s, QuantStore::packed_u32), {2, 8}, payload), rows);
  std::vector<float> columns;
  for (std::size_t j = 0; j < 8; ++j) columns.insert(columns.end(), {rows[j], rows[8 + j]});
  EXPECT_EQ(numbers(per_tensor(QuantValue::q4s, QuantStore::packed_u32, 1), {8, 2}, payload),
            columns);
}

TEST(Dequantize, SwapsThePackedDimensionWithTheLast) {
  const QuantScheme scheme = per_tensor(QuantValue::q8s, QuantStore::packed_u32, 2);
  const Payload payload =
      Payload()
          .words({0x120c0600, 0x150f0903, 0x130d0701, 0x16100a04, 0x140e0802, 0x17110b05})
          .floats({1});
  EXPECT_EQ(numbers(scheme, {4, 2, 3}, payload), count_up(24));
}

TEST(Dequantize, ReadsTwoSmallFloatsFromAByte) {
  const QuantScheme scheme = per_tensor(QuantValue::e2m1, QuantStore::packed_native);
  EXPECT_EQ(numbers(scheme, {3}, Payload().bytes({0xf1, 0x06}).floats({2})),
            (std::vector<float>{1, -12, 8}));
}

TEST(Dequantize, FindsBlockScalesInTheSwappedOrder) {
  const QuantScheme scheme = per_block(per_tensor(QuantValue::q8s, QuantStore::packed_u32, 1),
                                       block_of({2, 4}), QuantParam::f32);
  const Payload payload = Payload()
                              .words({0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x01010101,
                                      0x01010101, 0x01010101, 0x01010101})
                              .floats({1, 3, 2, 4});
  EXPECT_EQ(numbers(scheme, {4, 8}, payload),
            (std::vector<float>{1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2,
                                3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 3, 3, 4, 4, 4, 4}));
}

TEST(Dequantize, KnowsEveryKindOfScale) {
  const QuantScheme native = per_tensor(QuantValue::q8s, QuantStore::native);
  const auto first = [&](QuantParam param, const Payload& payload) {
    return numbers(with_tensor_scale(native, param), {1}, payload).at(0);
  };
  EXPECT_EQ(first(QuantParam::f32, Payload().bytes({3}).floats({0.25f})), 0.75f);
  EXPECT_EQ(first(QuantParam::f16, Payload().bytes({3, 0x00, 0x34})), 0.75f);
  EXPECT_EQ(first(QuantParam::bf16, Payload().bytes({3, 0x80, 0x3e})), 0.75f);
  EXPECT_EQ(first(QuantParam::ue8m0, Payload().bytes({3, 125})), 0.75f);
  EXPECT_EQ(first(QuantParam::ue8m0, Payload().bytes({1, 0})), 0x1p-127f);
  EXPECT_TRUE(std::isnan(first(QuantParam::ue8m0, Payload().bytes({1, 255}))));
  EXPECT_EQ(first(QuantParam::ue4m3, Payload().bytes({1, 0x7e})), 448);
}

TEST(Dequantize, MultipliesBothScales) {
  const QuantScheme scheme =
      with_tensor_scale(per_block(per_tensor(QuantValue::e2m1, QuantStore::packed_native),
                                  block_of({2}), QuantParam::ue4m3),
                        QuantParam::f32);
  // Codes 0.5, 6 and -1; block scales 1 and 2.
  EXPECT_EQ(numbers(scheme, {3}, Payload().bytes({0x71, 0x0a, 0x38, 0x40}).floats({10})),
            (std::vector<float>{5, 60, -20}));
}

TEST(Dequantize, ReadsScalarsAndEmptyTensors) {
  EXPECT_EQ(numbers(per_tensor(QuantValue::q2s, QuantStore::packed_u32), {},
                    Payload().words({3}).floats({4})),
            std::vector<float>{-4});
  EXPECT_EQ(numbers({}, {0}, Payload().floats({4})), std::vector<float>{});
  EXPECT_EQ(numbers(per_block({}, block_of({4}), QuantParam::f32), {0}, Payload()),
            std::vector<float>{});
  // No walk over lines that hold nothing.
  EXPECT_EQ(numbers({}, {std::uint64_t{1} << 50, 0}, Payload().floats({4})), std::vector<float>{});
}

// --- numbers, against the definition applied value by value ---

// A small float: sign, exponent, mantissa. Infinity and NaN as IEEE has them, or NaN at all ones.
double small_float(unsigned code, int exponent_bits, int mantissa_bits, bool is_ieee,
                   bool has_nan) {
  const int mantissa = static_cast<int>(code & ((1u << mantissa_bits) - 1));
  const int exponent = static_cast<int>(code >> mantissa_bits & ((1u << exponent_bits) - 1));
  const double sign = code >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
  const int top_exponent = (1 << exponent_bits) - 1;
  const int top_mantissa = (1 << mantissa_bits) - 1;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (is_ieee && exponent == top_exponent) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : nan;
  }
  if (has_nan && exponent == top_exponent && mantissa == top_mantissa) return nan;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

float value_of(QuantValue value, unsigned code) {
  switch (value) {
    case QuantValue::e5m2:
      return static_cast<float>(small_float(code, 5, 2, true, true));
    case QuantValue::e4m3:
      return static_cast<float>(small_float(code, 4, 3, false, true));
    case QuantValue::e2m1:
      return static_cast<float>(small_float(code, 2, 1, false, false));
    default: {
      const int range = 1 << bit_width(value);
      const int number = static_cast<int>(code);
      return static_cast<float>(number < range / 2 ? number : number - range);
    }
  }
}

float scale_of(QuantParam param, std::uint32_t bits) {
  switch (param) {
    case QuantParam::f32:
      return std::bit_cast<float>(bits);
    case QuantParam::f16:
      return static_cast<float>(small_float(bits, 5, 10, true, true));
    case QuantParam::bf16:
      return std::bit_cast<float>(bits << 16);
    case QuantParam::ue8m0:
      return bits == 255 ? std::numeric_limits<float>::quiet_NaN()
                         : static_cast<float>(std::ldexp(1.0, static_cast<int>(bits) - 127));
    default:
      return static_cast<float>(small_float(bits, 4, 3, false, true));
  }
}

using Coordinates = std::vector<std::size_t>;

// The place of `at` in a row-major array.
std::size_t row_major(const Coordinates& at, const Coordinates& shape) {
  std::size_t index = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
  return index;
}

std::size_t count_of(const Coordinates& shape) {
  std::size_t count = 1;
  for (const std::size_t dim : shape) count *= dim;
  return count;
}

Coordinates swapped(Coordinates dims, std::size_t a, std::size_t b) {
  std::swap(dims[a], dims[b]);
  return dims;
}

struct Sample {
  std::vector<std::uint8_t> payload;
  std::vector<float> numbers;
};

// Random codes and scales, put where the definition wants them.
Sample sample(const QuantScheme& scheme, Coordinates shape, std::mt19937& random) {
  if (shape.empty()) shape = {1};
  const std::size_t last = shape.size() - 1;
  const std::size_t axis = scheme.store == QuantStore::native
                               ? last
                               : last - static_cast<std::size_t>(scheme.packed_dim);
  const unsigned width = bit_width(scheme.value);
  const bool is_u32 = scheme.store == QuantStore::packed_u32;
  const bool is_pair =
      scheme.store == QuantStore::packed_native && scheme.value == QuantValue::e2m1;
  const std::size_t field = is_u32 || is_pair ? width : 8;
  const std::size_t unit = is_u32 ? 32 : 8;

  const Coordinates stored_shape = swapped(shape, axis, last);
  const std::size_t line_bits = (stored_shape[last] * field + unit - 1) / unit * unit;
  const std::size_t lines = count_of(stored_shape) / stored_shape[last];
  Sample result;
  result.payload.resize(lines * line_bits / 8);

  Coordinates block(shape.size(), 1);
  for (std::size_t i = 0; i < scheme.block.rank; ++i) {
    block[shape.size() - scheme.block.rank + i] = scheme.block.size[i];
  }
  Coordinates grid(shape.size(), 1);
  if (scheme.has_blocks) {
    for (std::size_t d = 0; d <= last; ++d) grid[d] = (shape[d] + block[d] - 1) / block[d];
  }
  const auto append_scale = [&](QuantParam param) {
    const unsigned bytes = byte_width(param);
    std::uint32_t bits = static_cast<std::uint32_t>(random());
    if (bytes < 4) bits &= (1u << 8 * bytes) - 1;
    // All but powers of two have a sign, and scales are positive.
    if (param != QuantParam::ue8m0) bits &= ~(1u << (8 * bytes - 1));
    for (unsigned i = 0; i < bytes; ++i) {
      result.payload.push_back(static_cast<std::uint8_t>(bits >> 8 * i));
    }
    return scale_of(param, bits);
  };
  std::vector<float> scales(count_of(grid));
  const QuantParam alone = scheme.has_tensor_scale ? scheme.tensor_param : QuantParam::f32;
  for (float& scale : scales) scale = append_scale(scheme.has_blocks ? scheme.block_param : alone);
  const bool has_both = scheme.has_blocks && scheme.has_tensor_scale;
  const float tensor_scale = has_both ? append_scale(scheme.tensor_param) : 1;

  result.numbers.resize(count_of(shape));
  for (std::size_t i = 0; i < result.numbers.size(); ++i) {
    Coordinates at(shape.size());
    std::size_t rest = i;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) at[d] = rest % shape[d];

    unsigned code = static_cast<unsigned>(random()) & ((1u << width) - 1);
    const float value = value_of(scheme.value, code);
    // A native integer has all eight bits of its sign.
    if (field == 8 && value < 0 && bit_width(scheme.value) < 8 &&
        scheme.value != QuantValue::e2m1) {
      code |= ~((1u << width) - 1) & 0xff;
    }
    const Coordinates stored = swapped(at, axis, last);
    const std::size_t line = row_major(stored, stored_shape) / stored_shape[last];
    for (std::size_t bit = 0; bit < field; ++bit) {
      const std::size_t to = line * line_bits + stored[last] * field + bit;
      if (code >> bit & 1) result.payload[to / 8] |= static_cast<std::uint8_t>(1 << to % 8);
    }

    Coordinates in_grid(shape.size(), 0);
    for (std::size_t d = 0; scheme.has_blocks && d <= last; ++d) in_grid[d] = at[d] / block[d];
    const float scale = scales[row_major(swapped(in_grid, axis, last), swapped(grid, axis, last))];
    result.numbers[i] = value * (scale * tensor_scale);
  }
  return result;
}

// Bytes that Burn's backends take for integers or for float codes, and the file does not say.
bool is_ambiguous(const QuantScheme& scheme) {
  const bool is_float = scheme.value == QuantValue::e5m2 || scheme.value == QuantValue::e4m3 ||
                        scheme.value == QuantValue::e2m1;
  return is_float && scheme.store == QuantStore::native;
}

// Some rows alone are as they are among all. They can be had of a matrix that is packed along its
// rows, if it can be read.
void expect_rows(const Tensor& tensor, const Result<Tensor>& all, std::mt19937& random) {
  const QuantScheme scheme = tensor.scheme().value();
  const bool is_matrix = tensor.shape().rank() == 2;
  ASSERT_EQ(
      detail::has_quantized_rows(tensor),
      all.ok() && is_matrix && (scheme.store == QuantStore::native || scheme.packed_dim == 0));
  if (!detail::has_quantized_rows(tensor)) return;
  const std::uint64_t rows = tensor.shape()[0];
  const std::size_t row_bytes = all->byte_size() / rows;
  const std::uint64_t start = random() % rows;
  const std::pair<std::uint64_t, std::uint64_t> ranges[] = {
      {0, rows}, {0, 1}, {rows - 1, 1}, {start, 1 + random() % (rows - start)}};
  for (const auto& [first, count] : ranges) {
    const Result<Tensor> some = detail::dequantize_rows(tensor, first, count);
    ASSERT_TRUE(some.ok()) << some.error();
    ASSERT_EQ(some->shape(), Shape({count, tensor.shape()[1]}));
    ASSERT_EQ(some->dtype(), DType::f32);
    ASSERT_EQ(some->bytes().text(),
              all->bytes().text().substr(first * row_bytes, count * row_bytes))
        << first << " " << count;
  }
}

void expect_sample(const QuantScheme& scheme, const Coordinates& dims, std::mt19937& random) {
  const std::vector<std::uint64_t> wide(dims.begin(), dims.end());
  const Shape shape{std::span<const std::uint64_t>(wide)};
  const Sample expected = sample(scheme, dims, random);
  ASSERT_EQ(size_of(scheme, shape), expected.payload.size());
  const Tensor tensor = Tensor::qfloat(scheme, shape, Bytes::own(expected.payload)).value();
  const Result<Tensor> result = dequantize(tensor);
  expect_rows(tensor, result, random);
  if (is_ambiguous(scheme)) {
    ASSERT_EQ(result.error().code, ErrorCode::unsupported);
    return;
  }
  ASSERT_TRUE(result.ok()) << result.error();
  ASSERT_EQ(result->shape(), shape);
  const auto found = result->to_vector<float>().value();
  ASSERT_EQ(found.size(), expected.numbers.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected.numbers[i])) {
      ASSERT_TRUE(std::isnan(found[i])) << i;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(found[i]),
                std::bit_cast<std::uint32_t>(expected.numbers[i]))
          << i << ": " << found[i] << " " << expected.numbers[i];
    }
  }
}

TEST(Dequantize, GivesTheNumbersOfTheDefinitionForEveryScheme) {
  std::mt19937 random(1);
  const Coordinates shapes[] = {{},      {1},       {37},         {3, 5},
                                {33, 9}, {4, 2, 3}, {2, 3, 4, 5}, {2, 1, 3, 2, 3, 2}};
  for (const Coordinates& shape : shapes) {
    for (const QuantValue value : values) {
      for (const QuantStore store : stores) {
        const std::size_t axes = store == QuantStore::native || shape.empty() ? 1 : shape.size();
        for (std::size_t axis = 0; axis < axes; ++axis) {
          const QuantScheme plain = per_tensor(value, store, axis);
          QuantBlock block;
          const std::size_t most = std::min(shape.size(), QuantBlock::max_rank);
          block.rank = static_cast<std::uint8_t>(random() % (most + 1));
          for (std::size_t i = 0; i < block.rank; ++i) {
            block.size[i] = static_cast<std::uint8_t>(1 + random() % 5);
          }
          std::vector<QuantScheme> schemes = {plain};
          for (const QuantParam param : params) {
            schemes.push_back(with_tensor_scale(plain, param));
            schemes.push_back(per_block(plain, block, param));
            for (const QuantParam other : params) {
              schemes.push_back(with_tensor_scale(per_block(plain, block, param), other));
            }
          }
          for (const QuantScheme& scheme : schemes) {
            SCOPED_TRACE(quant_scheme_text(scheme) + " rank " + std::to_string(shape.size()));
            expect_sample(scheme, shape, random);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(Dequantize, GivesTheNumbersOfTheDefinitionForRandomShapesAndBlocks) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    Coordinates shape(random() % 5);
    for (std::size_t& dim : shape) dim = 1 + random() % 11;
    QuantScheme scheme = per_tensor(values[random() % 9], stores[random() % 3]);
    if (!shape.empty()) scheme.packed_dim = random() % shape.size();
    if (scheme.store == QuantStore::native) scheme.packed_dim = 0;
    if (random() % 2 == 0) scheme = with_tensor_scale(scheme, params[random() % 5]);
    if (random() % 4 != 0) {
      QuantBlock block;
      block.rank = static_cast<std::uint8_t>(random() % (shape.size() + 1));
      for (std::size_t i = 0; i < block.rank; ++i) {
        block.size[i] = static_cast<std::uint8_t>(1 + random() % (random() % 8 == 0 ? 255 : 12));
      }
      scheme = per_block(scheme, block, params[random() % 5]);
    }
    SCOPED_TRACE(quant_scheme_text(scheme) + " round " + std::to_string(round));
    expect_sample(scheme, shape, random);
    if (HasFatalFailure()) return;
  }
}

TEST(Dequantize, GivesRowsOfMatricesAlone) {
  std::mt19937 random(3);
  for (int round = 0; round < 1000; ++round) {
    QuantScheme scheme = per_tensor(values[random() % 9], stores[random() % 3]);
    if (random() % 2 == 0) scheme = with_tensor_scale(scheme, params[random() % 5]);
    if (random() % 4 != 0) {
      QuantBlock block;
      block.rank = static_cast<std::uint8_t>(random() % 3);
      for (std::size_t i = 0; i < block.rank; ++i) {
        block.size[i] = static_cast<std::uint8_t>(1 + random() % 12);
      }
      scheme = per_block(scheme, block, params[random() % 5]);
    }
    SCOPED_TRACE(quant_scheme_text(scheme) + " round " + std::to_string(round));
    expect_sample(scheme, {1 + random() % 40, 1 + random() % 40}, random);
    if (HasFatalFailure()) return;
  }
}

TEST(Dequantize, GivesNoRowsOfWhatItCannotRead) {
  const QuantScheme scheme = per_tensor(QuantValue::q8s, QuantStore::native);
  const auto has_rows = [&](const Shape& shape, std::size_t bytes) {
    const std::vector<std::uint8_t> payload(bytes);
    return detail::has_quantized_rows(Tensor::qfloat(scheme, shape, Bytes::own(payload)).value());
  };
  EXPECT_TRUE(has_rows({2, 3}, 10));
  EXPECT_FALSE(has_rows({2, 3}, 9)) << "too short";
  EXPECT_FALSE(has_rows({0, 3}, 4));
  EXPECT_FALSE(has_rows({2, 0}, 4));
  EXPECT_FALSE(has_rows({6}, 10));
  EXPECT_FALSE(detail::has_quantized_rows(Tensor::zeros(DType::f32, {2, 3}).value()));
}

TEST(Dequantize, ReadsPayloadsThatStartAnywhere) {
  const QuantScheme scheme = per_tensor(QuantValue::q8s, QuantStore::packed_u32);
  const Bytes shifted = Payload().bytes({99}).words({0x04030201}).floats({0.5f}).done();
  const Tensor tensor = Tensor::qfloat(scheme, {4}, shifted.slice(1, 8).value()).value();
  EXPECT_EQ(dequantize(tensor).value().to_vector<float>().value(),
            (std::vector<float>{0.5f, 1, 1.5f, 2}));
}

// --- refusals ---

Bytes zeros(std::size_t size) { return Bytes::own(std::vector<std::byte>(size)); }

TEST(Dequantize, RefusesATensorThatIsNotQuantized) {
  const Result<Tensor> result = dequantize(Tensor::zeros(DType::f16, {2}).value());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::dtype_mismatch);
  EXPECT_EQ(result.error().found, "f16");
  EXPECT_EQ(result.error().expected, "qfloat");
  EXPECT_FALSE(dequantize(Tensor::raw("QFloat(Q8F,Native,Symmetric)", {2}, zeros(6)).value()));
}

TEST(Dequantize, RefusesIndicesIntoATable) {
  QuantScheme scheme = per_tensor(QuantValue::q4f, QuantStore::packed_u32);
  scheme.mode = QuantMode::lookup;
  const Result<Tensor> result = dequantize(Tensor::qfloat(scheme, {4, 8}, zeros(20)).value());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::unsupported);
  EXPECT_EQ(result.error().found, "QFloat(Q4F,PackedU32(0),Lookup)");
}

TEST(Dequantize, RefusesAPayloadOfAnotherSize) {
  const QuantScheme scheme = per_tensor(QuantValue::q4s, QuantStore::packed_u32);
  for (std::size_t size = 0; size < 40; ++size) {
    const Result<Tensor> result = dequantize(Tensor::qfloat(scheme, {3, 3}, zeros(size)).value());
    ASSERT_EQ(result.ok(), size == 16) << size;
    if (result.ok()) continue;
    EXPECT_EQ(result.error().code, ErrorCode::size_mismatch);
    EXPECT_EQ(result.error().found, std::to_string(size) + " bytes");
    EXPECT_EQ(result.error().expected, "16 bytes for QFloat(Q4S,PackedU32(0),Symmetric) [3, 3]");
    EXPECT_FALSE(result.error().hint.empty());
  }
}

TEST(Dequantize, RefusesASchemeThatDoesNotFitTheShape) {
  const QuantScheme native = per_tensor(QuantValue::q8s, QuantStore::native);
  const QuantScheme misfits[] = {per_tensor(QuantValue::q8s, QuantStore::packed_u32, 1),
                                 per_block(native, block_of({1, 4}), QuantParam::f32),
                                 per_block(native, block_of({0}), QuantParam::f32)};
  for (const QuantScheme& scheme : misfits) {
    const Result<Tensor> result = dequantize(Tensor::qfloat(scheme, {4}, zeros(8)).value());
    ASSERT_FALSE(result.ok()) << quant_scheme_text(scheme);
    EXPECT_EQ(result.error().code, ErrorCode::size_mismatch);
    EXPECT_EQ(result.error().found, quant_scheme_text(scheme) + " [4]");
  }
}

TEST(Dequantize, RefusesHostileShapesBeforeItAsksForMemory) {
  constexpr std::uint64_t huge = std::uint64_t{1} << 40;
  for (const Shape& shape : {Shape({huge}), Shape({huge, huge}), Shape({huge, huge, 0}),
                             Shape({no_size}), Shape({1u << 20, 1u << 20})}) {
    for (const QuantStore store : stores) {
      const QuantScheme scheme = per_tensor(QuantValue::q2s, store);
      const Result<Tensor> result = dequantize(Tensor::qfloat(scheme, shape, zeros(64)).value());
      ASSERT_FALSE(result.ok()) << shape;
      EXPECT_EQ(result.error().code, ErrorCode::size_mismatch);
    }
  }
}

}  // namespace
}  // namespace andiron::test
