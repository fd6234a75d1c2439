// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/check_limit_test.cpp
#include "src/core/check_limit.h"

#include <utility>

#include "src/core/text/in_quotes.h"

namespace andiron::inline v1::detail {
namespace {

std::string with_unit(std::string number, std::string_view unit) {
  if (!number.empty() && !unit.empty()) number.append(" ").append(unit);
  return number;
}

}  // namespace

Error over_limit(std::string found, std::uint64_t most, const LimitCheck& check) {
  // The unit is said once.
  const std::string_view unit = found.empty() ? check.unit : "";
  Error error{.code = ErrorCode::limit_exceeded,
              .message = std::string(check.message),
              .file = std::string(check.file),
              .tensor = std::string(check.tensor),
              .found = with_unit(std::move(found), check.unit),
              .expected = "at most " + with_unit(std::to_string(most), unit)};
  if (!check.limit.empty()) {
    error.hint = "raise Limits::" + std::string(check.limit) + " if you trust the file";
  }
  return error;
}

Error name_too_long(std::string_view name, const Limits& limits, std::string_view file) {
  constexpr std::size_t shown = 40;
  return over_limit(std::to_string(name.size()) + " bytes, " +
                        in_quotes(std::string(name.substr(0, shown)) + "..."),
                    limits.name_bytes,
                    {.message = "the name is too long", .limit = "name_bytes", .file = file});
}

}  // namespace andiron::inline v1::detail
