// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/store/config_test.cpp
#include "src/format/json_file.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "andiron/file.h"
#include "andiron/limits.h"
#include "src/core/check_limit.h"
#include "src/core/try.h"
#include "src/core/with_file.h"

namespace andiron::inline v1::detail {
namespace {

// A config of this size is none.
constexpr std::uint64_t most_json_bytes = std::uint64_t{64} << 20;

bool is_finite(const Value& value) {
  if (const double* number = value.get<double>()) return std::isfinite(*number);
  if (const ValueList* list = value.get<ValueList>()) {
    return std::all_of(list->begin(), list->end(), is_finite);
  }
  const ValueDict* dict = value.get<ValueDict>();
  return dict == nullptr || std::all_of(dict->begin(), dict->end(),
                                        [](const auto& entry) { return is_finite(entry.second); });
}

bool nests_deeper(const Value& value, unsigned levels) {
  const ValueList* list = value.get<ValueList>();
  const ValueDict* dict = value.get<ValueDict>();
  if (list == nullptr && dict == nullptr) return value.get<Bytes>() != nullptr && levels == 0;
  if (levels == 0) return true;
  const auto deeper = [&](const Value& item) { return nests_deeper(item, levels - 1); };
  return list != nullptr ? std::any_of(list->begin(), list->end(), deeper)
                         : std::any_of(dict->begin(), dict->end(),
                                       [&](const auto& entry) { return deeper(entry.second); });
}

}  // namespace

Result<Value> read_json_file(const std::string& path) {
  ANDIRON_ASSIGN(const ByteSourcePtr file, open_file(path));
  ANDIRON_TRY(check_limit(file->size(), most_json_bytes,
                          {"the JSON text is too long for a config", nullptr, "bytes", path}));
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  ANDIRON_TRY(file->read_at(0, std::as_writable_bytes(std::span(text))));
  Result<Value> value = parse_json(text);
  if (!value) return with_file(std::move(value).error(), path);
  return value;
}

Status write_json_file(const Value& value, const std::string& path) {
  if (!is_finite(value)) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "JSON has no NaN and no infinity",
                 .file = path,
                 .hint = "use std::optional for numbers that may be missing"};
  }
  if (nests_deeper(value, max_json_depth)) {
    return Error{.code = ErrorCode::limit_exceeded,
                 .message = "the values nest too deeply for JSON that can be read back",
                 .file = path,
                 .expected = "at most " + std::to_string(max_json_depth) + " levels"};
  }
  ANDIRON_ASSIGN(const auto file, AtomicFile::create(path, {.overwrite = true}));
  const std::string text = to_json(value, 2) + "\n";
  ANDIRON_TRY(file->write(std::as_bytes(std::span(text))));
  return file->commit();
}

}  // namespace andiron::inline v1::detail
