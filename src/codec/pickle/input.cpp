// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/pickle_input_test.cpp
#include "src/codec/pickle/input.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "src/core/try.h"

namespace andiron::inline v1::detail {

Status PickleInput::make_ready(std::uint64_t count) {
  assert(count <= left());
  if (count <= ready()) return {};
  const std::size_t kept = ready();
  Bytes window;
  if (source_->in_memory()) {
    ANDIRON_ASSIGN(window, source_->view(position(), left()));
  } else if (next_ == begin_ && begin_ < front_.size() && count <= front_.size() - begin_) {
    const std::uint64_t size = std::min(left(), front_.size() - begin_);
    ANDIRON_ASSIGN(window,
                   front_.slice(static_cast<std::size_t>(begin_), static_cast<std::size_t>(size)));
  } else {
    const std::uint64_t size = std::min(left(), std::max<std::uint64_t>(count, window_bytes_));
    ANDIRON_ASSIGN(window, Bytes::allocate(size));
    const std::span<std::byte> bytes = window.writable();
    // What is left of the last window goes first, so that nothing is ever cut in two.
    if (kept != 0) std::memcpy(bytes.data(), at_, kept);
    ANDIRON_TRY(source_->read_at(next_, bytes.subspan(kept)));
    window_bytes_ = std::min(2 * window_bytes_, largest_window_bytes);
  }
  next_ += window.size() - kept;
  at_ = window.text().data();
  window_end_ = at_ + window.size();
  memory_.push_back(std::move(window));
  return {};
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
