// SPDX-License-Identifier: MIT OR Apache-2.0
// How often the records of a deflated file are inflated: once, although tensors lie in them in turn
// and memory has no room for all.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "andiron/compare.h"
#include "andiron/sha256.h"
#include "andiron/statistics.h"
#include "tests/support/archive_writing.h"
#include "tests/support/records_in_turn.h"

namespace andiron::test {
namespace {

// A thread that comes late to a record may have it inflated again.
double once(unsigned threads) { return threads == 1 ? 1.2 : 3; }

// The same tensors where there is room for all.
Archive with_much_room(const TurnsFile& file) {
  return open(source_of(file.zip(), "much_room.pt")).value();
}

TEST(RecordReads, OfHashesAreOnePerRecord) {
  const std::vector<Sha256Digest> expected = sha256(with_much_room(four_records)).value();
  for (const unsigned threads : {1u, 4u}) {
    const OpenTurns turns(four_records, room_for_one);
    EXPECT_EQ(sha256(turns.archive, {.threads = threads}).value(), expected);
    EXPECT_LT(turns.times_read(), once(threads)) << threads;
  }
}

TEST(RecordReads, OfStatisticsAreOnePerRecordAndPass) {
  const std::vector<Statistics> expected = statistics(with_much_room(four_records)).value();
  for (const unsigned threads : {1u, 4u}) {
    for (const std::size_t bins : {std::size_t{0}, std::size_t{7}}) {
      const OpenTurns turns(four_records, room_for_one);
      const std::vector<Statistics> found =
          statistics(turns.archive, {.histogram_bins = bins, .threads = threads}).value();
      EXPECT_LT(turns.times_read(), bins == 0 ? once(threads) : 2 * once(threads)) << threads;
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].count, expected[i].count);
        EXPECT_EQ(found[i].l2, expected[i].l2) << i;
        EXPECT_EQ(found[i].mean, expected[i].mean) << i;
      }
    }
  }
}

TEST(RecordReads, OfEqualFilesAreOnePerRecordOnBothSides) {
  for (const unsigned threads : {1u, 4u}) {
    const OpenTurns a(four_records, room_for_one);
    const OpenTurns b(four_records, room_for_one);
    EXPECT_TRUE(compare(a.archive, b.archive, {.threads = threads}).value().is_equal());
    EXPECT_LT(a.times_read(), once(threads)) << threads;
    EXPECT_LT(b.times_read(), once(threads)) << threads;
    const Archive plain =
        open(memory_source(write_to_memory(b.archive, {.format = Format::burnpack}).value()))
            .value();
    EXPECT_TRUE(compare(plain, a.archive, {.threads = threads}).value().is_equal());
    EXPECT_LT(a.times_read(), 2 * once(threads)) << threads;
  }
}

TEST(RecordReads, OfDifferentFilesAreTwoPerRecord) {
  TurnsFile changed = four_records;
  changed.xored = 1;
  for (const unsigned threads : {1u, 4u}) {
    const OpenTurns a(four_records, room_for_one);
    const OpenTurns b(changed, room_for_one);
    const Comparison found = compare(a.archive, b.archive, {.threads = threads}).value();
    EXPECT_EQ(found.count(DifferenceKind::values), 4U);
    EXPECT_LT(a.times_read(), 2 * once(threads)) << threads;
    EXPECT_LT(b.times_read(), 2 * once(threads)) << threads;
  }
}

TEST(RecordReads, OfRenamedTensorsAreOnePerRecord) {
  TurnsFile renamed = four_records;
  renamed.prefix = "renamed";
  for (const unsigned threads : {1u, 4u}) {
    const OpenTurns a(four_records, room_for_one);
    const OpenTurns b(renamed, room_for_one);
    const Comparison found = compare(a.archive, b.archive, {.threads = threads}).value();
    EXPECT_EQ(found.count(DifferenceKind::renamed), a.archive.size());
    EXPECT_LT(a.times_read(), once(threads)) << threads;
    EXPECT_LT(b.times_read(), once(threads)) << threads;
  }
}

}  // namespace
}  // namespace andiron::test
