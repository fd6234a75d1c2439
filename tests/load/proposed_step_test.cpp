// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/proposal.h"

#include <gtest/gtest.h>

#include <string>

#include "andiron/apply.h"

namespace andiron {
namespace {

std::string in(Wording wording, ProposedSetting setting) {
  return ProposedStep{std::move(setting)}.to_string(wording);
}

TEST(ProposedStep, IsACallInEachFrontEnd) {
  struct Case {
    ProposedSetting setting;
    std::string cpp;
    std::string flags;
    std::string javascript;
  };
  const Case cases[] = {
      {TakeKey{"a.b"}, ".with_top_level_key(\"a.b\")", "--top-level-key 'a.b'",
       "topLevelKey: \"a.b\""},
      {FoldWeightNorm{}, ".fold_weight_norm(true)", "--fold-weight-norm", "foldWeightNorm: true"},
      {RenameKeys{R"(^a\.)", ""}, R"x(.with_key_remapping(R"(^a\.)", ""))x", R"(--sub '^a\.' '')",
       R"(rename: [["^a\\.", ""]])"},
      {TensorEdit::split("qkv", {"q", "k"}), R"x(.split_tensors(R"(qkv)", {"q", "k"}))x",
       "--split 'qkv' 'q,k'", ""},
      {TensorEdit::split("qkv", {"q", "k"}, 0, {2, 1}),
       R"x(.split_tensors(R"(qkv)", {"q", "k"}, 0, {2, 1}))x", "--split 'qkv' 'q=2,k=1'", ""},
      {TensorEdit::join("q", {"k"}, "qk"), R"x(.join_tensors(R"(q)", {"k"}, "qk"))x",
       "--join 'q' 'k,qk'", ""},
      {TensorEdit::transpose("w"), R"x(.transpose_tensors(R"(w)"))x", "--transpose 'w'", ""},
      {CloseGaps{}, ".map_indices_contiguous(true)", "--contiguous-indices",
       "contiguousIndices: true"},
      {CloseGaps{false}, ".map_indices_contiguous(false)", "", "contiguousIndices: false"},
      {ExcludePaths{R"(^fc\.)"}, R"x(.exclude_regex(R"(^fc\.)"))x", "--exclude 'fc.**'", ""},
      {ExcludePaths{"^fc$"}, R"x(.exclude_regex(R"(^fc$)"))x", "--exclude 'fc'", ""},
      {UseAdapter{UseAdapter::Kind::pytorch_to_burn}, ".with_from_adapter(PyTorchToBurnAdapter())",
       "", ""},
      {UseAdapter{}, ".with_from_adapter(IdentityAdapter())", "", ""},
      {SkipVariants{}, ".skip_enum_variants(true)", "", ""},
      {AllowUnused{}, ".allow_unused(true)", "", ""},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(in(Wording::cpp, c.setting), c.cpp);
    EXPECT_EQ(in(Wording::flags, c.setting), c.flags) << c.cpp;
    EXPECT_EQ(in(Wording::javascript, c.setting), c.javascript) << c.cpp;
  }
}

TEST(ProposedStep, HasNoFlagForNamesThatAListOfTheToolCannotHold) {
  EXPECT_EQ(in(Wording::flags, TensorEdit::split("w", {"a,b", "c"})), "");
  EXPECT_EQ(in(Wording::flags, TensorEdit::join("w", {"a=b"}, "c")), "");
  EXPECT_EQ(in(Wording::flags, ExcludePaths{R"(^a\*b$)"}), "");
}

TEST(ProposedStep, QuotesWhatTheLiteralOfALanguageMustEscape) {
  EXPECT_EQ(in(Wording::cpp, RenameKeys{"a)\"b", "\"\\"}),
            ".with_key_remapping(R\"-(a)\"b)-\", \"\\\"\\\\\")");
  EXPECT_EQ(in(Wording::flags, RenameKeys{"it's", ""}), "--sub 'it'\\''s' ''");
}

TEST(ProposedStep, ChangesTheSettingsOfALoad) {
  Proposal proposal;
  proposal.steps = {{TakeKey{"model"}},
                    {FoldWeightNorm{}},
                    {RenameKeys{"^a", "b"}, "", true},
                    {TensorEdit::transpose("w")},
                    {CloseGaps{}},
                    {ExcludePaths{"^fc$"}},
                    {UseAdapter{UseAdapter::Kind::pytorch_to_burn}},
                    {SkipVariants{}},
                    {AllowUnused{}}};
  NameOptions names;
  ApplyOptions options;
  apply_proposal(proposal, names, options);
  EXPECT_EQ(names.top_level_key, "model");
  EXPECT_TRUE(names.fold_weight_norm);
  EXPECT_FALSE(names.remapper.is_empty());
  EXPECT_EQ(names.edits.size(), 1u);
  EXPECT_TRUE(names.close_gaps);
  EXPECT_FALSE(options.filter.matches("fc", Container()));
  EXPECT_TRUE(options.filter.matches("fc2", Container()));
  EXPECT_TRUE(options.adapter.is_set());
  EXPECT_TRUE(options.skip_enum_variants);
  EXPECT_EQ(options.allow_unused, true);
  ASSERT_EQ(options.guesses.size(), 1u);
  EXPECT_EQ(options.guesses[0], R"x(.with_key_remapping(R"(^a)", "b"))x");
}

}  // namespace
}  // namespace andiron
