// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/stores.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/stores.h"
#include "andiron/tensor.h"
#include "andiron/version.h"
#include "src/format/burnpack/header_listing.h"
#include "tests/store/burnpack_models.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {
namespace {

namespace fs = std::filesystem;

std::string_view text_of(const Param& param) { return param.val().value().bytes().text(); }

bool is_inside(const Param& param, const Bytes& memory) {
  const std::byte* data = param.val().value().bytes().data();
  return data >= memory.data() && data < memory.data() + memory.size();
}

bool is_on_multiple_of_256(const Param& param) {
  return reinterpret_cast<std::uintptr_t>(param.val().value().bytes().data()) % 256 == 0;
}

// ---- Files, memory, static memory ----

TEST(BurnpackStore, BringsAModelBackFromAFile) {
  const TempDir dir;
  const std::string path = dir.file("model.bpk");
  const SampleNet from = sample_net(1);
  const WriteReport report = save_into(from, BurnpackStore::from_file(path)).value();
  EXPECT_EQ(report.files, Names{path});
  EXPECT_EQ(report.bytes, fs::file_size(path));
  EXPECT_EQ(report.tensors, 11u);
  EXPECT_TRUE(report.notes.empty());
  EXPECT_EQ(open(path).value().format(), "burnpack");

  SampleNet to = sample_net(1000);
  const ApplyResult result = load_from(to, BurnpackStore::from_file(path)).value();
  EXPECT_EQ(result.applied.size(), 11u);
  EXPECT_TRUE(result.unused.empty());
  EXPECT_TRUE(result.notes.empty());
  EXPECT_EQ(fingerprint(to), fingerprint(from));
}

TEST(BurnpackStore, BringsAModelBackFromMemory) {
  const SampleNet from = sample_net(1);
  SampleNet to = sample_net(1000);
  EXPECT_EQ(load_from(to, saved(from)).value().applied.size(), 11u);
  EXPECT_EQ(fingerprint(to), fingerprint(from));
}

TEST(BurnpackStore, StartsEmptyInMemory) {
  const BurnpackStore store;
  EXPECT_EQ(store.path(), "");
  EXPECT_EQ(store.get_bytes().error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store.keys().error().code, ErrorCode::invalid_argument);
}

TEST(BurnpackStore, InMemoryHoldsTheNewBytesAndACopyKeepsTheOld) {
  auto store = BurnpackStore::from_bytes();
  save_into(pair_of(1), store).value();
  const BurnpackStore old = store;
  const Bytes old_bytes = store.get_bytes().value();
  EXPECT_EQ(store.keys().value(), (Names{"a", "b"}));
  save_into(sample_net(50), store).value();
  EXPECT_EQ(store.keys().value().size(), 11u);
  EXPECT_EQ(old.keys().value(), (Names{"a", "b"}));
  EXPECT_EQ(old.get_bytes().value().text(), old_bytes.text());
  EXPECT_NE(store.get_bytes().value().text(), old_bytes.text());
}

TEST(BurnpackStore, GivesTheBytesThatItWouldWriteToAFile) {
  const TempDir dir;
  const Pair from = pair_of(1);
  save_into(from, BurnpackStore::from_file(dir.file("m.bpk"))).value();
  EXPECT_EQ(saved(from).get_bytes().value().text(), read_file(dir.file("m.bpk")));
}

TEST(BurnpackStore, BorrowsFromStaticMemory) {
  const Bytes bytes = saved(pair_of(7)).get_bytes().value();
  alignas(256) static std::array<std::uint8_t, 2048> image;
  ASSERT_LE(bytes.size(), image.size());
  std::memcpy(image.data(), bytes.data(), bytes.size());
  const auto in_image = std::span(image).first(bytes.size());
  for (const BurnpackStore& store : {BurnpackStore::from_static(in_image),
                                     BurnpackStore::from_static(std::as_bytes(in_image))}) {
    Pair to;
    load_from(to, store).value();
    EXPECT_TRUE(is_inside(to.a, Bytes::borrow(std::as_bytes(in_image))));
    EXPECT_TRUE(is_on_multiple_of_256(to.a));
    EXPECT_TRUE(is_on_multiple_of_256(to.b));
    to.a.as_mutable<float>().value()[0] = 1;
    EXPECT_EQ(first_of(to.a), 1);
    EXPECT_EQ(std::memcmp(image.data(), bytes.data(), bytes.size()), 0);
  }
}

TEST(BurnpackStore, CopiesFromStaticMemoryWhenToldNotToBorrow) {
  static const Bytes image = saved(pair_of(7)).get_bytes().value();
  Pair to;
  load_from(to, BurnpackStore::from_static(image.span()).zero_copy(false)).value();
  EXPECT_FALSE(is_inside(to.a, image));
  EXPECT_EQ(first_of(to.a), 7);
}

TEST(BurnpackStore, CopiesFromMemoryUnlessToldToBorrow) {
  const BurnpackStore store = saved(pair_of(7));
  const Bytes bytes = store.get_bytes().value();
  Pair copied;
  load_from(copied, store).value();
  EXPECT_FALSE(is_inside(copied.a, bytes));
  Pair borrowed;
  load_from(borrowed, BurnpackStore(store).zero_copy(true)).value();
  EXPECT_TRUE(is_inside(borrowed.a, bytes));
  EXPECT_EQ(text_of(borrowed.a), text_of(copied.a));
}

TEST(BurnpackStore, CopiesFromAFileUnlessToldToBorrow) {
  const TempDir dir;
  const std::string path = dir.file("m.bpk");
  save_into(pair_of(1), BurnpackStore::from_file(path)).value();
  Pair copied;
  load_from(copied, BurnpackStore::from_file(path)).value();
  Tensor own = copied.a.val().value();
  copied.a = Param();
  EXPECT_FALSE(own.writable().empty());
}

TEST(BurnpackStore, BorrowsFromAMappingThatOutlivesStoreAndFile) {
  const TempDir dir;
  const std::string path = dir.file("m.bpk");
  const SampleNet from = sample_net(1);
  save_into(from, BurnpackStore::from_file(path)).value();
  SampleNet to;
  to.blocks.resize(2);
  load_from(to, BurnpackStore::from_file(path).zero_copy(true).allow_partial(true)).value();
  fs::remove(path);
  for (const Param* param : {&to.head.weight, &to.scale, &to.steps, &to.blocks[1].norm.gamma}) {
    EXPECT_TRUE(is_on_multiple_of_256(*param));
    EXPECT_TRUE(param->val().value().writable().empty());
  }
  EXPECT_EQ(text_of(to.head.weight), text_of(from.head.weight));

  SampleNet changed = to;
  changed.head.weight.as_mutable<float>().value()[0] = 5;
  EXPECT_EQ(first_of(changed.head.weight), 5);
  EXPECT_EQ(text_of(to.head.weight), text_of(from.head.weight));
}

TEST(BurnpackStore, SnapshotsOutliveStoreAndFile) {
  const TempDir dir;
  std::optional<TensorSnapshot> snapshot;
  {
    auto store = BurnpackStore::from_file(dir.file("m.bpk"));
    save_into(pair_of(1), store).value();
    snapshot = store.get_snapshot("b").value();
  }
  fs::remove(dir.file("m.bpk"));
  EXPECT_EQ(snapshot.value().read().value().to_vector<float>().value(), (std::vector<float>{3, 4}));
}

// ---- Metadata ----

TEST(BurnpackStore, WritesItsDefaultMetadataAndReadsItBack) {
  EXPECT_EQ(
      saved(pair_of(1)).get_metadata().value(),
      (Metadata{{"format", "burnpack"}, {"producer", "andiron"}, {"version", ANDIRON_VERSION}}));
}

TEST(BurnpackStore, AddsMetadataBesideItsDefaults) {
  const auto store =
      saved(pair_of(1), BurnpackStore().metadata("author", "me").metadata("version", "1.0"));
  EXPECT_EQ(
      store.get_metadata().value(),
      (Metadata{
          {"author", "me"}, {"format", "burnpack"}, {"producer", "andiron"}, {"version", "1.0"}}));
}

TEST(BurnpackStore, ClearedMetadataLeavesNoTraceInTheFile) {
  const auto none = saved(pair_of(1), BurnpackStore().metadata("author", "me").clear_metadata());
  EXPECT_TRUE(none.get_metadata().value().empty());
  EXPECT_EQ(none.get_bytes().value().text().find("metadata"), std::string_view::npos);
  const auto one = saved(pair_of(1), BurnpackStore().clear_metadata().metadata("only", "this"));
  EXPECT_EQ(one.get_metadata().value(), (Metadata{{"only", "this"}}));
}

// ---- Ids ----

TEST(BurnpackStore, WritesIdsAndTakesThemOver) {
  const Pair from = pair_of(1);
  const BurnpackStore store = saved(from);
  EXPECT_EQ(store.get_snapshot("a").value()->param_id(), from.a.id());
  EXPECT_EQ(store.get_snapshot("b").value()->param_id(), from.b.id());
  Pair to = pair_of(50);
  load_from(to, store).value();
  EXPECT_EQ(to.a.id(), from.a.id());
  EXPECT_EQ(to.b.id(), from.b.id());
}

TEST(BurnpackStore, LeavesTheModulesIdsAloneWhereTheFileHasNone) {
  Pair to = pair_of(50);
  const ParamId a = to.a.id();
  const ParamId b = to.b.id();
  load_from(to, store_with({"a", "b"})).value();
  EXPECT_EQ(first_of(to.b), 11);
  EXPECT_EQ(to.a.id(), a);
  EXPECT_EQ(to.b.id(), b);
}

TEST(BurnpackStore, KeepsIdsUnderOtherNamesAndThroughAdapters) {
  const SampleNet from = sample_net(1);
  const auto store =
      saved(
          from,
          BurnpackStore().with_to_adapter(BurnToPyTorchAdapter()).with_key_remapping("^", "model."))
          .with_top_level_key("model")
          .with_from_adapter(PyTorchToBurnAdapter());
  SampleNet to = sample_net(1000);
  load_from(to, store).value();
  EXPECT_EQ(fingerprint(to), fingerprint(from));
}

// ---- Releases of Burn ----

TEST(BurnpackStore, WritesForTheReleaseThatIsToRead) {
  using Generation = BurnpackGeneration;
  struct Flagged {
    Param flags = Tensor::from_values<bool>({3}, {true, false, true}).value();
    Param odd = f32({5}, 1);
    ANDIRON_MODULE(Flagged, flags, odd)
  };
  const TempDir dir;
  const Flagged from;
  for (const Generation generation :
       {Generation::burn_0_19, Generation::burn_0_20, Generation::burn_0_21,
        Generation::burn_0_22_pre, Generation::burn_0_22}) {
    SCOPED_TRACE(name_of(generation));
    const std::string path = dir.file(name_of(generation)) + ".bpk";
    save_into(from, BurnpackStore::from_file(path).for_burn(generation)).value();
    const detail::BurnpackHead head = detail::read_burnpack_head(path).value();
    EXPECT_EQ(head.layout.is_aligned, generation != Generation::burn_0_19);
    EXPECT_LE(head.layout.earliest, generation);
    EXPECT_GE(head.layout.latest, generation);
    const std::string text = read_file(path);
    EXPECT_EQ(text.find("Native") != std::string::npos, generation >= Generation::burn_0_21);
    Flagged to;
    to.odd = Param(f32({5}, 100));
    load_from(to, BurnpackStore::from_file(path)).value();
    EXPECT_EQ(fingerprint(to), fingerprint(from));
  }
}

TEST(BurnpackStore, WritesForTheNewestReleaseUnlessTold) {
  const Pair from = pair_of(1);
  EXPECT_EQ(saved(from).get_bytes().value().text(),
            saved(from, BurnpackStore().for_burn(BurnpackGeneration::burn_0_22))
                .get_bytes()
                .value()
                .text());
}

TEST(BurnpackStore, RefusesTypesThatTheReleaseLacks) {
  struct One {
    Param w;
    ANDIRON_MODULE(One, w)
  };
  const One complex{Param(Tensor::zeros(DType::c64, {2}).value())};
  const auto refused = save_into(complex, BurnpackStore());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported_dtype);
  EXPECT_EQ(refused.error().tensor, "w");
}

