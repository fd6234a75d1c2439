// SPDX-License-Identifier: MIT OR Apache-2.0
// The lists of a module, as the paths of its parameters show them.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "andiron/detail/slots.h"
#include "andiron/names.h"

namespace andiron::inline v1::detail {

// The numbers in each list, sorted, by the path of the list. Elements without parameters are not
// there. Fields and keys of maps that are numbers count as elements. A
// list within 32 others is left out: no model has it, and a name may be nothing but numbers.
std::unordered_map<std::string_view, std::vector<std::uint64_t>> numbers_in_lists(
    const std::vector<Slot>& slots);

// The settings for a load into these parameters. A list that has gaps itself, as a tuple with the
// layers without parameters, has the numbers of the file, and closing gaps would move tensors to
// other layers.
NameOptions names_for(const std::vector<Slot>& slots, NameOptions names);

}  // namespace andiron::inline v1::detail
