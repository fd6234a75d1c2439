// SPDX-License-Identifier: MIT OR Apache-2.0
// Saves that are based on the file that was loaded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "andiron/nn/attention.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/open.h"
#include "andiron/stores.h"
#include "andiron/value.h"
#include "andiron/write.h"
#include "tests/names/named_archive.h"
#include "tests/support/sample_net.h"
#include "tests/support/temp_dir.h"

namespace andiron {
namespace {

using test::f32;

// What torch.save makes of {"net": Sequential(Linear, BatchNorm1d, ReLU, Linear), "step": ...}.
Archive torch_checkpoint() {
  Archive file;
  const auto add = [&](const std::string& name, const Tensor& tensor) {
    file.add(TensorSnapshot(name, tensor)).value();
  };
  add("net.0.weight", f32({3, 2}, 0));
  add("net.0.bias", f32({3}, 10));
  add("net.1.weight", f32({3}, 20));
  add("net.1.bias", f32({3}, 30));
  add("net.1.running_mean", f32({3}, 40));
  add("net.1.running_var", f32({3}, 50));
  add("net.1.num_batches_tracked", Tensor::zeros(DType::i64, Shape()).value());
  add("net.3.weight", f32({2, 3}, 60));
  add("net.3.bias", f32({2}, 70));
  add("optimizer.momentum", f32({4}, 80));
  file.set_metadata({{"format", "pt"}, {"author", "me"}});
  return file;
}

struct BasedNet {
  nn::Linear first = nn::LinearConfig(2, 3).init();
  nn::BatchNorm norm = nn::BatchNormConfig(3).init();
  nn::Linear last = nn::LinearConfig(3, 2).init();
  ANDIRON_MODULE(BasedNet, first, norm, last)
};

SafetensorsStore pytorch_store(const Archive& file = torch_checkpoint()) {
  return SafetensorsStore::from_bytes(write_to_memory(file).value())
      .with_top_level_key("net")
      .map_indices_contiguous()
      .with_key_remapping("^0", "first")
      .with_key_remapping("^1", "norm")
      .with_key_remapping("^3", "last")
      .with_from_adapter(PyTorchToBurnAdapter());
}

std::vector<float> floats_in(const Archive& archive, std::string_view name) {
  return archive.get(name).value().read().value().to_vector<float>().value();
}

TEST(BasedOn, AModelThatDidNotChangeGivesTheSameFile) {
  BasedNet net;
  const SafetensorsStore loaded = pytorch_store();
  load_from(net, loaded).value();
  SafetensorsStore saved = SafetensorsStore().based_on(loaded);
  const WriteReport report = save_into(net, saved).value();
  EXPECT_TRUE(report.notes.empty()) << report.notes.front();
  const Bytes before = write_to_memory(torch_checkpoint()).value();
  const Bytes after = saved.get_bytes().value();
  EXPECT_TRUE(std::ranges::equal(before.span(), after.span()));
}

TEST(BasedOn, WhatChangedIsWrittenInTheFilesLayoutUnderItsNames) {
  BasedNet net;
  const SafetensorsStore loaded = pytorch_store();
  load_from(net, loaded).value();
  net.first.weight.set_val(f32({2, 3}, 100));
  net.norm.gamma.set_val(f32({3}, 200));
  SafetensorsStore saved = SafetensorsStore().based_on(loaded);
  save_into(net, saved).value();
  const Archive file = open(saved.get_bytes().value()).value();
  EXPECT_EQ(names_of(file), names_of(open(write_to_memory(torch_checkpoint()).value()).value()));
  EXPECT_EQ(floats_in(file, "net.0.weight"), (std::vector<float>{100, 103, 101, 104, 102, 105}));
  EXPECT_EQ(floats_in(file, "net.1.weight"), (std::vector<float>{200, 201, 202}));
  EXPECT_EQ(floats_in(file, "optimizer.momentum"), (std::vector<float>{80, 81, 82, 83}));
  EXPECT_EQ(file.info(*file.find("net.1.num_batches_tracked")).dtype, DType::i64);
  EXPECT_EQ(file.metadata(), (Metadata{{"format", "pt"}, {"author", "me"}}));
}

TEST(BasedOn, MetadataOfTheSaveIsAddedToTheFiles) {
  BasedNet net;
  const SafetensorsStore loaded = pytorch_store();
  load_from(net, loaded).value();
  SafetensorsStore saved =
      SafetensorsStore().metadata("author", "you").based_on(loaded).metadata("epoch", "2");
  save_into(net, saved).value();
  EXPECT_EQ(saved.get_metadata().value(),
            (Metadata{{"format", "pt"}, {"author", "you"}, {"epoch", "2"}}));
}

TEST(BasedOn, AParameterWithoutAnOldNameIsRefusedAndNothingIsWritten) {
  Archive without_bias = torch_checkpoint();
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < without_bias.size(); ++i) {
    if (without_bias.info(i).name != "net.3.bias") kept.push_back(i);
  }
  const SafetensorsStore loaded =
      pytorch_store(without_bias.select(kept).value()).allow_partial(true);
  BasedNet net;
  load_from(net, loaded).value();
  const test::TempDir dir;
  const std::string path = dir.file("saved.safetensors");
  auto saved = SafetensorsStore::from_file(path).based_on(loaded);
  const Error error = save_into(net, saved).error();
  EXPECT_EQ(error.code, ErrorCode::missing_tensor);
  EXPECT_EQ(error.found, "'last.bias'");
  EXPECT_EQ(open(path).error().code, ErrorCode::not_found);
  saved.exclude_full_path("last.bias");
  EXPECT_TRUE(save_into(net, saved));
}

TEST(BasedOn, AFilterLeavesTheFilesTensors) {
  BasedNet net;
  const SafetensorsStore loaded = pytorch_store();
  load_from(net, loaded).value();
  net.first.bias->set_val(f32({3}, 100));
  net.last.bias->set_val(f32({2}, 200));
  SafetensorsStore saved = SafetensorsStore().based_on(loaded).with_regex("^last");
  save_into(net, saved).value();
  const Archive file = open(saved.get_bytes().value()).value();
  EXPECT_EQ(floats_in(file, "net.0.bias"), (std::vector<float>{10, 11, 12}));
  EXPECT_EQ(floats_in(file, "net.3.bias"), (std::vector<float>{200, 201}));
}

TEST(BasedOn, AFileIsReplacedByItsSuccessor) {
  const test::TempDir dir;
  const std::string path = dir.file("model.safetensors");
  write(torch_checkpoint(), path).value();
  const auto loaded = SafetensorsStore::from_file(path)
                          .with_top_level_key("net")
                          .map_indices_contiguous()
                          .with_key_remapping("^0", "first")
                          .with_key_remapping("^1", "norm")
                          .with_key_remapping("^3", "last")
                          .with_from_adapter(PyTorchToBurnAdapter())
                          .zero_copy();
  BasedNet net;
  load_from(net, loaded).value();
  net.last.bias->set_val(f32({2}, 200));
  save_into(net, SafetensorsStore::from_file(path).based_on(loaded).overwrite()).value();
  const Archive file = open(path).value();
  EXPECT_EQ(floats_in(file, "net.3.bias"), (std::vector<float>{200, 201}));
  EXPECT_EQ(floats_in(file, "net.0.bias"), (std::vector<float>{10, 11, 12}));
}

TEST(BasedOn, DtypesThatTheLoadCastAreCastBack) {
  Archive half = torch_checkpoint();
  for (const char* name : {"net.0.weight", "net.0.bias"}) {
    const TensorSnapshot cast = half.get(name).value().cast(DType::f16).value();
    half.replace(*half.find(name), cast).value();
  }
  const SafetensorsStore loaded = pytorch_store(half).dtype_policy(DTypePolicy::cast_to_module);
  BasedNet net;
  load_from(net, loaded).value();
  EXPECT_EQ(net.first.weight.dtype(), DType::f32);
  SafetensorsStore saved = SafetensorsStore().based_on(loaded);
  save_into(net, saved).value();
  const Bytes before = write_to_memory(half).value();
  EXPECT_TRUE(std::ranges::equal(before.span(), saved.get_bytes().value().span()));
}

TEST(BasedOn, AnotherFormatCarriesTheValuesThatItHasRoomFor) {
  Archive file = torch_checkpoint();
  file.set_value(ValueDict{{"epoch", Value(std::int64_t{7})}});
  const auto loaded =
      BurnpackStore::from_bytes(write_to_memory(file, {.format = Format::burnpack}).value())
          .with_top_level_key("net")
          .map_indices_contiguous()
          .with_key_remapping("^0", "first")
          .with_key_remapping("^1", "norm")
          .with_key_remapping("^3", "last")
          .with_from_adapter(PyTorchToBurnAdapter());
  BasedNet net;
  load_from(net, loaded).value();
  BurnpackStore same = BurnpackStore().based_on(loaded);
  save_into(net, same).value();
  EXPECT_EQ(open(same.get_bytes().value()).value().value().value().at("epoch").as<int>().value(),
            7);
  SafetensorsStore other = SafetensorsStore().based_on(loaded);
  const WriteReport report = save_into(net, other).value();
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_NE(report.notes[0].find("cannot store 1 value"), std::string::npos) << report.notes[0];
}

TEST(BasedOn, AnAdapterWithoutAnInverseIsNamed) {
  class Own final : public Chainable<Own> {};
  const SafetensorsStore loaded = pytorch_store().with_from_adapter(Own());
  BasedNet net;
  SafetensorsStore saved = SafetensorsStore().based_on(loaded);
  EXPECT_EQ(save_into(net, saved).error().code, ErrorCode::unsupported);
  saved.with_to_adapter(BurnToPyTorchAdapter());
  EXPECT_TRUE(save_into(net, saved));
}

TEST(BasedOn, ABasisDoesNotKeepItsOwnBasis) {
  BasedNet net;
  SafetensorsStore store = pytorch_store();
  load_from(net, store).value();
  const SafetensorsStore first = store;
  for (int i = 0; i < 3; ++i) {
    store.based_on(store);
    save_into(net, store).value();
  }
  EXPECT_EQ(store.keys().value(), first.keys().value());
}

TEST(BasedOn, AnAdapterOfTheSaveMarksAFileThatHasNoMark) {
  Archive file = torch_checkpoint();
  file.set_metadata({});
  const SafetensorsStore loaded = pytorch_store(file);
  BasedNet net;
  load_from(net, loaded).value();
  SafetensorsStore saved =
      SafetensorsStore().based_on(loaded).with_to_adapter(BurnToPyTorchAdapter());
  save_into(net, saved).value();
  EXPECT_EQ(saved.get_metadata().value(), (Metadata{{"format", "pt"}}));
}

struct AttentionNet {
  nn::MultiHeadAttention attention = {.query = {.bias = Param()},
                                      .key = {.bias = Param()},
                                      .value = {.bias = Param()},
                                      .output = {.bias = Param()}};
  nn::LayerNorm norm = {.beta = Param()};
  ANDIRON_MODULE(AttentionNet, attention, norm)
};

TEST(BasedOn, TensorsStayJoinedOrApartAsTheFileHasThem) {
  Archive joined;
  Archive apart;
  const auto add = [](Archive& file, const std::string& name, const Shape& shape) {
    file.add(TensorSnapshot(name, f32(shape, float(100 * file.size())))).value();
  };
  add(joined, "attention.in_proj_weight", {12, 4});
  add(joined, "attention.in_proj_bias", {12});
  add(joined, "norm.weight", {4});
  add(joined, "norm.bias", {4});
  for (const std::string part : {"query", "key", "value"}) {
    add(apart, "attention." + part + ".weight", {4, 4});
    add(apart, "attention." + part + ".bias", {4});
  }
  add(apart, "norm.gamma", {4});
  add(apart, "norm.beta", {4});
  for (Archive* file : {&joined, &apart}) {
    add(*file, "attention.out_proj.weight", {4, 4});
    add(*file, "attention.out_proj.bias", {4});
    const Bytes before = write_to_memory(*file).value();
    const auto loaded =
        SafetensorsStore::from_bytes(before).with_from_adapter(PyTorchToBurnAdapter());
    AttentionNet net;
    load_from(net, loaded).value();
    EXPECT_EQ(net.attention.key.weight.shape(), (Shape{4, 4}));
    SafetensorsStore saved = SafetensorsStore().based_on(loaded);
    SafetensorsStore with_adapter =
        SafetensorsStore().based_on(loaded).with_to_adapter(BurnToPyTorchAdapter());
    save_into(net, saved).value();
    EXPECT_TRUE(std::ranges::equal(before.span(), saved.get_bytes().value().span()));
    save_into(net, with_adapter).value();
    EXPECT_EQ(with_adapter.keys().value(), loaded.keys().value());
  }
}

TEST(BasedOn, AdaptersInAChainAreUndoneInTheirOrder) {
  const SafetensorsStore loaded = pytorch_store().with_from_adapter(
      PyTorchToBurnAdapter().chain(FloatCastAdapter::to(DType::f32)));
  BasedNet net;
  load_from(net, loaded).value();
  SafetensorsStore saved = SafetensorsStore().based_on(loaded);
  save_into(net, saved).value();
  const Bytes before = write_to_memory(torch_checkpoint()).value();
  EXPECT_TRUE(std::ranges::equal(before.span(), saved.get_bytes().value().span()));
}

}  // namespace
}  // namespace andiron
