// SPDX-License-Identifier: MIT OR Apache-2.0
// Inflating by our streams, piece by piece.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "src/codec/deflate/streams.h"

namespace andiron::test {

/// What comes of deflate data. Data that is cut short goes on.
struct Inflation {
  detail::InflateStream::State state = detail::InflateStream::State::goes_on;
  std::string text;
  std::size_t taken = 0;  ///< if it ended; 0 otherwise

  bool operator==(const Inflation&) const = default;
};

/// `next_in` and `next_out` say how much data and room the next step gets.
template <std::invocable NextIn, std::invocable NextOut>
Inflation inflated_by(detail::InflateStream& stream, std::string_view data, NextIn next_in,
                      NextOut next_out) {
  using State = detail::InflateStream::State;
  Inflation inflation;
  std::size_t at = 0;
  std::string in;
  std::string room;
  for (int waited = 0;;) {
    // Memory of their own, so that a step beyond their ends shows.
    in = data.substr(at, next_in());
    in.shrink_to_fit();
    room.assign(next_out(), '\0');
    room.shrink_to_fit();
    const auto step =
        stream.step(std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(room)));
    if (step.taken > in.size() || step.made > room.size()) std::abort();
    at += step.taken;
    inflation.text.append(room, 0, step.made);
    inflation.state = step.state;
    if (step.state == State::ended) inflation.taken = at;
    if (step.state != State::goes_on) return inflation;
    // It waits for more than there is, also with room.
    const bool waits = step.taken == 0 && step.made == 0 && !room.empty();
    if (waits && at == data.size()) return inflation;
    waited = step.taken == 0 && step.made == 0 ? waited + 1 : 0;
    if (waited > 1000) std::abort();  // it never goes on
  }
}

/// In pieces of these sizes.
inline Inflation inflated_by(detail::InflateStream& stream, std::string_view data,
                             std::size_t in_piece, std::size_t out_piece) {
  return inflated_by(stream, data, [&] { return in_piece; }, [&] { return out_piece; });
}

}  // namespace andiron::test
