// SPDX-License-Identifier: MIT OR Apache-2.0
// What the name stages (filter, remap, index gaps, top-level key) share: giving the tensors of an
// archive other names or leaving them out, aliases included.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"

namespace andiron::inline v1::detail {

// The names of the tensors in their order, then the aliases in theirs.
std::vector<std::string_view> names_and_aliases(const Archive& archive);

// The archive with another name for each of names_and_aliases; nothing leaves that name out. A
// tensor that loses its own name but keeps an alias is stored under that one. NameCollision when
// two tensors would share a name.
Result<Archive> rename_tensors(const Archive& archive,
                               std::vector<std::optional<std::string>> new_names,
                               NameStage stage = NameStage::rename);

// The same for what was skipped: a name of nothing is left out.
void rename_skipped(Archive& archive,
                    const std::function<std::optional<std::string>(std::string_view)>& new_name);

}  // namespace andiron::inline v1::detail
