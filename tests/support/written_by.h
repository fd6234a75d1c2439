// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

namespace andiron::test {

/// What `write(writer)` makes a CborWriter or a MsgpackWriter write.
template <class Writer, class Write>
std::string written_by(Write write) {
  std::string out;
  Writer writer(out);
  write(writer);
  return out;
}

}  // namespace andiron::test
