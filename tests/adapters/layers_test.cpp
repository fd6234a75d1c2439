// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/layers.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "andiron/apply.h"
#include "andiron/nn/embedding.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "tests/names/named_archive.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;

Archive file_with_shapes(const std::vector<std::pair<std::string, Shape>>& tensors) {
  Archive archive;
  for (const auto& [name, shape] : tensors) {
    archive.add(TensorSnapshot(name, f32(shape, 1))).value();
  }
  return archive;
}

Archive pytorch_file() {
  Archive file = file_with_shapes({{"embed.weight", {7, 4}},
                                   {"blocks.0.fc.weight", {3, 4}},
                                   {"blocks.0.fc.bias", {3}},
                                   {"blocks.0.norm.weight", {3}},
                                   {"blocks.0.norm.bias", {3}},
                                   {"blocks.1.fc.weight", {3, 4}},
                                   {"blocks.1.fc.bias", {3}},
                                   {"blocks.1.norm.weight", {3}},
                                   {"blocks.1.norm.bias", {3}},
                                   {"conv.weight", {2, 2, 3, 3}},
                                   {"head.weight", {4, 4}}});
  file.set_metadata({{"format", "pt"}, {"author", "me"}});
  return file;
}

TEST(LayerRules, TheTextIsReadAndWrittenAlike) {
  const std::string text =
      "# andiron layers\n"
      "encoder.*.fc  Linear     # weight [3, 4]\n"
      "**.bn         BatchNorm\n"
      ".             other      # the top\n";
  const LayerRules rules = LayerRules::parse(text).value();
  EXPECT_EQ(rules.to_string(), text);
  EXPECT_EQ(rules.kind_of("encoder.3.fc"), "Linear");
  EXPECT_EQ(rules.kind_of("encoder.fc"), "");
  EXPECT_EQ(rules.kind_of("a.b.bn"), "BatchNorm");
  EXPECT_EQ(rules.kind_of(""), "other");
}

TEST(LayerRules, TheFirstMatchCounts) {
  const LayerRules rules = LayerRules::parse("head other\n** Linear").value();
  EXPECT_EQ(rules.kind_of("head"), "other");
  EXPECT_EQ(rules.kind_of("body"), "Linear");
}

TEST(LayerRules, ANamedPathCountsInItsTurn) {
  const LayerRules rules = LayerRules::parse("a.* other\na.b Linear\na.c Linear\n").value();
  EXPECT_EQ(rules.kind_of("a.b"), "other");
  EXPECT_EQ(LayerRules::parse("a.b Linear\na.* other\n").value().kind_of("a.b"), "Linear");
}

TEST(LayerRules, AGlobThatTheTextCannotHoldIsRefused) {
  LayerRules rules;
  for (const char* glob : {"", "a b", "a#", "a\n"}) {
    EXPECT_EQ(rules.add({glob, "other", ""}).error().code, ErrorCode::invalid_argument);
  }
  EXPECT_TRUE(rules.rules().empty());
}

TEST(LayerRules, WildcardsAreLimited) {
  std::string text;
  for (int i = 0; i < 1024; ++i) text += "a* other\n";
  EXPECT_TRUE(LayerRules::parse(text));
  const Error error = LayerRules::parse(text + "b* other\n").error();
  EXPECT_EQ(error.code, ErrorCode::limit_exceeded);
  EXPECT_TRUE(error.message.starts_with("line 1025: ")) << error.message;
}

TEST(LayerRules, BadLinesAreNamed) {
  const Error no_kind = LayerRules::parse("\n\nhead # Linear\n").error();
  EXPECT_EQ(no_kind.code, ErrorCode::invalid_argument);
  EXPECT_EQ(no_kind.message, "line 3: this is not a rule");
  EXPECT_EQ(LayerRules::parse("a Linear b").error().code, ErrorCode::invalid_argument);
  const Error unknown = LayerRules::parse("a linear\r\n").error();
  EXPECT_EQ(unknown.message, "line 1: this kind of module is not known");
  EXPECT_EQ(unknown.found, "'linear'");
  EXPECT_EQ(unknown.expected,
            "Linear, BatchNorm, LayerNorm, GroupNorm, InstanceNorm, RmsNorm, PRelu, other");
}

TEST(LayerRules, AreGuessedFromNamesAndShapes) {
  EXPECT_EQ(guess_layers(pytorch_file(), Layout::pytorch).to_string(),
            "# andiron layers\n"
            "blocks.*.fc    Linear     # bias [3], weight [3, 4]; 2 modules\n"
            "blocks.*.norm  LayerNorm  # bias [3], weight [3]; 2 modules\n"
            "embed          other      # weight [7, 4]: an embedding, by its name (guess)\n"
            "head           Linear     # weight [4, 4]: no bias; it may be an embedding (guess)\n");
}

