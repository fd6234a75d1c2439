// SPDX-License-Identifier: MIT OR Apache-2.0
// Places, what adapters do unless told otherwise, chains, and adapters written by hand.
#include "andiron/adapter.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "tests/adapters/list_lookup.h"

namespace andiron {
namespace {

using test::counting;
using test::Floats;
using test::floats_of;
using test::ListLookup;
using test::tensor_of;

const Container linear({"Struct:Net", "Struct:Linear"});
const Container norm({"Struct:Net", "Struct:LayerNorm"});

// ---- Places ----

TEST(Place, NamesTheLastSegment) {
  EXPECT_EQ((Place{"encoder.layers.0.weight", {}}.name()), "weight");
  EXPECT_EQ((Place{"weight", {}}.name()), "weight");
  EXPECT_EQ((Place{"", {}}.name()), "");
}

TEST(Place, KnowsThePathAroundIt) {
  EXPECT_EQ((Place{"encoder.layers.0.weight", {}}.parent()), "encoder.layers.0");
  EXPECT_EQ((Place{"weight", {}}.parent()), "");
  EXPECT_EQ((Place{"", {}}.parent()), "");
}

TEST(Place, KeepsTheEnclosingPathUnderAnotherName) {
  EXPECT_EQ((Place{"encoder.norm.gamma", {}}.with_name("weight")), "encoder.norm.weight");
  EXPECT_EQ((Place{"gamma", {}}.with_name("weight")), "weight");
}

// ---- Adapters that change one tensor ----

// Gives tensors of one name another on a save, and counts its calls.
class Renames final : public Chainable<Renames> {
 public:
  Renames(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}
  int calls() const { return *calls_; }

 protected:
  Result<TensorSnapshot> adapt(Direction direction, const Place& place,
                               TensorSnapshot tensor) const override {
    ++*calls_;
    EXPECT_EQ(tensor.full_path(), place.path);
    EXPECT_EQ(tensor.container(), place.container);
    if (direction == Direction::save && place.name() == from_) {
      tensor.set_full_path(place.with_name(to_));
    }
    return tensor;
  }

 private:
  std::string from_;
  std::string to_;
  std::shared_ptr<std::atomic<int>> calls_ = std::make_shared<std::atomic<int>>(0);
};

// Adds a number; only f32.
class Adds final : public Chainable<Adds> {
 public:
  explicit Adds(float number) : number_(number) {}

 protected:
  Result<TensorSnapshot> adapt(Direction direction, const Place&,
                               TensorSnapshot tensor) const override {
    Floats values = floats_of(tensor);
    for (float& value : values) value += direction == Direction::load ? -number_ : number_;
    return tensor_of(tensor.full_path(), tensor.shape(), values)
        .with_container(tensor.container())
        .with_param_id(tensor.param_id());
  }

 private:
  float number_;
};

class Refuses final : public Chainable<Refuses> {
 public:
  explicit Refuses(std::string why) : why_(std::move(why)) {}
  Status status() const override {
    return Error{.code = ErrorCode::invalid_argument, .message = why_};
  }

 protected:
  Result<TensorSnapshot> adapt(Direction, const Place& place, TensorSnapshot) const override {
    return Error{
        .code = ErrorCode::adapter_failed, .message = why_, .tensor = std::string(place.name())};
  }

