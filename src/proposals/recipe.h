// SPDX-License-Identifier: MIT OR Apache-2.0
// A change of a store's settings, as code and as text, and its effect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/leaf.h"
#include "src/proposals/name_rules.h"
#include "src/proposals/proposals.h"

namespace andiron::inline v1::detail {

// Why a key is a guess: another tree of the file holds as much.
std::string reason_for_rival(std::string_view prefix);

// Another adapter, or the present one.
using AdapterChoice = std::optional<UseAdapter>;
AnyAdapter chosen_adapter(const AdapterChoice& choice, const AnyAdapter& present);
inline constexpr UseAdapter from_pytorch{UseAdapter::Kind::pytorch_to_burn};
inline constexpr UseAdapter to_pytorch{UseAdapter::Kind::burn_to_pytorch};
inline constexpr UseAdapter no_adapter{UseAdapter::Kind::identity};

// An edit of tensors, and why.
struct ProposedEdit {
  TensorEdit edit;
  std::string why;
  bool is_guess = false;
};

// Parameters that are left out, and why.
struct Exclusion {
  std::string pattern;  // a regular expression for paths
  std::string why;
  bool is_guess = false;
};

// Calls of a store's builder. Settings that are not named stay as they are.
struct Recipe {
  std::string top_level_key = {};
  std::string rival = {};  // of the key, which then is a guess
  bool folds_weight_norm = false;
  std::vector<NameRule> rules = {};
  std::vector<ProposedEdit> edits = {};
  std::optional<bool> closes_gaps = {};
  std::vector<Exclusion> excluded = {};
  AdapterChoice adapter = {};
  std::optional<bool> skips_variants = {};
  std::string too_short_for = {};  // a tensor of the source that goes on where the module ends

  // About the number of calls; calls that say more about a file cost a little less.
  double cost() const;
  bool is_guess() const;
  // The calls, in the order of stages, to add to the calls that made `present`.
  std::vector<ProposedStep> steps(const NameOptions& present) const;
  bool changes_names() const {
    return !top_level_key.empty() || folds_weight_norm || !rules.empty() || !edits.empty() ||
           closes_gaps;
  }
  // The settings with these calls added: a new key is under the present one, and new rules run
  // after the present ones.
  NameOptions added_to(NameOptions present) const;
  // "stripping 'module.' from names and closing gaps in their numbers"
  std::string text() const;
};

// The result of a recipe.
struct Trial {
  struct Unfed {
    std::size_t wanted;  // which of the wanted tensors
    // The shapes or dtypes of a tensor that does not fit; empty when there is none.
    std::string found;
    std::string expected;
  };
  // A name for each shape with the kind of its dtype (kind_number) at its end.
  using Unused = std::map<std::vector<std::uint64_t>, std::string>;
  std::size_t matched = 0;
  std::vector<Unfed> unfed = {};
  Unused unused = {};  // tensors of the source, where something is unfed
  // All parameters without a tensor are in variants, and the source has tensors for another
  // alternative there.
  bool is_other_variant = false;
};

std::span<const WantedTensor> wanted_by(const ProposalInput& input, const Recipe& recipe);

// Runs the name stages and the matching of a load. Fails if those fail, for example if two names
// become one.
Result<Trial> try_recipe(const ProposalInput& input, const Recipe& recipe);

}  // namespace andiron::inline v1::detail
