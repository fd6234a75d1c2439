// SPDX-License-Identifier: MIT OR Apache-2.0
// Typed models out of files of PyTorch's, among them those that Burn's own tests load.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "andiron/nn/conv.h"
#include "andiron/nn/embedding.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/stores.h"
#include "tests/support/fixtures.h"
#include "tests/support/param_numbers.h"

namespace andiron {
namespace {

using test::numbers;
using Names = std::vector<std::string>;

// Small models in the files of one set.
struct Models {
  std::string folder;
  std::string layers;

  PytorchStore store(const std::string& name) const {
    return PytorchStore::from_file(folder + "/" + name);
  }
  PytorchStore layer(const std::string& name) const { return store(layers + "/" + name + ".pt"); }
};

// Ours, and where they are at hand those that Burn's own tests load.
std::vector<Models> every_set() {
  std::vector<Models> sets;
  for (const std::filesystem::path& folder : test::fixture_folders()) {
    for (const char* layers : {"layers", "pytorch-tests"}) {
      if (std::filesystem::exists(folder / layers)) sets.push_back({folder.string(), layers});
    }
  }
  EXPECT_GE(sets.size(), test::has_fixtures() ? 2u : 1u);
  return sets;
}

// The tensor of the file, as it is or with rows and columns exchanged.
std::vector<float> stored(const Store& store, std::string_view name, bool transposed = false) {
  TensorSnapshot tensor = store.get_snapshot(name).value().value();
  if (transposed) tensor = tensor.transpose(0, 1).value();
  return tensor.read().value().to_vector<float>().value();
}

// Everything in the file but counters went into the model.
void expect_whole(const Result<ApplyResult>& result) {
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_TRUE(result->missing.empty());
  for (const std::string& name : result->unused) {
    EXPECT_TRUE(name.ends_with("num_batches_tracked")) << name;
  }
}

TEST(PytorchModels, LinearWeightsAreTransposed) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    struct Net {
      nn::Linear fc1 = nn::LinearConfig(2, 3).init();
      nn::Linear fc2 = nn::LinearConfig(3, 4).with_bias(false).init();
      ANDIRON_MODULE(Net, fc1, fc2)
    } net;
    const PytorchStore file = models.layer("linear/linear");
    expect_whole(load_from(net, file));
    EXPECT_EQ(numbers(net.fc1.weight), stored(file, "fc1.weight", true));
    EXPECT_EQ(numbers(*net.fc1.bias), stored(file, "fc1.bias"));
    EXPECT_EQ(numbers(net.fc2.weight), stored(file, "fc2.weight", true));
    struct WithBias {
      nn::Linear fc1 = nn::LinearConfig(2, 3).init();
      ANDIRON_MODULE(WithBias, fc1)
    } with_bias;
    expect_whole(load_from(with_bias, models.layer("linear/linear_with_bias")));
  }
}

template <class First, class Second>
struct LayerPair {
  First conv1;
  Second conv2;
  ANDIRON_MODULE(LayerPair, conv1, conv2)
};

TEST(PytorchModels, ConvolutionsOfEveryKindAreLoaded) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    const auto check = [&](auto net, const std::string& name) {
      const PytorchStore file = models.layer(name);
      expect_whole(load_from(net, file));
      EXPECT_EQ(numbers(net.conv1.weight), stored(file, "conv1.weight"));
      EXPECT_EQ(numbers(*net.conv1.bias), stored(file, "conv1.bias"));
      EXPECT_EQ(numbers(net.conv2.weight), stored(file, "conv2.weight"));
    };
    check(LayerPair<nn::Conv1d, nn::Conv1d>{nn::Conv1dConfig(2, 2, 2).init(),
                                            nn::Conv1dConfig(2, 2, 2).with_bias(false).init()},
          "conv1d/conv1d");
    check(
        LayerPair<nn::Conv2d, nn::Conv2d>{nn::Conv2dConfig({2, 2}, {2, 2}).init(),
                                          nn::Conv2dConfig({2, 2}, {2, 2}).with_bias(false).init()},
        "conv2d/conv2d");
    check(
        LayerPair<nn::ConvTranspose1d, nn::ConvTranspose1d>{
            nn::ConvTranspose1dConfig({2, 2}, 2).init(),
            nn::ConvTranspose1dConfig({2, 2}, 2).with_bias(false).init()},
        "conv_transpose1d/conv_transpose1d");
    check(
        LayerPair<nn::ConvTranspose2d, nn::ConvTranspose2d>{
            nn::ConvTranspose2dConfig({2, 2}, {2, 2}).init(),
            nn::ConvTranspose2dConfig({2, 2}, {2, 2}).with_bias(false).init()},
        "conv_transpose2d/conv_transpose2d");
  }
}

