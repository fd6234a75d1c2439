// SPDX-License-Identifier: MIT OR Apache-2.0
// What JavaScript is told of archives, tensors and their differences; the types are in
// andiron.d.ts.
#pragma once

#include <cstdint>
#include <string>

#include "andiron/archive.h"
#include "andiron/compare.h"
#include "andiron/statistics.h"

namespace andiron::web {

// `handle`: the number that the archive is open as.
std::string describe(const Archive& archive, std::uint32_t handle);
std::string describe(const Statistics& statistics);
std::string describe(const Comparison& comparison);

}  // namespace andiron::web
