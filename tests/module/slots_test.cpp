// SPDX-License-Identifier: MIT OR Apache-2.0
#include "andiron/module.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"

namespace third_party {
struct Dense {
  andiron::Tensor w;
  float scale = 1;
};
struct Buffer {
  std::vector<float> values;
};
}  // namespace third_party

template <>
struct andiron::Fields<third_party::Dense> {
  static constexpr std::string_view name = "Dense";
  static void each(auto& self, auto&& field) {
    field("weight", self.w);
    field("scale", self.scale);
  }
};

template <>
struct andiron::Leaf<third_party::Buffer> {
  static LeafInfo info(const third_party::Buffer& b) { return {DType::f32, {b.values.size()}}; }
  static Result<Tensor> get(const third_party::Buffer& b) {
    return Tensor::from_values<float>({b.values.size()}, b.values);
  }
  static Result<third_party::Buffer> make(const third_party::Buffer&, const Tensor& tensor) {
    Result<std::vector<float>> values = tensor.to_vector<float>();
    if (!values) return std::move(values).error();
    return third_party::Buffer{*std::move(values)};
  }
};

namespace andiron {
namespace {

// "path container" of every leaf.
template <class M>
std::vector<std::string> leaves(M& module, bool skip_enum_variants = false) {
  std::vector<std::string> lines;
  for (const detail::Slot& slot : detail::slots_of(module, skip_enum_variants)) {
    lines.push_back(slot.path + " " + slot.container.path());
  }
  return lines;
}

using Lines = std::vector<std::string>;

struct Encoder {
  std::vector<nn::Linear> layers;
  ANDIRON_MODULE(Encoder, layers)
};
struct SwiGlu {
  nn::Linear linear_inner;
  ANDIRON_MODULE(SwiGlu, linear_inner)
};
struct Gelu {
  ANDIRON_MODULE(Gelu)
};
struct Activation : std::variant<Gelu, Case<"Swi", SwiGlu>> {
  using variant::variant;
};
struct Model {
  Encoder encoder;
  Activation act;
  ANDIRON_MODULE(Model, encoder, act)
};

Model sample_model() {
  Model model;
  model.encoder.layers.resize(1);
  model.encoder.layers[0].bias.emplace();
  model.act = Case<"Swi", SwiGlu>();
  return model;
}

TEST(Module, HasBurnsPathsAndContainers) {
  const Model model = sample_model();
  EXPECT_EQ(leaves(model),
            (Lines{"encoder.layers.0.weight Struct:Model.Struct:Encoder.Vec.Struct:Linear",
                   "encoder.layers.0.bias Struct:Model.Struct:Encoder.Vec.Struct:Linear",
                   "act.Swi.linear_inner.weight "
                   "Struct:Model.Enum:Activation.Struct:SwiGlu.Struct:Linear"}));
}

TEST(Module, LeavesVariantNamesOutOfPathsWhenAskedTo) {
  const Model model = sample_model();
  EXPECT_EQ(leaves(model, true).back(),
            "act.linear_inner.weight Struct:Model.Enum:Activation.Struct:SwiGlu.Struct:Linear");
}

TEST(Module, ThatIsALayerHasPathsOfOneSegment) {
  const nn::Linear layer = nn::LinearConfig(10, 20).init();
  EXPECT_EQ(leaves(layer), (Lines{"weight Struct:Linear", "bias Struct:Linear"}));
}

struct Parts {
  std::array<Param, 2> pair;
  Param plain[2];
  std::deque<Param> queue;
  std::tuple<nn::Linear, Param> mixed;
  std::pair<Param, Tensor> two;
  std::optional<Param> none;
  std::optional<nn::Linear> some;
  std::unique_ptr<nn::Linear> owned;
  std::unique_ptr<nn::Linear> empty;
  std::shared_ptr<Param> shared;
  std::map<std::string, nn::Linear> named;
  int heads = 8;
  std::string title;
  Constant<std::vector<float>> table;
  Tensor buffer;
  ANDIRON_MODULE(Parts, pair, plain, queue, mixed, two, none, some, owned, empty, shared, named,
                 heads, title, table, buffer)
};

TEST(Module, WalksThroughEveryKindOfContainer) {
  Parts parts;
  parts.queue.resize(1);
  parts.some.emplace();
  parts.owned = std::make_unique<nn::Linear>();
  parts.shared = std::make_shared<Param>();
  parts.named["value"];
  parts.named["key"];
  EXPECT_EQ(
      leaves(parts),
      (Lines{"pair.0 Struct:Parts.Array", "pair.1 Struct:Parts.Array", "plain.0 Struct:Parts.Array",
             "plain.1 Struct:Parts.Array", "queue.0 Struct:Parts.Vec",
             "mixed.0.weight Struct:Parts.Tuple.Struct:Linear", "mixed.1 Struct:Parts.Tuple",
             "two.0 Struct:Parts.Tuple", "two.1 Struct:Parts.Tuple",
             "some.weight Struct:Parts.Struct:Linear", "owned.weight Struct:Parts.Struct:Linear",
             "shared Struct:Parts", "named.key.weight Struct:Parts.Map.Struct:Linear",
             "named.value.weight Struct:Parts.Map.Struct:Linear", "buffer Struct:Parts"}));
}

class Hidden {
 public:
  static constexpr std::string_view module_name = "Renamed";
  static void fields(auto& self, auto&& field) {
    field("kernel", self.weight_);
    if (self.has_bias_) field("bias", self.bias_);
  }
  void drop_bias() { has_bias_ = false; }