template <class Norm>
struct OneNorm {
  Norm norm1;
  ANDIRON_MODULE(OneNorm, norm1)
};

TEST(PytorchModels, NormsAreFoundUnderPytorchsNames) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    OneNorm<nn::BatchNorm> batch{nn::BatchNormConfig(5).init()};
    const PytorchStore file = models.layer("batch_norm/batch_norm2d");
    expect_whole(load_from(batch, file));
    EXPECT_EQ(numbers(batch.norm1.gamma), stored(file, "norm1.weight"));
    EXPECT_EQ(numbers(batch.norm1.beta), stored(file, "norm1.bias"));
    EXPECT_EQ(numbers(batch.norm1.running_var), stored(file, "norm1.running_var"));
    OneNorm<nn::GroupNorm> group{nn::GroupNormConfig(2, 6).init()};
    expect_whole(load_from(group, models.layer("group_norm/group_norm")));
    OneNorm<nn::LayerNorm> layers{nn::LayerNormConfig(2).init()};
    expect_whole(load_from(layers, models.layer("layer_norm/layer_norm")));
  }
}

TEST(PytorchModels, EmbeddingsAndBuffersAreLoaded) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    struct Embedded {
      nn::Embedding embed = nn::EmbeddingConfig(10, 3).init();
      ANDIRON_MODULE(Embedded, embed)
    } embedded;
    const PytorchStore file = models.layer("embedding/embedding");
    expect_whole(load_from(embedded, file));
    EXPECT_EQ(numbers(embedded.embed.weight), stored(file, "embed.weight"));
    struct Buffered {
      Param buffer;
      ANDIRON_MODULE(Buffered, buffer)
    } buffered;
    load_from(buffered, models.layer("integer/integer")).value();
    EXPECT_EQ(buffered.buffer.val().value().to_vector<std::int64_t>().value(),
              (std::vector<std::int64_t>{1, 2, 3}));
    Buffered flags;
    load_from(flags, models.layer("boolean/boolean")).value();
    EXPECT_EQ(flags.buffer.dtype(), DType::boolean);
    EXPECT_EQ(flags.buffer.val().value().bytes().text(), std::string("\1\0\1", 3));
    Buffered ones;
    load_from(ones, models.layer("buffer/buffer")).value();
    EXPECT_EQ(numbers(ones.buffer), std::vector<float>(9, 1));
  }
}

struct ConvBlock {
  nn::Conv2d conv;
  nn::BatchNorm norm;
  ANDIRON_MODULE(ConvBlock, conv, norm)
};

struct Nested {
  std::vector<ConvBlock> conv_blocks = {
      {nn::Conv2dConfig({2, 4}, {3, 2}).init(), nn::BatchNormConfig(4).init()},
      {nn::Conv2dConfig({4, 6}, {3, 2}).init(), nn::BatchNormConfig(6).init()}};
  nn::BatchNorm norm1 = nn::BatchNormConfig(6).init();
  nn::Linear fc1 = nn::LinearConfig(120, 12).init();
  nn::Linear fc2 = nn::LinearConfig(12, 10).init();
  ANDIRON_MODULE(Nested, conv_blocks, norm1, fc1, fc2)
};

TEST(PytorchModels, NestedModulesAreFilledWhole) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    Nested net;
    const PytorchStore file = models.layer("complex_nested/complex_nested");
    expect_whole(load_from(net, file));
    EXPECT_EQ(numbers(net.conv_blocks[1].conv.weight), stored(file, "conv_blocks.1.conv.weight"));
    EXPECT_EQ(numbers(net.conv_blocks[0].norm.gamma), stored(file, "conv_blocks.0.norm.weight"));
    EXPECT_EQ(numbers(net.fc1.weight), stored(file, "fc1.weight", true));
  }
}

