// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads a tensor that need not fit in memory, part by part.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/snapshot.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

// Calls `take(span) -> Status` with the tensor's bytes in order, in parts of at most
// `window_bytes`. Parts of tensors in memory are lent as they are; others pass through `window`,
// which is kept for the next call.
template <class Take>
Status for_each_window(const TensorSnapshot& snapshot, std::uint64_t window_bytes, Bytes& window,
                       Take take) {
  // Whole elements of every type.
  const std::uint64_t step = std::max<std::uint64_t>(window_bytes / 16 * 16, 16);
  const std::uint64_t size = snapshot.byte_size();
  Bytes lent;
  if (snapshot.is_in_memory()) {
    ANDIRON_ASSIGN(const Tensor tensor, snapshot.borrow());
    lent = tensor.bytes();
  } else if (window.size() < std::min(step, size)) {
    ANDIRON_ASSIGN(window, Bytes::allocate(std::min(step, size)));
  }
  for (std::uint64_t done = 0; done < size;) {
    const auto count = static_cast<std::size_t>(std::min(step, size - done));
    if (lent.empty()) {
      const std::span<std::byte> part = window.writable().first(count);
      ANDIRON_TRY(snapshot.read_part(done, part));
      ANDIRON_TRY(take(std::span<const std::byte>(part)));
    } else {
      ANDIRON_TRY(take(lent.span().subspan(static_cast<std::size_t>(done), count)));
    }
    done += count;
  }
  return {};
}

}  // namespace andiron::inline v1::detail
