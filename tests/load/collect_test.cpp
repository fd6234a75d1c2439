// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "andiron/apply.h"
#include "andiron/nn/embedding.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;
using test::sample_net;
using test::SampleNet;

using Names = std::vector<std::string>;

TEST(Collect, GivesEveryParameterInModuleOrderWithItsContainerAndId) {
  const SampleNet net = sample_net(1);
  const Snapshots tensors = collect(net).value();
  EXPECT_EQ(tensors.keys(),
            (Names{"blocks.0.linear.weight", "blocks.0.linear.bias", "blocks.0.norm.gamma",
                   "blocks.0.norm.beta", "blocks.1.linear.weight", "blocks.1.linear.bias",
                   "blocks.1.norm.gamma", "blocks.1.norm.beta", "head.weight", "scale", "steps"}));
  EXPECT_EQ(tensors[0].container().path(), "Struct:SampleNet.Vec.Struct:SampleBlock.Struct:Linear");
  EXPECT_EQ(tensors[0].container().module_type(), "Struct:Linear");
  EXPECT_EQ(tensors[0].param_id(), net.blocks[0].linear.weight.id());
  EXPECT_EQ(tensors[8].shape(), (Shape{4, 2}));
  EXPECT_EQ(tensors[10].dtype(), DType::i64);
}

TEST(Collect, SharesMemoryUntilAParameterIsChanged) {
  SampleNet net = sample_net(1);
  const Snapshots tensors = collect(net).value();
  net.head.weight.as_mutable<float>().value()[0] = -1;
  const SampleNet twin = sample_net(1);
  const float first = twin.head.weight.as<float>().value()[0];
  EXPECT_EQ(tensors.find("head.weight")->read().value().to_vector<float>().value()[0], first);
}

TEST(Collect, TakesWhatTheFilterTakes) {
  const SampleNet net = sample_net(1);
  const PathFilter several = PathFilter().with_regex(R"(\.gamma$)").with_regex("^head");
  EXPECT_EQ(collect(net, {.filter = several}).value().keys(),
            (Names{"blocks.0.norm.gamma", "blocks.1.norm.gamma", "head.weight"}));
  int asked = 0;
  const PathFilter linears =
      PathFilter().with_predicate([&asked](std::string_view, const Container& container) {
        ++asked;
        return container.is("Struct:Linear");
      });
  EXPECT_EQ(collect(net, {.filter = linears}).value().size(), 5U);
  EXPECT_EQ(asked, 11);
}

TEST(Collect, FiltersByTheModulesNamesBeforeTheAdapterChangesThem) {
  const SampleNet net = sample_net(1);
  const Snapshots tensors =
      collect(net, {.filter = PathFilter().with_regex("gamma$"), .adapter = BurnToPyTorchAdapter()})
          .value();
  EXPECT_EQ(tensors.keys(), (Names{"blocks.0.norm.weight", "blocks.1.norm.weight"}));
}

TEST(Collect, ComputesLazyParameters) {
  const nn::Embedding layer = nn::EmbeddingConfig(3, 2).init();
  EXPECT_FALSE(layer.weight.is_initialized());
  EXPECT_EQ(collect(layer).value()[0].shape(), (Shape{3, 2}));
  EXPECT_TRUE(layer.weight.is_initialized());
}

TEST(Collect, NamesTheParameterThatIsNotSet) {
  SampleNet net = sample_net(1);
  net.scale = Param();
  const Result<Snapshots> tensors = collect(net);
  ASSERT_FALSE(tensors);
  EXPECT_EQ(tensors.error().code, ErrorCode::missing_tensor);
  EXPECT_EQ(tensors.error().tensor, "scale");
}

TEST(Collect, ReturnsTheErrorOfABadFilterOrAdapter) {
  const SampleNet net = sample_net(1);
  EXPECT_EQ(collect(net, {.filter = PathFilter().with_regex("(")}).error().code,
            ErrorCode::invalid_pattern);
  EXPECT_EQ(collect(net, {.adapter = FloatCastAdapter::to(DType::u8)}).error().code,
            ErrorCode::invalid_argument);
}

