// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/training_notes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/proposals/listing_report.h"

namespace andiron::test {
namespace {

bool has_note(const ApplyResult& result, const std::string& text) {
  return std::any_of(result.notes.begin(), result.notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

// A model, as peft saves it before its adapters are merged.
Side with_lora(const std::string& prefix) {
  Side side;
  for (const std::string n : {"0", "1"}) {
    const std::string layer = prefix + "layers." + n + ".q_proj.";
    side.push_back({layer + "base_layer.weight", {8, 8}});
    side.push_back({layer + "lora_A.default.weight", {2, 8}});
    side.push_back({layer + "lora_B.default.weight", {8, 2}});
    side.push_back({prefix + "layers." + n + ".norm.weight", {8}});
  }
  return side;
}
const Side merged = {{"layers.0.q_proj.weight", {8, 8}},
                     {"layers.0.norm.weight", {8}},
                     {"layers.1.q_proj.weight", {8, 8}},
                     {"layers.1.norm.weight", {8}}};
constexpr const char* of_lora =
    "the source has LoRA adapters, and nothing takes "
    "'base_model.model.layers.0.q_proj.lora_A.default.weight' and 3 others; merge them";

TEST(TrainingNotes, AdaptersThatAreNotMergedAreNamed) {
  const ApplyResult result = report_of(with_lora("base_model.model."), merged);
  EXPECT_TRUE(has_note(result, of_lora));
  ASSERT_FALSE(result.proposals.empty());
  EXPECT_EQ(result.proposals[0].matched, 4u);
}

TEST(TrainingNotes, AdaptersAreNamedWhereAllElseFits) {
  Side file = merged;
  file.push_back({"layers.0.q_proj.lora_A.weight", {2, 8}});
  const ApplyResult result = report_of(file, merged);
  EXPECT_TRUE(result.missing.empty());
  EXPECT_TRUE(has_note(result, "nothing takes 'layers.0.q_proj.lora_A.weight'; merge"));
}

TEST(TrainingNotes, AdaptersFeedNothingElse) {
  // An adapter has the shape of a layer.
  const Side file = {{"q_proj.lora_A.weight", {2, 8}}, {"q_proj.lora_B.weight", {8, 2}}};
  const ApplyResult result = report_of(file, {{"q_proj.weight", {2, 8}}});
  EXPECT_TRUE(result.proposals.empty());
  EXPECT_TRUE(result.missing[0].did_you_mean.empty());
  EXPECT_EQ(result.notes.size(), 1u);
}

TEST(TrainingNotes, AModelWithAdaptersTakesThem) {
  const ApplyResult result =
      report_of(with_lora("base_model.model."), with_lora("base_model.model."));
  EXPECT_TRUE(result.notes.empty());
  const ApplyResult below = report_of(with_lora("base_model.model."), with_lora(""));
  ASSERT_FALSE(below.proposals.empty());
  EXPECT_EQ(below.proposals[0].matched, 8u);
}

TEST(TrainingNotes, FlattenedParametersAreToBeGathered) {
  const Side file = {{"_fsdp_wrapped_module._flat_param", {100}},
                     {"_fsdp_wrapped_module.layers.0._fsdp_wrapped_module._flat_param", {80}},
                     {"_fsdp_wrapped_module.layers.1._fsdp_wrapped_module._flat_param", {80}}};
  const ApplyResult result = report_of(file, merged);
  EXPECT_TRUE(result.proposals.empty());
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("that FSDP flattened: '_fsdp_wrapped_module._flat_param' and 2 "
                                 "others; gather them first"),
            std::string::npos)
      << result.notes[0];
}

}  // namespace
}  // namespace andiron::test
