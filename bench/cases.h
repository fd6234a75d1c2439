// SPDX-License-Identifier: MIT OR Apache-2.0
// Everything that can be measured.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/harness.h"

namespace andiron::bench {

struct Case {
  std::string name;
  std::string what;  // one line
  std::function<void(Harness&)> run;
};

std::vector<Case> open_cases();
std::vector<Case> read_cases();
std::vector<Case> transform_cases();
std::vector<Case> save_cases();
std::vector<Case> hash_cases();
std::vector<Case> module_cases();
std::vector<Case> burnpack_cases();
std::vector<Case> pytorch_cases();
std::vector<Case> analysis_cases();

}  // namespace andiron::bench
