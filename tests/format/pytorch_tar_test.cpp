// SPDX-License-Identifier: MIT OR Apache-2.0
// Tar archives of PyTorch 0.1.9 and before, and of tools that follow it only in part.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/tar_writing.h"
#include "tests/support/torch_containers.h"

namespace andiron::test {
namespace {

using Floats = std::vector<float>;

Py torch_class(const std::string& name) { return py::global("torch", name); }

std::string tar_storage(const Py& key, const std::string& data, std::uint64_t elements,
                        const std::string& type = "FloatStorage") {
  return py::pickle(py::tuple({key, "cpu", torch_class(type)})) + little_endian(elements) + data;
}

struct TarTensor {
  Py key;
  Py storage;
  std::vector<std::uint64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
  std::int32_t rank = static_cast<std::int32_t>(sizes.size());
};

std::string tar_tensor(const TarTensor& tensor) {
  std::string text =
      py::pickle(py::tuple({tensor.key, tensor.storage, torch_class("FloatTensor")}));
  text += little_endian(tensor.rank, std::uint32_t{0});
  for (const std::uint64_t size : tensor.sizes) text += little_endian(size);
  for (const std::int64_t stride : tensor.strides) text += little_endian(stride);
  return text + little_endian(tensor.offset);
}

// The members of a file with the storage 11 of four numbers, of which 22 is the upper half.
struct Members {
  std::string storages = py::pickle(1) + tar_storage("11", memory_of<float>({1, 2, 3, 4}), 4) +
                         py::pickle(py::list({py::tuple({"22", "11", 2, 2})}));
  std::string tensors =
      py::pickle(3) + tar_tensor({.key = 33, .storage = "11", .sizes = {2, 2}, .strides = {2, 1}}) +
      tar_tensor({.key = 44, .storage = "22", .sizes = {2}, .strides = {1}}) +
      tar_tensor({.key = 55, .storage = "11", .sizes = {2, 2}, .strides = {1, 2}});
  Py object = py::dict({{"w", py::persistent("33")},
                        {"upper", py::persistent("44")},
                        {"turned", py::persistent("55")}});

