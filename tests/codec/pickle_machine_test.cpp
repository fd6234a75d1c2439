// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/codec/pickle/machine.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/codec/pickle_reading.h"
#include "tests/support/burnpack_file.h"

namespace andiron::detail {
namespace {

using namespace test;

TEST(PickleValues, SingleValues) {
  EXPECT_EQ(meaning("N."), "None");
  EXPECT_EQ(meaning("\x88."), "True");
  EXPECT_EQ(meaning("\x89."), "False");
}

TEST(PickleContainers, Tuples) {
  EXPECT_EQ(meaning(")."), "()");
  EXPECT_EQ(meaning("K\x01\x85."), "(1)");
  EXPECT_EQ(meaning("K\x01K\x02\x86."), "(1 2)");
  EXPECT_EQ(meaning("K\x01K\x02K\x03\x87."), "(1 2 3)");
  EXPECT_EQ(meaning("(K\x01K\x02K\x03K\x04t."), "(1 2 3 4)");
  EXPECT_EQ(meaning("(t."), "()");
  EXPECT_EQ(meaning("(" + std::string(12, 'N') + "t."),
            "(None None None None None None None None None None None None)");
  const auto graph = read_in_memory("K\x01K\x02\x86.").value();
  ASSERT_EQ(graph.tuple(graph.root()).size(), 2u);
  EXPECT_EQ(graph.integer(graph.tuple(graph.root())[1]), 2);
}

TEST(PickleContainers, Lists) {
  EXPECT_EQ(meaning("]."), "[]");
  EXPECT_EQ(meaning("]K\x01"
                    "a."),
            "[1]");
  EXPECT_EQ(meaning("](K\x01K\x02"
                    "e(K\x03"
                    "eK\x04"
                    "a."),
            "[1 2 3 4]");
  EXPECT_EQ(meaning("(K\x01K\x02l."), "[1 2]");
  EXPECT_EQ(meaning("(l."), "[]");
  EXPECT_EQ(meaning("(lK\x01"
                    "a."),
            "[1]");
}

TEST(PickleContainers, DictsKeepTheirOrderAndRepeatedKeys) {
  EXPECT_EQ(meaning("}."), "{}");
  EXPECT_EQ(meaning("}K\x01K\x02s."), "{1 2}");
  EXPECT_EQ(meaning("}(K\x01K\x02K\x01K\x03u."), "{1 2 1 3}");
  EXPECT_EQ(meaning("(K\x01K\x02"
                    "d."),
            "{1 2}");
  EXPECT_EQ(meaning("(d(NNu."), "{None None}");
}

TEST(PickleContainers, Sets) {
  EXPECT_EQ(meaning("\x8f."), "set()");
  EXPECT_EQ(meaning("\x8f(K\x01K\x02\x90(K\x03\x90."), "set(1 2 3)");
  EXPECT_EQ(meaning("(K\x01K\x02\x91."), "frozenset(1 2)");
  EXPECT_EQ(meaning("(\x91."), "frozenset()");
}

TEST(PickleContainers, GrowByTurns) {
  // Two lists, to which values are added alternately.
  EXPECT_EQ(meaning("]q\0]q\x01\x86h\0K\x01"
                    "a0h\x01(K\x02K\x03"
                    "e0h\0K\x04"
                    "a0h\x01K\x05"
                    "a0."s),
            "([1 4] [2 3 5])");
}

TEST(PickleContainers, NothingCanBeAddedToAnything) {
  EXPECT_EQ(meaning("K\x01(e."), "1");
  EXPECT_EQ(meaning("K\x01(u."), "1");
  EXPECT_EQ(meaning("K\x01(\x90."), "1");
}

TEST(PickleContainers, AreNumberedForWalks) {
  const auto graph = read_in_memory(
                         "])}\x8f(\x91"
                         "cm\nn\n)R(l\x87.")
                         .value();
  std::vector<bool> seen(graph.container_count());
  const PickleValue root = graph.root();
  for (const PickleValue value : graph.tuple(root)) {
    ASSERT_LT(graph.container_number(value), seen.size());
    EXPECT_FALSE(seen[graph.container_number(value)]);
    seen[graph.container_number(value)] = true;
  }
  EXPECT_FALSE(seen[graph.container_number(root)]);
}

TEST(PickleStackOpcodes, PopTakesAValueOrAMark) {
  EXPECT_EQ(meaning("K\x01K\x02"
                    "0."),
            "1");
  EXPECT_EQ(meaning("K\x01(0K\x02\x86."), "(1 2)");
  EXPECT_EQ(meaning("K\x01(K\x02K\x03"
                    "1."),
            "1");
  EXPECT_EQ(meaning("K\x01(1."), "1");
  EXPECT_EQ(meaning("K\x01"
                    "2\x86."),
            "(1 1)");
}

TEST(PickleStackOpcodes, MarksNest) {
  EXPECT_EQ(meaning("(K\x01((K\x02tK\x03ttK\x04\x86."), "((1 ((2) 3)) 4)");
}

TEST(PickleStackOpcodes, WhatIsLeftOnTheStackIsTold) {
  EXPECT_FALSE(read_in_memory("N.").value().has_leftovers());
  EXPECT_TRUE(read_in_memory("NN.").value().has_leftovers());
  EXPECT_TRUE(read_in_memory("(N.").value().has_leftovers());
}

TEST(PickleMemo, KeepsValuesByNumber) {
  EXPECT_EQ(meaning("K\x07q\0K\x08q\x01h\0\x87."s), "(7 8 7)");
  EXPECT_EQ(meaning("K\x07r" + little(3, 4) + "j" + little(3, 4) + "\x86."), "(7 7)");
  EXPECT_EQ(meaning("K\x07p12\ng12\n\x86."), "(7 7)");
  EXPECT_EQ(meaning("K\x07p 012\ng12 \n\x86."), "(7 7)");
}

TEST(PickleMemo, MemoizeCountsTheNumbersThatHaveAValue) {
  EXPECT_EQ(meaning("K\x07\x94K\x08\x94h\0h\x01tN0."s.insert(0, "(")), "(7 8 7 8)");
  // Number 5, then as many as there are: 1.
  EXPECT_EQ(meaning("K\x07q\x05K\x08\x94h\x01h\x05\x86."), "(8 7)");
  EXPECT_EQ(meaning("K\x07q\0K\x08q\0K\x09\x94h\x01\x86."s), "(9 9)");
}

TEST(PickleMemo, ANumberCanBePutAgain) {
  EXPECT_EQ(meaning("K\x07q\0"
                    "0K\x08q\0"
                    "0h\0."s),
            "8");
  const std::string far = little(0xffffffff, 4);
  EXPECT_EQ(meaning("K\x07r" + far + "0K\x08r" + far + "0j" + far + "."), "8");
}

TEST(PickleMemo, NumbersMayComeInAnyOrder) {
  // Far ones first, which the dense part then grows past.
  std::string pickle = "(";
  std::string expected;
  for (int number = 4000; number >= 0; --number) {
    pickle += "M" + little(static_cast<std::uint64_t>(number), 2) + "r" +
              little(static_cast<std::uint64_t>(number), 4) + "0";
  }
  for (std::uint64_t number = 0; number <= 4000; ++number) pickle += "j" + little(number, 4);
  const auto graph = read_in_memory(pickle + "t.").value();
  std::int64_t next = 0;
  for (const PickleValue value : graph.tuple(graph.root())) EXPECT_EQ(graph.integer(value), next++);
  EXPECT_EQ(next, 4001);
}

TEST(PickleMemo, SharedValuesKeepTheirIdentity) {
  const auto graph = read_in_memory("]q\0h\0]\x87."s).value();
  const auto items = graph.tuple(graph.root());
  EXPECT_EQ(items[0], items[1]);
  EXPECT_NE(items[0], items[2]);
}

TEST(PickleMemo, AListMayHoldItself) {
  const auto graph = read_in_memory("]q\0h\0a."s).value();
  EXPECT_EQ(*graph.items(graph.root()).begin(), graph.root());
  EXPECT_EQ(graph.items(graph.root()).size(), 1u);
}

TEST(PickleObjects, GlobalsAreNames) {
  EXPECT_EQ(meaning("cposix\nsystem\n."), "posix.system");
  EXPECT_EQ(meaning("c__builtin__\nset\n."), "__builtin__.set");
  EXPECT_EQ(meaning("\x8c\x05posix\x8c\x06system\x93."), "posix.system");
  EXPECT_EQ(meaning("cm\xc3\xa9\nn\n."), "m\xc3\xa9.n");
  const auto graph = read_in_memory("ctorch.nn\nLinear\n.").value();
  EXPECT_TRUE(graph.global(graph.root()).is("torch.nn", "Linear"));
  EXPECT_FALSE(graph.global(graph.root()).is("torch", "Linear"));
}

TEST(PickleObjects, CallsAreRememberedNotMade) {
  EXPECT_EQ(meaning("cposix\nsystem\n\x8c\x02ls\x85R."), "<call posix.system ('ls')>");
  EXPECT_EQ(meaning("cm\nC\nK\x01\x85\x81."), "<call m.C (1)>");
  EXPECT_EQ(meaning("cm\nC\n)}\x8c\x01kK\x02s\x92."), "<call m.C () {'k' 2}>");
  EXPECT_EQ(meaning("(K\x01K\x02im\nC\n."), "<call m.C (1 2)>");
  EXPECT_EQ(meaning("(cm\nC\nK\x01o."), "<call m.C (1)>");
  EXPECT_EQ(meaning("(cm\nC\no."), "<call m.C ()>");
  // What a call gives can be called.
  EXPECT_EQ(meaning("cm\nf\n)R)R."), "<call <call m.f ()> ()>");
  EXPECT_EQ(meaning("Pid\n)R."), "<call persistent('id') ()>");
  // TorchScript's enums have no tuple.
  EXPECT_EQ(meaning("cm\nE\nK\x01R."), "<call m.E 1>");
}

TEST(PickleObjects, TakeItemsPairsAndStates) {
  EXPECT_EQ(meaning("cm\nC\n)R(K\x01K\x02"
                    "eK\x03"
                    "a."),
            "<call m.C () += [1 2 3]>");
  EXPECT_EQ(meaning("cm\nC\n)R(K\x01\x90."), "<call m.C () += [1]>");
  EXPECT_EQ(meaning("cm\nC\n)RK\x01K\x02s(K\x03K\x04u."), "<call m.C () += {1 2 3 4}>");
  EXPECT_EQ(meaning("cm\nC\n)\x81}bNb."), "<call m.C () state {} None>");
  EXPECT_EQ(meaning("ccollections\nOrderedDict\n)R(K\x01K\x02u}\x8c\x09_metadataNsb."),
            "<call collections.OrderedDict () += {1 2} state {'_metadata' None}>");
}

TEST(PickleObjects, PersistentIdsAreTextOrValues) {
  EXPECT_EQ(meaning("P123\n."), "persistent('123')");
  EXPECT_EQ(meaning("P\n."), "persistent('')");
  EXPECT_EQ(meaning("(\x8c\x07storagecm\nC\ntQ."), "persistent(('storage' m.C))");
  EXPECT_EQ(refusal("P\xe9\n."), "a persistent id is not ASCII");
}

TEST(PickleMachine, ProtocolsUpTo5) {
  for (char protocol = 0; protocol <= 5; ++protocol) {
    EXPECT_EQ(meaning("\x80"s + protocol + "N."), "None");
  }
  EXPECT_EQ(refusal("\x80\x06N."), "the pickle has protocol 6");
}

TEST(PickleMachine, FramesMeanNothing) {
  EXPECT_EQ(meaning(framed("N.")), "None");
  EXPECT_EQ(meaning(framed("") + framed("") + "N."), "None");
  EXPECT_EQ(meaning(framed("(") + "K\x01" + framed("K\x02") + framed("K\x03t.")), "(1 2 3)");
  EXPECT_EQ(meaning("\x95" + little(4, 8) + "N.NN"), "None") << "behind the end";
  // Python takes an operand, or a part of one, that begins where the frame ends.
  EXPECT_EQ(meaning(framed("K") + "\x05."), "5");
  EXPECT_EQ(meaning(framed("X" + little(3, 4)) + "abc."), "'abc'");
  EXPECT_EQ(meaning(framed("X") + little(3, 4) + "abc."), "'abc'");
  EXPECT_EQ(meaning(framed("I") + "12\n."), "12");
  EXPECT_EQ(meaning(framed("cmodule\n") + "name\n."), "module.name");
  EXPECT_EQ(meaning(framed("N0\x95") + little(2, 8) + "N."), "None");
  EXPECT_EQ(meaning(framed("N0\x95" + little(2, 8)) + "N."), "None");
}

// The same dict, as Python writes it in each protocol.
constexpr const char* every_protocol[] = {
    "286470300a56610a70310a286c70320a49310a61492d37303030300a6146322e350a614e614930310a617356740a70"
    "330a2856780a70340a2874635f636f646563730a656e636f64650a70350a28565c7530303030790a70360a566c6174"
    "696e310a70370a7470380a5270390a747031300a7356750a7031310a56e95c75303030610a7031320a73566269670a"
    "7031330a4c313138303539313632303731373431313330333432344c0a7356640a7031340a28647031350a73566167"
    "61696e0a7031360a67320a732e",
    "7d71002858010000006171015d7102284b014a90eefeff4740040000000000004e4930310a65580100000074710328"
    "580100000078710429635f636f646563730a656e636f64650a71052858020000000079710658060000006c6174696e"
    "31710774710852710974710a580100000075710b5803000000c3a90a710c5803000000626967710d4c313138303539"
    "313632303731373431313330333432344c0a580100000064710e7d710f5805000000616761696e71106802752e",
    "80027d71002858010000006171015d7102284b014a90eefeff4740040000000000004e886558010000007471035801"
    "00000078710429635f636f646563730a656e636f64650a710558020000000079710658060000006c6174696e317107"
    "86710852710987710a580100000075710b5803000000c3a90a710c5803000000626967710d8a090000000000000000"
    "40580100000064710e7d710f5805000000616761696e71106802752e",
    "80037d71002858010000006171015d7102284b014a90eefeff4740040000000000004e886558010000007471035801"
    "0000007871042943020079710587710658010000007571075803000000c3a90a7108580300000062696771098a0900"
    "0000000000000040580100000064710a7d710b5805000000616761696e710c6802752e",
    "8004955a000000000000007d94288c0161945d94284b014a90eefeff4740040000000000004e88658c0174948c0178"
    "9429430200799487948c0175948c03c3a90a948c03626967948a090000000000000000408c0164947d948c05616761"
    "696e946802752e",
    "8005955a000000000000007d94288c0161945d94284b014a90eefeff4740040000000000004e88658c0174948c0178"
    "9429430200799487948c0175948c03c3a90a948c03626967948a090000000000000000408c0164947d948c05616761"
    "696e946802752e",
};

TEST(PickleMachine, OneDictInEveryProtocol) {
  for (std::size_t protocol = 0; protocol < std::size(every_protocol); ++protocol) {
    // Before protocol 3 bytes are a call that decodes text.
    const std::string bytes =
        protocol < 3 ? "<call _codecs.encode ('\\x00y' 'latin1')>" : "b'\\x00y'";
    EXPECT_EQ(meaning(from_hex(every_protocol[protocol])),
              "{'a' [1 -70000 2.5 None True] 't' ('x' () " + bytes +
                  ") 'u' '\\xc3\\xa9\\x0a'"
                  " 'big' int('\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00@') 'd' {}"
                  " 'again' [1 -70000 2.5 None True]}")
        << protocol;
  }
}

TEST(PickleMachine, StackedPicklesFollowEachOther) {
  const std::string stream =
      "K\x01.\x80\x02]K\x02"
      "a." +
      std::string("tail");
  for (const bool lends : {true, false}) {
    const ByteSourcePtr source = lends ? memory_source(Bytes::own(byte_vector(stream)))
                                       : std::make_shared<TestSource>(byte_vector(stream));
    const auto first = read_pickle(*source, 0, source->size(), {}).value();
    EXPECT_EQ(show(first), "1");
    EXPECT_EQ(first.end(), 3u);
    const auto second = read_pickle(*source, first.end(), source->size(), {}).value();
    EXPECT_EQ(show(second), "[2]");
    EXPECT_EQ(second.end(), stream.size() - 4);
  }
}

TEST(PickleMachine, NothingBehindTheEndIsRead) {
  const TestSource source(byte_vector("K\x01K\x02\x86."));
  EXPECT_EQ(read_pickle(source, 0, 3, {}).error().code, ErrorCode::bad_pickle);
}

TEST(PickleMachine, AMovedGraphKeepsItsValues) {
  auto graph = read_in_memory("](\x8c\x03one\x8c\x03twoe.").value();
  const PickleGraph moved = std::move(graph);
  EXPECT_EQ(show(moved), "['one' 'two']");
}

}  // namespace
}  // namespace andiron::detail
