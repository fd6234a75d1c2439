// SPDX-License-Identifier: MIT OR Apache-2.0
// What would make a load match that does not.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/adapter.h"
#include "andiron/apply_result.h"
#include "andiron/archive.h"
#include "andiron/leaf.h"
#include "andiron/transfer.h"

namespace andiron::inline v1::detail {

struct WantedTensor {
  Place place;
  LeafInfo leaf;
};

// What a store does to names already. Proposed calls are added to its own, but stages keep their
// order: a new rule runs before index gaps are closed, a top-level key before all rules.
struct PresentNames {
  std::string_view top_level_key = {};
  bool has_rules = false;
  // The source before index gaps were closed; nothing where they are not.
  const Archive* before_closing = nullptr;
  std::span<const std::string> contiguous_except = {};
};

struct ProposalInput {
  std::span<const WantedTensor> wanted;        // places with skip_enum_variants as it is set
  std::span<const WantedTensor> wanted_other;  // the same places with the flag flipped
  bool skip_enum_variants = false;
  const Archive& source;  // after the present name stages
  const AnyAdapter& adapter;
  DTypePolicy dtype_policy = DTypePolicy::from_file;
  PresentNames present = {};
};

// At most three complete recipes, best first. Each was tried on the source with the stages of a
// load, and feeds more parameters than the present settings, or leaves out by name those that the
// source cannot feed. The work is bounded, whatever the number of names.
std::vector<Proposal> propose(const ProposalInput& input);

}  // namespace andiron::inline v1::detail
