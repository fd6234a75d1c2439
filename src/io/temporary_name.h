// SPDX-License-Identifier: MIT OR Apache-2.0
// Names of files that are not finished: ".NAME.NUMBER.tmp" beside NAME. A process holds a lock on
// its unfinished files, so that others can tell which of them a killed process left.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/io/system_calls.h"

namespace andiron::inline v1 {

/// How many files may be under way to one target at once.
inline constexpr unsigned max_temporaries = 32;

/// A long `name` is cut, so that file systems take the result.
std::string temporary_name(const std::string& name, unsigned number);

/// The number in a temporary name of `name`; nothing for other names.
std::optional<unsigned> temporary_number(std::string_view temporary, const std::string& name);

/// Opens and locks a file that this user's processes left when they were killed. Empty if there is
/// no file, if a process holds it, or if it is somebody else's.
Descriptor lock_abandoned(int folder, const std::string& temporary);

/// Removes what killed processes left beside `name`, from number 0 on.
void remove_abandoned(int folder, const std::string& name);

/// Gives a file a temporary name of its own. Returns the name that it has afterwards: the old one
/// if that is not possible.
std::string hide_under_temporary_name(int folder, const std::string& name);

/// Whether `name` is the open file.
bool names_file(int folder, const std::string& name, int file);

}  // namespace andiron::inline v1
