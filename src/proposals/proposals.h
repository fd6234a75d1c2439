// SPDX-License-Identifier: MIT OR Apache-2.0
// Proposes settings under which a load would match.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "andiron/apply.h"
#include "andiron/leaf.h"

namespace andiron::inline v1::detail {

struct WantedTensor {
  Place place;
  LeafInfo leaf;
};

// A tensor that a load by a proposal would refuse, as the module is too short for it; empty if
// there is none.
using TooShortFor = std::function<std::string(const Proposal&)>;

// A load that does not match. Proposals change its settings.
struct ProposalInput {
  std::span<const WantedTensor> wanted;        // places with skip_enum_variants as it is set
  std::span<const WantedTensor> wanted_other;  // the same places with the flag flipped
  const LoadSource& source;
  const ApplyOptions& options;
  bool tells_shapes = false;  // the report says already what other shapes have in common
  bool tells_why = false;     // and why the source cannot fit
  TooShortFor too_short_for = {};
};

// What can be said about a load that does not match.
struct Guidance {
  std::vector<Proposal> proposals = {};
  std::vector<Message> notes = {};  // whose naming it is; what differs
  // For parameters of the module the tensor of the source that was meant, if that is sure.
  std::map<std::string, std::string> meant = {};
  std::map<std::string, std::string> guessed = {};  // the same, where it is a guess
  bool is_other_family = false;                     // names that are alike mean other things
};

// Returns at most three complete recipes, best first. Each was tried on the source with the stages
// of a load, and feeds more parameters than the present settings, or excludes by name those that
// the source cannot feed. The work is bounded, whatever the number of names.
Guidance guide(const ProposalInput& input);

}  // namespace andiron::inline v1::detail
