// SPDX-License-Identifier: MIT OR Apache-2.0
// Zip archives that are cut, changed or made to do harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/codec/zip/reader.h"
#include "tests/support/zip_reading.h"
#include "tests/support/zip_writing.h"

namespace andiron::detail {
namespace {

using test::Descriptor;
using test::no_limit;
using test::source_of;
using test::torch_item;
using test::zip_file;
using test::ZipItem;
using test::ZipLies;
using test::ZipTail;
using test::ZipWriting;

// "opens", or the code of the error.
std::string zip_outcome(std::string_view file, const Limits& limits = {}) {
  const Result<ZipReaderPtr> zip = ZipReader::open(source_of(file), limits);
  if (zip) return "opens";
  EXPECT_EQ(zip.error().file, "test.zip");
  EXPECT_FALSE(zip.error().message.empty());
  return std::string(code_name(zip.error().code));
}

std::string zip_outcome(const std::vector<ZipItem>& items, const ZipTail& tail = {}) {
  return zip_outcome(zip_file(items, tail));
}

std::string message(std::string_view file) {
  const Result<ZipReaderPtr> zip = ZipReader::open(source_of(file), {});
  return zip ? "opens" : zip.error().to_string();
}

// What becomes of the first entry of an archive that opens: in all ways of reading it the same.
std::string use(const ZipItem& item, const Limits& limits = {}) {
  const std::string file = zip_file({item, {.name = "next", .content = "more"}});
  const Result<ZipReaderPtr> zip = ZipReader::open(source_of(file), limits);
  if (!zip) return "does not open: " + zip.error().to_string();
  const Result<Bytes> bytes = (*zip)->read(0, no_limit);
  const ByteSourcePtr inflated = (*zip)->inflated_source(0);
  std::vector<std::byte> content(static_cast<std::size_t>(
      bytes ? inflated->size() : std::min<std::uint64_t>(1, inflated->size())));
  const Status part = inflated->read_at(0, content);
  EXPECT_TRUE((*zip)->read(1, no_limit));
  EXPECT_EQ(bytes.ok(), part.ok());
  if (bytes) return "reads";
  EXPECT_EQ(bytes.error().file, "test.zip");
  EXPECT_NE(bytes.error().message.find("'" + item.name + "'"), std::string::npos);
  return std::string(code_name(bytes.error().code));
}

TEST(ZipReader, WhatIsNoZipArchiveIsSaidSo) {
  EXPECT_EQ(zip_outcome("this is a text, not an archive"), "BadArchive");
  EXPECT_EQ(zip_outcome(std::string(100'000, '\0')), "BadArchive");
  EXPECT_EQ(zip_outcome("PK"), "Truncated");
  EXPECT_EQ(zip_outcome(""), "Truncated");
  const std::string cut = message(zip_file({{.name = "a"}}).substr(0, 40));
  EXPECT_NE(cut.find("test.zip: the zip archive is cut off: 40 bytes"), std::string::npos) << cut;
  EXPECT_NE(cut.find("the download may be incomplete"), std::string::npos) << cut;
}

TEST(ZipReader, EveryCutIsRefused) {
  for (const bool zip64 : {false, true}) {
    const std::string file = zip_file(
        {torch_item("a/data.pkl", "pickle"), {.name = "b", .content = "text", .deflate = true}},
        {.comment = zip64 ? "" : "comment", .zip64 = zip64});
    ASSERT_EQ(zip_outcome(file), "opens");
    for (std::size_t size = 0; size < file.size(); ++size) {
      EXPECT_EQ(zip_outcome(file.substr(0, size)), "Truncated") << size;
    }
  }
}

TEST(ZipReader, EveryFlippedByteGivesAnErrorOrTheSameContent) {
  const std::string texts[] = {"pickle", "text, text, text, text", "", "last"};
  std::vector<ZipItem> items = {torch_item("a/data.pkl", texts[0]),
                                {.name = "a/code", .content = texts[1], .deflate = true},
                                torch_item("a/empty", texts[2]),
                                {.name = "b", .content = texts[3], .zip64 = true}};
  for (const bool zip64 : {false, true}) {
    const std::string file = zip_file(items, {.comment = "c", .zip64 = zip64});
    for (std::size_t at = 0; at < file.size(); ++at) {
      for (const int flip : {0x01, 0x08, 0x80, 0xff}) {
        std::string changed = file;
        changed[at] = static_cast<char>(changed[at] ^ flip);
        const Result<ZipReaderPtr> zip = ZipReader::open(source_of(changed), {});
        if (!zip) continue;
        for (std::size_t i = 0; i < items.size(); ++i) {
          const auto entry = (*zip)->find(items[i].name);
          if (!entry) continue;
          const Result<Bytes> bytes = (*zip)->read(*entry, no_limit);
          EXPECT_TRUE(!bytes || bytes->text() == texts[i]) << at << " " << flip;
          // Where data lies is told, or refused; reading there is always safe.
          const Result<std::uint64_t> offset = (*zip)->data_offset(*entry);
          if (!offset) continue;
          std::string text(static_cast<std::size_t>((*zip)->entries()[*entry].bytes), '\0');
          const Status status =
              (*zip)->checked_source()->read_at(*offset, std::as_writable_bytes(std::span(text)));
          EXPECT_TRUE(!status || !bytes || text == texts[i]) << at << " " << flip;
        }
      }
    }
  }
}

TEST(ZipReader, TheEndIsWhereTheFileEnds) {
  const std::string file = zip_file({{.name = "a", .content = "text"}});
  EXPECT_EQ(zip_outcome(file + "x"), "BadArchive");
  EXPECT_EQ(zip_outcome(file + std::string(4096, '\0')), "BadArchive");
  EXPECT_NE(message(file + "xyz").find("3 more bytes"), std::string::npos);
  EXPECT_EQ(zip_outcome({{.name = "a"}}, {.comment = "cc", .comment_length = 1}), "BadArchive");
  EXPECT_EQ(zip_outcome({{.name = "a"}}, {.comment = "cc", .comment_length = 3}), "Truncated");
  // Further from the end than a comment can be long.
  EXPECT_EQ(zip_outcome({{.name = "a"}}, {.comment = std::string(70'000, 'c')}), "Truncated");
}

TEST(ZipReader, TwoEndsAreRefused) {
  const std::string other = zip_file({{.name = "other"}});
  // The second one's comment reaches to the end, too: which archive is it?
  EXPECT_EQ(zip_outcome({{.name = "a"}}, {.comment = other}), "BadArchive");
  const std::string end = other.substr(other.size() - 22);
  EXPECT_NE(message(zip_file({{.name = "a"}}, {.comment = end})).find("two end records"),
            std::string::npos);
  // A record that does not reach the end is part of the comment, or of the data.
  EXPECT_EQ(zip_outcome({{.name = "a"}}, {.comment = end + "and more"}), "opens");
  EXPECT_EQ(zip_outcome({{.name = "a", .content = other}}), "opens");
  EXPECT_EQ(zip_outcome(other + zip_file({{.name = "a"}})), "BadArchive");
}

TEST(ZipReader, TheDirectoryIsWhereItIsSaidToBe) {
  const std::vector<ZipItem> items = {{.name = "a", .content = "text"}};
  for (const bool zip64 : {false, true}) {
    EXPECT_EQ(zip_outcome(items, {.zip64 = zip64}), "opens");
    EXPECT_EQ(zip_outcome(items, {.zip64 = zip64, .before_end = "x"}), "BadArchive");
    EXPECT_EQ(zip_outcome(items, {.zip64 = zip64, .after_entries = "x"}), "BadArchive");
    EXPECT_EQ(zip_outcome("front" + zip_file(items, {.zip64 = zip64})), "BadArchive");
    EXPECT_EQ(zip_outcome(items, {.zip64 = zip64, .bytes = 0xfffffffe}), "BadArchive");
    EXPECT_EQ(zip_outcome(items, {.zip64 = zip64, .bytes = 46}), "BadArchive");
    EXPECT_EQ(zip_outcome(items, {.zip64 = zip64, .offset = 34}), "BadArchive");
    EXPECT_EQ(zip_outcome(items, {.zip64 = zip64, .offset = 36}), "BadArchive");
    EXPECT_EQ(zip_outcome(items, {.zip64 = zip64, .offset = 0xfffffffe}), "BadArchive");
  }
  // A number that is left to a record that is not there.
  EXPECT_EQ(zip_outcome(items, {.bytes = 0xffffffff}), "BadArchive");
  EXPECT_EQ(zip_outcome(items, {.offset = 0xffffffff}), "BadArchive");
  EXPECT_EQ(zip_outcome(items, {.count_here = 0xffff, .count = 0xffff}), "BadArchive");
}

TEST(ZipReader, NothingLiesInFrontOfTheArchive) {
  ZipWriting zip;
  zip.raw("#!/bin/sh\n");
  zip.add({.name = "a", .content = "text"});
  EXPECT_EQ(zip_outcome(zip.finish()), "BadArchive");
  ZipWriting empty;
  empty.raw("PK\3\4");
  EXPECT_EQ(zip_outcome(empty.finish()), "BadArchive");
}

TEST(ZipReader, TheDirectoryHoldsAsManyEntriesAsItSays) {
  const std::vector<ZipItem> items = {{.name = "a"}, {.name = "b"}};
  for (const std::uint16_t count : std::vector<std::uint16_t>{0, 1, 3, 1000}) {
    EXPECT_EQ(zip_outcome(items, {.count_here = count, .count = count}), "BadArchive") << count;
    EXPECT_EQ(
        zip_outcome(items,
                    {.zip64 = true, .count_here = 0xffff, .count = 0xffff, .zip64_count = count}),
        "BadArchive")
        << count;
  }
  EXPECT_EQ(
      zip_outcome(
          items,
          {.zip64 = true, .count_here = 0xffff, .count = 0xffff, .zip64_count = ~std::uint64_t{0}}),
      "BadArchive");
  EXPECT_EQ(zip_outcome(zip_file(items), {.zip_entries = 2}), "opens");
  EXPECT_EQ(zip_outcome(zip_file(items), {.zip_entries = 1}), "LimitExceeded");
}

TEST(ZipReader, BothEndRecordsAgree) {
  const std::vector<ZipItem> items = {{.name = "a", .content = "text"}};
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .count = 2}), "BadArchive");
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .count_here = 2}), "BadArchive");
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .zip64_count = 2}), "BadArchive");
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .zip64_bytes = 46}), "BadArchive");
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .zip64_offset = 34}), "BadArchive");
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .bytes = 0xffffffff, .zip64_bytes = huge}),
            "BadArchive");
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .offset = 0xffffffff, .zip64_offset = huge}),
            "BadArchive");
  EXPECT_EQ(zip_outcome(items, {.zip64 = true,
                                .bytes = 0xffffffff,
                                .offset = 0xffffffff,
                                .zip64_bytes = 100,
                                .zip64_offset = huge - 10}),
            "BadArchive");
}

