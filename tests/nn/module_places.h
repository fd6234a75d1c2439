// SPDX-License-Identifier: MIT OR Apache-2.0
// What a module would be saved as, as text to compare with.
#pragma once

#include <string>
#include <vector>

#include "andiron/module.h"

namespace andiron {

// "conv1.weight f32 [2, 2] in Struct:Net.Struct:Conv2d" for each parameter.
template <class M>
std::vector<std::string> places_of(const M& module) {
  std::vector<std::string> places;
  for (const detail::Slot& slot : detail::slots_of(module, false)) {
    const LeafInfo info = slot.ops->info(slot.leaf);
    places.push_back(slot.path + " " + std::string(dtype_name(info.dtype)) + " " +
                     info.shape.to_string() + " in " + slot.container.path());
  }
  return places;
}

}  // namespace andiron
