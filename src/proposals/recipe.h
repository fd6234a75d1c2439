// SPDX-License-Identifier: MIT OR Apache-2.0
// A change of a store's settings: how it is said, and what it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/leaf.h"
#include "src/proposals/name_rules.h"
#include "src/proposals/proposals.h"

namespace andiron::inline v1::detail {

enum class AdapterChoice : std::uint8_t { present, pytorch_to_burn, burn_to_pytorch, identity };

AnyAdapter chosen_adapter(AdapterChoice choice, const AnyAdapter& present);

// Calls of a store's builder. What is not set stays as it is.
struct Recipe {
  std::string top_level_key = {};
  std::vector<NameRule> rules = {};
  std::optional<bool> closes_gaps = {};
  std::vector<std::string> excluded = {};  // regular expressions for paths
  AdapterChoice adapter = AdapterChoice::present;
  std::optional<bool> skips_variants = {};

  // About the number of calls; what says more about a file costs a little less.
  double cost() const;
  // In the order of stages, one call on a line, to be added to the calls that made `present`.
  std::string code(const NameOptions& present) const;
  bool changes_names() const { return !top_level_key.empty() || !rules.empty() || closes_gaps; }
  // The stages with these calls added: a new key lies below the present one, and new rules run
  // after the present ones.
  NameOptions added_to(NameOptions present) const;
  // "stripping 'module.' from names and closing gaps in their numbers"
  std::string text() const;
};

// What a recipe gives.
struct Trial {
  struct Unfed {
    std::size_t wanted;  // which of the wanted tensors
    // The shapes or dtypes of a tensor that does not fit; empty when there is none.
    std::string found;
    std::string expected;
  };
  std::size_t matched = 0;
  std::vector<Unfed> unfed = {};
  // All that is unfed lies in variants, and the source has tensors for another alternative there.
  bool is_other_variant = false;
};

std::span<const WantedTensor> wanted_by(const ProposalInput& input, const Recipe& recipe);

// Whether a load would put the tensor into the leaf.
bool fits(const TensorSnapshot& tensor, const LeafInfo& leaf, DTypePolicy policy);

// The names stages and the match of a load. Fails where those do, as when two names become one.
Result<Trial> try_recipe(const ProposalInput& input, const Recipe& recipe);

}  // namespace andiron::inline v1::detail
