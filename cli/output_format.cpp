// SPDX-License-Identifier: MIT OR Apache-2.0
// The formats that the tool writes: their names and file extensions.
#include "cli/output_format.h"

namespace andiron::cli {

std::span<const OutputFormat> output_formats() {
  static constexpr OutputFormat formats[] = {
      {format_name(Format::safetensors), file_extension(Format::safetensors), Format::safetensors},
      {format_name(Format::burnpack), file_extension(Format::burnpack), Format::burnpack},
      {"bpk", file_extension(Format::burnpack), Format::burnpack},
      {format_name(Format::mpk), file_extension(Format::mpk), Format::mpk},
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

}  // namespace andiron::cli
