// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/cli/digests_test.cpp
#include "cli/digests.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

namespace andiron::cli {
namespace {

// Why a thread stopped.
struct Failure {
  Error error;
  std::exception_ptr thrown;
};

// Nothing may leave a thread but its result.
template <class Read>
std::optional<Failure> hash_tensor(const Archive& archive, std::size_t index, std::uint64_t window,
                                   const Read& read, Sha256Digest& out) noexcept try {
  Result<Sha256Digest> digest = sha256(archive.snapshot(index), window, read);
  if (!digest) return Failure{std::move(digest).error(), nullptr};
  out = *digest;
  return std::nullopt;
} catch (const std::bad_alloc&) {
  return Failure{{.code = ErrorCode::out_of_memory, .message = "out of memory"}, nullptr};
} catch (...) {
  return Failure{{}, std::current_exception()};
}

}  // namespace

Result<std::vector<Sha256Digest>> digests_of(const Archive& archive, const Workforce& force,
                                             const std::function<void(std::uint64_t bytes)>& read) {
  // Tied tensors are read once. Largest first: a big one started last would leave the other threads
  // waiting.
  const std::vector<std::optional<std::size_t>> ties = archive.ties();
  std::vector<std::size_t> work;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (!ties[i]) work.push_back(i);
  }
  std::sort(work.begin(), work.end(), [&](std::size_t a, std::size_t b) {
    const std::uint64_t size_a = archive.info(a).byte_size;
    const std::uint64_t size_b = archive.info(b).byte_size;
    return size_a != size_b ? size_a > size_b : a < b;
  });

  std::vector<Sha256Digest> digests(archive.size());
  std::atomic<std::size_t> next = 0;
  // Work from here on is not wanted: the end of the list, then the first failure in it.
  std::atomic<std::size_t> stop = work.size();
  std::mutex failing;
  Failure first;

  const auto hash_until_stopped = [&] {
    for (;;) {
      const std::size_t position = next.fetch_add(1);
      if (position >= stop) return;
      const std::size_t index = work[position];
      const auto count = [&](std::uint64_t bytes) {
        read(bytes);
        return position < stop;
      };
      std::optional<Failure> failure =
          hash_tensor(archive, index, force.window, count, digests[index]);
      if (!failure) continue;
      const std::lock_guard lock(failing);
      if (position < stop) {
        stop = position;
        first = *std::move(failure);
      }
      return;
    }
  };

  std::vector<std::thread> helpers;
  try {
    const std::size_t wanted = std::min<std::size_t>(force.threads, work.size());
    while (helpers.size() + 1 < wanted) helpers.emplace_back(hash_until_stopped);
  } catch (const std::exception&) {
    // The system has no more threads to give; this one and those there are do the work.
  }
  hash_until_stopped();
  for (std::thread& helper : helpers) helper.join();

  if (first.thrown != nullptr) std::rethrow_exception(first.thrown);
  if (stop < work.size()) return std::move(first.error);
  for (std::size_t i = 0; i < ties.size(); ++i) {
    if (ties[i]) digests[i] = digests[*ties[i]];
  }
  return digests;
}

}  // namespace andiron::cli