 private:
  std::string why_;
};

TEST(Adapter, TakesTheTensorOfTheSameNameIntoItsPlace) {
  const auto file_tensor = counting("fc.weight", {2, 2}).with_param_id(ParamId{7});
  ListLookup file({file_tensor, counting("other", {1})});
  const auto loaded = IdentityAdapter().load({"fc.weight", linear}, file).value();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->full_path(), "fc.weight");
  EXPECT_EQ(loaded->container(), linear);
  EXPECT_EQ(loaded->param_id(), ParamId{7});
  EXPECT_EQ(floats_of(*loaded), (Floats{0, 1, 2, 3}));
}

TEST(Adapter, GivesNothingForAPlaceThatTheFileDoesNotHave) {
  ListLookup file({counting("other", {1})});
  EXPECT_FALSE(IdentityAdapter().load({"fc.weight", linear}, file).value());
}

TEST(Adapter, AdaptsEachTensorOnASaveInOrder) {
  const Snapshots saved =
      Renames("a", "x")
          .save(Snapshots({counting("m.a", {1}).with_container(linear), counting("m.b", {1})}))
          .value();
  EXPECT_EQ(saved.keys(), (std::vector<std::string>{"m.x", "m.b"}));
  EXPECT_EQ(saved[0].container(), linear);
}

TEST(Adapter, PassesErrorsOfItsOneTensorOn) {
  ListLookup file({counting("fc.weight", {1})});
  EXPECT_EQ(Refuses("no").load({"fc.weight", linear}, file).error().message, "no");
  EXPECT_EQ(Refuses("no").save(Snapshots({counting("fc.weight", {1})})).error().tensor, "weight");
}

TEST(AnyAdapter, IsTheIdentityWhenEmpty) {
  for (const AnyAdapter& adapter : {AnyAdapter(), AnyAdapter(std::shared_ptr<const Adapter>())}) {
    EXPECT_TRUE(adapter->status());
    ListLookup file({counting("a", {3})});
    EXPECT_EQ(floats_of(*(*adapter).load({"a", {}}, file).value()), (Floats{0, 1, 2}));
    EXPECT_EQ(adapter->save(Snapshots({counting("a", {3})})).value().size(), 1U);
  }
}

TEST(AnyAdapter, SharesOneThatIsGivenByPointer) {
  const auto renames = std::make_shared<const Renames>("a", "b");
  const AnyAdapter any(renames);
  EXPECT_EQ(any->save(Snapshots({counting("a", {1})})).value()[0].full_path(), "b");
  EXPECT_EQ(renames->calls(), 1);
}

// ---- Chains ----

TEST(ChainAdapter, PassesTensorsThroughTheFirstThenTheSecondOnSaves) {
  const Renames first("weight", "a");
  const Renames second("a", "b");
  const ChainAdapter chain = first.chain(second);
  const Snapshots saved =
      chain.save(Snapshots({counting("fc.weight", {1}).with_container(linear)})).value();
  EXPECT_EQ(saved[0].full_path(), "fc.b");
  EXPECT_EQ(first.calls(), 1);
  EXPECT_EQ(second.calls(), 1);
}

TEST(ChainAdapter, PassesTensorsThroughTheFirstThenTheSecondOnLoads) {
  const Renames first("", "");
  const Renames second("", "");
  ListLookup file({counting("fc.weight", {1}, 5)});
  const ChainAdapter chain = first.chain(second);
  EXPECT_EQ(floats_of(*chain.load({"fc.weight", linear}, file).value()), Floats{5});
  EXPECT_EQ(first.calls(), 1);
  EXPECT_EQ(second.calls(), 1);
  EXPECT_EQ(file.asked(), std::vector<std::string>{"fc.weight"});
}

TEST(ChainAdapter, IsUndoneByTheInversesInReverseOrder) {
  const auto kernel_rule = [](bool forward) {
    return RuleAdapter({{.module_type = "Linear",
                         .from = {"weight"},
                         .to = {"kernel"},
                         .steps = {PermuteStep{{1, 0}}}}},
                       forward);
  };
  const TensorSnapshot weight = counting("fc.weight", {2, 3}).with_container(linear);
  const Snapshots saved =
      ChainAdapter(Adds(10), kernel_rule(true)).save(Snapshots({weight})).value();
  EXPECT_EQ(saved.keys(), std::vector<std::string>{"fc.kernel"});
  EXPECT_EQ(floats_of(saved[0]), (Floats{10, 13, 11, 14, 12, 15}));
  ListLookup file(saved);
  const auto loaded =
      ChainAdapter(kernel_rule(false), Adds(10)).load({"fc.weight", linear}, file).value();
  EXPECT_EQ(floats_of(*loaded), floats_of(weight));
}

// A rule of one name for LayerNorm.
RuleAdapter norm_rule(std::string from, std::string to) {
  return RuleAdapter(
      {{.module_type = "LayerNorm", .from = {std::move(from)}, .to = {std::move(to)}}}, true);
}

TEST(ChainAdapter, LooksUnderTheNamesThatBothAdaptersKnow) {
  const ChainAdapter chain(norm_rule("scale", "weight"), norm_rule("weight", "gamma"));
  const ChainAdapter copy = chain;
  for (const ChainAdapter& adapter : {chain, copy}) {
    for (const char* stored : {"ln.gamma", "ln.weight", "ln.scale"}) {
      ListLookup file({counting(stored, {2}, 3)});
      const auto loaded = adapter.load({"ln.gamma", norm}, file).value();
      ASSERT_TRUE(loaded) << stored;
      EXPECT_EQ(loaded->full_path(), "ln.gamma");
      EXPECT_EQ(floats_of(*loaded), (Floats{3, 4}));
    }
    ListLookup without({counting("ln.other", {2})});
    EXPECT_FALSE(adapter.load({"ln.gamma", norm}, without).value());
  }
}

TEST(ChainAdapter, FallsBackToTheNamesOfEitherAdapter) {
  const ChainAdapter first_knows(norm_rule("weight", "gamma"), norm_rule("x", "y"));
  const ChainAdapter second_knows(norm_rule("x", "y"), norm_rule("weight", "gamma"));
  for (const ChainAdapter& adapter : {first_knows, second_knows}) {
    ListLookup file({counting("ln.weight", {2})});
    EXPECT_TRUE(adapter.load({"ln.gamma", norm}, file).value());
  }
}

TEST(ChainAdapter, KnowsTheModuleOfATensorBetweenTwoRuleTables) {
  // The first joins two tensors of a submodule, the second renames what came out.
  const std::vector<AdapterRule> fuse{
      {.module_type = "Pair", .from = {"a.w", "b.w"}, .to = {"ab"}, .steps = {ConcatStep{0}}}};
  const std::vector<AdapterRule> rename{{.module_type = "Pair", .from = {"ab"}, .to = {"fused"}}};
  struct Surroundings {
    std::string prefix;
    Container container;
  };
  const std::vector<Surroundings> all = {
      {"p.", Container({"Struct:Net", "Struct:Pair", "Struct:Linear"})},
      {"p.", Container({"Struct:Net", "Struct:Pair", "Enum:Part", "Struct:Linear"})},
      {"m.key.0.", Container({"Struct:Net", "Map", "Struct:Pair", "Enum:Part", "Struct:Linear"})}};
  for (const auto& [prefix, inner] : all) {
    SCOPED_TRACE(prefix + " " + inner.path());
    const Snapshots module({counting(prefix + "a.w", {1}, 1).with_container(inner),
                            counting(prefix + "b.w", {1}, 2).with_container(inner)});

    const Snapshots saved =
        ChainAdapter(RuleAdapter(fuse, true), RuleAdapter(rename, true)).save(module).value();
    ASSERT_EQ(saved.keys(), std::vector<std::string>{prefix + "fused"});
    EXPECT_EQ(floats_of(saved[0]), (Floats{1, 2}));

    ListLookup file(saved);
    const ChainAdapter back(RuleAdapter(rename, false), RuleAdapter(fuse, false));
    EXPECT_EQ(floats_of(*back.load({prefix + "a.w", inner}, file).value()), Floats{1});
    EXPECT_EQ(floats_of(*back.load({prefix + "b.w", inner}, file).value()), Floats{2});
  }
}

TEST(ChainAdapter, ReportsTheFirstBadStatus) {
  EXPECT_TRUE(IdentityAdapter().chain(IdentityAdapter()).status());
  EXPECT_EQ(Refuses("one").chain(Refuses("two")).status().error().message, "one");
  EXPECT_EQ(IdentityAdapter().chain(Refuses("two")).status().error().message, "two");
  EXPECT_EQ(
      IdentityAdapter().chain(IdentityAdapter()).chain(Refuses("three")).status().error().message,
      "three");
}

TEST(ChainAdapter, StopsAtTheFirstError) {
  const Renames second("a", "b");
  EXPECT_EQ(Refuses("no").chain(second).save(Snapshots({counting("a", {1})})).error().message,
            "no");
  EXPECT_EQ(second.calls(), 0);
}

// ---- Adapters written by hand that make one of several and several of one ----

constexpr std::array<std::string_view, 3> projections = {"q", "k", "v"};

// The module keeps one fused tensor "qkv" where the file has three.
class FusesProjections final : public Chainable<FusesProjections> {
 public:
  Result<std::optional<TensorSnapshot>> load(const Place& place,
                                             TensorLookup& file) const override {
    if (place.name() != "qkv") return Chainable::load(place, file);
    std::vector<TensorSnapshot> parts;
    for (const std::string_view name : projections) {
      Result<std::optional<TensorSnapshot>> part = file.find(place.with_name(name));
      if (!part) return std::move(part).error();
      if (!*part) return std::optional<TensorSnapshot>();
      parts.push_back(**part);
    }
    Result<TensorSnapshot> fused = TensorSnapshot::concat(parts, 0);
    if (!fused) return std::move(fused).error();
    return std::optional(fused->with_path(place.path).with_container(place.container));
  }

