// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/analysis/statistics_test.cpp and tests/interop/statistics_interop.py
#include "andiron/statistics.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "src/analysis/bins.h"
#include "src/analysis/moments.h"
#include "src/analysis/numbers.h"
#include "src/analysis/part_reader.h"
#include "src/analysis/progress_tally.h"
#include "src/analysis/reading_turns.h"
#include "src/analysis/stretches.h"
#include "src/analysis/workers.h"
#include "src/core/reading_order.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace {

using detail::Bins;
using detail::Moments;
using detail::Stretch;

constexpr std::size_t most_bins = 65'536;
constexpr std::size_t most_counts = std::size_t{1} << 26;  // 512 MiB, of all tensors together

// The smallest and largest 64-bit integers, which doubles would round.
struct WideRange {
  std::uint64_t min = ~std::uint64_t{0};
  std::uint64_t max = 0;

  void add(const WideRange& other) {
    min = std::min(min, other.min);
    max = std::max(max, other.max);
  }
};

// Makes signed integers unsigned ones in the same order, and back.
constexpr std::uint64_t sign_flip(DType dtype) {
  return dtype == DType::i64 ? std::uint64_t{1} << 63 : 0;
}

WideRange wide_range(DType dtype, std::span<const std::byte> elements) {
  WideRange range;
  for (std::size_t at = 0; at < elements.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, elements.data() + at, sizeof bits);
    bits ^= sign_flip(dtype);
    range.min = std::min(range.min, bits);
    range.max = std::max(range.max, bits);
  }
  return range;
}

// What is known of a stretch, or of a tensor.
struct Findings {
  Moments moments;
  WideRange wide;

  void add(const Findings& later) {
    moments.add(later.moments);
    wide.add(later.wide);
  }
};

// The values of one worker.
struct Desk {
  detail::PartReader reader;
  std::vector<double> numbers;  // of a piece; both parts of complex ones
  std::vector<std::uint64_t> counts;
};

class StatisticsRun {
 public:
  StatisticsRun(const Archive& archive, const StatisticsOptions& options)
      : archive_(archive),
        options_(options),
        desks_(detail::usable_threads(options.threads)),
        tally_(options.progress, "statistics"),
        results_(archive.size()) {}

  Result<std::vector<Statistics>> run() {
    const std::vector<std::optional<std::size_t>> ties = archive_.ties();
    inputs_.reserve(archive_.size());
    for (std::size_t i = 0; i < archive_.size(); ++i) {
      inputs_.push_back({detail::compressed_data_of(archive_, i)});
    }
    std::vector<Stretch> stretches;
    for (const std::size_t i : detail::reading_order(inputs_)) {
      if (ties[i]) continue;
      ANDIRON_TRY(begin_tensor(i, stretches));
    }
    ANDIRON_TRY(summarize(stretches));
    if (options_.histogram_bins != 0) ANDIRON_TRY(make_histograms(stretches));
    ANDIRON_TRY(tally_.finish());
    for (std::size_t i = 0; i < ties.size(); ++i) {
      if (ties[i]) results_[i] = results_[*ties[i]];
    }
    return std::move(results_);
  }

 private:
  Status begin_tensor(std::size_t index, std::vector<Stretch>& stretches) {
    Statistics& result = results_[index];
    const TensorSnapshot snapshot = archive_.snapshot(index);
    ANDIRON_ASSIGN(result.count, snapshot.shape().element_count());
    const Result<TensorSnapshot> numbers = detail::numbers_of(snapshot);
    if (numbers) {
      append_stretches(stretches, index, result.count);
      tally_.expect(numbers->byte_size());
      if (options_.histogram_bins != 0) tally_.expect(numbers->byte_size());
      return {};
    }
    const Error& error = numbers.error();
    if (error.code != ErrorCode::unsupported && error.code != ErrorCode::unsupported_dtype) {
      return error;
    }
    result.refused = detail::sentence_of({.message = error.message,
                                          .found = error.found,
                                          .expected = error.expected,
                                          .hint = error.hint});
    return {};
  }

