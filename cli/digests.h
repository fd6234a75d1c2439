// SPDX-License-Identifier: MIT OR Apache-2.0
// Hashes of tensors, several at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "andiron/archive.h"
#include "andiron/sha256.h"
#include "cli/common_options.h"

namespace andiron::cli {

/// Digests in archive order, or the error that one thread alone would have met first. An exception
/// of a thread is thrown again here. Calls `read` from all threads with the bytes that were read.
Result<std::vector<Sha256Digest>> digests_of(const Archive& archive, const Workforce& force,
                                             const std::function<void(std::uint64_t bytes)>& read);

}  // namespace andiron::cli
