// SPDX-License-Identifier: MIT OR Apache-2.0
// From a module to what a store writes.
#pragma once

#include <string>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/module.h"
#include "andiron/store.h"

namespace andiron::inline v1::detail {

// The parameters that pass the filter, adapted and under their names in the file, with metadata.
Result<Archive> archive_to_save(const StoreSettings& settings, const std::vector<Slot>& slots);

// What the writer of a model should know although nothing is wrong.
std::vector<std::string> save_notes(const StoreSettings& settings, const std::string& path,
                                    Format format, const std::vector<Slot>& slots,
                                    const Archive& archive);

}  // namespace andiron::inline v1::detail
