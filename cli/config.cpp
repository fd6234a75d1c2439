// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron config: the values of a file that are not tensors, as JSON.
#include <optional>
#include <string>
#include <utility>

#include "andiron/config.h"
#include "andiron/text.h"
#include "cli/inputs.h"
#include "cli/json_output.h"
#include "cli/report.h"
#include "cli/scalars.h"
#include "cli/verbs.h"

namespace andiron::cli {
namespace {

Status append_config(std::string& out, const std::string& path, const Archive& archive,
                     const ConfigOptions& options) {
  Result<detail::ConfigSource> source = detail::ConfigSource::of_archive(archive, options.key);
  if (!source) return std::move(source).error();
  const std::optional<Value> values = without_tensors(source->value);
  if (!options.reading.json) {
    append_input_heading(out, path, options.reading);
    out += values ? to_json(*values, 2) + "\n" : "{}\n";
    if (!values) print_message(display_text(path) + ": note: there is nothing beside the tensors");
    return {};
  }
  out += "{\"schema\":1";
  append_json_field(out, "path", path);
  append_json_field(out, "format", archive.format());
  append_json_field(out, "container", archive.packaging());
  if (!options.key.empty()) append_json_field(out, "key", options.key);
  append_json_key(out, "config");
  out += values ? to_json(*values) : "{}";
  append_json_notes(out, archive.notes());
  out += "}\n";
  return {};
}

}  // namespace

ExitCode run(const ConfigOptions& options) {
  const ReadingOptions& reading = options.reading;
  return for_each_input(
      reading, reading.json,
      [&](const std::string& path, const Archive& archive, std::string& out) -> Status {
        return append_config(out, path, archive, options);
      });
}

}  // namespace andiron::cli
