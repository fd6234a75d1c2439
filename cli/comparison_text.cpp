// SPDX-License-Identifier: MIT OR Apache-2.0
// What differs between two archives, as text and as JSON.
#include "cli/comparison_text.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "andiron/text.h"
#include "cli/json_output.h"
#include "cli/quantities.h"
#include "cli/table.h"
#include "cli/text_layout.h"

namespace andiron::cli {
namespace {

constexpr int digits = 3;

// The place of an element, outermost dimension first; of a byte, its number.
std::vector<std::uint64_t> coordinates(std::uint64_t index, const TensorDifference& one) {
  if (one.distance->in_bytes) return {index};
  std::vector<std::uint64_t> place(one.a->shape.rank());
  for (std::size_t d = place.size(); d-- > 0;) {
    place[d] = index % one.a->shape[d];
    index /= one.a->shape[d];
  }
  return place;
}

std::string place_text(std::optional<std::uint64_t> index, const TensorDifference& one) {
  if (!index) return "-";
  if (one.distance->in_bytes) return "byte " + std::to_string(*index);
  return Shape(std::span<const std::uint64_t>(coordinates(*index, one))).to_string();
}

// "24 equal tensors, 1 added, 3 changed".
std::string counts_text(const Comparison& comparison) {
  std::string text = count_of(comparison.equal, "equal tensor");
  constexpr std::pair<DifferenceKind, std::string_view> kinds[] = {
      {DifferenceKind::added, " added"},
      {DifferenceKind::removed, " removed"},
      {DifferenceKind::renamed, " renamed"},
      {DifferenceKind::shape, " of another shape"},
      {DifferenceKind::dtype, " of another dtype"},
      {DifferenceKind::values, " changed"},
      {DifferenceKind::close, " within the tolerances"}};
  for (const auto& [kind, words] : kinds) {
    if (const std::size_t count = comparison.count(kind); count != 0) {
      text.append(", ").append(format_count(count)).append(words);
    }
  }
  if (const std::size_t count = comparison.metadata.size(); count != 0) {
    text += ", " + format_count(count) + (count == 1 ? " metadata entry" : " metadata entries");
  }
  if (const std::uint64_t count = comparison.values.size() + comparison.unlisted_values;
      count != 0) {
    text += ", " + count_of(count, "value");
  }
  return text;
}

// How a kind of difference is listed.
struct Listing {
  DifferenceKind kind;
  std::string heading;
  std::vector<Column> columns;
  std::function<std::vector<std::string>(const TensorDifference&)> cells;
};

std::string dtype_in_full(const ComparedTensor& tensor) {
  return tensor.scheme.empty() ? tensor.dtype : display_text(tensor.scheme);
}

// What the numbers of tensors of two dtypes are.
std::string numbers_text(const TensorDifference& one) {
  if (!one.distance) return "not comparable";
  if (one.distance->differing == 0) return "equal";
  const std::string share = one.distance->beyond == 0 ? "within the tolerances" : "differ";
  return share + ", max abs " + format_number(one.distance->max_abs, digits);
}

// What is not 1 does not look like it.
std::string cosine_text(double cosine) {
  std::string text = format_number(cosine, 6);
  return text == "1" && cosine < 1 ? ">0.999999" : text;
}

std::vector<std::string> distance_cells(const TensorDifference& one) {
  const Distance& distance = *one.distance;
  const bool is_close = one.kind == DifferenceKind::close;
  return {
      format_count(is_close ? distance.differing : distance.beyond) + " of " +
          format_count(distance.elements) + (distance.in_bytes ? " bytes" : ""),
      place_text(is_close ? distance.max_abs_index : distance.first_beyond, one),
      distance.max_abs_index || distance.in_bytes ? format_number(distance.max_abs, digits) : "-",
      format_number(distance.relative_l2, digits),
      cosine_text(distance.cosine),
      distance.not_finite == 0 ? "" : format_count(distance.not_finite) + " not finite"};
}

std::vector<Listing> listings(const Page& page) {
  const auto left = [](std::string heading, std::size_t width) {
    return Column{std::move(heading), Column::Align::left, width};
  };
  const auto right = [](std::string heading, std::size_t width = 11) {
    return Column{std::move(heading), Column::Align::right, width};
  };
  const auto describe = [](const ComparedTensor& tensor) -> std::vector<std::string> {
    return {tensor.dtype, tensor.shape.to_string()};
  };
  const std::size_t half = page.width / 2;
  const std::vector<Column> described = {left("DTYPE", 14), left("SHAPE", 28)};
  const auto measured = [&](const char* where) -> std::vector<Column> {
    return {left("ELEMENTS", 28), left(where, 24), right("MAX ABS"),
            right("REL L2"),      right("COSINE"), left("", 24)};
  };
  return {{DifferenceKind::added, "ADDED", described,
           [=](const auto& one) { return describe(*one.b); }},
          {DifferenceKind::removed, "REMOVED", described,
           [=](const auto& one) { return describe(*one.a); }},
          {DifferenceKind::renamed,
           "RENAMED",
           {left("TO", half), left("", 24)},
           [](const auto& one) -> std::vector<std::string> {
             return {one.b->name, one.is_ambiguous ? "several are equal" : ""};
           }},
          {DifferenceKind::shape,
           "OTHER SHAPE",
           {left("A", 28), left("B", 28)},
           [](const auto& one) -> std::vector<std::string> {
             const bool is_one_dtype = one.a->dtype == one.b->dtype;
             const auto text = [&](const ComparedTensor& tensor) {
               return (is_one_dtype ? "" : tensor.dtype + " ") + tensor.shape.to_string();
             };
             return {text(*one.a), text(*one.b)};
           }},
          {DifferenceKind::dtype,
           "OTHER DTYPE",
           {left("A", 14), left("B", 14), left("NUMBERS", 40)},
           [](const auto& one) -> std::vector<std::string> {
             return {dtype_in_full(*one.a), dtype_in_full(*one.b), numbers_text(one)};
           }},
          {DifferenceKind::values, "CHANGED", measured("FIRST AT"), distance_cells},
          {DifferenceKind::close, "WITHIN TOLERANCES", measured("LARGEST AT"), distance_cells}};
}

void append_more(std::string& out, std::uint64_t count) {
  if (count != 0) out += "... and " + format_count(count) + " more\n";
}

void append_entries(std::string& out, const std::string& heading,
                    const std::vector<EntryDifference>& entries, std::uint64_t unlisted,
                    const Page& page, std::size_t most_rows) {
  if (entries.empty() && unlisted == 0) return;
  const std::size_t third = page.width / 3;
  Table table(heading, {{"A", Column::Align::left, third}, {"B", Column::Align::left, third}});
  const std::size_t shown = std::min(entries.size(), most_rows);
  for (const EntryDifference& one : std::span(entries).first(shown)) {
    table.add_row({one.key, one.a.value_or("-"), one.b.value_or("-")});
  }
  out += '\n';
  table.append_to(out, page);
  append_more(out, entries.size() - shown + unlisted);
}

void append_json_tensor(std::string& out, std::string_view key, const ComparedTensor& tensor) {
  append_json_key(out, key);
  out += "{\"name\":";
  append_json_string(out, tensor.name);
  append_json_field(out, "dtype", tensor.dtype);
  if (!tensor.scheme.empty()) append_json_field(out, "file_dtype", tensor.scheme);
  append_json_key(out, "shape");
  append_json_list(out, tensor.shape.dims());
  out += '}';
}

void append_json_distance(std::string& out, const TensorDifference& one) {
  const Distance& distance = *one.distance;
  append_json_key(out, "distance");
  out += "{\"elements\":" + std::to_string(distance.elements);
  append_json_field(out, "differing", distance.differing);
  append_json_field(out, "beyond", distance.beyond);
  append_json_field(out, "not_finite", distance.not_finite);
  const auto append_place = [&](std::string_view key, std::optional<std::uint64_t> index) {
    if (!index) return;
    append_json_key(out, key);
    append_json_list(out, coordinates(*index, one));
  };
  append_place("first_at", distance.first_beyond);
  append_place("max_abs_at", distance.max_abs_index);
  const std::pair<std::string_view, double> measures[] = {{"max_abs", distance.max_abs},
                                                          {"relative_l2", distance.relative_l2},
                                                          {"cosine", distance.cosine}};
  for (const auto& [key, number] : measures) {
    append_json_key(out, key);
    append_json_double(out, number);
  }
  if (distance.in_bytes) out += ",\"in_bytes\":true";
  out += '}';
}

void append_json_entries(std::string& out, std::string_view key,
                         const std::vector<EntryDifference>& entries) {
  append_json_key(out, key);
  out += '[';
  for (const EntryDifference& one : entries) {
    if (out.back() != '[') out += ',';
    out += "{\"key\":";
    append_json_string(out, one.key);
    if (one.a) append_json_field(out, "a", *one.a);
    if (one.b) append_json_field(out, "b", *one.b);
    out += '}';
  }
  out += ']';
}

}  // namespace

void append_comparison(std::string& out, const std::string& a_path, const std::string& b_path,
                       const Comparison& comparison, const Page& page, std::size_t most_rows) {
  out += display_text(a_path) + " and " + display_text(b_path) +
         (comparison.is_equal() ? " are equal\n" : " differ\n");
  append_wrapped(out, counts_text(comparison), 0, page.width);
  for (const Listing& listing : listings(page)) {
    const std::size_t count = comparison.count(listing.kind);
    if (count == 0) continue;
    Table table(listing.heading, listing.columns);
    std::size_t shown = 0;
    for (const TensorDifference& one : comparison.differences) {
      if (one.kind != listing.kind || shown == most_rows) continue;
      ++shown;
      std::vector<std::string> row = {one.name()};
      for (std::string& cell : listing.cells(one)) row.push_back(std::move(cell));
      table.add_row(std::move(row));
    }
    out += '\n';
    table.append_to(out, page);
    append_more(out, count - shown);
  }
  append_entries(out, "METADATA", comparison.metadata, 0, page, most_rows);
  append_entries(out, "VALUES", comparison.values, comparison.unlisted_values, page, most_rows);
}

std::string json_comparison(const ComparedFile& a, const ComparedFile& b,
                            const Comparison& comparison, const std::vector<Message>& notes) {
  std::string out = json_start(a.path);
  append_json_field(out, "other", b.path);
  append_json_key(out, "equal");
  out += comparison.is_equal() ? "true" : "false";
  append_json_key(out, "counts");
  out += "{\"equal\":" + std::to_string(comparison.equal);
  for (unsigned kind = 0; kind <= static_cast<unsigned>(DifferenceKind::close); ++kind) {
    append_json_field(out, difference_name(static_cast<DifferenceKind>(kind)),
                      comparison.count(static_cast<DifferenceKind>(kind)));
  }
  out += '}';
  append_json_key(out, "differences");
  out += '[';
  for (const TensorDifference& one : comparison.differences) {
    if (out.back() != '[') out += ',';
    out += "{\"kind\":";
    append_json_string(out, difference_name(one.kind));
    append_json_field(out, "name", one.name());
    if (one.a) append_json_tensor(out, "a", *one.a);
    if (one.b) append_json_tensor(out, "b", *one.b);
    if (one.distance) append_json_distance(out, one);
    if (one.is_ambiguous) out += ",\"ambiguous\":true";
    out += '}';
  }
  out += ']';
  append_json_entries(out, "metadata", comparison.metadata);
  append_json_entries(out, "values", comparison.values);
  if (comparison.unlisted_values != 0) {
    append_json_field(out, "unlisted_values", comparison.unlisted_values);
  }
  append_json_field(out, "skipped", a.archive.skipped());
  append_json_field(out, "other_skipped", b.archive.skipped());
  append_json_notes(out, notes);
  return out + "}\n";
}

}  // namespace andiron::cli
