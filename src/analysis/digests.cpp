// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/analysis/digests_test.cpp
#include "src/analysis/digests.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "src/analysis/reading_turns.h"
#include "src/analysis/workers.h"
#include "src/core/reading_order.h"
#include "src/core/sort.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace detail {
namespace {

// A tensor to hash.
struct HashWork {
  std::size_t index;
  std::uint64_t bytes;
};

// Largest first: a big tensor begun last would leave the other threads waiting.
std::vector<HashWork> hash_work_of(const Archive& archive,
                                   const std::vector<std::optional<std::size_t>>& ties) {
  std::vector<HashWork> work;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (!ties[i]) work.push_back({i, archive.info(i).byte_size});
  }
  detail::sort(work.begin(), work.end(), [](const HashWork& a, const HashWork& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.index < b.index;
  });
  return work;
}

}  // namespace

Result<Sha256Digest> digest_of_range(PartReader& reader, std::uint64_t begin, std::uint64_t end,
                                     ProgressTally& tally, unsigned worker) {
  Sha256 hash;
  while (begin < end) {
    ANDIRON_ASSIGN(const std::span<const std::byte> part,
                   reader.read(begin, std::min(reader.part_bytes(), end - begin)));
    hash.update(part);
    begin += part.size();
    ANDIRON_TRY(tally.add(part.size(), worker));
  }
  return hash.finish();
}

}  // namespace detail

Result<std::vector<Sha256Digest>> sha256(const Archive& archive, const HashOptions& options)
    ANDIRON_NO_THROW {
  const std::vector<std::optional<std::size_t>> ties = archive.ties();
  const std::vector<detail::HashWork> work = detail::hash_work_of(archive, ties);
  detail::ProgressTally tally(options.progress, "hashing");
  std::vector<detail::CompressedInputs> inputs;
  inputs.reserve(work.size());
  for (const detail::HashWork& one : work) {
    tally.expect(one.bytes);
    inputs.push_back({detail::compressed_data_of(archive, one.index)});
  }
  const std::vector<std::size_t> order = detail::reading_order(inputs);
  detail::ReadingTurns turns;
  std::vector<detail::PartReader> readers(detail::usable_threads(options.threads));
  std::vector<Sha256Digest> digests(archive.size());
  const auto threads = static_cast<unsigned>(readers.size());
  ANDIRON_TRY(
      detail::run_tasks(order.size(), threads, [&](std::size_t task, unsigned worker) -> Status {
        const detail::HashWork& one = work[order[task]];
        const detail::ReadingTurns::Turn turn(turns, inputs[order[task]]);
        detail::PartReader& reader = readers[worker];
        ANDIRON_TRY(reader.open(archive.snapshot(one.index), options.window_bytes));
        ANDIRON_ASSIGN(digests[one.index],
                       detail::digest_of_range(reader, 0, one.bytes, tally, worker));
        return {};
      }));
  ANDIRON_TRY(tally.finish());
  for (std::size_t i = 0; i < ties.size(); ++i) {
    if (ties[i]) digests[i] = digests[*ties[i]];
  }
  return digests;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
