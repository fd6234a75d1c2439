// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/proposals.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "andiron/apply.h"
#include "andiron/module.h"
#include "src/proposals/name_sample.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using detail::LoadSource;
using detail::ProposalInput;
using detail::sample_of_names;
using detail::WantedTensor;

struct NamedShape {
  std::string name;
  Shape shape;
  DType dtype = DType::f32;
};

Archive file_of(const std::vector<NamedShape>& tensors) {
  Archive archive;
  for (const auto& [name, shape, dtype] : tensors) {
    archive.add(TensorSnapshot(name, Tensor::zeros(dtype, shape).value())).value();
  }
  return archive;
}

WantedTensor wanted(const std::string& path, Shape shape, const std::string& kind = "Module") {
  return {{path, Container({"Struct:" + kind})},
          {.shape = std::move(shape), .accepts_any_dtype = true}};
}

WantedTensor of_dtype(DType dtype, WantedTensor tensor) {
  tensor.leaf.dtype = dtype;
  return tensor;
}

std::vector<Proposal> proposals_of(const ProposalInput& input) {
  return detail::guide(input).proposals;
}

std::vector<Proposal> proposals_for(const std::vector<WantedTensor>& module, const Archive& file,
                                    const NameOptions& present = {}) {
  const Archive named = apply_names(file, present).value();
  return proposals_of({.wanted = module,
                       .wanted_other = module,
                       .source = LoadSource{file, present, named},
                       .options = ApplyOptions()});
}

// The first proposal's code.
std::string code_for(const std::vector<WantedTensor>& module, const Archive& file,
                     const NameOptions& present = {}) {
  const std::vector<Proposal> proposals = proposals_for(module, file, present);
  return proposals.empty() ? "nothing" : proposals.front().code;
}

const std::vector<WantedTensor> two_convolutions = {
    wanted("conv1.weight", {4, 3, 3, 3}), wanted("conv1.bias", {4}),
    wanted("conv2.weight", {8, 4, 3, 3}), wanted("conv2.bias", {8})};

std::vector<NamedShape> two_convolutions_below(const std::string& prefix) {
  std::vector<NamedShape> tensors;
  for (const WantedTensor& one : two_convolutions) {
    tensors.push_back({prefix + one.place.path, one.leaf.shape});
  }
  return tensors;
}

TEST(Propose, SaysNothingAboutAMatch) {
  EXPECT_TRUE(proposals_for(two_convolutions, file_of(two_convolutions_below(""))).empty());
}

TEST(Propose, SaysNothingAboutAFileForAnotherModel) {
  EXPECT_TRUE(proposals_for(two_convolutions, file_of({{"a", {9}}, {"b.weight", {5, 5}}})).empty());
  EXPECT_TRUE(proposals_for(two_convolutions, Archive()).empty());
  EXPECT_TRUE(proposals_for({}, file_of({{"a", {9}}})).empty());
}

TEST(Propose, StripsAPrefixOfAllNames) {
  const std::vector<Proposal> proposals =
      proposals_for(two_convolutions, file_of(two_convolutions_below("module.")));
  ASSERT_EQ(proposals.size(), 1u);
  EXPECT_EQ(proposals[0].code, R"(.with_top_level_key("module"))");
  EXPECT_EQ(proposals[0].text, "taking the tensors under 'module': matches 4 of 4 parameters");
  EXPECT_EQ(proposals[0].matched, 4u);
  EXPECT_EQ(proposals[0].wanted, 4u);
}

TEST(Propose, TakesATreeThatHasOthersBesideIt) {
  std::vector<NamedShape> tensors = two_convolutions_below("state_dict.");
  tensors.push_back({"optimizer.step", {}});
  EXPECT_EQ(code_for(two_convolutions, file_of(tensors)), R"(.with_top_level_key("state_dict"))");
}

TEST(Propose, OffersTheModelBeforeItsAverage) {
  std::vector<NamedShape> tensors = two_convolutions_below("ema.");
  for (NamedShape& one : two_convolutions_below("model.")) tensors.push_back(std::move(one));
  const std::vector<Proposal> proposals = proposals_for(two_convolutions, file_of(tensors));
  ASSERT_EQ(proposals.size(), 2u);
  EXPECT_EQ(proposals[0].code, R"(.with_top_level_key("model"))");
  EXPECT_EQ(proposals[1].code, R"(.with_top_level_key("ema"))");
  EXPECT_NE(proposals[1].text.find("averaged"), std::string::npos);
}