TEST(ZipReader, TheZip64RecordIsWhereItsLocatorPoints) {
  const std::vector<ZipItem> items = {{.name = "a", .content = "text"}};
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .zip64_signature = 0x06064b51}), "BadArchive");
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .zip64_record_bytes = 43}), "BadArchive");
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .zip64_record_bytes = 45}), "BadArchive");
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .zip64_record_bytes = ~std::uint64_t{0}}),
            "BadArchive");
  for (const std::uint64_t offset :
       {std::uint64_t{0}, std::uint64_t{81}, std::uint64_t{83}, std::uint64_t{200},
        std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    EXPECT_EQ(zip_outcome(items, {.zip64 = true, .locator_offset = offset}), "BadArchive")
        << offset;
  }
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .locator_offset = 82}), "opens");
}

TEST(ZipReader, SeveralDisksAreUnsupported) {
  const std::vector<ZipItem> items = {{.name = "a", .content = "text"}};
  EXPECT_EQ(zip_outcome(items, {.disk = 1}), "Unsupported");
  EXPECT_EQ(zip_outcome(items, {.directory_disk = 1}), "Unsupported");
  EXPECT_EQ(zip_outcome(items, {.count_here = 0}), "Unsupported");
  EXPECT_EQ(zip_outcome(items,
                        {.zip64 = true, .disk = 0xffff, .directory_disk = 0xffff, .zip64_disk = 1}),
            "Unsupported");
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .locator_disk = 1}), "Unsupported");
  EXPECT_EQ(zip_outcome(items, {.zip64 = true, .locator_disks = 2}), "Unsupported");
  EXPECT_EQ(zip_outcome({{.name = "a", .directory = {.disk = 1}}}), "Unsupported");
  EXPECT_EQ(zip_outcome({{.name = "a", .directory = {.disk = 0xffff}}}), "Unsupported");
}

