// SPDX-License-Identifier: MIT OR Apache-2.0
// Which container a PyTorch file is, whatever it is called and wherever it lies.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "andiron/value.h"
#include "andiron/write.h"
#include "src/codec/gzip.h"
#include "src/format/pytorch/pytorch.h"
#include "tests/support/file_head.h"
#include "tests/support/gzip_writing.h"
#include "tests/support/tar_writing.h"
#include "tests/support/temp_dir.h"
#include "tests/support/torch_containers.h"

namespace andiron::test {
namespace {

using namespace std::string_literals;

// A whole file of stacked pickles as bytes in another pickle, as pickle.dump() of a tensor has it.
Py storage_within(const std::string& data) {
  const std::string inner = legacy_file(
      torch_storage({.key = "7", .elements = 2, .storage_view = no_view}), {{"7", data}});
  return py::call(py::global("torch.storage", "_load_from_bytes"), {py::bytes(inner)});
}

// What pickle.dump({"w": tensor, "n": 3}) writes.
std::string bare_pickle() {
  const Py tensor =
      py::call(py::global("torch._utils", "_rebuild_tensor_v2"),
               {storage_within(memory_of<float>({8, 9})), 0, py::sizes({2}), py::sizes({1}), false,
                py::call(py::global("collections", "OrderedDict"), {})});
  return py::pickle(py::dict({{"w", tensor}, {"n", 3}}));
}

std::string tar_with_rebuild_calls() {
  const std::string storages =
      py::pickle(2) + py::pickle(py::tuple({"0", "cpu", py::global("torch", "FloatStorage")})) +
      little_endian(std::uint64_t{4}) + memory_of<float>({1, 2, 3, 4}) +
      py::pickle(py::tuple({"1", "cpu", py::global("torch", "FloatStorage")})) +
      little_endian(std::uint64_t{2}) + memory_of<float>({5, 6}) + py::pickle(py::list({}));
  return tar_file({{.name = "pickle", .content = py::pickle(sample_object())},
                   {.name = "storages", .content = storages}});
}

struct Contained {
  std::string file;
  std::string container;
};

std::vector<Contained> samples() {
  return {{zip_file(sample_records()), "zip"},
          {sample_legacy_file(), "legacy"},
          {tar_with_rebuild_calls(), "tar"}};
}

TEST(PytorchReader, FindsTheContainerByContentWhateverTheName) {
  const TempDir folder;
  for (const auto& [file, container] : samples()) {
    for (const char* name : {"m.pt", "m.bin", "m.safetensors", "m"}) {
      write_file(folder.file(name), file);
      for (IoMode mode : {IoMode::automatic, IoMode::mmap, IoMode::pread, IoMode::direct}) {
        const Archive archive = open(folder.file(name), {.io = mode}).value();
        EXPECT_EQ(archive.format(), "pytorch");
        EXPECT_EQ(archive.packaging(), container);
        EXPECT_EQ(archive.file_bytes(), file.size());
        EXPECT_EQ(names_of(archive), (std::vector<std::string>{"w", "b"}));
        EXPECT_EQ(floats(archive, "w"), (std::vector<float>{1, 2, 3, 4}));
        EXPECT_EQ(floats(archive, "b"), (std::vector<float>{5, 6}));
      }
    }
  }
}

TEST(PytorchReader, ReadsEveryContainerFromMemory) {
  for (const auto& [file, container] : samples()) {
    const Archive archive = open_text(file).value();
    EXPECT_EQ(archive.packaging(), container);
    EXPECT_EQ(floats(archive, "w"), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(archive.info(0).offset.has_value(), true);
    EXPECT_EQ(file.substr(*archive.info(1).offset, 8), memory_of<float>({5, 6}));
    EXPECT_EQ(archive.info(0).file_dtype, "float32");
  }
}

TEST(PytorchReader, BorrowsFromStaticMemoryWithoutACopy) {
  for (const auto& [file, container] : samples()) {
    const Bytes memory = Bytes::borrow(std::as_bytes(std::span(file.data(), file.size())));
    const Archive archive = open(memory).value();
    const Tensor tensor = archive.get("b").value().borrow().value();
    EXPECT_EQ(static_cast<const void*>(tensor.bytes().data()),
              file.data() + *archive.info(1).offset)
        << container;
  }
}

TEST(PytorchReader, TheTreeHasNumbersAndTheIndicesOfTensors) {
  const std::string file =
      py::pickle(py::dict({{"epoch", 42}, {"list", py::list({"a", nullptr, true})}, {"lr", 0.5}}));
  EXPECT_EQ(to_json(open_text(file).value().value().value()),
            R"({"epoch":42,"list":["a",null,true],"lr":0.5})");
  const Archive archive = open_text(zip_file(sample_records())).value();
  EXPECT_EQ(archive.value()->find("b")->get<TensorIndex>()->index, 1u);
}

TEST(PytorchReader, ABarePickleHasItsStoragesInItself) {
  const Archive archive = open_text(bare_pickle()).value();
  EXPECT_EQ(archive.packaging(), "pickle");
  EXPECT_EQ(floats(archive, "w"), (std::vector<float>{8, 9}));
  EXPECT_EQ(*archive.value()->find("n")->get<std::int64_t>(), 3);
  EXPECT_TRUE(archive.notes().empty());
}

TEST(PytorchReader, ABarePickleThatRefersToDataElsewhereIsRefused) {
  expect_refused(open_text(py::pickle(sample_object())), ErrorCode::missing_storage, "storage '0'");
  // Where the other tensors count, it is left out.
  const Archive archive =
      open_text(py::pickle(sample_object()), {.strictness = Strictness::lenient}).value();
  EXPECT_TRUE(archive.empty());
  EXPECT_NE(reason_for(archive, "w").find("data.pkl"), std::string::npos);
}

TEST(PytorchReader, BytesBehindABarePickleAreANoteUnlessStrict) {
  const std::string file = bare_pickle() + "more";
  const Archive archive = open_text(file).value();
  EXPECT_EQ(archive.size(), 1u);
  expect_note(archive, "4 bytes follow the pickle");
  expect_refused(open_text(file, {.strictness = Strictness::strict}), ErrorCode::bad_pickle,
                 "4 bytes");
}

TEST(PytorchReader, AMagicNumberThatWouldHaveToBeComputedIsNoFileOfPytorch) {
  const std::string computed =
      py::pickle(py::call(py::global("builtins", "eval"), {"0x1950a86a20f9469cfc6c"}));
  const std::string file = computed + sample_legacy_file().substr(legacy_magic.size());
  const Archive archive = open_text(file).value();
  EXPECT_EQ(archive.packaging(), "pickle");
  EXPECT_TRUE(archive.empty());
  EXPECT_FALSE(archive.notes().empty());
}

TEST(PytorchReader, NothingThatAPickleNamesIsRun) {
  const TempDir folder;
  const std::string mark = folder.file("mark");
  const std::string file =
      py::pickle(py::dict({{"w", py::call(py::global("posix", "system"), {"touch " + mark})}}));
  const Archive archive = open_text(file).value();
  EXPECT_TRUE(archive.empty());
  EXPECT_FALSE(archive.value()->is_null());
  EXPECT_FALSE(std::filesystem::exists(mark));
}

TEST(PytorchReader, ReadsGzipAroundEveryContainer) {
  std::vector<Contained> all = samples();
  all.push_back({bare_pickle(), "pickle"});
  for (const auto& [file, container] : all) {
    const std::string packed = gzipped(file);
    const Archive archive = open_text(packed).value();
    EXPECT_EQ(archive.packaging(), container + ".gz");
    EXPECT_EQ(archive.file_bytes(), packed.size());
    EXPECT_EQ(archive.get("w").value().read().value().bytes().text(),
              open_text(file).value().get("w").value().read().value().bytes().text());
    // A place in what it inflates to is no place in the file.
    EXPECT_FALSE(archive.info(0).offset.has_value());
    expect_refused(open_text(packed, {.limits = {.inflated_bytes = file.size() - 1}}),
                   ErrorCode::limit_exceeded);
    EXPECT_FALSE(open_text(packed.substr(0, packed.size() - 9)));
  }
}

TEST(PytorchReader, ForeignZipArchivesAreNamed) {
  struct Case {
    std::vector<std::string> names;
    const char* what;
  };
  const Case cases[] = {
      {{"config.json", "model.weights.h5"}, "a Keras model"},
      {{"model/model.json", "model/tensors/0"}, "a TorchScript archive of PyTorch 1.0"},
      {{"pkg/.data/extern_modules", "pkg/m/r.pkl"}, "a torch.package archive"},
      {{"pkg/.data/0.storage", "pkg/.data/ts_code/0/data.pkl", "pkg/.data/extern_modules"},
       "a torch.package archive"},
      {{"m/byteorder", "m/version", "m/.data/serialization_id"}, "a PyTorch archive without its"},
      {{"readme.txt"}, "a zip archive without 'data.pkl'"},
      {{"a/xdata.pkl"}, "a zip archive without 'data.pkl'"},
  };
  for (const Case& one : cases) {
    std::vector<ZipItem> items;
    for (const std::string& name : one.names) items.push_back({.name = name, .content = "x"});
    expect_refused(open_text(zip_file(items)), ErrorCode::not_a_weight_file, one.what);
  }
}

TEST(PytorchReader, AForeignTarArchiveIsNamed) {
  expect_refused(open_text(tar_file({{.name = "readme", .content = "x"}})),
                 ErrorCode::not_a_weight_file, "without 'pickle' and 'storages'");
}

TEST(PytorchReader, TakesTheFormatThatItIsTold) {
  EXPECT_TRUE(open_text(zip_file(sample_records()), {.format = Format::pytorch}));
  EXPECT_FALSE(open_text(zip_file(sample_records()), {.format = Format::safetensors}));
  // No one would take these for a pickle, but one can be told to.
  EXPECT_EQ(open(source_of("I7\n.", "m")).error().code, ErrorCode::not_a_weight_file);
  const Archive number = open_text("I7\n.", {.format = Format::pytorch}).value();
  EXPECT_EQ(*number.value()->get<std::int64_t>(), 7);
  expect_refused(open_text("hello", {.format = Format::pytorch}), ErrorCode::bad_pickle);
}

TEST(PytorchReader, WhatIsReadIsNotWritten) {
  const TempDir folder;
  const Archive archive = open_text(zip_file(sample_records())).value();
  for (const WriteOptions& options : {WriteOptions{}, WriteOptions{.format = Format::pytorch}}) {
    const Result<WriteReport> report = write(archive, folder.file("m.pt"), options);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, ErrorCode::unsupported);
    EXPECT_EQ(report.error().file, folder.file("m.pt"));
  }
  EXPECT_TRUE(folder.names().empty());
  EXPECT_EQ(write_to_memory(archive, {.format = Format::pytorch}).error().code,
            ErrorCode::unsupported);
  ASSERT_TRUE(write(archive, folder.file("m.safetensors")));
  EXPECT_EQ(floats(open(folder.file("m.safetensors")).value(), "b"), (std::vector<float>{5, 6}));
}

TEST(PytorchReader, PicklesOfEveryProtocolAreKnownByTheirFirstBytes) {
  for (const char* head : {"\x80\2}q", "\x80\3cc", "\x80\4\x95", "\x80\5\x95", "(dp0\n", "(lp0\n",
                           "}q\1", "]q\1", "ccollections\nO", "ctorch._u", "cnumpy.core",
                           "ccopy_reg\n_r", "L119547037146038801333356L\n."}) {
    EXPECT_TRUE(test::is_taken_for(detail::is_pytorch, head)) << head;
  }
  for (const char* head :
       {"", "\x80", "\x80\6}", "\x80\1}", "{\"a\":1}", "hello", "const", "L12L\n."}) {
    EXPECT_FALSE(test::is_taken_for(detail::is_pytorch, head)) << head;
  }
}

TEST(PytorchReader, TensorsOutliveTheArchiveAndTheFile) {
  const TempDir folder;
  for (const auto& [file, container] : samples()) {
    write_file(folder.file("m.pt"), file);
    const TensorSnapshot tensor = open(folder.file("m.pt")).value().get("w").value();
    std::filesystem::remove(folder.file("m.pt"));
    EXPECT_EQ(tensor.read().value().bytes().text(), memory_of<float>({1, 2, 3, 4})) << container;
  }
}

TEST(PytorchReader, AFileCutUnderAnOpenArchiveIsAnErrorAndNeverZeros) {
  const TempDir folder;
  const std::string path = folder.file("m.pt");
  for (const auto& [file, container] : samples()) {
    for (IoMode mode : {IoMode::automatic, IoMode::mmap, IoMode::pread, IoMode::direct}) {
      write_file(path, file);
      const Archive archive = open(path, {.io = mode}).value();
      std::filesystem::resize_file(path, 20);
      const Result<Tensor> read = archive.get("w").value().read();
      ASSERT_FALSE(read) << container;
      EXPECT_EQ(read.error().tensor, "w");
      std::filesystem::remove(path);
    }
  }
}

TEST(PytorchReader, SeveralThreadsReadOneArchive) {
  for (const auto& [file, container] : samples()) {
    const Archive archive = open_text(file).value();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 50; ++round) {
          EXPECT_EQ(floats(archive, "b"), (std::vector<float>{5, 6}));
          EXPECT_FALSE(archive.value()->is_null());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(PytorchReader, KeepsToItsLimits) {
  const std::string file = zip_file(sample_records());
  expect_refused(open_text(file, {.limits = {.tensors = 1}}), ErrorCode::limit_exceeded,
                 "too many tensors");
  EXPECT_TRUE(open_text(file, {.limits = {.tensors = 2}}));
  expect_refused(open_text(file, {.limits = {.memory_bytes = 5000}}), ErrorCode::limit_exceeded,
                 "asks for more memory");
  expect_refused(open_text(file, {.limits = {.pickle_values = 20}}), ErrorCode::limit_exceeded);
  expect_refused(open_text(file, {.limits = {.zip_entries = 3}}), ErrorCode::limit_exceeded);
  const std::string long_name = zip_file(torch_records(
      py::dict({{std::string(70'000, 'x'), torch_tensor({.shape = {1}, .elements = 1})}}),
      {{"0", memory_of<float>({1})}}));
  expect_refused(open_text(long_name), ErrorCode::limit_exceeded, "the name is too long");
}

TEST(PytorchReader, TheTreeCountsWhatALenientReadingTakes) {
  // Nobody negates a truth value.
  const Py bad = py::rebuild("_rebuild_tensor_v2",
                             {py::storage("BoolStorage", "1", 2), 0, py::sizes({2}), py::sizes({1}),
                              false, nullptr, py::dict({{"neg", true}})});
  const Py root = py::dict({{"a", bad}, {"b", torch_tensor({.shape = {1}, .elements = 1})}});
  const std::string file =
      zip_file(torch_records(root, {{"0", memory_of<float>({1})}, {"1", std::string(2, '\0')}}));
  EXPECT_FALSE(open_text(file));
  const Archive archive = open_text(file, {.strictness = Strictness::lenient}).value();
  EXPECT_EQ(names_of(archive), (Names{"b"}));
  EXPECT_TRUE(archive.value()->find("a")->is_null());
  EXPECT_EQ(archive.value()->find("b")->get<TensorIndex>()->index, 0u);
}

TEST(PytorchReader, NamesThatCollideAreRefused) {
  const auto view = [](std::int64_t offset) {
    return torch_tensor({.shape = {1}, .offset = offset, .elements = 2});
  };
  const auto records = [](const Py& object) {
    return zip_file(torch_records(object, {{"0", memory_of<float>({1, 2})}}));
  };
  const Py object = py::dict({{"a.b", view(0)}, {"a", py::dict({{"b", view(1)}})}});
  expect_refused(open_text(records(object)), ErrorCode::name_collision, "'a.b'");
  const Archive first = open_text(records(object), {.strictness = Strictness::lenient}).value();
  EXPECT_EQ(floats(first, "a.b"), (std::vector<float>{1}));
  EXPECT_EQ(first.skipped().at(0).reason, "another tensor has this name");
  EXPECT_TRUE(first.value()->find("a")->find("b")->is_null());
  // The same bytes, and another tensor.
  const Py minus = py::rebuild(
      "_rebuild_tensor_v2", {py::storage("FloatStorage", "0", 2), 0, py::sizes({1}), py::sizes({1}),
                             false, nullptr, py::dict({{"neg", true}})});
  expect_refused(open_text(records(py::dict({{"a.b", view(0)}, {"a", py::dict({{"b", minus}})}}))),
                 ErrorCode::name_collision, "'a.b'");
  // One tensor twice under a name, as dicts have it whose items are attributes, is one.
  const Py same = py::dict({{"a.b", view(1)}, {"a", py::dict({{"b", view(1)}, {"c", view(0)}})}});
  const Archive archive = open_text(records(same)).value();
  EXPECT_EQ(archive.size(), 2u);
  EXPECT_EQ(archive.value()->find("a")->find("b")->get<TensorIndex>()->index, 0u);
  EXPECT_EQ(archive.value()->find("a")->find("c")->get<TensorIndex>()->index, 1u);
}

}  // namespace
}  // namespace andiron::test
