// SPDX-License-Identifier: MIT OR Apache-2.0
// Which format a file is, by its content alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "andiron/byte_source.h"
#include "andiron/error.h"

namespace andiron::inline v1::detail {

enum class Content : std::uint8_t {
  safetensors,
  burnpack,
  record,          // MessagePack, or JSON, of Burn's recorders
  unnamed_record,  // bincode: needs a module that tells the names
  pytorch,         // a zip or tar archive, or a pickle
  json,            // any other
  gzip,
  foreign,
  unknown,
};

struct Sniffed {
  Content content = Content::unknown;
  // For foreign content: what it is, and what to do about it.
  const char* what = nullptr;
  const char* hint = nullptr;
};

// The most that is looked at, from the beginning.
inline constexpr std::size_t sniffed_bytes = 512;

Result<Sniffed> sniff(const ByteSource& source);

}  // namespace andiron::inline v1::detail