  Result<Snapshots> save(Snapshots tensors) const override {
    Snapshots saved;
    for (const TensorSnapshot& tensor : tensors) {
      const Place place{tensor.full_path(), tensor.container()};
      if (place.name() != "qkv") {
        saved.push_back(tensor);
        continue;
      }
      const auto rows = static_cast<std::int64_t>(tensor.shape()[0] / 3);
      for (std::int64_t i = 0; i < 3; ++i) {
        Result<TensorSnapshot> part = tensor.slice(0, i * rows, (i + 1) * rows);
        if (!part) return std::move(part).error();
        saved.push_back(part->with_path(place.with_name(projections[static_cast<std::size_t>(i)])));
      }
    }
    return saved;
  }
};

// The module keeps three tensors where the file has one.
class SplitsProjections final : public Chainable<SplitsProjections> {
 public:
  Result<std::optional<TensorSnapshot>> load(const Place& place,
                                             TensorLookup& file) const override {
    for (std::int64_t i = 0; i < 3; ++i) {
      if (place.name() != projections[static_cast<std::size_t>(i)]) continue;
      Result<std::optional<TensorSnapshot>> fused = file.find(place.with_name("qkv"));
      if (!fused || !*fused) return fused;
      const auto rows = static_cast<std::int64_t>((*fused)->shape()[0] / 3);
      Result<TensorSnapshot> part = (*fused)->slice(0, i * rows, (i + 1) * rows);
      if (!part) return std::move(part).error();
      return std::optional(part->with_path(place.path).with_container(place.container));
    }
    return Chainable::load(place, file);
  }

