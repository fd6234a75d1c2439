// SPDX-License-Identifier: MIT OR Apache-2.0
// Records that are cut, changed or made to do harm.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/format/record_samples.h"
#include "tests/support/modest.h"
#include "tests/support/record_file.h"
#include "tests/support/test_source.h"

namespace andiron::test {
namespace {

using namespace std::string_literals;

// Whatever is read must be readable to the end.
void use(const Result<Archive>& result) {
  if (!result) {
    EXPECT_FALSE(result.error().message.empty());
    return;
  }
  for (std::size_t i = 0; i < result->size(); ++i) {
    const Result<Tensor> tensor = result->snapshot(i).read();
    EXPECT_TRUE(tensor) << tensor.error().to_string();
  }
  if (const Result<std::string> again = write_record(*result)) {
    EXPECT_TRUE(read_record(*again));
  }
}

TEST(RecordReader, RefusesKeysAndNamesGivenTwice) {
  const std::string tensor = R"({"bytes":[1],"shape":[1],"dtype":"U8"})";
  expect_error(read_record(to_json_record(R"({"a":null,"b":null,"a":null})")),
               ErrorCode::duplicate_key);
  expect_error(read_record(to_json_record(R"({"a":)" + tensor + R"(,"a":)" + tensor + "}")),
               ErrorCode::duplicate_key);
  expect_error(read_record(to_json_record(R"({"a.b":)" + tensor + R"(,"a":{"b":)" + tensor + "}}")),
               ErrorCode::duplicate_key);
  expect_error(read_record(record([](Msgpack& out) {
                 out.write.begin_map(2);
                 out.write.text("a.b");
                 out.tensor("x", {1}, "U8");
                 out.write.text("a");
                 out.write.begin_map(1);
                 out.write.text("b");
                 out.tensor("x", {1}, "U8");
               })),
               ErrorCode::duplicate_key);
}

TEST(RecordReader, RefusesSizesThatDoNotFit) {
  expect_error(read_record(record([](Msgpack& out) { out.tensor("abc", {1}, "F32"); })),
               ErrorCode::size_mismatch);
  constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  expect_error(read_record(record([](Msgpack& out) { out.tensor("abcd", {huge, huge}, "F32"); })),
               ErrorCode::overflow);
  const std::string shape = "[" + std::string("1,", 2) + "-1]";
  expect_error(
      read_record(to_json_record(R"({"t":{"bytes":[1],"shape":)" + shape + R"(,"dtype":"U8"}})")),
      ErrorCode::bad_header);
  std::string long_shape = "1";
  for (int i = 0; i < 64; ++i) long_shape += ",1";
  expect_error(read_record(to_json_record(R"({"t":{"bytes":[1],"shape":[)" + long_shape +
                                          R"(],"dtype":"U8"}})")),
               ErrorCode::bad_header);
}

TEST(RecordReader, KeepsToItsLimits) {
  const std::string file = sample_record();
  expect_error(read_record(file, {.limits = {.tensors = 3}}), ErrorCode::limit_exceeded);
  EXPECT_TRUE(read_record(file, {.limits = {.tensors = 4}}));
  expect_error(read_record(file, {.limits = {.name_bytes = 12}}), ErrorCode::limit_exceeded);
  expect_error(read_record(file, {.limits = {.memory_bytes = 500}}), ErrorCode::limit_exceeded);
}

TEST(RecordReader, CountsWhatItHoldsInMemory) {
  const std::string bytes =
      to_json_record(R"({"t":{"bytes":[1,2,3,4,5,6,7,8],"shape":[2],"dtype":"F32"}})");
  expect_error(read_record(bytes, {.limits = {.inflated_bytes = 7}}), ErrorCode::limit_exceeded);
  EXPECT_TRUE(read_record(bytes, {.limits = {.inflated_bytes = 8}}));
  const std::string numbers = to_json_record(R"({"t":{"value":[1,2,3,4,5,6,7,8],"shape":[8]}})");
  expect_error(read_record(numbers, {.limits = {.inflated_bytes = 31}}), ErrorCode::limit_exceeded);
  EXPECT_TRUE(read_record(numbers, {.limits = {.inflated_bytes = 8 * 16}}));

  // Text that is not in memory already counts too.
  const auto from_file = [&](std::uint64_t most) {
    const ByteSourcePtr source = std::make_shared<TestSource>(bytes);
    return detail::read_record({source, {.limits = {.inflated_bytes = most}}});
  };
  expect_error(from_file(bytes.size() - 1), ErrorCode::limit_exceeded);
  expect_error(from_file(bytes.size() + 7), ErrorCode::limit_exceeded);
  EXPECT_TRUE(from_file(bytes.size() + 8));
}

TEST(RecordReader, RefusesNestingThatIsTooDeep) {
  for (const std::string& level : {"\x91"s,
                                   "\x81\xa1"
                                   "a"s}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += level;
    const std::string file = record([](Msgpack&) {}) + deep + "\xc0";
    expect_error(read_record(file), ErrorCode::limit_exceeded);
    expect_modest(file);
  }
  expect_error(read_record(to_json_record(std::string(100'000, '['))), ErrorCode::limit_exceeded);
}

TEST(RecordReader, AllocatesNothingBySizesThatAFileClaims) {
  for (const std::string& claim : {"\xdd\xff\xff\xff\xff"s, "\xdf\xff\xff\xff\xff"s,
                                   "\xc6\xff\xff\xff\xff"s, "\xdb\xff\xff\xff\xff"s}) {
    expect_error(read_record(record([](Msgpack&) {}) + claim), ErrorCode::truncated);
    expect_modest(record([](Msgpack&) {}) + claim);
  }
  // Nulls are a byte in the file and many in memory.
  const std::string nulls = "\xdd\x00\x20\x00\x00"s + std::string(1 << 21, '\xc0');
  expect_error(read_record(record([](Msgpack&) {}) + nulls), ErrorCode::limit_exceeded);
  expect_modest(record([](Msgpack&) {}) + nulls);
}

TEST(RecordReader, BytesAfterTheRecordAreRefusedUnlessLenient) {
  for (const std::string& file : {sample_record() + "\xc0", to_json_record("{}") + " x"}) {
    expect_error(read_record(file), ErrorCode::size_mismatch);
    const Archive archive = read_record(file, {.strictness = Strictness::lenient}).value();
    EXPECT_EQ(archive.notes().size(), 1u);
  }
  EXPECT_TRUE(read_record(to_json_record("{}") + " \n"));
}

TEST(RecordReader, RefusesExtensionsAndKeysThatAreNoText) {
  expect_error(read_record(record([](Msgpack&) {}) + "\xd4\x01\x02"s), ErrorCode::unsupported);
  expect_error(read_record(record([](Msgpack&) {}) + "\x81\x01\x02"s), ErrorCode::bad_header);
  expect_error(read_record(record([](Msgpack&) {}) + "\x81\xa1\xff\x02"s), ErrorCode::bad_header);
}

TEST(RecordReader, PassesOnErrorsOfTheSource) {
  const std::string file = record([](Msgpack& out) {
    out.write.begin_list(2);
    out.tensor(std::string(100'000, 'x'), {100'000}, "U8");
    out.tensor("x", {1}, "U8");
  });
  const auto source = std::make_shared<TestSource>(file);
  source->fail_reads_past(50'000);
  expect_error(detail::read_record({source, {}}), ErrorCode::io);
}

TEST(RecordReader, EveryCutIsAnError) {
  const std::string plain = sample_record();
  const std::string json = to_json_record(
      R"({"a":{"id":"72d17eukbtkma","param":{"bytes":[1],"shape":[1],"dtype":"U8"}},)"
      R"("b":[0.5,"x"]})");
  const std::string gzip = write_record(read_record(plain).value(), {}, true).value();
  for (const std::string& file : {plain, json, gzip}) {
    for (std::size_t size = 0; size < file.size(); ++size) {
      EXPECT_FALSE(read_record(std::string_view(file).substr(0, size))) << size;
    }
  }
}

TEST(RecordReader, FilesCutOrChangedTakeLittleMemory) {
  const std::string plain = sample_record();
  expect_modest_when_changed(plain);
  expect_modest_when_changed(write_record(read_record(plain).value(), {}, true).value());
  expect_modest_when_changed(to_json_record(R"({"t":{"value":[1,2],"shape":{"dims":[2]}}})"));
}

TEST(RecordReader, EveryChangedByteGivesAnErrorOrAWholeArchive) {
  const std::string plain = sample_record();
  const std::string json = to_json_record(
      R"({"a":{"id":"72d17eukbtkma","param":{"bytes":[1],"shape":[1],"dtype":"U8"}},"b":[0.5,"x"],)"
      R"("c":{"value":[1,2],"shape":{"dims":[2]}}})");
  for (std::string file : {plain, json}) {
    for (char& byte : file) {
      const char original = byte;
      for (int bit = 1; bit < 256; bit *= 2) {
        byte = static_cast<char>(original ^ bit);
        use(read_record(file));
      }
      for (const char value : {'\0', '\xc0', '\xc1', '\xc6', '\xdd', '\xff', '"', '[', '}'}) {
        byte = value;
        use(read_record(file));
      }
      byte = original;
    }
  }
}

}  // namespace
}  // namespace andiron::test
