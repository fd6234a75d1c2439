// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/format/formats.h"
#include "tests/support/file_head.h"

#include <gtest/gtest.h>

#include <set>

namespace andiron {
namespace {

using detail::format_by_name;
using detail::format_rows;

TEST(Formats, EveryRowIsComplete) {
  std::set<std::string_view> names;
  std::set<std::string_view> endings;
  for (const detail::FormatRow& row : format_rows()) {
    EXPECT_TRUE(names.insert(row.info.name).second) << row.info.name;
    EXPECT_FALSE(row.info.title.empty());
    ASSERT_FALSE(row.info.endings.empty());
    for (const std::string_view ending : row.info.endings) {
      EXPECT_EQ(ending.front(), '.');
      EXPECT_TRUE(endings.insert(ending).second) << ending;
    }
    EXPECT_NE(row.is_format, nullptr);
    EXPECT_NE(row.read, nullptr);
    EXPECT_EQ(row.info.is_written, row.write != nullptr);
    EXPECT_EQ(row.info.is_written, row.kept != nullptr);
    EXPECT_EQ(&detail::row_of(row.info.format), &row);
  }
  EXPECT_EQ(formats().size(), format_rows().size());
}

TEST(Formats, NothingIsNoFormat) {
  for (const detail::FormatRow& row : format_rows()) {
    EXPECT_FALSE(test::is_taken_for(row.is_format, "")) << row.info.name;
    EXPECT_FALSE(test::is_taken_for(row.is_format, "hello, world")) << row.info.name;
  }
}

TEST(Formats, AreFoundByTheEndOfAName) {
  EXPECT_EQ(format_by_name("a/b.bpk").row->info.format, Format::burnpack);
  EXPECT_EQ(format_by_name("b.mpk.gz").ending, ".mpk.gz");
  EXPECT_EQ(format_by_name("b.mpk").ending, ".mpk");
  EXPECT_EQ(format_by_name("b.pth").row->info.format, Format::pytorch);
  EXPECT_EQ(format_by_name("b.npy").ending, ".npy");
  EXPECT_EQ(format_by_name("b.txt").row, nullptr);
  EXPECT_EQ(file_extension(Format::numpy), ".npz");
  EXPECT_EQ(format_name(Format::mpk), "mpk");
}

TEST(Formats, EndingsAreListedForMessages) {
  EXPECT_EQ(detail::list_endings([](const FormatInfo& info) {
              return info.format == Format::mpk || info.format == Format::numpy;
            }),
            ".mpk, .mpk.gz, .npz or .npy");
}

}  // namespace
}  // namespace andiron
