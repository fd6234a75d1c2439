// SPDX-License-Identifier: MIT OR Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "andiron/config.h"
#include "andiron/value.h"

namespace andiron::test {

enum class Activation { relu, gelu, silu };
ANDIRON_CONFIG_ENUM(Activation, relu, gelu, silu)

enum class Pooling { mean, cls };

}  // namespace andiron::test

template <>
struct andiron::EnumNames<andiron::test::Pooling> {
  static constexpr std::pair<std::string_view, andiron::test::Pooling> all[] = {
      {"mean-pooling", andiron::test::Pooling::mean},
      {"mean", andiron::test::Pooling::mean},
      {"cls", andiron::test::Pooling::cls}};
};

namespace andiron::test {
namespace {

Value json(std::string_view text) { return parse_json(text).value(); }

template <class T>
std::string failure(const Value& value) {
  const Result<T> result = value.as<T>();
  return result ? ""
                : std::string(code_name(result.error().code)) + ": " + result.error().to_string();
}

struct Optimizer {
  double lr;
  std::string name = "adam";
  ANDIRON_CONFIG(Optimizer, lr, name)
  friend bool operator==(const Optimizer&, const Optimizer&) = default;
};

struct Net {
  std::int64_t classes;
  unsigned char heads = 8;
  float dropout = 0;
  bool bias;
  std::string title = {};
  std::vector<std::string> labels = {};
  std::optional<int> seed = {};
  Optimizer optimizer = {.lr = 0.5};
  Activation activation = Activation::gelu;
  ANDIRON_CONFIG(Net, classes, heads, dropout, bias, title, labels, seed, optimizer, activation)
  friend bool operator==(const Net&, const Net&) = default;
};

// A struct that names its fields itself.
class Renamed {
 public:
  static void fields(auto& self, auto&& field) { field("n-head", self.heads_); }
  int heads() const { return heads_; }

