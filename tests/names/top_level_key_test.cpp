// SPDX-License-Identifier: MIT OR Apache-2.0
// Going down to the tensors below a key.
#include "andiron/names.h"

#include <gtest/gtest.h>

#include "tests/names/named_archive.h"

namespace andiron {
namespace {

TEST(TopLevelKey, TakesWhatLiesBelowItNamedFromThere) {
  const Archive archive =
      archive_of({"epoch", "state_dict.a.weight", "state_dict.b", "statedict.c"});
  const Archive below = at_top_level_key(archive, "state_dict").value();
  EXPECT_EQ(names_of(below), (Names{"a.weight", "b"}));
  EXPECT_EQ(size_of(below, "b"), 3u);
}

TEST(TopLevelKey, WithDotsGoesDownSeveralLevels) {
  const Archive archive = archive_of({"model.net.a", "model.nets.b"});
  EXPECT_EQ(names_of(at_top_level_key(archive, "model.net").value()), (Names{"a"}));
}

TEST(TopLevelKey, FollowsTiedNames) {
  Archive archive = archive_of({"lm_head.weight"});
  archive.set_aliases({{"model.embed.weight", "lm_head.weight"}});
  const Archive below = at_top_level_key(archive, "model").value();
  EXPECT_EQ(names_of(below), (Names{"embed.weight"}));
}

TEST(TopLevelKey, ThatIsNotThereGivesTheKeysThatAre) {
  const Archive archive = archive_of({"optimizer.0", "state_dict.a", "state_dict.b", "epoch"});
  const Error error = at_top_level_key(archive, "state_dcit").error();
  EXPECT_EQ(error.code, ErrorCode::missing_tensor);
  EXPECT_EQ(error.message, "no tensor is under the key 'state_dcit'");
  EXPECT_EQ(error.found, "the top-level keys are 'optimizer', 'state_dict'");
  EXPECT_EQ(error.hint, "did you mean 'state_dict'?");
}

TEST(TopLevelKey, ShowsOnlyTheFirstOfManyKeysInNaturalOrder) {
  Names names;
  for (int i = 20; i > 0; --i) names.push_back("k" + std::to_string(i) + ".w");
  const Error error = at_top_level_key(archive_of(names), "something").error();
  EXPECT_EQ(error.found,
            "the top-level keys are 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', 'k8' and 12 more");
}

TEST(TopLevelKey, ThatIsATensorIsRefused) {
  const Error error = at_top_level_key(archive_of({"weight", "a.b"}), "weight").error();
  EXPECT_EQ(error.code, ErrorCode::missing_tensor);
  EXPECT_EQ(error.hint, "that is a tensor itself; omit the top-level key");
}

TEST(TopLevelKey, OfFlatOrEmptyArchivesIsRefused) {
  EXPECT_EQ(at_top_level_key(archive_of({"weight"}), "model").error().found, "no name has a dot");
  EXPECT_FALSE(at_top_level_key(Archive(), "model").ok());
  EXPECT_FALSE(at_top_level_key(Archive(), "").ok());
}

using Suggestion = std::optional<std::string>;

TEST(TopLevelKey, IsSuggestedWhereAllTensorsLieBelowAKnownOne) {
  EXPECT_EQ(suggest_top_level_key(archive_of({"state_dict.a.w", "state_dict.b"})), "state_dict");
  EXPECT_EQ(suggest_top_level_key(archive_of({"model.a", "model.b.w"})), "model");
  EXPECT_EQ(suggest_top_level_key(archive_of({"module.a"})), "module");
  EXPECT_EQ(suggest_top_level_key(archive_of({"params_ema.a"})), "params_ema");
}

TEST(TopLevelKey, IsSuggestedPastTrainingState) {
  const Archive archive = archive_of({"optimizer_states.0.state.0.exp_avg", "state_dict.a.w",
                                      "torch_rng_state", "lr_scheduler.base", "global_step"});
  EXPECT_EQ(suggest_top_level_key(archive), "state_dict");
}

TEST(TopLevelKey, IsSuggestedPastWhatScriptsKeepBesideAModel) {
  for (const char* name : {"loss", "best_metric", "rng.torch", "random_state.0", "args.mean",
                           "hyper_parameters.w", "iteration", "train_config.x"}) {
    EXPECT_EQ(suggest_top_level_key(archive_of({"model.a.w", name})), "model") << name;
  }
  Archive archive = archive_of({"model.a.w"});
  ASSERT_TRUE(archive.add(TensorSnapshot("accuracy", Tensor::zeros(DType::f32, Shape()).value())));
  EXPECT_EQ(suggest_top_level_key(archive), "model") << "a number is no part of a model";
}

TEST(TopLevelKey, AppliesToWhatWasSkipped) {
  Archive archive = archive_of({"model.a"});
  archive.set_skipped({{"model.b", "why"}, {"models.c", "why"}, {"d", "why"}});
  const Archive below = at_top_level_key(archive, "model").value();
  ASSERT_EQ(below.skipped().size(), 1u);
  EXPECT_EQ(below.skipped()[0].name, "b");
  EXPECT_EQ(below.skipped()[0].reason, "why");
}

TEST(TopLevelKey, IsSuggestedForTheTrainedModelRatherThanItsAverage) {
  EXPECT_EQ(suggest_top_level_key(archive_of({"params_ema.a", "params.a"})), "params");
  EXPECT_EQ(suggest_top_level_key(archive_of({"ema.a", "model.a", "optimizer.b"})), "model");
}

TEST(TopLevelKey, IsSuggestedDownToTheInnermostWrapper) {
  const Archive archive =
      archive_of({"state_dict.module.a.w", "state_dict.module.b", "optimizer.0"});
  EXPECT_EQ(suggest_top_level_key(archive), "state_dict.module");
  EXPECT_EQ(names_of(at_top_level_key(archive, "state_dict.module").value()), (Names{"a.w", "b"}));
}

TEST(TopLevelKey, IsNotSuggestedWhereTensorsLieBesideIt) {
  EXPECT_EQ(suggest_top_level_key(archive_of({"model.embed.w", "lm_head.w"})), Suggestion());
  EXPECT_EQ(suggest_top_level_key(archive_of({"model.a", "weight"})), Suggestion());
}

TEST(TopLevelKey, IsNotSuggestedWithoutAKnownOne) {
  EXPECT_EQ(suggest_top_level_key(Archive()), Suggestion());
  EXPECT_EQ(suggest_top_level_key(archive_of({"model", "state_dict"})), Suggestion());
  EXPECT_EQ(suggest_top_level_key(archive_of({"encoder.a", "decoder.b"})), Suggestion());
  EXPECT_EQ(suggest_top_level_key(archive_of({"optimizer.state.0"})), Suggestion());
}

}  // namespace
}  // namespace andiron
