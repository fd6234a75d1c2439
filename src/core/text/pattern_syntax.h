// SPDX-License-Identifier: MIT OR Apache-2.0
// The front end of patterns: from what users write (regular expressions in Rust's dialect, globs)
// to what the engine takes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "andiron/error.h"

namespace andiron::inline v1 {

// Each returns an expression for the engine, or InvalidPattern for what the dialect does not have
// or the engine would take in another sense.
Result<std::string> translate_regex(std::string_view pattern);
Result<std::string> translate_glob(std::string_view pattern);

// The start of a pattern: long ones are cut.
std::string shown_pattern(std::string_view pattern);

// InvalidPattern that shows the pattern and, where known, the byte that is wrong.
Error pattern_error(std::string_view pattern, std::optional<std::size_t> position,
                    std::string message, std::string hint);
// The same for a part that an engine refuses. Its position is known only if the pattern has it in
// one place.
Error pattern_part_error(std::string_view pattern, std::string_view part, std::string message,
                         std::string hint);

}  // namespace andiron::inline v1