TEST(Propose, ClosesGapsInNumbers) {
  const std::vector<WantedTensor> module = {wanted("fc.0.weight", {2}), wanted("fc.1.weight", {3})};
  EXPECT_EQ(code_for(module, file_of({{"fc.0.weight", {2}}, {"fc.3.weight", {3}}})),
            ".map_indices_contiguous(true)");
}

TEST(Propose, ComputesTheWeightsOfWeightNorm) {
  const auto parts = [](const std::string& prefix) {
    return file_of({{prefix + "conv1.weight_g", {4, 1, 1, 1}},
                    {prefix + "conv1.weight_v", {4, 3, 3, 3}},
                    {prefix + "conv1.bias", {4}},
                    {prefix + "conv2.parametrizations.weight.original0", {8, 1, 1, 1}},
                    {prefix + "conv2.parametrizations.weight.original1", {8, 4, 3, 3}},
                    {prefix + "conv2.bias", {8}}});
  };
  EXPECT_EQ(code_for(two_convolutions, parts("")), ".fold_weight_norm(true)");
  EXPECT_EQ(code_for(two_convolutions, parts("net.")),
            ".with_top_level_key(\"net\")\n.fold_weight_norm(true)");
}

TEST(Propose, ComputesWeightsThoughOtherPartsAreWanted) {
  // Attention that calls its projections so, spectral norm, and weight norm in one layer.
  const std::vector<NamedShape> parts = {
      {"conv1.weight_g", {4, 1, 1, 1}}, {"conv1.weight_v", {4, 3, 3, 3}}, {"conv1.bias", {4}},
      {"conv2.weight_g", {8, 1, 1, 1}}, {"conv2.weight_v", {8, 4, 3, 3}}, {"conv2.bias", {8}}};
  for (const std::vector<std::string>& others :
       {std::vector<std::string>{"attn.weight_q", "attn.weight_k", "attn.weight_v"},
        std::vector<std::string>{"disc.weight_orig", "disc.weight_u"}}) {
    std::vector<WantedTensor> module = two_convolutions;
    std::vector<NamedShape> tensors = parts;
    for (const std::string& name : others) {
      module.push_back(wanted(name, {5, 5}));
      tensors.push_back({name, {5, 5}});
    }
    EXPECT_EQ(code_for(module, file_of(tensors)), ".fold_weight_norm(true)");
  }
  const std::vector<WantedTensor> mixed = {
      wanted("conv1.weight", {4, 3, 3, 3}), wanted("conv1.bias", {4}),
      wanted("conv2.weight_g", {8, 1, 1, 1}), wanted("conv2.weight_v", {8, 4, 3, 3}),
      wanted("conv2.bias", {8})};
  EXPECT_EQ(code_for(mixed, file_of(parts)).find("weight_v\""), std::string::npos);
}

TEST(Propose, CutsABiasOfWhichTheModuleLacksAPart) {
  std::vector<WantedTensor> module;
  for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
    const std::string path = std::string("attention.") + name;
    module.push_back(wanted(path + ".weight", {4, 4}));
    if (path != "attention.k_proj") module.push_back(wanted(path + ".bias", {4}));
  }
  const Archive file = file_of({{"attn.qkv.weight", {12, 4}},
                                {"attn.qkv.bias", {12}},
                                {"attn.proj.weight", {4, 4}},
                                {"attn.proj.bias", {4}}});
  const std::vector<Proposal> proposals = proposals_for(module, file);
  ASSERT_FALSE(proposals.empty());
  EXPECT_EQ(proposals[0].matched, module.size()) << proposals[0].code;
}

