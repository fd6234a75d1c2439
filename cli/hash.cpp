// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron hash: SHA-256 of each tensor's contiguous little-endian bytes, several tensors at a time.
#include "andiron/sha256.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "andiron/text.h"
#include "cli/inputs.h"
#include "cli/json_output.h"
#include "cli/table.h"
#include "cli/tensor_text.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "cli/workforce.h"

namespace andiron::cli {
namespace {

// Nothing may leave a thread but its result, so what fails before sha256() is caught here.
template <class Read>
Result<Sha256Digest> hash_tensor(const Archive& archive, std::size_t index, std::uint64_t window,
                                 const Read& read) try {
  return sha256(archive.snapshot(index), window, read);
} catch (const std::bad_alloc&) {
  return Error{.code = ErrorCode::out_of_memory, .message = "out of memory"};
}

// Digests in archive order, or the error that one thread alone would have met first.
Result<std::vector<Sha256Digest>> hash_tensors(const Archive& archive, const Workforce& force,
                                               std::string_view label) {
  // Tied tensors are read once. Largest first: a big one started last would leave the other threads
  // waiting.
  const std::vector<std::optional<std::size_t>> ties = archive.ties();
  std::vector<std::size_t> work;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    if (!ties[i]) work.push_back(i);
  }
  Totals totals;
  for (const std::size_t i : work) totals.add(archive.info(i));
  ProgressBar progress(label, totals.bytes);

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
  Error first_error;

  const auto hash_until_stopped = [&] {
    for (;;) {
      const std::size_t position = next.fetch_add(1);
      if (position >= stop) return;
      const std::size_t index = work[position];
      Result<Sha256Digest> digest = hash_tensor(archive, index, force.window, [&](auto bytes) {
        progress.advance(bytes);
        return position < stop;
      });
      if (digest) {
        digests[index] = *digest;
        continue;
      }
      const std::lock_guard lock(failing);
      if (position < stop) {
        stop = position;
        first_error = std::move(digest).error();
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

  if (stop < work.size()) return first_error;
  for (std::size_t i = 0; i < ties.size(); ++i) {
    if (ties[i]) digests[i] = digests[*ties[i]];
  }
  return digests;
}

void append_digest_lines(std::string& out, const Archive& archive,
                         std::span<const std::size_t> order, std::span<const Sha256Digest> digests,
                         const std::string& prefix) {
  for (const std::size_t index : order) {
    out += to_hex(digests[index]) + "  " + prefix + display_text(archive.info(index).name) + '\n';
  }
}

void append_digest_table(std::string& out, const Archive& archive,
                         std::span<const std::size_t> order, std::span<const Sha256Digest> digests,
                         const Page& page, bool wide) {
  constexpr std::size_t all_digits = 64;
  const std::size_t shown_digits = wide ? all_digits : 16;
  Table table("NAME", {{wide ? "SHA-256" : "SHA-256 (START)", Column::Align::left, shown_digits}});
  for (const std::size_t index : order) {
    table.add_row(
        {std::string(archive.info(index).name), to_hex(digests[index]).substr(0, shown_digits)});
  }
  table.append_to(out, page);
}

}  // namespace

ExitCode run(const HashOptions& options) {
  const ReadingOptions& reading = options.reading;
  const Page page = page_for_standard_output(reading.color, reading.wide);
  const Workforce force = workforce(reading);
  const bool lines = reading.json || options.full;
  return for_each_input(
      reading, lines,
      [&](const std::string& path, const Archive& archive, std::string& out) -> Status {
        const std::vector<std::size_t> order = sorted_indices(archive, options.sort);
        Result<std::vector<Sha256Digest>> digests = hash_tensors(archive, force, path);
        if (!digests) return std::move(digests).error();

        if (reading.json) {
          out += json_object(path, archive, order, {.digests = *digests});
          return Status();
        }
        if (options.full) {
          const bool several = reading.inputs.size() > 1;
          append_digest_lines(out, archive, order, *digests,
                              several ? display_text(path) + ":" : std::string());
        } else {
          append_input_heading(out, path, reading);
          append_digest_table(out, archive, order, *digests, page, reading.wide);
        }
        print_notes(path, archive);
        return Status();
      });
}

}  // namespace andiron::cli