  Result<Snapshots> save(Snapshots tensors) const override {
    Snapshots saved;
    std::vector<TensorSnapshot> parts;
    for (const TensorSnapshot& tensor : tensors) {
      const Place place{tensor.full_path(), tensor.container()};
      if (place.name() != projections[parts.size() % 3]) {
        saved.push_back(tensor);
        continue;
      }
      parts.push_back(tensor);
      if (parts.size() < 3) continue;
      Result<TensorSnapshot> fused = TensorSnapshot::concat(parts, 0);
      if (!fused) return std::move(fused).error();
      saved.push_back(fused->with_path(place.with_name("qkv")));
      parts.clear();
    }
    return saved;
  }
};

// The example in adapter.h.
class CutsQkv final : public Chainable<CutsQkv> {
 public:
  Result<std::optional<TensorSnapshot>> load(const Place& place,
                                             TensorLookup& file) const override {
    const std::string_view name = place.name();
    const int part = name == "query" ? 0 : name == "key" ? 1 : name == "value" ? 2 : -1;
    if (part < 0) return Adapter::load(place, file);
    Result<std::optional<TensorSnapshot>> fused = file.find(place.with_name("qkv"));
    if (!fused || !*fused) return fused;
    const auto rows = static_cast<std::int64_t>((*fused)->shape()[0] / 3);
    Result<TensorSnapshot> cut = (*fused)->slice(0, part * rows, (part + 1) * rows);
    if (!cut) return std::move(cut).error();
    return *std::move(cut);
  }
};

const Floats fused_values{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23};

Snapshots separate_projections() {
  return Snapshots({counting("attn.q", {2, 2}, 0), counting("attn.k", {2, 2}, 10),
                    counting("attn.v", {2, 2}, 20), counting("attn.out", {1}, 30)});
}

Snapshots fused_projections() {
  return Snapshots({tensor_of("attn.qkv", {6, 2}, fused_values), counting("attn.out", {1}, 30)});
}

void expect_separate(const Snapshots& tensors) {
  EXPECT_EQ(tensors.keys(), separate_projections().keys());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(floats_of(tensors[i]), floats_of(separate_projections()[i]));
    EXPECT_EQ(tensors[i].shape(), separate_projections()[i].shape());
  }
}

