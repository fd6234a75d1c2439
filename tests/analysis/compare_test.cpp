// SPDX-License-Identifier: MIT OR Apache-2.0
// What differs between two archives.
#include "andiron/compare.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "andiron/names.h"
#include "tests/core/quant_schemes.h"
#include "tests/support/archive_writing.h"
#include "tests/support/noise.h"
#include "tests/support/test_source.h"

namespace andiron::test {
namespace {

using Texts = std::vector<std::string>;

TensorSnapshot floats(std::string name, const std::vector<float>& values) {
  return {std::move(name),
          Tensor::from_values<float>({values.size()}, std::span<const float>(values)).value()};
}

// Bytes in a source that lends nothing.
TensorSnapshot stored(std::string name, DType dtype, Shape shape, std::string_view data) {
  return TensorSnapshot::from_source(std::move(name), std::make_shared<TestSource>(data), 0,
                                     data.size(), dtype, std::move(shape))
      .value();
}

// "values: a", "renamed: a -> b".
Texts texts(const Comparison& comparison) {
  Texts lines;
  for (const TensorDifference& one : comparison.differences) {
    std::string line = std::string(difference_name(one.kind)) + ": " + one.name();
    if (one.kind == DifferenceKind::renamed) line += " -> " + one.b->name;
    if (one.is_ambiguous) line += " (ambiguous)";
    lines.push_back(line);
  }
  return lines;
}

Texts differences(const Archive& a, const Archive& b, const CompareOptions& options = {}) {
  const Comparison found = compare(a, b, options).value();
  bool is_equal = true;
  for (const TensorDifference& one : found.differences) {
    is_equal &= one.kind == DifferenceKind::close;
  }
  EXPECT_EQ(found.is_equal(), is_equal);
  return texts(found);
}

Distance only_distance(const Archive& a, const Archive& b, const CompareOptions& options = {}) {
  const Comparison found = compare(a, b, options).value();
  EXPECT_EQ(found.differences.size(), 1U);
  if (found.differences.empty()) return {};
  EXPECT_TRUE(found.differences[0].distance);
  return found.differences[0].distance.value_or(Distance());
}

TEST(Compare, EqualArchivesHaveNoDifferences) {
  const Archive a = archive_of({floats("x", {1, 2}), floats("y", {3}), floats("empty", {})});
  const Archive b = archive_of({floats("empty", {}), floats("y", {3}), floats("x", {1, 2})});
  const Comparison found = compare(a, b).value();
  EXPECT_TRUE(found.is_equal());
  EXPECT_EQ(found.equal, 3U);
  EXPECT_EQ(texts(found), Texts{});
  EXPECT_TRUE(compare(Archive(), Archive()).value().is_equal());
}

TEST(Compare, TellsWhatWasAddedRemovedAndChanged) {
  const Archive a = archive_of(
      {floats("gone", {1}), floats("w", {1, 2, 3}), floats("s", {1, 2}), floats("same", {5})});
  const Archive b = archive_of({floats("new", {1, 1}), floats("w", {1, 2.5, 3}),
                                floats("s", {1, 2, 3}), floats("same", {5})});
  const Comparison found = compare(a, b).value();
  EXPECT_EQ(texts(found), (Texts{"added: new", "removed: gone", "shape: s", "values: w"}));
  EXPECT_FALSE(found.is_equal());
  EXPECT_EQ(found.equal, 1U);
  EXPECT_EQ(found.count(DifferenceKind::values), 1U);
  const TensorDifference& shape = found.differences[2];
  EXPECT_EQ(shape.a->shape, Shape({2}));
  EXPECT_EQ(shape.b->shape, Shape({3}));
  EXPECT_FALSE(shape.distance);
  const Distance& distance = *found.differences[3].distance;
  EXPECT_EQ(distance.elements, 3U);
  EXPECT_EQ(distance.differing, 1U);
  EXPECT_EQ(distance.first_beyond, 1U);
  EXPECT_EQ(distance.max_abs, 0.5);
  EXPECT_EQ(distance.max_abs_index, 1U);
  EXPECT_FALSE(found.differences[0].a);
  EXPECT_EQ(found.differences[0].b->dtype, "f32");
}

TEST(Compare, OrdersByKindThenNaturallyAndChangesByTheirSize) {
  const Archive a = archive_of({floats("t.10", {1}), floats("t.2", {1}), floats("a", {1, 1}),
                                floats("b", {1, 1}), floats("c", {1, 1}), floats("n", {1, 1})});
  const Archive b = archive_of(
      {floats("a", {1, 1.1f}), floats("b", {1, 3}), floats("c", {1, 1.5f}), floats("n", {1, NAN})});
  EXPECT_EQ(differences(a, b), (Texts{"removed: t.2", "removed: t.10", "values: n", "values: b",
                                      "values: c", "values: a"}));
}

TEST(Compare, WithinToleranceIsCloseAndCountsAsEqual) {
  const Archive a = archive_of({floats("x", {1, 2}), floats("y", {1})});
  const Archive b = archive_of({floats("x", {1, 2.001f}), floats("y", {1.1f})});
  EXPECT_EQ(differences(a, b, {.absolute_tolerance = 0.01}), (Texts{"values: y", "close: x"}));
  EXPECT_EQ(differences(a, b, {.absolute_tolerance = 0.2}), (Texts{"close: y", "close: x"}));
  EXPECT_EQ(differences(a, b, {.relative_tolerance = 0.1}), (Texts{"close: y", "close: x"}));
  EXPECT_EQ(compare(a, b, {.absolute_tolerance = -1}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(compare(a, b, {.relative_tolerance = NAN}).error().code, ErrorCode::invalid_argument);
}

TEST(Compare, NanEqualsNanUnlessItIsToldNotTo) {
  const Archive a = archive_of({floats("x", {NAN, 1})});
  std::vector<float> other = {NAN, 1};
  other[0] = std::bit_cast<float>(0x7fc00001);
  const Archive b = archive_of({floats("x", other)});
  EXPECT_EQ(differences(a, a), Texts{});
  EXPECT_EQ(differences(a, b), Texts{});
  EXPECT_EQ(differences(a, a, {.nan_equals_nan = false}), Texts{"values: x"});
  const Archive whole = archive_of({{"i", filled(DType::i32, {4})}});
  EXPECT_EQ(differences(whole, whole, {.nan_equals_nan = false}), Texts{});
}

TEST(Compare, ZerosAndTruthsOfOtherBitsAreEqual) {
  EXPECT_EQ(differences(archive_of({floats("x", {0.0f})}), archive_of({floats("x", {-0.0f})})),
            Texts{});
  EXPECT_EQ(differences(archive_of({stored("b", DType::boolean, {2}, std::string("\0\1", 2))}),
                        archive_of({stored("b", DType::boolean, {2}, std::string("\0\2", 2))})),
            Texts{});
}

TEST(Compare, OtherDtypesAreComparedByTheirNumbers) {
  const TensorSnapshot exact = floats("x", {1, 0.5f, -3});
  const TensorSnapshot rounded = floats("y", {1.001f, 2});
  const Archive a = archive_of({exact, rounded});
  const Archive b = archive_of({exact.cast(DType::f16).value(), rounded.cast(DType::bf16).value()});
  const Comparison found = compare(a, b).value();
  EXPECT_EQ(texts(found), (Texts{"dtype: x", "dtype: y"}));
  EXPECT_EQ(found.differences[0].b->dtype, "f16");
  EXPECT_EQ(found.differences[0].distance->differing, 0U);
  EXPECT_EQ(found.differences[1].distance->differing, 1U);
  EXPECT_EQ(differences(a, b, {.ignore_dtype = true}), Texts{"values: y"});
  EXPECT_EQ(differences(a, b, {.relative_tolerance = 0.01, .ignore_dtype = true}),
            Texts{"close: y"});
  // 64-bit integers are compared as they are.
  const Tensor large = Tensor::from_values<std::int64_t>({1}, {9007199254740993}).value();
  const TensorSnapshot integer("i", large);
  EXPECT_EQ(differences(archive_of({integer}), archive_of({integer.cast(DType::f64).value()}),
                        {.ignore_dtype = true}),
            Texts{"values: i"});
  EXPECT_EQ(differences(archive_of({integer}), archive_of({integer.cast(DType::u64).value()}),
                        {.ignore_dtype = true}),
            Texts{});
}

TEST(Compare, DtypesWithoutCommonNumbersDiffer) {
  const TensorSnapshot real = floats("x", {1});
  const TensorSnapshot complex = stored("x", DType::c64, {1}, std::string(8, '\0'));
  for (const bool ignore : {false, true}) {
    const Comparison found =
        compare(archive_of({real}), archive_of({complex}), {.ignore_dtype = ignore}).value();
    EXPECT_EQ(texts(found), Texts{"dtype: x"});
    EXPECT_FALSE(found.differences[0].distance);
  }
}

TEST(Compare, ElementsThatAreNotNumbersAreComparedAsBytes) {
  const auto raw = [](const std::string& data, const std::string& dtype = "F128") {
    return archive_of({{"r", Tensor::raw(dtype, {2}, Bytes::own(data)).value()}});
  };
  EXPECT_EQ(differences(raw("abcd"), raw("abcd")), Texts{});
  const Distance distance = only_distance(raw("abcd"), raw("abxy"), {.absolute_tolerance = 100});
  EXPECT_TRUE(distance.in_bytes);
  EXPECT_EQ(distance.elements, 4U);
  EXPECT_EQ(distance.differing, 2U);
  EXPECT_EQ(distance.first_beyond, 2U);
  EXPECT_TRUE(std::isnan(distance.max_abs));
  const Distance longer = only_distance(raw("abcd"), raw("abcdefg"));
  EXPECT_EQ(longer.differing, 3U);
  EXPECT_EQ(longer.first_beyond, 4U);
  EXPECT_EQ(differences(raw("abcd"), raw("abcd", "F256")), Texts{"dtype: r"});
  const Archive packed = archive_of({stored("p", DType::f6e3m2, {4}, "abc")});
  EXPECT_EQ(differences(packed, packed), Texts{});
  EXPECT_EQ(differences(packed, archive_of({stored("p", DType::f6e3m2, {4}, "abd")})),
            Texts{"values: p"});
}

TEST(Compare, QuantizedTensorsAreWhatTheyStandFor) {
  const QuantScheme scheme = per_tensor(QuantValue::q8s, QuantStore::packed_u32);
  std::string payload("\1\2\3\4\0\0\0\x3f", 8);  // times 0.5
  const auto quantized = [&](const std::string& data) {
    return archive_of({{"q", Tensor::qfloat(scheme, {4}, Bytes::own(data)).value()}});
  };
  const Archive a = quantized(payload);
  EXPECT_EQ(differences(a, a), Texts{});
  const Archive numbers = archive_of({floats("q", {0.5f, 1, 1.5f, 2})});
  EXPECT_EQ(differences(a, numbers), Texts{"dtype: q"});
  const Comparison found = compare(a, numbers).value();
  EXPECT_EQ(found.differences[0].a->dtype, "qfloat");
  EXPECT_EQ(found.differences[0].a->scheme, a.info(0).file_dtype);
  EXPECT_EQ(found.differences[0].b->scheme, "");
  EXPECT_EQ(differences(a, numbers, {.ignore_dtype = true}), Texts{});
  payload[2] = 5;
  const Distance distance = only_distance(a, quantized(payload));
  EXPECT_FALSE(distance.in_bytes);
  EXPECT_EQ(distance.first_beyond, 2U);
  EXPECT_EQ(distance.max_abs, 1);
}

TEST(Compare, LayoutAndByteOrderDoNotMatter) {
  const std::string data = noise(24);
  const TensorSnapshot plain = stored("x", DType::i16, {3, 4}, data);
  std::string turned;
  std::string swapped;
  for (std::size_t j = 0; j < 4; ++j) {
    for (std::size_t i = 0; i < 3; ++i) turned += data.substr(2 * (4 * i + j), 2);
  }
  for (std::size_t i = 0; i < 12; ++i) swapped += {data[2 * i + 1], data[2 * i]};
  const TensorSnapshot columns = stored("x", DType::i16, {4, 3}, turned).transpose(0, 1).value();
  const std::int64_t strides[] = {8, 2};
  const TensorSnapshot big =
      TensorSnapshot::from_strided("x", std::make_shared<TestSource>(swapped), 0, DType::i16,
                                   {3, 4}, strides, true)
          .value();
  EXPECT_EQ(differences(archive_of({plain}), archive_of({columns})), Texts{});
  EXPECT_EQ(differences(archive_of({columns}), archive_of({big})), Texts{});
}

TEST(Compare, FindsRenamedTensorsByTheirBytes) {
  const Archive a =
      archive_of({floats("net.w", {1, 2}), floats("net.b", {3}), floats("gone", {4})});
  const Archive b = archive_of({floats("w", {1, 2}), floats("b", {3}), floats("new", {5})});
  EXPECT_EQ(differences(a, b),
            (Texts{"added: new", "removed: gone", "renamed: net.b -> b", "renamed: net.w -> w"}));
  EXPECT_EQ(differences(a, b, {.find_renamed = false}),
            (Texts{"added: b", "added: new", "added: w", "removed: gone", "removed: net.b",
                   "removed: net.w"}));
}

TEST(Compare, RenamedTensorsHaveTheSameDtypeAndShape) {
  const Archive a = archive_of({stored("x", DType::i32, {2}, "abcdefgh")});
  EXPECT_EQ(differences(a, archive_of({stored("y", DType::f32, {2}, "abcdefgh")})),
            (Texts{"added: y", "removed: x"}));
  EXPECT_EQ(differences(a, archive_of({stored("y", DType::i32, {1, 2}, "abcdefgh")})),
            (Texts{"added: y", "removed: x"}));
  EXPECT_EQ(differences(archive_of({floats("x", {})}), archive_of({floats("y", {})})),
            (Texts{"added: y", "removed: x"}));
}

TEST(Compare, SeveralEqualTensorsAreAmbiguous) {
  const Archive a =
      archive_of({floats("m.l.10.b", {0}), floats("m.l.2.b", {0}), floats("m.w", {1})});
  const Archive b =
      archive_of({floats("l.2.b", {0}), floats("l.10.b", {0}), floats("w", {1}), floats("z", {0})});
  EXPECT_EQ(differences(a, b),
            (Texts{"added: z", "renamed: m.l.2.b -> l.2.b (ambiguous)",
                   "renamed: m.l.10.b -> l.10.b (ambiguous)", "renamed: m.w -> w"}));
}

TEST(Compare, AmbiguousTensorsArePairedByTheEndsOfTheirNames) {
  const Archive a = archive_of({floats("a.momentum", {0}), floats("state.l.1.bias", {0}),
                                floats("state.l.2.bias", {0}), floats("z", {0})});
  const Archive b =
      archive_of({floats("net.l.2.bias", {0}), floats("l.1.bias", {0}), floats("other", {0})});
  EXPECT_EQ(differences(a, b), (Texts{"removed: z", "renamed: a.momentum -> other (ambiguous)",
                                      "renamed: state.l.1.bias -> l.1.bias (ambiguous)",
                                      "renamed: state.l.2.bias -> net.l.2.bias (ambiguous)"}));
}

TEST(Compare, AliasesCountAsTensors) {
  Archive tied = archive_of({floats("a", {1, 2})});
  tied.set_aliases({{"b", "a"}});
  const Archive copies = archive_of({floats("a", {1, 2}), floats("b", {1, 2})});
  const Archive other = archive_of({floats("a", {1, 2}), floats("b", {1, 3})});
  EXPECT_EQ(differences(tied, copies), Texts{});
  EXPECT_EQ(differences(copies, tied), Texts{});
  EXPECT_EQ(differences(tied, other), Texts{"values: b"});
  EXPECT_EQ(compare(tied, copies).value().equal, 2U);
}

TEST(Compare, FormatsKeepWhatTheyAreGiven) {
  Archive all;
  for (unsigned number = 0; number < dtype_count; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (is_opaque(dtype) || is_sub_byte(dtype) || dtype == DType::c32 || dtype == DType::c128) {
      continue;
    }
    all.add({"t." + std::string(dtype_name(dtype)), filled(dtype, {3, 4})}).value();
  }
  const Archive copy = open(Bytes::own(written(all, {.format = Format::safetensors}))).value();
  EXPECT_EQ(differences(all, copy), Texts{});
}

TEST(Compare, MetadataAndValuesAreComparedOnRequest) {
  Archive a = archive_of({floats("x", {1})});
  Archive b = a;
  a.set_metadata({{"format", "pt"}});
  b.set_value(ValueDict{{"epoch", std::int64_t{3}}});
  EXPECT_TRUE(compare(a, b).value().is_equal());
  const Comparison found = compare(a, b, {.metadata = true}).value();
  EXPECT_FALSE(found.is_equal());
  ASSERT_EQ(found.metadata.size(), 1U);
  EXPECT_EQ(found.metadata[0].key, "format");
  EXPECT_EQ(found.metadata[0].a, "pt");
  ASSERT_EQ(found.values.size(), 1U);
  EXPECT_EQ(found.values[0].key, "epoch");
  EXPECT_FALSE(found.values[0].a);
  EXPECT_EQ(found.values[0].b, "3");
}

// More than two stretches.
constexpr std::size_t many = 5'000'000;

struct LargePair {
  LargePair() : data(many * 4, '\0') {
    for (std::size_t i = 0; i < many; ++i) {
      const float value = static_cast<float>(i % 1000) - 300;
      std::memcpy(data.data() + 4 * i, &value, sizeof value);
    }
  }
  Archive archive() const { return archive_of({stored("x", DType::f32, {1000, 5000}, data)}); }
  // The element becomes another number.
  void change(std::size_t index, float by) {
    float value = 0;
    std::memcpy(&value, data.data() + 4 * index, sizeof value);
    value += by;
    std::memcpy(data.data() + 4 * index, &value, sizeof value);
  }
  std::string data;
};

TEST(Compare, OneElementAmongMillionsIsFound) {
  LargePair pair;
  const Archive a = pair.archive();
  for (const std::size_t index : {std::size_t{0}, std::size_t{3'456'789}, many - 1}) {
    LargePair changed;
    changed.change(index, 0.25f);
    const Distance distance = only_distance(a, changed.archive());
    EXPECT_EQ(distance.differing, 1U);
    EXPECT_EQ(distance.first_beyond, index);
    EXPECT_EQ(distance.max_abs_index, index);
    EXPECT_EQ(distance.max_abs, 0.25);
  }
}

TEST(Compare, DoesNotDependOnThreadsOrMemory) {
  LargePair pair;
  const Archive a = pair.archive();
  pair.change(4'000'000, 7);
  pair.change(1'000'001, 3);
  pair.change(2'500'000, 7);
  const Archive b = pair.archive();
  const auto text = [&](const CompareOptions& options) {
    const Distance distance = only_distance(a, b, options);
    return std::to_string(distance.differing) + " " + std::to_string(*distance.first_beyond) + " " +
           std::to_string(*distance.max_abs_index) + " " +
           std::to_string(std::bit_cast<std::uint64_t>(distance.relative_l2)) + " " +
           std::to_string(std::bit_cast<std::uint64_t>(distance.cosine));
  };
  const std::string expected = text({.threads = 1});
  EXPECT_EQ(expected.substr(0, 17), "3 1000001 2500000");
  for (const unsigned threads : {0u, 2u, 5u}) EXPECT_EQ(text({.threads = threads}), expected);
  EXPECT_EQ(text({.threads = 2, .window_bytes = 0}), expected);
}

TEST(Compare, EqualTensorsAreReadOnce) {
  const auto source = std::make_shared<TestSource>(std::string(40'000, 'x'));
  const Archive a = archive_of(
      {TensorSnapshot::from_source("x", source, 0, 40'000, DType::f32, {10'000}).value()});
  EXPECT_TRUE(compare(a, archive_of({stored("x", DType::f32, {10'000}, std::string(40'000, 'x'))}))
                  .value()
                  .is_equal());
  EXPECT_EQ(source->bytes_read(), 40'000U);
}

TEST(Compare, ProgressIsToldOnTheCallingThreadUpToTheEnd) {
  const std::thread::id caller = std::this_thread::get_id();
  LargePair pair;
  const Archive a = pair.archive();
  pair.change(17, 1);
  const Archive b = pair.archive();
  for (const unsigned threads : {1u, 3u}) {
    std::uint64_t last = 0;
    std::uint64_t last_total = 0;
    const auto progress = [&](std::uint64_t done, std::uint64_t total) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_GE(done, last);
      EXPECT_GE(total, last_total);
      EXPECT_LE(done, total);
      last = done;
      last_total = total;
      return true;
    };
    ASSERT_TRUE(compare(a, b, {.threads = threads, .progress = progress}));
    EXPECT_EQ(last, 2 * 2 * 4 * many);
    EXPECT_EQ(last_total, last);
  }
}

TEST(Compare, CanBeCancelledInEveryPhase) {
  LargePair pair;
  Archive a = pair.archive();
  a.add(stored("old", DType::f32, {1000, 5000}, pair.data)).value();
  pair.change(17, 1);
  Archive b = pair.archive();
  b.add(stored("new", DType::f32, {1000, 5000}, pair.data)).value();
  int calls = 0;
  ASSERT_TRUE(compare(a, b, {.threads = 1, .progress = [&](auto, auto) { return ++calls > 0; }}));
  for (int stop = 1; stop <= calls; stop += 7) {
    int seen = 0;
    const Result<Comparison> found =
        compare(a, b, {.threads = 2, .progress = [&](auto, auto) { return ++seen < stop; }});
    // With a second thread there may be fewer calls.
    if (found) continue;
    EXPECT_EQ(found.error().code, ErrorCode::cancelled);
  }
}

TEST(Compare, ErrorsOfReadingNameTheTensor) {
  const auto failing = std::make_shared<TestSource>(std::string(4 * many, 'x'));
  failing->fail_reads_past(12'000'000);
  const auto broken = [&](const std::string& name) {
    return archive_of(
        {TensorSnapshot::from_source(name, failing, 0, 4 * many, DType::f32, {many}).value()});
  };
  const auto whole = [&](const std::string& name) {
    return archive_of({stored(name, DType::f32, {many}, std::string(4 * many, 'x'))});
  };
  for (const auto& [a, b] : {std::pair(broken("w"), whole("w")), std::pair(whole("w"), broken("w")),
                             std::pair(whole("v"), broken("w"))}) {
    for (const unsigned threads : {1u, 4u}) {
      const Result<Comparison> found = compare(a, b, {.threads = threads});
      ASSERT_FALSE(found);
      EXPECT_EQ(found.error().code, ErrorCode::io);
      EXPECT_EQ(found.error().tensor, "w");
    }
  }
}

}  // namespace
}  // namespace andiron::test