TEST(ZipReader, ADamagedDirectoryIsRefused) {
  const auto with = [](const ZipLies& lies) {
    return zip_outcome({{.name = "first"}, {.name = "a", .content = "text", .directory = lies}});
  };
  EXPECT_EQ(with({}), "opens");
  EXPECT_EQ(with({.signature = 0x02014b51}), "BadArchive");
  EXPECT_EQ(with({.name_length = 2}), "BadArchive");
  EXPECT_EQ(with({.extra_length = 1}), "BadArchive");
  EXPECT_EQ(with({.extra_length = 0xffff}), "BadArchive");
  EXPECT_EQ(with({.comment_length = 1}), "BadArchive");
  EXPECT_EQ(with({.name_length = 0}), "BadArchive");
  EXPECT_EQ(with({.stored_bytes = 3}), "BadArchive");
  EXPECT_EQ(with({.bytes = 5}), "BadArchive");
}

TEST(ZipReader, ExtraFieldsStayWithinTheirBounds) {
  const auto with = [](const ZipLies& lies) {
    return zip_outcome({{.name = "a", .content = "text", .directory = lies}});
  };
  const std::string four = test::little_endian(std::uint64_t{4});
  const std::string zip64 = test::extra_field(1, four);
  EXPECT_EQ(with({.bytes = 0xffffffff, .extra = zip64}), "opens");
  EXPECT_EQ(with({.bytes = 0xffffffff}), "BadArchive");
  EXPECT_EQ(with({.bytes = 0xffffffff, .extra = test::extra_field(2, four)}), "BadArchive");
  EXPECT_EQ(with({.bytes = 0xffffffff, .extra = test::extra_field(1, "1234567")}), "BadArchive");
  EXPECT_EQ(with({.stored_bytes = 0xffffffff, .bytes = 0xffffffff, .extra = zip64}), "BadArchive");
  EXPECT_EQ(with({.header_offset = 0xffffffff}), "BadArchive");
  EXPECT_EQ(with({.extra = std::string("\5\0\2\0x", 5)}), "BadArchive");
  EXPECT_EQ(with({.extra = zip64.substr(0, 11)}), "BadArchive");
  EXPECT_EQ(with({.bytes = 0xffffffff, .extra = zip64 + zip64}), "BadArchive");
  EXPECT_EQ(with({.extra = test::extra_field(1, std::string(4, '\0')), .disk = 0xffff}), "opens");
}

