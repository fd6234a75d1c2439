// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/choose_variants_test.cpp
#include "andiron/apply.h"

#include <algorithm>

#include "src/adapters/archive_lookup.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

VariantChooser::VariantChooser(const Archive& source, const ChooseOptions& options)
    : source_(source), options_(options), place_(options.skip_enum_variants) {}

std::size_t VariantChooser::count_served(const std::vector<Slot>& slots) const {
  ArchiveLookup lookup(source_);
  return static_cast<std::size_t>(std::count_if(slots.begin(), slots.end(), [&](const Slot& slot) {
    const auto found =
        pass_on_out_of_memory(options_.adapter->load(Place{slot.path, slot.container}, lookup));
    if (!found || !*found) return false;
    const LeafInfo info = slot.ops->info(slot.leaf);
    return info.accepts_any_shape || info.shape == (*found)->shape();
  }));
}

}  // namespace andiron::inline v1::detail
