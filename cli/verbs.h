// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tool can do.
#pragma once

#include "cli/options.h"
#include "cli/report.h"

namespace andiron::cli {

/// Lists tensors.
ExitCode run(const LsOptions& options);
/// Sums up a weight file.
ExitCode run(const InfoOptions& options);
/// Shows what a file keeps beside its tensors.
ExitCode run(const ConfigOptions& options);
/// Says whether a file fits a model, and which settings would make it fit.
ExitCode run(const PlanOptions& options);
/// Hashes tensors.
ExitCode run(const HashOptions& options);
/// Computes statistics of tensors.
ExitCode run(const StatOptions& options);
/// Compares the tensors of two weight files.
ExitCode run(const DiffOptions& options);
/// Writes the tensors of one weight file into another.
ExitCode run(const ConvertOptions& options);

}  // namespace andiron::cli
