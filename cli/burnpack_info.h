// SPDX-License-Identifier: MIT OR Apache-2.0
// What 'andiron info' shows of Burnpack files alone: the header and the layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "cli/terminal.h"
#include "src/format/burnpack/header_listing.h"

namespace andiron::cli {

using detail::BurnpackField;
using detail::BurnpackHead;

/// Appends lines about the header: magic, version, who wrote it, its parts.
void append_burnpack_facts(std::string& out, const BurnpackHead& head, const Page& page);

/// For each tensor of an archive, the unused bytes before it. The header tells, since the archive
/// may lack tensors that were left out.
std::vector<std::uint64_t> padding_before(const Archive& archive, const BurnpackHead& head);

/// Appends the bytes of the header with the meaning of each.
Status append_burnpack_hex(std::string& out, const BurnpackHead& head, const Page& page);

/// Appends `,"burnpack":{...}`, with the fields of the header when asked for.
Status append_json_burnpack(std::string& out, const BurnpackHead& head, bool with_fields);

}  // namespace andiron::cli
