// SPDX-License-Identifier: MIT OR Apache-2.0
// What adapters are tested with: a file that is a list, and tensors whose values tell.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/adapter.h"

namespace andiron::test {

// A file with these tensors, which writes down what it was asked for.
class ListLookup : public TensorLookup {
 public:
  explicit ListLookup(Snapshots tensors) : tensors_(std::move(tensors)) {}
  explicit ListLookup(std::vector<TensorSnapshot> tensors) : tensors_(std::move(tensors)) {}

  Result<std::optional<TensorSnapshot>> find(std::string_view name) override {
    asked_.emplace_back(name);
    const TensorSnapshot* found = tensors_.find(name);
    return found != nullptr ? std::optional(*found) : std::nullopt;
  }

  const std::vector<std::string>& asked() const { return asked_; }

 private:
  Snapshots tensors_;
  std::vector<std::string> asked_;
};

// In a module of that kind, in a model.
inline Container in(const std::string& kind) { return Container({"Struct:Net", kind}); }

inline AdapterRule rename_rule(std::string module_type, std::string from, std::string to) {
  return {.module_type = std::move(module_type), .from = {std::move(from)}, .to = {std::move(to)}};
}

using Floats = std::vector<float>;

inline TensorSnapshot tensor_of(std::string path, const Shape& shape, const Floats& values) {
  return TensorSnapshot(std::move(path),
                        Tensor::from_values<float>(shape, std::span(values)).value());
}

// Row-major first, first + 1, ...
inline TensorSnapshot counting(std::string path, const Shape& shape, float first = 0) {
  Floats values(shape.element_count().value());
  std::iota(values.begin(), values.end(), first);
  return tensor_of(std::move(path), shape, values);
}

inline Floats floats_of(const TensorSnapshot& tensor) {
  return tensor.read().value().to_vector<float>().value();
}

inline TensorSnapshot saved(const Adapter& adapter, const TensorSnapshot& tensor) {
  return adapter.save(Snapshots({tensor})).value()[0];
}

inline std::optional<TensorSnapshot> loaded(const Adapter& adapter, const Place& place,
                                            Snapshots file) {
  ListLookup lookup(std::move(file));
  return adapter.load(place, lookup).value();
}

inline std::optional<TensorSnapshot> loaded(const Adapter& adapter, const Place& place,
                                            const TensorSnapshot& file_tensor) {
  return loaded(adapter, place, Snapshots({file_tensor}));
}

inline Error load_error(const Adapter& adapter, const Place& place, Snapshots file) {
  ListLookup lookup(std::move(file));
  return adapter.load(place, lookup).error();
}

inline void expect_same(const TensorSnapshot& a, const TensorSnapshot& b) {
  EXPECT_EQ(a.full_path(), b.full_path());
  EXPECT_EQ(a.dtype(), b.dtype());
  EXPECT_EQ(a.shape(), b.shape());
  EXPECT_EQ(floats_of(a), floats_of(b));
}

// Loads every place of `module` from `file` and expects the module's tensors.
inline void expect_loads(const Adapter& adapter, const Snapshots& module, const Snapshots& file) {
  for (const TensorSnapshot& tensor : module) {
    const auto found = loaded(adapter, {tensor.full_path(), tensor.container()}, file);
    ASSERT_TRUE(found) << tensor.full_path();
    expect_same(*found, tensor);
    EXPECT_EQ(found->container(), tensor.container());
  }
}

inline void expect_list(const Snapshots& actual, const Snapshots& expected) {
  ASSERT_EQ(actual.keys(), expected.keys());
  for (std::size_t i = 0; i < actual.size(); ++i) expect_same(actual[i], expected[i]);
}

}  // namespace andiron::test
