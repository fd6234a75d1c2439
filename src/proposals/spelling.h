// SPDX-License-Identifier: MIT OR Apache-2.0
// How modules that hold the same are written on both sides, whatever their words mean.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/proposals/module_label.h"
#include "src/proposals/name_tree.h"

namespace andiron::inline v1::detail {

class Spelling {
 public:
  // The paths of nodes below their scopes.
  Spelling(const NameTree& wanted_tree, std::span<const NameTree::NodeId> wanted,
           NameTree::NodeId wanted_scope, const NameTree& source_tree,
           std::span<const NameTree::NodeId> source, NameTree::NodeId source_scope);

  // For each wanted node the one of the file with the same name. In a list that has numbers which
  // the file's lacks, equal numbers are chance: one may count from 0 and the other from 1.
  std::vector<std::optional<std::size_t>> equal_names() const;

  // Whether words and numbers, as they are written, would exchange a wanted node with another, and
  // what they mean does not speak against it. `chosen`: of the file, for each wanted node.
  bool speaks_against(std::size_t wanted, const std::vector<std::optional<std::size_t>>& chosen,
                      const std::vector<Label>& wanted_labels,
                      const std::vector<Label>& source_labels) const;

 private:
  std::vector<std::vector<std::string>> wanted_;
  std::vector<std::vector<std::string>> source_;
};

}  // namespace andiron::inline v1::detail
