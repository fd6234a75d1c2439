// SPDX-License-Identifier: MIT OR Apache-2.0
// What is done to the tensors of a file for another format.
#include "andiron/convert.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "andiron/open.h"
#include "andiron/tensor.h"
#include "andiron/write.h"

namespace andiron {
namespace {

TensorSnapshot floats(const std::string& name, Shape shape) {
  return TensorSnapshot(name, Tensor::zeros(DType::f32, std::move(shape)).value());
}

Archive linear() {
  Archive archive;
  archive.add(floats("fc.weight", {3, 4})).value();
  archive.add(floats("fc.bias", {3})).value();
  return archive;
}

Archive opened(const Archive& archive, Format format) {
  return open(write_to_memory(archive, {.format = format}).value()).value();
}

TEST(Convert, KeepsTheOrderOfTheData) {
  Archive archive;
  archive.add(floats("b", {8})).value();
  archive.add(floats("a", {8})).value();
  const Archive file = opened(archive, Format::burnpack);
  const std::vector<std::size_t> by_name = {1, 0};
  const Conversion conversion =
      convert(file.select(by_name).value(), {.format = Format::burnpack}).value();
  EXPECT_EQ(conversion.archive.info(0).name, "b");
  EXPECT_EQ(conversion.archive.info(1).name, "a");
  EXPECT_TRUE(conversion.notes.empty());
}

TEST(Convert, MarksPytorchsLayoutWhereTheFormatCan) {
  Archive file = linear();
  file.set_metadata({{"format", "pt"}});
  const Conversion safetensors = convert(file, {}).value();
  EXPECT_EQ(safetensors.archive.metadata().at("format"), "pt");
  EXPECT_TRUE(safetensors.notes.empty());
  const Conversion burnpack = convert(file, {.format = Format::burnpack}).value();
  EXPECT_EQ(burnpack.archive.metadata().at("format"), "pt");
  ASSERT_EQ(burnpack.notes.size(), 1u);
  EXPECT_NE(burnpack.notes[0].find("keep PyTorch's layouts"), std::string::npos);
  const Conversion numpy = convert(file, {.format = Format::numpy}).value();
  ASSERT_EQ(numpy.notes.size(), 1u);
  EXPECT_NE(numpy.notes[0].find("cannot record"), std::string::npos);
}

TEST(Convert, ChangesTheLayoutByRules) {
  Archive file = linear();
  file.set_metadata({{"format", "pt"}});
  const LayoutChange change{.to = Layout::burn, .rules = guess_layers(file, Layout::pytorch)};
  const Conversion conversion =
      convert(file, {.format = Format::burnpack, .layout = change}).value();
  EXPECT_EQ(conversion.archive.get("fc.weight").value().shape(), Shape({4, 3}));
  EXPECT_FALSE(conversion.archive.metadata().contains("format"));
  EXPECT_TRUE(conversion.notes.empty());
}

TEST(Convert, RefusesTheLayoutThatTheFileHas) {
  Archive file = linear();
  file.set_metadata({{"producer", "burn"}});
  LayoutChange change{.to = Layout::burn, .rules = guess_layers(file, Layout::pytorch)};
  EXPECT_EQ(convert(file, {.layout = change}).error().code, ErrorCode::invalid_argument);
  change.is_forced = true;
  EXPECT_TRUE(convert(file, {.layout = change}).ok());
  change.is_forced = false;
  const Archive unmarked = opened(linear(), Format::burnpack);
  EXPECT_EQ(convert(unmarked, {.layout = change}).error().code, ErrorCode::invalid_argument);
}

TEST(Convert, TiedNamesBecomeCopiesForBurnpack) {
  Archive file = linear();
  file.set_aliases({{"head.weight", "fc.weight"}});
  const Conversion burnpack = convert(file, {.format = Format::burnpack}).value();
  EXPECT_EQ(burnpack.archive.size(), 3u);
  ASSERT_EQ(burnpack.notes.size(), 1u);
  EXPECT_EQ(burnpack.notes[0], "1 tied name written as a copy");
  EXPECT_EQ(convert(file, {}).value().archive.size(), 2u);
}

TEST(Convert, ARecordsOwnMetadataStaysInRecords) {
  const Archive record = opened(linear(), Format::mpk);
  ASSERT_TRUE(record.metadata().contains("float"));
  EXPECT_TRUE(
      convert(record, {.format = Format::mpk}).value().archive.metadata().contains("float"));
  EXPECT_FALSE(convert(record, {}).value().archive.metadata().contains("float"));
}

TEST(Convert, NamesAndTheFilterComeFirst) {
  ConvertOptions options{.names = {.top_level_key = "fc"}};
  options.filter = PathFilter().with_full_path("weight");
  const Conversion conversion = convert(linear(), options).value();
  ASSERT_EQ(conversion.archive.size(), 1u);
  EXPECT_EQ(conversion.archive.info(0).name, "weight");
}

}  // namespace
}  // namespace andiron
