// SPDX-License-Identifier: MIT OR Apache-2.0
// Pickles that break rules, ask for much or never end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/codec/pickle/machine.h"
#include "tests/codec/pickle_reading.h"

namespace andiron::detail {
namespace {

using namespace test;

constexpr const char* too_short = "the stack is too short";
constexpr const char* within_operand = "the pickle ends within an operand";
constexpr const char* within_line = "the pickle ends within a line";
constexpr const char* without_stop = "the pickle ends without STOP";

// Pickles that use every way of writing values.
std::vector<std::string> samples() {
  return {
      "\x80\x02}q\0(X\x01\0\0\0aq\x01]q\x02(K\x01J\x90\xee\xfe\xff"
      "G@\x04\0\0\0\0\0\0N\x88"
      "eX\x01\0\0\0tq\x03\x8a\x09\0\0\0\0\0\0\0\0@ccollections\nOrderedDict\nq\x04)Rq\x05h\x04)\x81"
      "}X\x01\0\0\0kK\x02sbu."s,
      "(dp0\nVa\np1\n(lp2\nI1\naF2.5\naI01\nasS'b\\x41'\nL12345678901234567890L\ns("
      "K\x01ios\nsystem\n"
      "p3\nPid\nsg1\ng2\ns."s,
      "\x80\x05\x95\x4a\0\0\0\0\0\0\0\x8f\x94(\x8c\x05hello\x94\x8d\x02\0\0\0\0\0\0\0\xc3\xa9"
      "C\x03xyz\x8e\x01\0\0\0\0\0\0\0z\x90(K\x01\x91\x8c\x01m\x8c\x01n\x93)}"
      "\x92\x96\x01\0\0\0\0\0\0\0z"
      "M\x01\x02\x87\x85Q\x86(K\x01"
      "1."s,
  };
}

// Touches all that a graph holds, of each container once.
std::uint64_t walk(const PickleGraph& graph) {
  std::vector<bool> seen(graph.container_count());
  std::vector<PickleValue> waiting = {graph.root()};
  std::uint64_t sum = 0;
  const auto add = [&](PickleItems items) {
    std::uint32_t count = 0;
    for (const PickleValue item : items) {
      waiting.push_back(item);
      ++count;
    }
    EXPECT_EQ(count, items.size());
  };
  const auto is_new = [&](PickleValue value) {
    const bool was_seen = seen.at(graph.container_number(value));
    seen[graph.container_number(value)] = true;
    return !was_seen;
  };
  while (!waiting.empty()) {
    const PickleValue value = waiting.back();
    waiting.pop_back();
    switch (value.kind) {
      case PickleKind::none:
        break;
      case PickleKind::boolean:
        sum += PickleGraph::boolean(value);
        break;
      case PickleKind::integer:
        sum += static_cast<std::uint64_t>(graph.integer(value));
        break;
      case PickleKind::real:
        sum += graph.real(value) > 0;
        break;
      case PickleKind::text:
      case PickleKind::old_text:
      case PickleKind::bytes:
      case PickleKind::big_integer:
        for (const char c : graph.blob(value).view()) sum += static_cast<unsigned char>(c);
        break;
      case PickleKind::global:
        sum += graph.global(value).module.size() + graph.global(value).name.size();
        break;
      case PickleKind::persistent:
        waiting.push_back(graph.persistent_id(value));
        break;
      case PickleKind::dict:
        if (is_new(value)) add(graph.pairs(value));
        break;
      case PickleKind::tuple:
      case PickleKind::list:
      case PickleKind::set:
      case PickleKind::frozen_set:
        if (is_new(value)) add(graph.items(value));
        break;
      case PickleKind::object:
        if (!is_new(value)) break;
        add(graph.items(value));
        add(graph.pairs(value));
        add(graph.states(value));
        waiting.insert(waiting.end(), {graph.object(value).callable, graph.object(value).args,
                                       graph.object(value).kwargs});
        break;
    }
  }
  return sum;
}

TEST(HostilePickle, TheSamplesAreGood) {
  for (const std::string& pickle : samples()) {
    const auto graph = read_in_memory(pickle);
    ASSERT_TRUE(graph) << graph.error();
    EXPECT_GT(walk(*graph), 0u);
    EXPECT_EQ(graph->end(), pickle.size());
  }
}

TEST(HostilePickle, EveryTruncationIsAnError) {
  for (const std::string& pickle : samples()) {
    for (std::size_t size = 0; size < pickle.size(); ++size) {
      const std::string message = refusal(std::string_view(pickle).substr(0, size));
      // A frame of a pickle that is cut short does not fit either.
      EXPECT_TRUE(message == within_operand || message == within_line || message == without_stop ||
                  message == "a frame extends past the end of the pickle")
          << size << ": " << message;
    }
  }
}

TEST(HostilePickle, EveryFlippedByteIsAnErrorOrAGraph) {
  for (const std::string& pickle : samples()) {
    for (std::size_t at = 0; at < pickle.size(); ++at) {
      for (int bits = 1; bits < 256; ++bits) {
        std::string broken = pickle;
        broken[at] = static_cast<char>(broken[at] ^ bits);
        const auto graph = read_in_memory(broken);
        const auto in_windows = read_in_windows(broken);
        ASSERT_EQ(graph.ok(), in_windows.ok());
        if (!graph) {
          ASSERT_EQ(graph.error().description(), in_windows.error().description());
          ASSERT_FALSE(graph.error().found.empty());
        } else {
          ASSERT_EQ(walk(*graph), walk(*in_windows));
        }
      }
    }
  }
}

// PK-01
TEST(HostilePickle, EmptyAndEndless) {
  EXPECT_EQ(refusal(""), without_stop);
  EXPECT_EQ(refusal("N"), without_stop);
  EXPECT_EQ(refusal("\x80\x02NNNN"), without_stop);
}

TEST(HostilePickle, CutInEveryKindOfOperand) {
  for (const char* pickle : {"K",
                             "M\x01",
                             "J\x01\x01\x01",
                             "G1234567",
                             "\x8a",
                             "\x8a\x02\x01",
                             "\x8b"
                             "123",
                             "X123",
                             "\x8c",
                             "\x8c\x02"
                             "a",
                             "\x8d"
                             "1234567",
                             "U",
                             "U\x01",
                             "T123",
                             "C",
                             "C\x01",
                             "B123",
                             "\x8e"
                             "1234567",
                             "\x96"
                             "1234567",
                             "q",
                             "r123",
                             "h",
                             "j123",
                             "\x80",
                             "\x95"
                             "1234567",
                             "\x82",
                             "\x83"
                             "1",
                             "\x84"
                             "123"}) {
    EXPECT_EQ(refusal(pickle), within_operand) << pickle;
  }
  for (const char* pickle :
       {"I", "I5", "L5L", "F1.5", "S'a'", "Va", "Pid", "cm", "cm\nn", "im\n", "p1", "g1"}) {
    EXPECT_EQ(refusal(pickle), within_line) << pickle;
  }
}

TEST(HostilePickle, ErrorsTellTheOpcodeAndThePlace) {
  const TestSource source(byte_vector("before\x80\x02K\x01\x86."));
  const auto result = read_pickle(source, 6, source.size(), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().found, "TUPLE2 (0x86) at byte 4 of the pickle");
  EXPECT_EQ(result.error().expected, "2 values");
  EXPECT_EQ(result.error().file, "test source");
  EXPECT_EQ(read_in_memory("N" + std::string(5000, '(') + "b").error().found,
            "BUILD (0x62) at byte 5001 of the pickle");
  EXPECT_EQ(read_in_windows("N" + std::string(5000, '(') + "b").error().found,
            "BUILD (0x62) at byte 5001 of the pickle");
  // Of an operand that leads into another window.
  EXPECT_EQ(read_in_windows(std::string(4090, '(') + "cm\n" + std::string(5000, '\xff') + "\n.")
                .error()
                .found,
            "GLOBAL (0x63) at byte 4090 of the pickle");
  const std::string text = std::string(4080, '(') + "X" + std::string("\x88\x13\0\0", 4) +
                           std::string(5000, '\xff') + ".";
  EXPECT_EQ(read_in_windows(text).error().description(),
            read_in_memory(text).error().description());
}

// PK-02
TEST(HostilePickle, UnknownAndRefusedOpcodes) {
  EXPECT_EQ(refusal("\xff."), "a byte is not an opcode");
  EXPECT_EQ(read_in_memory("N\x99.").error().found, "0x99 at byte 1 of the pickle");
  for (const char* pickle : {"\x82\x01.", "\x83\x01\x01.", "\x84\x01\x01\x01\x01."}) {
    EXPECT_EQ(refusal(pickle, ErrorCode::unsupported),
              "the pickle uses an extension registry that only its writer has");
  }
  for (const char* pickle : {"\x97.", "N\x98."}) {
    EXPECT_EQ(refusal(pickle, ErrorCode::unsupported),
              "the pickle refers to a buffer outside the file");
  }
  EXPECT_EQ(read_in_memory("\x97.").error().found, "NEXT_BUFFER (0x97) at byte 0 of the pickle");
}

TEST(HostilePickle, EveryByteThatIsNoOpcodeIsRefused) {
  std::size_t opcodes = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const auto result =
        read_in_memory(std::string(1, static_cast<char>(byte)) + std::string(8, '\0') + "\n\n.");
    opcodes += result || result.error().message != "a byte is not an opcode" ||
               result.error().found.find("at byte 0") == std::string::npos;
  }
  EXPECT_EQ(opcodes, 68u);  // as pickletools counts them
}

// PK-03
TEST(HostilePickle, AStackThatIsTooShort) {
  for (const char* pickle :
       {".",     "0.",     "2.",      "q\x01.", "r1234.", "p1\n.",   "\x94.", "Q.",
        "R.",    "NR.",    "\x81.",   "N\x81.", "\x92.",  "NN\x92.", "\x93.", "N\x93.",
        "\x85.", "N\x86.", "NN\x87.", "a.",     "Na.",    "s.",      "Ns.",   "NNs.",
        "b.",    "Nb.",    "(e.",     "(NNu.",  "(N\x90."}) {
    EXPECT_EQ(refusal(pickle), too_short) << pickle;
  }
}

TEST(HostilePickle, ValuesBelowAMarkAreOutOfReach) {
  for (const char* pickle :
       {"N(.", "N(2.", "N(q\x01.", "N(\x85.", "NN(N\x86.", "](Na.", "}(NNs.", "N(Q.",
        "](("
        "Ne.",
        "cm\nC\n)R(Nb."}) {
    EXPECT_EQ(refusal(pickle), too_short) << pickle;
  }
  EXPECT_EQ(read_in_memory("N(2.").error().expected, "1 value above the mark");
}

TEST(HostilePickle, OpcodesWithoutTheirMark) {
  for (const char* pickle :
       {"Nt.", "Nl.", "NNd.", "N1.", "]Ne.", "}NNu.", "N\x91.", "\x8fN\x90.", "No.", "im\nC\n."}) {
    EXPECT_EQ(refusal(pickle), "the stack has no mark") << pickle;
  }
  EXPECT_EQ(refusal("(o."), too_short);
}

TEST(HostilePickle, KeysWithoutValues) {
  EXPECT_EQ(refusal("}(Nu."), "a key has no value");
  EXPECT_EQ(refusal("}(NNNu."), "a key has no value");
  EXPECT_EQ(refusal("(Nd."), "a key has no value");
}

// What is wrong; what would be right.
std::string refusal_and_remedy(const char* pickle) {
  refusal(pickle);
  const auto result = read_in_memory(pickle);
  return result.error().message + "; " + result.error().expected;
}

TEST(HostilePickle, WrongContainersAreNamed) {
  EXPECT_EQ(refusal_and_remedy("}Na."), "values are added to a dict; a list or an object");
  EXPECT_EQ(refusal_and_remedy(")(Ne."), "values are added to a tuple; a list or an object");
  EXPECT_EQ(refusal_and_remedy("NNa."), "values are added to None; a list or an object");
  EXPECT_EQ(refusal_and_remedy("]NNs."), "values are added to a list; a dict or an object");
  EXPECT_EQ(refusal_and_remedy("cm\nn\n(NNu."),
            "values are added to a global; a dict or an object");
  EXPECT_EQ(refusal_and_remedy("](N\x90."), "values are added to a list; a set or an object");
  EXPECT_EQ(refusal_and_remedy("(\x91(N\x90."),
            "values are added to a frozenset; a set or an object");
  EXPECT_EQ(refusal_and_remedy("P1\nNa."),
            "values are added to a persistent id; a list or an object");
}

TEST(HostilePickle, OperandsOfTheWrongKind) {
  EXPECT_EQ(refusal_and_remedy("]Nb."), "an opcode got a list; an object");
  EXPECT_EQ(refusal_and_remedy("cm\nn\nNb."), "an opcode got a global; an object");
  EXPECT_EQ(refusal_and_remedy("NK\x01\x93."), "an opcode got None; text");
  EXPECT_EQ(refusal_and_remedy("\x8c\x01mU\x01n\x93."), "an opcode got a Python 2 str; text");
  EXPECT_EQ(refusal_and_remedy("cm\nn\nN\x81."), "an opcode got None; a tuple");
  EXPECT_EQ(refusal_and_remedy("cm\nn\n))\x92."), "an opcode got a tuple; a dict");
  EXPECT_EQ(refusal_and_remedy("cm\nn\n]}\x92."), "an opcode got a list; a tuple");
  EXPECT_EQ(refusal_and_remedy("N)R."), "a call to None; a class or function");
  EXPECT_EQ(refusal_and_remedy("\x8c\x01m)\x81."), "a call to text; a class or function");
  EXPECT_EQ(refusal_and_remedy("(K\x01o."), "a call to an integer; a class or function");
}

TEST(HostilePickle, NamesThatAreEmptyOrNotUtf8) {
  EXPECT_EQ(refusal("c\nn\n."), "a module or name is empty");
  EXPECT_EQ(refusal("cm\n\n."), "a module or name is empty");
  EXPECT_EQ(refusal("(im\n\n."), "a module or name is empty");
  EXPECT_EQ(refusal("c\xff\nn\n."), "a module or name is not UTF-8");
  EXPECT_EQ(refusal("cm\n\xed\xa0\x80\n."), "a module or name is not UTF-8");
  const std::string name(kept_pickle_bytes + 1, 'n');
  EXPECT_EQ(
      refusal("\x8c\x01mX" + little(name.size(), 4) + name + "\x93.", ErrorCode::limit_exceeded),
      "a module or class name is too long");
}

// PK-04
TEST(HostilePickle, TheMemoHasNoSuchValue) {
  EXPECT_EQ(refusal("h\0."s), "the memo has no entry 0");
  EXPECT_EQ(refusal("Nq\0h\x01."s), "the memo has no entry 1");
  // A hole that the dense part of the memo has.
  EXPECT_EQ(refusal("Nq\x05h\x04."), "the memo has no entry 4");
  EXPECT_EQ(refusal("Nj\xff\xff\xff\xff."), "the memo has no entry 4294967295");
  EXPECT_EQ(refusal("g18446744073709551615\n."), "the memo has no entry 18446744073709551615");
}

TEST(HostilePickle, MemoNumbersThatAreNone) {
  for (const char* line : {"", "-1", "x", "1.5", "18446744073709551616"}) {
    EXPECT_EQ(refusal("Np" + std::string(line) + "\n."), "a line is not a memo number") << line;
    EXPECT_EQ(refusal("g" + std::string(line) + "\n."), "a line is not a memo number") << line;
  }
}

TEST(HostilePickle, LargeMemoNumbersCostNothing) {
  EXPECT_EQ(meaning("K\x05r\xff\xff\xff\xff"
                    "0j\xff\xff\xff\xff."),
            "5");
  EXPECT_EQ(meaning("K\x05p18446744073709551615\n0g18446744073709551615\n."), "5");
  // A hundred thousand numbers, far from each other.
  std::string pickle;
  for (std::uint64_t i = 0; i < 100'000; ++i) pickle += "K\x05r" + little(i * 40'009, 4) + "0";
  EXPECT_EQ(show(read_in_memory(pickle + "j" + little(std::uint64_t{40'009} * 99'999, 4) + ".")),
            "5");
}

// PK-05
TEST(HostilePickle, LengthsBeyondTheInputAreRefusedBeforeMemoryIsTaken) {
  for (const char* opcode : {"\x8d", "\x8e", "\x96"}) {
    EXPECT_EQ(refusal(opcode + little(std::uint64_t{1} << 63, 8) + "."), within_operand);
    EXPECT_EQ(refusal(opcode + little(~std::uint64_t{0}, 8) + "."), within_operand);
    EXPECT_EQ(refusal(opcode + little(2, 8) + "."), within_operand);
  }
  for (const char* opcode : {"X", "B", "\x8b", "T"}) {
    EXPECT_EQ(refusal(opcode + little(0x7fffffff, 4) + "."), within_operand);
  }
  EXPECT_EQ(refusal("\x95" + little(~std::uint64_t{0}, 8) + "N."),
            "a frame extends past the end of the pickle");
  EXPECT_EQ(refusal("\x95" + little(3, 8) + "N."), "a frame extends past the end of the pickle");
  EXPECT_EQ(refusal("\x8b\xff\xff\xff\xff."), "a length is negative");
  EXPECT_EQ(refusal("T\xff\xff\xff\xff."), "a length is negative");
}

// Python's unpicklers disagree about them: one that ignores frames runs other opcodes than one that
// reads a frame and goes on behind it.
TEST(HostilePickle, OperandsAcrossTheEndOfTheirFrameAreRefused) {
  const std::string long_text(5000, 'x');
  for (const std::string& across :
       {framed("M\x01") + "\x02.", framed("J\x01\x02\x03") + "\x04.",
        framed("G?\xf8") + little(0, 6) + ".", framed("X" + little(6, 4) + "abc") + "def.",
        framed("X\x06") + little(0, 3) + "abcdef.",
        framed("C\x06"
               "abc") +
            "def.",
        framed("\x8e" + little(6, 8) + "abc") + "def.", framed("\x8a\x03\x01") + "\x02\x03.",
        framed("U\x06"
               "a") +
            "bcdef.",
        framed("I1") + "2\n.", framed("cmod") + "ule\nname\n.", framed("cmodule\nna") + "me\n.",
        framed("N0\x95" + little(2, 4)) + little(0, 4) + "N.",
        framed("X" + little(5000, 4) + "abc") + long_text + ".",
        framed("B" + little(5000, 4) + long_text.substr(1)) + "x.",
        framed("V" + long_text) + "\n."}) {
    EXPECT_EQ(refusal(across), "an operand goes past the end of its frame") << across.size();
  }
  const auto place = read_in_memory(framed("K\x01\x8c\x06"
                                           "abc") +
                                    "def.");
  EXPECT_EQ(place.error().found, "SHORT_BINUNICODE (0x8c) at byte 11 of the pickle");
}

TEST(HostilePickle, FramesWithinFramesAreRefused) {
  for (const std::string& inner :
       {framed("N0" + framed("N")) + ".", framed(framed("N") + "."),
        "\x95" + little(13, 8) + "N0" + framed("N0") + "N.", framed(framed("") + "N.")}) {
    EXPECT_EQ(refusal(inner), "a frame begins within another");
  }
}

TEST(HostilePickle, IntegersOfMoreThan1024Bytes) {
  const auto digits = [](std::size_t size) {
    return "\x8b" + little(size, 4) + std::string(size, '\x55') + ".";
  };
  EXPECT_TRUE(read_in_memory(digits(1024)));
  EXPECT_EQ(refusal(digits(1025), ErrorCode::limit_exceeded), "an integer is longer than allowed");
  EXPECT_TRUE(read_in_memory("L" + std::string(2465, '9') + "L\n."));
  EXPECT_EQ(refusal("L" + std::string(2467, '9') + "L\n.", ErrorCode::limit_exceeded),
            "an integer is longer than allowed");
  EXPECT_EQ(refusal("I" + std::string(1'000'000, '9') + "\n.", ErrorCode::limit_exceeded),
            "an integer is longer than allowed");
}

// PK-06
TEST(HostilePickle, AMillionNestedTuples) {
  const auto graph = read_in_memory("N" + std::string(1'000'000, '\x85') + ".").value();
  EXPECT_EQ(graph.container_count(), 1'000'000u);
  EXPECT_EQ(walk(graph), 0u);
  const auto marked =
      read_in_memory(std::string(1'000'000, '(') + "N" + std::string(1'000'000, 't') + ".").value();
  EXPECT_EQ(marked.container_count(), 1'000'000u);
}

TEST(HostilePickle, AMillionValuesAppendedOneByOne) {
  std::string pickle = "]";
  for (int i = 0; i < 1'000'000; ++i)
    pickle +=
        "K\x01"
        "a";
  const auto graph = read_in_memory(pickle + ".").value();
  EXPECT_EQ(graph.items(graph.root()).size(), 1'000'000u);
  EXPECT_EQ(walk(graph), 1'000'000u);
}

TEST(HostilePickle, ValuesAppendedByTurns) {
  std::string pickle = "]q\0]q\x01\x86"s;
  for (int i = 0; i < 200'000; ++i)
    pickle +=
        "h\0K\x01"
        "a0h\x01K\x02"
        "a0"s;
  const auto graph = read_in_memory(pickle + ".").value();
  EXPECT_EQ(graph.items(graph.tuple(graph.root())[0]).size(), 200'000u);
  EXPECT_EQ(walk(graph), 600'000u);
}

TEST(HostilePickle, SharedValuesAreNotCopied) {
  // Each tuple holds the one before twice: 2^60 leaves.
  std::string pickle = "]";
  for (int i = 0; i < 60; ++i) pickle += "2\x86";
  const auto graph = read_in_memory(pickle + ".").value();
  EXPECT_EQ(graph.container_count(), 61u);
  EXPECT_EQ(walk(graph), 0u);
  EXPECT_NE(show(graph).find("..."), std::string::npos);
}

TEST(HostilePickle, ContainersThatHoldThemselves) {
  for (const std::string& pickle : {"]q\0h\0a."s,
                                    "]q\0h\0h\0\x86"
                                    "a."s,
                                    "}q\0h\0h\0s."s, "\x8fq\0(h\0\x90."s, "cm\nC\n)Rq\0h\0b."s,
                                    "cm\nC\n)Rq\0(h\0h\0eh\0h\0s."s}) {
    const auto graph = read_in_memory(pickle);
    ASSERT_TRUE(graph) << graph.error();
    EXPECT_EQ(walk(*graph), graph->root().kind == PickleKind::object ? 2u : 0u);
  }
}

TEST(HostilePickle, AMillionMarksAndCopies) {
  EXPECT_EQ(refusal(std::string(1'000'000, '(') + "."), too_short);
  EXPECT_TRUE(read_in_memory("N" + std::string(1'000'000, '2') + "."));
  EXPECT_TRUE(read_in_memory("N" + std::string(1'000'000, '\x94') + "."));
  EXPECT_TRUE(read_in_memory(std::string(1'000'000, '(') + std::string(1'000'000, '0') + "N."));
}

TEST(HostilePickle, MoreValuesThanAllowed) {
  Limits limits;
  limits.pickle_values = 3;
  EXPECT_TRUE(read_in_memory("NN.", limits));
  for (const char* pickle : {"NNN.", "NN22", "((((((", "Nq\x01q\x02q\x03"}) {
    const auto result = read_in_memory(pickle, limits);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::limit_exceeded);
    EXPECT_EQ(result.error().expected, "at most 3");
  }
  limits.pickle_values = 0;
  EXPECT_EQ(read_in_memory("N.", limits).error().code, ErrorCode::limit_exceeded);
  limits.pickle_values = ~std::uint64_t{0};
  EXPECT_TRUE(read_in_memory("N.", limits));
}

}  // namespace
}  // namespace andiron::detail