TEST(Propose, NamesFewerLayersThanADeeperModelHas) {
  std::vector<NamedShape> tensors = {{"wte.weight", {9, 4}}};
  std::vector<WantedTensor> module = {wanted("embed_tokens.weight", {9, 4})};
  for (int i = 0; i < 6; ++i) {
    const std::string block = std::to_string(i);
    for (const char* name : {"q", "k", "v", "o"}) {
      if (i < 2) tensors.push_back({"h." + block + "." + name + ".weight", {4, 4}});
      module.push_back(wanted("layers." + block + "." + name + "_proj.weight", {4, 4}));
    }
  }
  const std::vector<Proposal> proposals = proposals_for(module, file_of(tensors));
  ASSERT_FALSE(proposals.empty());
  EXPECT_EQ(proposals[0].matched, tensors.size());
}

TEST(Propose, PlacesAFileOfASmallPartOfTheModel) {
  std::vector<WantedTensor> module = {
      wanted("projector.linear_1.weight", {6, 4}), wanted("projector.linear_1.bias", {6}),
      wanted("projector.linear_2.weight", {6, 6}), wanted("projector.linear_2.bias", {6})};
  for (int i = 0; i < 60; ++i) {
    module.push_back(wanted("text.layers." + std::to_string(i) + ".weight", {9, 9}));
  }
  const Archive file = file_of({{"trained.projector.linear_1.weight", {6, 4}},
                                {"trained.projector.linear_1.bias", {6}},
                                {"trained.projector.linear_2.weight", {6, 6}},
                                {"trained.projector.linear_2.bias", {6}}});
  const std::vector<Proposal> proposals = proposals_for(module, file);
  ASSERT_FALSE(proposals.empty());
  EXPECT_EQ(proposals.front().matched, 4u);
}

TEST(Propose, CallsTheChoiceBetweenTwoModelsAGuess) {
  std::vector<NamedShape> tensors = two_convolutions_below("student.");
  for (const NamedShape& tensor : two_convolutions_below("teacher.")) tensors.push_back(tensor);
  const std::vector<Proposal> proposals = proposals_for(two_convolutions, file_of(tensors));
  ASSERT_FALSE(proposals.empty());
  EXPECT_EQ(
      proposals[0].code,
      ".with_top_level_key(\"student\")  // a guess, the file has another model like it under "
      "'teacher'");
}

TEST(Propose, KnowsWhatPyTorchWrites) {
  const std::vector<WantedTensor> module = {wanted("fc.weight", {2, 3}, "Linear"),
                                            wanted("norm.gamma", {3}, "LayerNorm")};
  EXPECT_EQ(code_for(module, file_of({{"fc.weight", {3, 2}}, {"norm.weight", {3}}})),
            ".with_from_adapter(PyTorchToBurnAdapter())");
}

TEST(Propose, PutsTheNamesOfVariantsInOrLeavesThemOut) {
  const std::vector<WantedTensor> with_variants = {wanted("act.Linear.weight", {2})};
  const std::vector<WantedTensor> without_variants = {wanted("act.weight", {2})};
  const Archive plain = file_of({{"act.weight", {2}}});
  const Archive full = file_of({{"act.Linear.weight", {2}}});
  const auto leave_out = proposals_of({.wanted = with_variants,
                                       .wanted_other = without_variants,
                                       .source = LoadSource::as_it_is(plain),
                                       .options = ApplyOptions()});
  ASSERT_FALSE(leave_out.empty());
  EXPECT_EQ(leave_out[0].code, ".skip_enum_variants(true)");
  const auto put_in = proposals_of({.wanted = without_variants,
                                    .wanted_other = with_variants,
                                    .source = LoadSource::as_it_is(full),
                                    .options = {.skip_enum_variants = true}});
  ASSERT_FALSE(put_in.empty());
  EXPECT_EQ(put_in[0].code, ".skip_enum_variants(false)");
}

