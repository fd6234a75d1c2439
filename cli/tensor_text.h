// SPDX-License-Identifier: MIT OR Apache-2.0
// What is said of a tensor, and in which order tensors are listed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "cli/common_options.h"
#include "cli/terminal.h"

namespace andiron::cli {

/// "f32", or "raw:NAME" for a type that only the file knows.
std::string dtype_text(const TensorInfo& info);

/// Tensors, elements and bytes.
struct Totals {
  std::uint64_t tensors = 0;
  std::uint64_t parameters = 0;
  std::uint64_t bytes = 0;

  /// Stays at the largest number where a hostile shape would overflow.
  void add(const TensorInfo& info);
};

/// Indices of all tensors in the order asked for.
std::vector<std::size_t> sorted_indices(const Archive& archive, SortKey key);

/// What became of the names of a file.
struct Renames {
  std::size_t renamed = 0;            ///< tensors of the archive with another name than in the file
  std::vector<std::size_t> left_out;  ///< tensors of in_file() that are not under the top-level
                                      ///< key, in natural order
};

Result<Renames> renames_of(const Archive& archive);

/// What a table shows of tensors beside name, dtype, shape and size.
struct TensorColumns {
  bool steps = false;  ///< a row for each name of a tensor, and the step that gave it the name
  std::span<const std::size_t> left_out = {};   ///< with `steps`: of in_file(), to list at the end
  bool places = false;                          ///< offset, and file where there are several
  std::span<const std::uint64_t> padding = {};  ///< bytes before each tensor of the archive
};

/// Appends a table with a row for each of the tensors.
void append_tensor_table(std::string& out, std::string heading, const Archive& archive,
                         std::span<const std::size_t> indices, const Page& page,
                         const TensorColumns& columns = {});

}  // namespace andiron::cli
