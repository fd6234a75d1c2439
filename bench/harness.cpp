// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench/harness.h"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <thread>

namespace andiron::bench {
namespace {

constexpr std::size_t probe_bytes = std::size_t{64} << 20;
// A repetition in which memcpy itself changed its speed by more than this says nothing.
constexpr double max_probe_difference = 0.15;
constexpr unsigned max_tries_per_repetition = 4;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A number that stands after `key` in a file of the proc file system.
std::uint64_t read_field(const char* path, const std::string& key) {
  std::ifstream in(path);
  for (std::string word; in >> word;) {
    std::uint64_t value = 0;
    if (word == key && in >> value) return value;
  }
  return 0;
}

std::uint64_t anonymous_bytes() { return 1024 * read_field("/proc/self/status", "RssAnon:"); }

std::uint64_t run_and_sample(const Program& program) {
  const std::uint64_t before = anonymous_bytes();
  std::atomic<bool> done = false;
  std::uint64_t peak = before;
  std::thread sampler([&] {
    while (!done) {
      peak = std::max(peak, anonymous_bytes());
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  // Short work is repeated, so that some sample falls into its peak.
  const auto start = std::chrono::steady_clock::now();
  do {
    if (program.prepare) program.prepare();
    program.run();
  } while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(20));
  done = true;
  sampler.join();
  return peak - before;
}

}  // namespace

Program repeated(Program program, std::size_t times) {
  program.run = [run = std::move(program.run), times] {
    for (std::size_t i = 0; i < times; ++i) run();
  };
  return program;
}

Quartiles quartiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double part) {
    const double place = part * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    const double share = place - static_cast<double>(below);
    return values[below] + share * (values[above] - values[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

std::optional<std::uint64_t> peak_anonymous_memory(const Program& program) {
  // Memory that was freed but kept would hide what the program takes.
  ::malloc_trim(0);
  int ends[2];
  if (::pipe(ends) != 0) return std::nullopt;
  const pid_t child = ::fork();
  if (child == 0) {
    const std::uint64_t peak = run_and_sample(program);
    const ssize_t put = ::write(ends[1], &peak, sizeof peak);
    ::_exit(put == sizeof peak ? 0 : 1);
  }
  ::close(ends[1]);
  std::uint64_t peak = 0;
  const bool known = child > 0 && ::read(ends[0], &peak, sizeof peak) == sizeof peak;
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  if (!known) return std::nullopt;
  return peak;
}

std::uint64_t bytes_read_by(const std::function<void()>& work) {
  const auto so_far = [] { return read_field("/proc/self/io", "rchar:"); };
  const std::uint64_t first = so_far();
  const std::uint64_t before = so_far();
  const std::uint64_t cost_of_asking = before - first;
  work();
  return so_far() - before - cost_of_asking;
}

Harness::Harness(Settings settings)
    : settings_(settings), probe_source_(probe_bytes, 1), probe_target_(probe_bytes, 2) {}

double Harness::probe() {
  const double seconds =
      seconds_of([&] { std::memcpy(probe_target_.data(), probe_source_.data(), probe_bytes); });
  return static_cast<double>(probe_bytes) / seconds;
}

void Harness::skip(const std::string& what, const std::string& why) {
  std::fprintf(stderr, "andiron_bench: %s: not measured: %s\n", what.c_str(), why.c_str());
}

void Harness::measure(const Job& job) {
  const std::size_t count = job.programs.size();
  std::vector<Row> rows(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Program& program = job.programs[i];
    rows[i].job = job.name;
    rows[i].program = program.name;
    rows[i].unit = job.unit;
    rows[i].amount = job.amount;
    rows[i].best_seconds = std::numeric_limits<double>::infinity();
    if (i == 1) rows[i].note = job.note;
    if (settings_.memory && program.in_process) {
      rows[i].peak_memory = peak_anonymous_memory(program);
    }
  }

  std::vector<std::vector<double>> of_raw(count);
  std::vector<std::vector<double>> of_memcpy(count);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> seconds(count);
  const auto run_all = [&] {
    std::shuffle(order.begin(), order.end(), random_);
    for (const std::size_t i : order) {
      if (job.programs[i].prepare) job.programs[i].prepare();
      seconds[i] = seconds_of(job.programs[i].run);
    }
  };
  run_all();  // warms caches; not counted

  unsigned kept = 0;
  unsigned dropped = 0;
  while (kept < settings_.repetitions &&
         kept + dropped < max_tries_per_repetition * settings_.repetitions) {
    const double before = probe();
    run_all();
    const double after = probe();
    for (std::size_t i = 0; i < count; ++i) {
      rows[i].best_seconds = std::min(rows[i].best_seconds, seconds[i]);
    }
    if (std::max(before, after) > (1 + max_probe_difference) * std::min(before, after)) {
      ++dropped;
      continue;
    }
    ++kept;
    for (std::size_t i = 0; i < count; ++i) {
      of_raw[i].push_back(seconds[0] / seconds[i]);
      of_memcpy[i].push_back(static_cast<double>(job.amount) / seconds[i] / ((before + after) / 2));
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    rows[i].kept = kept;
    rows[i].dropped = dropped;
    rows[i].of_raw = quartiles(of_raw[i]);
    if (job.unit == Unit::bytes && kept > 0) rows[i].of_memcpy = quartiles(of_memcpy[i]).median;
    rows_.push_back(std::move(rows[i]));
  }
}

}  // namespace andiron::bench
