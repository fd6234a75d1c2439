// SPDX-License-Identifier: MIT OR Apache-2.0
// Recognizes the format of a file by its content.
#pragma once

#include <string>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "src/format/formats.h"

namespace andiron::inline v1::detail {

struct Recognized {
  const FormatRow* row = nullptr;  // nullptr for all else
  bool is_json = false;            // an index of shards, perhaps
  // What it is that we do not read, and what to do about it; empty for what nobody knows.
  std::string what = {};
  std::string hint = {};
};

Result<Recognized> recognize(const ByteSource& source);

}  // namespace andiron::inline v1::detail
