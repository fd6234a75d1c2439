// SPDX-License-Identifier: MIT OR Apache-2.0
// Shared by the name stages (filter, remap, index gaps, top-level key): renames or drops the
// tensors and aliases of an archive.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"

namespace andiron::inline v1::detail {

// Returns the names of the tensors in order, then the aliases in order.
std::vector<std::string_view> names_and_aliases(const Archive& archive);

// Returns the archive with a new name for each of names_and_aliases(); nothing drops that name. A
// tensor that loses its own name but keeps an alias is stored under the alias. Fails with
// NameCollision if two tensors get one name.
Result<Archive> rename_tensors(const Archive& archive,
                               std::vector<std::optional<std::string>> new_names,
                               NameStage stage = NameStage::rename);

// The same for skipped tensors.
void rename_skipped(Archive& archive,
                    const std::function<std::optional<std::string>(std::string_view)>& new_name);

}  // namespace andiron::inline v1::detail
