// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/analysis/compare_test.cpp
#include "src/analysis/renamed.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "andiron/sha256.h"
#include "andiron/text.h"
#include "src/analysis/digests.h"
#include "src/analysis/part_reader.h"
#include "src/analysis/reading_turns.h"
#include "src/analysis/stretches.h"
#include "src/analysis/workers.h"
#include "src/core/reading_order.h"
#include "src/core/sort.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

// What must agree before bytes are looked at.
using Kind = std::tuple<DType, std::string, std::vector<std::uint64_t>, std::uint64_t>;

Kind kind_of(const TensorInfo& info) {
  std::string raw_name(is_opaque(info.dtype) ? info.file_dtype : "");
  std::vector<std::uint64_t> shape(info.shape.begin(), info.shape.end());
  return {info.dtype, std::move(raw_name), std::move(shape), info.byte_size};
}

struct Candidate {
  std::size_t index = 0;
  bool is_in_b = false;
};

// Tensors that are alike, of each archive.
struct Alike {
  std::vector<std::size_t> removed;
  std::vector<std::size_t> added;
};

class RenameHashes {
 public:
  RenameHashes(const Archive& a, const Archive& b, const RenameSearch& search)
      : a_(a), b_(b), search_(search), readers_(search.threads) {}

  // For each candidate, the hash of the hashes of its stretches, so that many may be read at a
  // time.
  Result<std::vector<Sha256Digest>> run(const std::vector<Candidate>& candidates) {
    std::vector<CompressedInputs> inputs;
    for (const Candidate& one : candidates) {
      inputs.push_back({compressed_data_of(archive_of(one), one.index)});
    }
    std::vector<Stretch> stretches;
    for (const std::size_t i : reading_order(inputs)) {
      const TensorInfo info = archive_of(candidates[i]).info(candidates[i].index);
      append_stretches(stretches, i, info.byte_size / unit_of(info.dtype));
      search_.tally.expect(info.byte_size);
    }
    std::vector<Sha256Digest> parts(stretches.size());
    ReadingTurns turns;
    ANDIRON_TRY(
        run_tasks(stretches.size(), search_.threads, [&](std::size_t task, unsigned worker) {
          const std::size_t i = stretches[task].item;
          const ReadingTurns::Turn turn(turns, inputs[i]);
          return hash(candidates[i], stretches[task], worker, parts[task]);
        }));
    std::vector<Sha256Digest> digests(candidates.size());
    for (std::size_t task = 0; task < stretches.size();) {
      const std::size_t i = stretches[task].item;
      Sha256 all;
      for (; task < stretches.size() && stretches[task].item == i; ++task) {
        all.update(std::as_bytes(std::span(parts[task])));
      }
      digests[i] = all.finish();
    }
    return digests;
  }

 private:
  const Archive& archive_of(const Candidate& candidate) const {
    return candidate.is_in_b ? b_ : a_;
  }
  static std::uint64_t unit_of(DType dtype) { return std::max(1u, bit_width(dtype) / 8); }

  Status hash(const Candidate& candidate, const Stretch& stretch, unsigned worker,
              Sha256Digest& digest) {
    PartReader& reader = readers_[worker];
    TensorSnapshot snapshot = archive_of(candidate).snapshot(candidate.index);
    const std::uint64_t unit = unit_of(snapshot.dtype());
    ANDIRON_TRY(reader.open(std::move(snapshot), search_.window_bytes));
    ANDIRON_ASSIGN(digest,
                   digest_of_range(reader, stretch.first * unit,
                                   (stretch.first + stretch.count) * unit, search_.tally, worker));
    return {};
  }

  const Archive& a_;
  const Archive& b_;
  const RenameSearch& search_;
  std::vector<PartReader> readers_;
};

void sort_by_name(const Archive& archive, std::vector<std::size_t>& indices) {
  detail::sort(indices.begin(), indices.end(), [&](std::size_t x, std::size_t y) {
    return natural_less(archive.info(x).name, archive.info(y).name);
  });
}

void take_away(std::vector<std::size_t>& from, std::vector<std::size_t> taken) {
  detail::sort(taken.begin(), taken.end());
  std::erase_if(from, [&](std::size_t index) {
    return std::binary_search(taken.begin(), taken.end(), index);
  });
}

