// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads into models that are known by their parameters alone, and proposals that are applied.
#include <gtest/gtest.h>

#include "andiron/stores.h"
#include "andiron/write.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

Archive listed_file(const std::vector<std::pair<std::string, Shape>>& tensors) {
  Archive archive;
  float next = 0;
  for (const auto& [name, shape] : tensors) {
    archive.add(TensorSnapshot(name, test::f32(shape, next += 100))).value();
  }
  return archive;
}

TEST(PlanListing, SaysWhatALoadWouldDo) {
  const Archive file = listed_file({{"a", {2}}, {"b", {3}}});
  const Plan plan = plan_listing({{"a", DType::f32, {2}}, {"c", DType::f32, {3}}}, file).value();
  EXPECT_EQ(plan.result.applied, std::vector<std::string>{"a"});
  ASSERT_EQ(plan.result.missing.size(), 1u);
  EXPECT_EQ(plan.result.missing[0].path, "c");
}

TEST(PlanListing, RefusesAParameterThatIsListedTwice) {
  EXPECT_EQ(plan_listing({{"a"}, {"a"}}, Archive()).error().code, ErrorCode::name_collision);
}

TEST(PlanListing, CutsOnlyTheTensorsThatAreMeant) {
  std::vector<ListedParameter> model = {{"vision.attn.qkv.weight", DType::f32, {24, 8}}};
  for (const char* name : {"q", "k", "v"}) {
    model.push_back({std::string("text.attn.") + name + ".weight", DType::f32, {4, 4}});
  }
  const Archive file =
      listed_file({{"text.attn.qkv.weight", {12, 4}}, {"vision.attn.qkv.weight", {24, 8}}});
  const Plan plan = plan_listing(model, file).value();
  ASSERT_FALSE(plan.result.proposals.empty());
  EXPECT_EQ(plan.result.proposals[0].matched, 4u) << plan.result.proposals[0].code;
}

TEST(PlanListing, LeavesASquareEmbeddingAsItIs) {
  std::vector<std::pair<std::string, Shape>> tensors = {{"wte.weight", {50, 4}},
                                                        {"wpe.weight", {4, 4}}};
  std::vector<ListedParameter> model = {{"tok.weight", DType::f32, {50, 4}},
                                        {"pos.weight", DType::f32, {4, 4}}};
  for (const std::string n : {"0", "1"}) {
    tensors.push_back({"h." + n + ".mlp.c_fc.weight", {4, 16}});
    tensors.push_back({"h." + n + ".mlp.c_fc.bias", {16}});
    tensors.push_back({"h." + n + ".mlp.c_proj.weight", {16, 4}});
    tensors.push_back({"h." + n + ".mlp.c_proj.bias", {4}});
    model.push_back({"blocks." + n + ".mlp.fc1.weight", DType::f32, {16, 4}});
    model.push_back({"blocks." + n + ".mlp.fc1.bias", DType::f32, {16}});
    model.push_back({"blocks." + n + ".mlp.fc2.weight", DType::f32, {4, 16}});
    model.push_back({"blocks." + n + ".mlp.fc2.bias", DType::f32, {4}});
  }
  const Plan plan = plan_listing(model, listed_file(tensors)).value();
  ASSERT_FALSE(plan.result.proposals.empty());
  const std::string& code = plan.result.proposals[0].code;
  EXPECT_NE(code.find(".transpose_tensors("), std::string::npos) << code;
  EXPECT_EQ(code.find("pos\\.weight|"), std::string::npos) << code;
  EXPECT_EQ(code.find("^pos"), std::string::npos) << code;
}

TEST(PlanListing, TransposesSquareMatricesLikeTheOthersOfTheirBlock) {
  std::vector<std::pair<std::string, Shape>> tensors;
  std::vector<ListedParameter> model;
  for (const std::string n : {"0", "1"}) {
    for (const char* name : {"attn.q_proj", "attn.k_proj"}) {
      tensors.push_back({"layers." + n + "." + name + ".weight", {4, 4}});
      tensors.push_back({"layers." + n + "." + name + ".bias", {4}});
      model.push_back({"layers." + n + "." + name + ".weight", DType::f32, {4, 4}});
      model.push_back({"layers." + n + "." + name + ".bias", DType::f32, {4}});
    }
    tensors.push_back({"layers." + n + ".mlp.fc1.weight", {16, 4}});
    tensors.push_back({"layers." + n + ".mlp.fc1.bias", {16}});
    model.push_back({"layers." + n + ".mlp.fc1.weight", DType::f32, {4, 16}});
    model.push_back({"layers." + n + ".mlp.fc1.bias", DType::f32, {16}});
  }
  const Plan plan = plan_listing(model, listed_file(tensors)).value();
  ASSERT_FALSE(plan.result.proposals.empty());
  EXPECT_NE(plan.result.proposals[0].code.find("q_proj"), std::string::npos)
      << plan.result.proposals[0].code;
}