TEST(Propose, LeavesTheNamesOfVariantsOutRatherThanPuttingThemInByRules) {
  std::vector<WantedTensor> with_variants = {wanted("head.weight", {7})};
  std::vector<WantedTensor> without_variants = with_variants;
  std::vector<NamedShape> tensors = {{"head.weight", {7}}};
  for (const char* number : {"0", "1", "2"}) {
    const std::string n = number;
    with_variants.push_back(wanted("blocks." + n + ".Plain.conv.weight", {4, 4, 3, 3}));
    without_variants.push_back(wanted("blocks." + n + ".conv.weight", {4, 4, 3, 3}));
    tensors.push_back({"layers." + n + ".conv.weight", {4, 4, 3, 3}});
  }
  with_variants.push_back(wanted("stem.Plain.weight", {4, 3, 3, 3}));
  without_variants.push_back(wanted("stem.weight", {4, 3, 3, 3}));
  tensors.push_back({"conv_in.weight", {4, 3, 3, 3}});
  const Archive file = file_of(tensors);
  const std::vector<Proposal> proposals = proposals_of({.wanted = with_variants,
                                                        .wanted_other = without_variants,
                                                        .source = LoadSource::as_it_is(file),
                                                        .options = ApplyOptions()});
  ASSERT_FALSE(proposals.empty());
  EXPECT_EQ(proposals[0].matched, with_variants.size());
  EXPECT_EQ(proposals[0].steps.back().to_string(), ".skip_enum_variants(true)");
}

TEST(Propose, LearnsRulesThatHoldForAllNumbers) {
  std::vector<WantedTensor> module;
  std::vector<NamedShape> tensors;
  for (const char* n : {"0", "1", "10"}) {
    module.push_back(wanted("layers." + std::string(n) + ".attention.weight", {4, 4}));
    module.push_back(wanted("layers." + std::string(n) + ".norm.weight", {4}));
    tensors.push_back({"block" + std::string(n) + ".attn.weight", {4, 4}});
    tensors.push_back({"block" + std::string(n) + ".norm.weight", {4}});
  }
  EXPECT_EQ(code_for(module, file_of(tensors)),
            ".with_key_remapping(R\"(^block(\\d+)\\.)\", \"layers.$1.\")\n"
            ".with_key_remapping(R\"(\\.attn\\.)\", \".attention.\")");
}

TEST(Propose, LeavesOutAHeadOfAnotherSize) {
  std::vector<NamedShape> tensors = two_convolutions_below("");
  tensors[2].shape = {1000, 4, 3, 3};
  tensors[3].shape = {1000};
  const std::vector<Proposal> proposals = proposals_for(two_convolutions, file_of(tensors));
  ASSERT_EQ(proposals.size(), 1u);
  EXPECT_EQ(proposals[0].code, R"--(.exclude_regex(R"(^conv2\.)"))--");
  EXPECT_EQ(proposals[0].matched, 2u);
  EXPECT_EQ(proposals[0].text,
            "leaving out 'conv2': matches 2 of 4 parameters; 'conv2.weight' is [1000, 4, 3, 3] in "
            "the source and [8, 4, 3, 3] in the module");
}

TEST(Propose, GuessesWhatToLeaveOutWhileATensorOfThatShapeIsNotUsed) {
  std::vector<NamedShape> tensors = two_convolutions_below("");
  tensors.erase(tensors.begin() + 2, tensors.end());
  const std::vector<Proposal> sure = proposals_for(two_convolutions, file_of(tensors));
  ASSERT_EQ(sure.size(), 1u);
  EXPECT_FALSE(sure[0].is_guess());
  tensors.push_back({"zorg.qux", {4, 8, 3, 3}});
  EXPECT_FALSE(proposals_for(two_convolutions, file_of(tensors)).front().is_guess());
  tensors.push_back({"zorg.b", {8}});
  const std::vector<Proposal> guess = proposals_for(two_convolutions, file_of(tensors));
  ASSERT_EQ(guess.size(), 1u);
  EXPECT_EQ(
      guess[0].code,
      R"--(.exclude_regex(R"(^conv2\.)")  // a guess, nothing takes 'zorg.b', which could be )--"
      "'conv2.bias'");
}

TEST(Propose, NeverMakesTwoNamesOne) {
  // Stripped, the first would be the second.
  const std::vector<WantedTensor> module = {wanted("a.weight", {2}), wanted("b.weight", {3})};
  const Archive file =
      file_of({{"model.a.weight", {2}}, {"a.weight", {7}}, {"model.b.weight", {3}}});
  EXPECT_EQ(code_for(module, file), R"(.with_top_level_key("model"))");
}

TEST(Propose, GoesFurtherDownFromThePresentKey) {
  std::vector<NamedShape> tensors = two_convolutions_below("state_dict.model.");
  tensors.push_back({"state_dict.loss.weight", {5}});
  EXPECT_EQ(code_for(two_convolutions, file_of(tensors), {.top_level_key = "state_dict"}),
            R"(.with_top_level_key("state_dict.model"))");
}

