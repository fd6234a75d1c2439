// SPDX-License-Identifier: MIT OR Apache-2.0
// SHA-256 of bytes and of tensors.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1 {

using Sha256Digest = std::array<std::uint8_t, 32>;

/// Lower-case hexadecimal.
std::string to_hex(const Sha256Digest& digest);

/// Hash of a tensor's contiguous row-major little-endian bytes, through one window of memory.
/// `read` is told the bytes of each window as they are done; return false to cancel.
Result<Sha256Digest> sha256(const TensorSnapshot& snapshot,
                            std::uint64_t window_bytes = Limits().window_bytes,
                            const std::function<bool(std::uint64_t bytes)>& read = {});

/// A running hash. Uses the system's accelerated code where the library was built with it.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> data);
  /// The digest; call once.
  Sha256Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace andiron::inline v1
