// SPDX-License-Identifier: MIT OR Apache-2.0
// The formats that the tool writes: their names and file extensions.
#pragma once

#include <span>
#include <string_view>

#include "andiron/open.h"

namespace andiron::cli {

/// A format as it is asked for.
struct OutputFormat {
  std::string_view name;       ///< of --to
  std::string_view extension;  ///< of files
  Format format = Format::safetensors;
  bool compressed = false;
};

/// All of them; the first of a format is its usual form.
std::span<const OutputFormat> output_formats();

/// By the name of a file, or nothing.
const OutputFormat* output_format_of(std::string_view path);

}  // namespace andiron::cli
