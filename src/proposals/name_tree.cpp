// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/name_tree_test.cpp
#include "src/proposals/name_tree.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/core/text/digit.h"
#include "src/proposals/name_parts.h"
#include "src/proposals/word_similarity.h"

namespace andiron::inline v1::detail {
namespace {

// A tree in the order in which names come.
struct Draft {
  std::string_view segment;
  std::map<std::string_view, std::uint32_t> by_segment;
  std::vector<std::uint32_t> children;
  std::optional<std::uint32_t> tensor;
};

// The segments of a name. Tensors of one layer in a module of several get a node together: l0 for
// weight_ih_l0 and bias_ih_l0, in_proj for in_proj_weight and in_proj_bias.
std::vector<std::string_view> segments_of(std::string_view name) {
  std::vector<std::string_view> segments;
  std::size_t begin = 0;
  for (std::size_t end = 0; end < name.size(); begin = end + 1) {
    end = std::min(name.find_first_of(name_separators, begin), name.size());
    segments.push_back(name.substr(begin, end - begin));
  }
  const std::size_t count = segments.size();
  if (count > 2 && segments[count - 3] == "parametrizations") {
    // Both ways in which PyTorch writes weight norm.
    const bool is_first = segments.back() == "original0";
    segments.resize(count - 2);
    segments.back() = is_first ? "weight_g" : "weight_v";
    return segments;
  }
  if (segments.empty()) return segments;
  const std::string_view last = segments.back();
  const std::size_t layer = last.rfind("_l");
  if ((last.starts_with("weight_") || last.starts_with("bias_")) && layer != last.npos &&
      layer + 2 < last.size() && is_digit(last[layer + 2])) {
    segments.back() = last.substr(layer + 1);
    segments.push_back(last.substr(0, layer));
  } else if (!fused_parts(last).empty() && last.find_last_of('_') != last.npos) {
    const std::size_t cut = last.find_last_of('_');
    segments.back() = last.substr(0, cut);
    segments.push_back(last.substr(cut + 1));
  }
  return segments;
}

std::string key_of(const FormCounts& counts) {
  std::string text;
  for (const auto& [key, count] : counts) {
    text += std::to_string(key.form) + "/" + std::to_string(static_cast<int>(key.role)) + ":" +
            std::to_string(count) + ",";
  }
  return text;
}

}  // namespace

std::uint32_t NameTree::Bags::number_of(FormCounts counts) {
  const auto [known, is_new] =
      numbers_.try_emplace(key_of(counts), static_cast<std::uint32_t>(counts_.size()));
  if (is_new) {
    owned_.push_back(std::make_unique<FormCounts>(std::move(counts)));
    counts_.push_back(owned_.back().get());
  }
  return known->second;
}

double NameTree::Bags::likeness(std::uint32_t wanted, std::uint32_t there) {
  if (wanted == there) return 1;
  const std::uint64_t pair = (std::uint64_t{wanted} << 32) | there;
  const auto [known, is_new] = likeness_.try_emplace(pair, 0);
  if (!is_new) return known->second;
  // Matrices say more than the vectors beside them.
  const auto weight_of = [](const FormKey& key) { return key.is_matrix ? 4u : 1u; };
  std::uint64_t shared = 0;
  std::uint64_t matrices = 0;
  std::uint64_t shared_matrices = 0;
  std::uint64_t all_wanted = 0;
  std::uint64_t all_there = 0;
  const FormCounts& counts_there = counts(there);
  for (const auto& [key, count] : counts_there) all_there += count * weight_of(key);
  for (auto at = counts_there.begin(); const auto& [key, count] : counts(wanted)) {
    all_wanted += count * weight_of(key);
    if (key.is_matrix) matrices += count;
    while (at != counts_there.end() && at->first < key) ++at;
    if (at == counts_there.end() || at->first != key) continue;
    shared += std::min(count, at->second) * weight_of(key);
    if (key.is_matrix) shared_matrices += std::min(count, at->second);
  }
  // What lacks half of it is something else.
  if (2 * shared < all_wanted || 2 * shared_matrices < matrices) return 0;
  constexpr double weight_of_more = 0.3;
  const auto share_of = [&](std::uint64_t all) {
    return all == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(all);
  };
  return known->second =
             (1 - weight_of_more) * share_of(all_wanted) + weight_of_more * share_of(all_there);
}

NameTree::NameTree(std::span<const TreeTensor> tensors, std::span<const std::uint32_t> forms,
                   Bags& bags) {
  std::vector<Draft> draft(1);
  for (std::uint32_t i = 0; i < tensors.size(); ++i) {
    if (forms[i] == 0) continue;
    std::uint32_t at = 0;
    for (const std::string_view segment : segments_of(tensors[i].name)) {
      const auto [child, is_new] =
          draft[at].by_segment.try_emplace(segment, static_cast<std::uint32_t>(draft.size()));
      const std::uint32_t next = child->second;
      if (is_new) {
        draft[at].children.push_back(next);
        draft.push_back({segment, {}, {}, {}});
      }
      at = next;
    }
    draft[at].tensor = i;
  }
  nodes_.reserve(draft.size() + 1);
  struct Step {
    std::uint32_t draft;
    NodeId parent;
  };
  std::vector<Step> open = {{0, root}};
  while (!open.empty()) {
    const auto [from, parent] = open.back();
    open.pop_back();
    const auto id = static_cast<NodeId>(nodes_.size());
    Node& node = nodes_.emplace_back();
    node.parent = parent;
    node.segment = draft[from].segment;
    node.depth = id == root ? 0 : nodes_[parent].depth + 1;
    if (id != root) nodes_[parent].children.push_back(id);
    const bool is_module = !draft[from].children.empty();
    if (draft[from].tensor && !is_module) node.tensor = draft[from].tensor;
    for (auto child = draft[from].children.rbegin(); child != draft[from].children.rend();
         ++child) {
      open.push_back({*child, id});
    }
  }
  std::vector<std::map<FormKey, std::uint32_t>> counts(nodes_.size());
  for (auto id = static_cast<NodeId>(nodes_.size()); id-- > 0;) {
    Node& node = nodes_[id];
    node.end = std::max(node.end, id + 1);
    if (node.tensor) {
      const bool is_matrix = tensors[*node.tensor].shape.size() > 1;
      counts[id] = {{{forms[*node.tensor], role_of(node.segment, node.depth > 1), is_matrix}, 1}};
      node.count = 1;
      leaves_.emplace(*node.tensor, id);
    }
    node.bag = bags.number_of({counts[id].begin(), counts[id].end()});
    if (id == root) break;
    Node& parent = nodes_[node.parent];
    parent.end = std::max(parent.end, node.end);
    parent.count += node.count;
    for (const auto& [key, count] : counts[id]) counts[node.parent][key] += count;
    counts[id].clear();
  }
  for (NodeId id = 0; id < nodes_.size(); ++id) by_bag_[nodes_[id].bag].push_back(id);
  for (const auto& [bag, nodes] : by_bag_) bags_.push_back(bag);
  std::sort(bags_.begin(), bags_.end());
}

NameTree::NodeId NameTree::bottom_of_chain(NodeId node) const {
  while (nodes_[node].children.size() == 1) node = nodes_[node].children.front();
  return node;
}

bool NameTree::is_module(NodeId node) const {
  const std::vector<NodeId>& children = nodes_[node].children;
  return !children.empty() && std::all_of(children.begin(), children.end(),
                                          [&](NodeId child) { return is_leaf(child); });
}

std::vector<std::string> NameTree::plain_path(NodeId node) const {
  std::vector<std::string> path;
  for (; node != root; node = nodes_[node].parent) {
    path.push_back(plain_segment(nodes_[node].segment));
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::span<const NameTree::NodeId> NameTree::with_bag(std::uint32_t bag) const {
  const auto found = by_bag_.find(bag);
  if (found == by_bag_.end()) return {};
  return found->second;
}

std::optional<NameTree::NodeId> NameTree::leaf_of(std::uint32_t tensor) const {
  const auto found = leaves_.find(tensor);
  if (found == leaves_.end()) return std::nullopt;
  return found->second;
}

}  // namespace andiron::inline v1::detail
