// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tool can write: the formats, and the forms that some have.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/format.h"

namespace andiron::cli {

/// A format as --to asks for it: by its name, in whatever form the output's name says, or by an
/// ending.
struct OutputForm {
  std::string name;         ///< "burnpack", "bpk", "mpk.gz"
  std::string_view ending;  ///< ".bpk"; empty for "burnpack"
  Format format = Format::safetensors;
};

/// All that are written.
std::vector<OutputForm> output_forms();

/// By the name of a file, or nothing.
std::optional<OutputForm> form_of(std::string_view path);

/// "safetensors, burnpack (bpk),\nmpk, mpk.gz ..." in two lines, and ".safetensors, .bpk ... or
/// .npy". The tool sees public headers alone: the library's own list is not for it.
std::string list_of_forms();
std::string list_of_endings();

/// "safetensors": the formats that are written as shards.
std::string list_of_sharded();

}  // namespace andiron::cli