TEST(PlanListing, TakesTheLayoutThatTheFileTells) {
  Archive file = listed_file({{"x.a.weight", {4, 4}}, {"x.b.weight", {4, 4}}});
  file.set_metadata({{"format", "pt"}});
  const Plan plan = plan_listing({{"a.weight", DType::f32, {4, 4}, "Linear"},
                                  {"b.weight", DType::f32, {4, 4}, "Linear"}},
                                 file)
                        .value();
  ASSERT_FALSE(plan.result.proposals.empty());
  EXPECT_EQ(plan.result.proposals[0].code,
            ".with_top_level_key(\"x\")\n.with_from_adapter(PyTorchToBurnAdapter())");
}

struct Pair {
  Param first = Param(test::f32({2}, 0));
  Param second = Param(test::f32({3}, 0));
  ANDIRON_MODULE(Pair, first, second)
};

Bytes wrapped_pair(const std::string& second) {
  return write_to_memory(listed_file({{"model.first", {2}}, {"model." + second, {3}}})).value();
}

TEST(ApplyProposal, MakesAStoreFit) {
  Pair model;
  auto store = SafetensorsStore::from_bytes(wrapped_pair("second"));
  const std::vector<Proposal> proposals = propose(model, store).value();
  ASSERT_FALSE(proposals.empty());
  store.apply(proposals[0]);
  const ApplyResult result = load_from(model, store).value();
  EXPECT_EQ(result.applied.size(), 2u);
  EXPECT_TRUE(result.notes.empty());
  EXPECT_TRUE(propose(model, store).value().empty());
}

TEST(ApplyProposal, ComputesTheWeightsOfWeightNorm) {
  struct Layer {
    Param weight = Param(test::f32({2, 1}, 0));
    ANDIRON_MODULE(Layer, weight)
  };
  Archive parts;
  parts.add(TensorSnapshot("weight_g", test::f32({2, 1}, 3))).value();
  parts.add(TensorSnapshot("weight_v", test::f32({2, 1}, 7))).value();
  Layer model;
  auto store = SafetensorsStore::from_bytes(write_to_memory(parts).value());
  const std::vector<Proposal> proposals = propose(model, store).value();
  ASSERT_FALSE(proposals.empty());
  EXPECT_EQ(load_from(model, store.apply(proposals[0])).value().applied.size(), 1u);
}

TEST(ApplyProposal, SaysInTheResultThatThereIsAGuess) {
  Pair model;
  auto store = SafetensorsStore::from_bytes(wrapped_pair("zorg"));
  const std::vector<Proposal> proposals = propose(model, store).value();
  ASSERT_FALSE(proposals.empty());
  ASSERT_TRUE(proposals[0].is_guess()) << proposals[0].code;
  const ApplyResult result = load_from(model, store.apply(proposals[0])).value();
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_NE(result.notes[0].find("guessed; check what it loads: .with_key_remapping("),
            std::string::npos)
      << result.notes[0];
}

TEST(ApplyProposal, IsNotSearchedForWhereNobodyAsks) {
  Pair model;
  auto store = SafetensorsStore::from_bytes(wrapped_pair("second")).search_proposals(false);
  EXPECT_TRUE(load_from(model, store).error().report->proposals.empty());
}

TEST(ApplyProposal, CountsTiedParametersOnce) {
  struct Tied {
    Param embedding = Param(test::f32({5, 2}, 0));
    Param output = embedding;
    Param bias = Param(test::f32({3}, 0));
    ANDIRON_MODULE(Tied, embedding, output, bias)
  };
  Tied model;
  tie(model.embedding, model.output);
  const Archive file = listed_file({{"model.embedding", {5, 2}}, {"model.bias", {3}}});
  const std::vector<Proposal> proposals =
      propose(model, SafetensorsStore::from_bytes(write_to_memory(file).value())).value();
  ASSERT_FALSE(proposals.empty());
  EXPECT_EQ(proposals[0].matched, 2u);
  EXPECT_EQ(proposals[0].wanted, 2u);
  EXPECT_EQ(proposals[0].code, ".with_top_level_key(\"model\")");
}

