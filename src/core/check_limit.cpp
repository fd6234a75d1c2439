// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/check_limit_test.cpp
#include "src/core/check_limit.h"

#include <cstddef>
#include <iterator>
#include <utility>

#include "src/core/text/in_quotes.h"

namespace andiron::inline v1 {

std::string_view limit_name(std::uint64_t Limits::* limit) noexcept {
  constexpr std::pair<std::uint64_t Limits::*, std::string_view> names[] = {
      {&Limits::header_bytes, "header_bytes"},
      {&Limits::burnpack_metadata_bytes, "burnpack_metadata_bytes"},
      {&Limits::burnpack_tensors, "burnpack_tensors"},
      {&Limits::burnpack_tensor_bytes, "burnpack_tensor_bytes"},
      {&Limits::burnpack_file_bytes, "burnpack_file_bytes"},
      {&Limits::npy_header_bytes, "npy_header_bytes"},
      {&Limits::memory_bytes, "memory_bytes"},
      {&Limits::inflated_bytes, "inflated_bytes"},
      {&Limits::inflated_ratio, "inflated_ratio"},
      {&Limits::zip_entries, "zip_entries"},
      {&Limits::pickle_values, "pickle_values"},
      {&Limits::pickle_repeats, "pickle_repeats"},
      {&Limits::expanded_bytes, "expanded_bytes"},
      {&Limits::expanded_bytes_in_all, "expanded_bytes_in_all"},
      {&Limits::tensors, "tensors"},
      {&Limits::name_bytes, "name_bytes"},
      {&Limits::metadata_bytes, "metadata_bytes"},
      {&Limits::index_bytes, "index_bytes"},
      {&Limits::shards, "shards"},
      {&Limits::load_bytes, "load_bytes"},
      {&Limits::window_bytes, "window_bytes"},
  };
  static_assert(sizeof(Limits) == std::size(names) * sizeof(std::uint64_t), "a limit has a name");
  for (const auto& [known, name] : names) {
    if (known == limit) return name;
  }
  return {};
}

}  // namespace andiron::inline v1

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
  if (check.limit != nullptr) {
    const bool is_of_memory = check.limit == &Limits::memory_bytes;
    error.hint = Message(is_of_memory ? Advice::raise_memory_limit : Advice::raise_limit,
                         limit_name(check.limit));
  }
  return error;
}

Error name_too_long(std::string_view name, const Limits& limits, std::string_view file) {
  constexpr std::size_t shown = 40;
  return over_limit(
      std::to_string(name.size()) + " bytes, " +
          in_quotes(std::string(name.substr(0, shown)) + "..."),
      limits.name_bytes,
      {.message = "the name is too long", .limit = &Limits::name_bytes, .file = file});
}

}  // namespace andiron::inline v1::detail
