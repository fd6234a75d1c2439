// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/stores.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "andiron/version.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;
using test::sample_net;
using test::SampleNet;

struct One {
  Param w;
  ANDIRON_MODULE(One, w)
};

TEST(SafetensorsStore, WritesItsDefaultMetadataAndReadsItBack) {
  auto store = SafetensorsStore::from_bytes();
  save_into(One{Param(f32({2}, 1))}, store).value();
  EXPECT_EQ(
      store.get_metadata().value(),
      (Metadata{{"format", "safetensors"}, {"producer", "andiron"}, {"version", ANDIRON_VERSION}}));
}

TEST(SafetensorsStore, AddsMetadataAndClearsIt) {
  auto store = SafetensorsStore::from_bytes().metadata("author", "me").metadata("format", "pt");
  save_into(One{Param(f32({2}, 1))}, store).value();
  EXPECT_EQ(store.get_metadata().value().at("author"), "me");
  EXPECT_EQ(store.get_metadata().value().at("format"), "pt");
  store.clear_metadata().metadata("only", "this");
  save_into(One{Param(f32({2}, 1))}, store).value();
  EXPECT_EQ(store.get_metadata().value(), (Metadata{{"only", "this"}}));
}

TEST(SafetensorsStore, StartsEmptyInMemory) {
  SafetensorsStore store;
  EXPECT_EQ(store.get_bytes().error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store.path(), "");
}

TEST(SafetensorsStore, BorrowsFromStaticMemory) {
  auto written = SafetensorsStore::from_bytes();
  save_into(One{Param(f32({2}, 7))}, written).value();
  const Bytes bytes = written.get_bytes().value();
  alignas(64) static std::array<std::uint8_t, 1024> image;
  ASSERT_LE(bytes.size(), image.size());
  std::memcpy(image.data(), bytes.data(), bytes.size());
  One to;
  load_from(to, SafetensorsStore::from_static(std::span(image).first(bytes.size()))).value();
  const auto* data = reinterpret_cast<const std::uint8_t*>(to.w.as<float>().value().data());
  EXPECT_GE(data, image.data());
  EXPECT_LT(data, image.data() + image.size());
  to.w.as_mutable<float>().value()[0] = 1;
  EXPECT_EQ(std::memcmp(image.data(), bytes.data(), bytes.size()), 0);
}

TEST(SafetensorsStore, RoundTripsThroughPyTorchsConventions) {
  const SampleNet from = sample_net(1);
  auto store = SafetensorsStore::from_bytes()
                   .with_to_adapter(BurnToPyTorchAdapter())
                   .with_from_adapter(PyTorchToBurnAdapter());
  save_into(from, store).value();
  const TensorSnapshot head = store.get_snapshot("head.weight").value().value();
  EXPECT_EQ(head.shape(), (Shape{2, 4}));
  EXPECT_TRUE(store.get_snapshot("blocks.0.norm.weight").value().has_value());
  SampleNet to = sample_net(1000);
  const ApplyResult result = load_from(to, store).value();
  EXPECT_EQ(result.applied.size(), 11U);
  EXPECT_TRUE(result.unused.empty());
  EXPECT_EQ(to.head.weight.val().value().bytes().text(),
            from.head.weight.val().value().bytes().text());
}

TEST(SafetensorsStore, KeepsNonFiniteNumbersAndEveryDtype) {
  struct Mixed {
    Param number, half, brain, twice, count, flag, byte, wide;
    ANDIRON_MODULE(Mixed, number, half, brain, twice, count, flag, byte, wide)
  };
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const TensorSnapshot floats(
      "", Tensor::from_values<float>({5}, {inf, -inf, nan, -0.0F, 1e-40F}).value());
  const auto as = [&](DType dtype) { return Param(floats.cast(dtype).value().read().value()); };
  const Mixed from{as(DType::f32), as(DType::f16),     as(DType::bf16), as(DType::f64),
                   as(DType::i64), as(DType::boolean), as(DType::u8),   as(DType::u16)};
  auto store = SafetensorsStore::from_bytes();
  save_into(from, store).value();
  Mixed to;
  EXPECT_EQ(load_from(to, store).value().applied.size(), 8U);
  const auto same = [](const Param& a, const Param& b) {
    return a.dtype() == b.dtype() &&
           a.val().value().bytes().text() == b.val().value().bytes().text();
  };
  EXPECT_TRUE(same(from.number, to.number));
  EXPECT_TRUE(same(from.half, to.half));
  EXPECT_TRUE(same(from.brain, to.brain));
  EXPECT_TRUE(same(from.twice, to.twice));
  EXPECT_TRUE(same(from.count, to.count));
  EXPECT_TRUE(same(from.flag, to.flag));
  EXPECT_TRUE(same(from.byte, to.byte));
  EXPECT_TRUE(same(from.wide, to.wide));
}

}  // namespace
}  // namespace andiron
