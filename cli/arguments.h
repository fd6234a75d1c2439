// SPDX-License-Identifier: MIT OR Apache-2.0
// The command line, and its help.
#pragma once

#include <string>
#include <variant>

#include "cli/options.h"

namespace andiron::cli {

/// Text that was asked for: --help, --version.
struct ShowText {
  std::string text;
};

/// No verb was given: the help, as an answer to a mistake.
struct ShowUsage {
  std::string text;
};

/// A command line that makes no sense, in one line.
struct UsageError {
  std::string message;
};

using Arguments =
    std::variant<LsOptions, InfoOptions, ConfigOptions, PlanOptions, HashOptions, StatOptions,
                 DiffOptions, ConvertOptions, ShowText, ShowUsage, UsageError>;

Arguments parse_arguments(int argc, const char* const* argv);

}  // namespace andiron::cli
