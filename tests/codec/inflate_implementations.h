// SPDX-License-Identifier: MIT OR Apache-2.0
// The streams that inflate: that of the build, and ours.
#pragma once

#include <array>
#include <memory>

#include "src/codec/deflate/portable.h"
#include "src/codec/deflate/streams.h"

namespace andiron::detail {

struct InflateImplementation {
  const char* name;
  std::unique_ptr<InflateStream> (*create)() noexcept;

  friend void PrintTo(const InflateImplementation& one, std::ostream* out) { *out << one.name; }
};

inline constexpr std::array inflate_implementations = {
    InflateImplementation{"OfTheLibrary", new_inflate_stream},
    InflateImplementation{"OfOurOwn", portable_inflate_stream}};

}  // namespace andiron::detail
