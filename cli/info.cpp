// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron info: a weight file on one page.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/shape.h"
#include "andiron/text.h"
#include "andiron/value.h"
#include "cli/burnpack_info.h"
#include "cli/inputs.h"
#include "cli/json_output.h"
#include "cli/quantities.h"
#include "cli/scalars.h"
#include "cli/table.h"
#include "cli/tensor_text.h"
#include "cli/text_layout.h"
#include "cli/verb.h"
#include "src/format/burnpack/header_listing.h"

namespace andiron::cli {

struct InfoVerb final : ReadingVerb {
  bool all = false;  // list every tensor
  bool hex = false;  // show the bytes of the header instead

  VerbHelp help() const override {
    return {"info", "Summarize a file: sizes, dtypes, metadata, shards",
            names_help +
                R"(For Burnpack files it also shows the layout. --hex shows every byte before the
tensor data, one field per line: its offset, its bytes in hex and as characters,
and its meaning, indented by depth. A line of * stands for lines that repeat the
one above. It also works on files that do not open, if the header is complete.

Examples:
  andiron info model.safetensors
  andiron info --all model.bpk
  andiron info --hex model.bpk | less
  andiron info --json Llama-3-8B/ | jq .parameters)"};
  }

  void declare_own(OptionList& list) override {
    list.flag("--all", all, "List every tensor with its offset");
    list.flag("--hex", hex, "Show the bytes of a Burnpack header, field by\nfield");
  }

  ExitCode run() override;
};

template std::unique_ptr<Verb> make_verb<InfoVerb>();

namespace {

struct Group {
  std::string name;
  Totals totals;
};

struct Summary {
  Totals totals;
  std::vector<Group> dtypes;   // most bytes first
  std::vector<Group> schemes;  // of quantized tensors, most bytes first
  std::vector<Group> shards;   // natural order; empty when there is one file
};

std::vector<Group> most_bytes_first(const std::map<std::string, Totals>& totals) {
  std::vector<Group> groups;
  groups.reserve(totals.size());
  for (const auto& [name, total] : totals) groups.push_back({name, total});
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.totals.bytes > b.totals.bytes; });
  return groups;
}

Summary summarize(const Archive& archive) {
  Summary summary;
  std::map<std::string, Totals> dtypes;
  std::map<std::string, Totals> schemes;
  std::map<std::string_view, Totals, NaturalLess> shards;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    summary.totals.add(info);
    dtypes[dtype_text(info)].add(info);
    if (info.dtype == DType::qfloat) schemes[std::string(info.file_dtype)].add(info);
    if (!info.file.empty()) shards[info.file].add(info);
  }
  summary.dtypes = most_bytes_first(dtypes);
  summary.schemes = most_bytes_first(schemes);
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
  if (!summary.schemes.empty()) {
    append_json_groups(fields, "quantization", "scheme", summary.schemes);
  }
  if (!summary.shards.empty()) append_json_groups(fields, "shards", "file", summary.shards);
  append_json_key(fields, "aliases");
  append_json_strings(fields, archive.aliases());
  append_json_values(fields, values_beside(archive).tree);
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

