// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/error_test.cpp
#include "andiron/error.h"

#include <cstddef>
#include <new>
#include <ostream>

#include "andiron/text.h"

namespace andiron::inline v1 {

namespace {

Message what_is_wrong(const Error& error) {
  std::string text = error.message;
  if (!error.found.empty()) text += ": " + error.found;
  if (!error.expected.empty()) text += "; expected " + error.expected;
  Message message = std::move(text);
  if (!error.hint.empty()) message += "; " + error.hint;
  return message;
}

// What Results refer to that could not keep an error. Never destroyed: they may outlive us.
Error& shared_out_of_memory() noexcept {
  alignas(Error) static std::byte memory[sizeof(Error)];
  static Error* const error = ::new (static_cast<void*>(memory)) Error(detail::out_of_memory());
  return *error;
}

std::string about(const std::string& tensor) {
  return tensor.empty() ? "" : "tensor '" + tensor + "': ";
}

}  // namespace

Message detail::sentence_of(const Error& error) {
  return about(error.tensor) + what_is_wrong(error);
}

std::string Error::description(Wording wording) const {
  return about(display_text(tensor)) + display_line(what_is_wrong(*this).to_string(wording));
}

std::string Error::to_string(Wording wording) const {
  const std::string text = description(wording);
  return file.empty() ? text : display_text(file) + ": " + text;
}

Error detail::out_of_memory() noexcept {
  return Error{.code = ErrorCode::out_of_memory, .message = "out of memory"};
}

void detail::ErrorDeleter::operator()(Error* error) const noexcept {
  if (error != &shared_out_of_memory()) delete error;
}

detail::ErrorPtr detail::keep(Error error) noexcept {
  Error* const kept = new (std::nothrow) Error(std::move(error));
  return ErrorPtr(kept != nullptr ? kept : &shared_out_of_memory());
}

Error detail::take(Error& kept) noexcept {
  return &kept == &shared_out_of_memory() ? out_of_memory() : std::move(kept);
}

std::ostream& operator<<(std::ostream& out, const Error& error) { return out << error.to_string(); }
std::ostream& operator<<(std::ostream& out, ErrorCode code) { return out << code_name(code); }

}  // namespace andiron::inline v1
