// SPDX-License-Identifier: MIT OR Apache-2.0
// Parameter ids in SafeTensors, which has no place for them: one metadata entry,
//   "param_ids": "{\"NAME\":\"72d17eukbtkma\",...}"
// with Burn's text form of each id.
#pragma once

#include <span>

#include "andiron/archive.h"
#include "src/core/archive_builder.h"

namespace andiron::inline v1::detail {

// Enters the ids of the tensors at `indices` that have one.
void add_param_ids(Metadata& metadata, const Archive& archive,
                   std::span<const std::size_t> indices);

// Moves ids from the metadata to the tensors. An entry of that name with anything else in it stays
// what it is: metadata. REQUIRES: names are indexed.
void take_param_ids(ArchiveBuilder& builder);

}  // namespace andiron::inline v1::detail