TEST(LayerRules, ModulesThatDifferInMoreThanTheirNumberHaveRulesOfTheirOwn) {
  const Archive file =
      file_with_shapes({{"0.weight", {3, 4}}, {"0.bias", {3}}, {"2.weight", {3}}, {"2.bias", {3}}});
  const LayerRules rules = guess_layers(file, Layout::pytorch);
  EXPECT_EQ(rules.kind_of("0"), "Linear");
  EXPECT_EQ(rules.kind_of("2"), "LayerNorm");
  EXPECT_EQ(rules.rules().size(), 2u);
}

TEST(LayerRules, NormsAreToldApart) {
  const Archive file = file_with_shapes({{"bn.weight", {3}},
                                         {"bn.running_mean", {3}},
                                         {"gn.weight", {3}},
                                         {"gn.bias", {3}},
                                         {"final_norm.weight", {3}},
                                         {"prelu.weight", {1}},
                                         {"scale.weight", {3}}});
  const LayerRules rules = guess_layers(file, Layout::pytorch);
  EXPECT_EQ(rules.kind_of("bn"), "BatchNorm");
  EXPECT_EQ(rules.kind_of("gn"), "GroupNorm");
  EXPECT_EQ(rules.kind_of("final_norm"), "RmsNorm");
  EXPECT_EQ(rules.kind_of("prelu"), "PRelu");
  EXPECT_EQ(rules.kind_of("scale"), "other");
}

TEST(LayerRules, NamesThatALineCannotHoldHaveNoRuleAndAreTold) {
  const Archive file =
      file_with_shapes({{"a #.weight", {3, 4}}, {"abc.weight", {4, 2, 3}}, {"weight", {3, 4}}});
  const LayerRules rules = guess_layers(file, Layout::pytorch);
  EXPECT_EQ(rules.kind_of("a #"), "");
  EXPECT_EQ(rules.kind_of("abc"), "");
  EXPECT_EQ(LayerRules::parse(rules.to_string()).value().kind_of(""), "Linear");
  EXPECT_EQ(change_layout(file, rules, Layout::burn).value().notes(),
            std::vector<Message>{
                "no rule says what these are, so their matrices stay as they are: 'a #'"});
}

TEST(ChangeLayout, TransposesLinearsAndRenamesNorms) {
  const Archive file = pytorch_file();
  const Archive burn =
      change_layout(file, guess_layers(file, Layout::pytorch), Layout::burn).value();
  EXPECT_EQ(names_of(burn),
            (Names{"embed.weight", "blocks.0.fc.weight", "blocks.0.fc.bias", "blocks.0.norm.gamma",
                   "blocks.0.norm.beta", "blocks.1.fc.weight", "blocks.1.fc.bias",
                   "blocks.1.norm.gamma", "blocks.1.norm.beta", "conv.weight", "head.weight"}));
  EXPECT_EQ(burn.get("blocks.0.fc.weight").value().shape(), Shape({4, 3}));
  EXPECT_EQ(burn.get("embed.weight").value().shape(), Shape({7, 4}));
  EXPECT_EQ(burn.metadata(), (Metadata{{"author", "me"}}));
}

TEST(ChangeLayout, IsUndoneByTheOtherDirection) {
  const Archive file = pytorch_file();
  const Archive burn =
      change_layout(file, guess_layers(file, Layout::pytorch), Layout::burn).value();
  const Archive back =
      change_layout(burn, guess_layers(burn, Layout::burn), Layout::pytorch).value();
  EXPECT_EQ(names_of(back), names_of(file));
  EXPECT_EQ(back.metadata(), file.metadata());
  for (std::size_t i = 0; i < file.size(); ++i) {
    EXPECT_EQ(back.snapshot(i).read().value().to_vector<float>().value(),
              file.snapshot(i).read().value().to_vector<float>().value())
        << file.info(i).name;
  }
}

TEST(ChangeLayout, ATypedModelTakesTheResultWithoutAnAdapter) {
  struct Net {
    nn::Linear fc = nn::LinearConfig(4, 3).init();
    nn::LayerNorm norm = nn::LayerNormConfig(3).init();
    ANDIRON_MODULE(Net, fc, norm)
  };
  const Archive file = file_with_shapes(
      {{"fc.weight", {3, 4}}, {"fc.bias", {3}}, {"norm.weight", {3}}, {"norm.bias", {3}}});
  Net adapted;
  apply(adapted, file, {.adapter = PyTorchToBurnAdapter()}).value();
  Net plain;
  apply(plain, change_layout(file, guess_layers(file, Layout::pytorch), Layout::burn).value())
      .value();
  EXPECT_EQ(plain.fc.weight.val().value().to_vector<float>().value(),
            adapted.fc.weight.val().value().to_vector<float>().value());
}

TEST(ChangeLayout, MatricesWithoutARuleAreTold) {
  const Archive changed =
      change_layout(pytorch_file(), LayerRules::parse("head other").value(), Layout::burn).value();
  EXPECT_EQ(changed.notes(),
            std::vector<Message>{"no rule says what these are, so their matrices stay as they are: "
                                 "'blocks.0.fc', 'blocks.1.fc', 'embed'"});
}