TEST(Propose, RenamesInsteadOfTakingAKeyWhereRulesRunAlready) {
  std::vector<NamedShape> tensors = two_convolutions_below("model.");
  tensors.push_back({"loss.weight", {5}});
  EXPECT_EQ(code_for(two_convolutions, file_of(tensors),
                     {.remapper = KeyRemapper().add_pattern("^x$", "y")}),
            R"--(.with_key_remapping(R"(^model\.)", ""))--");
}

TEST(Propose, WritesRulesForTheNumbersBeforeGapsAreClosed) {
  const std::vector<WantedTensor> module = {wanted("hidden.weight", {2}),
                                            wanted("output.weight", {3})};
  const Archive file = file_of({{"2.weight", {2}}, {"5.weight", {3}}});
  const std::string code = code_for(module, file, {.close_gaps = true});
  EXPECT_NE(code.find(R"--(.with_key_remapping(R"(^2\.)", "hidden."))--"), std::string::npos);
  EXPECT_NE(code.find(R"--(.with_key_remapping(R"(^5\.)", "output."))--"), std::string::npos);
}

TEST(Propose, QuotesWhatCppWouldMisread) {
  EXPECT_EQ(code_for(two_convolutions, file_of(two_convolutions_below("a$(b)\"."))),
            R"(.with_top_level_key("a$(b)\""))");
  EXPECT_EQ(code_for(two_convolutions, file_of(two_convolutions_below("a$(b)\".")),
                     {.remapper = KeyRemapper().add_pattern("^x$", "y")}),
            R"--(.with_key_remapping(R"-(^a\$\(b\)"\.)-", ""))--");
  std::vector<NamedShape> tensors = two_convolutions_below("a\\\".");
  tensors.push_back({"other", {5}});
  EXPECT_EQ(code_for(two_convolutions, file_of(tensors)), R"(.with_top_level_key("a\\\""))");
}

TEST(Propose, DoesNotRepeatNamesThatCouldHarmATerminal) {
  EXPECT_TRUE(
      proposals_for(two_convolutions, file_of(two_convolutions_below("a\x1b[2J."))).empty());
}

TEST(Propose, MarksRenamesThatWordsDoNotSpeakFor) {
  const std::vector<WantedTensor> module = {wanted("hidden.weight", {2})};
  const std::vector<Proposal> guess = proposals_for(module, file_of({{"zorg.weight", {2}}}));
  ASSERT_FALSE(guess.empty());
  EXPECT_TRUE(guess[0].is_guess());
  EXPECT_NE(guess[0].text.find("is a guess: check it"), std::string::npos);
  EXPECT_NE(guess[0].code.find("// a guess"), std::string::npos);
  const std::vector<Proposal> sure = proposals_for(module, file_of({{"hid.weight", {2}}}));
  ASSERT_FALSE(sure.empty());
  EXPECT_FALSE(sure[0].is_guess());
}

TEST(Propose, ShowsNoSettingAsAGuessAndAsSure) {
  // Whether c.W is to be transposed, nothing tells. The rule for it is that of the others.
  const std::vector<WantedTensor> module = {
      wanted("a.weight", {5, 4}),  wanted("a.bias", {5}),       wanted("b.weight", {6, 5}),
      wanted("b.bias", {6}),       wanted("c.weight", {4, 4}),  wanted("c.norm.weight", {4}),
      wanted("hidden.left", {7}),  wanted("hidden.right", {7}), wanted("d.weight", {9, 6}),
      wanted("e.weight", {11, 9}), wanted("f.weight", {12, 11})};
  const Archive file = file_of({{"a.W", {5, 4}},
                                {"a.bias", {5}},
                                {"b.W", {6, 5}},
                                {"b.bias", {6}},
                                {"c.W", {4, 4}},
                                {"c.norm.weight", {4}},
                                {"zorg.foo", {7}},
                                {"zorg.qux", {7}},
                                {"d.W", {9, 6}},
                                {"e.W", {11, 9}},
                                {"f.W", {12, 11}}});
  const std::vector<Proposal> proposals = proposals_for(module, file);
  ASSERT_FALSE(proposals.empty());
  EXPECT_TRUE(proposals[0].is_guess());
  std::map<std::string, std::set<bool>> shown;
  for (const Proposal& proposal : proposals) {
    for (const ProposedStep& step : proposal.steps) shown[step.to_string()].insert(step.is_guess);
  }
  for (const auto& [code, marks] : shown) EXPECT_EQ(marks.size(), 1u) << code;
}