TEST(BurnpackStore, ZerosForEveryReleaseComeBack) {
  // Old files of zeros look like new ones that were cut, but for what the metadata says.
  const Pair zeros = {Param(Tensor::zeros(DType::f32, {64}).value()),
                      Param(Tensor::zeros(DType::f32, {128}).value())};
  for (const auto generation :
       {BurnpackGeneration::burn_0_19, BurnpackGeneration::burn_0_20, BurnpackGeneration::burn_0_21,
        BurnpackGeneration::burn_0_22_pre, BurnpackGeneration::burn_0_22}) {
    SCOPED_TRACE(name_of(generation));
    Pair to = {Param(f32({64}, 1)), Param(f32({128}, 1))};
    const BurnpackStore store = saved(zeros, BurnpackStore().for_burn(generation));
    const auto loaded = load_from(to, store);
    ASSERT_TRUE(loaded) << loaded.error();
    EXPECT_EQ(first_of(to.a), 0);
  }
}

TEST(BurnpackStore, SaysForWhichReleaseItWroteUnlessThatIsTheNewest) {
  const auto burn_entry = [](BurnpackStore store) {
    const Metadata metadata = saved(pair_of(1), std::move(store)).get_metadata().value();
    const auto entry = metadata.find("burn");
    return entry == metadata.end() ? "none" : entry->second;
  };
  auto old = BurnpackStore().for_burn(BurnpackGeneration::burn_0_20);
  EXPECT_EQ(burn_entry(old), "0.20");
  EXPECT_EQ(burn_entry(old.for_burn(BurnpackGeneration::burn_0_22)), "none");
}