TEST(Snapshots, CanBeRenamedThinnedOutAndJoined) {
  Snapshots tensors = collect(sample_net(1)).value();
  tensors.remove_if([](const TensorSnapshot& tensor) { return tensor.full_path() != "scale"; });
  Snapshots more = collect(sample_net(2), {.filter = PathFilter().with_full_path("scale")}).value();
  for (TensorSnapshot& tensor : more) tensor.set_full_path("other." + tensor.full_path());
  tensors.extend(more);
  EXPECT_EQ(tensors.keys(), (Names{"scale", "other.scale"}));
  EXPECT_EQ(tensors.find("nothing"), nullptr);
  tensors.push_back(TensorSnapshot("scale", f32({}, 5)));
  EXPECT_EQ(tensors.find("scale")->read().value().to_vector<float>().value()[0], 5);
}

TEST(CollectArchive, IsWhatApplyAndWriteTake) {
  const SampleNet teacher = sample_net(1);
  const Archive archive = collect_archive(teacher).value();
  EXPECT_EQ(archive.size(), collect(teacher).value().size());
  SampleNet student = sample_net(2);
  EXPECT_EQ(apply(student, archive).value().applied.size(), archive.size());
  EXPECT_EQ(collect(student).value().find("head.weight")->read().value().bytes().text(),
            archive.get("head.weight").value().read().value().bytes().text());
  EXPECT_EQ(plan(student, archive).value().tensors.size(), archive.size());
}

TEST(CollectArchive, TiesAreTensorsOfTheirOwnOrAliases) {
  struct Tied {
    Param a = Param(Tensor::from_values<float>({1}, {1}).value());
    Param b;
    ANDIRON_MODULE(Tied, a, b)
  };
  Tied model;
  tie(model.a, model.b);
  EXPECT_EQ(collect_archive(model).value().size(), 2u);
  const Archive once = collect_archive(model, {.ties_once = true}).value();
  EXPECT_EQ(once.size(), 1u);
  EXPECT_EQ(once.aliases(), (Aliases{{"b", "a"}}));
  EXPECT_EQ(once.info(0).param_id, model.a.id());
}

TEST(CollectArchive, CopiesOfAParamThatKeepItsIdGetANoteThatNamesBoth) {
  struct Four {
    Param a = Param(f32({1}, 1));
    Param b = Param(f32({1}, 2));
    Param c = Param(f32({1}, 3));
    Param d = Param(f32({1}, 4));
    ANDIRON_MODULE(Four, a, b, c, d)
  };
  Four model;
  EXPECT_TRUE(collect_archive(model).value().notes().empty());
  tie(model.a, model.d);
  EXPECT_TRUE(collect_archive(model).value().notes().empty());
  model.c = model.a;
  model.c.set_val(f32({1}, 5));
  const std::string advice =
      ", though they are not tied: a copy of a Param has its id; call "
      "set_id(ParamId::generate()) on the copy, or tie() them";
  EXPECT_EQ(collect_archive(model).value().notes(),
            std::vector<Message>{"'c' has the id of 'a'" + advice});
  model.b = model.a;
  EXPECT_EQ(
      collect_archive(model).value().notes(),
      std::vector<Message>{"'b' has the id of 'a' (and 1 other of another parameter)" + advice});
  // Nothing is wrong with what is saved.
  const PathFilter one = PathFilter().with_full_path("a");
  EXPECT_TRUE(collect_archive(model, {.filter = one}).value().notes().empty());
  model.b.set_id(ParamId::generate());
  model.c.set_id(ParamId::generate());
  EXPECT_TRUE(collect_archive(model).value().notes().empty());
}

TEST(CollectArchive, AFilterThatTakesNothingGetsANote) {
  const Archive none =
      collect_archive(sample_net(1), {.filter = PathFilter().with_full_path("x")}).value();
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.notes().size(), 1u);
}

}  // namespace
}  // namespace andiron
