// SPDX-License-Identifier: MIT OR Apache-2.0
// Compares programs that do the same job. The unit of truth is a ratio inside one repetition, in
// which all programs run one after the other in shuffled order: what the machine does meanwhile
// hits all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace andiron::bench {

// One way to do a job.
struct Program {
  std::string name;
  std::function<void()> run;           // timed
  std::function<void()> prepare = {};  // before each run, not timed
  bool in_process = true;              // its memory can be measured here
};

// The same, done several times in one run, where once is too short to measure.
Program repeated(Program program, std::size_t times);

enum class Unit { bytes, tensors, runs };

struct Job {
  std::string name;
  Unit unit = Unit::bytes;
  std::uint64_t amount = 1;            // of work in one run
  std::vector<Program> programs = {};  // the first one is raw: the same input and output, no format
  std::string note = {};
};

struct Quartiles {
  double low = 0;
  double median = 0;
  double high = 0;
};
Quartiles quartiles(std::vector<double> values);

// What was measured of one program.
struct Row {
  std::string job;
  std::string program;
  Unit unit = Unit::bytes;
  std::uint64_t amount = 1;
  double best_seconds = 0;
  Quartiles of_raw;                 // speed relative to raw: 1 is as fast, 0.5 half as fast
  std::optional<double> of_memcpy;  // median speed relative to memcpy, for bytes
  unsigned kept = 0;
  unsigned dropped = 0;
  std::optional<std::uint64_t> peak_memory;  // anonymous bytes beyond what was there before
  std::string note;
};

struct Settings {
  unsigned repetitions = 11;
  bool quick = false;  // smaller data
  bool memory = true;  // is measured too, which takes long for large data
};

class Harness {
 public:
  explicit Harness(Settings settings);

  const Settings& settings() const { return settings_; }
  const std::vector<Row>& rows() const { return rows_; }
  void measure(const Job& job);
  // Says why something was not measured.
  void skip(const std::string& what, const std::string& why);

 private:
  // Bytes a second of a copy between two buffers larger than the caches.
  double probe();

  Settings settings_;
  std::mt19937 random_{1};
  std::vector<char> probe_source_;
  std::vector<char> probe_target_;
  std::vector<Row> rows_;
};

// The most anonymous memory that the program held in a forked child, beyond what the child began
// with. Sampled while the program runs again and again for a moment.
std::optional<std::uint64_t> peak_anonymous_memory(const Program& program);

// Bytes that `work` reads by system calls.
std::uint64_t bytes_read_by(const std::function<void()>& work);

}  // namespace andiron::bench
