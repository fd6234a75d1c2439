// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/key_map.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "andiron/names.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;

using Names = std::vector<std::string>;

Archive file_with(const Names& names) {
  Archive archive;
  for (const std::string& name : names) archive.add(TensorSnapshot(name, f32({2}, 1))).value();
  return archive;
}

const MappedKey& of(const KeyMap& map, std::string_view name_in_file) {
  for (const MappedKey& tensor : map.tensors) {
    if (tensor.name_in_file == name_in_file) return tensor;
  }
  ADD_FAILURE() << "no tensor " << name_in_file;
  return map.tensors.front();
}

// "outcome path" of each use.
Names uses(const MappedKey& tensor) {
  Names texts;
  for (const KeyUse& use : tensor.uses) {
    texts.push_back(std::string(outcome_name(use.outcome)) + " " + use.path);
  }
  return texts;
}

struct KeyPair {
  Param a = Param(f32({2}, 1));
  Param b = Param(f32({2}, 2));
  ANDIRON_MODULE(KeyPair, a, b)
};

TEST(KeyMap, ATensorThatIsMadeFromOthersIsNotOneOfTheFile) {
  Archive file;
  file.add(TensorSnapshot("net.fc.weight_g", f32({2, 1}, 1))).value();
  file.add(TensorSnapshot("net.fc.weight_v", f32({2, 3}, 1))).value();
  const Archive named = apply_names(file, {.fold_weight_norm = true,
                                           .remapper = KeyRemapper().add_pattern(R"(^net\.)", "")})
                            .value();
  const KeyMap map = key_map(named).value();
  ASSERT_EQ(map.tensors.size(), 3u);
  EXPECT_FALSE(map.tensors[0].is_made());
  EXPECT_TRUE(map.tensors[0].left_out_by);
  const MappedKey& made = map.tensors[2];
  EXPECT_TRUE(made.is_made());
  EXPECT_EQ(made.name_in_file, "");
  EXPECT_EQ(made.name, "fc.weight");
  EXPECT_EQ(made.steps, (std::vector<KeyStep>{{NameStage::made, "net.fc.weight"},
                                              {NameStage::remap, "fc.weight"}}));
  EXPECT_NE(map.to_string().find("(not in the file)  f32 [2, 3]\n  made   net.fc.weight"),
            std::string::npos)
      << map.to_string();
}

TEST(KeyMap, TellsTheNameInTheFileAndAfterEachStageThatChangesIt) {
  const Archive file = file_with({"net.fc.4.w", "opt.0", "net.head", "net.fc.2.w"});
  const Archive named = apply_names(file, {.top_level_key = "net",
                                           .remapper = KeyRemapper().add_pattern("^fc", "layers"),
                                           .close_gaps = true})
                            .value();
  const KeyMap map = key_map(named).value();
  ASSERT_EQ(map.tensors.size(), 4u);  // in file order
  EXPECT_EQ(map.tensors[0].name_in_file, "net.fc.4.w");
  EXPECT_EQ(map.tensors[0].name, "layers.1.w");
  EXPECT_EQ(map.tensors[0].steps, (std::vector<KeyStep>{{NameStage::top_level_key, "fc.4.w"},
                                                        {NameStage::remap, "layers.4.w"},
                                                        {NameStage::index_gaps, "layers.1.w"}}));
  EXPECT_EQ(map.tensors[1].name_in_file, "opt.0");
  EXPECT_EQ(map.tensors[1].left_out_by, NameStage::top_level_key);
  EXPECT_EQ(map.tensors[1].name, "");
  EXPECT_EQ(map.tensors[2].name, "head");
  EXPECT_EQ(map.tensors[2].steps.size(), 1u);
  EXPECT_EQ(map.tensors[3].name, "layers.0.w");
  EXPECT_EQ(map.tensors[3].dtype, "f32");
  EXPECT_EQ(map.tensors[3].shape, (Shape{2}));
  EXPECT_FALSE(map.has_module);
}

TEST(KeyMap, OfAFileAsItIsHasNoSteps) {
  const KeyMap map = key_map(file_with({"b", "a"})).value();
  ASSERT_EQ(map.tensors.size(), 2u);
  EXPECT_EQ(map.tensors[0].name, "b");
  EXPECT_TRUE(map.tensors[0].steps.empty());
  EXPECT_FALSE(map.tensors[0].left_out_by);
  EXPECT_TRUE(key_map(Archive()).value().tensors.empty());
}

