// SPDX-License-Identifier: MIT OR Apache-2.0
// Names with what training tools put into them, at any depth: wrappers of modules
// (layers.0._fsdp_wrapped_module.fc.weight) and holders of tensors (fc.weight.value).
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "src/proposals/name_rules.h"
#include "src/proposals/proposals.h"
#include "src/proposals/recipe_search.h"

namespace andiron::inline v1::detail {

class UnwrappedNames {
 public:
  // Nothing if the names of the source have no wrappers, or the module's have them, too.
  static std::optional<UnwrappedNames> of(const ProposalInput& input);

  // Searches with the names as they are without wrappers, then writes down what was found for the
  // names with them.
  SearchResult search(const ProposalInput& input) const;

 private:
  UnwrappedNames(std::vector<NameRule> rules, NameOptions names, Archive named)
      : rules_(std::move(rules)), names_(std::move(names)), named_(std::move(named)) {}

  std::vector<NameRule> rules_;  // that unwrap
  NameOptions names_;            // the present ones and these rules
  Archive named_;
};

}  // namespace andiron::inline v1::detail
