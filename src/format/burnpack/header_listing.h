// SPDX-License-Identifier: MIT OR Apache-2.0
// What only Burnpack has: a look at the bytes of a header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "andiron/burnpack_view.h"
#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/limits.h"

namespace andiron::inline v1::detail {

/// A field of a header: the bytes [offset, offset + size) of the file and what they mean. Fields
/// follow each other without gaps up to the data section.
struct BurnpackField {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  unsigned depth = 0;  ///< 0 for the fixed header, 1 for the metadata map, deeper for what it holds
  std::string meaning;  ///< "magic 'NRUB'", "key 'dtype'", "text 'F32'", "map of 3", "padding";
                        ///< with text as the file has it: escape what you show (display_line)
};

/// The header of a Burnpack file.
struct BurnpackHead {
  std::uint16_t version = 0;
  std::uint32_t metadata_bytes = 0;
  std::uint64_t padding_bytes = 0;  ///< between metadata and data
  std::uint64_t file_bytes = 0;
  BurnpackLayout layout;
  /// "Burn 0.19", "Burn 0.21.0", "Burn 0.20 or later": by the layout, the spelling of types and,
  /// where they do not tell, the metadata.
  std::string generation;
  Bytes bytes;         ///< header, metadata and padding
  std::string damage;  ///< what is wrong with the metadata, and where; empty when nothing is
};

/// Reads the header of a Burnpack file, and looks at nothing else: the file need not be whole, and
/// metadata that is damaged is described as far as it can be read. Errors are those of open() for
/// the first 10 bytes, and for metadata that passes the limit or the end of the file.
Result<BurnpackHead> read_burnpack_head(const std::string& path, const Limits& limits = {});
Result<BurnpackHead> read_burnpack_head(const ByteSource& source, const Limits& limits = {});

/// Labels every byte of a header. From the place on where metadata is damaged, one field holds the
/// rest.
Result<std::vector<BurnpackField>> burnpack_fields(const BurnpackHead& head);

}  // namespace andiron::inline v1::detail