// ---- Ties ----

TEST(BurnpackStore, WritesACopyForEachTiedNameUnlessToldToWriteItOnce) {
  struct Tied {
    Param embedding = f32({2}, 1);
    Param head;
    ANDIRON_MODULE(Tied, embedding, head)
  };
  Tied from;
  tie(from.embedding, from.head);
  const BurnpackStore store = saved(from);
  EXPECT_EQ(store.keys().value(), (Names{"embedding", "head"}));
  Tied untied;
  load_from(untied, store).value();
  EXPECT_EQ(first_of(untied.head), 1);

  const BurnpackStore once = saved(from, BurnpackStore().write_ties_once(true));
  EXPECT_EQ(once.keys().value(), Names{"embedding"});
  Tied tied;
  tie(tied.embedding, tied.head);
  tied.head.set_val(f32({2}, 9));
  EXPECT_EQ(load_from(tied, once).value().applied.size(), 2u);
  EXPECT_EQ(first_of(tied.head), 1);
  Tied loose;
  load_from(loose, once).value();
  EXPECT_EQ(first_of(loose.head), 1);
}

TEST(BurnpackStore, MetadataOfOthersTiesNothing) {
  const auto store =
      saved(pair_of(1), BurnpackStore().metadata("best", "a").metadata("producer", "burn"));
  EXPECT_FALSE(store.get_snapshot("best").value());
  EXPECT_TRUE(
      saved(pair_of(1), BurnpackStore().metadata("best", "a")).get_snapshot("best").value());
}

