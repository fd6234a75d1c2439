// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench/report.h"

#include <algorithm>
#include <cstdio>

#include "andiron/value.h"

namespace andiron::bench {
namespace {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string best(const Row& row) {
  const auto amount = static_cast<double>(row.amount);
  switch (row.unit) {
    case Unit::bytes:
      return fixed(amount / row.best_seconds / 1e9, 2) + " GB/s";
    case Unit::tensors:
      return fixed(row.best_seconds / amount * 1e9, 1) + " ns/tensor";
    case Unit::runs:
      return fixed(row.best_seconds / amount * 1e6, 1) + " us each";
  }
  return {};
}

std::string ratios(const Row& row) {
  if (row.kept == 0) return "-";
  return fixed(row.of_raw.median, 2) + " [" + fixed(row.of_raw.low, 2) + ", " +
         fixed(row.of_raw.high, 2) + "]";
}

std::string pad(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

std::string table(std::span<const Row> rows) {
  std::vector<std::vector<std::string>> lines = {
      {"job", "program", "best", "of raw", "of memcpy", "anon MB", "kept/dropped", "note"}};
  std::string last_job;
  for (const Row& row : rows) {
    lines.push_back({row.job == last_job ? "" : row.job, row.program, best(row), ratios(row),
                     row.of_memcpy ? fixed(*row.of_memcpy, 2) : "-",
                     row.peak_memory ? fixed(static_cast<double>(*row.peak_memory) / 1e6, 1) : "-",
                     std::to_string(row.kept) + "/" + std::to_string(row.dropped), row.note});
    last_job = row.job;
  }
  std::vector<std::size_t> widths(lines[0].size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) text += pad(line[i], widths[i] + 2);
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string json(std::span<const Row> rows) {
  constexpr const char* units[] = {"bytes", "tensors", "runs"};
  ValueList list;
  for (const Row& row : rows) {
    ValueDict object = {
        {"job", row.job},
        {"program", row.program},
        {"unit", units[static_cast<std::size_t>(row.unit)]},
        {"amount", static_cast<std::int64_t>(row.amount)},
        {"best_seconds", row.best_seconds},
        {"of_raw",
         ValueDict{
             {"low", row.of_raw.low}, {"median", row.of_raw.median}, {"high", row.of_raw.high}}},
        {"kept", static_cast<std::int64_t>(row.kept)},
        {"dropped", static_cast<std::int64_t>(row.dropped)},
    };
    if (row.of_memcpy) object.emplace_back("of_memcpy", *row.of_memcpy);
    if (row.peak_memory) {
      object.emplace_back("peak_anonymous_bytes", static_cast<std::int64_t>(*row.peak_memory));
    }
    if (!row.note.empty()) object.emplace_back("note", row.note);
    list.emplace_back(std::move(object));
  }
  return to_json(Value(std::move(list)), 2) + "\n";
}

}  // namespace andiron::bench
