// SPDX-License-Identifier: MIT OR Apache-2.0
// How tensors are named by where they lie.
#include "src/format/pytorch/pickle_walk.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/format/pytorch/dict_keys.h"
#include "tests/support/pickle_document.h"
#include "tests/support/torch_file.h"

namespace andiron {
namespace {

using namespace test;
using namespace std::string_literals;

class PytorchNames : public testing::Test {
 protected:
  // A tensor that holds the number of tensors before it.
  Py next() { return file.tensor({static_cast<float>(count++)}); }

  Names names(const Py& root) { return names_of(file.open(root).value()); }

  TorchFile file;
  int count = 0;
};

TEST_F(PytorchNames, JoinKeysWithDotsInTheOrderOfTheFile) {
  const Py root = py::dict({{"b", next()}, {"a", py::dict({{"y", next()}, {"x", next()}})}});
  EXPECT_EQ(names(root), (Names{"b", "a.y", "a.x"}));
}

TEST_F(PytorchNames, OfARootThatIsATensorAreEmpty) { EXPECT_EQ(names(next()), (Names{""})); }

TEST_F(PytorchNames, OfListsTuplesAndSetsAreIndices) {
  EXPECT_EQ(names(py::list({next(), next()})), (Names{"0", "1"}));
  EXPECT_EQ(names(py::tuple({1, next(), py::tuple({next()})})), (Names{"1", "2.0"}));
  EXPECT_EQ(names(py::set_of({next()})), (Names{"0"}));
  EXPECT_EQ(names(Py::raw("\x8f(" + next().code + "\x90")), (Names{"0"})) << "of protocol 4";
  EXPECT_EQ(names(Py::raw("(" + next().code + next().code + "\x91")), (Names{"0", "1"}));
}

TEST_F(PytorchNames, OfListsBeyondOneBatchCountOn) {
  py::Values tensors(2500, py::get(0));
  tensors[0] = py::put(0, next());
  const Names found = names(py::list(tensors));
  ASSERT_EQ(found.size(), 2500u);
  EXPECT_EQ(found[2499], "2499");
}

TEST_F(PytorchNames, OfKeysThatAreNoTextAreWhatPythonPrints) {
  const Py root = py::dict({{7, next()},
                            {-5, next()},
                            {true, next()},
                            {nullptr, next()},
                            {0.5, next()},
                            {1e-5, next()},
                            {py::tuple({0, "a"}), next()},
                            {py::tuple({1}), next()},
                            {py::bytes("x"), next()},
                            {py::encoded_bytes("\xff"), next()},
                            {py::big_integer("\0\0\0\0\0\0\0\0\x01"s), next()},
                            {py::global("torch", "float32"), next()},
                            {py::old_text("old"), next()}});
  EXPECT_EQ(names(root),
            (Names{"7", "-5", "True", "None", "0.5", "1e-05", "(0, 'a')", "(1,)", "b'x'",
                   "b'\\xff'", "18446744073709551616", "torch.float32", "old"}));
}

TEST_F(PytorchNames, OfKeysThatTextDoesNotTellApartAreTheirNumbers) {
  const auto object = [](int number) {
    return py::with_state(py::new_object(py::global("mine", "Key")), py::dict({{"n", number}}));
  };
  // An optimizer's state, by the parameters themselves.
  EXPECT_EQ(names(py::dict({{next(), py::dict({{"exp_avg", next()}})},
                            {next(), py::dict({{"exp_avg", next()}})}})),
            (Names{"0.exp_avg", "1.exp_avg"}));
  EXPECT_EQ(names(py::dict({{object(1), next()}, {object(2), next()}})), (Names{"0", "1"}));
  EXPECT_EQ(names(py::dict({{"a", 1}, {py::tuple({object(1), 5}), next()}})), (Names{"1"}));
  EXPECT_EQ(names(py::dict({{py::call(py::global("mine", "Color"), {2}), next()}})),
            (Names{"mine.Color(2)"}));
}

TEST_F(PytorchNames, MayHaveEmptyAndOddSteps) {
  const Py root = py::dict(
      {{"", py::dict({{"", next()}, {"a", next()}})}, {"a.b", next()}, {"\xc3\xa9 \n", next()}});
  EXPECT_EQ(names(root), (Names{".", ".a", "a.b", "\xc3\xa9 \n"}));
}

TEST_F(PytorchNames, OfOrderedDictsAreTheirKeysWithoutTheirMetadata) {
  const Py metadata = py::dict({{"_metadata", py::dict({{"", py::dict({{"version", 1}})}})}});
  const Py root = py::with_state(py::ordered_dict({{"a", next()}, {"b", next()}}), metadata);
  const Archive archive = file.open(root).value();
  EXPECT_EQ(names_of(archive), (Names{"a", "b"}));
  EXPECT_TRUE(archive.skipped().empty());
}

TEST_F(PytorchNames, OfOrderedDictsDoNotHideTheirAttributes) {
  const Py root = py::with_state(py::ordered_dict({{"a", next()}}), py::dict({{"extra", next()}}));
  const Archive archive = file.open(root).value();
  EXPECT_EQ(names_of(archive), (Names{"a"}));
  ASSERT_EQ(archive.skipped().size(), 1u);
  EXPECT_EQ(archive.skipped()[0].name, "extra");
  EXPECT_EQ(archive.skipped()[0].reason, "an attribute of a dict");
}

TEST_F(PytorchNames, OfOrderedDictsOfPython2AreInAListOfPairs) {
  const Py kind = py::global("collections", "OrderedDict");
  EXPECT_EQ(names(py::call(kind, {py::list({py::list({py::old_text("a"), next()}),
                                            py::list({py::old_text("b"), next()})})})),
            (Names{"a", "b"}));
  EXPECT_EQ(names(py::call(kind, {py::list({py::tuple({"a", next()})})})), (Names{"a"}));
  EXPECT_EQ(names(py::call(kind, {py::list({})})), (Names{}));
}

TEST_F(PytorchNames, OfOtherDictsOfThePythonLibraryAreTheirKeys) {
  const Py factory = py::global("__builtin__", "list");
  EXPECT_EQ(names(py::with_pairs(py::call(py::global("collections", "defaultdict"), {factory}),
                                 {{"a", next()}, {1, next()}})),
            (Names{"a", "1"}));
  EXPECT_EQ(names(py::call(py::global("collections", "Counter"), {py::dict({{"a", next()}})})),
            (Names{"a"}));
}

TEST_F(PytorchNames, OfDequesAreIndices) {
  const Py deque = py::call(py::global("collections", "deque"), {py::tuple({}), 3});
  EXPECT_EQ(names(py::with_items(deque, {next(), next()})), (Names{"0", "1"}));
  const Py old = py::call(py::global("collections", "deque"), {py::list({next(), next()})});
  EXPECT_EQ(names(old), (Names{"0", "1"}));
}

TEST_F(PytorchNames, OfNamedTuplesAreIndices) {
  EXPECT_EQ(names(py::new_object(py::global("mine", "Point"), {next(), next()})),
            (Names{"0", "1"}));
}

TEST_F(PytorchNames, OfObjectsAreTheirAttributes) {
  const Py state = py::dict({{"x", next()}, {"note", "text"}, {"y", py::list({next()})}});
  const Py kind = py::global("argparse", "Namespace");
  EXPECT_EQ(names(py::with_state(py::new_object(kind), state)), (Names{"x", "y.0"}));
  EXPECT_EQ(names(py::with_state(py::call(py::global("copyreg", "__newobj__"), {kind}), state)),
            (Names{"x", "y.0"}));
  const Py old = py::call(py::global("copy_reg", "_reconstructor"),
                          {kind, py::global("__builtin__", "object"), nullptr});
  EXPECT_EQ(names(py::with_state(old, state)), (Names{"x", "y.0"}));
}

TEST_F(PytorchNames, OfConfigNodesAreThoseOfWhatTheyHold) {
  const auto node = [](const char* module, const char* kind, const char* field, const Py& held) {
    return py::with_state(py::new_object(py::global(module, kind)),
                          py::dict({{"_metadata", py::dict({{"key", "k"}})}, {field, held}}));
  };
  const Py leaf = node("omegaconf.nodes", "AnyNode", "_val", next());
  const Py list = node("omegaconf.listconfig", "ListConfig", "_content", py::list({leaf}));
  EXPECT_EQ(names(node("omegaconf.dictconfig", "DictConfig", "_content",
                       py::dict({{"a", leaf}, {"b", list}}))),
            (Names{"a", "b.0"}));
  const Py own = py::put(0, py::new_object(py::global("omegaconf.dictconfig", "DictConfig")));
  EXPECT_EQ(names(py::with_state(own, py::dict({{"_content", py::get(0)}, {"a", next()}}))),
            (Names{"a"}))
      << "a node that holds itself";
}

TEST_F(PytorchNames, OfObjectsWithSlotsAreTheirAttributesToo) {
  const Py kind = py::new_object(py::global("mine", "Slots"));
  EXPECT_EQ(names(py::with_state(kind, py::tuple({nullptr, py::dict({{"x", next()}})}))),
            (Names{"x"}));
  EXPECT_EQ(names(py::with_state(
                kind, py::tuple({py::dict({{"a", next()}}), py::dict({{"x", next()}})}))),
            (Names{"a", "x"}));
}

TEST_F(PytorchNames, OfObjectsWithAStateOfTheirOwnAreIndices) {
  const Py kind = py::new_object(py::global("mine", "Packed"));
  EXPECT_EQ(names(py::with_state(kind, py::tuple({next(), 5, next()}))), (Names{"0", "2"}));
  EXPECT_EQ(names(py::with_state(kind, py::list({next()}))), (Names{"0"}));
}

TEST_F(PytorchNames, OfArgumentsOfAnUnknownCallAreIndices) {
  const Py call = py::call(py::global("mine", "make"), {5, next(), py::dict({{"k", next()}})});
  EXPECT_EQ(names(py::dict({{"a", call}})), (Names{"a.1", "a.2.k"}));
  const Py made = py::call(py::global("copyreg", "__newobj__"), {py::global("mine", "T"), next()});
  EXPECT_EQ(names(made), (Names{"0"}));
  const Py keywords = Py::raw(py::global("mine", "T").code + py::tuple({next()}).code +
                              py::dict({{"k", next()}}).code + "\x92");
  EXPECT_EQ(names(keywords), (Names{"0", "k"}));
}

TEST_F(PytorchNames, OfSubclassesOfListsAndDictsAreItemsAndAttributes) {
  const Py dict =
      py::with_state(py::with_pairs(py::new_object(py::global("mine", "MyDict")), {{"a", next()}}),
                     py::dict({{"z", next()}}));
  EXPECT_EQ(names(dict), (Names{"a", "z"}));
  EXPECT_EQ(names(py::with_items(py::new_object(py::global("mine", "MyList")), {next(), next()})),
            (Names{"0", "1"}));
  const Py old = py::call(
      py::global("copy_reg", "_reconstructor"),
      {py::global("mine", "MyList"), py::global("__builtin__", "list"), py::list({next()})});
  EXPECT_EQ(names(old), (Names{"0"}));
}

TEST_F(PytorchNames, OfADictThatIsItsOwnAttributesAreGivenOnce) {
  // class AttrDict(dict), with self.__dict__ = self
  const Py made =
      py::with_pairs(py::put(0, py::new_object(py::global("mine", "AttrDict"))), {{"w", next()}});
  EXPECT_EQ(names(py::with_state(made, py::get(0))), (Names{"w"}));
}

TEST_F(PytorchNames, OfTorchScriptsListsAndDictsSkipTheirTypes) {
  const Py tensors =
      py::call(py::global("torch.jit._pickle", "build_tensorlist"), {py::list({next()})});
  const Py dict = py::call(py::global("torch.jit._pickle", "restore_type_tag"),
                           {py::dict({{"k", next()}}), "Dict[str, Tensor]"});
  EXPECT_EQ(names(py::dict({{"a", tensors}, {"b", dict}})), (Names{"a.0", "b.k"}));
}

TEST_F(PytorchNames, OfWhatIsSharedAreListedForEachPlace) {
  const Py shared = py::put(0, py::dict({{"w", next()}}));
  const Archive archive = file.open(py::dict({{"a", shared}, {"b", py::get(0)}})).value();
  EXPECT_EQ(names_of(archive), (Names{"a.w", "b.w"}));
  EXPECT_EQ(archive.ties()[1], 0u);
}

TEST_F(PytorchNames, OfWhatHoldsItselfComeToAnEnd) {
  // d = {"w": t}; d["self"] = d; l = [d, l]
  const Py dict = py::with_pairs(py::put(0, py::dict({})), {{"w", next()}, {"self", py::get(0)}});
  EXPECT_EQ(names(dict), (Names{"w"}));
  const Py list = py::with_items(py::put(1, py::list({})), {py::get(1), next()});
  EXPECT_EQ(names(list), (Names{"1"}));
  const Py parent = py::put(2, py::new_object(py::global("mine", "Node")));
  const Py child = py::with_state(py::new_object(py::global("mine", "Node")),
                                  py::dict({{"parent", py::get(2)}, {"w", next()}}));
  EXPECT_EQ(names(py::with_state(parent, py::dict({{"child", child}}))), (Names{"child.w"}));
}

TEST_F(PytorchNames, OfAKeyThatIsGivenTwiceAreThoseOfTheLastOne) {
  const Archive twice = file.open(py::dict({{"a", next()}, {"b", next()}, {"a", next()}})).value();
  EXPECT_EQ(names_of(twice), (Names{"b", "a"}));
  EXPECT_EQ(floats(twice, "a"), (std::vector<float>{2}));
  EXPECT_EQ(names(py::dict({{"a", next()}, {"a", 5}})), (Names{}));
  EXPECT_EQ(names(py::dict({{"a", py::dict({{"x", next()}})}, {"a", py::dict({{"y", next()}})}})),
            (Names{"a.y"}));
  EXPECT_EQ(names(py::dict({{py::tuple({1, "a"}), next()}, {py::tuple({1, "a"}), next()}})),
            (Names{"(1, 'a')"}));
}

TEST_F(PytorchNames, ThatTwoTensorsHaveAreRefused) {
  const Result<Archive> archive =
      file.open(py::dict({{"a.b", next()}, {"a", py::dict({{"b", next()}})}}));
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().code, ErrorCode::name_collision);
  EXPECT_EQ(archive.error().tensor, "a.b");
  EXPECT_EQ(archive.error().file, "test.pt");
  const Result<Archive> kinds = file.open(py::dict({{1, next()}, {"1", next()}}));
  ASSERT_FALSE(kinds);
  EXPECT_EQ(kinds.error().code, ErrorCode::name_collision);
}

TEST_F(PytorchNames, OfClassesByPersistentIdAreNoTensors) {
  const Py module = py::persistent(
      py::tuple({"module", py::global("models", "Net"), "net.py", "class Net: ..."}));
  EXPECT_EQ(names(py::list({module, next()})), (Names{"1"}));
}

TEST_F(PytorchNames, AreFollowedAThousandLevelsDeep) {
  Py inside = next();
  for (int i = 0; i < 999; ++i) inside = py::list({inside});
  EXPECT_EQ(names(inside).size(), 1u);
  const Archive too_deep = file.open(py::list({py::list({inside}), next()})).value();
  EXPECT_EQ(names_of(too_deep), (Names{"1"}));
  ASSERT_EQ(too_deep.skipped().size(), 1u);
  EXPECT_EQ(too_deep.skipped()[0].reason, "nested deeper than 1000 levels");
}

std::vector<bool> superseded(const py::Pairs& pairs) {
  const auto content = content_of(py::dict(pairs));
  const detail::PickleGraph& graph = content->graph();
  std::uint64_t text_left = 1 << 20;
  return detail::superseded_pairs(*content, graph.pairs(graph.root()), text_left).value();
}

TEST(DictKeys, GivenOnceAreNotEvenCounted) {
  EXPECT_TRUE(superseded({}).empty());
  EXPECT_TRUE(superseded({{"a", 1}}).empty());
  EXPECT_TRUE(superseded({{"a", 1}, {"b", 1}, {1, 1}, {"1", 1}, {py::tuple({1}), 1}}).empty());
}

TEST(DictKeys, GivenAgainCountTheLastTime) {
  EXPECT_EQ(superseded({{"a", 1}, {"b", 2}, {"a", 3}}), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(superseded({{5, 1}, {5, 2}, {5, 3}}), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(superseded({{py::old_text("a"), 1}, {"a", 2}}), (std::vector<bool>{true, false}));
  py::Pairs many;
  for (int i = 0; i < 1000; ++i) many.emplace_back(i % 500, i);
  const std::vector<bool> found = superseded(many);
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(found[i], i < 500);
}

TEST(DictKeys, ThatAreObjectsAreTheSameWhereTheyAreOne) {
  const Py key = py::with_state(py::new_object(py::global("m", "Key")), py::dict({{"n", 1}}));
  EXPECT_TRUE(superseded({{key, 1}, {key, 2}}).empty());
  EXPECT_EQ(superseded({{py::put(0, key), 1}, {py::get(0), 2}}), (std::vector<bool>{true, false}));
}

TEST(DictKeys, ThatAreTooLongToKeepAreTheSameWhereTheyAreOne) {
  const std::string text(100'000, 'x');
  EXPECT_TRUE(superseded({{text + "a", 1}, {text + "b", 2}, {"", 3}}).empty());
  EXPECT_EQ(superseded({{py::put(0, text), 1}, {py::get(0), 2}}), (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace andiron
