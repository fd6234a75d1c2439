// SPDX-License-Identifier: MIT OR Apache-2.0
// SHA-256 of tensors and bytes.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
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

/// Returns lower-case hexadecimal.
std::string to_hex(const Sha256Digest& digest);

/// Hashes a tensor's row-major little-endian bytes, through one window of memory. Calls `read` with
/// the bytes of each window when it is done; return false to cancel. Fails with Cancelled and the
/// errors of reading.
Result<Sha256Digest> sha256(const TensorSnapshot& snapshot,
                            std::uint64_t window_bytes = Limits().window_bytes,
                            const std::function<bool(std::uint64_t bytes)>& read = {});

/// An incremental hash. Uses the system's accelerated code if the library was built with it.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> data);
  /// Returns the digest. Call it once.
  Sha256Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace andiron::inline v1
