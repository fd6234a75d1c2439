// SPDX-License-Identifier: MIT OR Apache-2.0
// Written straight into one string: a file may list a hundred thousand tensors.
#include "cli/json_output.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "andiron/value.h"
#include "cli/quantities.h"
#include "cli/report.h"
#include "cli/scalars.h"
#include "cli/statistics_text.h"
#include "cli/tensor_text.h"

namespace andiron::cli {
namespace {

constexpr std::uint64_t least_alias_room = std::uint64_t{1} << 20;

void append_number(std::string& out, std::uint64_t number) {
  char digits[20];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// All but the closing brace.
void append_tensor(std::string& out, const TensorInfo& info,
                   std::optional<std::string_view> alias_of = {},
                   const Sha256Digest* digest = nullptr) {
  out += "{\"name\":";
  append_json_string(out, info.name);
  const std::string dtype = dtype_text(info);
  append_json_field(out, "dtype", dtype);
  append_json_key(out, "shape");
  append_json_list(out, info.shape);
  append_json_field(out, "bytes", info.byte_size);
  if (info.offset) append_json_field(out, "offset", *info.offset);
  if (!info.file.empty()) append_json_field(out, "file", info.file);
  if (!info.file_dtype.empty() && info.file_dtype != dtype) {
    append_json_field(out, "file_dtype", info.file_dtype);
  }
  // Text, as most JSON readers hold numbers in doubles.
  if (info.param_id) append_json_field(out, "param_id", std::to_string(info.param_id->value));
  if (alias_of) append_json_field(out, "alias_of", *alias_of);
  if (digest != nullptr) append_json_field(out, "sha256", to_hex(*digest));
}

// Of a tensor whose name changed or that is not in the file; the others have nothing to add.
void append_names(std::string& out, const std::vector<NameStep>& history) {
  const bool is_made = history.front().stage == NameStage::made;
  if (!is_made && history.front().name == history.back().name) return;
  if (!is_made) append_json_field(out, "name_in_file", history.front().name);
  append_json_key(out, "renames");
  out += '[';
  for (std::size_t i = is_made ? 0 : 1; i < history.size(); ++i) {
    if (i != 0 && history[i].name == history[i - 1].name) continue;
    if (out.back() != '[') out += ',';
    out += "{\"step\":";
    append_json_string(out, stage_name(history[i].stage));
    append_json_field(out, "name", history[i].name);
    out += '}';
  }
  out += ']';
}

void append_left_out(std::string& out, const Archive& file, const Renames& renames) {
  append_json_field(out, "renamed", renames.renamed);
  append_json_key(out, "left_out");
  out += '[';
  for (const std::size_t index : renames.left_out) {
    if (out.back() != '[') out += ',';
    append_tensor(out, file.info(index));
    out += '}';
  }
  out += ']';
}

}  // namespace

void append_json_key(std::string& out, std::string_view key) {
  out += ",\"";
  out += key;
  out += "\":";
}

void append_json_double(std::string& out, double number) {
  if (std::isnan(number)) {
    out += "null";
  } else if (std::isinf(number)) {
    out += number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    char digits[32];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }
}

void append_json_list(std::string& out, std::span<const std::uint64_t> numbers) {
  out += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out += ',';
    append_number(out, numbers[i]);
  }
  out += ']';
}

void append_json_field(std::string& out, std::string_view key, std::uint64_t number) {
  append_json_key(out, key);
  append_number(out, number);
}

void append_json_field(std::string& out, std::string_view key, std::string_view text) {
  append_json_key(out, key);
  append_json_string(out, text);
}

void append_json_field(std::string& out, std::string_view key,
                       const std::vector<Skipped>& skipped) {
  append_json_key(out, key);
  out += '[';
  for (const Skipped& one : skipped) {
    if (out.back() != '[') out += ',';
    out += "{\"name\":";
    append_json_string(out, one.name);
    append_json_field(out, "reason", one.reason.to_string(Wording::flags));
    out += '}';
  }
  out += ']';
}

void append_json_field(std::string& out, std::string_view key,
                       const std::vector<std::string>& texts) {
  append_json_key(out, key);
  out += '[';
  for (const std::string& text : texts) {
    if (out.back() != '[') out += ',';
    append_json_string(out, text);
  }
  out += ']';
}

void append_json_notes(std::string& out, const std::vector<Message>& notes) {
  std::vector<std::string> texts;
  texts.reserve(notes.size());
  for (const Message& note : notes) texts.push_back(note.to_string(Wording::flags));
  append_json_field(out, "notes", texts);
}

void append_json_strings(std::string& out, const Metadata& entries) {
  out += '{';
  for (const auto& [key, text] : entries) {
    if (out.back() != '{') out += ',';
    append_json_string(out, key);
    out += ':';
    append_json_string(out, text);
  }
  out += '}';
}

std::string json_start(std::string_view path) {
  std::string out = "{\"schema\":1";
  append_json_field(out, "path", path);
  return out;
}

std::string json_object(const std::string& path, const Archive& archive,
                        std::span<const std::size_t> order, const JsonAdditions& additions) {
  std::string out = json_start(path);
  append_json_field(out, "format", archive.format());
  append_json_field(out, "container", archive.packaging());
  append_json_field(out, "bytes", archive.file_bytes());
  append_json_key(out, "metadata");
  append_json_strings(out, archive.metadata());
  const ValuesBeside beside = values_beside(archive);
  append_json_scalars(out, beside.tree);
  out += additions.more_fields;
  if (additions.renames != nullptr) append_left_out(out, archive.in_file(), *additions.renames);

  append_json_key(out, "tensors");
  out += '[';
  const std::vector<std::optional<std::size_t>> ties = archive.ties();
  // One long name that thousands are tied to would be written thousands of times.
  std::uint64_t alias_room = least_alias_room + 4 * archive.file_bytes();
  std::size_t left_out = 0;
  for (const std::size_t index : order) {
    if (out.back() != '[') out += ',';
    std::optional<std::string_view> alias_of;
    if (ties[index]) alias_of = archive.info(*ties[index]).name;
    if (alias_of && alias_of->size() > alias_room) {
      alias_of.reset();
      ++left_out;
    }
    if (alias_of) alias_room -= alias_of->size();
    append_tensor(out, archive.info(index), alias_of,
                  additions.digests.empty() ? nullptr : &additions.digests[index]);
    if (!additions.statistics.empty()) append_json_statistics(out, additions.statistics[index]);
    if (additions.renames != nullptr) append_names(out, archive.name_history(index));
    out += '}';
  }
  out += ']';

  append_json_field(out, "skipped", archive.skipped());
  std::vector<Message> notes = beside.notes;
  if (left_out != 0) {
    notes.push_back("alias_of is left out for " + count_of(left_out, "tensor") +
                    ": the names would be longer than the file");
  }
  append_json_notes(out, notes);
  return out + "}\n";
}

std::string json_error(const std::string& path, const Error& error, std::string_view more_fields) {
  std::string out = json_start(path);
  append_json_key(out, "error");
  out += "{\"code\":";
  append_json_string(out, code_name(error.code));
  // The path says which input; a shard is named in the message.
  append_json_field(
      out, "message",
      error.file == path ? error.description(Wording::flags) : error.to_string(Wording::flags));
  out += '}';
  out += more_fields;
  return out + "}\n";
}

}  // namespace andiron::cli
