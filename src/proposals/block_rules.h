// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules for names that consist of a block and a place in it: one set of rules renames the places,
// the other the blocks. They hold on to the ends of names, so that none undoes another.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "src/proposals/name_rules.h"

namespace andiron::inline v1::detail {

// Returns rules in an order in which they work; nothing if there is none.
std::optional<std::vector<NameRule>> block_rules(std::span<const Renaming> renamings);

// Stands before names that no other rule shall change.
inline constexpr char done_mark = '~';

// A rule for each module, or for each tensor that changes otherwise than its module; nothing if
// there would be more than `most`. Names may also change places: where a new name is another's old
// one, what is done is marked until all are. REQUIRES: no name begins with done_mark.
std::optional<std::vector<NameRule>> module_rules(std::span<const Renaming> renamings,
                                                  std::size_t most);

}  // namespace andiron::inline v1::detail
