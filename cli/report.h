// SPDX-License-Identifier: MIT OR Apache-2.0
// How the tool answers: exit codes, error lines, standard output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/error.h"

namespace andiron::cli {

/// What scripts rely on.
enum class ExitCode : int {
  ok = 0,
  findings = 1,     ///< differences, failed checks
  failed = 2,       ///< I/O, malformed file
  unsupported = 3,  ///< or not a weight file
  usage = 4,
};

ExitCode exit_code_of(const Error& error);

/// The code for several inputs, of which one ended with `a` and another with `b`.
ExitCode combine(ExitCode a, ExitCode b);

/// One line on standard error: "andiron: TEXT", escaped where needed.
void print_message(std::string_view text);

/// An error as such a line.
void print_error(const Error& error);

/// Notes of an archive as such lines: the first few, and where to find the rest.
void print_notes(const std::string& path, const Archive& archive);

/// What became of a write to standard output.
enum class Written : std::uint8_t {
  all,
  reader_gone,  ///< a closed pipe: time to stop, but nobody's fault
  failed,       ///< reported on standard error
};

/// Writes all of `text` at once, so that a failure is known when it happens.
Written write_to_standard_output(std::string_view text);

/// The same for all that the tool has to say: the code, or that the write failed.
ExitCode print(std::string_view text, ExitCode code = ExitCode::ok);

}  // namespace andiron::cli
