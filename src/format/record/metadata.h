// SPDX-License-Identifier: MIT OR Apache-2.0
// The metadata of a record.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/archive.h"
#include "andiron/dtype.h"
#include "andiron/write.h"

namespace andiron::inline v1::detail {

// The number types of one of Burn's settings.
struct RecordNumbers {
  DType float_type;
  DType int_type;
  std::string_view float_name;  // in Rust
  std::string_view settings;
};

const RecordNumbers& record_numbers(RecordPrecision precision);

using RecordMetadata = std::vector<std::pair<std::string, std::string>>;

// The entries of "metadata" in the order in which Burn writes them, then others of the archive.
// `is_record`: the archive is a record as it was read, which keeps what it says of itself unless
// the precision is another.
RecordMetadata record_metadata(const Archive& archive, bool is_record, RecordPrecision precision,
                               bool gzip);
// The release of Burn among them.
const std::string& release_of(const RecordMetadata& metadata);

}  // namespace andiron::inline v1::detail
