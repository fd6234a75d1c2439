// SPDX-License-Identifier: MIT OR Apache-2.0
// The algebra of snapshots against a naive one that moves every element at every step.
#include "andiron/snapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <numeric>
#include <random>

#include "andiron/limits.h"
#include "tests/support/test_source.h"

namespace andiron {
namespace {

using Dims = std::vector<std::uint64_t>;

// Row-major integers with a shape.
struct Naive {
  Dims shape;
  std::vector<std::int64_t> values;

  static std::size_t count(const Dims& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  }

  // Values of `shape`, each taken from where `place` says, given its coordinates.
  static Naive gather(const Dims& shape, const std::function<std::int64_t(const Dims&)>& value_at) {
    Naive out{shape, {}};
    Dims at(shape.size(), 0);
    for (std::size_t i = 0; i < count(shape); ++i) {
      out.values.push_back(value_at(at));
      for (std::size_t d = shape.size(); d-- > 0 && ++at[d] == shape[d];) at[d] = 0;
    }
    return out;
  }

  std::int64_t at(const Dims& place) const {
    std::size_t index = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + place[d];
    return values[index];
  }

  Naive permute(const std::vector<std::size_t>& dims) const {
    Dims wanted;
    for (std::size_t dim : dims) wanted.push_back(shape[dim]);
    return gather(wanted, [&](const Dims& place) {
      Dims from(shape.size());
      for (std::size_t d = 0; d < dims.size(); ++d) from[dims[d]] = place[d];
      return at(from);
    });
  }

  Naive slice(std::size_t dim, std::int64_t first, std::uint64_t n, std::int64_t step) const {
    Dims wanted = shape;
    wanted[dim] = n;
    return gather(wanted, [&](const Dims& place) {
      Dims from = place;
      from[dim] = static_cast<std::uint64_t>(first + static_cast<std::int64_t>(place[dim]) * step);
      return at(from);
    });
  }

  Naive reshape(Dims wanted) const { return {std::move(wanted), values}; }

  Naive expand(const Dims& wanted) const {
    return gather(wanted, [&](const Dims& place) {
      Dims from(place.end() - static_cast<std::ptrdiff_t>(shape.size()), place.end());
      for (std::size_t d = 0; d < shape.size(); ++d) from[d] = shape[d] == 1 ? 0 : from[d];
      return at(from);
    });
  }

  static Naive concat(const std::vector<Naive>& parts, std::size_t dim) {
    Dims wanted = parts[0].shape;
    wanted[dim] = 0;
    for (const Naive& part : parts) wanted[dim] += part.shape[dim];
    return gather(wanted, [&](const Dims& place) {
      Dims from = place;
      for (const Naive& part : parts) {
        if (from[dim] < part.shape[dim]) return part.at(from);
        from[dim] -= part.shape[dim];
      }
      return std::int64_t{-1};
    });
  }