struct Affine {
  Param weight = Param(test::f32({4, 4}, 0));
  Param bias = Param(test::f32({4}, 0));
  ANDIRON_MODULE(Affine, weight, bias)
};
struct Layers {
  std::vector<Affine> layers;
  ANDIRON_MODULE(Layers, layers)
  static Layers of_sizes(const std::vector<std::uint64_t>& sizes) {
    Layers model;
    for (std::size_t i = 1; i < sizes.size(); ++i) {
      Affine& layer = model.layers.emplace_back();
      layer.weight = Param(test::f32({sizes[i], sizes[i - 1]}, 0));
      layer.bias = Param(test::f32({sizes[i]}, 0));
    }
    return model;
  }
};

// Keras's layers are numbered with the activations between them, and their matrices are [in, out].
TEST(ApplyProposal, TransposesKernelsOfAListWhoseGapsAreClosed) {
  const Archive file = listed_file({{"net.0.kernel", {3, 4}},
                                    {"net.0.bias", {4}},
                                    {"net.2.kernel", {4, 5}},
                                    {"net.2.bias", {5}},
                                    {"net.4.kernel", {5, 2}},
                                    {"net.4.bias", {2}},
                                    {"net.4.norm.weight", {6, 2}}});
  for (const bool closes : {false, true}) {
    Layers model = Layers::of_sizes({3, 4, 5, 2});
    auto store =
        SafetensorsStore::from_bytes(write_to_memory(file).value()).map_indices_contiguous(closes);
    const std::vector<Proposal> proposals = propose(model, store).value();
    ASSERT_FALSE(proposals.empty());
    EXPECT_EQ(proposals[0].matched, 6u) << proposals[0].code;
    EXPECT_FALSE(proposals[0].is_guess()) << proposals[0].code;
    const Result<ApplyResult> result = load_from(model, store.apply(proposals[0]));
    ASSERT_TRUE(result) << result.error().to_string() << proposals[0].code;
    const Tensor turned = file.get("net.2.kernel").value().permute({1, 0}).value().read().value();
    EXPECT_EQ(model.layers[1].weight.val().value().to_vector<float>().value(),
              turned.to_vector<float>().value());
  }
}

TEST(ApplyProposal, LoadsWhereTheModuleIsTooShort) {
  const Archive file = listed_file({{"net.layers.0.weight", {4, 3}},
                                    {"net.layers.0.bias", {4}},
                                    {"net.layers.1.weight", {5, 4}},
                                    {"net.layers.1.bias", {5}}});
  Layers model = Layers::of_sizes({3, 4});
  auto store = SafetensorsStore::from_bytes(write_to_memory(file).value());
  const std::vector<Proposal> proposals = propose(model, store).value();
  ASSERT_FALSE(proposals.empty());
  EXPECT_EQ(
      proposals[0].code,
      ".with_top_level_key(\"net\")\n.allow_unused(true)  // a guess, the module is too short "
      "for 'layers.1.bias'");
  EXPECT_TRUE(proposals[0].is_guess());
  const Result<ApplyResult> result = load_from(model, store.apply(proposals[0]));
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->applied.size(), 2u);
}

TEST(ApplyProposal, AllowsNothingWhereTheModuleIsLongEnough) {
  const Archive file = listed_file(
      {{"net.layers.0.weight", {4, 3}}, {"net.layers.0.bias", {4}}, {"net.loss.weight", {5, 4}}});
  Layers model = Layers::of_sizes({3, 4});
  auto store = SafetensorsStore::from_bytes(write_to_memory(file).value());
  const std::vector<Proposal> proposals = propose(model, store).value();
  ASSERT_FALSE(proposals.empty());
  EXPECT_EQ(proposals[0].code, ".with_top_level_key(\"net\")");
  EXPECT_TRUE(load_from(model, store.apply(proposals[0])));
}

}  // namespace
}  // namespace andiron
