// SPDX-License-Identifier: MIT OR Apache-2.0
// What keeps a failed allocation inside the functions that return a Result. They are written
//
//   Result<Archive> open(const std::string& path) ANDIRON_NO_THROW {
//     ...
//   }
//   ANDIRON_OR_OUT_OF_MEMORY
//
// so that std::bad_alloc and std::length_error become OutOfMemory. Other exceptions, which only
// callbacks of the caller throw, pass through. Without exceptions both macros are empty.
#pragma once

#include <new>
#include <stdexcept>

#include "andiron/error.h"

#if defined(__cpp_exceptions)
#define ANDIRON_NO_THROW try
#define ANDIRON_OR_OUT_OF_MEMORY               \
  catch (const std::bad_alloc&) {              \
    return ::andiron::detail::out_of_memory(); \
  }                                            \
  catch (const std::length_error&) {           \
    return ::andiron::detail::out_of_memory(); \
  }
#else
#define ANDIRON_NO_THROW
#define ANDIRON_OR_OUT_OF_MEMORY
#endif