TEST(ZipReader, EntriesLieApart) {
  const std::string text(100, 'x');
  const auto at = [&](std::uint32_t offset) {
    return zip_outcome({{.name = "a", .content = text},
                        {.name = "b", .content = text},
                        {.name = "c", .content = text, .directory = {.header_offset = offset}}});
  };
  EXPECT_EQ(at(262), "opens");
  for (const std::uint32_t offset : {0u, 1u, 130u, 131u, 132u, 261u, 263u, 393u, 1'000'000u}) {
    EXPECT_EQ(at(offset), "BadArchive") << offset;
  }
  const auto sized = [&](std::uint32_t bytes) {
    return zip_outcome(
        {{.name = "a", .content = text, .directory = {.stored_bytes = bytes, .bytes = bytes}},
         {.name = "b"}});
  };
  EXPECT_EQ(sized(100), "opens");
  EXPECT_EQ(sized(101), "BadArchive");
  EXPECT_EQ(sized(0xfffffffe), "BadArchive");
}

TEST(ZipReader, SizesNearTheLargestNumberDoNotWrap) {
  const auto with = [](std::uint64_t bytes, std::uint64_t stored_bytes, std::uint64_t offset) {
    const std::string zip64 = test::little_endian(bytes, stored_bytes, offset);
    return zip_outcome({{.name = "a"},
                        {.name = "b",
                         .content = "text",
                         .directory = {.stored_bytes = 0xffffffff,
                                       .bytes = 0xffffffff,
                                       .extra = test::extra_field(1, zip64),
                                       .header_offset = 0xffffffff}}});
  };
  EXPECT_EQ(with(4, 4, 31), "opens");
  const std::uint64_t huge = ~std::uint64_t{0};
  for (std::uint64_t less = 0; less < 70; ++less) {
    EXPECT_EQ(with(huge - less, huge - less, 31), "BadArchive");
    EXPECT_EQ(with(4, 4, huge - less), "BadArchive");
    EXPECT_EQ(with(huge - less, huge - less, huge - less), "BadArchive");
  }
}

