// SPDX-License-Identifier: MIT OR Apache-2.0
// The parameters of a model, from a weight file or from a listing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "andiron/apply.h"
#include "andiron/error.h"
#include "andiron/open.h"

namespace andiron::cli {

/// Reads a listing. As text, a line has a name, a dtype and a shape, as `andiron ls` prints them;
/// what it prints around them is skipped, and so are blank lines and those that begin with #. As
/// JSON, it is what `andiron ls --json` prints (a tensor may have a "kind": "Linear"), or an object
/// with a shape for each name, {"fc.weight": [2, 3]}, or with
/// {"fc.weight": {"dtype": "f32", "shape": [2, 3]}}. Without a dtype, f32 is meant, and i64 for
/// what counts. Fails with InvalidArgument for other lines, and if there is no parameter in it.
Result<std::vector<ListedParameter>> parse_listing(std::string_view text);

/// The tensors of a weight file, or the parameters of a listing.
Result<std::vector<ListedParameter>> read_model(const std::string& path,
                                                const OpenOptions& options);

}  // namespace andiron::cli