  // Calls take(dtype, bytes, count) for each piece of a stretch.
  template <class Take>
  Status for_each_piece(const Stretch& stretch, unsigned worker, Take take) {
    const detail::ReadingTurns::Turn turn(turns_, inputs_[stretch.item]);
    detail::PartReader& reader = desks_[worker].reader;
    ANDIRON_ASSIGN(TensorSnapshot numbers, detail::numbers_of(archive_.snapshot(stretch.item)));
    const DType dtype = numbers.dtype();
    const std::size_t bits = bit_width(dtype);
    ANDIRON_TRY(reader.open(std::move(numbers), options_.window_bytes));
    const std::uint64_t most = reader.part_bytes() * 8 / bits;
    for (std::uint64_t done = 0; done < stretch.count;) {
      const std::uint64_t count = std::min(most, stretch.count - done);
      ANDIRON_ASSIGN(const std::span<const std::byte> part,
                     reader.read((stretch.first + done) * bits / 8, count * bits / 8));
      for (std::size_t at = 0; at < count; at += detail::piece_elements) {
        const auto elements =
            static_cast<std::size_t>(std::min<std::uint64_t>(detail::piece_elements, count - at));
        take(dtype, part.subspan(at * bits / 8, elements * bits / 8), elements);
      }
      ANDIRON_TRY(tally_.add(part.size(), worker));
      done += count;
    }
    return {};
  }

  // The numbers of a piece, at the desk of the worker.
  std::span<double> numbers_in(DType dtype, std::span<const std::byte> elements, std::size_t count,
                               unsigned worker) {
    std::vector<double>& numbers = desks_[worker].numbers;
    if (numbers.empty()) numbers.resize(2 * detail::piece_elements);
    detail::read_numbers(dtype, elements.data(), count, numbers.data());
    if (is_complex(dtype)) detail::to_magnitudes(dtype, numbers.data(), count);
    return std::span(numbers).first(count);
  }

  Status summarize(const std::vector<Stretch>& stretches) {
    std::vector<Findings> findings(stretches.size());
    ANDIRON_TRY(detail::run_tasks(stretches.size(), threads(), [&](std::size_t i, unsigned worker) {
      Findings found;
      Status status = for_each_piece(
          stretches[i], worker,
          [&](DType dtype, std::span<const std::byte> elements, std::size_t count) {
            if (detail::is_wide_integer(dtype)) found.wide.add(wide_range(dtype, elements));
            found.moments.add(detail::moments_of(numbers_in(dtype, elements, count, worker)));
          });
      findings[i] = found;
      return status;
    }));
    for (std::size_t i = 0; i < stretches.size();) {
      const std::size_t index = stretches[i].item;
      Findings all;
      for (; i < stretches.size() && stretches[i].item == index; ++i) all.add(findings[i]);
      tell(all, archive_.info(index).dtype, results_[index]);
    }
    return {};
  }

  static void tell(const Findings& all, DType dtype, Statistics& result) {
    const Moments& moments = all.moments;
    result.zeros = moments.zeros;
    result.nans = moments.nans;
    result.positive_infinities = moments.positive_infinities;
    result.negative_infinities = moments.negative_infinities;
    if (moments.finite == 0) return;
    result.mean = moments.mean();
    result.standard_deviation = moments.standard_deviation();
    result.l2 = moments.l2();
    if (dtype == DType::i64) {
      const auto number = [](std::uint64_t bits) {
        return static_cast<std::int64_t>(bits ^ sign_flip(DType::i64));
      };
      set_range(number(all.wide.min), number(all.wide.max), result);
    } else if (dtype == DType::u64) {
      set_range(all.wide.min, all.wide.max, result);
    } else if (dtype == DType::boolean || dtype == DType::u8 || dtype == DType::u16 ||
               dtype == DType::u32) {
      set_range(static_cast<std::uint64_t>(moments.min), static_cast<std::uint64_t>(moments.max),
                result);
    } else if (is_integer(dtype)) {
      set_range(static_cast<std::int64_t>(moments.min), static_cast<std::int64_t>(moments.max),
                result);
    } else {
      result.min = moments.min;
      result.max = moments.max;
      result.abs_max = std::max(std::abs(moments.min), std::abs(moments.max));
    }
  }

