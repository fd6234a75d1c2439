// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/model_root_test.cpp
#include "src/proposals/model_root.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "src/core/parse_index.h"
#include "src/proposals/name_parts.h"
#include "src/proposals/shared_forms.h"
#include "src/proposals/word_similarity.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::size_t most_wrappers = 64;

bool is_average(std::string_view segment) {
  const std::vector<std::string> words = words_in(segment);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "ema" || word == "swa" || word == "averaged" || word == "shadow";
  });
}

// Whether it holds the members of a list and nothing else, and some of them hold the same.
bool holds_blocks(const NameTree& tree, NameTree::NodeId node) {
  std::set<std::uint32_t> bags;
  bool is_list = true;
  for (const NameTree::NodeId member : tree[node].children) {
    is_list = is_list && parse_index(tree[member].segment).has_value();
    bags.insert(tree[member].bag);
  }
  return is_list && bags.size() < tree[node].children.size();
}

// A network that follows the one that is trained.
bool is_copy(std::string_view segment) {
  const std::string plain = plain_segment(segment);
  return plain == "encoder_k" || plain == "key_encoder" || plain == "teacher" ||
         plain.find("momentum") != std::string::npos || plain.find("target") != std::string::npos;
}

}  // namespace

bool is_averaged(std::string_view name) {
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    if (is_average(name.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

ModelRoot find_root(std::span<const TreeTensor> source, std::span<const TreeTensor> wanted) {
  NameTree::Bags bags;
  const SharedForms forms(source, wanted);
  const NameTree tree(source, forms.source, bags);
  const NameTree wanted_tree(wanted, forms.wanted, bags);
  // How many of the wanted tensors a node holds.
  const auto coverage = [&](NameTree::NodeId node) {
    const FormCounts& there = bags.counts(tree[node].bag);
    std::uint64_t shared = 0;
    for (auto at = there.begin();
         const auto& [key, count] : bags.counts(wanted_tree[NameTree::root].bag)) {
      while (at != there.end() && at->first < key) ++at;
      if (at != there.end() && at->first == key) shared += std::min(count, at->second);
    }
    return shared;
  };
  const NameTree::NodeId top = wanted_tree.bottom_of_chain(NameTree::root);
  NameTree::NodeId best = NameTree::root;
  NameTree::NodeId rival = NameTree::root;  // of the first that has one
  const std::uint64_t all = coverage(best);
  for (std::size_t level = 0; level < most_wrappers; ++level) {
    std::vector<NameTree::NodeId> models;
    for (const NameTree::NodeId child : tree[best].children) {
      // A single module is no model, unless it is all that is wanted.
      const bool is_part = tree.is_module(child) && !wanted_tree.is_module(NameTree::root);
      // Nor is a list of blocks, one of which may hold copies of what is beside the list.
      const bool is_blocks = holds_blocks(tree, child) && tree[child].count < tree[best].count &&
                             !holds_blocks(wanted_tree, top);
      const bool is_model = !is_part && !is_blocks;
      if (!tree.is_leaf(child) && is_model && coverage(child) == all) models.push_back(child);
    }
    if (models.empty()) break;
    const auto trained = std::find_if(models.begin(), models.end(), [&](NameTree::NodeId child) {
      return !is_copy(tree[child].segment);
    });
    best = trained == models.end() ? models.front() : *trained;
    if (rival == NameTree::root && models.size() > 1) {
      rival = models[best == models[0] ? 1 : 0];
    }
  }
  // What the wanted names begin with, too, stays.
  const NameTree::NodeId wanted_root = wanted_tree.bottom_of_chain(NameTree::root);
  for (std::size_t kept = std::min(tree[best].depth, wanted_tree[wanted_root].depth); kept > 0;
       --kept) {
    const auto path = tree.plain_path(best);
    const auto wanted_path = wanted_tree.plain_path(wanted_root);
    if (!std::equal(path.end() - static_cast<std::ptrdiff_t>(kept), path.end(),
                    wanted_path.begin())) {
      continue;
    }
    for (; kept > 0; --kept) best = tree[best].parent;
    break;
  }
  if (best == NameTree::root) return {};
  // As the names have it, with its separators.
  const auto prefix_of = [&](NameTree::NodeId node) {
    NameTree::NodeId leaf = node;
    while (!tree.is_leaf(leaf)) leaf = tree[leaf].children.front();
    const std::string& name = source[*tree[leaf].tensor].name;
    std::size_t end = 0;
    for (std::uint32_t depth = 0; depth < tree[node].depth; ++depth) {
      // Some segments are parts of a name's last one.
      const std::size_t separator = name.find_first_of(name_separators, end);
      if (separator == std::string::npos) break;
      end = separator + 1;
    }
    return name.substr(0, end);
  };
  const bool has_rival = rival != NameTree::root && tree[best].depth >= tree[rival].depth;
  return {prefix_of(best), has_rival ? prefix_of(rival) : ""};
}

}  // namespace andiron::inline v1::detail
