// SPDX-License-Identifier: MIT OR Apache-2.0
// Stacked pickles with raw storages behind them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/format/pytorch/legacy.h"
#include "tests/support/bytes_of_text.h"
#include "tests/support/test_source.h"
#include "tests/support/torch_containers.h"

namespace andiron::test {
namespace {

using Floats = std::vector<float>;

Py view_of(std::int64_t offset, std::int64_t elements) {
  return py::tuple({"v", offset, elements});
}

// {"w": [2]} of a storage of four, which the id says is a view.
std::string with_view(const Py& view, std::int64_t offset = 0) {
  return legacy_file(
      py::dict({{"w", torch_tensor(
                          {.shape = {2}, .offset = offset, .elements = 4, .storage_view = view})}}),
      {{"0", memory_of<float>({1, 2, 3, 4})}});
}

TEST(PytorchLegacy, ReadsStoragesInTheOrderOfTheKeyList) {
  const Archive archive =
      open_text(legacy_file(sample_object(no_view), {{"1", memory_of<float>({5, 6})},
                                                     {"0", memory_of<float>({1, 2, 3, 4})}}))
          .value();
  EXPECT_EQ(archive.packaging(), "legacy");
  EXPECT_EQ(names_of(archive), (std::vector<std::string>{"w", "b"}));
  EXPECT_EQ(floats(archive, "w"), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(floats(archive, "b"), (Floats{5, 6}));
  EXPECT_LT(*archive.info(1).offset, *archive.info(0).offset);
  EXPECT_TRUE(archive.notes().empty());
}

TEST(PytorchLegacy, TheMagicNumberMayBeInAnyProtocol) {
  const std::string rest = sample_legacy_file().substr(legacy_magic.size());
  for (const std::string& magic :
       {std::string("L119547037146038801333356L\n."),
        std::string("\x80\x03\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."),
        std::string(
            "\x80\x04\x95\x0d\0\0\0\0\0\0\0\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.",
            24)}) {
    EXPECT_EQ(open_text(magic + rest).value().packaging(), "legacy");
  }
}

TEST(PytorchLegacy, TensorsShareAStorageAndHaveTheirOwnParts) {
  const Py object = py::dict(
      {{"a", torch_tensor({.shape = {2}, .offset = 1, .elements = 4, .storage_view = no_view})},
       {"b", torch_tensor(
                 {.shape = {2, 2}, .strides = {{1, 2}}, .elements = 4, .storage_view = no_view})},
       {"c", torch_tensor({.shape = {2}, .offset = 1, .elements = 4, .storage_view = no_view})}});
  const Archive archive =
      open_text(legacy_file(object, {{"0", memory_of<float>({1, 2, 3, 4})}})).value();
  EXPECT_EQ(floats(archive, "a"), (Floats{2, 3}));
  EXPECT_EQ(floats(archive, "b"), (Floats{1, 3, 2, 4}));
  EXPECT_EQ(archive.ties()[2], std::optional<std::size_t>(0));
}

TEST(PytorchLegacy, ViewsOfStoragesAreHonored) {
  EXPECT_EQ(floats(open_text(with_view(view_of(2, 2))).value(), "w"), (Floats{3, 4}));
  EXPECT_EQ(floats(open_text(with_view(view_of(1, 3), 1)).value(), "w"), (Floats{3, 4}));
}

TEST(PytorchLegacy, ViewsThatLeaveTheirStorageAreRefused) {
  for (const auto& [offset, elements] :
       {std::pair<std::int64_t, std::int64_t>{3, 2}, {5, 0}, {0, 5}, {std::int64_t{1} << 62, 2}}) {
    expect_refused(open_text(with_view(view_of(offset, elements))), ErrorCode::bad_pickle,
                   "extends past its storage");
  }
  expect_refused(open_text(with_view(view_of(-1, 2))), ErrorCode::bad_pickle);
  expect_refused(open_text(with_view(1)), ErrorCode::bad_pickle);
  // The view has two elements, the tensor asks for those behind.
  expect_refused(open_text(with_view(view_of(0, 2), 1)), ErrorCode::bad_offsets);
}

TEST(PytorchLegacy, EveryWidthOfElementsIsTakenFromTheIds) {
  const Py object = py::dict(
      {{"l",
        torch_tensor(
            {.shape = {1}, .key = "a", .elements = 1, .type = "Long", .storage_view = no_view})},
       {"h",
        torch_tensor(
            {.shape = {1}, .key = "b", .elements = 1, .type = "Half", .storage_view = no_view})},
       {"c",
        torch_tensor(
            {.shape = {3}, .key = "c", .elements = 3, .type = "Char", .storage_view = no_view})}});
  const std::string file = legacy_head() + py::pickle(object) +
                           py::pickle(py::list({"a", "b", "c"})) +
                           little_endian(std::uint64_t{1}, std::int64_t{-7}) +
                           little_endian(std::uint64_t{1}, std::uint16_t{0x3c00}) +
                           little_endian(std::uint64_t{3}) + "xyz";
  const Archive archive = open_text(file).value();
  EXPECT_EQ(archive.get("l").value().read().value().to_vector<std::int64_t>().value(),
            std::vector<std::int64_t>{-7});
  EXPECT_EQ(archive.info(1).dtype, DType::f16);
  EXPECT_EQ(archive.get("c").value().read().value().bytes().text(), "xyz");
}

TEST(PytorchLegacy, KeysMayBeNumbersOrTextOfPython2) {
  const auto with_key = [](const Py& in_id, const Py& in_list) {
    const Py id = py::persistent(
        py::tuple({"storage", py::global("torch", "FloatStorage"), in_id, "cpu", 2, nullptr}));
    return legacy_head() + py::pickle(py::dict({{"s", id}})) + py::pickle(py::list({in_list})) +
           little_endian(std::uint64_t{2}) + memory_of<float>({1, 2});
  };
  const Py old = py::old_text("42");
  for (const std::string& file : {with_key(42, 42), with_key(old, old), with_key("42", old)}) {
    EXPECT_EQ(floats(open_text(file).value(), "s"), (Floats{1, 2}));
  }
}

TEST(PytorchLegacy, WhatFollowsTheStoragesIsNotLookedAt) {
  const Archive archive = open_text(sample_legacy_file() + sample_legacy_file()).value();
  EXPECT_EQ(archive.size(), 2u);
}

TEST(PytorchLegacy, OtherMachinesDescriptionsDoNotMatter) {
  // Storages are little-endian on every machine, whatever the file says of the one that wrote it.
  const std::string head =
      legacy_magic + py::pickle(1001) + py::pickle(py::dict({{"little_endian", false}}));
  const std::string file = head + sample_legacy_file().substr(legacy_head().size());
  EXPECT_EQ(floats(open_text(file).value(), "b"), (Floats{5, 6}));
}

TEST(PytorchLegacy, AnotherProtocolOrNoDescriptionIsRefused) {
  const std::string rest = sample_legacy_file().substr(legacy_head().size());
  const std::string system = py::pickle(py::dict({}));
  expect_refused(open_text(legacy_magic + py::pickle(1002) + system + rest), ErrorCode::bad_pickle,
                 "protocol");
  expect_refused(open_text(legacy_magic + py::pickle("1001") + system + rest),
                 ErrorCode::bad_pickle, "protocol");
  expect_refused(open_text(legacy_magic + py::pickle(1001) + py::pickle(1) + rest),
                 ErrorCode::bad_pickle, "description of the system");
}

TEST(PytorchLegacy, AStorageThatIsNotListedIsNamed) {
  const std::string file =
      legacy_file(sample_object(no_view), {{"0", memory_of<float>({1, 2, 3, 4})}});
  expect_refused(open_text(file), ErrorCode::missing_storage, "storage '1'");
  EXPECT_EQ(open_text(file).error().tensor, "b");
}

TEST(PytorchLegacy, AStorageThatNoTensorRefersToIsRefused) {
  Storages storages = sample_storages();
  storages.emplace_back("2", memory_of<float>({7}));
  expect_refused(open_text(legacy_file(sample_object(no_view), storages)), ErrorCode::bad_pickle,
                 "storage '2'");
}

TEST(PytorchLegacy, AnotherNumberOfElementsThanTheIdSaysIsRefused) {
  for (const Floats& data : {Floats{1, 2, 3}, Floats{1, 2, 3, 4, 5}, Floats{}}) {
    const std::string file = legacy_file(sample_object(no_view),
                                         {{"0", memory_of(data)}, {"1", memory_of<float>({5, 6})}});
    expect_refused(open_text(file), ErrorCode::size_mismatch, "storage '0'");
  }
}

TEST(PytorchLegacy, DataThatEndsTooSoonIsNamed) {
  const std::string file = sample_legacy_file();
  for (const std::size_t cut : {1u, 7u, 8u, 9u, 15u, 16u, 20u}) {
    expect_refused(open_text(file.substr(0, file.size() - cut)), ErrorCode::truncated, "storage '");
  }
  const Archive rest =
      open_text(file.substr(0, file.size() - 1), {.strictness = Strictness::lenient}).value();
  EXPECT_EQ(rest.size() + rest.skipped().size(), open_text(file).value().size());
  EXPECT_FALSE(rest.empty());
  EXPECT_TRUE(rest.skipped().at(0).reason.starts_with("the file has no data for a storage"));
  // Counts that lie, also below zero.
  for (const std::uint64_t count : {std::uint64_t{3}, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
    std::string lying = file;
    lying.replace(file.size() - 16, 8, little_endian(count));
    expect_refused(open_text(lying), ErrorCode::truncated, "storage '1'");
  }
}

TEST(PytorchLegacy, AKeyListThatIsNoListIsRefused) {
  const std::string file = legacy_head() + py::pickle(sample_object(no_view));
  expect_refused(open_text(file + py::pickle(1)), ErrorCode::bad_pickle, "list of storages");
  expect_refused(open_text(file), ErrorCode::bad_pickle);
}

TEST(PytorchLegacy, OpeningPassesOverTheStorages) {
  constexpr std::int64_t elements = 1'000'000;
  const Py object = py::dict(
      {{"a", torch_tensor(
                 {.shape = {elements}, .key = "a", .elements = elements, .storage_view = no_view})},
       {"b",
        torch_tensor(
            {.shape = {elements}, .key = "b", .elements = elements, .storage_view = no_view})}});
  const std::string data(elements * 4, 'x');
  const std::string file = legacy_file(object, {{"a", data}, {"b", data}});
  const auto source = std::make_shared<TestSource>(file);
  const Archive archive = open(ByteSourcePtr(source)).value();
  EXPECT_EQ(archive.size(), 2u);
  EXPECT_LT(source->bytes_read(), 700u * 1024);
}

TEST(PytorchLegacy, TheClassOfAModuleWithItsSourceIsNoTensor) {
  const Py source_class = py::persistent(
      py::tuple({"module", py::global("__main__", "Net"), "net.py", "class Net: pass"}));
  const Py object =
      py::dict({{"class", source_class},
                {"w", torch_tensor({.shape = {2}, .elements = 2, .storage_view = no_view})}});
  const Archive archive = open_text(legacy_file(object, {{"0", memory_of<float>({1, 2})}})).value();
  EXPECT_EQ(names_of(archive), std::vector<std::string>{"w"});
}

TEST(PytorchLegacy, BytesWithinAPickleHoldOneStorage) {
  const auto storage_in = [](const std::string& file) {
    const Bytes bytes = bytes_of_text(file);
    return detail::read_legacy_storage({memory_source(bytes, "test.pt"), 0, bytes.size(), nullptr},
                                       {});
  };
  const std::string one =
      legacy_file(torch_storage({.key = "k", .elements = 2, .storage_view = no_view}),
                  {{"k", memory_of<float>({1, 2})}});
  const detail::Storage storage = storage_in(one).value();
  EXPECT_EQ(storage.bytes, 8u);
  EXPECT_EQ(storage.offset, one.size() - 8);
  expect_refused(storage_in(sample_legacy_file()), ErrorCode::bad_pickle,
                 "do not contain a storage");
  expect_refused(storage_in("\x80\2}."), ErrorCode::bad_pickle, "magic number");
}

}  // namespace
}  // namespace andiron::test