// ---- Quantized parameters ----

Param quantized(const QuantScheme& scheme, Shape shape) {
  std::uint64_t bytes = 0;
  EXPECT_TRUE(quantized_byte_count(scheme, shape.dims(), bytes));
  std::vector<std::uint8_t> payload(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::uint8_t>(i % 100);
  return Tensor::qfloat(scheme, std::move(shape), Bytes::own(std::move(payload))).value();
}

struct Quantized {
  nn::Linear linear;
  ANDIRON_MODULE(Quantized, linear)
};

void expect_round_trip(const QuantScheme& scheme, const BurnpackStore& settings) {
  Quantized from{{quantized(scheme, {64, 32}), Param(f32({32}, 1))}};
  const BurnpackStore store = saved(from, settings);
  EXPECT_EQ(store.get_snapshot("linear.weight").value()->scheme(), scheme);
  Quantized to{nn::LinearConfig(64, 32).init()};
  load_from(to, store).value();
  EXPECT_EQ(fingerprint(to), fingerprint(from));
  const Tensor weight = to.linear.weight.val().value();
  EXPECT_EQ(weight.dtype(), DType::qfloat);
  EXPECT_EQ(weight.scheme(), scheme);
  EXPECT_EQ(dequantize(weight).value().to_vector<float>().value(),
            dequantize(from.linear.weight.val().value()).value().to_vector<float>().value());
}

TEST(BurnpackStore, BringsAModuleQuantizedByTensorBack) {
  const QuantScheme scheme{
      .value = QuantValue::q8s, .store = QuantStore::native, .has_tensor_scale = true};
  expect_round_trip(scheme, {});
  expect_round_trip(scheme, BurnpackStore().for_burn(BurnpackGeneration::burn_0_21));
}

TEST(BurnpackStore, BringsAModuleQuantizedByBlocksBack) {
  const QuantScheme scheme{.value = QuantValue::q4s,
                           .store = QuantStore::packed_u32,
                           .has_blocks = true,
                           .block = {.size = {32, 1, 1, 1, 1}, .rank = 1}};
  expect_round_trip(scheme, {});
  expect_round_trip(scheme, BurnpackStore().for_burn(BurnpackGeneration::burn_0_21));
}

TEST(BurnpackStore, AdaptersPassQuantizedParameters) {
  const QuantScheme scheme{
      .value = QuantValue::q8s, .store = QuantStore::native, .has_tensor_scale = true};
  expect_round_trip(
      scheme, BurnpackStore().with_to_adapter(HalfPrecisionAdapter().without_module("Linear")));
  const Quantized from{{quantized(scheme, {4, 2}), std::nullopt}};
  const auto stored = saved(
      from, BurnpackStore().with_to_adapter(BurnToPyTorchAdapter().chain(HalfPrecisionAdapter())));
  const TensorSnapshot weight = stored.get_snapshot("linear.weight").value().value();
  EXPECT_EQ(weight.shape(), (Shape{4, 2}));
  EXPECT_EQ(weight.scheme(), scheme);
}

// ---- Half precision ----

struct Halved {
  nn::Linear fc = nn::LinearConfig(4, 2).init();
  nn::LayerNorm layer = nn::LayerNormConfig(2).init();
  nn::BatchNorm batch = nn::BatchNormConfig(2).init();
  ANDIRON_MODULE(Halved, fc, layer, batch)
};

DType stored_dtype(const BurnpackStore& store, std::string_view name) {
  return store.get_snapshot(name).value().value().dtype();
}

TEST(BurnpackStore, HalfPrecisionIsStoredAndComesBack) {
  const Halved from;
  const auto store = saved(from, BurnpackStore().with_to_adapter(HalfPrecisionAdapter()));
  EXPECT_EQ(stored_dtype(store, "fc.weight"), DType::f16);
  EXPECT_EQ(store.get_snapshot("fc.weight").value()->byte_size(), 16u);
  Halved to;
  load_from(to, BurnpackStore(store).with_from_adapter(HalfPrecisionAdapter())).value();
  ASSERT_EQ(to.fc.weight.dtype(), DType::f32);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(to.fc.weight.as<float>().value()[i], from.fc.weight.as<float>().value()[i], 1e-3);
  }
}