  template <class Integer>
  static void set_range(Integer min, Integer max, Statistics& result) {
    result.min = min;
    result.max = max;
    // The smallest integer has no positive twin of its type.
    const auto magnitude = [](Integer number) {
      const auto bits = static_cast<std::uint64_t>(number);
      return number < 0 ? 0 - bits : bits;
    };
    result.abs_max = std::max(magnitude(min), magnitude(max));
  }

  Status make_histograms(const std::vector<Stretch>& stretches) {
    const std::size_t bins = options_.histogram_bins;
    for (Desk& desk : desks_) desk.counts.resize(bins);
    // Of all tensors. Several workers may add to those of one.
    std::vector<std::atomic<std::uint64_t>> counts(archive_.size() * bins);
    ANDIRON_TRY(detail::run_tasks(stretches.size(), threads(), [&](std::size_t i, unsigned worker) {
      const std::size_t index = stretches[i].item;
      const Statistics& known = results_[index];
      std::optional<Bins> edges;
      if (has_range(known)) edges.emplace(to_double(known.min), to_double(known.max), bins);
      std::vector<std::uint64_t>& own = desks_[worker].counts;
      std::fill(own.begin(), own.end(), 0);
      Status status =
          for_each_piece(stretches[i], worker,
                         [&](DType dtype, std::span<const std::byte> elements, std::size_t count) {
                           if (edges) edges->count(numbers_in(dtype, elements, count, worker), own);
                         });
      for (std::size_t bin = 0; bin < bins; ++bin) counts[index * bins + bin] += own[bin];
      return status;
    }));
    for (std::size_t i = 0; i < archive_.size(); ++i) {
      Statistics& result = results_[i];
      if (!has_range(result)) continue;
      Histogram& histogram = result.histogram.emplace();
      histogram.low = to_double(result.min);
      histogram.high = to_double(result.max);
      for (std::size_t bin = 0; bin < bins; ++bin) {
        histogram.counts.push_back(counts[i * bins + bin]);
      }
    }
    return {};
  }

  static bool has_range(const Statistics& result) { return !std::isnan(to_double(result.min)); }

  unsigned threads() const { return static_cast<unsigned>(desks_.size()); }

  const Archive& archive_;
  const StatisticsOptions& options_;
  std::vector<Desk> desks_;
  detail::ProgressTally tally_;
  std::vector<detail::CompressedInputs> inputs_;  // of the tensors
  detail::ReadingTurns turns_;
  std::vector<Statistics> results_;
};

Status check_bins(std::size_t bins, std::size_t tensors) {
  if (bins > most_bins) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "the histogram has too many bins",
                 .found = std::to_string(bins),
                 .expected = "at most " + std::to_string(most_bins)};
  }
  if (bins == 0 || tensors <= most_counts / bins) return {};
  return Error{
      .code = ErrorCode::invalid_argument,
      .message = "the histograms have too many bins together",
      .found = std::to_string(bins) + " for each of " + std::to_string(tensors) + " tensors",
      .expected = "at most " + std::to_string(most_counts)};
}

}  // namespace

Result<Statistics> statistics(const TensorSnapshot& snapshot, const StatisticsOptions& options)
    ANDIRON_NO_THROW {
  ANDIRON_TRY(detail::numbers_of(snapshot));
  Archive alone;
  ANDIRON_TRY(alone.add(snapshot));
  ANDIRON_ASSIGN(std::vector<Statistics> all, statistics(alone, options));
  return std::move(all.front());
}
ANDIRON_OR_OUT_OF_MEMORY

Result<std::vector<Statistics>> statistics(const Archive& archive, const StatisticsOptions& options)
    ANDIRON_NO_THROW {
  ANDIRON_TRY(check_bins(options.histogram_bins, archive.size()));
  return StatisticsRun(archive, options).run();
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
