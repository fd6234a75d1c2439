// SPDX-License-Identifier: MIT OR Apache-2.0
// Whose layout an archive has.
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "andiron/archive.h"

namespace andiron {
namespace {

std::optional<Layout> layout_with(Metadata metadata) {
  Archive archive;
  archive.set_metadata(std::move(metadata));
  const std::optional<KnownLayout> known = layout_of(archive);
  return known ? std::optional(known->layout) : std::nullopt;
}

TEST(ArchiveLayout, MetadataNamesTheWriter) {
  EXPECT_EQ(layout_with({{"format", "pt"}}), Layout::pytorch);
  EXPECT_EQ(layout_with({{"format", "pt"}, {"producer", "andiron"}}), Layout::pytorch);
  EXPECT_EQ(layout_with({{"producer", "andiron"}}), Layout::burn);
  EXPECT_EQ(layout_with({{"producer", "burn-import"}}), Layout::burn);
}

TEST(ArchiveLayout, OtherFilesDoNotShowIt) {
  EXPECT_EQ(layout_with({}), std::nullopt);
  EXPECT_EQ(layout_with({{"format", "np"}, {"producer", "somebody"}}), std::nullopt);
}

TEST(ArchiveLayout, AMarkCountsMoreThanTheMetadata) {
  Archive archive;
  archive.set_metadata({{"producer", "burn"}});
  mark_layout(archive, Layout::pytorch);
  EXPECT_EQ(layout_of(archive)->layout, Layout::pytorch);
  EXPECT_EQ(archive.metadata().at("format"), "pt");
  mark_layout(archive, Layout::burn);
  EXPECT_EQ(layout_of(archive)->layout, Layout::burn);
  EXPECT_FALSE(archive.metadata().contains("format"));
}

TEST(ArchiveLayout, OnlyThePytorchMarkIsRemovedForBurn) {
  Archive archive;
  archive.set_metadata({{"format", "safetensors"}});
  mark_layout(archive, Layout::burn);
  EXPECT_EQ(archive.metadata().at("format"), "safetensors");
}

}  // namespace
}  // namespace andiron
