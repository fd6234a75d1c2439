// SPDX-License-Identifier: MIT OR Apache-2.0
// Tar archives of plain files, as the first releases of PyTorch wrote.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/limits.h"

namespace andiron::inline v1::detail {

struct TarMember {
  std::string name;  // without "./" in front
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

inline constexpr std::size_t tar_block_bytes = 512;

// Whether a file with this beginning is a tar archive: it says so, or its first member is one that
// PyTorch writes.
bool is_tar(std::string_view head);

// Returns the files of the archive in order, without folders. Fails with BadArchive for damaged
// headers, for links, devices and sparse files, and for names that repeat or leave the folder;
// Truncated if the file ends too early; LimitExceeded beyond limits.zip_entries.
Result<std::vector<TarMember>> read_tar(const ByteSource& source, const Limits& limits);

}  // namespace andiron::inline v1::detail
