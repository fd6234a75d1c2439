// SPDX-License-Identifier: MIT OR Apache-2.0
// The command line, and its help.
#pragma once

#include <memory>
#include <variant>

#include "cli/report.h"
#include "cli/verbs.h"

namespace andiron::cli {

/// The verb that is asked for, with its options. If there is none to run, the tool has answered
/// (with help, the version or what makes no sense), and this is the exit code.
std::variant<std::unique_ptr<Verb>, ExitCode> parse_arguments(int argc, const char* const* argv);

}  // namespace andiron::cli