TEST(ChangeLayout, ALinearMustHaveAMatrix) {
  const Error error =
      change_layout(pytorch_file(), LayerRules::parse("conv Linear").value(), Layout::burn).error();
  EXPECT_EQ(error.code, ErrorCode::shape_mismatch);
  EXPECT_EQ(error.tensor, "conv.weight");
}

TEST(ChangeLayout, TiedNamesInDifferentLayoutsBecomeCopies) {
  Archive file = file_with_shapes({{"embed.weight", {7, 4}}});
  file.set_aliases({{"head.weight", "embed.weight"}});
  const Archive burn =
      change_layout(file, LayerRules::parse("embed other\nhead Linear").value(), Layout::burn)
          .value();
  EXPECT_EQ(burn.get("head.weight").value().shape(), Shape({4, 7}));
  EXPECT_EQ(burn.get("embed.weight").value().shape(), Shape({7, 4}));
}

TEST(LayerRules, ConvolutionsBetweenOthersKeepARuleFromBeingShared) {
  const Archive file = file_with_shapes({{"f.0.weight", {4, 3, 1, 1}},
                                         {"f.1.weight", {4}},
                                         {"f.1.bias", {4}},
                                         {"f.1.running_mean", {4}}});
  const LayerRules rules = guess_layers(file, Layout::pytorch);
  EXPECT_EQ(rules.kind_of("f.1"), "BatchNorm");
  EXPECT_EQ(rules.kind_of("f.0"), "");
  EXPECT_EQ(names_of(change_layout(file, rules, Layout::burn).value()),
            (Names{"f.0.weight", "f.1.gamma", "f.1.beta", "f.1.running_mean"}));
}

TEST(LayerRules, SquareMatricesGoByTheOthersOfTheFile) {
  const Archive file = file_with_shapes(
      {{"attn.weight", {4, 12}}, {"attn.bias", {12}}, {"proj.weight", {4, 4}}, {"proj.bias", {4}}});
  EXPECT_EQ(guess_layers(file, Layout::pytorch).kind_of("proj"), "other");
  const Archive alone = file_with_shapes({{"proj.weight", {4, 4}}, {"proj.bias", {4}}});
  const LayerRules rules = guess_layers(alone, Layout::pytorch);
  EXPECT_EQ(rules.kind_of("proj"), "Linear");
  EXPECT_NE(rules.rules()[0].reason.find("(guess)"), std::string::npos);
}

TEST(LayerRules, ANormOverSeveralDimensionsIsNoLinear) {
  const Archive file = file_with_shapes({{"ln.weight", {3, 4}}, {"ln.bias", {3, 4}}});
  EXPECT_EQ(guess_layers(file, Layout::pytorch).kind_of("ln"), "LayerNorm");
}

TEST(LayerRules, NamesCannotAddRules) {
  const Archive file = file_with_shapes(
      {{"fc.weight", {3, 4}}, {"fc.x\n** Linear # ", {2}}, {"a..b.weight", {3, 4}}});
  const LayerRules rules = guess_layers(file, Layout::pytorch);
  const LayerRules read = LayerRules::parse(rules.to_string()).value();
  EXPECT_EQ(read.rules().size(), rules.rules().size());
  EXPECT_EQ(read.kind_of("elsewhere"), "");
  EXPECT_EQ(read.kind_of("a..b"), "Linear");
  LayerRules own;
  own.add({"a", "other", "one\n** Linear"}).value();
  EXPECT_EQ(LayerRules::parse(own.to_string()).value().rules().size(), 1u);
}

TEST(LayerRules, TiedNamesAreGuessedToo) {
  Archive file = file_with_shapes({{"embed.weight", {7, 4}}});
  file.set_aliases({{"lm_head.weight", "embed.weight"}});
  const LayerRules rules = guess_layers(file, Layout::pytorch);
  EXPECT_EQ(rules.kind_of("lm_head"), "Linear");
  EXPECT_EQ(rules.kind_of("embed"), "other");
}

TEST(LayerRules, MoreThanCanShareRulesAreNamedOneByOne) {
  std::vector<std::pair<std::string, Shape>> tensors;
  for (int i = 0; i < 1100; ++i) {
    tensors.push_back({"m" + std::to_string(i) + ".0.weight", {3, 4}});
  }
  EXPECT_EQ(guess_layers(file_with_shapes(tensors), Layout::pytorch).rules().size(), 1100u);
}

TEST(ChangeLayout, RulesThatMatchNothingAreTold) {
  const Archive changed =
      change_layout(file_with_shapes({{"fc.weight", {3, 4}}}),
                    LayerRules::parse("fc Linear\nfcc Linear\n").value(), Layout::burn)
          .value();
  EXPECT_EQ(changed.notes(), std::vector<Message>{"rules that are of no use here: 'fcc'"});
}

}  // namespace
}  // namespace andiron
