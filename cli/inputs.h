// SPDX-License-Identifier: MIT OR Apache-2.0
// From an input named on the command line to the archive that a verb shows.
#pragma once

#include <functional>
#include <string>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "cli/common_options.h"
#include "cli/report.h"

namespace andiron::cli {

/// Appends what the verb has to say about one input.
using Render =
    std::function<Status(const std::string& path, const Archive& archive, std::string& out)>;

/// Opens every input in turn and prints what `render` makes of it. Inputs that fail are reported,
/// and the others still done. Blank lines come between them unless the output is `lines` for
/// programs.
ExitCode for_each_input(const ReadingOptions& options, bool lines, const Render& render);

/// The same for inputs that a verb reads in a way of its own: `opened` is what opening gave. What
/// is appended for an input that fails is shown with the error; with --json, it is more fields.
using RenderOpened =
    std::function<Status(const std::string& path, Result<Archive> opened, std::string& out)>;
ExitCode for_each_input_opened(const ReadingOptions& options, bool lines,
                               const RenderOpened& render);

/// Open, names, filter. REQUIRES: check_patterns() is ok.
Result<Archive> open_input(const ReadingOptions& options, const std::string& path);

/// Of filters that leave no tensor.
Error nothing_passes();

/// Whether the patterns on the command line are patterns.
Status check_patterns(const ReadingOptions& options);

/// Reports an input that failed on standard error, and makes `out` what stands for it on standard
/// output: nothing more than it has, or with --json the error with what it has as more fields.
ExitCode report_failure(const ReadingOptions& options, const std::string& path, Error error,
                        std::string& out);

/// Appends "PATH:" above a listing when there are several inputs.
void append_input_heading(std::string& out, const std::string& path, const ReadingOptions& options);

}  // namespace andiron::cli
