// SPDX-License-Identifier: MIT OR Apache-2.0
// convert --to-layout: names and layouts of another framework, by rules.
#pragma once

#include <string>

#include "andiron/layers.h"

namespace andiron::cli {

/// Reads a file of rules. Fails as open_file() and LayerRules::parse() do, and with LimitExceeded
/// for a file of more than 1 MiB.
Result<LayerRules> read_layer_rules(const std::string& path);

/// The rules that are guessed for a file, as --layers guess prints them.
std::string guessed_layers_text(const Archive& archive, Layout from);
/// The same as a line of JSON.
std::string guessed_layers_json(const std::string& path, const Archive& archive, Layout from);

}  // namespace andiron::cli
