// SPDX-License-Identifier: MIT OR Apache-2.0
// Statistics of tensors as text and as JSON.
#include "cli/statistics_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/shape.h"
#include "andiron/text.h"
#include "cli/json_output.h"
#include "cli/quantities.h"
#include "cli/table.h"
#include "cli/tensor_text.h"
#include "cli/text_layout.h"

namespace andiron::cli {
namespace {

// Wide enough for "-1.23e-05".
constexpr std::size_t number_width = 9;

// Digits of numbers in a table.
int digits_on(const Page& page) { return page.width < Page::unlimited ? 3 : 7; }

// Integers as they are, if there is room for them.
std::string number_text(const Number& number, int digits) {
  if (!std::holds_alternative<double>(number)) {
    std::string whole = std::visit([](auto held) { return std::to_string(held); }, number);
    if (whole.size() <= number_width || digits > 3) return whole;
  }
  return format_number(to_double(number), digits);
}

// Without decimals only if it is exactly so.
std::string percent_text(std::uint64_t part, std::uint64_t whole) {
  if (part == 0) return "0%";
  if (part == whole) return "100%";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  char text[16];
  std::snprintf(text, sizeof text, "%.1f%%", std::clamp(percent, 0.1, 99.9));
  return text;
}

std::string count_or_dash(std::uint64_t count) { return count == 0 ? "-" : format_count(count); }

void append_json_number(std::string& out, const Number& number) {
  if (const double* const real = std::get_if<double>(&number))
    return append_json_double(out, *real);
  out += std::visit([](auto held) { return std::to_string(held); }, number);
}

}  // namespace

void append_statistics_table(std::string& out, const Archive& archive,
                             std::span<const std::size_t> order, std::span<const Statistics> all,
                             const Page& page) {
  const auto has = [&](auto count) {
    return std::any_of(order.begin(), order.end(),
                       [&](std::size_t index) { return count(all[index]) != 0; });
  };
  const bool nans = has([](const Statistics& one) { return one.nans; });
  const bool infinities = has([](const Statistics& one) { return one.infinities(); });
  std::vector<Column> columns = {{"DTYPE", Column::Align::left, 14},
                                 {"SHAPE", Column::Align::left, 20}};
  for (const char* const heading : {"MIN", "MAX", "MEAN", "STD"}) {
    columns.push_back({heading, Column::Align::right, number_width + 2});
  }
  columns.push_back({"ZEROS", Column::Align::right, 6});
  if (nans) columns.push_back({"NAN", Column::Align::right, 12});
  if (infinities) columns.push_back({"INF", Column::Align::right, 12});

  const int digits = digits_on(page);
  Table table("NAME", std::move(columns));
  for (const std::size_t index : order) {
    const TensorInfo info = archive.info(index);
    const Statistics& one = all[index];
    std::vector<std::string> row = {std::string(info.name), dtype_text(info),
                                    Shape(info.shape).to_string()};
    for (const Number& number :
         {one.min, one.max, Number(one.mean), Number(one.standard_deviation)}) {
      row.push_back(number_text(number, digits));
    }
    const bool has_zeros = one.refused.empty() && one.count != 0;
    row.push_back(has_zeros ? percent_text(one.zeros, one.count) : "-");
    if (nans) row.push_back(count_or_dash(one.nans));
    if (infinities) row.push_back(count_or_dash(one.infinities()));
    table.add_row(std::move(row));
  }
  table.append_to(out, page);
}

void append_histogram(std::string& out, const TensorInfo& info, const Statistics& statistics,
                      const Page& page) {
  if (!statistics.histogram) return;
  const Histogram& histogram = *statistics.histogram;
  const std::string title =
      display_text(info.name) + "  " + dtype_text(info) + " " + Shape(info.shape).to_string();
  out += '\n';
  page.append_bold(out, shorten_middle(title, page.width));
  out += '\n';

  const int digits = digits_on(page);
  const std::size_t edge_width = number_width + static_cast<std::size_t>(digits) - 3;
  const std::uint64_t most = *std::max_element(histogram.counts.begin(), histogram.counts.end());
  const std::size_t count_width = format_count(most).size();
  const std::size_t taken = edge_width + count_width + 4;
  const std::size_t room = std::min<std::size_t>(std::max(page.width, taken + 10) - taken, 100);
  const auto aligned = [](std::string text, std::size_t width) {
    return text.insert(0, width - std::min(width, text.size()), ' ');
  };
  // One number takes one bin.
  const std::size_t shown = histogram.low == histogram.high ? 1 : histogram.counts.size();
  const auto bins = static_cast<double>(histogram.counts.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const std::uint64_t count = histogram.counts[i];
    const double part = static_cast<double>(i) / bins;
    const double edge = histogram.low * (1 - part) + histogram.high * part;
    const double share = static_cast<double>(count) / static_cast<double>(most);
    const auto length = static_cast<std::size_t>(std::lround(share * static_cast<double>(room)));
    out += aligned(format_number(edge, digits), edge_width) + "  " +
           aligned(format_count(count), count_width);
    // What is there shows.
    if (count != 0) out += "  " + std::string(std::max<std::size_t>(length, 1), '#');
    out += '\n';
  }
  if (shown > 1) out += aligned(format_number(histogram.high, digits), edge_width) + '\n';
}

std::string not_finite_text(const Statistics& statistics) {
  std::string text;
  if (statistics.nans != 0) text = format_count(statistics.nans) + " NaN";
  if (const std::uint64_t infinities = statistics.infinities(); infinities != 0) {
    text += (text.empty() ? "" : " and ") + format_count(infinities) +
            (infinities == 1 ? " infinity" : " infinities");
  }
  return text + " among " + count_of(statistics.count, "element");
}

void append_json_statistics(std::string& out, const Statistics& statistics) {
  append_json_key(out, "statistics");
  out += "{\"count\":" + std::to_string(statistics.count);
  if (!statistics.refused.empty()) {
    append_json_field(out, "reason", statistics.refused.to_string(Wording::flags));
    out += '}';
    return;
  }
  append_json_field(out, "zeros", statistics.zeros);
  append_json_field(out, "nan", statistics.nans);
  append_json_field(out, "positive_infinity", statistics.positive_infinities);
  append_json_field(out, "negative_infinity", statistics.negative_infinities);
  const std::pair<std::string_view, Number> numbers[] = {{"min", statistics.min},
                                                         {"max", statistics.max},
                                                         {"abs_max", statistics.abs_max},
                                                         {"mean", statistics.mean},
                                                         {"std", statistics.standard_deviation},
                                                         {"l2", statistics.l2}};
  for (const auto& [key, number] : numbers) {
    append_json_key(out, key);
    append_json_number(out, number);
  }
  if (statistics.histogram) {
    append_json_key(out, "histogram");
    out += "{\"low\":";
    append_json_double(out, statistics.histogram->low);
    append_json_key(out, "high");
    append_json_double(out, statistics.histogram->high);
    append_json_key(out, "counts");
    out += '[';
    for (const std::uint64_t count : statistics.histogram->counts) {
      if (out.back() != '[') out += ',';
      out += std::to_string(count);
    }
    out += "]}";
  }
  out += '}';
}

}  // namespace andiron::cli
