// SPDX-License-Identifier: MIT OR Apache-2.0
// What a PyTorch file holds besides its tensors, by Archive::value().
#include "src/format/pytorch/value_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/support/torch_file.h"

namespace andiron {
namespace {

using namespace test;

class PytorchValues : public testing::Test {
 protected:
  Value value_of(const Py& root, const OpenOptions& options = {}) {
    return file.open(root, options).value().value();
  }
  static std::string text(const Value& value) {
    const std::string* text = value.get<std::string>();
    return text == nullptr ? "no text" : *text;
  }

  TorchFile file;
};

TEST_F(PytorchValues, PlainOnesAreWhatTheyAre) {
  EXPECT_TRUE(value_of(nullptr).is_null());
  EXPECT_EQ(*value_of(true).get<bool>(), true);
  EXPECT_EQ(*value_of(-5).get<std::int64_t>(), -5);
  EXPECT_EQ(*value_of(0.5).get<double>(), 0.5);
  EXPECT_EQ(text(value_of("text")), "text");
  EXPECT_EQ(text(value_of(py::old_text("\xe9"))), "\xc3\xa9");
  EXPECT_EQ(text(value_of(py::big_integer(std::string(8, '\0') + "\x01"))), "18446744073709551616");
  EXPECT_EQ(*value_of(py::big_integer(std::string(8, '\xff') + '\0')).get<std::uint64_t>(),
            ~std::uint64_t{0});
}

TEST_F(PytorchValues, BytesAreBytesHoweverTheyAreSpelled) {
  for (const Py& bytes :
       {py::bytes("a\xff"), py::encoded_bytes("a\xff"),
        py::call(py::global("__builtin__", "bytearray"), {py::encoded_bytes("a\xff")})}) {
    const Value value = value_of(py::dict({{"b", bytes}}));
    const Bytes* found = value.find("b")->get<Bytes>();
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->text(), "a\xff");
  }
  const Value empty = value_of(py::dict({{"b", py::encoded_bytes("")}}));
  ASSERT_NE(empty.find("b")->get<Bytes>(), nullptr);
}

TEST_F(PytorchValues, TensorsAreTheirNumbers) {
  const Archive archive = file.open(py::dict({{"w", file.tensor({1})},
                                              {"l", py::list({1, file.tensor({2})})},
                                              {"o", py::ordered_dict({{"b", file.tensor({3})}})}}))
                              .value();
  const Value& value = archive.value();
  EXPECT_EQ(value.find("w")->get<TensorIndex>()->index, *archive.find("w"));
  EXPECT_EQ((*value.find("l")->get<ValueList>())[1].get<TensorIndex>()->index,
            *archive.find("l.1"));
  EXPECT_EQ(value.find("o")->find("b")->get<TensorIndex>()->index, *archive.find("o.b"));
}

TEST_F(PytorchValues, OfOneTensorAreItsNumber) {
  EXPECT_EQ(value_of(file.tensor({1})).get<TensorIndex>()->index, 0u);
}

TEST_F(PytorchValues, ListsTuplesAndSetsAreLists) {
  for (const Py& list :
       {py::list({1, 2}), py::tuple({1, 2}), py::set_of({1, 2}),
        py::with_items(py::call(py::global("collections", "deque"), {py::tuple({}), 5}), {1, 2})}) {
    const Value value = value_of(list);
    ASSERT_NE(value.get<ValueList>(), nullptr);
    ASSERT_EQ(value.get<ValueList>()->size(), 2u);
    EXPECT_EQ(*(*value.get<ValueList>())[1].get<std::int64_t>(), 2);
  }
  EXPECT_TRUE(value_of(py::list({})).get<ValueList>()->empty());
  EXPECT_TRUE(value_of(py::dict({})).get<ValueDict>()->empty());
}

TEST_F(PytorchValues, ObjectsAreDictsOfTheirAttributes) {
  const Py args = py::with_state(py::new_object(py::global("argparse", "Namespace")),
                                 py::dict({{"lr", 0.1}, {"layers", py::list({1, 2})}}));
  const Value value = value_of(py::dict({{"args", args}, {"epoch", 7}}));
  EXPECT_EQ(*value.find("args")->find("lr")->get<double>(), 0.1);
  EXPECT_EQ(value.find("args")->find("layers")->get<ValueList>()->size(), 2u);
  EXPECT_EQ(*value.find("epoch")->get<std::int64_t>(), 7);
}

TEST_F(PytorchValues, KeysAreTheStepsOfNames) {
  const Value value = value_of(py::dict({{1, "a"}, {py::tuple({1, "x"}), "b"}, {nullptr, "c"}}));
  EXPECT_EQ(text(*value.find("1")), "a");
  EXPECT_EQ(text(*value.find("(1, 'x')")), "b");
  EXPECT_EQ(text(*value.find("None")), "c");
}

TEST_F(PytorchValues, AKeyThatIsNotThereGivesNothing) {
  const Value value = value_of(py::dict({{"epoch", 42}}));
  EXPECT_EQ(value.find("nonexistent"), nullptr);
  EXPECT_EQ(value.find("epoch")->find("epoch"), nullptr) << "a number has no entries";
}

TEST_F(PytorchValues, WhatWouldHaveBeenMadeIsTold) {
  const Value value = value_of(py::list(
      {py::global("torch", "float32"), py::call(py::global("torch", "device"), {"cuda", 0}),
       py::call(py::global("pathlib", "PosixPath"), {"a", "b"}),
       py::call(py::global("datetime", "date"), {py::encoded_bytes("\x07\xe4\x01\x01")}),
       py::call(py::global("__builtin__", "getattr"), {py::global("colors", "Color"), "RED"}),
       py::numpy_dtype("f4"), py::call(py::global("posix", "system"), {"rm -rf /"})}));
  const ValueList& list = *value.get<ValueList>();
  ASSERT_EQ(list.size(), 7u);
  EXPECT_EQ(text(list[0]), "torch.float32");
  EXPECT_EQ(text(list[1]), "torch.device('cuda', 0)");
  EXPECT_EQ(text(list[2]), "pathlib.PosixPath('a', 'b')");
  EXPECT_EQ(text(list[3]), "datetime.date(b'\\x07\\xe4\\x01\\x01')");
  EXPECT_EQ(text(list[4]), "__builtin__.getattr(colors.Color, 'RED')");
  EXPECT_EQ(text(list[5]), "numpy.dtype('f4', False, True)");
  EXPECT_EQ(text(list[6]), "posix.system('rm -rf /')");
}

TEST_F(PytorchValues, WhatIsNotTakenIsNullInItsPlace) {
  const Py meta =
      py::rebuild("_rebuild_meta_tensor_no_storage",
                  {py::global("torch", "float32"), py::sizes({1}), py::sizes({1}), false});
  const Py self = py::with_items(py::put(0, py::list({})), {meta, py::get(0), 5});
  const Value value = value_of(self);
  const ValueList& list = *value.get<ValueList>();
  ASSERT_EQ(list.size(), 3u);
  EXPECT_TRUE(list[0].is_null());
  EXPECT_TRUE(list[1].is_null());
  EXPECT_EQ(*list[2].get<std::int64_t>(), 5);
}

TEST_F(PytorchValues, LongTextIsReadWhole) {
  const std::string log(200'000, 'x');
  const Value value = value_of(py::dict({{"log", log}}));
  EXPECT_EQ(text(*value.find("log")), log);
  const std::string broken = std::string(100'000, 'x') + "\xff";
  EXPECT_TRUE(value_of(py::dict({{"log", broken}})).find("log")->is_null());
}

TEST_F(PytorchValues, TextAndBytesInAllAreNoMoreThanTheLimit) {
  OpenOptions options;
  options.limits.metadata_bytes = 1000;
  const std::string hundred(100, 'x');
  py::Values values = {py::put(0, hundred), py::put(1, py::bytes(hundred))};
  for (int i = 0; i < 100; ++i) values.push_back(py::get(i % 2 == 0 ? 0 : 1));
  values.push_back(5);
  const Value value = value_of(py::dict({{"l", py::list(values)}, {"n", 5}}), options);
  std::size_t total = 0;
  for (const Value& item : *value.find("l")->get<ValueList>()) {
    if (const auto* found = item.get<std::string>()) total += found->size();
    if (const auto* found = item.get<Bytes>()) total += found->size();
  }
  EXPECT_GE(total, 500u);
  EXPECT_LE(total, 1000u);
}

TEST_F(PytorchValues, LongKeysAreNoMoreThanTheLimitEither) {
  OpenOptions options;
  options.limits.metadata_bytes = 10'000;
  py::Values values = {py::put(0, py::dict({{std::string(5000, 'k'), 1}}))};
  for (int i = 0; i < 100; ++i) values.push_back(py::get(0));
  const Value value = value_of(py::list(values), options);
  std::size_t total = 0;
  for (const Value& item : *value.get<ValueList>()) {
    const ValueDict* dict = item.get<ValueDict>();
    if (dict == nullptr) continue;
    for (const auto& [key, entry] : *dict) total += key.size();
  }
  EXPECT_GE(total, 5000u);
  EXPECT_LE(total, 11'000u);
}

TEST_F(PytorchValues, AreMadeOnceForAllThreads) {
  const Archive archive = file.open(py::dict({{"a", 1}})).value();
  std::vector<const Value*> seen(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&, i] { seen[i] = &archive.value(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Value* value : seen) EXPECT_EQ(value, seen[0]);
}

}  // namespace
}  // namespace andiron
