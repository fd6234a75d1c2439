// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron info: a weight file on one page.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/display_text.h"
#include "andiron/json.h"
#include "andiron/natural_order.h"
#include "andiron/shape.h"
#include "cli/inputs.h"
#include "cli/json_output.h"
#include "cli/quantities.h"
#include "cli/table.h"
#include "cli/tensor_text.h"
#include "cli/text_layout.h"
#include "cli/verbs.h"

namespace andiron::cli {
namespace {

struct Group {
  std::string name;
  Totals totals;
};

struct Summary {
  Totals totals;
  std::vector<Group> dtypes;  // most bytes first
  std::vector<Group> shards;  // natural order; empty when there is one file
};

Summary summarize(const Archive& archive) {
  Summary summary;
  std::map<std::string, Totals> dtypes;
  std::map<std::string_view, Totals, NaturalLess> shards;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    summary.totals.add(info);
    dtypes[dtype_text(info)].add(info);
    if (!info.file.empty()) shards[info.file].add(info);
  }
  for (const auto& [name, totals] : dtypes) summary.dtypes.push_back({name, totals});
  std::sort(summary.dtypes.begin(), summary.dtypes.end(), [](const Group& a, const Group& b) {
    return a.totals.bytes != b.totals.bytes ? a.totals.bytes > b.totals.bytes : a.name < b.name;
  });
  for (const auto& [name, totals] : shards) summary.shards.push_back({std::string(name), totals});
  return summary;
}

void append_json_totals(std::string& out, const Totals& totals) {
  append_json_field(out, "tensors", totals.tensors);
  append_json_field(out, "parameters", totals.parameters);
  append_json_field(out, "bytes", totals.bytes);
}

void append_json_groups(std::string& out, std::string_view key, std::string_view name_key,
                        const std::vector<Group>& groups) {
  append_json_key(out, key);
  out += '[';
  for (const Group& group : groups) {
    out.append(out.back() == '[' ? "{\"" : ",{\"").append(name_key).append("\":");
    append_json_string(out, group.name);
    append_json_totals(out, group.totals);
    out += '}';
  }
  out += ']';
}

std::string json_summary(const Archive& archive, const Summary& summary) {
  std::string fields;
  append_json_field(fields, "parameters", summary.totals.parameters);
  append_json_field(fields, "data_bytes", summary.totals.bytes);
  append_json_groups(fields, "dtypes", "dtype", summary.dtypes);
  if (!summary.shards.empty()) append_json_groups(fields, "shards", "file", summary.shards);
  append_json_key(fields, "aliases");
  append_json_strings(fields, archive.aliases());
  return fields;
}

std::string exact_size(std::uint64_t bytes) {
  return bytes < 1024 ? format_size(bytes)
                      : format_size(bytes) + " (" + format_count(bytes) + " bytes)";
}

std::string exact_count(std::uint64_t count) {
  return count < 1000 ? format_count(count)
                      : format_count(count) + " (" + format_short_count(count) + ")";
}

void append_fact(std::string& out, std::string_view label, std::string_view text,
                 const Page& page) {
  constexpr std::size_t label_width = 12;
  const std::size_t start = out.size();
  append_wrapped(out, display_text(text), label_width, page.width);
  out.replace(start, label.size(), label);
}

void append_facts(std::string& out, const std::string& path, const Archive& archive,
                  const Totals& totals, const Page& page) {
  append_fact(out, "path", path, page);
  append_fact(out, "format", archive.format() + ", " + archive.container(), page);
  append_fact(out, "file size", exact_size(archive.file_bytes()), page);
  append_fact(out, "tensors", format_count(totals.tensors), page);
  append_fact(out, "parameters", exact_count(totals.parameters), page);
  append_fact(out, "data", exact_size(totals.bytes), page);
}

void append_groups(std::string& out, std::string heading, const std::vector<Group>& groups,
                   const Page& page) {
  if (groups.empty()) return;
  Table table(std::move(heading), {{"TENSORS", Column::Align::right, 11},
                                   {"PARAMETERS", Column::Align::right, 26},
                                   {"SIZE", Column::Align::right, 10}});
  for (const Group& group : groups) {
    table.add_row({group.name, format_count(group.totals.tensors),
                   format_count(group.totals.parameters), format_size(group.totals.bytes)});
  }
  out += '\n';
  table.append_to(out, page);
}

void append_largest(std::string& out, const Archive& archive, const Page& page) {
  constexpr std::size_t shown = 5;
  std::vector<std::size_t> order = sorted_indices(archive, SortKey::size);
  // Of a handful, 'andiron ls' says more.
  if (order.size() <= shown) return;
  order.resize(shown);
  out += '\n';
  append_tensor_table(out, "LARGEST TENSORS", archive, order, page);
}

// Two columns of text from the file.
void append_pairs(std::string& out, std::string left_heading, std::string right_heading,
                  const Metadata& pairs, std::size_t right_width, const Page& page) {
  if (pairs.empty()) return;
  Table table(std::move(left_heading),
              {{std::move(right_heading), Column::Align::left, right_width}});
  for (const auto& [left, right] : pairs) table.add_row({left, right});
  out += '\n';
  table.append_to(out, page);
}

void append_remarks(std::string& out, const Archive& archive, const Page& page) {
  if (!archive.notes().empty()) {
    out += '\n';
    page.append_bold(out, "NOTES\n");
    for (const std::string& note : archive.notes()) {
      append_wrapped(out, one_line(note), 0, page.width);
    }
  }
  if (!archive.skipped().empty()) {
    out += '\n';
    page.append_bold(out, "NOT TAKEN\n");
    for (const Skipped& skipped : archive.skipped()) {
      append_wrapped(out, display_text(skipped.name) + ": " + one_line(skipped.reason), 0,
                     page.width);
    }
  }
}

}  // namespace

ExitCode run(const InfoOptions& options) {
  const ReadingOptions& reading = options.reading;
  const Page page = page_for_standard_output(reading.color, reading.wide);
  return for_each_input(
      reading, reading.json,
      [&](const std::string& path, const Archive& archive, std::string& out) {
        const Summary summary = summarize(archive);
        if (reading.json) {
          out += json_object(path, archive, archive.natural_order(), {},
                             json_summary(archive, summary));
          return Status();
        }
        append_facts(out, path, archive, summary.totals, page);
        append_groups(out, "DTYPE", summary.dtypes, page);
        append_groups(out, "SHARD", summary.shards, page);
        append_pairs(out, "METADATA", "VALUE", archive.metadata(), page.width * 2 / 3, page);
        append_pairs(out, "TIED NAME", "STORED AS", archive.aliases(), page.width / 2, page);
        append_largest(out, archive, page);
        append_remarks(out, archive, page);
        return Status();
      });
}

}  // namespace andiron::cli
