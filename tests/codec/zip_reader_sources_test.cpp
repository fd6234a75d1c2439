// SPDX-License-Identifier: MIT OR Apache-2.0
// The sources that a zip reader lends: of stored entries, checked, and of inflated ones.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/codec/zip/reader.h"
#include "tests/support/deflating.h"
#include "tests/support/noise.h"
#include "tests/support/test_source.h"
#include "tests/support/zip_reading.h"
#include "tests/support/zip_writing.h"

namespace andiron::detail {
namespace {

using test::deflated_as_it_is;
using test::noise;
using test::open_zip;
using test::read_range;
using test::TestSource;
using test::torch_item;
using test::zip_file;
using test::ZipItem;
using test::ZipWriting;

TEST(ZipReader, CheckedReadsLookAtEachHeaderOnce) {
  ZipWriting zip;
  const std::uint64_t small = zip.add(torch_item("small", noise(500)));
  const std::uint64_t large = zip.add(torch_item("large", noise(100'000)));
  const auto source = std::make_shared<TestSource>(zip.finish());
  const ZipReaderPtr reader = ZipReader::open(source, {}).value();
  const ByteSource& checked = *reader->checked_source();
  std::uint64_t before = source->reads();
  const auto reads = [&] { return source->reads() - std::exchange(before, source->reads()); };
  EXPECT_EQ(read_range(checked, small + 1, 499), noise(500).substr(1));
  EXPECT_EQ(reads(), 1u);  // header and data together
  EXPECT_EQ(read_range(checked, small, 500), noise(500));
  EXPECT_EQ(reads(), 1u);
  EXPECT_EQ(read_range(checked, large, 100'000), noise(100'000));
  EXPECT_EQ(reads(), 2u);
  EXPECT_EQ(read_range(checked, large, 100'000), noise(100'000));
  EXPECT_EQ(reads(), 1u);
  EXPECT_EQ(read_range(checked, large, 0), "");
  EXPECT_EQ(reads(), 0u);
}

TEST(ZipReader, DataThatWasLocatedIsNotLookedForAgain) {
  ZipWriting zip;
  const std::uint64_t padded = zip.add(torch_item("padded", noise(500)));
  const std::uint64_t plain = zip.add({.name = "plain", .content = noise(500)});
  zip.add({.name = "lying", .content = "x", .local = {.name = "other"}});
  zip.add({.name = "deflated", .content = noise(500), .deflate = true});
  const auto source = std::make_shared<TestSource>(zip.finish());
  const ZipReaderPtr reader = ZipReader::open(source, {}).value();
  reader->locate_data(64);
  const std::uint64_t before = source->reads();
  EXPECT_EQ(reader->data_offset(0).value(), padded);
  EXPECT_EQ(reader->data_offset(1).value(), plain);
  EXPECT_EQ(source->reads(), before);
  EXPECT_EQ(reader->data_offset(2).error().code, ErrorCode::bad_archive);
  EXPECT_EQ(read_range(*reader->checked_source(), padded, 500), noise(500));
  EXPECT_EQ(read_range(*reader->checked_source(), plain, 500), noise(500));
}

TEST(ZipReader, AnArchiveMayEndBeforeItsFile) {
  for (const bool zip64 : {false, true}) {
    const std::string file = zip_file({{.name = "a", .content = "text"}}, {.zip64 = zip64});
    const auto source = std::make_shared<TestSource>(file + "PK and more");
    EXPECT_FALSE(ZipReader::open(source, {}));
    std::vector<Message> notes;
    const std::uint64_t end = find_zip_end(*source, notes).value();
    EXPECT_EQ(end, file.size());
    EXPECT_EQ(notes.size(), 1u);
    const ZipReaderPtr zip = ZipReader::open(source, {}, ZipNames::any_case, end).value();
    EXPECT_EQ(test::content(zip, "a"), "text");
    EXPECT_FALSE(ZipReader::open(source, {}, ZipNames::any_case, end - 1));
  }
}

// An entry whose data is not what its checksum says, between two that are fine.
struct OneDamaged {
  OneDamaged() {
    ZipWriting zip;
    before = zip.add(torch_item("before", noise(300'000)));
    ZipItem item{.name = "damaged", .content = noise(300'000)};
    item.stored = noise(300'000);
    item.stored->back() ^= 1;
    damaged = zip.add(item);
    after = zip.add({.name = "after", .content = "text"});
    file = zip.finish();
  }
  std::uint64_t before;
  std::uint64_t damaged;
  std::uint64_t after;
  std::string file;
};

ZipReaderPtr open_verified(ByteSourcePtr source) {
  return ZipReader::open(std::move(source), {}, ZipNames::exact, {}, ZipChecksums::of_all).value();
}

TEST(ZipReader, ChecksumsOfStoredEntriesAreComparedOnRequest) {
  const OneDamaged sample;
  const auto copies = std::make_shared<TestSource>(sample.file);
  for (const ByteSourcePtr& source : {test::source_of(sample.file), ByteSourcePtr(copies)}) {
    const ZipReaderPtr trusting = ZipReader::open(source, {}).value();
    EXPECT_EQ(read_range(*trusting->checked_source(), sample.damaged, 100),
              noise(300'000).substr(0, 100));
    const ZipReaderPtr zip = open_verified(source);
    const ByteSource& checked = *zip->checked_source();
    EXPECT_EQ(read_range(checked, sample.before + 7, 100), noise(300'000).substr(7, 100));
    EXPECT_EQ(read_range(checked, sample.after, 4), "text");
    std::string out(100, '\0');
    for (int again = 0; again < 2; ++again) {
      const Status status = checked.read_at(sample.damaged, std::as_writable_bytes(std::span(out)));
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code, ErrorCode::checksum_mismatch);
      EXPECT_NE(status.error().message.find("'damaged'"), std::string::npos);
      EXPECT_EQ(out, std::string(100, '\0'));
    }
    EXPECT_EQ(test::head_of(zip, 1, 10).error().code, ErrorCode::checksum_mismatch);
    EXPECT_EQ(test::head_of(zip, 0, 10).value(), noise(300'000).substr(0, 10));
    if (!checked.can_view()) continue;
    EXPECT_EQ(checked.view(sample.damaged, 1).error().code, ErrorCode::checksum_mismatch);
    EXPECT_EQ(checked.view(sample.before, 1).value().text(), noise(1));
  }
}

TEST(ZipReader, AWrongChecksumIsToldBesideTheRightOne) {
  const ZipItem item{.name = "a", .content = "text", .stored = "tExt"};
  const Error error =
      ZipReader::open(test::source_of(zip_file({item})), {}).value()->read(0, 100).error();
  char crc[20];
  std::snprintf(crc, sizeof crc, "CRC-32 %08x", test::crc_of_text("text"));
  EXPECT_EQ(error.expected, crc);
  std::snprintf(crc, sizeof crc, "CRC-32 %08x", test::crc_of_text("tExt"));
  EXPECT_EQ(error.found, crc);
}

TEST(ZipReader, AnEntryIsVerifiedOnceWhateverIsReadOfIt) {
  ZipWriting writing;
  const std::uint64_t offset = writing.add(torch_item("a", noise(1'000'000)));
  const auto source = std::make_shared<TestSource>(writing.finish());
  const ZipReaderPtr zip = open_verified(source);
  const std::uint64_t before = source->bytes_read();
  for (std::uint64_t at = 0; at < 1'000'000; at += 100'000) {
    EXPECT_EQ(read_range(*zip->checked_source(), offset + at, 100'000),
              noise(1'000'000).substr(at, 100'000));
  }
  EXPECT_LT(source->bytes_read() - before, 2'010'000u);
}

TEST(ZipReader, EntriesAreVerifiedFromSeveralThreads) {
  ZipWriting writing;
  std::vector<std::uint64_t> offsets;
  for (int i = 0; i < 40; ++i) {
    ZipItem item = torch_item("archive/data/" + std::to_string(i), noise(5000));
    offsets.push_back(writing.add(item));
  }
  const ZipReaderPtr zip = open_verified(std::make_shared<TestSource>(writing.finish()));
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (const std::uint64_t offset : offsets) {
        right += read_range(*zip->checked_source(), offset, 5000) == noise(5000) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8 * 40);
}

TEST(ZipReader, EntriesWithoutAChecksumAreNotedAndRead) {
  const auto reader = [](std::optional<std::uint32_t> crc) {
    return open_verified(test::source_of(zip_file(
        {{.name = "a", .content = "text", .local = {.crc = crc}, .directory = {.crc = crc}},
         {.name = "b", .content = "more"},
         {.name = "empty"}})));
  };
  std::vector<Message> notes;
  reader({})->note_missing_checksums(notes);
  EXPECT_TRUE(notes.empty());
  const ZipReaderPtr zip = reader(0);
  zip->note_missing_checksums(notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0],
            "1 of 3 records could not be verified: the program that wrote the file left out the "
            "checksum");
  EXPECT_EQ(read_range(*zip->checked_source(), zip->data_offset(0).value(), 4), "text");
}

TEST(ZipReader, TheCheckedSourceIsTheFileInAllElse) {
  const std::string file = zip_file({torch_item("a", "some text")});
  const ZipReaderPtr zip = open_zip(file);
  const ByteSource& checked = *zip->checked_source();
  EXPECT_EQ(checked.name(), "test.zip");
  EXPECT_EQ(checked.size(), file.size());
  EXPECT_TRUE(checked.can_view());
  EXPECT_TRUE(checked.in_memory());
  const std::uint64_t offset = zip->data_offset(0).value();
  EXPECT_EQ(checked.view(offset, 9).value().text(), "some text");
  EXPECT_EQ(checked.view(offset + 5, 4).value().text(), "text");
  EXPECT_EQ(checked.view(offset, 0).value().size(), 0u);
  const ByteSourcePtr copies =
      ZipReader::open(std::make_shared<TestSource>(file), {}).value()->checked_source();
  EXPECT_FALSE(copies->can_view());
  EXPECT_FALSE(copies->in_memory());
  EXPECT_FALSE(copies->view(offset, 9));
  EXPECT_EQ(read_range(*copies, offset, 9), "some text");  // the reader is gone
}

// Adds records of 100, 101, ... bytes; where their data begins.
std::vector<std::uint64_t> add_small_records(ZipWriting& writing, std::size_t count) {
  std::vector<std::uint64_t> offsets;
  for (std::size_t i = 0; i < count; ++i) {
    offsets.push_back(writing.add(torch_item("archive/data/" + std::to_string(i), noise(100 + i))));
  }
  return offsets;
}

TEST(ZipReader, SmallEntriesReadInOrderComeOutOfFewReads) {
  ZipWriting writing;
  const std::vector<std::uint64_t> offsets = add_small_records(writing, 1000);
  const auto source = std::make_shared<TestSource>(writing.finish());
  const ZipReaderPtr zip = ZipReader::open(source, {}).value();
  for (int round = 0; round < 2; ++round) {  // headers are checked in the first
    const std::uint64_t before = source->reads();
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      ASSERT_EQ(read_range(*zip->checked_source(), offsets[i], 100 + i), noise(100 + i)) << i;
    }
    EXPECT_LT(source->reads() - before, 30u);
  }
  // In another order, each read brings its own bytes.
  for (std::size_t i = offsets.size(); i-- > 0;) {
    ASSERT_EQ(read_range(*zip->checked_source(), offsets[i], 100 + i), noise(100 + i)) << i;
  }
  const std::uint64_t bytes = source->bytes_read();
  EXPECT_EQ(read_range(*zip->checked_source(), offsets[500], 50), noise(50));
  EXPECT_EQ(source->bytes_read() - bytes, 50u);
}

TEST(ZipReader, SmallEntriesCanBeReadByManyThreads) {
  ZipWriting writing;
  const std::vector<std::uint64_t> offsets = add_small_records(writing, 300);
  const ZipReaderPtr zip =
      ZipReader::open(std::make_shared<TestSource>(writing.finish()), {}).value();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < offsets.size(); ++i) {
        wrong += read_range(*zip->checked_source(), offsets[i], 100 + i) != noise(100 + i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ZipReader, OfEntriesReadInOrderThoseBeforeAFaultAreRead) {
  ZipWriting writing;
  const std::vector<std::uint64_t> offsets = add_small_records(writing, 20);
  const auto source = std::make_shared<TestSource>(writing.finish());
  const ZipReaderPtr zip = ZipReader::open(source, {}).value();
  source->fail_reads_past(offsets[10]);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const bool is_read = read_range(*zip->checked_source(), offsets[i], 100 + i) == noise(100 + i);
    EXPECT_EQ(is_read, i < 10) << i;
  }
}

TEST(ZipReader, CheckedReadsStayWithinTheDataOfOneStoredEntry) {
  ZipWriting zip;
  const std::uint64_t first = zip.add(torch_item("first", "0123456789"));
  const std::uint64_t second = zip.add({.name = "second", .content = "text"});
  const std::uint64_t third =
      zip.add({.name = "third", .content = std::string(100, 'x'), .deflate = true});
  const std::string file = zip.finish();
  const ZipReaderPtr reader = open_zip(file);
  const ByteSource& checked = *reader->checked_source();
  const auto refused = [&](std::uint64_t offset, std::uint64_t count) {
    std::string text(static_cast<std::size_t>(count), '\0');
    const Status read = checked.read_at(offset, std::as_writable_bytes(std::span(text)));
    const Result<Bytes> viewed = checked.view(offset, count);
    EXPECT_EQ(read.ok(), viewed.ok());
    return !read && read.error().code == ErrorCode::bad_archive &&
           viewed.error().code == ErrorCode::bad_archive;
  };
  for (int round = 0; round < 2; ++round) {  // before and after the headers were checked
    EXPECT_TRUE(refused(0, 4));
    EXPECT_TRUE(refused(first - 1, 2));
    EXPECT_TRUE(refused(first, 11));
    EXPECT_TRUE(refused(first + 10, 1));
    EXPECT_TRUE(refused(first, second - first + 2));
    EXPECT_TRUE(refused(third, 1));
    EXPECT_TRUE(refused(file.size() - 1, 1));
    EXPECT_FALSE(refused(first, 10));
    EXPECT_FALSE(refused(second + 3, 1));
  }
  EXPECT_EQ(checked.read_at(file.size(), std::as_writable_bytes(std::span<char>())).ok(), true);
}

TEST(ZipReader, DeflatedEntriesAreSourcesOfTheirOwn) {
  const std::string text = noise(1000) + std::string(100'000, 'a');
  const auto source = std::make_shared<TestSource>(
      zip_file({{.name = "a", .content = text, .deflate = true}, {.name = "b", .content = "b"}}));
  ByteSourcePtr kept;
  {
    const ZipReaderPtr zip = ZipReader::open(source, {}).value();
    kept = zip->inflated_source(0);
    EXPECT_EQ(zip->inflated_source(0), kept);
    EXPECT_NE(zip->inflated_source(1), kept);
    EXPECT_EQ(read_range(*zip->inflated_source(1), 0, 1), "b");
  }
  const std::uint64_t before = source->reads();
  EXPECT_EQ(kept->size(), text.size());
  EXPECT_EQ(kept->name(), "test source");
  EXPECT_EQ(source->reads(), before);
  EXPECT_EQ(read_range(*kept, 10, 5000), text.substr(10, 5000));
  const std::uint64_t after = source->reads();
  EXPECT_GT(after, before);
  EXPECT_EQ(read_range(*kept, 0, text.size()), text);
  EXPECT_EQ(source->reads(), after);
  EXPECT_FALSE(kept->can_view()) << "a small view would keep all of it in memory";
}

TEST(ZipReader, OnlyTheContentsThatWereInflatedLastAreKept) {
  std::vector<ZipItem> items;
  for (int i = 0; i < 70; ++i) {
    items.push_back({.name = std::to_string(i), .content = noise(100), .deflate = true});
  }
  const auto source = std::make_shared<TestSource>(zip_file(items));
  const ZipReaderPtr zip = ZipReader::open(source, {}).value();
  const auto reads_for = [&](std::uint32_t entry) {
    const std::uint64_t before = source->reads();
    EXPECT_EQ(read_range(*zip->inflated_source(entry), 0, 100), noise(100));
    return source->reads() - before;
  };
  EXPECT_GT(reads_for(0), 0U);
  EXPECT_EQ(reads_for(0), 0U);
  for (std::uint32_t i = 1; i < 70; ++i) EXPECT_GT(reads_for(i), 0U);
  EXPECT_EQ(reads_for(69), 0U);
  EXPECT_GT(reads_for(0), 0U);
}

// Three entries of which no two fit into what may be held.
class EntriesInTurn {
 public:
  explicit EntriesInTurn(std::uint64_t limit = std::uint64_t{1} << 20)
      : zip_(ZipReader::open(source_, {.inflated_bytes = limit}).value()) {}

  // Reads so many bytes from each of the entries in turn; returns how many reads went well.
  std::size_t read(std::size_t bytes, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      std::vector<std::byte> out(bytes);
      const Status status = zip_->inflated_source(static_cast<std::uint32_t>(i % 3))
                                ->read_at(i * 100 % (size - bytes + 1), out);
      if (status) continue;
      error = status.error();
      return i;
    }
    return times;
  }
  // How often an entry was inflated, by what was read of the file.
  std::uint64_t times_inflated() const { return source_->bytes_read() * 3 / source_->size(); }

  static constexpr std::size_t size = 600'000;
  Error error;

 private:
  static std::string file() {
    const std::string zeros(size, '\0');
    return zip_file({{.name = "a", .content = zeros, .deflate = true},
                     {.name = "b", .content = zeros, .deflate = true},
                     {.name = "c", .content = zeros, .deflate = true}});
  }
  std::shared_ptr<TestSource> source_ = std::make_shared<TestSource>(file());
  ZipReaderPtr zip_;
};

TEST(ZipReader, EntriesAreNotInflatedAgainWithoutEnd) {
  EntriesInTurn entries;
  EXPECT_LT(entries.read(1, 100), 20U);
  EXPECT_LT(entries.times_inflated(), 20U);
  EXPECT_EQ(entries.error.code, ErrorCode::limit_exceeded);
  EXPECT_EQ(entries.error.message,
            "deflated entries were inflated again too often, for little of each");
  EXPECT_EQ(entries.error.hint, "raise Limits::inflated_bytes if you trust the file");
  EXPECT_EQ(entries.error.file, "test source");
}

TEST(ZipReader, WhatWasAskedForIsInflatedAsOftenAsItTakes) {
  EntriesInTurn entries;
  EXPECT_EQ(entries.read(EntriesInTurn::size, 100), 100U);
  EXPECT_GT(entries.times_inflated(), 90U);
  EntriesInTurn with_room(std::uint64_t{1} << 30);
  EXPECT_EQ(with_room.read(1, 1000), 1000U);
  EXPECT_LE(with_room.times_inflated(), 6U);
}

// As threads do, each of which reads an entry part by part. Of a large file more is kept.
TEST(ZipReader, WhatIsInUseAtTheSameTimeIsKept) {
  const std::string content(std::size_t{40} << 20, 'x');
  ZipItem item{.name = "a", .content = content, .deflate = true};
  item.stored = deflated_as_it_is(content);
  ZipItem other = item;
  other.name = "b";
  const auto source = std::make_shared<TestSource>(zip_file({item, other}));
  const ZipReaderPtr zip = ZipReader::open(source, {}).value();
  for (std::uint32_t i = 0; i < 20; ++i) {
    EXPECT_EQ(read_range(*zip->inflated_source(i % 2), i * 100, 3), "xxx");
  }
  EXPECT_LE(source->bytes_read(), 3 * source->size());
}

TEST(ZipReader, ManyThreadsReadAtOnce) {
  ZipWriting zip;
  std::vector<std::uint64_t> offsets;
  for (std::size_t i = 0; i < 200; ++i) {
    offsets.push_back(zip.add(torch_item("data/" + std::to_string(i), noise(i * 50))));
  }
  zip.add({.name = "deflated", .content = std::string(500'000, 'a'), .deflate = true});
  const ZipReaderPtr reader = open_zip(zip.finish());
  const auto work = [&](std::size_t step) {
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const std::size_t at = i * step % offsets.size();
      EXPECT_EQ(reader->data_offset(static_cast<std::uint32_t>(at)).value(), offsets[at]);
      EXPECT_EQ(read_range(*reader->checked_source(), offsets[at], at * 50), noise(at * 50));
    }
    EXPECT_EQ(read_range(*reader->inflated_source(200), step, 3), "aaa");
  };
  std::vector<std::thread> threads;
  for (const std::size_t step : {1, 3, 7, 199}) threads.emplace_back(work, step);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace andiron::detail
