// SPDX-License-Identifier: MIT OR Apache-2.0
// Asks formats whether a file is theirs.
#pragma once

#include <span>
#include <string_view>

#include "andiron/byte_source.h"
#include "src/format/formats.h"

namespace andiron::test {

inline bool is_taken_for(bool (*is_format)(const detail::FileHead&), std::string_view file) {
  const ByteSourcePtr source = memory_source(Bytes::borrow(std::as_bytes(std::span(file))));
  return is_format({file.substr(0, detail::head_bytes), *source});
}

}  // namespace andiron::test
