// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/record_writer_test.cpp
#include "src/format/record/metadata.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

namespace andiron::inline v1::detail {
namespace {

// The last release of Burn that has recorders.
constexpr std::string_view last_release = "0.21.0";

constexpr RecordNumbers full = {DType::f32, DType::i32, "f32", "FullPrecisionSettings"};
constexpr RecordNumbers half = {DType::f16, DType::i16, "half::binary16::f16",
                                "HalfPrecisionSettings"};
constexpr RecordNumbers doubled = {DType::f64, DType::i64, "f64", "DoublePrecisionSettings"};

std::string_view entry_of(const Metadata& metadata, std::string_view key) {
  const auto entry = metadata.find(key);
  return entry == metadata.end() ? std::string_view() : entry->second;
}

}  // namespace

const RecordNumbers& record_numbers(RecordPrecision precision) {
  switch (precision) {
    case RecordPrecision::half:
      return half;
    case RecordPrecision::doubled:
      return doubled;
    case RecordPrecision::full:
      break;
  }
  return full;
}

RecordMetadata record_metadata(const Archive& archive, bool is_record, RecordPrecision precision,
                               bool gzip) {
  const RecordNumbers& numbers = record_numbers(precision);
  const std::string recorder = gzip ? "NamedMpkGzFileRecorder<" : "NamedMpkFileRecorder<";
  RecordMetadata entries = {
      {"float", std::string(numbers.float_name)},
      {"int", std::string(dtype_name(numbers.int_type))},
      {"format", "burn_core::record::file::" + recorder +
                     "burn_core::record::settings::" + std::string(numbers.settings) + ">"},
      {"version", std::string(last_release)},
      {"settings", std::string(numbers.settings)},
  };
  const std::ptrdiff_t own = std::ssize(entries);
  const Metadata& known = archive.metadata();
  const bool is_same = is_record && entry_of(known, "settings") == numbers.settings;
  for (auto& [key, value] : entries) {
    const std::string_view kept = entry_of(known, key);
    const bool fits = key != "format" || kept.find(recorder) != std::string_view::npos;
    if (is_same && !kept.empty() && fits) value = kept;
  }
  for (const auto& other : known) {
    const bool is_own = std::any_of(entries.begin(), entries.begin() + own,
                                    [&](const auto& entry) { return entry.first == other.first; });
    if (!is_own && !archive.aliases().contains(other.first)) entries.push_back(other);
  }
  return entries;
}

const std::string& release_of(const RecordMetadata& metadata) { return metadata[3].second; }

}  // namespace andiron::inline v1::detail
