// SPDX-License-Identifier: MIT OR Apache-2.0
// In which order tensors are copied, and where they end up.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "andiron/open.h"
#include "andiron/sha256.h"
#include "andiron/write.h"
#include "tests/support/records_in_turn.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {
namespace {

constexpr double once = 1.2;

TEST(DataCopier, ReadsEachCompressedRecordOnce) {
  const OpenTurns ample(four_records, std::uint64_t{1} << 30);
  const std::vector<Sha256Digest> digests = sha256(ample.archive).value();
  const TempDir folder;
  for (const char* name : {"m.safetensors", "m.bpk", "m.mpk"}) {
    const OpenTurns turns(four_records, room_for_one);
    const std::string path = folder.file(name);
    std::uint64_t last = 0;
    const auto progress = [&](std::uint64_t done, std::uint64_t) {
      EXPECT_GT(done, last);
      last = done;
      return true;
    };
    ASSERT_TRUE(write(turns.archive, path, {.progress = progress})) << name;
    EXPECT_LT(turns.times_read(), once) << name;
    EXPECT_EQ(last, 4U * 450'000) << name;
    // What the file has is what a sink gets, which takes all in order.
    const Archive written = open(path).value();
    ASSERT_EQ(written.size(), digests.size());
    for (std::size_t i = 0; i < digests.size(); ++i) {
      const TensorSnapshot tensor = written.get(ample.archive.info(i).name).value();
      EXPECT_EQ(sha256(tensor).value(), digests[i]) << name << " " << i;
    }
    if (std::string_view(name) == "m.mpk") continue;  // has fresh ids
    MemorySink sink;
    const bool is_burnpack = std::string_view(name) == "m.bpk";
    ASSERT_TRUE(write(ample.archive, sink,
                      {.format = is_burnpack ? Format::burnpack : Format::safetensors}));
    EXPECT_TRUE(sink.take().text() == read_file(path)) << name;
  }
}

TEST(DataCopier, ReadsRecordsOncePerShard) {
  const OpenTurns turns(four_records, room_for_one);
  const TempDir folder;
  const WriteReport report =
      write(turns.archive, folder.file("m.safetensors"), {.max_shard_bytes = 900'000}).value();
  EXPECT_EQ(report.files.size(), 3U);
  EXPECT_LT(turns.times_read(), 2 * once);
  EXPECT_EQ(open(report.files.back()).value().size(), turns.archive.size());
}

TEST(DataCopier, CanBeCancelledBetweenRecords) {
  const OpenTurns turns(four_records, room_for_one);
  const TempDir folder;
  int calls = 0;
  const auto written = write(turns.archive, folder.file("m.safetensors"),
                             {.progress = [&](auto, auto) { return ++calls < 60; }});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::cancelled);
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace andiron::test
