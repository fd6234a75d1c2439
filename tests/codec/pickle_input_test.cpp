// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/codec/pickle/input.h"

#include <gtest/gtest.h>

#include <string>

#include "src/codec/pickle/machine.h"
#include "tests/codec/pickle_reading.h"

namespace andiron::detail {
namespace {

using namespace test;

TEST(PickleWindows, BlobsTellWhereTheyLie) {
  const std::string pickle =
      "(\x8c\x03oneS'two'\nVthree\nC\x04"
      "fourt.";
  for (const auto& graph : {read_in_memory(pickle).value(), read_in_windows(pickle).value()}) {
    for (const PickleValue value : graph.tuple(graph.root())) {
      const PickleBlob& blob = graph.blob(value);
      EXPECT_EQ(pickle.substr(blob.offset, blob.size), blob.view());
    }
  }
}

TEST(PickleWindows, OffsetsCountFromTheStartOfTheSource) {
  const std::string file =
      "before"
      "\x8c\x03one."
      "after";
  const TestSource source(byte_vector(file));
  const auto graph = read_pickle(source, 6, source.size(), {}).value();
  EXPECT_EQ(graph.blob(graph.root()).offset, 8u);
  EXPECT_EQ(graph.end(), 12u);
}

TEST(PickleWindows, ValuesAcrossTheEdgeOfAWindowAreWhole) {
  // Every opcode once at every place around the edge of the first window.
  const std::string tail = "\x8c\x05hello\x96" + little(5, 8) + "bytesJ" + little(70000, 4) +
                           "G\x3f\xf8\0\0\0\0\0\0Vline\ncmodule\nname\n\x8a\x05"s +
                           little(0x0102030405, 5) + "t.";
  for (std::size_t before = 4096 - tail.size() - 4; before <= 4098; ++before) {
    const std::string pickle = "(" + std::string(before, 'N') + "1(" + tail;
    EXPECT_EQ(meaning(pickle), "('hello' b'bytes' 70000 1.5 'line' module.name 4328719365)");
  }
}

TEST(PickleWindows, LinesMayBeLongerThanAnyWindow) {
  for (const std::size_t size : {4094u, 4096u, 20'000u, 3'000'000u}) {
    const std::string text(size, 'x');
    const auto graph = read_in_windows("V" + text + "\n.").value();
    EXPECT_EQ(graph.blob(graph.root()).view(), text);
    const auto escaped = read_in_windows("S'" + text + "\\n'\n.").value();
    EXPECT_EQ(escaped.blob(escaped.root()).view(), text + "\n");
  }
}

TEST(PickleWindows, ManySmallValuesStayWhereTheyWereRead) {
  std::string pickle = "(";
  for (unsigned i = 0; i < 30'000; ++i) {
    const std::string name = "layer." + std::to_string(i);
    pickle += "X" + little(name.size(), 4) + name + "r" + little(i, 4);
  }
  pickle += "t.";
  const TestSource source(byte_vector(pickle));
  const auto graph = read_pickle(source, 0, source.size(), {}).value();
  EXPECT_EQ(source.bytes_read(), source.size());
  unsigned i = 0;
  for (const PickleValue value : graph.tuple(graph.root())) {
    const PickleBlob& blob = graph.blob(value);
    ASSERT_EQ(blob.view(), "layer." + std::to_string(i++));
    ASSERT_EQ(pickle.substr(blob.offset, blob.size), blob.view());
  }
  EXPECT_EQ(i, 30'000u);
}

TEST(PickleWindows, LongTextAndBytesArePassedOver) {
  const std::string kept(kept_pickle_bytes, 'k');
  const std::string passed(3'000'000, 'p');
  const std::string pickle = "(B" + little(kept.size(), 4) + kept + "\x8e" +
                             little(passed.size(), 8) + passed + "X" + little(passed.size(), 4) +
                             passed + "K\x05t.";
  const TestSource source(byte_vector(pickle));
  const auto in_windows = read_pickle(source, 0, source.size(), {}).value();
  EXPECT_LT(source.bytes_read(), 200'000u);
  for (const PickleGraph& graph : {in_windows, read_in_memory(pickle).value()}) {
    const auto items = graph.tuple(graph.root());
    ASSERT_EQ(items.size(), 4u);
    EXPECT_EQ(graph.blob(items[0]).view(), kept);
    for (const std::size_t i : {1, 2}) {
      const PickleBlob& blob = graph.blob(items[i]);
      EXPECT_EQ(blob.data, nullptr);
      EXPECT_TRUE(blob.view().empty());
      EXPECT_EQ(blob.size, passed.size());
      EXPECT_EQ(pickle.substr(blob.offset, blob.size), passed);
    }
    EXPECT_EQ(graph.integer(items[3]), 5);
  }
}

TEST(PickleWindows, ASmallPickleBeforeMuchDataReadsLittle) {
  const TestSource source(byte_vector("K\x01." + std::string(5'000'000, 'd')));
  EXPECT_TRUE(read_pickle(source, 0, source.size(), {}));
  EXPECT_EQ(source.bytes_read(), 4096u);
}

TEST(PickleWindows, FailuresOfTheSourceComeThrough) {
  TestSource source(byte_vector("(" + std::string(10'000, 'N') + "t."));
  source.fail_reads_past(5000);
  const auto result = read_pickle(source, 0, source.size(), {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::io);
  EXPECT_EQ(result.error().file, "test source");
}

}  // namespace
}  // namespace andiron::detail
