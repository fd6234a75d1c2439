// SPDX-License-Identifier: MIT OR Apache-2.0
// SafeTensors files put together by hand, right or wrong.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include "andiron/bytes.h"
#include "andiron/open.h"
#include "tests/support/bytes_of_text.h"

namespace andiron::test {

/// Length, header, data: whatever the header says.
inline std::string safetensors_file(std::string_view header, std::string_view data) {
  std::string file;
  const std::uint64_t length = header.size();
  for (int i = 0; i < 8; ++i) file += static_cast<char>(length >> 8 * i & 0xff);
  file += header;
  file += data;
  return file;
}

inline std::string safetensors_file(std::string_view header, std::size_t data_bytes) {
  return safetensors_file(header, std::string(data_bytes, '\1'));
}

inline Result<Archive> open_safetensors(std::string_view file,
                                        Strictness strictness = Strictness::standard,
                                        const Limits& limits = {}) {
  return open(bytes_of_text(file),
              {.strictness = strictness, .format = Format::safetensors, .limits = limits});
}

}  // namespace andiron::test
