// SPDX-License-Identifier: MIT OR Apache-2.0
// The formats that the tool writes: their names and file extensions.
#include "cli/output_format.h"

namespace andiron::cli {

std::span<const OutputFormat> output_formats() {
  static constexpr OutputFormat formats[] = {
      {"safetensors", ".safetensors", Format::safetensors},
      {"burnpack", ".bpk", Format::burnpack},
      {"bpk", ".bpk", Format::burnpack},
      {"mpk", ".mpk", Format::mpk},
      {"mpk.gz", ".mpk.gz", Format::mpk, true},
  };
  return formats;
}

const OutputFormat* output_format_of(std::string_view path) {
  for (const OutputFormat& format : output_formats()) {
    if (path.ends_with(format.extension)) return &format;
  }
  return nullptr;
}

std::string_view format_name(Format format) {
  for (const OutputFormat& known : output_formats()) {
    if (known.format == format) return known.name;
  }
  return {};
}

}  // namespace andiron::cli
