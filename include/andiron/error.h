// SPDX-License-Identifier: MIT OR Apache-2.0
// Errors are values: every operation that can fail returns a Result.
//
//   Result<Archive> file = open(path);
//   if (!file) return fail(file.error().to_string());
//   use(*file);
//
// Functions that return a Result or a Status do not throw. If an allocation fails in them
// (std::bad_alloc, std::length_error), the error is OutOfMemory, and what they were to change is as
// it was (a load in_place and choose_variants() excepted). Three things are outside of this:
//
// * The caller's own code. Exceptions of callbacks (progress, predicates, adapters, leaves, byte
//   sources, sinks) pass through; modules and files are then as after an error.
// * Functions that return something else, such as builders, constructors and getters: they may
//   throw std::bad_alloc. Result::value() throws Exception.
// * RE2, which may lose memory if an allocation fails inside it, and glibc, which ends the process
//   if it has no memory for the thread-local data of a new thread.
//
// If the library is built without exceptions, memory whose size comes from a file (headers,
// indexes, tensors, inflated data) is still reported; if another allocation fails, the process
// ends.
#pragma once

#include <cassert>
#include <concepts>
#include <exception>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "andiron/error_code.h"
#include "andiron/message.h"

namespace andiron::inline v1 {

struct Report;

/// One failure, for programs (`code`) and for people (the rest). Unused fields are empty. Fields
/// quote the file unescaped; to_string() escapes them.
struct Error {
  ErrorCode code = ErrorCode::io;
  std::string message = {};   ///< what is wrong, in a few words
  std::string file = {};      ///< the file concerned
  std::string tensor = {};    ///< the tensor concerned
  std::string found = {};     ///< what was there
  std::string expected = {};  ///< what would have been right
  Message hint = {};          ///< what to try next
  /// All that the operation can tell. A load that does not match sets it (apply.h).
  std::shared_ptr<const Report> report = {};

  /// One line: "FILE: tensor 'NAME': what was found; expected ...; what to try". Escaped (text.h),
  /// so it is safe to print.
  std::string to_string(Wording wording = Wording::cpp) const;
  /// The same without the file.
  std::string description(Wording wording = Wording::cpp) const;
};

/// Writes Error::to_string().
std::ostream& operator<<(std::ostream& out, const Error& error);
inline std::string to_string(const Error& error) { return error.to_string(); }
/// Writes the code's name: "DuplicateKey".
std::ostream& operator<<(std::ostream& out, ErrorCode code);
inline std::string to_string(ErrorCode code) { return std::string(code_name(code)); }

/// Thrown by Result::value() and by nothing else in the library.
class Exception : public std::exception {
 public:
  explicit Exception(Error error) : error_(std::move(error)), text_(error_.to_string()) {}
  const char* what() const noexcept override { return text_.c_str(); }
  const Error& error() const noexcept { return error_; }

 private:
  Error error_;
  std::string text_;
};

template <class T>
class Result;

namespace detail {
// description() before it is escaped, for notes and reasons.
Message sentence_of(const Error& error);

[[noreturn]] inline void fail(const Error& error) {
#if defined(__cpp_exceptions)
  throw Exception(error);
#else
  static_cast<void>(error);
  __builtin_trap();
#endif
}

// OutOfMemory with a message short enough to need no memory.
Error out_of_memory() noexcept;

// Out of line, so that checking for success costs one branch.
struct ErrorDeleter {
  void operator()(Error* error) const noexcept;
};
using ErrorPtr = std::unique_ptr<Error, ErrorDeleter>;
// If there is no memory to keep it in, the error becomes one that all such Results share.
ErrorPtr keep(Error error) noexcept;
// Moves the error out, unless it is shared.
Error take(Error& kept) noexcept;

// An error on its way to the caller, where it is kept. The Result that is made of it owns it.
struct [[nodiscard]] Failure {
  Error* error;
};
template <class T>
Failure failure_of(Result<T>&& result) noexcept {
  return {result.error_.release()};
}
}  // namespace detail

/// A T or an Error. Move-only. Test it (`if (!result)`) before use: `*result` and `result->` on an
/// error are undefined behavior. value() throws Exception instead, or traps in programs built
/// without exceptions.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) noexcept : error_(detail::keep(std::move(error))) {}
  Result(detail::Failure failure) noexcept : error_(failure.error) {}
  /// From any type that converts to T.
  template <class U>
    requires(std::convertible_to<U, T> && !std::same_as<std::remove_cvref_t<U>, T> &&
             !std::same_as<std::remove_cvref_t<U>, Error> &&
             !std::same_as<std::remove_cvref_t<U>, Result>)
  Result(U&& value) : value_(std::forward<U>(value)) {}

  bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  T& operator*() & { return assert(ok()), *value_; }
  const T& operator*() const& { return assert(ok()), *value_; }
  T operator*() && { return assert(ok()), std::move(*value_); }
  T* operator->() { return assert(ok()), &*value_; }
  const T* operator->() const { return assert(ok()), &*value_; }

  T& value() & { return check(), *value_; }
  const T& value() const& { return check(), *value_; }
  T value() && { return check(), std::move(*value_); }

  const Error& error() const& { return assert(!ok()), *error_; }
  Error error() && { return assert(!ok()), detail::take(*error_); }

 private:
  friend detail::Failure detail::failure_of<T>(Result&&) noexcept;
  void check() const {
    if (!ok()) detail::fail(*error_);
  }
  std::optional<T> value_;
  detail::ErrorPtr error_;
};

/// Success, or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) noexcept : error_(detail::keep(std::move(error))) {}
  Result(detail::Failure failure) noexcept : error_(failure.error) {}

  bool ok() const noexcept { return error_ == nullptr; }
  explicit operator bool() const noexcept { return ok(); }
  void value() const {
    if (!ok()) detail::fail(*error_);
  }
  const Error& error() const& { return assert(!ok()), *error_; }
  Error error() && { return assert(!ok()), detail::take(*error_); }

 private:
  friend detail::Failure detail::failure_of<void>(Result&&) noexcept;
  detail::ErrorPtr error_;
};

/// The result of an operation that returns nothing.
using Status = Result<void>;

}  // namespace andiron::inline v1
