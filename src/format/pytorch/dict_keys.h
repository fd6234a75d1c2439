// SPDX-License-Identifier: MIT OR Apache-2.0
// Keys that a pickle gives to one dict more than once.
#pragma once

#include <cstdint>
#include <vector>

#include "andiron/error.h"
#include "src/format/pytorch/pickle_document.h"

namespace andiron::inline v1::detail {

// For each pair whether a later one has the same key, so that it does not count; empty where no key
// is given twice, as in everything that Python wrote. Keys that are no text are compared by the
// text that Python prints, while `text_left` lasts; then only those are the same that are one
// value.
Result<std::vector<bool>> superseded_pairs(const PickleDocument& content, PickleItems pairs,
                                           std::uint64_t& text_left);

}  // namespace andiron::inline v1::detail
