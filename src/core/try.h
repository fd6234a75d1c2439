// SPDX-License-Identifier: MIT OR Apache-2.0
// Macros that return errors to the caller.
#pragma once

#include <utility>

#include "andiron/error.h"

#define ANDIRON_JOIN_(a, b) a##b
#define ANDIRON_JOIN(a, b) ANDIRON_JOIN_(a, b)

// Returns the error of a Status.
#define ANDIRON_TRY(expression)                        \
  do {                                                 \
    if (auto try_status = (expression); !try_status) { \
      return std::move(try_status).error();            \
    }                                                  \
  } while (false)

// Declares or assigns `target` from a Result, or returns its error.
#define ANDIRON_ASSIGN(target, expression)                         \
  auto ANDIRON_JOIN(try_result_, __LINE__) = (expression);         \
  if (!ANDIRON_JOIN(try_result_, __LINE__)) {                      \
    return std::move(ANDIRON_JOIN(try_result_, __LINE__)).error(); \
  }                                                                \
  target = *std::move(ANDIRON_JOIN(try_result_, __LINE__))