// Every place of `module` loaded from `file`.
Snapshots load_all(const Adapter& adapter, const Snapshots& module, const Snapshots& file) {
  ListLookup lookup(file);
  Snapshots loaded;
  for (const TensorSnapshot& tensor : module) {
    loaded.push_back(
        adapter.load({tensor.full_path(), tensor.container()}, lookup).value().value());
  }
  return loaded;
}

TEST(HandWrittenAdapter, MakesOneTensorOfSeveralAndSeveralOfOne) {
  const Snapshots loaded =
      load_all(FusesProjections(), fused_projections(), separate_projections());
  EXPECT_EQ(floats_of(loaded[0]), fused_values);
  EXPECT_EQ(loaded[0].shape(), (Shape{6, 2}));
  EXPECT_EQ(floats_of(loaded[1]), Floats{30});
  expect_separate(FusesProjections().save(fused_projections()).value());
}

TEST(HandWrittenAdapter, MakesSeveralTensorsOfOneAndOneOfSeveral) {
  expect_separate(load_all(SplitsProjections(), separate_projections(), fused_projections()));
  const Snapshots saved = SplitsProjections().save(separate_projections()).value();
  EXPECT_EQ(saved.keys(), fused_projections().keys());
  EXPECT_EQ(floats_of(saved[0]), fused_values);
}

TEST(HandWrittenAdapter, CutsWithAFewLines) {
  ListLookup file(fused_projections());
  EXPECT_EQ(floats_of(*CutsQkv().load({"attn.key", {}}, file).value()), (Floats{10, 11, 12, 13}));
  EXPECT_EQ(floats_of(*CutsQkv().load({"attn.out", {}}, file).value()), Floats{30});
  EXPECT_FALSE(CutsQkv().load({"other.key", {}}, file).value());
}

TEST(HandWrittenAdapter, ChainsWithOthers) {
  const ChainAdapter chain = Adds(-100).chain(FusesProjections());
  const Snapshots loaded = load_all(chain, fused_projections(), separate_projections());
  Floats expected = fused_values;
  for (float& value : expected) value += 100;
  EXPECT_EQ(floats_of(loaded[0]), expected);
}

TEST(HandWrittenAdapter, GivesNothingWhenAPartIsMissing) {
  ListLookup file({counting("attn.q", {2, 2}), counting("attn.v", {2, 2})});
  EXPECT_FALSE(FusesProjections().load({"attn.qkv", {}}, file).value());
}

}  // namespace
}  // namespace andiron