TEST(KeyMap, KeepsApartWhatAFilterDropsWhatTheKeyLeavesOutAndWhatWasAdded) {
  const Archive file = file_with({"x", "net.a", "net.b"});
  Archive named = apply_names(file, {.top_level_key = "net"}).value();
  named = filter(named, PathFilter().with_full_path("b")).value();
  named.add(TensorSnapshot("x", f32({3}, 1))).value();  // another one than the file's
  const KeyMap map = key_map(named).value();
  ASSERT_EQ(map.tensors.size(), 4u);
  EXPECT_EQ(map.tensors[0].left_out_by, NameStage::top_level_key);
  EXPECT_EQ(map.tensors[1].left_out_by, NameStage::rename);
  EXPECT_EQ(map.tensors[2].name, "b");
  EXPECT_EQ(map.tensors[3].name, "x");
  EXPECT_EQ(map.tensors[3].shape, (Shape{3}));
  EXPECT_FALSE(map.tensors[3].left_out_by);
}

TEST(KeyMap, TellsWhichParameterTakesATensor) {
  const KeyMap map = key_map(KeyPair(), file_with({"b", "c", "a"})).value();
  EXPECT_TRUE(map.has_module);
  EXPECT_EQ(uses(of(map, "a")), Names{"taken a"});
  EXPECT_EQ(uses(of(map, "b")), Names{"taken b"});
  EXPECT_FALSE(of(map, "a").uses[0].is_adapted);
  EXPECT_EQ(of(map, "a").uses[0].dtype, "f32");
  EXPECT_TRUE(of(map, "c").is_unused());
  EXPECT_TRUE(map.missing.empty());
  EXPECT_EQ(key_map(KeyPair(), file_with({"c"})).value().missing, (Names{"a", "b"}));
}

TEST(KeyMap, TellsWhatAnAdapterChanges) {
  struct Adapted {
    nn::Linear linear;
    nn::LayerNorm norm;
    ANDIRON_MODULE(Adapted, linear, norm)
  };
  Adapted model;
  model.linear.weight = Param(f32({3, 2}, 1));
  model.norm.gamma = Param(f32({2}, 1));
  model.norm.beta = Param(f32({2}, 1));
  Archive file;
  file.add(TensorSnapshot("linear.weight", f32({2, 3}, 1))).value();
  file.add(TensorSnapshot("norm.weight", f32({2}, 1))).value();
  file.add(TensorSnapshot("norm.bias", f32({2}, 1))).value();
  const KeyMap map = key_map(model, file, {.adapter = PyTorchToBurnAdapter()}).value();
  const KeyUse& weight = of(map, "linear.weight").uses.at(0);
  EXPECT_TRUE(weight.is_adapted);
  EXPECT_EQ(weight.shape, (Shape{3, 2}));
  const KeyUse& gamma = of(map, "norm.weight").uses.at(0);
  EXPECT_EQ(gamma.path, "norm.gamma");
  EXPECT_FALSE(gamma.is_adapted);

  file = file_with({"a", "b"});
  const KeyMap cast =
      key_map(KeyPair(), file, {.adapter = FloatCastAdapter::to(DType::f16)}).value();
  EXPECT_TRUE(of(cast, "a").uses.at(0).is_adapted);
  EXPECT_EQ(of(cast, "a").uses.at(0).dtype, "f16");
}

TEST(KeyMap, TellsOfTensorsThatFeedSeveralParametersAndOfParametersMadeFromSeveral) {
  struct Fused {
    Param first = Param(f32({1}, 1));
    Param second = Param(f32({1}, 1));
    ANDIRON_MODULE(Fused, first, second)
  };
  const AdapterRule rule{
      .module_type = "Fused", .from = {"both"}, .to = {"first", "second"}, .steps = {SplitStep{0}}};
  const KeyMap split =
      key_map(Fused(), file_with({"both"}), {.adapter = RuleAdapter({rule}, true)}).value();
  EXPECT_EQ(uses(of(split, "both")), (Names{"taken first", "taken second"}));
  EXPECT_TRUE(of(split, "both").uses[1].is_adapted);
  EXPECT_EQ(of(split, "both").uses[1].sources, 1u);

  struct Joined {
    Param both = Param(f32({4}, 1));
    ANDIRON_MODULE(Joined, both)
  };
  AdapterRule join = rule;
  join.module_type = "Joined";
  const KeyMap joined =
      key_map(Joined(), file_with({"first", "second"}), {.adapter = RuleAdapter({join}, false)})
          .value();
  EXPECT_EQ(uses(of(joined, "first")), Names{"taken both"});
  EXPECT_EQ(uses(of(joined, "second")), Names{"taken both"});
  EXPECT_EQ(of(joined, "second").uses[0].sources, 2u);
}

