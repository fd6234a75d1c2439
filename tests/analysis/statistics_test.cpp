// SPDX-License-Identifier: MIT OR Apache-2.0
// Statistics of tensors of every dtype, in files and in memory.
#include "andiron/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/analysis/extreme_doubles.h"
#include "tests/core/quant_schemes.h"
#include "tests/support/archive_writing.h"
#include "tests/support/noise.h"
#include "tests/support/sparse_source.h"
#include "tests/support/test_source.h"

namespace andiron::test {
namespace {

template <class T>
TensorSnapshot tensor_of(const std::vector<T>& values) {
  return {"t", Tensor::from_values<T>({values.size()}, std::span<const T>(values)).value()};
}

TensorSnapshot bytes_as(DType dtype, Shape shape, const std::string& data) {
  return {"t", Tensor::from_bytes(dtype, std::move(shape), Bytes::own(data)).value()};
}

// A tensor of floats in a source that lends nothing.
TensorSnapshot stored_floats(const std::vector<float>& values) {
  const auto source = std::make_shared<TestSource>(bytes_of(values));
  return TensorSnapshot::from_source("t", source, 0, source->size(), DType::f32, {values.size()})
      .value();
}

std::vector<float> random_floats(std::size_t count) {
  std::mt19937 random(3);
  std::normal_distribution<float> distribution(0.5f, 2);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

// All digits of what was computed.
std::string text_of(const Statistics& result) {
  std::string text = std::to_string(result.count) + " " + std::to_string(result.zeros) + " " +
                     std::to_string(result.nans) + " " + std::to_string(result.infinities());
  for (const double number :
       {to_double(result.min), to_double(result.max), to_double(result.abs_max), result.mean,
        result.standard_deviation, result.l2}) {
    text += " " + std::to_string(std::bit_cast<std::uint64_t>(number));
  }
  if (result.histogram) {
    for (const std::uint64_t count : result.histogram->counts) text += " " + std::to_string(count);
  }
  return text;
}

TEST(Statistics, DescribeTheFiniteElements) {
  const Statistics result =
      statistics(tensor_of<float>({1, -2, 0, 4, NAN, INFINITY, -INFINITY, -0.0f, INFINITY}))
          .value();
  EXPECT_EQ(result.count, 9U);
  EXPECT_EQ(result.zeros, 2U);
  EXPECT_EQ(result.nans, 1U);
  EXPECT_EQ(result.positive_infinities, 2U);
  EXPECT_EQ(result.negative_infinities, 1U);
  EXPECT_EQ(result.infinities(), 3U);
  EXPECT_FALSE(result.is_finite());
  EXPECT_EQ(result.min, Number(-2.0));
  EXPECT_EQ(result.max, Number(4.0));
  EXPECT_EQ(result.abs_max, Number(4.0));
  EXPECT_DOUBLE_EQ(result.mean, 0.6);
  EXPECT_DOUBLE_EQ(result.standard_deviation, std::sqrt((0.16 + 6.76 + 0.36 + 11.56 + 0.36) / 5));
  EXPECT_DOUBLE_EQ(result.l2, std::sqrt(21.0));
  EXPECT_FALSE(result.histogram);
  EXPECT_EQ(result.refused, "");
}

TEST(Statistics, OfNothingAreNotNumbers) {
  for (const TensorSnapshot& none :
       {tensor_of<float>({}), tensor_of<std::int64_t>({}), tensor_of<float>({NAN, INFINITY})}) {
    const Statistics result = statistics(none, {.histogram_bins = 4}).value();
    EXPECT_TRUE(std::isnan(to_double(result.min)));
    EXPECT_TRUE(std::isnan(to_double(result.max)));
    EXPECT_TRUE(std::isnan(to_double(result.abs_max)));
    EXPECT_TRUE(std::isnan(result.mean));
    EXPECT_TRUE(std::isnan(result.standard_deviation));
    EXPECT_EQ(result.l2, 0);
    EXPECT_FALSE(result.histogram);
  }
}

TEST(Statistics, OfAScalarAreItself) {
  const Tensor scalar = Tensor::from_values<float>({}, {-3}).value();
  const Statistics result = statistics(TensorSnapshot("t", scalar)).value();
  EXPECT_EQ(result.count, 1U);
  EXPECT_EQ(result.min, Number(-3.0));
  EXPECT_EQ(result.abs_max, Number(3.0));
  EXPECT_EQ(result.mean, -3);
  EXPECT_EQ(result.standard_deviation, 0);
  EXPECT_EQ(result.l2, 3);
}

TEST(Statistics, IntegersOf64BitsAreExactInTheRange) {
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const Statistics wide =
      statistics(tensor_of<std::int64_t>({9007199254740993, lowest, 9007199254740995})).value();
  EXPECT_EQ(wide.min, Number(lowest));
  EXPECT_EQ(wide.max, Number(std::int64_t{9007199254740995}));
  EXPECT_EQ(wide.abs_max, Number(std::uint64_t{1} << 63));
  constexpr std::uint64_t highest = std::numeric_limits<std::uint64_t>::max();
  const Statistics natural = statistics(tensor_of<std::uint64_t>({highest, highest - 1})).value();
  EXPECT_EQ(natural.min, Number(highest - 1));
  EXPECT_EQ(natural.max, Number(highest));
  EXPECT_EQ(natural.abs_max, Number(highest));
}

TEST(Statistics, SmallIntegersAndBooleansAreIntegers) {
  const Statistics small = statistics(tensor_of<std::int8_t>({-128, 5, 0})).value();
  EXPECT_EQ(small.min, Number(std::int64_t{-128}));
  EXPECT_EQ(small.abs_max, Number(std::uint64_t{128}));
  EXPECT_EQ(small.zeros, 1U);
  const Statistics natural = statistics(tensor_of<std::uint32_t>({7, 4294967295})).value();
  EXPECT_EQ(natural.max, Number(std::uint64_t{4294967295}));
  const Statistics truths = statistics(tensor_of<std::uint8_t>({1, 0, 1, 1})).value();
  EXPECT_EQ(truths.mean, 0.75);
  const Statistics bools = statistics(bytes_as(DType::boolean, {4}, {1, 0, 2, 1})).value();
  EXPECT_EQ(bools.max, Number(std::uint64_t{1}));
  EXPECT_EQ(bools.mean, 0.75);
  EXPECT_EQ(bools.zeros, 1U);
}

// Each dtype, with all bit patterns or many, against its elements one by one.
TEST(Statistics, EveryFloatHasTheStatisticsOfItsDecodedElements) {
  for (unsigned number = 0; number < dtype_count; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (!is_float(dtype) || dtype == DType::f6e2m3 || dtype == DType::f6e3m2) continue;
    SCOPED_TRACE(dtype_name(dtype));
    const std::string data = noise(6144);
    const std::uint64_t count = data.size() * 8 / bit_width(dtype);
    std::uint64_t nans = 0;
    std::uint64_t zeros = 0;
    std::uint64_t infinities = 0;
    double min = infinity;
    double max = -infinity;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, data.data() + i * bit_width(dtype) / 8, (bit_width(dtype) + 7) / 8);
      if (dtype == DType::f4e2m1) bits = i % 2 == 0 ? bits & 15 : bits >> 4;
      const double element = decode_float(dtype, bits);
      nans += std::isnan(element);
      infinities += std::isinf(element);
      zeros += element == 0;
      if (!std::isfinite(element)) continue;
      min = std::min(min, element);
      max = std::max(max, element);
    }
    const Statistics result = statistics(bytes_as(dtype, {count}, data)).value();
    EXPECT_EQ(result.count, count);
    EXPECT_EQ(result.nans, nans);
    EXPECT_EQ(result.infinities(), infinities);
    EXPECT_EQ(result.zeros, zeros);
    EXPECT_EQ(result.min, Number(min));
    EXPECT_EQ(result.max, Number(max));
  }
}

TEST(Statistics, OfComplexTensorsAreThoseOfMagnitudes) {
  using Complex = std::complex<float>;
  const Statistics result =
      statistics(tensor_of<Complex>({{3, 4}, {0, 0}, {-6, 8}, {NAN, INFINITY}, {1, -INFINITY}}))
          .value();
  EXPECT_EQ(result.count, 5U);
  EXPECT_EQ(result.zeros, 1U);
  EXPECT_EQ(result.nans, 1U);
  EXPECT_EQ(result.positive_infinities, 1U);
  EXPECT_EQ(result.min, Number(0.0));
  EXPECT_EQ(result.max, Number(10.0));
  EXPECT_EQ(result.mean, 5);
  EXPECT_DOUBLE_EQ(result.l2, std::sqrt(125.0));
  const Statistics huge = statistics(tensor_of<std::complex<double>>({{3e300, -4e300}})).value();
  EXPECT_DOUBLE_EQ(to_double(huge.max), 5e300);
  EXPECT_DOUBLE_EQ(huge.l2, 5e300);
}

TEST(Statistics, OfQuantizedTensorsAreThoseOfTheirElements) {
  const QuantScheme scheme = per_block(per_tensor(QuantValue::q4s, QuantStore::packed_u32),
                                       block_of({2, 8}), QuantParam::f16);
  std::string payload = noise(size_of(scheme, {6, 24}));
  // Scales of 1, so that they are finite.
  for (std::size_t at = 6 * 12; at < payload.size(); at += 2) payload.replace(at, 2, "\x00\x3c", 2);
  const Tensor tensor = Tensor::qfloat(scheme, {6, 24}, Bytes::own(payload)).value();
  const Tensor numbers = dequantize(tensor).value();
  EXPECT_EQ(text_of(statistics(TensorSnapshot("t", tensor), {.histogram_bins = 5}).value()),
            text_of(statistics(TensorSnapshot("t", numbers), {.histogram_bins = 5}).value()));
}

TEST(Statistics, RefuseElementsThatAreNotKnownAsNumbers) {
  const Tensor raw = Tensor::raw("F128", {3}, Bytes::own(std::string(48, ' '))).value();
  const QuantScheme lookup = {.mode = QuantMode::lookup};
  const Tensor table =
      Tensor::qfloat(lookup, {4}, Bytes::own(std::string(size_of(lookup, {4}), ' '))).value();
  const TensorSnapshot packed = bytes_as(DType::f6e2m3, {4}, "abc");
  const Archive archive = archive_of({{"raw", raw},
                                      {"table", table},
                                      packed.with_path("packed"),
                                      tensor_of<float>({1, 2}).with_path("known")});
  const std::vector<Statistics> all = statistics(archive).value();
  EXPECT_EQ(all[0].count, 3U);
  EXPECT_NE(all[0].refused.find("raw:F128"), std::string::npos) << all[0].refused;
  EXPECT_NE(all[1].refused, "");
  EXPECT_EQ(all[2].count, 4U);
  EXPECT_NE(all[2].refused.find("packed"), std::string::npos) << all[2].refused;
  EXPECT_EQ(all[3].refused, "");
  EXPECT_EQ(all[3].mean, 1.5);
  EXPECT_EQ(statistics(packed).error().code, ErrorCode::unsupported_dtype);
  EXPECT_EQ(statistics(TensorSnapshot("a.raw", raw)).error().tensor, "a.raw");
}

TEST(Statistics, SeeStridedAndBigEndianTensorsAsTheirElements) {
  const std::vector<float> values = random_floats(60);
  const TensorSnapshot plain = stored_floats(values);
  const TensorSnapshot turned = plain.reshape({6, 10})->transpose(0, 1).value();
  const TensorSnapshot copied = {"t", turned.read().value()};
  EXPECT_EQ(text_of(statistics(turned).value()), text_of(statistics(copied).value()));

  std::string swapped(4 * values.size(), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t bits = __builtin_bswap32(std::bit_cast<std::uint32_t>(values[i]));
    std::memcpy(swapped.data() + 4 * i, &bits, sizeof bits);
  }
  const std::int64_t strides[] = {4};
  const TensorSnapshot big =
      TensorSnapshot::from_strided("t", std::make_shared<TestSource>(swapped), 0, DType::f32, {60},
                                   strides, true)
          .value();
  EXPECT_EQ(text_of(statistics(big).value()), text_of(statistics(plain).value()));
}

TEST(Statistics, HistogramsCountTheFiniteElements) {
  const Statistics result =
      statistics(tensor_of<float>({0, 1, 2, 3, 4, NAN, INFINITY, 4}), {.histogram_bins = 4})
          .value();
  ASSERT_TRUE(result.histogram);
  EXPECT_EQ(result.histogram->low, 0);
  EXPECT_EQ(result.histogram->high, 4);
  EXPECT_EQ(result.histogram->counts, (std::vector<std::uint64_t>{1, 1, 1, 3}));
  const Statistics equal = statistics(tensor_of<float>({7, 7}), {.histogram_bins = 3}).value();
  EXPECT_EQ(equal.histogram->counts, (std::vector<std::uint64_t>{2, 0, 0}));
  EXPECT_EQ(statistics(tensor_of<float>({1}), {.histogram_bins = 65'537}).error().code,
            ErrorCode::invalid_argument);
  Archive many;
  for (int i = 0; i < 1025; ++i)
    many.add(tensor_of<float>({1}).with_path(std::to_string(i))).value();
  EXPECT_EQ(statistics(many, {.histogram_bins = 65'536}).error().code, ErrorCode::invalid_argument);
}

// More than two stretches, and a rest.
constexpr std::size_t several_stretches = 5'000'003;

TEST(Statistics, DoNotDependOnThreadsOrMemory) {
  // Big enough for several stretches, with what slows down.
  std::vector<float> values = random_floats(several_stretches);
  values[4'000'000] = NAN;
  values[17] = -INFINITY;
  const TensorSnapshot tensor = stored_floats(values);
  const TensorSnapshot turned =
      tensor.slice(0, 0, 4'000'000)->reshape({2000, 2000})->transpose(0, 1).value();
  Archive archive = archive_of({tensor, turned.with_path("turned")});
  for (std::size_t i = 0; i < 50; ++i) {
    archive.add(stored_floats(random_floats(i)).with_path(std::to_string(i))).value();
  }
  const auto all_text = [&](const StatisticsOptions& options) {
    std::string text;
    for (const Statistics& one : statistics(archive, options).value()) text += text_of(one) + "\n";
    return text;
  };
  const std::string expected = all_text({.histogram_bins = 10, .threads = 1});
  EXPECT_EQ(all_text({.histogram_bins = 10}), expected);
  for (const unsigned threads : {2u, 3u, 16u}) {
    EXPECT_EQ(all_text({.histogram_bins = 10, .threads = threads}), expected) << threads;
  }
  EXPECT_EQ(all_text({.histogram_bins = 10, .threads = 2, .window_bytes = 0}), expected);
  EXPECT_EQ(all_text({.histogram_bins = 10, .threads = 2, .window_bytes = 100'000}), expected);
}

TEST(Statistics, AreExactOverManyStretches) {
  const std::vector<float> values = random_floats(several_stretches);
  long double sum = 0;
  long double squares = 0;
  for (const float value : values) {
    sum += value;
    squares += static_cast<long double>(value) * value;
  }
  const Statistics result = statistics(stored_floats(values)).value();
  EXPECT_NEAR(result.mean, static_cast<double>(sum / several_stretches), 1e-15);
  EXPECT_NEAR(result.l2 / static_cast<double>(std::sqrt(squares)), 1, 1e-14);
}

TEST(Statistics, TiedTensorsAreReadOnce) {
  const auto source = std::make_shared<TestSource>(std::string(4000, '\0'));
  const TensorSnapshot one =
      TensorSnapshot::from_source("a", source, 0, 4000, DType::f32, {1000}).value();
  const Archive archive = archive_of({one, one.with_path("b")});
  const std::vector<Statistics> all = statistics(archive).value();
  EXPECT_EQ(all[1].zeros, 1000U);
  EXPECT_EQ(source->bytes_read(), 4000U);
}

TEST(Statistics, MemoryDoesNotGrowWithTheTensor) {
  // Read through windows from a source that has no memory for it.
  const std::uint64_t size = std::uint64_t{100} << 20;
  const auto source = std::make_shared<SparseSource>(
      std::vector<SparseSource::Piece>{{size - 1, std::string(1, '\x05')}}, size);
  const TensorSnapshot tensor =
      TensorSnapshot::from_source("t", source, 0, size, DType::u8, {size}).value();
  const Statistics result = statistics(tensor, {.window_bytes = 64 * 1024}).value();
  EXPECT_EQ(result.zeros, size - 1);
  EXPECT_EQ(result.max, Number(std::uint64_t{5}));
}

TEST(Statistics, AHugeShapeMadeOfOneElementCanBeCancelled) {
  const Tensor one = Tensor::from_values<float>({1}, {2}).value();
  const std::uint64_t count = std::uint64_t{1} << 58;
  const TensorSnapshot expanded = TensorSnapshot("t", one).expand({count}).value();
  int calls = 0;
  const Result<Statistics> result =
      statistics(expanded, {.threads = 2, .progress = [&](std::uint64_t, std::uint64_t total) {
                              EXPECT_EQ(total, 4 * count);
                              return ++calls < 3;
                            }});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::cancelled);
  EXPECT_EQ(calls, 3);
}

TEST(Statistics, ProgressIsToldOnTheCallingThreadUpToTheEnd) {
  const std::thread::id caller = std::this_thread::get_id();
  const TensorSnapshot tensor = stored_floats(random_floats(several_stretches));
  for (const unsigned threads : {1u, 4u}) {
    std::uint64_t last = 0;
    const auto progress = [&](std::uint64_t done, std::uint64_t total) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(total, 2 * 4 * several_stretches);
      EXPECT_GT(done, last);
      last = done;
      return true;
    };
    ASSERT_TRUE(
        statistics(tensor, {.histogram_bins = 4, .threads = threads, .progress = progress}));
    EXPECT_EQ(last, 2 * 4 * several_stretches);
  }
  const auto never = [](std::uint64_t, std::uint64_t) { return ADD_FAILURE(), true; };
  EXPECT_TRUE(statistics(tensor_of<float>({}), {.progress = never}));
}

#if defined(__cpp_exceptions)
TEST(Statistics, ExceptionsOfProgressPassThrough) {
  const TensorSnapshot tensor = stored_floats(random_floats(several_stretches));
  const auto progress = [](std::uint64_t, std::uint64_t) -> bool { throw std::runtime_error(""); };
  EXPECT_THROW(static_cast<void>(statistics(tensor, {.threads = 3, .progress = progress})),
               std::runtime_error);
}
#endif

TEST(Statistics, ErrorsOfReadingNameTheTensor) {
  const auto source = std::make_shared<TestSource>(bytes_of(random_floats(several_stretches)));
  source->fail_reads_past(4 * 3'000'000);
  const TensorSnapshot tensor =
      TensorSnapshot::from_source("layers.3.weight", source, 0, 4 * several_stretches, DType::f32,
                                  {several_stretches})
          .value();
  for (const unsigned threads : {1u, 4u}) {
    const Result<Statistics> result = statistics(tensor, {.threads = threads});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::io);
    EXPECT_EQ(result.error().tensor, "layers.3.weight");
  }
}

}  // namespace
}  // namespace andiron::test
