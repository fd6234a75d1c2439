// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/codec/tar_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "andiron/file.h"
#include "tests/support/fixtures.h"
#include "tests/support/tar_writing.h"
#include "tests/support/zip_writing.h"

namespace andiron::detail {
namespace {

using test::pax_record;
using test::tar_file;
using test::tar_item;
using test::TarItem;

Result<std::vector<TarMember>> read(std::string_view file, const Limits& limits = {}) {
  return read_tar(*test::source_of(file, "old.tar"), limits);
}

std::string outcome(std::string_view file, const Limits& limits = {}) {
  const Result<std::vector<TarMember>> members = read(file, limits);
  if (members) return "reads";
  EXPECT_EQ(members.error().file, "old.tar");
  return std::string(code_name(members.error().code));
}

std::string outcome(const std::vector<TarItem>& items) { return outcome(tar_file(items)); }

// Names and content, "a=x b=y".
std::string listing(const std::string& file) {
  std::string text;
  for (const TarMember& member : read(file).value()) {
    if (!text.empty()) text += ' ';
    text += member.name + "=" +
            file.substr(static_cast<std::size_t>(member.offset),
                        static_cast<std::size_t>(member.bytes));
  }
  return text;
}

TEST(TarReader, ListsTheFilesOfAnArchive) {
  const std::string file = tar_file({{.name = "sys_info", .content = "1"},
                                     {.name = "./", .type = '5'},
                                     {.name = "./pickle", .content = std::string(512, 'p')},
                                     {.name = "tensors", .content = ""},
                                     {.name = "storages", .content = "s", .magic = "ustar  "},
                                     {.name = "old/", .type = '\0', .magic = ""},
                                     {.name = "old/a", .content = "o", .type = '\0', .magic = ""},
                                     {.name = "c", .content = "7", .type = '7'},
                                     {.name = "b", .content = "x", .prefix = "folder"}});
  EXPECT_EQ(listing(file), "sys_info=1 pickle=" + std::string(512, 'p') +
                               " tensors= storages=s old/a=o c=7 folder/b=x");
  EXPECT_EQ(listing(tar_file({})), "");
  EXPECT_EQ(listing(tar_file({{.name = "a", .content = "x"}}) + std::string(9000, '\0')), "a=x");
}

TEST(TarReader, KnowsATarArchiveByItsHead) {
  EXPECT_TRUE(is_tar(tar_file({{.name = "anything"}})));
  EXPECT_TRUE(is_tar(tar_file({{.name = "anything", .magic = "ustar  "}})));
  EXPECT_TRUE(is_tar(tar_file({{.name = "sys_info", .magic = ""}})));
  EXPECT_TRUE(is_tar(tar_file({{.name = "./storages", .magic = ""}})));
  EXPECT_FALSE(is_tar(tar_file({{.name = "anything", .magic = ""}})));
  EXPECT_FALSE(is_tar(tar_file({{.name = "sys_info", .magic = "", .checksum = 1}})));
  EXPECT_FALSE(is_tar(tar_file({{.name = "sys_info"}}).substr(0, 511)));
  EXPECT_FALSE(is_tar(std::string(512, '\0')));
  EXPECT_FALSE(is_tar(""));
}

TEST(TarReader, SizesAreOctalOrOfBase256) {
  const auto with = [](const std::string& size) {
    return outcome({{.name = "a", .content = "text", .size = size}});
  };
  EXPECT_EQ(with("4"), "reads");
  EXPECT_EQ(with("   4 "), "reads");
  EXPECT_EQ(with("000000000004"), "reads");
  const std::string binary = "\x80" + std::string(10, '\0') + "\4";
  EXPECT_EQ(with(binary), "reads");
  EXPECT_EQ(read(tar_file({{.name = "a", .content = "text", .size = binary}})).value()[0].bytes,
            4u);
  EXPECT_EQ(with("8"), "BadArchive");
  EXPECT_EQ(with("-1"), "BadArchive");
  EXPECT_EQ(with("    "), "BadArchive");
  EXPECT_EQ(with(std::string(12, '\xff')), "BadArchive");
  EXPECT_EQ(with("\x80" + std::string(2, '\0') + std::string(9, '\xff')), "BadArchive");
  EXPECT_EQ(with("\x80" + std::string(3, '\0') + std::string(8, '\xff')), "Truncated");
  EXPECT_EQ(with("777777777777"), "Truncated");
}

TEST(TarReader, ExtendedHeadersTellNameAndSize) {
  const std::string longest(300, 'n');
  EXPECT_EQ(listing(tar_file({{.name = "x",
                               .content = pax_record("path", "./" + longest) +
                                          pax_record("mtime", "1.5") + pax_record("size", "2"),
                               .type = 'x'},
                              {.name = "a", .content = "xy", .size = "0"},
                              {.name = "b", .content = "z"}})),
            longest + "=xy b=z");
  EXPECT_EQ(
      listing(tar_file(
          {{.name = "././@LongLink", .content = longest + '\0', .type = 'L', .magic = "ustar  "},
           {.name = "a", .content = "x", .magic = "ustar  "},
           {.name = "b", .content = "z"}})),
      longest + "=x b=z");
  EXPECT_EQ(listing(tar_file({{.name = "g", .content = pax_record("comment", "c"), .type = 'g'},
                              {.name = "a", .content = "x"}})),
            "a=x");
}

TEST(TarReader, DamagedExtendedHeadersAreRefused) {
  const auto with = [](const std::string& records, char type = 'x') {
    return outcome({{.name = "x", .content = records, .type = type}, {.name = "a"}});
  };
  EXPECT_EQ(with(pax_record("path", "b")), "reads");
  for (const char* records : {"x", "5", "5 ", "99 path=b\n", "3 path=b\n", "0 \n", "9 path=b\n\n",
                              "10 path=bc", "8 path\n\n", "10000000000000000000000 a=b\n"}) {
    EXPECT_EQ(with(records), "BadArchive") << records;
  }
  EXPECT_EQ(with(pax_record("size", "-1")), "BadArchive");
  EXPECT_EQ(with(pax_record("size", "18446744073709551615")), "Truncated");
  EXPECT_EQ(with(pax_record("path", "../a")), "BadArchive");
  EXPECT_EQ(with(pax_record("path", "b"), 'g'), "BadArchive");
  EXPECT_EQ(with(pax_record("size", "0"), 'g'), "BadArchive");
  EXPECT_EQ(with(pax_record("GNU.sparse.major", "1")), "BadArchive");
  EXPECT_EQ(outcome({{.name = "x", .content = pax_record("path", "b"), .type = 'x'}}),
            "BadArchive");
}

TEST(TarReader, HeadersTakeNoMoreThanAllowed) {
  const std::string names =
      tar_file({{.name = "l", .content = std::string(100, 'n'), .type = 'L'}, {.name = "a"}});
  EXPECT_EQ(outcome(names, {.name_bytes = 100}), "reads");
  EXPECT_EQ(outcome(names, {.name_bytes = 99}), "LimitExceeded");
  const std::string records =
      tar_file({{.name = "x", .content = pax_record("a", std::string(92, 'v')), .type = 'x'},
                {.name = "a"}});
  EXPECT_EQ(outcome(records, {.metadata_bytes = 98}), "reads");
  EXPECT_EQ(outcome(records, {.metadata_bytes = 97}), "LimitExceeded");
  const std::string two = tar_file({{.name = "a"}, {.name = "b"}});
  EXPECT_EQ(outcome(two, {.zip_entries = 2}), "reads");
  EXPECT_EQ(outcome(two, {.zip_entries = 1}), "LimitExceeded");
}

TEST(TarReader, OnlyPlainFilesAndFoldersAreRead) {
  for (const char type : {'1', '2', '3', '4', '6', 'S', 'K', 'D', 'M', 'V', '?'}) {
    EXPECT_EQ(outcome({{.name = "a", .type = type}}), "BadArchive") << type;
  }
  EXPECT_EQ(outcome({{.name = "a/", .type = '5', .size = "1"}}), "BadArchive");
}

TEST(TarReader, BadNamesAreRefused) {
  for (const char* name : {"", "/a", "../a", "a/../b", "./../a", "a\\b", "c:a", "./"}) {
    EXPECT_EQ(outcome({{.name = name}}), "BadArchive") << name;
  }
  EXPECT_EQ(outcome({{.name = "a"}, {.name = "b"}, {.name = "./a"}}), "BadArchive");
}

TEST(TarReader, WrongChecksumsAreSeen) {
  EXPECT_EQ(outcome({{.name = "a", .checksum = 1}}), "BadArchive");
  const std::string file = tar_file({{.name = "a", .content = "text"}});
  for (std::size_t at = 0; at < 512; ++at) {
    std::string changed = file;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const Result<std::vector<TarMember>> members = read(changed);
    if (!members) continue;
    // Spaces and zeros around the digits of the checksum do not count.
    EXPECT_TRUE(at >= 148 && at < 156) << at;
    EXPECT_EQ(members->at(0).name, "a");
  }
}

TEST(TarReader, BytesMayHaveBeenSummedWithASign) {
  std::string file = tar_file({{.name = "\xfc", .content = "text"}});
  int sum = 0;
  file.replace(148, 8, "        ");
  for (std::size_t i = 0; i < 512; ++i) sum += static_cast<signed char>(file[i]);
  file = tar_file({{.name = "\xfc", .content = "text", .checksum = static_cast<unsigned>(sum)}});
  EXPECT_EQ(outcome(file), "reads");
}

TEST(TarReader, EveryCutBeforeTheEndIsTruncated) {
  const std::string file = tar_file({{.name = "a", .content = std::string(600, 'x')},
                                     {.name = "x", .content = pax_record("path", "c"), .type = 'x'},
                                     {.name = "b", .content = "text"}});
  const std::size_t end = file.size() - 512;  // one empty block is enough
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_EQ(outcome(std::string_view(file).substr(0, size)), size < end ? "Truncated" : "reads")
        << size;
  }
}

TEST(TarReader, ReadsTheArchivesOfOthers) {
  std::size_t archives = 0;
  for (const std::filesystem::path& folder : test::fixture_folders()) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
      if (file.path().extension() != ".tar") continue;
      SCOPED_TRACE(file.path().string());
      const ByteSourcePtr source = open_file(file.path().string()).value();
      const Bytes head = source->view(0, tar_block_bytes).value();
      EXPECT_TRUE(is_tar(head.text()));
      const Result<std::vector<TarMember>> members = read_tar(*source, {});
      ASSERT_TRUE(members) << members.error();
      EXPECT_GE(members->size(), 3u);
      EXPECT_EQ(members->at(0).name, "sys_info");
      ++archives;
    }
  }
  EXPECT_GT(archives, 5u);
}

}  // namespace
}  // namespace andiron::detail
