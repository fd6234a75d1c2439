// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/stores.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/sample_net.h"
#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

using test::f32;

struct Layer {
  Param weight;
  std::optional<Param> bias;
  ANDIRON_MODULE(Layer, weight, bias)
};

struct RecordNet {
  Layer first;
  std::optional<Layer> none;
  std::vector<Layer> layers;
  ANDIRON_MODULE(RecordNet, first, none, layers)
};

RecordNet net_of(float value) {
  return {{Param(f32({2, 3}, value)), Param(f32({3}, value))},
          std::nullopt,
          {{Param(f32({1}, value)), std::nullopt}, {Param(f32({2}, value)), std::nullopt}}};
}

float first_weight(const RecordNet& net) { return net.first.weight.as<float>().value()[0]; }

TEST(MpkStore, LoadsWhatItSaved) {
  const test::TempDir folder;
  const RecordNet net = net_of(1);
  MpkStore store = MpkStore::from_file(folder.file("model"));
  save_into(net, store).value();
  EXPECT_EQ(folder.names(), std::vector<std::string>{"model.mpk"});
  EXPECT_EQ(store.keys().value(), (std::vector<std::string>{"first.bias", "first.weight",
                                                            "layers.0.weight", "layers.1.weight"}));
  RecordNet other = net_of(2);
  load_from(other, store).value();
  EXPECT_EQ(first_weight(other), 1);
  EXPECT_EQ(other.first.weight.id(), net.first.weight.id());
}

TEST(MpkStore, WritesTheMetadataOfARecordAndWhatIsAdded) {
  MpkStore store;
  save_into(net_of(1), store.metadata("author", "me")).value();
  const Metadata metadata = store.get_metadata().value();
  EXPECT_EQ(metadata.size(), 6u);
  EXPECT_EQ(metadata.at("author"), "me");
  EXPECT_EQ(metadata.at("settings"), "FullPrecisionSettings");
}

TEST(MpkStore, SavesInThePrecisionAskedFor) {
  MpkStore store;
  save_into(net_of(3), store.precision(RecordPrecision::half)).value();
  EXPECT_EQ(store.get_snapshot("first.weight").value()->dtype(), DType::f16);
  EXPECT_EQ(store.get_metadata().value().at("settings"), "HalfPrecisionSettings");
  RecordNet net = net_of(1);
  load_from(net, store.dtype_policy(DTypePolicy::cast_to_module)).value();
  EXPECT_EQ(first_weight(net), 3);
}

TEST(MpkStore, CompressesFilesThatAreNamedSo) {
  const test::TempDir folder;
  const std::string path = folder.file("model.mpk.gz");
  MpkStore store = MpkStore::from_file(path);
  save_into(net_of(1), store).value();
  EXPECT_TRUE(test::read_file(path).starts_with("\x1f\x8b"));
  RecordNet net = net_of(2);
  load_from(net, store).value();
  EXPECT_EQ(first_weight(net), 1);
}

TEST(MpkStore, LoadsFromStaticMemory) {
  MpkStore written;
  save_into(net_of(7), written).value();
  const Bytes bytes = written.get_bytes().value();
  alignas(64) static std::array<std::uint8_t, 2048> image;
  ASSERT_LE(bytes.size(), image.size());
  std::memcpy(image.data(), bytes.data(), bytes.size());
  RecordNet net = net_of(1);
  load_from(net, MpkStore::from_static(std::span(image).first(bytes.size()))).value();
  EXPECT_EQ(first_weight(net), 7);
}

TEST(MpkStore, StartsEmptyInMemory) {
  MpkStore store;
  EXPECT_EQ(store.get_bytes().error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store.path(), "");
}

}  // namespace
}  // namespace andiron
