// SPDX-License-Identifier: MIT OR Apache-2.0
// What a PyTorch file holds besides its tensors, by Archive::value().
#include "src/format/pytorch/value_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "andiron/sink.h"
#include "andiron/write.h"
#include "tests/support/torch_file.h"

namespace andiron {
namespace {

using namespace test;

class PytorchValues : public testing::Test {
 protected:
  Value value_of(const Py& root, const OpenOptions& options = {}) {
    return file.open(root, options).value().value().value();
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
  const Value value = *archive.value();
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

// One hundred kilobytes that are referred to again and again.
py::Values referred_to_often(const Py& value) {
  py::Values values = {py::put(0, value)};
  for (int i = 0; i < 500; ++i) values.push_back(py::get(0));
  return values;
}

TEST_F(PytorchValues, ThatAreRepeatedAreSharedInMemory) {
  const Py shared = py::dict({{"list", py::list({1, 2})}, {"text", std::string(100, 'x')}});
  const Value value = value_of(py::list({py::put(0, shared), py::get(0), py::get(0)}));
  const ValueList& places = *value.get<ValueList>();
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[1].get<ValueDict>(), places[0].get<ValueDict>());
  EXPECT_EQ(places[2].get<ValueDict>(), places[0].get<ValueDict>());
  EXPECT_EQ(places[0].find("list")->get<ValueList>()->size(), 2u);

  const Value texts = value_of(py::list({py::put(0, std::string(100, 'x')), py::get(0)}));
  EXPECT_EQ((*texts.get<ValueList>())[1].get<std::string>(),
            (*texts.get<ValueList>())[0].get<std::string>());
}

TEST_F(PytorchValues, ThatAreRepeatedWithTensorsHaveTheirOwnNumbers) {
  const Value value = value_of(py::list({py::put(0, py::list({file.tensor({1}), 5})), py::get(0)}));
  const ValueList& places = *value.get<ValueList>();
  EXPECT_EQ((*places[0].get<ValueList>())[0].get<TensorIndex>()->index, 0u);
  EXPECT_EQ((*places[1].get<ValueList>())[0].get<TensorIndex>()->index, 1u);
}

TEST_F(PytorchValues, WithinThemselvesEndThere) {
  // a = [5, b], b = [a]: what b is depends on where it is.
  const Py a = Py::raw("]q\1(K\5]q\2h\1ae");
  const Value value = value_of(py::list({a, Py::raw("h\2")}));
  EXPECT_EQ(to_json(value), "[[5,[null]],[[5,null]]]");
}

TEST_F(PytorchValues, TooMuchOfThemIsAnErrorAndTheTensorsAreThere) {
  const std::string text(100'000, 'x');
  for (const Py& value : {Py(text), py::bytes(text), py::dict({{text.substr(0, 50'000), 1}}),
                          py::list({text, text})}) {
    const Archive archive = file.open(py::dict({{"w", file.tensor({1, 2})},
                                                {"bomb", py::list(referred_to_often(value))}}))
                                .value();
    const Result<Value> tree = archive.value();
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().code, ErrorCode::limit_exceeded);
    EXPECT_EQ(tree.error().hint, "raise Limits::memory_bytes if you trust the file");
    EXPECT_EQ(tree.error().file, "test.pt");
    EXPECT_EQ(floats(archive, "w"), (std::vector<float>{1, 2}));
    EXPECT_TRUE(archive.skipped().empty());
    OpenOptions trusting;
    trusting.limits.memory_bytes = std::uint64_t{4} << 30;
    EXPECT_TRUE(file.open(py::list(referred_to_often(value)), trusting).value().value());
  }
}

TEST_F(PytorchValues, ThatCannotBeHadAreNotWritten) {
  const Py bomb = py::list(referred_to_often(std::string(100'000, 'x')));
  const Archive archive = file.open(py::dict({{"w", file.tensor({1, 2})}, {"bomb", bomb}})).value();
  MemorySink sink;
  const auto written = write(archive, sink, {.format = Format::burnpack});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::limit_exceeded);
  Archive without = archive;
  without.set_value({});
  EXPECT_TRUE(write(without, sink, {.format = Format::burnpack}));
  // Where a format has no place for values, they are left out.
  const WriteReport report = write(archive, sink, {.format = Format::safetensors}).value();
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_TRUE(report.notes[0].starts_with("values were left out: ")) << report.notes[0];
}

TEST_F(PytorchValues, AreMadeOnceForAllThreads) {
  const Archive archive = file.open(py::dict({{"a", 1}})).value();
  std::vector<const ValueDict*> seen(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&, i] { seen[i] = archive.value()->get<ValueDict>(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const ValueDict* dict : seen) EXPECT_EQ(dict, seen[0]);
}

}  // namespace
}  // namespace andiron