TEST(ZipReader, BadNamesAreRefused) {
  for (const std::string& name :
       {std::string(), std::string("a\0b", 3), std::string("a\\b"), std::string("/a"),
        std::string("c:a"), std::string("C:/a"), std::string(".."), std::string("../a"),
        std::string("a/../b"), std::string("a/..")}) {
    EXPECT_EQ(zip_outcome({{.name = name}}), "BadArchive") << name;
  }
  for (const char* name : {"a/..b", "a../b", "...", ".", "./a", ".data/x", "1:a", "ab:c"}) {
    EXPECT_EQ(zip_outcome({{.name = name}}), "opens") << name;
  }
  const std::string shown = message(zip_file({{.name = "a\\\x1b[31m"}}));
  EXPECT_NE(shown.find("'a\\\\x1b[31m' has a name that contains a backslash"), std::string::npos)
      << shown;
}

TEST(ZipReader, NamesThatDifferInCaseAloneAreRefused) {
  EXPECT_EQ(zip_outcome({{.name = "a/data.pkl"}, {.name = "b"}, {.name = "a/data.pkl"}}),
            "BadArchive");
  EXPECT_EQ(zip_outcome({{.name = "a/data.pkl"}, {.name = "b"}, {.name = "A/data.PKL"}}),
            "BadArchive");
  EXPECT_EQ(zip_outcome({{.name = "A/DATA.pkl"}, {.name = "b"}, {.name = "a/data.pkl"}}),
            "BadArchive");
  EXPECT_EQ(zip_outcome({{.name = "A/X"}, {.name = "B/X"}, {.name = "a/y"}}), "opens");
  // Only ASCII letters are compared so.
  EXPECT_EQ(zip_outcome({{.name = "\xc3\x84"}, {.name = "\xc3\xa4"}, {.name = "@"}, {.name = "`"}}),
            "opens");
}

TEST(ZipReader, LocalHeadersAgreeWithTheDirectory) {
  const auto with = [](const ZipLies& lies) {
    return use({.name = "a", .content = "text", .local = lies});
  };
  EXPECT_EQ(with({}), "reads");
  EXPECT_EQ(with({.version = 99}), "reads");
  EXPECT_EQ(with({.signature = 0x04034b51}), "BadArchive");
  EXPECT_EQ(with({.name = "b"}), "BadArchive");
  EXPECT_EQ(with({.name_length = 2}), "BadArchive");
  EXPECT_EQ(with({.name_length = 0xffff}), "BadArchive");
  EXPECT_EQ(with({.method = 8}), "BadArchive");
  EXPECT_EQ(with({.flags = 0x0001}), "BadArchive");
  EXPECT_EQ(with({.flags = 0x0800}), "BadArchive");
  EXPECT_EQ(with({.flags = 0x0008}), "reads");
  EXPECT_EQ(with({.crc = 1}), "BadArchive");
  EXPECT_EQ(with({.crc = 0}), "BadArchive");
  EXPECT_EQ(with({.flags = 0x0008, .crc = 0, .stored_bytes = 0, .bytes = 0}), "reads");
  EXPECT_EQ(with({.stored_bytes = 0}), "BadArchive");
  EXPECT_EQ(with({.bytes = 0}), "BadArchive");
  EXPECT_EQ(with({.bytes = 5}), "BadArchive");
  EXPECT_EQ(with({.flags = 0x0008, .bytes = 5}), "BadArchive");
  EXPECT_EQ(with({.extra_length = 1}), "BadArchive");
  EXPECT_EQ(with({.extra_length = 0xffff}), "BadArchive");
}

