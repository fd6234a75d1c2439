// SPDX-License-Identifier: MIT OR Apache-2.0
// usage: andiron_bench [--quick] [--json] [--no-memory] [--repetitions N] [CASE ...]
//        andiron_bench --list
#include <signal.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <string_view>

#include "bench/cases.h"
#include "bench/report.h"

namespace andiron::bench {
namespace {

constexpr int usage_error = 4;

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (auto* group : {open_cases, read_cases, transform_cases, save_cases, hash_cases, module_cases,
                      burnpack_cases, pytorch_cases, analysis_cases}) {
    for (Case& one : group()) all.push_back(std::move(one));
  }
  return all;
}

struct Request {
  Settings settings;
  bool list = false;
  bool as_json = false;
  std::vector<Case> cases;
};

bool parse(std::span<char*> arguments, Request& request) {
  const std::vector<Case> known = all_cases();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--list") {
      request.list = true;
    } else if (argument == "--quick") {
      request.settings.quick = true;
    } else if (argument == "--json") {
      request.as_json = true;
    } else if (argument == "--no-memory") {
      request.settings.memory = false;
    } else if (argument == "--repetitions" && i + 1 < arguments.size()) {
      const std::string_view number = arguments[++i];
      const char* const end = number.data() + number.size();
      unsigned& count = request.settings.repetitions;
      if (std::from_chars(number.data(), end, count).ptr != end || count == 0) return false;
    } else {
      const auto found = std::ranges::find(known, argument, &Case::name);
      if (found == known.end()) return false;
      request.cases.push_back(*found);
    }
  }
  if (request.cases.empty()) request.cases = known;
  return true;
}

int run(std::span<char*> arguments) {
  Request request;
  if (!parse(arguments, request)) {
    std::fputs(
        "usage: andiron_bench [--quick] [--json] [--no-memory] [--repetitions N] [CASE ...]\n"
        "       andiron_bench --list\n",
        stderr);
    return usage_error;
  }
  if (request.list) {
    for (const Case& one : request.cases)
      std::printf("%-20s %s\n", one.name.c_str(), one.what.c_str());
    return 0;
  }
  Harness harness(request.settings);
  int failures = 0;
  for (const Case& one : request.cases) {
    std::fprintf(stderr, "andiron_bench: measuring %s\n", one.name.c_str());
    try {
      one.run(harness);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "andiron_bench: %s: %s\n", one.name.c_str(), error.what());
      ++failures;
    }
  }
  const std::string report = request.as_json ? json(harness.rows()) : table(harness.rows());
  std::fputs(report.c_str(), stdout);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace andiron::bench

int main(int count, char** arguments) {
  // A peer that dies is an error to tell, not a signal.
  ::signal(SIGPIPE, SIG_IGN);
  return andiron::bench::run(std::span(arguments + 1, arguments + count));
}