  std::string file() const {
    return tar_file(
        {{.name = "sys_info", .content = py::pickle(py::dict({{"little_endian", true}}))},
         {.name = "pickle", .content = py::pickle(object)},
         {.name = "tensors", .content = tensors},
         {.name = "storages", .content = storages}});
  }
};

TEST(PytorchTar, ReadsTensorsByTheirKeys) {
  const Archive archive = open_text(Members().file()).value();
  EXPECT_EQ(archive.packaging(), "tar");
  EXPECT_EQ(names_of(archive), (Names{"w", "upper", "turned"}));
  EXPECT_EQ(floats(archive, "w"), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(floats(archive, "upper"), (Floats{3, 4}));
  EXPECT_EQ(floats(archive, "turned"), (Floats{1, 3, 2, 4}));
  EXPECT_EQ(Members().file().substr(*archive.info(1).offset, 8), memory_of<float>({3, 4}));
}

TEST(PytorchTar, MembersMayComeInAnyOrderAndFromAnyTar) {
  const Members members;
  for (const char* magic : {"ustar", "ustar  ", ""}) {
    const std::string file =
        tar_file({{.name = "./storages", .content = members.storages, .magic = magic},
                  {.name = "./tensors", .content = members.tensors, .magic = magic},
                  {.name = "./pickle", .content = py::pickle(members.object), .magic = magic}});
    EXPECT_EQ(floats(open_text(file).value(), "upper"), (Floats{3, 4})) << magic;
  }
}

TEST(PytorchTar, KeysMayBeNumbersOrText) {
  Members members;
  members.object = py::dict({{"number", py::persistent(33)}, {"text", py::persistent("44")}});
  members.tensors = py::pickle(2) +
                    tar_tensor({.key = "33", .storage = 11, .sizes = {1}, .strides = {1}}) +
                    tar_tensor({.key = 44, .storage = "22", .sizes = {2}, .strides = {1}});
  const Archive archive = open_text(members.file()).value();
  EXPECT_EQ(floats(archive, "number"), Floats{1});
  EXPECT_EQ(floats(archive, "text"), (Floats{3, 4}));
}

TEST(PytorchTar, TensorsOfOneStorageShareIt) {
  Members members;
  members.object = py::dict({{"a", py::persistent("33")}, {"b", py::persistent("33")}});
  EXPECT_EQ(open_text(members.file()).value().ties()[1], std::optional<std::size_t>(0));
}

TEST(PytorchTar, RebuildCallsInsteadOfTensorsAreReadToo) {
  const std::string file =
      tar_file({{.name = "pickle", .content = py::pickle(sample_object())},
                {.name = "storages",
                 .content = py::pickle(2) + tar_storage("0", memory_of<float>({1, 2, 3, 4}), 4) +
                            tar_storage("1", memory_of<float>({5, 6}), 2)}});
  const Archive archive = open_text(file).value();
  EXPECT_EQ(floats(archive, "w"), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(floats(archive, "b"), (Floats{5, 6}));
}

TEST(PytorchTar, EveryStorageClassHasItsWidth) {
  Members members;
  members.storages = py::pickle(2) + tar_storage("1", std::string(16, '\1'), 2, "DoubleStorage") +
                     tar_storage("2", "abc", 3, "ByteStorage") + py::pickle(py::list({}));
  members.tensors = py::pickle(2) +
                    tar_tensor({.key = 5, .storage = "1", .sizes = {2}, .strides = {1}}) +
                    tar_tensor({.key = 6, .storage = "2", .sizes = {3}, .strides = {1}});
  members.object = py::list({py::persistent("5"), py::persistent("6")});
  const Archive archive = open_text(members.file()).value();
  EXPECT_EQ(archive.info(0).dtype, DType::f64);
  EXPECT_EQ(read(archive, "1").bytes().text(), "abc");
  members.storages = py::pickle(1) + tar_storage("1", "", 0, "StrangeStorage");
  expect_refused(open_text(members.file()), ErrorCode::bad_archive, "StrangeStorage");
}

TEST(PytorchTar, CountsThatCannotBeAreRefused) {
  for (const Py& count : {Py(std::int64_t{1} << 40), Py(-1), Py("1"), Py(nullptr)}) {
    Members members;
    members.storages = py::pickle(count) + members.storages.substr(py::pickle(1).size());
    expect_refused(open_text(members.file()), ErrorCode::bad_archive, "an impossible count");
    members = Members();
    members.tensors = py::pickle(count) + members.tensors.substr(py::pickle(1).size());
    expect_refused(open_text(members.file()), ErrorCode::bad_archive, "an impossible count");
  }
}

TEST(PytorchTar, MembersThatEndTooSoonAreRefused) {
  Members members;
  const std::string storages = members.storages;
  members.storages = py::pickle(1) + tar_storage("11", "abc", 4);
  expect_refused(open_text(members.file()), ErrorCode::truncated);
  members.storages = py::pickle(1) + tar_storage("11", "abcd", ~std::uint64_t{0});
  EXPECT_FALSE(open_text(members.file()));
  members.storages = py::pickle(2) + storages.substr(py::pickle(1).size());
  EXPECT_FALSE(open_text(members.file()));
  members = Members();
  members.tensors.resize(members.tensors.size() - 1);
  expect_refused(open_text(members.file()), ErrorCode::truncated);
}

TEST(PytorchTar, StoragesThatAreNotThereAreNamed) {
  Members members;
  members.tensors =
      py::pickle(1) + tar_tensor({.key = 33, .storage = "77", .sizes = {1}, .strides = {1}});
  expect_refused(open_text(members.file()), ErrorCode::missing_storage, "storage '77'");
  members = Members();
  members.object = py::dict({{"w", torch_tensor({.shape = {1}, .key = "88", .elements = 1})}});
  expect_refused(open_text(members.file()), ErrorCode::missing_storage, "storage '88'");
  members.object = py::dict({{"w", torch_tensor({.shape = {1}, .key = "11", .elements = 5})}});
  expect_refused(open_text(members.file()), ErrorCode::size_mismatch, "storage '11'");
}

TEST(PytorchTar, ViewsThatLeaveTheirStorageAreRefused) {
  for (const Py& view :
       {py::tuple({"22", "11", 3, 2}), py::tuple({"22", "11", 5, 0}), py::tuple({"22", "99", 0, 1}),
        py::tuple({"22", "11", std::int64_t{1} << 62, 4}), py::tuple({"22", "11", -1, 2}),
        py::tuple({"22", "11", 0}), Py("22")}) {
    Members members;
    members.storages = py::pickle(1) + tar_storage("11", memory_of<float>({1, 2, 3, 4}), 4) +
                       py::pickle(py::list({view}));
    expect_refused(open_text(members.file()), ErrorCode::bad_archive);
  }
}

TEST(PytorchTar, TensorsThatLeaveTheirStorageAreRefused) {
  const std::vector<TarTensor> wrong = {
      {.key = 33, .storage = "11", .sizes = {5}, .strides = {1}},
      {.key = 33, .storage = "11", .sizes = {2}, .strides = {4}},
      {.key = 33, .storage = "11", .sizes = {1}, .strides = {1}, .offset = 4},
      {.key = 33, .storage = "11", .sizes = {1}, .strides = {1}, .offset = -1},
      {.key = 33, .storage = "11", .sizes = {2}, .strides = {-1}, .offset = 1},
      {.key = 33, .storage = "11", .sizes = {~std::uint64_t{0}}, .strides = {1}},
  };
  for (const TarTensor& tensor : wrong) {
    Members members;
    members.tensors = py::pickle(1) + tar_tensor(tensor);
    members.object = py::dict({{"w", py::persistent("33")}});
    const Result<Archive> archive = open_text(members.file());
    ASSERT_FALSE(archive);
    EXPECT_EQ(archive.error().tensor, "w");
    EXPECT_EQ(archive.error().file, "test.pt");
  }
  for (const std::int32_t rank : {65, -1}) {
    Members members;
    members.tensors =
        py::pickle(1) +
        tar_tensor({.key = 33, .storage = "11", .sizes = {}, .strides = {}, .rank = rank});
    expect_refused(open_text(members.file()), ErrorCode::bad_archive, "dimensions");
  }
}

TEST(PytorchTar, StrangeItemsAreRefused) {
  Members members;
  members.storages = py::pickle(1) + py::pickle(py::tuple({"11", "cpu"}));
  expect_refused(open_text(members.file()), ErrorCode::bad_archive, "has no key or class");
  members = Members();
  members.tensors = py::pickle(1) + py::pickle(py::tuple({33}));
  expect_refused(open_text(members.file()), ErrorCode::bad_archive, "has no storage");
  members = Members();
  members.storages = py::pickle(1) + tar_storage("11", memory_of<float>({1}), 1) + py::pickle(7);
  expect_refused(open_text(members.file()), ErrorCode::bad_archive, "list of views");
}

TEST(PytorchTar, AnIdThatNamesNothingIsAnError) {
  Members members;
  members.object = py::dict({{"w", py::persistent("34")}});
  expect_refused(open_text(members.file()), ErrorCode::bad_pickle);
  // The class of a module with its source is no tensor.
  members.object = py::dict(
      {{"c", py::persistent(py::tuple({py::global("net", "Net"), "net.py", "class Net: pass"}))},
       {"w", py::persistent("44")}});
  EXPECT_EQ(names_of(open_text(members.file()).value()), Names{"w"});
}

}  // namespace
}  // namespace andiron::test
