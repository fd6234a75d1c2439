// SPDX-License-Identifier: MIT OR Apache-2.0
// The names of a file or of a module as a tree of modules, each with the forms of its tensors.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/proposals/trade_words.h"

namespace andiron::inline v1::detail {

// A tensor of either side, as the file has it.
struct TreeTensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::uint8_t kind = 0;  // equal for dtypes that can take each other's place

  friend bool operator==(const TreeTensor&, const TreeTensor&) = default;
};

// A tensor's form and what it is in its module.
struct FormKey {
  std::uint32_t form;
  TensorRole role;
  bool is_matrix;  // or has more dimensions

  friend auto operator<=>(const FormKey&, const FormKey&) = default;
};
// How often each occurs, sorted.
using FormCounts = std::vector<std::pair<FormKey, std::uint32_t>>;

class NameTree {
 public:
  using NodeId = std::uint32_t;
  static constexpr NodeId root = 0;

  struct Node {
    NodeId parent = root;
    NodeId end = 0;  // of the nodes below it, which follow it
    std::uint32_t depth = 0;
    std::string_view segment = {};
    std::vector<NodeId> children = {};
    std::optional<std::uint32_t> tensor = {};  // of a leaf: which
    std::uint32_t count = 0;                   // of tensors
    std::uint32_t bag = 0;                     // equal for nodes with equal forms
  };

  // Numbers the sets of forms that nodes have. Trees that are compared share it.
  class Bags {
   public:
    std::uint32_t number_of(FormCounts counts);
    const FormCounts& counts(std::uint32_t bag) const { return *counts_[bag]; }
    // How much of one set is in another, from 0 to 1; a little less if that has more.
    double likeness(std::uint32_t wanted, std::uint32_t there);

   private:
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::vector<const FormCounts*> counts_;
    std::vector<std::unique_ptr<FormCounts>> owned_;
    std::unordered_map<std::uint64_t, double> likeness_;
  };

  // `forms`: for each tensor a number, equal for those that could take each other's place. Tensors
  // whose form is 0 are left out, and those whose name is also a module's. The names must outlive
  // the tree.
  NameTree(std::span<const TreeTensor> tensors, std::span<const std::uint32_t> forms, Bags& bags);

  const Node& operator[](NodeId node) const { return nodes_[node]; }
  std::size_t size() const noexcept { return nodes_.size(); }
  bool is_leaf(NodeId node) const { return nodes_[node].tensor.has_value(); }
  bool contains(NodeId above, NodeId node) const {
    return above <= node && node < nodes_[above].end;
  }
  // Down from a node as long as there is one way.
  NodeId bottom_of_chain(NodeId node) const;
  // Segments in plain form, from the root to the node.
  std::vector<std::string> plain_path(NodeId node) const;
  // Nodes with this bag, in order.
  std::span<const NodeId> with_bag(std::uint32_t bag) const;
  // Whether all children are tensors.
  bool is_module(NodeId node) const;
  // All bags that occur.
  std::span<const std::uint32_t> bags() const { return bags_; }
  // The leaf of a tensor; nothing for one that was left out.
  std::optional<NodeId> leaf_of(std::uint32_t tensor) const;

 private:
  std::vector<Node> nodes_;  // a node comes before those below it, which lie together
  std::unordered_map<std::uint32_t, std::vector<NodeId>> by_bag_;
  std::vector<std::uint32_t> bags_;
  std::unordered_map<std::uint32_t, NodeId> leaves_;
};

}  // namespace andiron::inline v1::detail
