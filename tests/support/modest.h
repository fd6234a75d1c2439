// SPDX-License-Identifier: MIT OR Apache-2.0
// What a hostile file may take: memory and time in proportion to its size, measured in a process of
// its own.
//
//   EXPECT_EQ(expect_modest(bomb), "LimitExceeded: ...");
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/long_tests.h"
#include "tests/support/places.h"
#include "tests/support/run.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {

/// What a program did, and the most memory that it had at once: holes in its heap count.
struct MeasuredOutcome : Outcome {
  std::uint64_t peak_bytes = 0;
};

/// Runs a command. Expects that it ends by itself, before it is ended as one that hangs
/// (measure.cpp).
inline MeasuredOutcome run_measured(const std::vector<std::string>& command) {
  const TempDir folder;
  std::vector<std::string> measured = {measure_path(), folder.file("taken")};
  measured.insert(measured.end(), command.begin(), command.end());
  MeasuredOutcome outcome{run(measured)};
  EXPECT_LT(outcome.exit_code, 127) << outcome.err.substr(0, 1000);
  unsigned long long peak_kib = 0;
  EXPECT_EQ(std::sscanf(read_file(folder.file("taken")).c_str(), "%llu", &peak_kib), 1);
  outcome.peak_bytes = peak_kib * 1024;
  return outcome;
}

/// The same for a command that works on files of this size: it must keep to the memory that
/// SECURITY.md promises.
inline Outcome run_modestly(const std::vector<std::string>& command, std::uint64_t file_bytes) {
  const MeasuredOutcome outcome = run_measured(command);
  if (is_sanitized || is_emulated()) return outcome;
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  EXPECT_LE(outcome.peak_bytes, 32 * mib + 64 * file_bytes)
      << outcome.peak_bytes / mib << " MiB for a file of " << file_bytes << " bytes; "
      << outcome.out.substr(0, 300);
  return outcome;
}

/// Opens, lists and prints a file or folder; returns what came of it (open_probe.cpp).
inline std::string expect_modest_at(const std::string& path, std::uint64_t file_bytes,
                                    const std::vector<std::string>& options = {}) {
  std::vector<std::string> command = {probe_path()};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(path);
  return run_modestly(command, file_bytes).out;
}

/// The same for these bytes. They are opened by their content.
inline std::string expect_modest(std::string_view file,
                                 const std::vector<std::string>& options = {}) {
  const TempDir folder;
  write_file(folder.file("file"), file);
  return expect_modest_at(folder.file("file"), file.size(), options);
}

/// Every cut of the file, and every byte of it changed, in one process.
inline void expect_modest_when_changed(std::string_view file) {
  const TempDir folder;
  write_file(folder.file("file"), file);
  const std::vector<std::string> command = {measure_path(), folder.file("taken"), probe_path(),
                                            "--changes", folder.file("file")};
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.out, "tried\n") << outcome.err.substr(0, 1000);
  unsigned long long peak_kib = 0;
  EXPECT_EQ(std::sscanf(read_file(folder.file("taken")).c_str(), "%llu", &peak_kib), 1);
  if (is_sanitized || is_emulated()) return;
  EXPECT_LE(peak_kib, 32 * 1024 + 64 * file.size() / 1024);
}

}  // namespace andiron::test