 private:
  Param weight_;
  Param bias_;
  bool has_bias_ = true;
};

TEST(Module, MayListItsFieldsWithAFunction) {
  Hidden module;
  EXPECT_EQ(leaves(module), (Lines{"kernel Struct:Renamed", "bias Struct:Renamed"}));
  module.drop_bias();
  EXPECT_EQ(leaves(std::as_const(module)), (Lines{"kernel Struct:Renamed"}));
}

class Unnamed {
 public:
  static void fields(auto& self, auto&& field) { field("a", self.a); }
  Param a;
};

template <class T>
struct Block {
  T inner;
  ANDIRON_MODULE(Block, inner)
};

class Private {
  Param secret_;
  ANDIRON_MODULE(Private, secret_)
};

TEST(Module, GoesByTheBareNameOfItsType) {
  const Unnamed unnamed;
  EXPECT_EQ(leaves(unnamed), (Lines{"a Struct:Unnamed"}));
  const Block<Unnamed> block;
  EXPECT_EQ(leaves(block), (Lines{"inner.a Struct:Block.Struct:Unnamed"}));
  EXPECT_EQ(detail::bare_name("nets::Block<std::vector<float>>"), "Block");
  EXPECT_EQ(detail::bare_name("nets::Block<nets::Cell>::Inner"), "Inner");
}

template <class T>
struct Outer {
  struct Inner {
    Param weight;
    static void fields(auto& self, auto&& field) { field("weight", self.weight); }
  };
  Inner inner;
  ANDIRON_MODULE(Outer, inner)
};

TEST(Module, NestedInATemplateGoesByItsOwnName) {
  const Outer<float> outer;
  EXPECT_EQ(leaves(outer), (Lines{"inner.weight Struct:Outer.Struct:Inner"}));
}

TEST(Module, KeepsEmptyKeysOfMapsApart) {
  std::map<std::string, std::map<std::string, Param>> maps;
  maps[""]["w"];
  maps["a"][""];
  EXPECT_EQ(leaves(maps), (Lines{".w Map.Map", "a. Map.Map"}));
}

TEST(Module, MayKeepItsFieldsPrivate) {
  const Private module;
  EXPECT_EQ(leaves(module), (Lines{"secret_ Struct:Private"}));
}

TEST(Module, MayBeLocalToAFunctionAndStaysAnAggregate) {
  struct Local {
    Param a;
    int size;
    ANDIRON_MODULE(Local, a)
  };
  static_assert(std::is_aggregate_v<Local>);
  const Local local{.a = Param(), .size = 3};
  EXPECT_EQ(leaves(local), (Lines{"a Struct:Local"}));
}

struct UsesOthers {
  third_party::Dense dense;
  third_party::Buffer buffer;
  ANDIRON_MODULE(UsesOthers, dense, buffer)
};

TEST(Module, TakesTypesThatAreDescribedFromOutside) {
  const UsesOthers module;
  EXPECT_EQ(leaves(module),
            (Lines{"dense.weight Struct:UsesOthers.Struct:Dense", "buffer Struct:UsesOthers"}));
}

TEST(Module, NamesAlternativesByCaseOrByTheirModule) {
  const std::variant<std::monostate, nn::Linear, Case<"Other", nn::Linear>> empty;
  EXPECT_TRUE(leaves(empty).empty());
  const std::variant<std::monostate, nn::Linear, Case<"Other", nn::Linear>> plain = nn::Linear();
  EXPECT_EQ(leaves(plain), (Lines{"Linear.weight Enum:variant.Struct:Linear"}));
  const std::variant<std::monostate, nn::Linear, Case<"Other", nn::Linear>> other =
      Case<"Other", nn::Linear>();
  EXPECT_EQ(leaves(other), (Lines{"Other.weight Enum:variant.Struct:Linear"}));
  EXPECT_EQ(leaves(other, true), (Lines{"weight Enum:variant.Struct:Linear"}));
}

struct NormWithStatistics {
  nn::BatchNorm norm = nn::BatchNormConfig(2).init();
  ANDIRON_MODULE(NormWithStatistics, norm)
};

TEST(Module, VisitsRunningStatistics) {
  const NormWithStatistics module;
  EXPECT_EQ(leaves(module), (Lines{"norm.gamma Struct:NormWithStatistics.Struct:BatchNorm",
                                   "norm.beta Struct:NormWithStatistics.Struct:BatchNorm",
                                   "norm.running_mean Struct:NormWithStatistics.Struct:BatchNorm",
                                   "norm.running_var Struct:NormWithStatistics.Struct:BatchNorm"}));
}

TEST(Module, LeavesOfOneModuleShareOneContainer) {
  const nn::Linear layer = nn::LinearConfig(2, 2).init();
  const std::vector<detail::Slot> slots = detail::slots_of(layer, false);
  ASSERT_EQ(slots.size(), 2U);
  EXPECT_EQ(&slots[0].container.kinds(), &slots[1].container.kinds());
}

TEST(Module, IsAConcept) {
  static_assert(Module<nn::Linear>);
  static_assert(Module<Hidden>);
  static_assert(Module<third_party::Dense>);
  static_assert(!Module<int>);
}

}  // namespace
}  // namespace andiron
