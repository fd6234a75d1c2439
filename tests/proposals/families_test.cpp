// SPDX-License-Identifier: MIT OR Apache-2.0
#include "src/proposals/families.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proposals/listing_report.h"

namespace andiron {
namespace {

using test::add_layer;
using test::layers_named;
using test::report_of;
using test::Side;

// Of four blocks, which have the same forms in both.
Side bert() {
  Side side = {{"embeddings.word_embeddings.weight", {50, 8}},
               {"embeddings.position_embeddings.weight", {20, 8}}};
  for (const char* number : {"0", "1", "2", "3"}) {
    const std::string block = "encoder.layer." + std::string(number) + ".";
    for (const char* name : {"query", "key", "value"}) {
      add_layer(side, block + "attention.self." + name, 8, 8);
    }
    add_layer(side, block + "attention.output.dense", 8, 8);
    add_layer(side, block + "intermediate.dense", 32, 8);
    add_layer(side, block + "output.dense", 8, 32);
  }
  return side;
}
Side vit() {
  Side side = {{"embeddings.patch_embeddings.projection.weight", {8, 3, 4, 4}},
               {"embeddings.position_embeddings", {1, 17, 8}}};
  for (const char* number : {"0", "1", "2", "3"}) {
    const std::string block = "encoder.layer." + std::string(number) + ".";
    for (const char* name : {"query", "key", "value"}) {
      add_layer(side, block + "attention.attention." + name, 8, 8);
    }
    add_layer(side, block + "attention.output.dense", 8, 8);
    add_layer(side, block + "intermediate.dense", 32, 8);
    add_layer(side, block + "output.dense", 8, 32);
  }
  return side;
}

// With other names for blocks, which no table knows.
Side renamed(Side side) {
  for (detail::TreeTensor& tensor : side) {
    const std::size_t at = tensor.name.find("encoder.layer.");
    if (at == 0) tensor.name.replace(0, 14, "trunk.units.");
  }
  return side;
}

TEST(Families, ThatDifferAreSaidToAndNotMatched) {
  const ApplyResult result = report_of(bert(), vit());
  EXPECT_TRUE(result.proposals.empty());
  EXPECT_EQ(result.notes, (std::vector<Message>{
                              "the source looks like BERT as Hugging Face names it, the module "
                              "like ViT as Hugging Face names it; these are different models, so "
                              "nothing is matched"}));
  for (const MissingTensor& missing : result.missing) EXPECT_EQ(missing.did_you_mean, "");
}

TEST(Families, AreToldBelowAKeyToo) {
  const ApplyResult result = report_of(test::below_prefix("model.", vit()), bert());
  EXPECT_TRUE(result.proposals.empty());
  EXPECT_NE(result.notes.front().find("different models"), std::string::npos);
}

TEST(Families, OfUnknownNamesAreToldByWhatTheyTakeIn) {
  const ApplyResult result = report_of(renamed(bert()), renamed(vit()));
  EXPECT_TRUE(result.proposals.empty());
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_EQ(result.notes[0],
            "the source is a model for text, the module one for images; these are different "
            "models, so nothing is matched");
}

TEST(Families, AreToldByFormsWhereWordsDoNot) {
  Side words = layers_named({"a", "b", "c", "d"}, 64);
  Side pictures = layers_named({"u.0", "u.1", "u.2", "u.3"}, 64);
  words.push_back({"lexicon.weight", {1000, 64}});
  pictures.push_back({"stem.weight", {64, 3, 8, 8}});
  EXPECT_EQ(report_of(words, pictures).notes.front(),
            "the source is a model for text, the module one for images; these are different "
            "models, so nothing is matched");
  pictures.push_back({"head.weight", {2000, 64}});
  pictures.push_back({"head.bias", {2000}});
  EXPECT_NE(report_of(pictures, words).notes.front().find("one for text"), std::string::npos);
  words.push_back({"stem.weight", {64, 3, 8, 8}});
  EXPECT_FALSE(report_of(words, pictures).proposals.empty()) << "both take images";
}

TEST(Families, OfTheSameKindAreMatched) {
  Side other = renamed(vit());
  other.front().shape = {8, 3, 2, 2};  // patches of another size
  const ApplyResult result = report_of(vit(), other);
  ASSERT_FALSE(result.proposals.empty());
  EXPECT_EQ(result.proposals.front().matched, other.size() - 1);
}

TEST(Families, OfWhichAFileHoldsSeveralAreMatchedWithTheirOwn) {
  Side both = test::below_prefix("text_encoder.", bert());
  for (const detail::TreeTensor& tensor : test::below_prefix("visual_encoder.", vit())) {
    both.push_back(tensor);
  }
  for (const Side& model : {bert(), vit()}) {
    const ApplyResult result = report_of(both, model);
    ASSERT_FALSE(result.proposals.empty());
    EXPECT_EQ(result.proposals.front().matched, model.size());
  }
}

}  // namespace
}  // namespace andiron
