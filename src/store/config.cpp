// SPDX-License-Identifier: MIT OR Apache-2.0
// Where configs come from and go to. Tested by tests/store/config_test.cpp
#include "andiron/config.h"

#include <utility>

#include "src/core/memory_budget.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/json_file.h"

namespace andiron::inline v1::detail {
namespace {

// Metadata are texts; those that are lists or dicts in JSON are taken for what they are.
Value metadata_tree(const Metadata& metadata) {
  ValueDict dict;
  for (const auto& [key, text] : metadata) {
    const bool may_be_json = text.starts_with('{') || text.starts_with('[');
    Result<Value> parsed = may_be_json ? pass_on_out_of_memory(parse_json(text)) : Value(text);
    dict.emplace_back(key, parsed ? *std::move(parsed) : Value(text));
  }
  return dict;
}

}  // namespace

Result<ConfigSource> ConfigSource::of_archive(const Archive& archive, std::string_view key) {
  ANDIRON_ASSIGN(Value tree, archive.value());
  // As much as the tree itself may take.
  const MemoryBudget budget(archive.file_bytes(), {}, archive.origin());
  ConfigSource source{tree, std::string(key), archive.origin(), {.left = budget.most()}};
  FoundValue found = tree.at(key);
  throw_if_out_of_memory(found);
  if (tree.is_null() || (!found && !archive.metadata().empty())) {
    FoundValue text = metadata_tree(archive.metadata()).at(key);
    if (text || tree.is_null()) found = std::move(text);
  }
  if (!found) {
    Error error = std::move(found).error();
    error.file = archive.origin();
    return error;
  }
  source.value = *std::move(found);
  return source;
}

Result<ConfigSource> ConfigSource::of_path(const std::string& path, std::string_view key,
                                           const OpenOptions& options) {
  Result<Archive> archive = open(path, options);
  if (archive) return of_archive(*archive, key);
  Error error = std::move(archive).error();
  const bool is_json = path.ends_with(".json") && error.code == ErrorCode::not_a_weight_file;
  if (is_json) error.hint = "load_config() reads configs from JSON files";
  return error;
}

Result<ConfigSource> ConfigSource::of_json(const std::string& path) {
  ANDIRON_ASSIGN(Value value, read_json_file(path));
  return ConfigSource{std::move(value), "", path, {}};
}

Status report_notes(const ConfigSource& source, const ConfigOptions& options) {
  const ValueReading& reading = source.reading;
  if (!options.allow_unknown && !reading.unknown.empty()) {
    return Error{.code = ErrorCode::value_mismatch,
                 .message = "the struct does not list " +
                            list_in_quotes({reading.unknown.begin(), reading.unknown.end()})};
  }
  if (options.notes == nullptr) return {};
  for (const std::string& path : reading.unknown) {
    options.notes->push_back("the struct does not list " + in_quotes(path));
  }
  for (const std::string& path : reading.defaulted) {
    options.notes->push_back("the file has no " + in_quotes(path) + ": it keeps its default");
  }
  return {};
}

Status save_config_value(const Value& value, const std::string& path) {
  return write_json_file(value, path);
}

}  // namespace andiron::inline v1::detail
