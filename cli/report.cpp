// SPDX-License-Identifier: MIT OR Apache-2.0
// How the tool answers: exit codes, error lines, standard output.
#include "cli/report.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "andiron/text.h"
#include "cli/quantities.h"

namespace andiron::cli {

ExitCode exit_code_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::not_a_weight_file:
    case ErrorCode::unsupported:
    case ErrorCode::unsupported_dtype:
      return ExitCode::unsupported;
    case ErrorCode::invalid_pattern:
    case ErrorCode::invalid_argument:
      return ExitCode::usage;
    default:
      return ExitCode::failed;
  }
}

ExitCode combine(ExitCode a, ExitCode b) {
  constexpr ExitCode gravest_first[] = {ExitCode::failed, ExitCode::unsupported, ExitCode::usage,
                                        ExitCode::findings, ExitCode::ok};
  for (const ExitCode code : gravest_first) {
    if (code == a || code == b) return code;
  }
  return ExitCode::ok;
}

void print_message(std::string_view text) {
  const std::string line = "andiron: " + display_line(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void print_error(const Error& error) { print_message(error.to_string(Wording::flags)); }

void print_notes(const std::string& path, const Archive& archive) {
  constexpr std::size_t shown = 5;
  const std::string shown_path = display_text(path);
  const std::vector<Message>& notes = archive.notes();
  for (std::size_t i = 0; i < std::min(shown, notes.size()); ++i) {
    print_message(shown_path + ": note: " + notes[i].to_string(Wording::flags));
  }
  if (notes.size() > shown) {
    print_message(shown_path + ": note: " + count_of(notes.size() - shown, "more note") +
                  "; 'andiron info' lists them");
  }
  if (const std::size_t skipped = archive.skipped().size(); skipped > 0) {
    print_message(shown_path + ": note: " + count_of(skipped, "tensor") +
                  " skipped; 'andiron info' says why");
  }
}

Written write_to_standard_output(std::string_view text) {
  const bool complete = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (complete && std::fflush(stdout) == 0) return Written::all;
  if (errno == EPIPE) return Written::reader_gone;
  print_message(std::string("standard output: ") + std::strerror(errno));
  return Written::failed;
}

ExitCode print(std::string_view text, ExitCode code) {
  return write_to_standard_output(text) == Written::failed ? ExitCode::failed : code;
}

}  // namespace andiron::cli