 private:
  int heads_ = 1;
};

struct Tree {
  int id;
  std::vector<Tree> children;
  ANDIRON_CONFIG(Tree, id, children)
};

TEST(ValueAt, FollowsKeysAndIndices) {
  const Value tree = json(R"({"config": {"lr": 1, "layers": [{"size": 3}, {"size": 4}]}})");
  EXPECT_EQ(tree.at("config.lr").as<double>().value(), 1.0);
  EXPECT_EQ(tree.at("config.layers.1.size").as<int>().value(), 4);
  EXPECT_EQ(tree.at("config").at("layers").at("0.size").as<int>().value(), 3);
  EXPECT_EQ(to_json(tree.at("").value()), to_json(tree));
}

TEST(ValueAt, TakesAWholeKeyBeforeAPath) {
  const Value tree =
      json(R"({"a.b": 1, "a": {"b": 2, "b.c": 3, "d.e": {"f": 4}}, "a.d": {"x": 5}})");
  EXPECT_EQ(tree.at("a.b").as<int>().value(), 1);
  EXPECT_EQ(tree.at("a.b.c").as<int>().value(), 3);
  // The longer key leads nowhere.
  EXPECT_EQ(tree.at("a.d.e.f").as<int>().value(), 4);
}

TEST(ValueAt, SaysHowFarThePathLeads) {
  const Value tree = json(R"({"config": {"lr": 0.1, "size": 3}})");
  const FoundValue missing = tree.at("config.rate");
  EXPECT_EQ(missing.error().code, ErrorCode::missing_value);
  EXPECT_EQ(missing.error().to_string(),
            "there is no value at 'config.rate': a dict with the keys 'lr', 'size' at 'config'");
  EXPECT_EQ(tree.at("config").at("rate").error().to_string(), missing.error().to_string());
  EXPECT_EQ(tree.at("nothing").as<int>().error().to_string(),
            "there is no value at 'nothing': a dict with the keys 'config'");
  EXPECT_EQ(tree.at("config.lr.x").error().found, "the number 0.1 at 'config.lr'");
  EXPECT_EQ(json("[1, 2]").at("2").error().found, "a list of 2 values");
  EXPECT_EQ(json("[1, 2]").at("-1").error().code, ErrorCode::missing_value);
}

TEST(ValueAs, TakesNumbersThatFit) {
  EXPECT_EQ(Value(std::int64_t{-3}).as<int>().value(), -3);
  EXPECT_EQ(Value(std::uint64_t{3}).as<std::int8_t>().value(), 3);
  EXPECT_EQ(Value(std::int64_t{255}).as<std::uint8_t>().value(), 255);
  EXPECT_EQ(Value(~std::uint64_t{0}).as<std::uint64_t>().value(), ~std::uint64_t{0});
  EXPECT_EQ(Value(std::int64_t{1}).as<double>().value(), 1.0);
  EXPECT_EQ(Value(~std::uint64_t{0}).as<float>().value(), 18446744073709551616.0f);
  EXPECT_TRUE(std::isnan(Value(std::nan("")).as<float>().value()));
  EXPECT_TRUE(std::isinf(Value(HUGE_VAL).as<float>().value()));
  EXPECT_EQ(Value(true).as<bool>().value(), true);

  EXPECT_EQ(failure<std::int8_t>(std::int64_t{128}),
            "ValueMismatch: the value has another type: the number 128; expected an integer from "
            "-128 to 127");
  EXPECT_EQ(failure<unsigned char>(std::int64_t{-1}),
            "ValueMismatch: the value has another type: the number -1; expected an integer from 0 "
            "to 255");
  EXPECT_NE(failure<std::int64_t>(~std::uint64_t{0}), "");
  EXPECT_NE(failure<float>(1e300), "");
  EXPECT_NE(failure<int>(1.0), "");
  EXPECT_NE(failure<int>(true), "");
  EXPECT_NE(failure<bool>(std::int64_t{1}), "");
  EXPECT_NE(failure<double>("0.1"), "");
  EXPECT_EQ(failure<std::string>(Value()),
            "ValueMismatch: the value has another type: null; expected a text");
}

TEST(ValueAs, TakesContainers) {
  EXPECT_EQ(json("[1, 2]").as<std::vector<int>>().value(), (std::vector<int>{1, 2}));
  EXPECT_EQ(json("[true]").as<std::vector<bool>>().value(), std::vector<bool>{true});
  EXPECT_EQ((json("[1, 2]").as<std::array<float, 2>>().value()), (std::array<float, 2>{1, 2}));
  EXPECT_EQ((json(R"(["a", 2])").as<std::pair<std::string, int>>().value()),
            (std::pair<std::string, int>("a", 2)));
  EXPECT_EQ((json(R"([1, "b", 0.5])").as<std::tuple<int, std::string, double>>().value()),
            (std::tuple<int, std::string, double>(1, "b", 0.5)));
  EXPECT_EQ((json(R"({"a": [1]})").as<std::map<std::string, std::vector<int>>>().value()),
            (std::map<std::string, std::vector<int>>{{"a", {1}}}));
  EXPECT_EQ((json(R"({"a": "x"})").as<std::unordered_map<std::string, std::string>>().value()),
            (std::unordered_map<std::string, std::string>{{"a", "x"}}));
  EXPECT_EQ(Value().as<std::optional<int>>().value(), std::nullopt);
  EXPECT_EQ(json("7").as<std::optional<int>>().value(), 7);
  EXPECT_EQ(json("[null, 1]").as<std::vector<std::optional<int>>>().value()[0], std::nullopt);
  EXPECT_EQ(to_json(json(R"({"a": 1})").as<Value>().value()), R"({"a":1})");

  EXPECT_EQ((failure<std::array<int, 3>>(json("[1, 2]"))),
            "ValueMismatch: the value has another type: a list of 2 values; expected a list of 3 "
            "values");
  EXPECT_EQ((failure<std::map<std::string, std::vector<int>>>(json(R"({"a": [1, "x"]})"))),
            "ValueMismatch: the value at 'a.1' has another type: the text 'x'; expected an integer "
            "from -2147483648 to 2147483647");
}

TEST(ValueAs, NamesTheWholePlace) {
  const Value tree = json(R"({"config": {"sizes": [1, {}]}})");
  EXPECT_EQ(tree.at("config").at("sizes").as<std::vector<int>>().error().message,
            "the value at 'config.sizes.1' has another type");
}

TEST(ValueAs, TakesEnumsByName) {
  EXPECT_EQ(Value("gelu").as<Activation>().value(), Activation::gelu);
  EXPECT_EQ(failure<Activation>("tanh"),
            "ValueMismatch: the value has another type: the text 'tanh'; expected one of 'relu', "
            "'gelu', 'silu'");
  EXPECT_EQ(Value("mean").as<Pooling>().value(), Pooling::mean);
  EXPECT_EQ(to_json(config_to_value(Pooling::mean)), R"("mean-pooling")");
}

TEST(ValueAs, FillsAStruct) {
  const Net net = json(R"({"classes": 10, "heads": 4, "dropout": 1, "bias": true, "title": "t",
                           "labels": ["a", "b"], "seed": 3, "optimizer": {"lr": 2, "name": "sgd"},
                           "activation": "relu"})")
                      .as<Net>()
                      .value();
  EXPECT_EQ(net, (Net{10, 4, 1, true, "t", {"a", "b"}, 3, {2, "sgd"}, Activation::relu}));
  EXPECT_EQ(json(R"({"n-head": 12})").as<Renamed>().value().heads(), 12);
}

TEST(ValueAs, KeepsTheDefaultsThatAStructHas) {
  const Net net = json(R"({"classes": 10, "bias": false})").as<Net>().value();
  EXPECT_EQ(net, (Net{.classes = 10, .bias = false}));
  EXPECT_EQ(net.optimizer.lr, 0.5);
  EXPECT_EQ(json(R"({"classes": 1, "bias": true, "optimizer": {"name": "x"}})")
                .as<Net>()
                .value()
                .optimizer,
            (Optimizer{0.5, "x"}));
}

TEST(ValueAs, RefusesAStructWithoutTheRest) {
  EXPECT_EQ(failure<Net>(json(R"({"classes": 10})")),
            "MissingValue: there is no value at 'bias': a dict with the keys 'classes'; give the "
            "member an initializer or make it std::optional if files may lack it");
  EXPECT_EQ(json(R"({"o": {"name": "x"}})").at("o").as<Optimizer>().error().message,
            "there is no value at 'o.lr'");
  EXPECT_EQ((failure<std::map<std::string, Optimizer>>(json(R"({"a": {}})")).substr(0, 48)),
            "MissingValue: there is no value at 'a.lr': an em");
  EXPECT_NE(failure<Net>(json("[]")), "");
}

TEST(ValueAs, FillsStructsThatContainThemselves) {
  const Tree tree =
      json(R"({"id": 1, "children": [{"id": 2, "children": [{"id": 3}]}]})").as<Tree>().value();
  EXPECT_EQ(tree.children.at(0).children.at(0).id, 3);
}

TEST(ValueAs, RefusesValuesThatRepeatTooOften) {
  // 10 lists of 1000 references each: 10^30 numbers.
  Value list = ValueList(1000, Value(std::int64_t{1}));
  for (int i = 0; i < 2; ++i) list = ValueList(1000, list);
  const auto result = list.as<std::vector<std::vector<std::vector<int>>>>();
  EXPECT_EQ(result.error().code, ErrorCode::limit_exceeded);
}

TEST(ConfigToValue, IsReadBack) {
  const Net net{10, 4, 0.1f, true, "t", {"a"}, std::nullopt, {1e-3, "sgd"}, Activation::silu};
  const Value value = config_to_value(net);
  EXPECT_EQ(to_json(value),
            R"({"classes":10,"heads":4,"dropout":0.1,"bias":true,"title":"t","labels":["a"],)"
            R"("seed":null,"optimizer":{"lr":0.001,"name":"sgd"},"activation":"silu"})");
  EXPECT_EQ(value.as<Net>().value(), net);
  EXPECT_EQ(json(to_json(value)).as<Net>().value(), net);
  for (const float number : {0.1f, 1e-45f, 3.4028235e38f, 16777217.0f}) {
    EXPECT_EQ(config_to_value(number).as<float>().value(), number);
  }
  EXPECT_EQ(config_to_value(~std::uint64_t{0}).as<std::uint64_t>().value(), ~std::uint64_t{0});
}

}  // namespace
}  // namespace andiron::test
