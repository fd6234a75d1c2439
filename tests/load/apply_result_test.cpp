// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/apply.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "andiron/value.h"

namespace andiron {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ApplyResult, CountsAndIsDrawnAsABox) {
  ApplyResult result;
  result.applied = {"a", "b"};
  const std::string text = result.to_string();
  std::string dashes;
  for (int i = 0; i < 25; ++i) dashes += "\u2500";
  EXPECT_TRUE(text.starts_with("\u250c\u2500 Tensor Loading Summary " + dashes + "\n\u2502\n"));
  EXPECT_TRUE(has(text, "\u2502 \u2713 Successfully applied: 2 tensors\n"));
  EXPECT_TRUE(has(text, "\u2502 \u2298 Skipped (filtered):  0 tensors\n"));
  EXPECT_TRUE(has(text, "\u2502 \u2717 Missing in source:    0 tensors\n"));
  EXPECT_TRUE(has(text, "\u2502 ? Unused in target:     0 tensors\n"));
  EXPECT_TRUE(has(text, "\u2502 ! Errors:               0 errors\n"));
  EXPECT_FALSE(has(text, "Missing Tensors"));
  std::string end = "\u2502\n\u2514";
  for (int i = 0; i < 51; ++i) end += "\u2500";
  EXPECT_TRUE(text.ends_with(end));
  std::ostringstream out;
  out << result;
  EXPECT_EQ(out.str(), text);
}

TEST(ApplyResult, ListsTheFirstTenOfEachKind) {
  ApplyResult result;
  for (int i = 0; i < 12; ++i) {
    result.missing.push_back({"m" + std::to_string(100 + i), Container()});
    result.unused.push_back("completely different " + std::to_string(100 + i));
  }
  const std::string text = result.to_string();
  EXPECT_TRUE(has(text, "\u2022 m109\n"));
  EXPECT_FALSE(has(text, "m110"));
  EXPECT_TRUE(has(text, "... and 2 more"));
  EXPECT_FALSE(has(text, "Did you mean"));
}

TEST(ApplyResult, AsksWhetherAnotherTensorWasMeant) {
  ApplyResult result;
  result.missing.push_back({"conv1.weight", Container(), "model.conv1.weight"});
  EXPECT_TRUE(has(result.to_string(),
                  "\u2022 conv1.weight\n\u2502       Did you mean: 'model.conv1.weight'?\n"));
}

TEST(ApplyResult, ExplainsPathsWithEnumVariants) {
  ApplyResult result;
  result.missing.push_back({"conv.BaseConv.weight", Container({"Struct:Net", "Enum:Conv"})});
  const std::string text = result.to_string();
  EXPECT_TRUE(has(text, "enum variant"));
  EXPECT_TRUE(has(text, ".skip_enum_variants(true)"));
}

TEST(ApplyResult, TellsErrorsAsBurnDoes) {
  ApplyResult result;
  result.errors.push_back({.code = ErrorCode::shape_mismatch,
                           .tensor = "a.weight",
                           .found = "[3, 2]",
                           .expected = "[2, 3]"});
  result.errors.push_back(
      {.code = ErrorCode::dtype_mismatch, .tensor = "b", .found = "i64", .expected = "f32"});
  result.errors.push_back({.code = ErrorCode::adapter_failed, .message = "no", .tensor = "c"});
  result.errors.push_back({.code = ErrorCode::io, .message = "disk on fire", .tensor = "d"});
  const std::string text = result.to_string();
  EXPECT_FALSE(result.is_success());
  EXPECT_TRUE(has(text, "Shape mismatch for 'a.weight': expected [2, 3], found [3, 2]\n"));
  EXPECT_TRUE(has(text, "DType mismatch for 'b': expected f32, found i64\n"));
  EXPECT_TRUE(has(text, "Adapter error for 'c': no\n"));
  EXPECT_TRUE(has(text, "Load error for 'd': disk on fire\n"));
}

TEST(ApplyResult, ShowsProposalsWithTheCodeToPaste) {
  ApplyResult result;
  result.proposals.push_back({"strip the prefix 'module.'",
                              ".with_key_remapping(R\"(^module\\.)\", \"\")\n.allow_partial(true)",
                              7, 8});
  const std::string text = result.to_string();
  EXPECT_TRUE(has(text,
                  "\u2502 strip the prefix 'module.':\n"
                  "\u2502     .with_key_remapping(R\"(^module\\.)\", \"\")\n"
                  "\u2502     .allow_partial(true)\n"));
}

TEST(ApplyResult, MakesNamesFromFilesSafeToPrint) {
  ApplyResult result;
  result.unused = {"evil\x1b[2J\nname"};
  const std::string text = result.to_string();
  EXPECT_FALSE(has(text, "\x1b"));
  EXPECT_TRUE(has(text, "evil\\x1b[2J\\nname"));
}

TEST(ApplyResult, HasAJsonForm) {
  ApplyResult result;
  result.applied = {"a"};
  result.skipped = {"s"};
  result.missing = {{"m", Container({"Struct:Net"}), "x"}};
  result.unused = {"u"};
  result.errors.push_back({.code = ErrorCode::shape_mismatch,
                           .message = "no fit",
                           .tensor = "e",
                           .found = "[1]",
                           .expected = "[2]",
                           .hint = "h"});
  result.notes = {"n"};
  Proposal& proposal = result.proposals.emplace_back();
  proposal = {.text = "t", .code = "c", .matched = 1, .wanted = 2};
  proposal.steps.push_back({CloseGaps{}, "w", true});
  EXPECT_EQ(to_json(result.to_value()),
            R"({"applied":["a"],"skipped":["s"],"missing":[{"path":"m","container":"Struct:Net",)"
            R"("did_you_mean":"x"}],)"
            R"("unused":["u"],"errors":[{"code":"ShapeMismatch","path":"e","message":"no fit",)"
            R"("found":"[1]","expected":"[2]","hint":"h"}],"notes":["n"],)"
            R"("proposals":[{"text":"t","code":"c","matched":1,"wanted":2,"guess":true,)"
            R"x("steps":[{"code":".map_indices_contiguous(true)","why":"w","guess":true}]}]})x");
}

}  // namespace
}  // namespace andiron
