// SPDX-License-Identifier: MIT OR Apache-2.0
// Why a pickle could not be read, and where.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "andiron/error.h"
#include "src/codec/pickle/opcode.h"

namespace andiron::inline v1::detail {

// Keeps the first failure. All that record one return false.
class PickleFailure {
 public:
  // The pickle ends too soon.
  bool cut_short(std::string message) {
    return fail({.code = ErrorCode::bad_pickle,
                 .message = std::move(message),
                 .hint = "the download may be incomplete"});
  }
  bool bad(std::string message, std::string expected = {}) {
    return fail({.code = ErrorCode::bad_pickle,
                 .message = std::move(message),
                 .expected = std::move(expected)});
  }
  // Of an opcode: add_place() is to follow.
  bool fail(Error error);
  // Of something else.
  bool fail_as_is(Error error);

  // Tells which opcode it was and where, in bytes from the beginning of the pickle.
  bool add_place(Opcode opcode, std::uint64_t position);

  // REQUIRES: there was a failure.
  Error take_error() { return std::move(*error_); }

 private:
  std::unique_ptr<Error> error_;
  bool wants_place_ = false;
};

}  // namespace andiron::inline v1::detail
