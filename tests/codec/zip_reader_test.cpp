// SPDX-License-Identifier: MIT OR Apache-2.0
// Zip archives as PyTorch, Python and others write them.
#include "src/codec/zip/reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "andiron/file.h"
#include "tests/support/fixtures.h"
#include "tests/support/noise.h"
#include "tests/support/test_source.h"
#include "tests/support/zip_reading.h"
#include "tests/support/zip_writing.h"

namespace andiron::detail {
namespace {

using test::content;
using test::Descriptor;
using test::no_limit;
using test::noise;
using test::open_zip;
using test::read_range;
using test::source_of;
using test::TestSource;
using test::torch_item;
using test::zip_file;
using test::ZipItem;
using test::ZipWriting;

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
    const auto source = std::make_shared<TestSource>(zip.finish({.zip64 = true}));
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
  const auto source = std::make_shared<TestSource>(zip.finish());
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

TEST(ZipReader, AMillionEntriesOpen) {
  constexpr std::uint32_t count = 1'000'000;
  ZipWriting writing;
  for (std::uint32_t i = 0; i < count; ++i) {
    char name[16];
    std::snprintf(name, sizeof name, "a/%08u", i);
    writing.add({.name = name});
  }
  const std::uint64_t offset = writing.size();
  const std::string file = writing.finish();
  const ZipReaderPtr zip = open_zip(file);
  EXPECT_EQ(zip->entries().size(), count);
  EXPECT_EQ(zip->find("a/00999999"), 999'999u);
  EXPECT_EQ(zip->data_offset(999'999).value(), offset);
  const Result<ZipReaderPtr> refused = ZipReader::open(source_of(file), {.zip_entries = 999'999});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
}

TEST(ZipReader, ErrorsOfTheSourceArePassedOn) {
  const auto source = std::make_shared<TestSource>(zip_file({torch_item("a", noise(10'000))}));
  const ZipReaderPtr zip = ZipReader::open(source, {}).value();
  const std::uint64_t offset = zip->data_offset(0).value();
  source->fail_reads_past(5000);
  EXPECT_EQ(zip->read(0, no_limit).error().code, ErrorCode::io);
  std::vector<std::byte> out(10'000);
  EXPECT_EQ(zip->checked_source()->read_at(offset, out).error().code, ErrorCode::io);
  source->fail_reads_past(10);
  EXPECT_EQ(ZipReader::open(source, {}).error().code, ErrorCode::io);
  const ZipReaderPtr again =
      ZipReader::open(std::make_shared<TestSource>(zip_file({torch_item("a", "a")})), {}).value();
  EXPECT_TRUE(again->data_offset(0));
}

TEST(ZipReader, ReadsTheArchivesOfOthers) {
  std::size_t archives = 0;
  for (const std::filesystem::path& folder : test::fixture_folders()) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
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
  const auto source = std::make_shared<TestSource>(zip_file(items));
  const ZipReaderPtr zip = ZipReader::open(source, {}).value();
  MemoryBudget budget(source->size(), {.memory_bytes = 1 << 20}, "");
  ZipHeadMemory memory(budget);
  for (const std::size_t count : {200'000u, 0u, 1u, 256u, 70'000u}) {
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      const auto head = zip->read_head(i, count, memory).value();
      const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
      EXPECT_EQ(text, items[i].content.substr(0, count)) << items[i].name;
    }
  }
  const std::uint64_t reads = source->reads();
  EXPECT_TRUE(zip->read_head(0, 256, memory));
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