TEST(PytorchModels, PartOfAFileIsLoadedButNotMoreThanItHas) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    struct Part {
      std::vector<ConvBlock> conv_blocks = {
          {nn::Conv2dConfig({2, 4}, {3, 2}).init(), nn::BatchNormConfig(4).init()}};
      ANDIRON_MODULE(Part, conv_blocks)
    } part;
    const PytorchStore file = models.layer("complex_nested/complex_nested");
    EXPECT_EQ(load_from(part, file).error().tensor, "conv_blocks.1.conv.bias");
    const ApplyResult result = load_from(part, PytorchStore(file).allow_unused(true)).value();
    EXPECT_EQ(result.applied.size(), 6u);
    EXPECT_FALSE(result.unused.empty());
    struct More {
      nn::Linear fc1 = nn::LinearConfig(120, 12).init();
      nn::Linear fc3 = nn::LinearConfig(2, 2).init();
      ANDIRON_MODULE(More, fc1, fc3)
    } more;
    const Result<ApplyResult> refused =
        load_from(more, models.layer("complex_nested/complex_nested"));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().to_string().find("fc3."), std::string::npos);
    EXPECT_EQ(load_from(more, models.layer("complex_nested/complex_nested").allow_partial())
                  .value()
                  .missing.size(),
              2u);
  }
}

TEST(PytorchModels, NamesAreRemapped) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    LayerPair<nn::Conv2d, nn::Conv2d> net{nn::Conv2dConfig({2, 2}, {2, 2}).init(),
                                          nn::Conv2dConfig({2, 2}, {2, 2}).with_bias(false).init()};
    EXPECT_FALSE(load_from(net, models.layer("key_remap/key_remap")));
    expect_whole(load_from(
        net, models.layer("key_remap/key_remap").with_key_remapping(R"(conv\.(.*))", "$1")));
  }
}

TEST(PytorchModels, NamesAreRemappedByRulesOneAfterTheOther) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    struct Block {
      nn::Conv2d conv = nn::Conv2dConfig({6, 6}, {1, 1}).with_bias(false).init();
      nn::BatchNorm bn = nn::BatchNormConfig(6).init();
      ANDIRON_MODULE(Block, conv, bn)
    };
    struct Net {
      nn::Conv2d conv = nn::Conv2dConfig({3, 6}, {3, 3}).with_bias(false).init();
      nn::BatchNorm bn = nn::BatchNormConfig(6).init();
      std::vector<Block> layer = std::vector<Block>(2);
      ANDIRON_MODULE(Net, conv, bn, layer)
    } net;
    const auto rules = [&] {
      return models.layer("key_remap_chained/key_remap")
          .with_key_remapping(R"(^layer\.(\d+)\.block\.0\.)", "layer.$1.conv.");
    };
    EXPECT_FALSE(load_from(net, rules()));
    expect_whole(
        load_from(net, rules().with_key_remapping(R"(^layer\.(\d+)\.block\.1\.)", "layer.$1.bn.")));
  }
}

struct Depthwise {
  nn::Conv2d dconv = nn::Conv2dConfig({2, 2}, {3, 3}).with_groups(2).init();
  nn::Conv2d pconv = nn::Conv2dConfig({2, 2}, {1, 1}).init();
  ANDIRON_MODULE(Depthwise, dconv, pconv)
};

struct Chosen {
  std::variant<nn::Conv2d, Depthwise> conv = nn::Conv2dConfig({2, 2}, {3, 3}).init();
  ANDIRON_MODULE(Chosen, conv)
};

TEST(PytorchModels, VariantsAreFilledWithoutTheirNames) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    Chosen plain;
    expect_whole(load_from(plain, models.layer("enum_module/enum_depthwise_false")));
    Chosen depthwise;
    depthwise.conv = Depthwise();
    expect_whole(load_from(depthwise, models.layer("enum_module/enum_depthwise_true")));
    // The wrong alternative is refused, or the file's names choose the right one.
    const PytorchStore other = models.layer("enum_module/enum_depthwise_true");
    EXPECT_FALSE(load_from(plain, PytorchStore(other).choose_variants(false)));
    Chosen by_shape = plain;
    EXPECT_EQ(choose_variants(by_shape, other).value().at(0).name, "Depthwise");
    expect_whole(load_from(plain, other));
    EXPECT_TRUE(std::holds_alternative<Depthwise>(plain.conv));
    EXPECT_FALSE(load_from(
        plain, models.layer("enum_module/enum_depthwise_true").skip_enum_variants(false)));
  }
}

