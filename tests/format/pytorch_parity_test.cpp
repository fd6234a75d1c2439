// SPDX-License-Identifier: MIT OR Apache-2.0
// What other readers of PyTorch files test and no other test of ours covers. tests/burn_parity.md
// lists them all.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/torch_containers.h"

namespace andiron::test {
namespace {

using namespace std::string_literals;

TEST(PytorchParity, NumbersOfEveryTypeAreReadAsTheyLie) {
  struct Case {
    const char* storage;
    DType dtype;
    std::int64_t elements;
    std::string content;
  };
  const Case cases[] = {
      {"FloatStorage", DType::f32, 4, memory_of<float>({1, 2.5F, -3.7F, 0})},
      {"DoubleStorage", DType::f64, 3, memory_of<double>({1.1, 2.2, 3.3})},
      {"LongStorage", DType::i64, 3, memory_of<std::int64_t>({100, -200, 0})},
      {"IntStorage", DType::i32, 2, memory_of<std::int32_t>({10, -30})},
      {"ShortStorage", DType::i16, 2, memory_of<std::int16_t>({1000, -2000})},
      {"CharStorage", DType::i8, 3, memory_of<std::int8_t>({127, -128, 0})},
      {"ByteStorage", DType::u8, 3, memory_of<std::uint8_t>({0, 128, 255})},
      {"BoolStorage", DType::boolean, 3, "\1\0\1"s},
      {"HalfStorage", DType::f16, 2, memory_of<std::uint16_t>({0x3e00, 0xc080})},
      {"BFloat16Storage", DType::bf16, 2, memory_of<std::uint16_t>({0x3fc0, 0xc020})},
  };
  TorchFile file;
  py::Pairs entries;
  for (const Case& one : cases) {
    const Py storage = file.storage(one.storage, one.content, one.elements);
    entries.emplace_back(one.storage, py::rebuild_tensor_v2(storage, 0, {one.elements}, {1}));
  }
  const Archive archive = file.open(py::dict(entries)).value();
  for (const Case& one : cases) {
    SCOPED_TRACE(one.storage);
    const Tensor tensor = read(archive, one.storage);
    EXPECT_EQ(tensor.dtype(), one.dtype);
    EXPECT_EQ(tensor.shape(), Shape({static_cast<std::uint64_t>(one.elements)}));
    EXPECT_EQ(tensor.bytes().text(), one.content);
  }
}

TEST(PytorchParity, NumbersThatAreNoneAndTheSmallestAndLargestKeepTheirBits) {
  using Limit = std::numeric_limits<float>;
  const std::vector<float> values = {Limit::quiet_NaN(),
                                     Limit::infinity(),
                                     -Limit::infinity(),
                                     -0.0F,
                                     Limit::denorm_min(),
                                     1e-30F,
                                     -1e-30F,
                                     Limit::max(),
                                     Limit::lowest()};
  TorchFile file;
  const Archive archive = file.open(file.tensor(values)).value();
  EXPECT_EQ(read(archive, "").bytes().text(), memory_of(values));
}

TEST(PytorchParity, BooleansKeepTheirBytes) {
  const std::string content = "\0\x80\x3f\1"s;
  TorchFile file;
  const Py storage = file.storage("BoolStorage", content, 4);
  const Archive archive = file.open(py::rebuild_tensor_v2(storage, 0, {4}, {1})).value();
  EXPECT_EQ(archive.info(0).dtype, DType::boolean);
  EXPECT_EQ(read(archive, "").bytes().text(), content);
}

TEST(PytorchParity, AViewOfAnUntypedStorageCountsBytes) {
  const Py tensor = torch_tensor(
      {.shape = {3}, .elements = 8, .type = "Untyped", .storage_view = py::tuple({"7", 2, 4})});
  const Archive archive = open_text(legacy_file(tensor, {{"0", "abcdefgh"}}, 1)).value();
  EXPECT_EQ(archive.info(0).dtype, DType::u8);
  EXPECT_EQ(read(archive, "").bytes().text(), "cde");
}

TEST(PytorchParity, ATensorThatIsGivenAStateIsReadAllTheSame) {
  TorchFile file;
  for (const Py& state : {py::dict({}), py::dict({{"note", "text"}})}) {
    const Archive archive = file.open(py::with_state(file.tensor({1, 2}), state)).value();
    EXPECT_EQ(floats(archive, ""), (std::vector<float>{1, 2}));
  }
}

TEST(PytorchParity, AParameterAndABufferOfOneNameAreRefused) {
  TorchFile file;
  const Result<Archive> archive =
      file.open(py::module("Net", {{"w", file.tensor({1})}}, {{"w", file.tensor({2})}}, {}));
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().code, ErrorCode::name_collision);
  EXPECT_EQ(archive.error().tensor, "w");
}

TEST(PytorchParity, NamesOfUnsavedBuffersThatAreNoSetArePassedOver) {
  TorchFile file;
  const Archive archive = file.open(py::module("Net", {}, {{"kept", file.tensor({1})}}, {},
                                               {{"_non_persistent_buffers_set", 1}}))
                              .value();
  EXPECT_EQ(names_of(archive), Names{"kept"});
  EXPECT_TRUE(archive.skipped().empty());
}

TEST(PytorchParity, ADictThatIsMadeOfWhatIsNoneIsEmpty) {
  TorchFile file;
  const Py dict = py::call(py::global("collections", "OrderedDict"), {3});
  const Archive archive = file.open(py::dict({{"d", dict}, {"w", file.tensor({1})}})).value();
  EXPECT_EQ(names_of(archive), Names{"w"});
  ASSERT_NE(archive.value()->find("d")->get<ValueDict>(), nullptr);
  EXPECT_TRUE(archive.value()->find("d")->get<ValueDict>()->empty());
}

TEST(PytorchParity, SetsAreMadeOfTheirFirstArgumentAlone) {
  const auto items = [](const char* kind, const py::Values& args) {
    const Archive archive = open_pickle(py::call(py::global("__builtin__", kind), args)).value();
    const ValueList* list = archive.value()->get<ValueList>();
    return list == nullptr ? ValueList{"no list"} : *list;
  };
  EXPECT_TRUE(items("frozenset", {py::list({})}).empty());
  const ValueList one = items("set", {py::list({"mask"}), py::list({1, 2})});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(*one[0].get<std::string>(), "mask");
}

TEST(PytorchParity, ADescriptionOfTheSystemMayTellNothing) {
  const std::string head = legacy_magic + py::pickle(1001) + py::pickle(py::dict({}));
  const std::string file = head + sample_legacy_file().substr(legacy_head().size());
  EXPECT_EQ(floats(open_text(file).value(), "b"), (std::vector<float>{5, 6}));
}

TEST(PytorchParity, WhereTensorsLayWhenTheyWereSavedDoesNotMatter) {
  const std::vector<float> values = {1, 2};
  for (const char* device : {"cuda:0", "mps", "xla:1"}) {
    const Py tensor = torch_tensor({.shape = {2}, .elements = 2, .device = device});
    const std::string file = zip_file(torch_records(tensor, {{"0", memory_of(values)}}));
    EXPECT_EQ(floats(open_text(file).value(), ""), values) << device;
  }
  const Py storage = py::persistent(
      py::tuple({"storage", py::global("torch.cuda", "FloatStorage"), "0", "cuda:0", 2, nullptr}));
  const Py old = py::rebuild_tensor_v2(storage, 0, {2}, {1});
  const std::string file = legacy_file(old, {{"0", memory_of(values)}});
  EXPECT_EQ(floats(open_text(file).value(), ""), values);
}

TEST(PytorchParity, NumbersThatLookLikeTheEndOfAZipArchiveAreNumbers) {
  const std::string content = "PK\5\6"s + std::string(100, '\0');
  const auto tensor = [](const std::optional<Py>& view) {
    return torch_tensor({.shape = {104}, .elements = 104, .type = "Byte", .storage_view = view});
  };
  const Archive legacy = open_text(legacy_file(tensor(no_view), {{"0", content}}, 1)).value();
  EXPECT_EQ(legacy.packaging(), "legacy");
  EXPECT_EQ(read(legacy, "").bytes().text(), content);
  const Archive zip = open_text(zip_file(torch_records(tensor({}), {{"0", content}}))).value();
  EXPECT_EQ(zip.packaging(), "zip");
  EXPECT_TRUE(zip.is_pickled());
  EXPECT_EQ(read(zip, "").bytes().text(), content);
}

TEST(PytorchParity, AQuantizedTensorThatLeavesItsStorageIsRefused) {
  TorchFile file;
  const Py parameters = py::tuple({py::global("torch", "per_tensor_affine"), 0.5, 0});
  const Py tensor = py::rebuild("_rebuild_qtensor",
                                {file.storage("QInt8Storage", "123456", 6), 0, py::sizes({2, 4}),
                                 py::sizes({4, 1}), parameters, false, py::ordered_dict()});
  const Result<Archive> archive = file.open(py::dict({{"q", tensor}}));
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().code, ErrorCode::bad_offsets);
  EXPECT_EQ(archive.error().tensor, "q");
}

}  // namespace
}  // namespace andiron::test