TEST(ZipReader, TheZip64FieldOfALocalHeaderAgreesToo) {
  const auto with = [](std::uint16_t flags, std::uint64_t bytes, std::uint64_t stored_bytes) {
    const std::string zip64 = test::extra_field(1, test::little_endian(bytes, stored_bytes));
    return use(
        {.name = "a",
         .content = "text",
         .local = {
             .flags = flags, .stored_bytes = 0xffffffff, .bytes = 0xffffffff, .extra = zip64}});
  };
  EXPECT_EQ(with(0, 4, 4), "reads");
  EXPECT_EQ(with(8, 0, 0), "reads");
  EXPECT_EQ(with(8, 4, 0), "reads");
  EXPECT_EQ(with(0, 0, 0), "BadArchive");
  EXPECT_EQ(with(0, 5, 4), "BadArchive");
  EXPECT_EQ(with(0, 4, 5), "BadArchive");
  EXPECT_EQ(with(0, ~std::uint64_t{0}, 4), "BadArchive");
  EXPECT_EQ(use({.name = "a", .content = "text", .local = {.bytes = 0xffffffff}}), "BadArchive");
  EXPECT_EQ(use({.name = "a",
                 .content = "text",
                 .local = {.bytes = 0xffffffff, .extra = std::string("\1\0\7\0abc", 7)}}),
            "BadArchive");
}

TEST(ZipReader, DataThatIsNotWhereTheDirectoryToldIsRefused) {
  // By the directory the data begins at 64; the local header has it elsewhere.
  ZipItem item = torch_item("name", "0123456789012345678901234567890123456789");
  const std::string right = zip_file({item});
  item.local.extra_length = 26;
  const std::string wrong = zip_file({item});
  EXPECT_EQ(right.size(), wrong.size());
  std::string text(40, '\0');
  const auto out = std::as_writable_bytes(std::span(text));
  const ZipReaderPtr good = ZipReader::open(source_of(right), {}).value();
  EXPECT_EQ(good->data_offset(0).value(), 64u);
  EXPECT_TRUE(good->checked_source()->read_at(64, out));
  const ZipReaderPtr zip = ZipReader::open(source_of(wrong), {}).value();
  EXPECT_EQ(zip->data_offset(0).value(), 64u);
  EXPECT_EQ(zip->checked_source()->read_at(64, out).error().code, ErrorCode::bad_archive);
  EXPECT_EQ(zip->checked_source()->view(64, 4).error().code, ErrorCode::bad_archive);
  EXPECT_EQ(zip->read(0, no_limit).error().code, ErrorCode::bad_archive);
}

TEST(ZipReader, OneBadHeaderLeavesTheOtherEntriesReadable) {
  const ZipReaderPtr zip =
      ZipReader::open(source_of(zip_file({{.name = "a", .content = "text", .local = {.name = "z"}},
                                          {.name = "b", .content = "more"}})),
                      {})
          .value();
  EXPECT_FALSE(zip->data_offset(0));
  EXPECT_FALSE(zip->read(0, no_limit));
  EXPECT_EQ(zip->read(1, no_limit).value().text(), "more");
}

TEST(ZipReader, EncryptedAndPatchedEntriesAreUnsupported) {
  for (const std::uint16_t flag : std::vector<std::uint16_t>{0x0001, 0x0020, 0x0040, 0x2000}) {
    const ZipItem item{.name = "a", .content = "text", .flags = flag};
    EXPECT_EQ(use(item), "Unsupported") << flag;
    const ZipReaderPtr zip = ZipReader::open(source_of(zip_file({item})), {}).value();
    EXPECT_EQ(zip->data_offset(0).error().code, ErrorCode::unsupported);
    std::byte out{};
    EXPECT_EQ(zip->checked_source()->read_at(31, std::span(&out, 1)).error().code,
              ErrorCode::unsupported);
  }
  // Encryption adds bytes.
  EXPECT_EQ(use({.name = "a", .content = "text", .flags = 1, .stored = std::string(16, 'e')}),
            "Unsupported");
}

