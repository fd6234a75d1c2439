// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/pickle_input_test.cpp
#include "src/codec/pickle/input.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/core/try.h"

namespace andiron::inline v1::detail {

Result<PickleInput::Unread> PickleInput::next_window() {
  const std::size_t kept = ready();
  const std::uint64_t wanted = wanted_end_ - position();
  Unread unread{next_, {}};
  Bytes window;
  if (source_->in_memory()) {
    ANDIRON_ASSIGN(window, source_->view(position(), left()));
  } else {
    const std::uint64_t size = std::min(left(), std::max<std::uint64_t>(wanted, window_bytes_));
    ANDIRON_ASSIGN(window, Bytes::allocate(size));
    unread.bytes = window.writable().subspan(kept);
    // What is left of the last window goes first, so that nothing is ever cut in two.
    if (kept != 0) std::memcpy(window.writable().data(), at_, kept);
    window_bytes_ = std::min(2 * window_bytes_, largest_window_bytes);
  }
  next_ += window.size() - kept;
  at_ = window.text().data();
  window_end_ = at_ + window.size();
  wanted_end_ = 0;
  memory_.push_back(std::move(window));
  return unread;
}

void PickleInput::skip(std::uint64_t count) noexcept {
  assert(count <= left());
  if (count <= ready()) {
    at_ += count;
    return;
  }
  next_ += count - ready();
  at_ = window_end_;
  // More such runs may follow: what lies between them is mostly short.
  window_bytes_ = first_window_bytes;
}

}  // namespace andiron::inline v1::detail
