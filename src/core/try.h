// SPDX-License-Identifier: MIT OR Apache-2.0
// Macros that return errors to the caller, and what passes OutOfMemory on where no error is
// returned.
#pragma once

#include <new>
#include <utility>

#include "andiron/detail/no_throw.h"
#include "andiron/error.h"

#define ANDIRON_JOIN_(a, b) a##b
#define ANDIRON_JOIN(a, b) ANDIRON_JOIN_(a, b)

// Returns the error of a Status.
#define ANDIRON_TRY(expression)                                    \
  do {                                                             \
    if (auto try_status = (expression); !try_status) {             \
      return ::andiron::detail::failure_of(std::move(try_status)); \
    }                                                              \
  } while (false)

// Declares or assigns `target` from a Result, or returns its error.
#define ANDIRON_ASSIGN(target, expression)                                                \
  auto ANDIRON_JOIN(try_result_, __LINE__) = (expression);                                \
  if (!ANDIRON_JOIN(try_result_, __LINE__)) {                                             \
    return ::andiron::detail::failure_of(std::move(ANDIRON_JOIN(try_result_, __LINE__))); \
  }                                                                                       \
  target = *std::move(ANDIRON_JOIN(try_result_, __LINE__))

namespace andiron::inline v1::detail {

[[noreturn]] inline void throw_bad_alloc() {
#if defined(__cpp_exceptions)
  throw std::bad_alloc();
#else
  __builtin_trap();
#endif
}

// The value of what can fail only for want of memory, in functions that return no Result.
template <class T>
T value_or_bad_alloc(Result<T> result) {
  if (!result) throw_bad_alloc();
  return *std::move(result);
}

// For what carries on after an error: want of memory says nothing about a file, so it is passed on
// instead of being taken for an answer. Without exceptions it is an error as any other.
template <class T>
void throw_if_out_of_memory([[maybe_unused]] const Result<T>& result) {
#if defined(__cpp_exceptions)
  if (!result && result.error().code == ErrorCode::out_of_memory) throw_bad_alloc();
#endif
}
template <class T>
Result<T> pass_on_out_of_memory(Result<T> result) {
  throw_if_out_of_memory(result);
  return result;
}

}  // namespace andiron::inline v1::detail