TEST(BurnpackStore, HalfPrecisionLeavesBatchNormAlone) {
  const auto store = saved(Halved(), BurnpackStore().with_to_adapter(HalfPrecisionAdapter()));
  EXPECT_EQ(stored_dtype(store, "layer.gamma"), DType::f16);
  for (const char* name :
       {"batch.gamma", "batch.beta", "batch.running_mean", "batch.running_var"}) {
    EXPECT_EQ(stored_dtype(store, name), DType::f32) << name;
  }
}

TEST(BurnpackStore, HalfPrecisionLeavesOutWhatItIsTold) {
  const auto store =
      saved(Halved(),
            BurnpackStore().with_to_adapter(HalfPrecisionAdapter().without_module("LayerNorm")));
  EXPECT_EQ(stored_dtype(store, "fc.weight"), DType::f16);
  EXPECT_EQ(stored_dtype(store, "layer.gamma"), DType::f32);
}

TEST(BurnpackStore, HalfPrecisionChainsWithPytorchsLayout) {
  const Halved from;
  const auto store = saved(
      from, BurnpackStore().with_to_adapter(BurnToPyTorchAdapter().chain(HalfPrecisionAdapter())));
  EXPECT_EQ(stored_dtype(store, "fc.weight"), DType::f16);
  EXPECT_EQ(store.get_snapshot("fc.weight").value()->shape(), (Shape{2, 4}));
  Halved to;
  load_from(to, BurnpackStore(store).with_from_adapter(
                    PyTorchToBurnAdapter().chain(HalfPrecisionAdapter())))
      .value();
  EXPECT_EQ(to.fc.weight.shape(), (Shape{4, 2}));
  EXPECT_NEAR(to.fc.weight.at<float>({3, 1}).value(), from.fc.weight.at<float>({3, 1}).value(),
              1e-3);
}

// ---- Other formats ----

TEST(BurnpackStore, ReadsSafetensorsAndRecordsByTheirContent) {
  const TempDir dir;
  const SampleNet from = sample_net(1);
  save_into(from, SafetensorsStore::from_file(dir.file("a.safetensors"))).value();
  save_into(from, MpkStore::from_file(dir.file("b.mpk")).precision(RecordPrecision::doubled))
      .value();
  fs::copy(dir.file("b.mpk"), dir.file("c.bpk"));
  for (const char* name : {"a.safetensors", "b.mpk", "c.bpk"}) {
    SampleNet to = sample_net(1000);
    const auto store = BurnpackStore::from_file(dir.file(name));
    const ApplyResult result =
        load_from(to, BurnpackStore(store).dtype_policy(DTypePolicy::cast_to_module)).value();
    EXPECT_EQ(result.applied.size(), 11u) << name;
    EXPECT_EQ(text_of(to.head.weight), text_of(from.head.weight)) << name;
  }
}

}  // namespace
}  // namespace andiron::test