// The last so many dotted segments of a name; nothing if it has fewer.
std::optional<std::string_view> last_segments(std::string_view name, unsigned count) {
  std::size_t begin = name.size() + 1;
  for (; count > 0; --count) {
    if (begin == 0) return std::nullopt;
    const std::size_t dot = begin < 2 ? name.npos : name.rfind('.', begin - 2);
    begin = dot == name.npos ? 0 : dot + 1;
  }
  return name.substr(begin);
}

// Pairs tensors that are all equal: those whose names end alike first, then the others in natural
// order.
class PairingByNames {
 public:
  PairingByNames(const Archive& a, const Archive& b, Alike alike)
      : a_(a), b_(b), alike_(std::move(alike)) {
    sort_by_name(a_, alike_.removed);
    sort_by_name(b_, alike_.added);
  }

  std::vector<Renamed> run() {
    constexpr unsigned most_segments = 16;
    const bool is_ambiguous = alike_.removed.size() > 1 || alike_.added.size() > 1;
    for (unsigned count = is_ambiguous ? most_segments : 0; count > 0; --count) {
      take_pairs([count](std::string_view name) { return last_segments(name, count); });
    }
    take_pairs([](std::string_view) { return std::optional<std::string_view>(""); });
    for (Renamed& one : pairs_) one.is_ambiguous = is_ambiguous;
    return std::move(pairs_);
  }

 private:
  // Pairs those for which `key_of` gives the same.
  template <class KeyOf>
  void take_pairs(KeyOf key_of) {
    // The first is at the end.
    std::map<std::string_view, std::vector<std::size_t>> waiting;
    for (auto one = alike_.removed.rbegin(); one != alike_.removed.rend(); ++one) {
      if (const auto key = key_of(a_.info(*one).name)) waiting[*key].push_back(*one);
    }
    std::vector<std::size_t> taken_removed;
    std::vector<std::size_t> taken_added;
    for (const std::size_t index : alike_.added) {
      const std::optional<std::string_view> key = key_of(b_.info(index).name);
      const auto found = key ? waiting.find(*key) : waiting.end();
      if (found == waiting.end() || found->second.empty()) continue;
      pairs_.push_back({found->second.back(), index});
      taken_removed.push_back(found->second.back());
      taken_added.push_back(index);
      found->second.pop_back();
    }
    take_away(alike_.removed, std::move(taken_removed));
    take_away(alike_.added, std::move(taken_added));
  }

  const Archive& a_;
  const Archive& b_;
  Alike alike_;
  std::vector<Renamed> pairs_;
};

}  // namespace

Result<std::vector<Renamed>> take_renamed(const Archive& a, std::vector<std::size_t>& removed,
                                          const Archive& b, std::vector<std::size_t>& added,
                                          const RenameSearch& search) {
  std::map<Kind, Alike> kinds;
  for (const std::size_t index : removed) kinds[kind_of(a.info(index))].removed.push_back(index);
  for (const std::size_t index : added) kinds[kind_of(b.info(index))].added.push_back(index);
  std::vector<Candidate> candidates;
  for (const auto& [kind, alike] : kinds) {
    if (std::get<3>(kind) == 0 || alike.removed.empty() || alike.added.empty()) continue;
    for (const std::size_t index : alike.removed) candidates.push_back({index, false});
    for (const std::size_t index : alike.added) candidates.push_back({index, true});
  }
  ANDIRON_ASSIGN(const std::vector<Sha256Digest> digests,
                 RenameHashes(a, b, search).run(candidates));

  std::map<std::pair<Kind, Sha256Digest>, Alike> contents;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& one = candidates[i];
    const TensorInfo info = (one.is_in_b ? b : a).info(one.index);
    Alike& alike = contents[{kind_of(info), digests[i]}];
    (one.is_in_b ? alike.added : alike.removed).push_back(one.index);
  }
  std::vector<Renamed> renamed;
  std::vector<std::size_t> taken_removed;
  std::vector<std::size_t> taken_added;
  for (auto& [content, alike] : contents) {
    for (const Renamed& one : PairingByNames(a, b, std::move(alike)).run()) {
      renamed.push_back(one);
      taken_removed.push_back(one.a);
      taken_added.push_back(one.b);
    }
  }
  take_away(removed, std::move(taken_removed));
  take_away(added, std::move(taken_added));
  return renamed;
}

}  // namespace andiron::inline v1::detail
