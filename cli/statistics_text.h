// SPDX-License-Identifier: MIT OR Apache-2.0
// Statistics of tensors as text and as JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "andiron/archive.h"
#include "andiron/statistics.h"
#include "cli/terminal.h"

namespace andiron::cli {

/// Appends a table with a row for each of the tensors. `all` has one for each of the archive.
void append_statistics_table(std::string& out, const Archive& archive,
                             std::span<const std::size_t> order, std::span<const Statistics> all,
                             const Page& page);

/// Appends the histogram of a tensor, a line for each bin: where it begins, how many elements are
/// in it, and a bar.
void append_histogram(std::string& out, const TensorInfo& info, const Statistics& statistics,
                      const Page& page);

/// "3 NaN and 1 infinity among 64 elements"
std::string not_finite_text(const Statistics& statistics);

/// Appends `,"statistics":{...}`. What no element has is null; numbers that JSON lacks are strings.
void append_json_statistics(std::string& out, const Statistics& statistics);

}  // namespace andiron::cli
