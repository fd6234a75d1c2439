// SPDX-License-Identifier: MIT OR Apache-2.0
// Zip archives as PyTorch, Python and others write them.
#include "src/codec/zip_reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "andiron/file.h"
#include "tests/support/noise.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test_source.h"
#include "tests/support/zip_writing.h"

namespace andiron::detail {
namespace {

using test::Descriptor;
using test::noise;
using test::source_of;
using test::torch_item;
using test::zip_file;
using test::ZipItem;
using test::ZipWriting;

constexpr std::uint64_t no_limit = ~std::uint64_t{0};

ZipReaderPtr open_zip(std::string_view file, const Limits& limits = {}) {
  return ZipReader::open(source_of(file), limits).value();
}

std::string content(const ZipReaderPtr& zip, std::string_view name) {
  const auto entry = zip->find(name);
  if (!entry) return "no such entry";
  const Result<Bytes> bytes = zip->read(*entry, no_limit);
  return bytes ? std::string(bytes->text()) : bytes.error().to_string();
}

std::string read_range(const ByteSource& source, std::uint64_t offset, std::size_t count) {
  std::string text(count, '\0');
  const Status status = source.read_at(offset, std::as_writable_bytes(std::span(text)));
  return status ? text : status.error().to_string();
}

std::shared_ptr<test::TestSource> counting(const std::string& file) {
  return std::make_shared<test::TestSource>(
      test::bytes_of(std::vector<char>(file.begin(), file.end())));
}

TEST(ZipReader, ListsEntriesInTheOrderOfTheDirectory) {
  const ZipReaderPtr zip = open_zip(zip_file({
      {.name = "folder/"},
      {.name = "folder/Data.bin", .content = "stored"},
      {.name = "__MACOSX/._x", .content = std::string(100, 'd'), .deflate = true},
      {.name = "\xff\xfe not UTF-8", .content = "x"},
  }));
  ASSERT_EQ(zip->entries().size(), 4u);
  EXPECT_EQ(zip->entries()[0].name, "folder/");
  EXPECT_EQ(zip->entries()[0].bytes, 0u);
  EXPECT_EQ(zip->entries()[1].name, "folder/Data.bin");
  EXPECT_EQ(zip->entries()[1].bytes, 6u);
  EXPECT_EQ(zip->entries()[1].stored_bytes, 6u);
  EXPECT_TRUE(zip->entries()[1].is_stored());
  EXPECT_EQ(zip->entries()[2].bytes, 100u);
  EXPECT_LT(zip->entries()[2].stored_bytes, 100u);
  EXPECT_FALSE(zip->entries()[2].is_stored());
  EXPECT_EQ(zip->source()->name(), "test.zip");
}

TEST(ZipReader, AnEmptyArchiveHasNoEntries) {
  for (const bool zip64 : {false, true}) {
    const ZipReaderPtr zip = open_zip(zip_file({}, {.zip64 = zip64}));
    EXPECT_TRUE(zip->entries().empty());
    EXPECT_EQ(zip->find("a"), std::nullopt);
    EXPECT_NE(read_range(*zip->checked_source(), 0, 4).find("no entries"), std::string::npos);
  }
}

TEST(ZipReader, ReadsWhatEveryWriterWrites) {
  const std::string text = "some text, some text, some text";
  std::vector<ZipItem> items;
  for (const bool deflate : {false, true}) {
    for (const bool zip64 : {false, true}) {
      for (const bool zip64_directory : {false, true}) {
        for (const Descriptor descriptor :
             {Descriptor::none, Descriptor::signed32, Descriptor::plain32, Descriptor::signed64,
              Descriptor::plain64}) {
          for (const std::string& body : {text, std::string()}) {
            items.push_back({.name = "e" + std::to_string(items.size()),
                             .content = body,
                             .deflate = deflate,
                             .descriptor = descriptor,
                             .zip64 = zip64,
                             .zip64_directory = zip64_directory,
                             .comment = body});
          }
        }
      }
    }
  }
  for (const bool zip64 : {false, true}) {
    const ZipReaderPtr zip = open_zip(zip_file(items, {.comment = "a comment", .zip64 = zip64}));
    ASSERT_EQ(zip->entries().size(), items.size());
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      EXPECT_EQ(content(zip, items[i].name), items[i].content) << i;
      if (items[i].deflate) continue;
      const std::uint64_t offset = zip->data_offset(i).value();
      EXPECT_EQ(read_range(*zip->checked_source(), offset, items[i].content.size()),
                items[i].content)
          << i;
    }
  }
}

TEST(ZipReader, LargeDeflatedEntriesComeInManyParts) {
  const std::string text = noise(2'000'000) + std::string(3'000'000, 'a');
  EXPECT_EQ(content(open_zip(zip_file({{.name = "a", .content = text, .deflate = true}})), "a"),
            text);
}

TEST(ZipReader, ReadsTheLongestNamesExtraFieldsAndComments) {
  const std::string name(65535, 'n');
  const std::string extra = test::extra_field(0x4246, std::string(65531, 'Z'));
  const ZipReaderPtr zip = open_zip(zip_file({{.name = name,
                                               .content = "text",
                                               .comment = std::string(65535, 'c'),
                                               .local = {.extra = extra},
                                               .directory = {.extra = extra}},
                                              {.name = "b", .content = "more"}},
                                             {.comment = std::string(65535, 'c')}));
  EXPECT_EQ(content(zip, name), "text");
  EXPECT_EQ(content(zip, "b"), "more");
  EXPECT_EQ(zip->data_offset(0).value(), 30u + 65535 + 65535);
  EXPECT_EQ(read_range(*zip->checked_source(), zip->data_offset(0).value() + 1, 3), "ext");
}

TEST(ZipReader, TheDirectoryMayBeInAnotherOrderThanTheFile) {
  std::string file = zip_file({{.name = "a", .content = "first"}, {.name = "b", .content = "2"}});
  // Both directory entries have the same size.
  const std::size_t directory = file.find("PK\1\2");
  const std::string first = file.substr(directory, 47);
  file.erase(directory, 47).insert(directory + 47, first);
  const ZipReaderPtr zip = open_zip(file);
  EXPECT_EQ(zip->entries()[0].name, "b");
  EXPECT_EQ(content(zip, "a"), "first");
  EXPECT_EQ(content(zip, "b"), "2");
  EXPECT_EQ(read_range(*zip->checked_source(), zip->data_offset(1).value(), 5), "first");
  EXPECT_EQ(read_range(*zip->checked_source(), zip->data_offset(0).value(), 1), "2");
}

TEST(ZipReader, GapsBetweenEntriesAreLegal) {
  ZipWriting zip;
  zip.add({.name = "a", .content = "first"});
  zip.raw("a gap");
  zip.add({.name = "b", .content = "second"});
  zip.raw("another");
  const ZipReaderPtr reader = open_zip(zip.finish());
  EXPECT_EQ(content(reader, "a"), "first");
  EXPECT_EQ(content(reader, "b"), "second");
}

TEST(ZipReader, TheDirectoryAloneTellsWherePyTorchPutsData) {
  for (const std::uint64_t alignment : {1u, 64u, 4096u, 5u}) {
    ZipWriting zip;
    std::vector<std::uint64_t> offsets;
    for (const std::size_t size : {0, 1, 63, 64, 1000, 0}) {
      offsets.push_back(zip.add(
          torch_item("archive/data/" + std::to_string(offsets.size()), noise(size), alignment)));
      EXPECT_EQ(offsets.back() % alignment, 0u);
    }
    const auto source = counting(zip.finish({.zip64 = true}));
    const ZipReaderPtr reader = ZipReader::open(source, {}).value();
    const std::uint64_t before = source->reads();
    for (std::uint32_t i = 0; i < offsets.size(); ++i) {
      EXPECT_EQ(reader->data_offset(i, alignment).value(), offsets[i]);
    }
    EXPECT_EQ(source->reads(), before);
    for (std::uint32_t i = 0; i < offsets.size(); ++i) {
      const auto size = static_cast<std::size_t>(reader->entries()[i].bytes);
      EXPECT_EQ(read_range(*reader->checked_source(), offsets[i], size), noise(size));
      EXPECT_EQ(reader->data_offset(i, alignment).value(), offsets[i]);
    }
  }
}

TEST(ZipReader, HeadersAreReadWhereTheDirectoryDoesNotTellEnough) {
  ZipWriting zip;
  const std::uint64_t first = zip.add(torch_item("a", noise(100), 64));
  const std::uint64_t second = zip.add({.name = "b", .content = noise(10)});
  const auto source = counting(zip.finish());
  for (const std::uint64_t alignment : {0u, 128u, 65536u}) {
    const ZipReaderPtr reader = ZipReader::open(source, {}).value();
    const std::uint64_t before = source->reads();
    EXPECT_EQ(reader->data_offset(0, alignment).value(), first);
    EXPECT_EQ(source->reads(), before + 1);
    EXPECT_EQ(reader->data_offset(1).value(), second);
    EXPECT_EQ(source->reads(), before + 2);
    EXPECT_EQ(reader->data_offset(0, alignment).value(), first);
    EXPECT_EQ(reader->data_offset(1).value(), second);
    EXPECT_EQ(source->reads(), before + 2);
  }
}

TEST(ZipReader, ArchivesBeyondFourGigabytesAreReadAsPyTorchWritesThem) {
  constexpr std::uint64_t large = 0x1'0000'0123;
  ZipWriting zip;
  const std::uint64_t small = zip.add(torch_item("archive/data.pkl", "a pickle"));
  ZipItem hole = torch_item("archive/data/0", "");
  hole.hole = large;
  const std::uint64_t first = zip.add(hole);
  const std::uint64_t second = zip.add(torch_item("archive/data/1", "far away"));
  const std::uint64_t third =
      zip.add(hole = {.name = "archive/data/2", .hole = large, .torch_alignment = 64});
  const std::uint64_t empty = zip.add(torch_item("archive/data/3", ""));
  EXPECT_GT(second, large);
  const ZipReaderPtr reader = ZipReader::open(zip.source({.zip64 = true}), {}).value();
  const std::uint64_t offsets[] = {small, first, second, third, empty};
  for (const std::uint64_t alignment : {64u, 0u}) {
    for (std::uint32_t i = 0; i < 5; ++i) {
      EXPECT_EQ(reader->data_offset(i, alignment).value(), offsets[i]) << i;
    }
  }
  EXPECT_EQ(reader->entries()[1].bytes, large);
  EXPECT_EQ(content(reader, "archive/data/1"), "far away");
  EXPECT_EQ(read_range(*reader->checked_source(), second, 8), "far away");
  EXPECT_EQ(read_range(*reader->checked_source(), first + large - 2, 2), std::string(2, '\0'));
  EXPECT_EQ(read_range(*reader->checked_source(), third + large - 2, 2), std::string(2, '\0'));
}

TEST(ZipReader, ArchivesBeyondFourGigabytesAreReadAsOthersWriteThem) {
  constexpr std::uint64_t large = 0x1'0000'0123;
  ZipWriting zip;
  zip.add({.name = "a", .hole = large, .zip64 = true});
  zip.add({.name = "b", .hole = large, .descriptor = Descriptor::signed64, .zip64 = true});
  const std::uint64_t far = zip.add({.name = "c", .content = "far away"});
  const ZipReaderPtr reader = ZipReader::open(zip.source(), {}).value();
  EXPECT_EQ(reader->entries()[1].bytes, large);
  EXPECT_EQ(reader->data_offset(0).value(), 51u);
  EXPECT_TRUE(reader->data_offset(1));
  EXPECT_EQ(reader->data_offset(2).value(), far);
  EXPECT_EQ(content(reader, "c"), "far away");
}

TEST(ZipReader, TheZip64RecordMayHoldMoreThanWeKnow) {
  const ZipReaderPtr zip = open_zip(zip_file({{.name = "a", .content = "text"}},
                                             {.zip64 = true, .inside_zip64_end = "and more"}));
  EXPECT_EQ(content(zip, "a"), "text");
}

TEST(ZipReader, TheOlderEndRecordMayLeaveItsNumbersToZip64) {
  const ZipReaderPtr zip =
      open_zip(zip_file({{.name = "a", .content = "text"}}, {.zip64 = true,
                                                             .disk = 0xffff,
                                                             .directory_disk = 0xffff,
                                                             .count_here = 0xffff,
                                                             .count = 0xffff,
                                                             .bytes = 0xffffffff,
                                                             .offset = 0xffffffff}));
  EXPECT_EQ(content(zip, "a"), "text");
}

TEST(ZipReader, ExtraFieldsOfAnyKindAreSteppedOver) {
  const std::string others = test::extra_field(0x5455, "time") + test::extra_field(0x7875, "") +
                             std::string(3, '\0');  // as tools that align leave behind
  const std::string zip64 =
      test::extra_field(1, test::little_endian(std::uint64_t{4}, std::uint64_t{4}));
  const ZipReaderPtr zip = open_zip(zip_file(
      {{.name = "a",
        .content = "text",
        .local = {.stored_bytes = 0xffffffff, .bytes = 0xffffffff, .extra = zip64 + others},
        .directory = {.stored_bytes = 0xffffffff,
                      .bytes = 0xffffffff,
                      .extra = others.substr(0, 12) + zip64}},
       // Nothing refers to these numbers.
       {.name = "b", .content = "more", .directory = {.extra = zip64}}}));
  EXPECT_EQ(content(zip, "a"), "text");
  EXPECT_EQ(content(zip, "b"), "more");
}

TEST(ZipReader, AChecksumOfZeroIsNotCompared) {
  const ZipReaderPtr zip = open_zip(zip_file({
      {.name = "a", .content = "text", .descriptor = Descriptor::signed32, .directory = {.crc = 0}},
      {.name = "b",
       .content = "text",
       .deflate = true,
       .local = {.crc = 0},
       .directory = {.crc = 0}},
  }));
  EXPECT_EQ(content(zip, "a"), "text");
  EXPECT_EQ(content(zip, "b"), "text");
}

TEST(ZipReader, CheckedReadsLookAtEachHeaderOnce) {
  ZipWriting zip;
  const std::uint64_t small = zip.add(torch_item("small", noise(500)));
  const std::uint64_t large = zip.add(torch_item("large", noise(100'000)));
  const auto source = counting(zip.finish());
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
  const ByteSourcePtr copies = ZipReader::open(counting(file), {}).value()->checked_source();
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
  const auto source = counting(writing.finish());
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
  const ZipReaderPtr zip = ZipReader::open(counting(writing.finish()), {}).value();
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
  const auto source = counting(writing.finish());
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
  const auto source = counting(
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
  const auto source = counting(zip_file(items));
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

TEST(ZipReader, AMillionEntriesOpen) {
  constexpr std::uint32_t count = 1'000'000;
  std::string file;
  std::string directory;
  for (std::uint32_t i = 0; i < count; ++i) {
    char name[16];
    std::snprintf(name, sizeof name, "a/%08u", i);
    const std::string numbers = test::little_endian(
        std::uint32_t{0}, std::uint32_t{0}, std::uint32_t{0}, std::uint16_t{10}, std::uint16_t{0});
    directory +=
        test::little_endian(0x02014b50u, 20u, 0u, 0u) + numbers +
        test::little_endian(0u, 0u, std::uint16_t{0}, static_cast<std::uint32_t>(file.size()));
    directory += name;
    file += test::little_endian(0x04034b50u, std::uint32_t{20}, std::uint16_t{0}, 0u) + numbers;
    file += name;
  }
  const std::uint64_t offset = file.size();
  const std::uint64_t bytes = directory.size();
  file += directory;
  file += test::little_endian(0x06064b50u, std::uint64_t{44}, 0u, 0u, 0u, std::uint64_t{count},
                              std::uint64_t{count}, bytes, offset);
  file += test::little_endian(0x07064b50u, 0u, offset + bytes, 1u);
  file += test::little_endian(0x06054b50u, 0u, 0xffffffffu, static_cast<std::uint32_t>(bytes),
                              static_cast<std::uint32_t>(offset), std::uint16_t{0});
  const ZipReaderPtr zip = open_zip(file);
  EXPECT_EQ(zip->entries().size(), count);
  EXPECT_EQ(zip->find("a/00999999"), 999'999u);
  EXPECT_EQ(zip->data_offset(999'999).value(), offset);
  const Result<ZipReaderPtr> refused = ZipReader::open(source_of(file), {.zip_entries = 999'999});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
}

TEST(ZipReader, ErrorsOfTheSourceArePassedOn) {
  const auto source = counting(zip_file({torch_item("a", noise(10'000))}));
  const ZipReaderPtr zip = ZipReader::open(source, {}).value();
  const std::uint64_t offset = zip->data_offset(0).value();
  source->fail_reads_past(5000);
  EXPECT_EQ(zip->read(0, no_limit).error().code, ErrorCode::io);
  std::vector<std::byte> out(10'000);
  EXPECT_EQ(zip->checked_source()->read_at(offset, out).error().code, ErrorCode::io);
  source->fail_reads_past(10);
  EXPECT_EQ(ZipReader::open(source, {}).error().code, ErrorCode::io);
  const ZipReaderPtr again =
      ZipReader::open(counting(zip_file({torch_item("a", "a")})), {}).value();
  EXPECT_TRUE(again->data_offset(0));
}

TEST(ZipReader, ReadsTheArchivesOfOthers) {
  const char* root = std::getenv("ANDIRON_FIXTURES");
  if (root == nullptr || *root == '\0') GTEST_SKIP() << "ANDIRON_FIXTURES is not set";
  std::size_t archives = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(root)) {
    const std::string extension = file.path().extension().string();
    if (extension != ".pt" && extension != ".npz" && extension != ".pth") continue;
    const ByteSourcePtr source = open_file(file.path().string()).value();
    if (source->size() < 4 || read_range(*source, 0, 4) != "PK\3\4") continue;
    SCOPED_TRACE(file.path().string());
    const Result<ZipReaderPtr> zip = ZipReader::open(source, {});
    ASSERT_TRUE(zip) << zip.error();
    ++archives;
    for (std::uint32_t i = 0; i < (*zip)->entries().size(); ++i) {
      const ZipEntry& entry = (*zip)->entries()[i];
      const Result<std::uint64_t> offset = (*zip)->data_offset(i);
      ASSERT_TRUE(offset) << offset.error();
      const Result<Bytes> bytes = (*zip)->read(i, no_limit);
      ASSERT_TRUE(bytes) << bytes.error();
      ASSERT_EQ((*zip)->data_offset(i, 0).value(), *offset);
      if (!entry.is_stored()) continue;
      const auto size = static_cast<std::size_t>(entry.bytes);
      EXPECT_EQ(read_range(*(*zip)->checked_source(), *offset, size), bytes->text());
    }
  }
  EXPECT_GT(archives, 20u);
}

TEST(ZipReader, ReadsTheFirstBytesOfEntries) {
  const std::string large = noise(100'000);
  std::vector<ZipItem> items;
  for (const bool deflate : {false, true}) {
    items.push_back(
        {.name = "large" + std::to_string(deflate), .content = large, .deflate = deflate});
    items.push_back(
        {.name = "small" + std::to_string(deflate), .content = "text", .deflate = deflate});
    items.push_back({.name = "none" + std::to_string(deflate), .deflate = deflate});
  }
  items.push_back(torch_item("padded", large, 4096));
  const auto source = counting(zip_file(items));
  const ZipReaderPtr zip = ZipReader::open(source, {}).value();
  for (const std::size_t count : {0u, 1u, 256u, 70'000u, 200'000u}) {
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      EXPECT_EQ(zip->read_head(i, count).value().text(), items[i].content.substr(0, count))
          << items[i].name;
    }
  }
  const std::uint64_t reads = source->reads();
  EXPECT_TRUE(zip->read_head(0, 256));
  EXPECT_EQ(source->reads(), reads + 1);
}

TEST(ZipReader, NamesThatDifferInCaseAreOneOrTwoAsTheCallerSays) {
  const std::string file = zip_file({{.name = "w", .content = "1"},
                                     {.name = "W", .content = "2"},
                                     {.name = "x", .content = "3"}});
  EXPECT_FALSE(ZipReader::open(source_of(file), {}));
  const ZipReaderPtr zip = ZipReader::open(source_of(file), {}, ZipNames::exact).value();
  EXPECT_EQ(content(zip, "w"), "1");
  EXPECT_EQ(content(zip, "W"), "2");
  EXPECT_EQ(zip->find("X"), std::nullopt);
  const std::string twice = zip_file({{.name = "W"}, {.name = "a"}, {.name = "W"}});
  EXPECT_FALSE(ZipReader::open(source_of(twice), {}, ZipNames::exact));
}

}  // namespace
}  // namespace andiron::detail
