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
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/progress.h"
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

struct HashOptions {
  /// Threads that read and hash, the calling one included; 0 for one per processor, at most 8.
  /// They end before the function returns.
  unsigned threads = 0;
  /// Tensor data that each thread holds at once, at least 64 KiB.
  std::uint64_t window_bytes = Limits().window_bytes;
  Progress progress = {};
};

/// The same for each tensor, in the order of the archive. Tied tensors are read once. Several
/// tensors are read at a time.
Result<std::vector<Sha256Digest>> sha256(const Archive& archive, const HashOptions& options = {});

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