TEST(PytorchModels, AMissingFieldIsNamed) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    struct Net {
      nn::Conv2d conv1 = nn::Conv2dConfig({2, 2}, {2, 2}).init();
      nn::Conv2d conv2 = nn::Conv2dConfig({2, 2}, {2, 2}).init();
      ANDIRON_MODULE(Net, conv1, conv2)
    } net;
    const Result<ApplyResult> result =
        load_from(net, models.layer("missing_module_field/missing_module_field"));
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().to_string().find("conv2."), std::string::npos);
  }
}

TEST(PytorchModels, GapsInIndicesAreClosed) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    struct Net {
      std::vector<nn::Conv2d> fc =
          std::vector<nn::Conv2d>(5, nn::Conv2dConfig({2, 2}, {3, 3}).init());
      ANDIRON_MODULE(Net, fc)
    } net;
    const PytorchStore file = models.layer("non_contiguous_indexes/non_contiguous_indexes");
    expect_whole(load_from(net, file));
    EXPECT_EQ(file.keys().value()[9], "fc.4.weight");
    const ApplyResult kept =
        load_from(net, PytorchStore(file).map_indices_contiguous(false).allow_partial()).value();
    EXPECT_EQ(kept.missing.size(), 4u);
    EXPECT_EQ(kept.missing[0].path, "fc.1.bias");
  }
}

TEST(PytorchModels, ATopLevelKeyIsTakenOff) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    struct Net {
      nn::Conv2d conv1 = nn::Conv2dConfig({2, 2}, {2, 2}).init();
      ANDIRON_MODULE(Net, conv1)
    } net;
    EXPECT_FALSE(load_from(net, models.layer("top_level_key/top_level_key")));
    expect_whole(load_from(
        net, models.layer("top_level_key/top_level_key").with_top_level_key("my_state_dict")));
    EXPECT_EQ(
        load_from(net, models.layer("top_level_key/top_level_key").with_top_level_key("other"))
            .error()
            .code,
        ErrorCode::missing_tensor);
  }
}

TEST(PytorchModels, SettingsBesideTheWeightsAreInTheTree) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    const Archive archive = models.layer("config/weights_with_config").archive().value();
    const Value* config = archive.value()->find("my_config");
    ASSERT_NE(config, nullptr);
    EXPECT_NE(config->get<ValueDict>(), nullptr);
  }
}

TEST(PytorchModels, AModelWithoutTheNamesOfVariantsIsLoaded) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    struct Net {
      std::variant<nn::Linear, nn::Conv2d> feature = nn::LinearConfig(3, 64).init();
      nn::Linear classifier = nn::LinearConfig(64, 10).init();
      ANDIRON_MODULE(Net, feature, classifier)
    } net;
    expect_whole(load_from(net, models.store("store/model_without_enum_variants.pt")));
    const Result<ApplyResult> result = load_from(
        net, models.store("store/model_without_enum_variants.pt").skip_enum_variants(false));
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().to_string().find("variants"), std::string::npos);
  }
}

TEST(PytorchModels, ATrainedModelIsLoadedWhole) {
  for (const Models& models : every_set()) {
    SCOPED_TRACE(models.folder);
    struct Mnist {
      nn::Conv2d conv1 = nn::Conv2dConfig({1, 8}, {3, 3}).init();
      nn::Conv2d conv2 = nn::Conv2dConfig({8, 16}, {3, 3}).init();
      nn::Conv2d conv3 = nn::Conv2dConfig({16, 24}, {3, 3}).init();
      nn::BatchNorm norm1 = nn::BatchNormConfig(24).init();
      nn::Linear fc1;
      nn::Linear fc2 = nn::LinearConfig(32, 10).init();
      nn::BatchNorm norm2 = nn::BatchNormConfig(10).init();
      ANDIRON_MODULE(Mnist, conv1, conv2, conv3, norm1, fc1, fc2, norm2)
    };
    const PytorchStore file = models.store("mnist/mnist.pt");
    // The sets have images of different sizes.
    const std::uint64_t inputs = file.get_snapshot("fc1.weight").value().value().shape()[1];
    Mnist net{.fc1 = nn::LinearConfig(inputs, 32).init()};
    expect_whole(load_from(net, file));
    EXPECT_EQ(numbers(net.fc1.weight), stored(file, "fc1.weight", true));
    Mnist borrowed{.fc1 = nn::LinearConfig(inputs, 32).init()};
    expect_whole(load_from(borrowed, PytorchStore(file).zero_copy()));
    EXPECT_EQ(numbers(borrowed.conv3.weight), numbers(net.conv3.weight));
  }
}

}  // namespace
}  // namespace andiron
