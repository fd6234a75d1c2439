// SPDX-License-Identifier: MIT OR Apache-2.0
// What differs beside the tensors.
#pragma once

#include <cstddef>
#include <vector>

#include "andiron/archive.h"
#include "andiron/compare.h"
#include "andiron/value.h"

namespace andiron::inline v1::detail {

// In order of keys.
std::vector<EntryDifference> metadata_differences(const Metadata& a, const Metadata& b);

struct ValueDifferences {
  std::vector<EntryDifference> listed;
  std::size_t unlisted = 0;
};

// Scalars, texts, bytes, and empty lists and dicts that are not the same at the same path, and
// lists of values that are dicts on the other side; dicts may have another order. Tensors and null
// count as nothing. A few keys can make paths of any length, so the listing is bounded.
ValueDifferences value_differences(const Value& a, const Value& b);

}  // namespace andiron::inline v1::detail