TEST(Propose, CountsOnlyWhatHasAFittingDType) {
  std::vector<NamedShape> tensors = two_convolutions_below("module.");
  tensors[1].dtype = DType::i64;
  tensors[2].dtype = DType::f16;
  const std::vector<Proposal> proposals = proposals_for(two_convolutions, file_of(tensors));
  ASSERT_FALSE(proposals.empty());
  EXPECT_EQ(proposals[0].matched, 3u);
  EXPECT_EQ(
      proposals[0].text,
      "taking the tensors under 'module', leaving out 'conv1.bias': matches 3 of 4 parameters; "
      "'conv1.bias' is i64 in the source and f32 in the module");
}

TEST(Propose, FollowsTheDTypePolicy) {
  std::vector<NamedShape> tensors = two_convolutions_below("module.");
  for (NamedShape& one : tensors) one.dtype = DType::f16;
  const Archive halves = file_of(tensors);
  const LoadSource source = LoadSource::as_it_is(halves);
  ApplyOptions options = {.dtype_policy = DTypePolicy::cast_to_module};
  const ProposalInput input = {.wanted = two_convolutions,
                               .wanted_other = two_convolutions,
                               .source = source,
                               .options = options};
  EXPECT_EQ(proposals_of(input).size(), 1u);
  options.dtype_policy = DTypePolicy::strict;
  EXPECT_TRUE(proposals_of(input).empty());
}

TEST(Propose, TellsTensorsOfOneShapeApartByDType) {
  const std::vector<WantedTensor> module = {wanted("a", {4}),
                                            of_dtype(DType::i64, wanted("b", {4})),
                                            of_dtype(DType::boolean, wanted("c", {4}))};
  const std::string code = code_for(
      module,
      file_of({{"x", {4}, DType::boolean}, {"y", {4}, DType::f32}, {"z", {4}, DType::i64}}));
  EXPECT_NE(code.find(R"--(R"(^y$)", "a")--"), std::string::npos) << code;
  EXPECT_NE(code.find(R"--(R"(^z$)", "b")--"), std::string::npos) << code;
  EXPECT_NE(code.find(R"--(R"(^x$)", "c")--"), std::string::npos) << code;
}

TEST(Propose, RemindsOfChooseVariants) {
  const auto in_variant = [](const std::string& path) {
    WantedTensor tensor = wanted(path, {2});
    tensor.place.container = Container({"Struct:Net", "Enum:Body", "Struct:Linear"});
    return tensor;
  };
  const auto advice = [](const std::vector<WantedTensor>& module, const Archive& file, bool skips) {
    const std::vector<Proposal> proposals =
        proposals_of({.wanted = module,
                      .wanted_other = module,
                      .source = LoadSource::as_it_is(file),
                      .options = {.skip_enum_variants = skips}});
    return !proposals.empty() && proposals[0].text.ends_with(
                                     "; choose_variants(model, store) may pick the alternative "
                                     "that the source has");
  };
  const std::vector<WantedTensor> with_names = {wanted("head.weight", {5}),
                                                in_variant("body.Linear.weight")};
  EXPECT_TRUE(
      advice(with_names, file_of({{"head.weight", {5}}, {"body.Conv.weight", {3}}}), false));
  EXPECT_FALSE(
      advice(with_names, file_of({{"head.weight", {5}}, {"body.Linear.weight", {3}}}), false));
  EXPECT_FALSE(advice(with_names, file_of({{"head.weight", {5}}}), false));
  const std::vector<WantedTensor> without_names = {wanted("head.weight", {5}),
                                                   in_variant("body.weight")};
  // What another alternative lacks is not left out.
  const Archive other = file_of({{"head.weight", {5}}, {"body.weight", {3}}});
  const std::vector<Proposal> skips = proposals_of({.wanted = with_names,
                                                    .wanted_other = without_names,
                                                    .source = LoadSource::as_it_is(other),
                                                    .options = ApplyOptions()});
  for (const Proposal& one : skips) {
    const bool excludes = one.code.find("exclude") != std::string::npos;
    EXPECT_FALSE(excludes && one.code.find("skip_enum_variants") != std::string::npos) << one.code;
  }
  EXPECT_TRUE(advice(without_names, file_of({{"head.weight", {5}}, {"body.weight", {3}}}), true));
  EXPECT_FALSE(advice(without_names, file_of({{"head.weight", {5}}}), true));
}

