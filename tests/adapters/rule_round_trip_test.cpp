// SPDX-License-Identifier: MIT OR Apache-2.0
// Random tables of rules, there and back.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "andiron/adapter.h"
#include "tests/adapters/list_lookup.h"

namespace andiron {
namespace {

using test::counting;
using test::expect_loads;
using test::expect_same;
using Names = std::vector<std::string>;
using Kinds = std::vector<std::string>;
using test::in;

class RandomTable {
 public:
  explicit RandomTable(unsigned seed) : random_(seed) {
    const std::size_t rules = 1 + below(4);
    for (std::size_t i = 0; i < rules; ++i) add_rule(i);
    module_.push_back(counting("root.unruled", {2}).with_container(in("Struct:Other")));
    for (std::size_t i = module_.size(); i > 1; --i) std::swap(module_[i - 1], module_[below(i)]);
  }

  const std::vector<AdapterRule>& rules() const { return rules_; }
  // Tensors of the `from` side, in some order.
  const Snapshots& module() const { return module_; }

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  Names some_names(const std::string& stem, std::size_t count) {
    Names names;
    for (std::size_t i = 0; i < count; ++i) {
      std::string name = stem + std::to_string(i);
      for (std::size_t depth = below(3); depth > 0; --depth) name = "down." + name;
      names.push_back(std::move(name));
    }
    return names;
  }

  // The shares of `count` tensors of sizes that are multiples of them.
  std::vector<std::uint64_t> some_shares(std::size_t count) {
    std::vector<std::uint64_t> shares;
    for (std::size_t i = 0; i < count; ++i) shares.push_back(1 + below(3));
    return shares;
  }

  static std::uint64_t sum(const std::vector<std::uint64_t>& shares) {
    return std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
  }

  Shape some_shape(std::size_t rank) {
    std::vector<std::uint64_t> dims;
    for (std::size_t d = 0; d < rank; ++d) dims.push_back(1 + below(4));
    return Shape(dims);
  }

  // Appends a step that keeps the number of tensors; `shape` is theirs.
  void add_step_for_each(AdapterRule& rule, Shape& shape) {
    if (below(2) == 0) {
      PermuteStep step{std::vector<std::size_t>(shape.rank())};
      std::iota(step.dims.begin(), step.dims.end(), std::size_t{0});
      std::shuffle(step.dims.begin(), step.dims.end(), random_);
      std::vector<std::uint64_t> dims;
      for (const std::size_t dim : step.dims) dims.push_back(shape[dim]);
      shape = Shape(dims);
      rule.steps.emplace_back(std::move(step));
    } else {
      const Shape flat{shape.element_count().value(), 1};
      rule.steps.emplace_back(ReshapeStep{shape, flat});
      shape = flat;
    }
  }

  void add_rule(std::size_t number) {
    AdapterRule rule;
    rule.module_type = "T" + std::to_string(number);
    const std::size_t inputs = 1 + below(3);
    const std::size_t outputs = 1 + below(3);
    rule.from = some_names("f", inputs);
    rule.to = some_names("t", outputs);

    // Equal tensors, joined to one, which is cut again.
    Shape shape = some_shape(2);
    const std::size_t dim = below(2);
    const std::vector<std::uint64_t> shares = some_shares(outputs);
    shape[dim] *= sum(shares) * outputs;
    const Shape input_shape = shape;
    if (below(2) == 0) add_step_for_each(rule, shape);
    const bool stacks = below(2) == 0;
    if (stacks) {
      rule.steps.emplace_back(StackStep{0});
      shape = Shape{inputs, shape[0], shape[1]};
    } else {
      rule.steps.emplace_back(ConcatStep{0});
      shape[0] *= inputs;
    }
    const Shape flat{shape.element_count().value()};
    rule.steps.emplace_back(ReshapeStep{shape, flat});
    switch (below(3)) {
      case 0:
        rule.steps.emplace_back(SplitStep{0});
        break;
      case 1:
        rule.steps.emplace_back(SplitStep{0, shares});
        break;
      default:
        rule.steps.emplace_back(ReshapeStep{flat, {flat[0] / outputs, outputs}});
        rule.steps.emplace_back(UnstackStep{1});
    }

    const std::size_t layers = 1 + below(3);
    for (std::size_t layer = 0; layer < layers; ++layer) {
      for (const std::string& name : rule.from) {
        Kinds kinds{"Struct:Net", "Vec", "Struct:" + rule.module_type};
        const auto depth = std::count(name.begin(), name.end(), '.');
        kinds.insert(kinds.end(), static_cast<std::size_t>(depth), "Struct:Down");
        module_.push_back(counting(rule.module_type + "s." + std::to_string(layer) + "." + name,
                                   input_shape, static_cast<float>(1000 * module_.size()))
                              .with_container(Container(std::move(kinds))));
      }
    }
    rules_.push_back(std::move(rule));
  }

  std::mt19937 random_;
  std::vector<AdapterRule> rules_;
  Snapshots module_;
};

TEST(RuleAdapter, LoadsWhatItSavedForRandomTables) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const RandomTable table(seed);
    const RuleAdapter there(table.rules(), true);
    const RuleAdapter back(table.rules(), false);
    ASSERT_TRUE(there.status()) << there.status().error().to_string();
    ASSERT_TRUE(back.status()) << back.status().error().to_string();
    const Snapshots file = there.save(table.module()).value();
    expect_loads(back, table.module(), file);

    // The same the other way about: the file's tensors as those of a module.
    Snapshots other_module;
    for (const TensorSnapshot& tensor : file) {
      const std::string& path = tensor.full_path();
      Kinds kinds{"Struct:Net", "Vec", "Struct:" + path.substr(0, path.find('s'))};
      kinds.resize(static_cast<std::size_t>(std::count(path.begin(), path.end(), '.')) + 1,
                   "Struct:Down");
      other_module.push_back(tensor.with_container(Container(std::move(kinds))));
    }
    const Snapshots other_file = back.save(other_module).value();
    expect_loads(there, other_module, other_file);
    for (const TensorSnapshot& tensor : table.module()) {
      ASSERT_NE(other_file.find(tensor.full_path()), nullptr);
      expect_same(*other_file.find(tensor.full_path()), tensor);
    }
  }
}

}  // namespace
}  // namespace andiron
