// SPDX-License-Identifier: MIT OR Apache-2.0
// Names of entries, and runs of them.
#include "src/codec/zip/directory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/codec/zip/reader.h"
#include "tests/support/zip_reading.h"
#include "tests/support/zip_writing.h"

namespace andiron::detail {
namespace {

using test::open_zip;
using test::source_of;
using test::zip_file;
using test::ZipItem;

std::string archive_of(const std::vector<std::string>& names) {
  std::vector<ZipItem> items;
  for (const std::string& name : names)
    items.push_back({.name = name, .content = "<" + name + ">"});
  return zip_file(items);
}

TEST(ZipDirectory, FindsNamesExactly) {
  const ZipReaderPtr zip = open_zip(zip_file({{.name = "a/Data.PKL"}, {.name = "a/data/1"}}));
  EXPECT_EQ(zip->find("a/Data.PKL"), 0u);
  EXPECT_EQ(zip->find("a/data/1"), 1u);
  EXPECT_EQ(zip->find("a/data.pkl"), std::nullopt);
  EXPECT_EQ(zip->find("A/DATA/1"), std::nullopt);
  EXPECT_EQ(zip->find("a/data/2"), std::nullopt);
  EXPECT_EQ(zip->find(""), std::nullopt);
}

TEST(ZipDirectory, RecordsThatAreNumberedInARowAreFoundByNumber) {
  std::vector<std::string> names = {"a/data.pkl"};
  for (int i = 8; i < 103; ++i) names.push_back("a/data/" + std::to_string(i));
  names.insert(names.end(), {"a/data/x/103", "a/version"});
  const ZipReaderPtr zip = open_zip(archive_of(names));
  const ZipRun& run = zip->run();
  EXPECT_EQ(run.folder, "a/data/");
  EXPECT_EQ(run.size(), 95u);
  EXPECT_EQ(run.first_number, 8u);
  EXPECT_EQ(run.find_number("8"), 1u);
  EXPECT_EQ(run.find_number("102"), 95u);
  for (const char* other : {"7", "103", "", "08", "+8", "8 ", "x", "-8", "18446744073709551616"}) {
    EXPECT_EQ(run.find_number(other), std::nullopt) << other;
  }
  for (std::uint32_t i = 0; i < names.size(); ++i) EXPECT_EQ(zip->find(names[i]), i);
}

TEST(ZipDirectory, TheLongestRunCounts) {
  const ZipReaderPtr zip = open_zip(
      archive_of({"a/constants/0", "a/constants/1", "a9/8", "a9/9", "a9/10", "a9/11", "a/data/0"}));
  EXPECT_EQ(zip->run().folder, "a9/");
  EXPECT_EQ(zip->run().size(), 4u);
  EXPECT_EQ(zip->run().find_number("10"), 4u);
  EXPECT_EQ(zip->find("a/data/0"), 6u);
}

TEST(ZipDirectory, NumbersOfARunMayPassWhatFits64Bits) {
  const std::vector<std::string> names = {"d/18446744073709551614", "d/18446744073709551615",
                                          "d/18446744073709551616"};
  const ZipReaderPtr zip = open_zip(archive_of(names));
  EXPECT_EQ(zip->run().size(), 3u);
  EXPECT_EQ(zip->run().find_number("18446744073709551615"), 1u);
  EXPECT_EQ(zip->run().find_number("18446744073709551616"), std::nullopt);
  for (std::uint32_t i = 0; i < names.size(); ++i) EXPECT_EQ(zip->find(names[i]), i);
}

TEST(ZipDirectory, ARunWithAGapOrInAnotherOrderIsFoundByNames) {
  const std::vector<std::vector<std::string>> archives = {
      {"d/1", "d/2", "d/4", "d/5"},           // a gap
      {"d/0", "d/1", "d/10", "d/11", "d/2"},  // as text
      {"d/08", "d/09", "d/10"},               // with leading zeros
      {"d/10", "d/11", "d/a0"},               // what is no number behind them
      {"9", "10", "11", "13"},                // in no folder
      {"d/3", "d/2", "d/1"},
      {"D/1", "D/2", "D/3"},
      {"d/99999999999999999999", "d/100000000000000000000"},
  };
  for (const std::vector<std::string>& names : archives) {
    const ZipReaderPtr zip = open_zip(archive_of(names));
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(zip->find(names[i]), i) << names[i];
      EXPECT_EQ(zip->read(i, 100).value().text(), "<" + names[i] + ">");
    }
    EXPECT_EQ(zip->run().find_number("10"), std::nullopt) << names[0];
    for (std::uint32_t i = zip->run().begin; i < zip->run().end; ++i) {
      const std::string own = names[i].substr(names[i].find('/') + 1);
      EXPECT_TRUE(!zip->run().is_digits || own.find_first_not_of("0123456789") == own.npos) << own;
    }
  }
}

TEST(ZipDirectory, AllNamesOfARowAreCheckedForTheirCase) {
  for (const char* name : {"a/10", "A/10", "A/9", "a/11"}) {
    const Result<ZipReaderPtr> zip =
        ZipReader::open(source_of(archive_of({"a/9", "a/10", "a/11", "b", name})), {});
    ASSERT_FALSE(zip.ok()) << name;
    EXPECT_EQ(zip.error().code, ErrorCode::bad_archive);
  }
}

}  // namespace
}  // namespace andiron::detail