void append_facts(std::string& out, const std::string& path, const Archive& archive,
                  const std::optional<BurnpackHead>& burnpack, const Totals& totals,
                  const Page& page) {
  append_fact(out, "path", path, page.width);
  append_fact(out, "format", archive.format() + ", " + archive.packaging(), page.width);
  if (burnpack) append_burnpack_facts(out, *burnpack, page);
  append_fact(out, "file size", exact_size(archive.file_bytes()), page.width);
  append_fact(out, "tensors", format_count(totals.tensors), page.width);
  append_fact(out, "parameters", exact_count(totals.parameters), page.width);
  append_fact(out, "data", exact_size(totals.bytes), page.width);
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

// Tensors as they lie in the file: all of them, or the first ones.
void append_layout(std::string& out, const Archive& archive,
                   const std::optional<BurnpackHead>& burnpack, std::size_t most,
                   const Page& page) {
  std::vector<std::size_t> order = sorted_indices(archive, SortKey::offset);
  const std::size_t left = order.size() - std::min(order.size(), most);
  order.resize(order.size() - left);
  TensorColumns columns = {.places = true};
  std::vector<std::uint64_t> padding;
  if (burnpack) columns.padding = padding = padding_before(archive, *burnpack);
  out += '\n';
  append_tensor_table(out, "TENSORS IN FILE ORDER", archive, order, page, columns);
  if (left > 0) append_wrapped(out, format_count(left) + " more; --all lists them", 0, page.width);
}

// The layout of a file where it says something, the largest tensors of many.
void append_tensors(std::string& out, const Archive& archive,
                    const std::optional<BurnpackHead>& burnpack, bool all, const Page& page) {
  constexpr std::size_t shown = 20;
  const bool layout = all || burnpack.has_value();
  if (layout && !archive.empty()) {
    append_layout(out, archive, burnpack, all ? archive.size() : shown, page);
  }
  if (!layout || (!all && archive.size() > shown)) append_largest(out, archive, page);
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

// Names that the file records as tied, and tensors that are of the very same bytes.
void append_ties(std::string& out, const Archive& archive, const Page& page) {
  constexpr std::size_t shown = 20;
  std::map<std::string_view, std::string_view> names(archive.aliases().begin(),
                                                     archive.aliases().end());
  const std::vector<std::optional<std::size_t>> ties = archive.ties();
  for (std::size_t i = 0; i < ties.size(); ++i) {
    if (ties[i]) names.emplace(archive.info(i).name, archive.info(*ties[i]).name);
  }
  const std::size_t left = names.size() - std::min(names.size(), shown);
  // Only those that are shown are copied: thousands may be tied to one long name.
  const Metadata tied(names.begin(), std::prev(names.end(), static_cast<std::ptrdiff_t>(left)));
  append_pairs(out, "TIED NAME", "STORED AS", tied, page.width / 2, page);
  if (left > 0) append_wrapped(out, format_count(left) + " more", 0, page.width);
}

void append_remarks(std::string& out, const Archive& archive, const std::vector<Message>& notes,
                    const Page& page) {
  if (!notes.empty()) {
    out += '\n';
    page.append_bold(out, "NOTES\n");
    for (const Message& note : notes) {
      append_wrapped(out, display_line(note.to_string(Wording::flags)), 0, page.width);
    }
  }
  if (!archive.skipped().empty()) {
    out += '\n';
    page.append_bold(out, "SKIPPED\n");
    for (const Skipped& skipped : archive.skipped()) {
      append_wrapped(out,
                     display_text(skipped.name) + ": " +
                         display_line(skipped.reason.to_string(Wording::flags)),
                     0, page.width);
    }
  }
}

// Nothing for other formats.
Result<std::optional<BurnpackHead>> burnpack_head_of(const Archive& archive, const Limits& limits) {
  if (archive.format() != format_name(Format::burnpack)) return std::optional<BurnpackHead>();
  Result<BurnpackHead> head = detail::read_burnpack_head(archive.origin(), limits);
  if (!head) return std::move(head).error();
  return std::optional<BurnpackHead>(*std::move(head));
}

Status append_json(std::string& out, const std::string& path, const Archive& archive,
                   const std::optional<BurnpackHead>& burnpack, bool hex) {
  std::string fields = json_summary(archive, summarize(archive));
  if (burnpack) {
    if (Status status = append_json_burnpack(fields, *burnpack, hex); !status) return status;
  }
  out += json_object(path, archive, archive.natural_order(), {.more_fields = fields});
  return {};
}

void append_page(std::string& out, const std::string& path, const Archive& archive,
                 const std::optional<BurnpackHead>& burnpack, bool all, const Page& page) {
  const Summary summary = summarize(archive);
  append_facts(out, path, archive, burnpack, summary.totals, page);
  append_groups(out, "DTYPE", summary.dtypes, page);
  append_groups(out, "QUANTIZATION", summary.schemes, page);
  append_groups(out, "SHARD", summary.shards, page);
  append_pairs(out, "METADATA", "VALUE", archive.metadata(), page.width * 2 / 3, page);
  const ValuesBeside beside = values_beside(archive);
  if (burnpack) {
    append_scalar_table(out, beside.tree, page);
  } else {
    append_value_table(out, beside.tree, page);
  }
  append_ties(out, archive, page);
  append_tensors(out, archive, burnpack, all, page);
  append_remarks(out, archive, beside.notes, page);
}

Error no_hex_of(std::string_view format) {
  return Error{.code = ErrorCode::unsupported,
               .message = "--hex only works on Burnpack files",
               .found = std::string(format)};
}

// Also of files that do not open: that is when one wants to see the bytes.
ExitCode show_hex(const ReadingOptions& reading, const Limits& limits, const Page& page) {
  return for_each_input_opened(
      reading, reading.json,
      [&](const std::string& path, Result<Archive> opened, std::string& out) -> Status {
        if (opened && opened->format() != format_name(Format::burnpack)) {
          return no_hex_of(opened->format());
        }
        Result<BurnpackHead> head =
            detail::read_burnpack_head(opened ? opened->origin() : path, limits);
        if (!head) return opened ? std::move(head).error() : std::move(opened).error();
        if (opened && reading.json) return append_json(out, path, *opened, *head, true);
        Status shown;
        if (reading.json) {
          shown = append_json_burnpack(out, *head, true);
        } else {
          append_input_heading(out, path, reading);
          shown = append_burnpack_hex(out, *head, page);
        }
        if (!shown) out.clear();
        return opened ? std::move(shown) : Status(std::move(opened).error());
      });
}

}  // namespace

ExitCode InfoVerb::run() {
  const Page page = page_for_standard_output(reading.color, reading.wide);
  const Limits& limits = reading.open.limits;
  if (hex) return show_hex(reading, limits, page);
  return for_each_input(
      reading, reading.json,
      [&](const std::string& path, const Archive& archive, std::string& out) -> Status {
        auto burnpack = burnpack_head_of(archive, limits);
        if (!burnpack) return std::move(burnpack).error();
        if (reading.json) return append_json(out, path, archive, *burnpack, false);
        append_page(out, path, archive, *burnpack, all, page);
        return {};
      });
}

}  // namespace andiron::cli
