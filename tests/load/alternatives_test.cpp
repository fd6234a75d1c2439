// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads that let the names of a source choose alternatives.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/apply.h"
#include "andiron/key_map.h"
#include "andiron/nn/conv.h"
#include "andiron/nn/linear.h"
#include "andiron/stores.h"
#include "tests/support/sample_net.h"

namespace andiron {
namespace {

using test::f32;
using Names = std::vector<std::string>;

using Layer = std::variant<nn::Linear, nn::Conv1d, std::monostate>;

struct LayerNet {
  Param scale = Param(f32({2}, 0));
  Layer layer = nn::LinearConfig(2, 3).init();
  ANDIRON_MODULE(LayerNet, scale, layer)
};

Archive source_of(const std::vector<std::pair<std::string, Shape>>& tensors) {
  Archive archive;
  for (const auto& [name, shape] : tensors) {
    archive.add(TensorSnapshot(name, f32(shape, 1))).value();
  }
  return archive;
}

Archive conv_source() {
  return source_of(
      {{"scale", {2}}, {"layer.Conv1d.weight", {4, 2, 3}}, {"layer.Conv1d.bias", {4}}});
}

TEST(Alternatives, NamesChooseTheAlternativeAndANoteTells) {
  LayerNet net;
  const ApplyResult result = apply(net, conv_source()).value();
  EXPECT_EQ(result.applied, (Names{"scale", "layer.Conv1d.weight", "layer.Conv1d.bias"}));
  EXPECT_EQ(result.notes,
            std::vector<Message>{"the source's names choose the alternative 'Conv1d' of 'layer', "
                                 "which held 'Linear'"});
  const auto* conv = std::get_if<nn::Conv1d>(&net.layer);
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->weight.shape(), Shape({4, 2, 3}));
  EXPECT_EQ(conv->bias->as<float>().value()[3], 4);
}

TEST(Alternatives, OptionalPartsAreThoseThatTheSourceHas) {
  LayerNet net;
  apply(net, source_of({{"scale", {2}}, {"layer.Conv1d.weight", {4, 2, 3}}})).value();
  EXPECT_FALSE(std::get<nn::Conv1d>(net.layer).bias);
}

TEST(Alternatives, TheyCanBeTurnedOff) {
  LayerNet net;
  const Error error = apply(net, conv_source(), {.choose_variants = false}).error();
  EXPECT_EQ(error.code, ErrorCode::missing_tensor);
  EXPECT_TRUE(std::holds_alternative<nn::Linear>(net.layer));
  const auto store = SafetensorsStore::from_bytes(write_to_memory(conv_source()).value());
  EXPECT_FALSE(load_from(net, SafetensorsStore(store).choose_variants(false)));
  EXPECT_TRUE(load_from(net, store));
}

TEST(Alternatives, AFailedLoadKeepsTheOldOne) {
  LayerNet net;
  const float before = net.scale.as<float>().value()[0];
  const Archive source = source_of({{"scale", {3}}, {"layer.Conv1d.weight", {4, 2, 3}}});
  EXPECT_EQ(apply(net, source).error().code, ErrorCode::shape_mismatch);
  EXPECT_TRUE(std::holds_alternative<nn::Linear>(net.layer));
  EXPECT_EQ(net.scale.as<float>().value()[0], before);
}

TEST(Alternatives, APlanChangesNothing) {
  const LayerNet net;
  const Plan planned = plan(net, conv_source()).value();
  EXPECT_EQ(planned.tensors.size(), 3u);
  EXPECT_EQ(planned.result.notes.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<nn::Linear>(net.layer));
  const KeyMap map = key_map(net, conv_source()).value();
  EXPECT_EQ(map.tensors[1].uses.at(0).path, "layer.Conv1d.weight");
}

TEST(Alternatives, TheSameNamesLeaveThePresentOne) {
  LayerNet net;
  const Archive source = source_of({{"scale", {2}}, {"layer.weight", {4, 2, 3}}});
  const Error error = apply(net, source, {.skip_enum_variants = true}).error();
  EXPECT_EQ(error.report->missing.at(0).path, "layer.bias");
  EXPECT_TRUE(std::holds_alternative<nn::Linear>(net.layer));
}

TEST(Alternatives, SeveralThatMatchLeaveThePresentOne) {
  struct Net {
    std::variant<Case<"A", nn::Linear>, Case<"B", nn::Linear>, Case<"C", nn::Conv1d>> layer;
    ANDIRON_MODULE(Net, layer)
  } net;
  const Archive source = source_of({{"layer.B.weight", {2, 2}}, {"layer.C.weight", {2, 2, 2}}});
  EXPECT_FALSE(apply(net, source));
  EXPECT_EQ(net.layer.index(), 0u);
}

TEST(Alternatives, OneWithoutParametersGivesWayAndIsNeverChosen) {
  LayerNet empty;
  empty.layer = std::monostate();
  apply(empty, conv_source()).value();
  EXPECT_TRUE(std::holds_alternative<nn::Conv1d>(empty.layer));
  LayerNet net;
  EXPECT_FALSE(apply(net, source_of({{"scale", {2}}})));
  EXPECT_TRUE(std::holds_alternative<nn::Linear>(net.layer));
}

TEST(Alternatives, VariantsWithinVariantsAreChosenToo) {
  struct Inner {
    Layer layer;
    Param weight;
    ANDIRON_MODULE(Inner, layer, weight)
  };
  struct Net {
    std::variant<nn::Linear, Inner> outer;
    ANDIRON_MODULE(Net, outer)
  } net;
  const Archive source =
      source_of({{"outer.Inner.layer.Conv1d.weight", {4, 2, 3}}, {"outer.Inner.weight", {2}}});
  const ApplyResult result = apply(net, source).value();
  EXPECT_EQ(result.applied, (Names{"outer.Inner.layer.Conv1d.weight", "outer.Inner.weight"}));
  EXPECT_EQ(result.notes.size(), 2u);
  const Inner& inner = std::get<Inner>(net.outer);
  EXPECT_EQ(std::get<nn::Conv1d>(inner.layer).weight.shape(), Shape({4, 2, 3}));
}

TEST(Alternatives, AnOptionalIsKeptForAnotherAlternativeOfItsVariant) {
  struct Inner {
    std::optional<Layer> layer;
    std::optional<Layer> other;
    Param weight;
    ANDIRON_MODULE(Inner, layer, other, weight)
  };
  struct Net {
    std::variant<nn::Linear, Inner> outer;
    ANDIRON_MODULE(Net, outer)
  } net;
  const Archive source =
      source_of({{"outer.Inner.layer.Conv1d.weight", {4, 2, 3}}, {"outer.Inner.weight", {2}}});
  apply(net, source).value();
  const Inner& inner = std::get<Inner>(net.outer);
  ASSERT_TRUE(inner.layer);
  EXPECT_EQ(std::get<nn::Conv1d>(*inner.layer).weight.shape(), Shape({4, 2, 3}));
  EXPECT_FALSE(inner.other);
}

TEST(Alternatives, AFilterThatLeavesTheVariantOutLeavesItAlone) {
  LayerNet net;
  ApplyOptions options;
  options.filter.with_regex("^scale$");
  apply(net, conv_source(), options).value();
  EXPECT_TRUE(std::holds_alternative<nn::Linear>(net.layer));
}

TEST(Alternatives, RanksMustAgree) {
  struct Ranked {
    Param weight = Param(f32({2, 2}, 0));
    ANDIRON_MODULE(Ranked, weight)
  };
  struct Net {
    std::variant<nn::Conv1d, Ranked> layer;
    ANDIRON_MODULE(Net, layer)
  } net;
  EXPECT_FALSE(apply(net, source_of({{"layer.Ranked.weight", {2, 2, 2}}})));
  EXPECT_EQ(net.layer.index(), 0u);
  EXPECT_TRUE(apply(net, source_of({{"layer.Ranked.weight", {2, 2}}})));
  EXPECT_EQ(net.layer.index(), 1u);
}

TEST(Alternatives, AVariantThatSeveralPointersLeadToIsLeftAlone) {
  struct P {
    Param p;
    ANDIRON_MODULE(P, p)
  };
  struct Q {
    Param q;
    ANDIRON_MODULE(Q, q)
  };
  struct Inner {
    std::variant<P, Q> y;
    ANDIRON_MODULE(Inner, y)
  };
  struct A {
    Param a;
    std::shared_ptr<Inner> inner = std::make_shared<Inner>();
    ANDIRON_MODULE(A, a, inner)
  };
  struct B {
    Param b;
    ANDIRON_MODULE(B, b)
  };
  struct Shared {
    std::variant<A, B> x;
    ANDIRON_MODULE(Shared, x)
  };
  struct Net {
    std::shared_ptr<Shared> first = std::make_shared<Shared>();
    std::shared_ptr<Shared> second = first;
    ANDIRON_MODULE(Net, first, second)
  } net;
  const Archive source =
      source_of({{"first.x.B.b", {2}}, {"second.x.A.a", {2}}, {"second.x.A.inner.y.Q.q", {2}}});
  EXPECT_TRUE(apply(net, source, {.allow_partial = true}));
  EXPECT_TRUE(std::holds_alternative<A>(net.first->x));
}

struct ExplicitLayer {
  explicit ExplicitLayer(int size = 3) : size(size) {}
  Param weight;
  int size;
  ANDIRON_MODULE(ExplicitLayer, weight)
};

TEST(Alternatives, AnExplicitConstructorWillDo) {
  struct Net {
    std::variant<nn::Conv1d, ExplicitLayer> layer;
    ANDIRON_MODULE(Net, layer)
  } net;
  apply(net, source_of({{"layer.ExplicitLayer.weight", {2}}})).value();
  EXPECT_EQ(std::get<ExplicitLayer>(net.layer).size, 3);
}

TEST(Alternatives, EmptyListsOfANewAlternativeAreTold) {
  struct Experts {
    Param gate;
    std::vector<Param> experts;
    ANDIRON_MODULE(Experts, gate, experts)
  };
  struct Net {
    std::variant<nn::Conv1d, Experts> layer;
    ANDIRON_MODULE(Net, layer)
  } net;
  const ApplyResult result =
      apply(net, source_of({{"layer.Experts.gate", {2}}, {"layer.Experts.experts.0", {2}}}),
            {.allow_unused = true})
          .value();
  ASSERT_EQ(result.notes.size(), 2u);
  EXPECT_NE(result.notes[0].find("which is an empty list"), std::string::npos) << result.notes[0];
}

}  // namespace
}  // namespace andiron
