// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs an operation again and again, each time with another allocation that fails, of operator new
// or of malloc.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "andiron/error.h"
#include "tests/allocation/failing_memory.h"
#include "tests/support/long_tests.h"
#include "tests/support/temp_dir.h"

namespace andiron::test {

/// What a sweep looks at besides the outcome.
struct Surroundings {
  /// Makes everything as it was before the first run.
  std::function<void()> restore = [] {};
  /// All that a failed run must leave as it was: modules, files, names in folders.
  std::function<std::string()> state = [] { return std::string(); };
  /// For functions that return no Result: std::bad_alloc counts as OutOfMemory.
  bool may_throw = false;
  /// For libraries of others, which lose what they held when a failure passes through them.
  bool may_leak = false;
};

/// Gives a file this content, unless it has it: file systems take their time to replace files.
inline void put_file(const std::string& path, std::string_view content) {
  if (!std::filesystem::exists(path) || read_file(path) != content) write_file(path, content);
}

/// Every number at first, then steps that grow; a long run takes every one.
inline std::uint64_t number_after(std::uint64_t n) {
  if (is_long_run() || n < 256) return n + 1;
  // Without a pattern that could fall in step with a loop of the library.
  return n + 1 + n * 2654435761u / 16 % (n / 16);
}

/// `operation` returns a Result; `describe` tells what a success gave. The run with all its memory
/// says what is right, be it an error. All others give that, or OutOfMemory and nothing else: no
/// exception, no leak, no change of the surroundings.
template <class Operation, class Describe>
void sweep(const std::string& name, const Operation& operation, const Describe& describe,
           const Surroundings& around = {}) {
  using Outcome = decltype(operation());
  SCOPED_TRACE(name);
  const auto text_of = [&](const Outcome& outcome) {
    return outcome ? "success: " + describe(outcome)
                   : "error: " + std::string(code_name(outcome.error().code));
  };
  std::string expected;
  for (int warm_up = 0; warm_up < 2; ++warm_up) {
    around.restore();
    expected = text_of(operation());
  }
  ASSERT_EQ(expected.find("OutOfMemory"), std::string::npos) << expected;
  around.restore();
  const std::string before = around.state();
  const std::int64_t live = live_allocations();
  std::uint64_t failures = 0;
  const auto fail = [&](std::uint64_t n, Failing how, Allocator which) {
    SCOPED_TRACE((which == Allocator::malloc ? "malloc " : "operator new ") + std::to_string(n) +
                 (how == Failing::once ? " fails" : " and all memory after it fail"));
    std::optional<Outcome> outcome;
    bool is_thrown = false;
    {
      const FailingMemory failing(n, how, which);
      try {
        outcome.emplace(operation());
      } catch (const std::bad_alloc&) {
        is_thrown = true;
      }
    }
    const bool reached = has_failed();
    if (is_thrown) {
      EXPECT_TRUE(around.may_throw) << "std::bad_alloc left the function";
    }
    const bool is_out_of_memory =
        is_thrown || (!*outcome && outcome->error().code == ErrorCode::out_of_memory);
    if (is_out_of_memory) {
      ++failures;
      EXPECT_TRUE(reached);
      EXPECT_EQ(around.state(), before) << "a failure changed something";
    } else {
      EXPECT_EQ(text_of(*outcome), expected);
    }
    outcome.reset();
    around.restore();
    return reached && !testing::Test::HasFailure();
  };
  for (const Allocator which : {Allocator::operator_new, Allocator::malloc}) {
    for (std::uint64_t n = 1;; n = number_after(n)) {
      const bool once = fail(n, Failing::once, which);
      const bool onwards = fail(n, Failing::onwards, which);
      if (!once && !onwards) break;
    }
  }
  EXPECT_GT(failures, 0U) << "nothing ever failed";
  // Caches may hold less after a failure, so they are filled again before they are compared.
  EXPECT_EQ(text_of(operation()), expected) << "after all failures";
  around.restore();
  if (!around.may_leak) {
    EXPECT_EQ(live_allocations(), live) << "leaks";
  }
}

}  // namespace andiron::test
