// SPDX-License-Identifier: MIT OR Apache-2.0
// The settings of a proposal as flags of the tool.
#pragma once

#include <string>
#include <string_view>

#include "andiron/apply.h"

namespace andiron::cli {

/// "--sub '^model\.' ''", quoted for a shell. Empty for a setting that no flag makes.
std::string flag_for(const ProposedStep& step);

/// A word for a shell, in quotes if it needs them.
std::string in_shell_quotes(std::string_view text);

}  // namespace andiron::cli