  Naive negate() const {
    Naive out = *this;
    for (std::int64_t& value : out.values) value = -value;
    return out;
  }
};

struct Pair {
  Naive naive;
  TensorSnapshot lazy;
};

enum class Kind { memory, file };

// The integers from `start` on as i16, from a source in memory or one that must be read.
Pair numbers(const Dims& shape, std::int64_t start, Kind kind) {
  Naive naive{shape, std::vector<std::int64_t>(Naive::count(shape))};
  std::iota(naive.values.begin(), naive.values.end(), start);
  std::vector<std::int16_t> stored(naive.values.begin(), naive.values.end());
  std::vector<std::byte> bytes = test::bytes_of(stored);
  const std::uint64_t size = bytes.size();
  ByteSourcePtr source;
  if (kind == Kind::memory) {
    source = memory_source(Bytes::own(std::move(bytes)));
  } else {
    source = std::make_shared<test::TestSource>(std::move(bytes));
  }
  return {naive,
          TensorSnapshot::from_source("n", source, 0, size, DType::i16, Shape(shape)).value()};
}

std::vector<std::int64_t> integers(const Tensor& tensor) {
  std::vector<std::int64_t> out;
  auto take = [&](auto values) {
    for (auto value : values) out.push_back(static_cast<std::int64_t>(value));
  };
  switch (tensor.dtype()) {
    case DType::i16:
      take(tensor.as<std::int16_t>().value());
      break;
    case DType::i32:
      take(tensor.as<std::int32_t>().value());
      break;
    case DType::f32:
      take(tensor.as<float>().value());
      break;
    case DType::f64:
      take(tensor.as<double>().value());
      break;
    default:
      ADD_FAILURE() << tensor.dtype_text();
  }
  return out;
}

void expect_same(const Pair& pair, const std::string& story) {
  ASSERT_EQ(Dims(pair.lazy.shape().begin(), pair.lazy.shape().end()), pair.naive.shape) << story;
  Result<Tensor> read = pair.lazy.read();
  ASSERT_TRUE(read) << story << ": " << read.error().to_string();
  ASSERT_EQ(integers(*read), pair.naive.values) << story;
  // Any part of the data is that part of the whole.
  const std::uint64_t width = bit_width(pair.lazy.dtype()) / 8;
  const std::uint64_t count = pair.naive.values.size();
  for (std::uint64_t first = 0; first < count; first += 1 + count / 5) {
    const std::uint64_t n = std::min<std::uint64_t>(count - first, 1 + count / 3);
    std::vector<std::byte> part(n * width);
    Status status = pair.lazy.read_part(first * width, part);
    ASSERT_TRUE(status) << story << ": " << status.error().to_string();
    ASSERT_EQ(std::memcmp(part.data(), read->bytes().data() + first * width, part.size()), 0)
        << story;
  }
}

// All shapes up to `rank` with dimensions up to `most`.
std::vector<Dims> all_shapes(std::size_t rank, std::uint64_t most) {
  std::vector<Dims> shapes = {{}};
  for (std::size_t begin = 0, end = 1; rank-- > 0; begin = end, end = shapes.size()) {
    for (std::size_t i = begin; i < end; ++i) {
      for (std::uint64_t dim = 0; dim <= most; ++dim) {
        Dims longer = shapes[i];
        longer.push_back(dim);
        shapes.push_back(longer);
      }
    }
  }
  return shapes;
}

// All ways to write `count` as a product of up to three factors.
std::vector<Dims> factorings(std::uint64_t count) {
  std::vector<Dims> out = {{count}};
  for (std::uint64_t a = 1; a <= count; ++a) {
    if (count % a != 0) continue;
    out.push_back({a, count / a});
    for (std::uint64_t b = 1; b <= count / a; ++b) {
      if (count / a % b == 0) out.push_back({a, b, count / a / b});
    }
  }
  if (count == 1) out.push_back({});
  return out;
}

std::vector<std::vector<std::size_t>> permutations(std::size_t rank) {
  std::vector<std::size_t> dims(rank);
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  std::vector<std::vector<std::size_t>> out;
  do out.push_back(dims);
  while (std::next_permutation(dims.begin(), dims.end()));
  return out;
}

std::string text(const Dims& dims) { return Shape(dims).to_string(); }

// Every single operation on a pair.
std::vector<Pair> every_step(const Pair& pair) {
  std::vector<Pair> out;
  const Dims& shape = pair.naive.shape;
  for (const auto& dims : permutations(shape.size())) {
    out.push_back({pair.naive.permute(dims), pair.lazy.permute(dims).value()});
  }
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    const auto size = static_cast<std::int64_t>(shape[dim]);
    for (std::int64_t first = 0; first < size; ++first) {
      for (std::int64_t step : {-2, -1, 1, 2}) {
        const std::int64_t room = step > 0 ? size - 1 - first : first;
        for (std::int64_t n = 1; n <= room / std::abs(step) + 1; ++n) {
          const std::int64_t last = first + n * step;
          std::optional<std::int64_t> stop = last;
          if (last < 0) stop = std::nullopt;
          out.push_back({pair.naive.slice(dim, first, static_cast<std::uint64_t>(n), step),
                         pair.lazy.slice(dim, first, stop, step).value()});
        }
      }
    }
    out.push_back({pair.naive.slice(dim, 0, 0, 1), pair.lazy.slice(dim, 1, 1).value()});
  }
  if (!pair.naive.values.empty()) {
    for (const Dims& wanted : factorings(pair.naive.values.size())) {
      out.push_back({pair.naive.reshape(wanted), pair.lazy.reshape(Shape(wanted)).value()});
    }
  }
  for (std::size_t dim = 0; dim <= shape.size(); ++dim) {
    Dims wanted = shape;
    wanted.insert(wanted.begin() + static_cast<std::ptrdiff_t>(dim), 1);
    out.push_back({pair.naive.reshape(wanted), pair.lazy.unsqueeze(dim).value()});
  }
  {
    Dims wanted = shape;
    wanted.insert(wanted.begin(), 2);
    for (std::uint64_t& dim : wanted) dim = dim == 1 ? 3 : dim;
    out.push_back({pair.naive.expand(wanted), pair.lazy.expand(Shape(wanted)).value()});
  }
  out.push_back({pair.naive.negate(), pair.lazy.negate().value()});
  out.push_back({pair.naive, pair.lazy.cast(DType::f32).value()});
  return out;
}

TEST(Snapshot, EverySingleOperationOnSmallShapesEqualsTheNaiveOne) {
  for (Kind kind : {Kind::memory, Kind::file}) {
    for (const Dims& shape : all_shapes(3, 4)) {
      for (const Pair& step : every_step(numbers(shape, 1, kind))) {
        expect_same(step, text(shape));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Snapshot, EveryPairOfOperationsOnSmallShapesEqualsTheNaiveOne) {
  for (const Dims& shape : std::vector<Dims>{{}, {3}, {2, 3}, {1, 3}, {0, 2}, {2, 1, 3}}) {
    for (const Pair& first : every_step(numbers(shape, 1, Kind::file))) {
      for (const Pair& second : every_step(first)) {
        expect_same(second, text(shape));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(Snapshot, EveryOperationOnAJoinEqualsTheNaiveOne) {
  for (Kind kind : {Kind::memory, Kind::file}) {
    for (const Dims& shape : std::vector<Dims>{{2}, {1}, {2, 3}, {1, 2}, {2, 1, 2}, {0, 2}}) {
      for (std::size_t dim = 0; dim < shape.size(); ++dim) {
        std::vector<Naive> naive;
        std::vector<TensorSnapshot> lazy;
        for (std::uint64_t extra = 0; extra < 3; ++extra) {
          Dims part = shape;
          part[dim] = (part[dim] + extra) % 4;
          Pair pair = numbers(part, static_cast<std::int64_t>(100 * extra), kind);
          naive.push_back(pair.naive);
          lazy.push_back(pair.lazy);
        }
        const Pair joined{Naive::concat(naive, dim), TensorSnapshot::concat(lazy, dim).value()};
        expect_same(joined, "join of " + text(shape));
        for (const Pair& first : every_step(joined)) {
          expect_same(first, "join of " + text(shape));
          if (first.naive.values.size() > 12) continue;
          for (const Pair& second : every_step(first)) {
            expect_same(second, "join of " + text(shape));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(Snapshot, LongRandomChainsEqualTheNaiveOnes) {
  std::mt19937 random(20240607);
  for (int round = 0; round < 400; ++round) {
    Pair pair = numbers({2, 3, 4}, 1, round % 2 == 0 ? Kind::memory : Kind::file);
    for (int step = 0; step < 8; ++step) {
      if (random() % 5 == 0 && !pair.naive.shape.empty() && pair.naive.values.size() < 200) {
        const std::size_t dim = random() % pair.naive.shape.size();
        const std::vector<TensorSnapshot> twice = {pair.lazy, pair.lazy};
        pair = {Naive::concat({pair.naive, pair.naive}, dim),
                TensorSnapshot::concat(twice, dim).value()};
        continue;
      }
      std::vector<Pair> next = every_step(pair);
      Pair chosen = next[random() % next.size()];
      if (chosen.naive.values.size() <= 400) pair = chosen;
    }
    expect_same(pair, "round " + std::to_string(round));
    if (HasFatalFailure()) return;
  }
}

TEST(Snapshot, StackJoinsAlongANewDimension) {
  const Pair a = numbers({2, 3}, 0, Kind::file);
  const Pair b = numbers({2, 3}, 50, Kind::memory);
  for (std::size_t dim = 0; dim <= 2; ++dim) {
    Dims raised = a.naive.shape;
    raised.insert(raised.begin() + static_cast<std::ptrdiff_t>(dim), 1);
    const Naive naive = Naive::concat({a.naive.reshape(raised), b.naive.reshape(raised)}, dim);
    const std::vector<TensorSnapshot> parts = {a.lazy, b.lazy};
    expect_same({naive, TensorSnapshot::stack(parts, dim).value()}, "stack");
  }
}

TEST(Snapshot, ALargeJoinOfNarrowColumnsIsInterleavedInBatches) {
  const Pair a = numbers({9000, 1}, 0, Kind::file);
  const Pair b = numbers({9000, 2}, 9000, Kind::file);
  const std::vector<TensorSnapshot> parts = {a.lazy, b.lazy};
  expect_same({Naive::concat({a.naive, b.naive}, 1), TensorSnapshot::concat(parts, 1).value()},
              "columns");
}

TEST(Snapshot, SlicesFollowPythonForEveryStartStopAndStep) {
  const Pair pair = numbers({5}, 0, Kind::memory);
  std::vector<std::optional<std::int64_t>> bounds = {std::nullopt};
  for (std::int64_t b = -8; b <= 8; ++b) bounds.push_back(b);
  for (auto start : bounds) {
    for (auto stop : bounds) {
      for (std::int64_t step : {-7, -3, -2, -1, 1, 2, 3, 7}) {
        // Python's rule, told element by element.
        std::vector<std::int64_t> expected;
        auto place = [](std::int64_t b) { return b < 0 ? b + 5 : b; };
        const std::int64_t low = step > 0 ? 0 : -1;
        const std::int64_t high = step > 0 ? 5 : 4;
        const std::int64_t first =
            start ? std::clamp(place(*start), low, high) : (step > 0 ? 0 : 4);
        const std::int64_t last = stop ? std::clamp(place(*stop), low, high) : (step > 0 ? 5 : -1);
        for (std::int64_t i = first; step > 0 ? i < last : i > last; i += step) {
          expected.push_back(i);
        }
        EXPECT_EQ(integers(pair.lazy.slice(0, start, stop, step).value().read().value()), expected);
      }
    }
  }
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(pair.lazy.slice(0, most, least, least).value().shape(), Shape({1}));
  EXPECT_EQ(pair.lazy.slice(0, least, most, most).value().shape(), Shape({1}));
}

TEST(Snapshot, ASliceReadsNothingOutsideItsPages) {
  // 1000 rows of 4000 floats; ten rows far apart, a column block, and a single element.
  auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(1000 * 4000 * 4));
  const TensorSnapshot matrix =
      TensorSnapshot::from_source("m", source, 0, source->size(), DType::f32, {1000, 4000}).value();
  std::uint64_t before = source->bytes_read();
  EXPECT_EQ(matrix.slice(0, 0, 1000, 100).value().read().value().byte_size(), 10u * 16000);
  EXPECT_EQ(source->bytes_read() - before, 10u * 16000);
  before = source->bytes_read();
  matrix.slice(1, 1000, 1010).value().read().value();
  EXPECT_EQ(source->bytes_read() - before, 1000u * 40);
  before = source->bytes_read();
  matrix.slice(0, 7, 8).value().slice(1, 9, 10).value().read().value();
  EXPECT_EQ(source->bytes_read() - before, 4u);
}

TEST(Snapshot, OperationsReadNothing) {
  auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(24));
  const TensorSnapshot tensor =
      TensorSnapshot::from_source("t", source, 0, 24, DType::f32, {2, 3}).value();
  const std::vector<TensorSnapshot> twice = {tensor, tensor};
  TensorSnapshot::concat(twice, 0)
      .value()
      .transpose(0, 1)
      .value()
      .reshape({12})
      .value()
      .cast(DType::f16)
      .value();
  EXPECT_EQ(source->reads(), 0u);
}

TEST(Snapshot, AFailingReadInTheMiddleNamesTheTensorAndTheFile) {
  auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(4096));
  const TensorSnapshot tensor =
      TensorSnapshot::from_source("layer.weight", source, 0, 4096, DType::f32, {32, 32}).value();
  source->fail_reads_past(2000);
  for (const TensorSnapshot& lazy :
       {tensor, tensor.transpose(0, 1).value(), tensor.cast(DType::f16).value()}) {
    Result<Tensor> read = lazy.read();
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::io);
    EXPECT_EQ(read.error().tensor, "layer.weight");
    EXPECT_EQ(read.error().file, "test source");
  }
}

TEST(Snapshot, BigEndianElementsAreSwappedWhenRead) {
  const std::vector<std::byte> bytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  const std::vector<std::int64_t> strides = {2};
  const TensorSnapshot words = TensorSnapshot::from_strided("w", memory_source(Bytes::own(bytes)),
                                                            0, DType::u16, {2}, strides, true)
                                   .value();
  const Tensor read = words.read().value();
  EXPECT_EQ(read.as<std::uint16_t>().value()[0], 0x0102);
  EXPECT_EQ(read.as<std::uint16_t>().value()[1], 0x0304);
  // A complex number is swapped part by part.
  std::vector<std::byte> complex(8);
  complex[0] = std::byte{0x3f}, complex[1] = std::byte{0x80};  // 1.0f
  complex[4] = std::byte{0x40};                                // 2.0f
  const std::vector<std::int64_t> none;
  const Tensor number = TensorSnapshot::from_strided("c", memory_source(Bytes::own(complex)), 0,
                                                     DType::c64, {}, none, true)
                            .value()
                            .read()
                            .value();
  EXPECT_EQ(number.as<std::complex<float>>().value()[0], std::complex<float>(1, 2));
}

TEST(Snapshot, ConjugateFlipsImaginaryPartsOnly) {
  const Tensor tensor = Tensor::from_values<std::complex<float>>({2}, {{1, 2}, {3, -4}}).value();
  const Tensor read = TensorSnapshot("c", tensor).conjugate().value().read().value();
  EXPECT_EQ(read.as<std::complex<float>>().value()[0], std::complex<float>(1, -2));
  EXPECT_EQ(read.as<std::complex<float>>().value()[1], std::complex<float>(3, 4));
  const TensorSnapshot real("r", Tensor::from_values<float>({1}, {2.0f}).value());
  EXPECT_EQ(real.conjugate().value().read().value().to_vector<float>().value()[0], 2.0f);
}

TEST(Snapshot, CastsRoundOneAfterTheOther) {
  // 1 + 2^-12 rounds to 1 in f16; going back to f32 cannot bring the digits back.
  const TensorSnapshot exact("x", Tensor::from_values<float>({1}, {1.000244140625f}).value());
  const TensorSnapshot there_and_back = exact.cast(DType::f16).value().cast(DType::f32).value();
  EXPECT_EQ(there_and_back.read().value().to_vector<float>().value()[0], 1.0f);
}

TEST(Snapshot, FourBitFloatsAreSlicedOnBytesAndCastBothWays) {
  // 0, 0.5, 1, 1.5 | 2, 3, 4, 6: low half of each byte first.
  const Bytes bytes =
      Bytes::own({std::byte{0x10}, std::byte{0x32}, std::byte{0x54}, std::byte{0x76}});
  const TensorSnapshot packed("q", Tensor::from_bytes(DType::f4e2m1, {2, 4}, bytes).value());
  const Tensor wide = packed.cast(DType::f32).value().read().value();
  const std::vector<float> expected = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  EXPECT_TRUE(std::ranges::equal(wide.as<float>().value(), expected));
  const Tensor column = packed.cast(DType::f32).value().slice(1, 1, 2).value().read().value();
  EXPECT_EQ(column.as<float>().value()[1], 3.0f);
  EXPECT_EQ(packed.slice(0, 1, 2).value().read().value().bytes().data()[0], std::byte{0x54});
  EXPECT_EQ(packed.reshape({8}).value().slice(0, 2, 4).value().read().value().bytes().data()[0],
            std::byte{0x32});
  EXPECT_EQ(packed.slice(1, 0, 1).error().code, ErrorCode::unsupported);
  EXPECT_EQ(packed.transpose(0, 1).error().code, ErrorCode::unsupported);
  const Tensor again = TensorSnapshot("w", wide).cast(DType::f4e2m1).value().read().value();
  EXPECT_TRUE(std::ranges::equal(again.bytes().span(), bytes.span()));
  const std::vector<TensorSnapshot> halves = {packed.slice(0, 0, 1).value(),
                                              packed.slice(0, 1, 2).value()};
  EXPECT_TRUE(std::ranges::equal(
      TensorSnapshot::concat(halves, 0).value().read().value().bytes().span(), bytes.span()));
}

TEST(Snapshot, OpaqueTensorsAreTakenWhole) {
  const TensorSnapshot raw(
      "r", Tensor::raw("F128", {2, 2}, Bytes::own(std::vector<std::byte>(7))).value());
  EXPECT_EQ(raw.dtype_text(), "raw:F128");
  EXPECT_EQ(raw.read().value().byte_size(), 7u);
  EXPECT_EQ(raw.read().value().raw_name(), "F128");
  EXPECT_EQ(raw.slice(0, 0, 1).error().code, ErrorCode::unsupported);
  EXPECT_EQ(raw.transpose(0, 1).error().code, ErrorCode::unsupported);
  EXPECT_EQ(raw.reshape({4}).error().code, ErrorCode::unsupported);
  EXPECT_EQ(raw.cast(DType::f32).error().code, ErrorCode::unsupported_dtype);
  EXPECT_EQ(raw.slice(0, 0, 2).value().byte_size(), 7u);
}

TEST(Snapshot, BadArgumentsAreRefusedWithTheTensorsName) {
  const TensorSnapshot tensor("t", Tensor::zeros(DType::f32, {2, 3}).value());
  EXPECT_EQ(tensor.transpose(0, 2).error().tensor, "t");
  EXPECT_EQ(tensor.permute({0, 0}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(tensor.slice(0, 0, 1, 0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(tensor.reshape({5}).error().code, ErrorCode::shape_mismatch);
  EXPECT_EQ(tensor.squeeze(0).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(tensor.expand({2, 4}).error().code, ErrorCode::shape_mismatch);
  EXPECT_EQ(tensor.cast(DType::c64).error().code, ErrorCode::unsupported_dtype);
  std::vector<std::byte> small(4);
  EXPECT_EQ(tensor.read_into(small).error().code, ErrorCode::invalid_argument);
  const TensorSnapshot other("u", Tensor::zeros(DType::f64, {2, 3}).value());
  const std::vector<TensorSnapshot> mixed = {tensor, other};
  EXPECT_EQ(TensorSnapshot::concat(mixed, 0).error().code, ErrorCode::dtype_mismatch);
  EXPECT_EQ(TensorSnapshot::concat({}, 0).error().code, ErrorCode::invalid_argument);
  const std::vector<std::int64_t> strides = {4, 4};
  EXPECT_EQ(TensorSnapshot::from_strided("s", memory_source(Bytes::own(std::vector<std::byte>(8))),
                                         0, DType::f32, {2, 2}, strides)
                .error()
                .code,
            ErrorCode::truncated);
}

TEST(Snapshot, HugeExpansionsAndDeepChainsAreRefused) {
  TensorSnapshot tensor("t", Tensor::zeros(DType::f32, {1}).value());
  EXPECT_EQ(tensor.expand({std::uint64_t{1} << 62}).error().code, ErrorCode::overflow);
  Result<TensorSnapshot> chain = tensor;
  unsigned steps = 0;
  while (chain && steps < 1000) {
    chain = chain->cast(steps++ % 2 == 0 ? DType::f16 : DType::f32);
  }
  EXPECT_EQ(steps, max_expression_depth + 1);
  EXPECT_EQ(chain.error().code, ErrorCode::limit_exceeded);
}

// The smallest integer has no positive twin.
TEST(Snapshot, TheLargestStepsAndStridesAreTaken) {
  constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
  const TensorSnapshot part("t", Tensor::from_values<float>({2}, {1, 2}).value());
  const std::vector<TensorSnapshot> parts = {part, part};
  const TensorSnapshot join = TensorSnapshot::concat(parts, 0).value();
  const TensorSnapshot last = join.slice(0, std::nullopt, std::nullopt, smallest).value();
  EXPECT_EQ(last.read().value().to_vector<float>().value(), (std::vector<float>{2}));

  const ByteSourcePtr memory = memory_source(Bytes::own(std::vector<std::byte>(8)));
  const std::vector<std::int64_t> one = {smallest, 4};
  const auto single = TensorSnapshot::from_strided("s", memory, 0, DType::f32, {1, 2}, one);
  EXPECT_TRUE(single.value().transpose(0, 1).value().read());
}

// Such a source exists only by its word: of a deflated entry, for example.
TEST(Snapshot, DistancesThatStridesCannotSayAreRefused) {
  class Endless final : public ByteSource {
   public:
    std::uint64_t size() const noexcept override { return ~std::uint64_t{0}; }
    const std::string& name() const noexcept override { return name_; }

   private:
    Status do_read_at(std::uint64_t, std::span<std::byte>) const override {
      return Error{.code = ErrorCode::io, .message = "endless"};
    }
    std::string name_ = "endless";
  };
  constexpr std::int64_t half = std::int64_t{1} << 62;
  const auto endless = std::make_shared<Endless>();
  const auto view = [&](std::vector<std::int64_t> strides, std::uint64_t offset) {
    return TensorSnapshot::from_strided("s", endless, offset, DType::u8, {2, 3}, strides);
  };
  for (const auto& [strides, offset] :
       {std::pair{std::vector{std::int64_t{1}, half}, 0ULL}, {{1, -half}, ~0ULL - 3}}) {
    const Result<TensorSnapshot> far = view(strides, offset);
    ASSERT_FALSE(far);
    EXPECT_EQ(far.error().code, ErrorCode::truncated);
  }
  EXPECT_EQ(view({1, half - 2}, 0).value().reshape({6}).value().read().error().code, ErrorCode::io);
}

TEST(Snapshot, BorrowsWhatLiesInMemoryAndCopiesTheRest) {
  const Tensor tensor = Tensor::from_values<float>({2, 2}, {1, 2, 3, 4}).value();
  const TensorSnapshot whole("t", tensor);
  EXPECT_TRUE(whole.can_borrow());
  EXPECT_EQ(whole.borrow().value().bytes().data(), tensor.bytes().data());
  const TensorSnapshot row = whole.slice(0, 1, 2).value();
  EXPECT_EQ(row.borrow().value().bytes().data(), tensor.bytes().data() + 8);
  const TensorSnapshot turned = whole.transpose(0, 1).value();
  EXPECT_FALSE(turned.can_borrow());
  EXPECT_EQ(turned.borrow().value().to_vector<float>().value()[1], 3.0f);
}

TEST(Snapshot, OutlivesWhatItWasMadeFrom) {
  std::optional<TensorSnapshot> kept;
  {
    Tensor tensor = Tensor::from_values<float>({3}, {1, 2, 3}).value();
    kept = TensorSnapshot("t", tensor).slice(0, 2, 3).value();
    tensor.as_mutable<float>().value()[2] = 9;  // a write to the tensor is not seen by the snapshot
  }
  EXPECT_EQ(kept->read().value().to_vector<float>().value()[0], 3.0f);
}

TEST(Snapshot, KnowsWhetherAnotherIsTheSameData) {
  auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(64));
  const auto run = [&](std::uint64_t offset, Shape shape, DType dtype = DType::u8) {
    const std::uint64_t bytes = shape.byte_count(dtype).value();
    return TensorSnapshot::from_source("r", source, offset, bytes, dtype, std::move(shape)).value();
  };
  const TensorSnapshot rows = run(0, {2, 3});
  EXPECT_TRUE(rows.is_same_data(run(0, {2, 3})));
  EXPECT_TRUE(rows.is_same_data(rows.with_path("other")));
  EXPECT_FALSE(rows.is_same_data(run(1, {2, 3})));
  EXPECT_FALSE(rows.is_same_data(run(0, {3, 2})));
  EXPECT_FALSE(rows.is_same_data(run(0, {2, 3}, DType::i8)));
  EXPECT_FALSE(rows.is_same_data(TensorSnapshot("m", Tensor::zeros(DType::u8, {2, 3}).value())));
  const TensorSnapshot turned = rows.transpose(0, 1).value();
  EXPECT_TRUE(turned.is_same_data(run(0, {2, 3}).transpose(0, 1).value()));
  EXPECT_FALSE(turned.is_same_data(run(0, {3, 2})));
  EXPECT_TRUE(turned.transpose(0, 1).value().is_same_data(rows));
  EXPECT_FALSE(rows.is_same_data(rows.negate().value()));
  EXPECT_TRUE(rows.negate().value().is_same_data(rows.negate().value()));
}

TEST(Snapshot, OfOneElementIsTheSameWhateverItsStrides) {
  auto source = std::make_shared<test::TestSource>(std::vector<std::byte>(64));
  const auto view = [&](Shape shape, const std::vector<std::int64_t>& strides) {
    return TensorSnapshot::from_strided("v", source, 0, DType::u8, std::move(shape), strides)
        .value();
  };
  EXPECT_TRUE(view({1, 3}, {3, 1}).is_same_data(view({1, 3}, {7, 1})));
  EXPECT_FALSE(view({2, 3}, {3, 1}).is_same_data(view({2, 3}, {7, 1})));
  EXPECT_FALSE(view({0, 3}, {3, 1}).is_same_data(view({0, 3}, {3, 1}))) << "nothing is nothing";
}

}  // namespace
}  // namespace andiron
