// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/names.h"

#include <gtest/gtest.h>

#include "andiron/names.h"
#include "tests/names/named_archive.h"

namespace andiron {
namespace {

std::vector<std::string> history_of(const Archive& archive, std::string_view name) {
  std::vector<std::string> steps;
  for (const NameStep& step : archive.name_history(*archive.find(name))) {
    steps.push_back(std::string(stage_name(step.stage)) + ": " + std::string(step.name));
  }
  return steps;
}

TEST(ApplyNames, RunsKeyThenRulesThenGaps) {
  const Archive file = archive_of({"opt.0", "net.fc.0.w", "net.fc.2.w"});
  const Archive named = apply_names(file, {.top_level_key = "net",
                                           .remapper = KeyRemapper().add_pattern("^fc", "layers"),
                                           .close_gaps = true})
                            .value();
  EXPECT_EQ(names_of(named), (Names{"layers.0.w", "layers.1.w"}));
  EXPECT_EQ(size_of(named, "layers.1.w"), 3u);
}

TEST(ApplyNames, WithoutOptionsGivesTheArchive) {
  const Archive file = archive_of({"b", "a"});
  EXPECT_EQ(names_of(apply_names(file, {}).value()), names_of(file));
  EXPECT_EQ(history_of(apply_names(file, {}).value(), "a"), Names{"file: a"});
}

TEST(ApplyNames, RemembersEveryNameOfEveryTensor) {
  const Archive file = archive_of({"opt.0", "net.fc.0.w", "net.head", "net.fc.2.w"});
  const Archive named = apply_names(file, {.top_level_key = "net",
                                           .remapper = KeyRemapper().add_pattern("^fc", "layers"),
                                           .close_gaps = true})
                            .value();
  EXPECT_EQ(history_of(named, "layers.1.w"),
            (Names{"file: net.fc.2.w", "top-level key: fc.2.w", "remap: layers.2.w",
                   "index gaps: layers.1.w"}));
  EXPECT_EQ(history_of(named, "head"),
            (Names{"file: net.head", "top-level key: head", "remap: head", "index gaps: head"}));
  // The tensors that the key leaves out come first in the file: positions do not pair.
  EXPECT_EQ(renames(named),
            (std::vector<Rename>{
                {"net.fc.0.w", "layers.0.w"}, {"net.head", "head"}, {"net.fc.2.w", "layers.1.w"}}));
}

TEST(ApplyNames, HistorySurvivesSelectionsCopiesAndAdditions) {
  const Archive file = archive_of({"m.a", "m.b", "m.c"});
  Archive named = apply_names(file, {.remapper = KeyRemapper().add_pattern("^m\\.", "")}).value();
  named = filter(named, PathFilter().with_full_paths({"c", "b"})).value();
  named = named.select(std::vector<std::size_t>{1, 0}).value();
  named.add(TensorSnapshot("new", Tensor::zeros(DType::u8, {1}).value())).value();
  EXPECT_EQ(named.name_in_file(*named.find("b")), "m.b");
  EXPECT_EQ(named.name_in_file(*named.find("c")), "m.c");
  EXPECT_EQ(named.name_in_file(*named.find("new")), "new");
  EXPECT_EQ(history_of(named, "c"), (Names{"file: m.c", "remap: c"}));

  Archive none = named.select(std::span<const std::size_t>()).value();
  none.add(TensorSnapshot("x", Tensor::zeros(DType::u8, {1}).value())).value();
  EXPECT_EQ(none.name_in_file(0), "x");
}

TEST(ApplyNames, GivesTheFileAsItWasOpenedAndThePlacesInIt) {
  const Archive file = archive_of({"opt.0", "net.b", "net.a"});
  Archive named = apply_names(file, {.top_level_key = "net"}).value();
  named = named.select(std::vector<std::size_t>{1, 0}).value();
  named.add(TensorSnapshot("new", Tensor::zeros(DType::u8, {1}).value())).value();
  EXPECT_EQ(names_of(named.in_file()), (Names{"opt.0", "net.b", "net.a"}));
  EXPECT_EQ(named.index_in_file(0), 2u);
  EXPECT_EQ(named.index_in_file(1), 1u);
  EXPECT_EQ(named.index_in_file(2), std::nullopt);
  EXPECT_EQ(file.index_in_file(1), 1u);
}

TEST(ApplyNames, GivesTheArchiveBeforeAStage) {
  const Archive file = archive_of({"fc.0", "fc.2"});
  const Archive named = apply_names(file, {.close_gaps = true}).value();
  EXPECT_EQ(names_of(named.before(NameStage::index_gaps).value()), (Names{"fc.0", "fc.2"}));
  EXPECT_FALSE(named.before(NameStage::remap));
  // Nothing was closed.
  EXPECT_FALSE(apply_names(archive_of({"fc.0", "fc.1"}), {.close_gaps = true})
                   .value()
                   .before(NameStage::index_gaps));
}

TEST(ApplyNames, ErrorsNameTheStageThatFails) {
  const Archive file = archive_of({"a.0", "b.0"});
  EXPECT_EQ(apply_names(file, {.top_level_key = "c"}).error().code, ErrorCode::missing_tensor);
  EXPECT_EQ(apply_names(file, {.remapper = KeyRemapper().add_pattern("^[ab]", "x")}).error().code,
            ErrorCode::name_collision);
  EXPECT_EQ(apply_names(file, {.remapper = KeyRemapper().add_pattern("(", "")}).error().code,
            ErrorCode::invalid_pattern);
  // A pattern that is not needed is looked at all the same.
  EXPECT_EQ(apply_names(file, {.except = {"["}}).error().code, ErrorCode::invalid_pattern);
}

}  // namespace
}  // namespace andiron
