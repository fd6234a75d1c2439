// SPDX-License-Identifier: MIT OR Apache-2.0
// Where modules stand in the lists and blocks that hold them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "src/proposals/name_tree.h"

namespace andiron::inline v1::detail {

// Where a module stands beside another that belongs to it, as a norm does to its convolution.
enum class Side : std::uint8_t { before, after, either };

// Nothing if they do not belong together. `in_order`: the order in which they are listed tells.
std::optional<Side> side_of(const NameTree& tree, NameTree::NodeId node, NameTree::NodeId beside,
                            bool in_order);

// Whether the names of two members of a module have a word in common that few others have.
bool shares_word(const NameTree& tree, NameTree::NodeId node, NameTree::NodeId beside);

// Whether the numbers of the list that holds a module run the other way than those of another: the
// members with forms of their own tell, or what is known of such lists (counts_backwards).
bool runs_backwards(const NameTree& wanted_tree, NameTree::NodeId wanted,
                    const NameTree& source_tree, NameTree::NodeId source);

// Whether the list that holds a module counts others, too, which hold other things.
bool counts_others(const NameTree& tree, NameTree::NodeId node);

// Whether the list that holds modules counts others before them, which hold other things, so that
// their own numbers are places in the list and not among them. REQUIRES: they have one parent.
bool counts_others_before(const NameTree& tree, std::span<const NameTree::NodeId> nodes,
                          NameTree::Bags& bags);

}  // namespace andiron::inline v1::detail
