// SPDX-License-Identifier: MIT OR Apache-2.0
// The settings of a proposal as flags of the tool.
#pragma once

#include <string>

#include "andiron/apply.h"

namespace andiron::cli {

/// "--sub '^model\.' ''", quoted for a shell. Empty for a setting that no flag makes.
std::string flag_for(const ProposedStep& step);

}  // namespace andiron::cli