TEST(KeyMap, TellsWhatTheFilterSkipsAndWhatIsRefused) {
  struct Wide {
    Param a = Param(f32({2}, 1));
    Param b = Param(f32({3}, 1));
    Param c = Param(f32({2}, 1));
    ANDIRON_MODULE(Wide, a, b, c)
  };
  const Archive file = file_with({"c", "b", "a"});
  const KeyMap map =
      key_map(Wide(), file, {.filter = PathFilter().with_full_paths({"b", "c"})}).value();
  EXPECT_EQ(uses(of(map, "a")), Names{"skipped a"});
  EXPECT_EQ(uses(of(map, "b")), Names{"refused b"});
  EXPECT_EQ(of(map, "b").uses[0].reason, "the shape does not match: [2]; expected [3]");
  EXPECT_EQ(uses(of(map, "c")), Names{"taken c"});
  EXPECT_FALSE(of(map, "a").is_unused());
}

TEST(KeyMap, TellsOfTensorsThatATiedParameterDoesNotTake) {
  KeyPair model;
  tie(model.a, model.b);
  const KeyMap both = key_map(model, file_with({"a", "b"})).value();
  EXPECT_EQ(uses(of(both, "a")), (Names{"taken a", "taken b"}));
  EXPECT_EQ(uses(of(both, "b")), Names{"tied b"});
  EXPECT_EQ(of(both, "b").uses[0].reason, "a");
}

TEST(KeyMap, IsReadable) {
  struct Shown {
    nn::Linear fc;
    Param scale = Param(f32({3}, 1));
    Param skipped = Param(f32({2}, 1));
    Param absent = Param(f32({2}, 1));
    ANDIRON_MODULE(Shown, fc, scale, skipped, absent)
  };
  Shown model;
  model.fc.weight = Param(f32({3, 2}, 1));
  Archive file;
  file.add(TensorSnapshot("net.old.weight", f32({2, 3}, 1))).value();
  for (const char* name : {"net.scale", "opt.0", "net.skipped", "net.more\n"}) {
    file.add(TensorSnapshot(name, f32({2}, 1))).value();
  }
  const Archive named =
      apply_names(
          file, {.top_level_key = "net", .remapper = KeyRemapper().add_pattern(R"(^old\.)", "fc.")})
          .value();
  std::ostringstream shown;
  shown << key_map(
               model, named,
               {.filter = PathFilter().exclude_glob("skipped"), .adapter = PyTorchToBurnAdapter()})
               .value();
  EXPECT_EQ(shown.str(),
            "net.old.weight  f32 [2, 3]\n"
            "  top-level key  old.weight\n"
            "  remap          fc.weight\n"
            "  taken by fc.weight, adapted to f32 [3, 2]\n"
            "net.scale  f32 [2]\n"
            "  top-level key  scale\n"
            "  refused by scale: the shape does not match: [2]; expected [3]\n"
            "opt.0  f32 [2]\n"
            "  left out: not under the top-level key\n"
            "net.skipped  f32 [2]\n"
            "  top-level key  skipped\n"
            "  skipped: the filter leaves out skipped\n"
            "net.more\\n  f32 [2]\n"
            "  top-level key  more\\n\n"
            "  unused\n"
            "no tensor for absent\n"
            "5 tensors: 4 renamed, 1 left out, 1 taken, 1 skipped, 1 refused, 0 tied, 1 unused; "
            "1 parameter without a tensor");
  EXPECT_EQ(key_map(file_with({"a"})).value().to_string(),
            "a  f32 [2]\n1 tensor: 0 renamed, 0 left out");
}

TEST(KeyMap, ReturnsTheErrorOfABadFilter) {
  EXPECT_EQ(key_map(KeyPair(), Archive(), {.filter = PathFilter().with_regex("(")}).error().code,
            ErrorCode::invalid_pattern);
}

}  // namespace
}  // namespace andiron