TEST(Propose, LearnsNothingFromNamesThatNoModelHas) {
  std::vector<NamedShape> tensors = two_convolutions_below("module.");
  for (int i = 0; i < 100; ++i) {
    std::string digits = std::to_string(i);
    while (digits.size() < 50'000) digits += ".1a_b";
    tensors.push_back({std::move(digits), {4}});
  }
  EXPECT_EQ(code_for(two_convolutions, file_of(tensors)), R"(.with_top_level_key("module"))");
}

TEST(Propose, IsDoneInTimeWithNamesOfManyWords) {
  std::vector<WantedTensor> module;
  std::vector<NamedShape> tensors;
  for (int i = 0; i < 300; ++i) {
    std::string words = "n" + std::to_string(i);
    std::string segments = words;
    while (words.size() < 250) words += "_a";
    while (segments.size() < 140) segments += ".ab" + std::to_string(i % 7);
    module.push_back(wanted("block" + std::to_string(i) + ".weight", {4}));
    tensors.push_back({std::move(words), {4}});
    tensors.push_back({std::move(segments), {4}});
  }
  for (const Proposal& one : proposals_for(module, file_of(tensors))) EXPECT_GT(one.matched, 0u);
}

TEST(Propose, CopesWithTenThousandParameters) {
  std::vector<WantedTensor> module;
  std::vector<NamedShape> tensors;
  for (int layer = 0; layer < 1000; ++layer) {
    const std::string number = std::to_string(layer);
    for (const char* name : {"query", "key", "value", "out", "up", "down", "gate", "n1", "n2"}) {
      module.push_back(wanted("layers." + number + "." + name + ".weight", {4, 4}));
      tensors.push_back({"module.model.h." + number + ".attn." + name + ".weight", {4, 4}});
    }
  }
  const std::vector<Proposal> proposals = proposals_for(module, file_of(tensors));
  ASSERT_FALSE(proposals.empty());
  EXPECT_EQ(proposals[0].matched, module.size());
}

TEST(Propose, AsksAFilterOnceForEachParameter) {
  struct Net {
    Param weight, bias, other;
    ANDIRON_MODULE(Net, weight, bias, other)
  };
  const Net net{Param(test::f32({2}, 1)), Param(test::f32({3}, 1)), Param(test::f32({4}, 1))};
  Snapshots tensors;
  tensors.push_back(TensorSnapshot("model.weight", test::f32({2}, 1)));
  tensors.push_back(TensorSnapshot("model.bias", test::f32({3}, 1)));
  int asked = 0;
  ApplyOptions options;
  options.filter.with_predicate([&](std::string_view path, const Container&) {
    ++asked;
    return path != "other";
  });
  const Plan planned = plan(net, tensors, options).value();
  EXPECT_EQ(asked, 3);
  ASSERT_EQ(planned.result.proposals.size(), 1u);
  EXPECT_EQ(planned.result.proposals[0].wanted, 2u);
}

TEST(SampleOfNames, HasAllOfAFew) {
  const std::vector<std::string_view> names = {"a.7", "b", "a.9"};
  EXPECT_EQ(sample_of_names(names, 3), (std::vector<std::size_t>{0, 1, 2}));
}

TEST(SampleOfNames, HasTheFirstOfNumberedListsAndEveryKindOfName) {
  const std::vector<std::string_view> names = {"a.7", "a.5", "a.6", "a.1", "a.9.x", "b"};
  EXPECT_EQ(sample_of_names(names, 5), (std::vector<std::size_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(sample_of_names(names, 3), (std::vector<std::size_t>{1, 2, 3}));
}

}  // namespace
}  // namespace andiron
