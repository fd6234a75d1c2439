// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests that take long: what they leave out in a usual run, and why they take long all the same.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

namespace andiron::test {

/// With ANDIRON_LONG_TESTS, tests do all that they otherwise take a sample of.
inline bool is_long_run() { return std::getenv("ANDIRON_LONG_TESTS") != nullptr; }

/// Sanitizers take memory and time of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
#else
inline constexpr bool is_sanitized = false;
#endif

/// Says why a test takes more than 5 s. main.cpp prints it.
inline void takes_long(const char* why) { testing::Test::RecordProperty("slow", why); }

}  // namespace andiron::test