TEST(ZipReader, OtherMethodsAreUnsupportedByName) {
  const ZipItem item{.name = "a",
                     .content = "text",
                     .stored = "tx",
                     .local = {.method = 93},
                     .directory = {.method = 93}};
  EXPECT_EQ(use(item), "Unsupported");
  const ZipReaderPtr zip = ZipReader::open(source_of(zip_file({item})), {}).value();
  const std::string said = zip->data_offset(0).error().to_string();
  EXPECT_NE(said.find("'a' is compressed with method 93 (Zstandard)"), std::string::npos) << said;
}

TEST(ZipReader, WrongChecksumsAreSeen) {
  for (const bool deflate : {false, true}) {
    EXPECT_EQ(use({.name = "a",
                   .content = "text",
                   .deflate = deflate,
                   .descriptor = Descriptor::signed32,
                   .directory = {.crc = 1}}),
              "ChecksumMismatch");
  }
  ZipItem damaged{.name = "a", .content = "text"};
  damaged.stored = "tExt";
  EXPECT_EQ(use(damaged), "ChecksumMismatch");
}

TEST(ZipReader, DeflatedDataInflatesToWhatWasSaid) {
  const std::string text(1000, 't');
  const auto with = [&](std::uint32_t bytes, std::string stored) {
    const ZipLies lies{.crc = 0, .bytes = bytes};
    return use({.name = "a",
                .content = text,
                .deflate = true,
                .stored = std::move(stored),
                .local = lies,
                .directory = lies});
  };
  const std::string stored = test::deflated(text);
  EXPECT_EQ(with(1000, stored), "reads");
  EXPECT_EQ(with(999, stored), "BadArchive");
  EXPECT_EQ(with(1001, stored), "BadArchive");
  EXPECT_EQ(with(0, stored), "BadArchive");
  EXPECT_EQ(with(1000, stored + "x"), "BadArchive");
  EXPECT_EQ(with(1000, stored.substr(0, stored.size() - 1)), "BadArchive");
  EXPECT_EQ(with(1000, "\xff\xff\xff\xff"), "BadArchive");
  EXPECT_EQ(with(0, ""), "BadArchive");
  EXPECT_EQ(with(0, test::deflated("")), "reads");
}

TEST(ZipReader, MoreThanDeflateCanMakeIsRefusedBeforeAllocating) {
  const std::string zip64 = test::little_endian(std::uint64_t{1} << 60);
  const ZipLies lies{.bytes = 0xffffffff, .extra = test::extra_field(1, zip64)};
  const ZipItem item{.name = "a",
                     .content = "text",
                     .deflate = true,
                     .descriptor = Descriptor::signed64,
                     .directory = lies};
  EXPECT_EQ(use(item), "BadArchive");
  EXPECT_EQ(use(item, {.inflated_bytes = no_limit}), "BadArchive");
  const ZipReaderPtr zip = ZipReader::open(source_of(zip_file({item})), {}).value();
  std::byte out{};
  EXPECT_EQ(zip->inflated_source(0)->read_at(0, std::span(&out, 1)).error().code,
            ErrorCode::limit_exceeded);
}

TEST(ZipReader, ContentBeyondTheLimitIsRefused) {
  const std::string bomb(10'000'000, '\0');
  const std::string file =
      zip_file({{.name = "a", .content = bomb, .deflate = true}, {.name = "b", .content = "text"}});
  EXPECT_LT(file.size(), 20'000u);
  const ZipReaderPtr zip = ZipReader::open(source_of(file), {.inflated_bytes = 9'999'999}).value();
  const Result<Bytes> refused = zip->read(0, 9'999'999);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
  EXPECT_TRUE(zip->read(0, 10'000'000));
  EXPECT_EQ(zip->read(1, 3).error().code, ErrorCode::limit_exceeded);
  EXPECT_TRUE(zip->read(1, 4));
  std::byte out{};
  EXPECT_EQ(zip->inflated_source(0)->read_at(0, std::span(&out, 1)).error().code,
            ErrorCode::limit_exceeded);
  EXPECT_TRUE(ZipReader::open(source_of(file), {.inflated_bytes = 10'000'000})
                  .value()
                  ->inflated_source(0)
                  ->read_at(0, std::span(&out, 1)));
}

}  // namespace
}  // namespace andiron::detail
