// SPDX-License-Identifier: MIT OR Apache-2.0
// What differs between two archives, as text and as JSON.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "andiron/compare.h"
#include "cli/terminal.h"

namespace andiron::cli {

/// Appends a summary, then a table for each kind of difference with at most `most_rows` rows.
void append_comparison(std::string& out, const std::string& a_path, const std::string& b_path,
                       const Comparison& comparison, const Page& page, std::size_t most_rows);

struct ComparedFile {
  const std::string& path;
  const Archive& archive;
};

/// One object on one line.
std::string json_comparison(const ComparedFile& a, const ComparedFile& b,
                            const Comparison& comparison, const std::vector<Message>& notes);

}  // namespace andiron::cli
