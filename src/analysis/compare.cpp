// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/analysis/compare_test.cpp and tests/interop/statistics_interop.py
#include "andiron/compare.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "andiron/text.h"
#include "src/analysis/distances.h"
#include "src/analysis/entry_differences.h"
#include "src/analysis/numbers.h"
#include "src/analysis/part_reader.h"
#include "src/analysis/progress_tally.h"
#include "src/analysis/reading_turns.h"
#include "src/analysis/renamed.h"
#include "src/analysis/stretches.h"
#include "src/analysis/workers.h"
#include "src/core/reading_order.h"
#include "src/core/sort.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace {

using detail::Distances;
using detail::Stretch;

// Tensors of one name and shape.
struct Pair {
  std::size_t a = 0;
  std::size_t b = 0;
  bool is_one_dtype = false;
};

// How the elements of a pair are compared.
enum class Measure : std::uint8_t { numbers, bytes, none };

bool have_one_dtype(const TensorInfo& a, const TensorInfo& b) {
  if (a.dtype != b.dtype) return false;
  const bool file_tells = a.dtype == DType::qfloat || a.dtype == DType::raw;
  return !file_tells || a.file_dtype == b.file_dtype;
}

std::string dtype_of(const TensorInfo& info) {
  std::string text(dtype_name(info.dtype));
  return info.dtype == DType::raw ? text.append(":").append(info.file_dtype) : text;
}

ComparedTensor description(const Archive& archive, std::size_t index) {
  const TensorInfo info = archive.info(index);
  std::string scheme(info.dtype == DType::qfloat ? info.file_dtype : "");
  return {std::string(info.name), dtype_of(info), Shape(info.shape), std::move(scheme)};
}

class CompareRun {
 public:
  CompareRun(const Archive& a, const Archive& b, const CompareOptions& options)
      : a_(a), b_(b), options_(options), tally_(options.progress, "comparison") {
    const detail::PairRules rules = {options.absolute_tolerance, options.relative_tolerance,
                                     options.nan_equals_nan};
    desks_.resize(detail::usable_threads(options.threads), Desk(rules));
  }

  Result<Comparison> run() {
    ANDIRON_TRY(match_names());
    order_pairs();
    ANDIRON_ASSIGN(const std::vector<bool> differs, compare_bytes());
    ANDIRON_TRY(measure(differs));
    ANDIRON_TRY(tally_.finish());
    sort_differences();
    return std::move(result_);
  }

 private:
  // What a worker works with.
  struct Desk {
    explicit Desk(const detail::PairRules& rules) : numbers(rules), bytes(detail::PairRules()) {}
    detail::PartReader a;
    detail::PartReader b;
    detail::PairMeter numbers;
    detail::PairMeter bytes;
  };

  Status match_names() {
    std::vector<bool> is_matched(b_.size());
    std::vector<std::size_t> removed;
    for (std::size_t i = 0; i < a_.size(); ++i) {
      const TensorInfo info = a_.info(i);
      const std::optional<std::size_t> found = b_.find(info.name);
      if (!found) {
        removed.push_back(i);
        continue;
      }
      is_matched[*found] = true;
      const TensorInfo other = b_.info(*found);
      if (!std::equal(info.shape.begin(), info.shape.end(), other.shape.begin(),
                      other.shape.end())) {
        tell(DifferenceKind::shape, i, found);
      } else {
        pairs_.push_back({i, *found, have_one_dtype(info, other)});
      }
    }
    std::vector<std::size_t> added;
    for (std::size_t i = 0; i < b_.size(); ++i) {
      if (!is_matched[i]) added.push_back(i);
    }
    if (options_.find_renamed) {
      ANDIRON_ASSIGN(
          const std::vector<detail::Renamed> renamed,
          detail::take_renamed(a_, removed, b_, added, {threads(), options_.window_bytes, tally_}));
      for (const detail::Renamed& one : renamed) {
        tell(DifferenceKind::renamed, one.a, one.b).is_ambiguous = one.is_ambiguous;
      }
    }
    for (const std::size_t index : removed) tell(DifferenceKind::removed, index, {});
    for (const std::size_t index : added) tell(DifferenceKind::added, {}, index);
    return {};
  }

  // So that they are read record by record where a file is compressed.
  void order_pairs() {
    inputs_.reserve(pairs_.size());
    for (const Pair& pair : pairs_) {
      inputs_.push_back(
          {detail::compressed_data_of(a_, pair.a), detail::compressed_data_of(b_, pair.b)});
    }
    order_ = detail::reading_order(inputs_);
  }

  TensorDifference& tell(DifferenceKind kind, std::optional<std::size_t> a,
                         std::optional<std::size_t> b) {
    TensorDifference& one = result_.differences.emplace_back();
    one.kind = kind;
    if (a) one.a = description(a_, *a);
    if (b) one.b = description(b_, *b);
    return one;
  }

  // Whether equal bytes are equal elements.
  bool bytes_decide(const Pair& pair) const {
    if (!pair.is_one_dtype) return false;
    const TensorInfo a = a_.info(pair.a);
    return options_.nan_equals_nan ||
           !(is_float(a.dtype) || is_complex(a.dtype) || a.dtype == DType::qfloat);
  }

  // Calls take(a, b, units) for parts of both tensors that have `unit` bits for each unit.
  template <class Take>
  Status for_each_part(const Stretch& stretch, TensorSnapshot a, TensorSnapshot b, unsigned a_bits,
                       unsigned b_bits, unsigned worker, Take take) {
    const detail::ReadingTurns::Turn turn(turns_, inputs_[stretch.item]);
    Desk& desk = desks_[worker];
    ANDIRON_TRY(desk.a.open(std::move(a), options_.window_bytes / 2));
    ANDIRON_TRY(desk.b.open(std::move(b), options_.window_bytes / 2));
    const std::uint64_t most =
        std::min(desk.a.part_bytes() * 8 / a_bits, desk.b.part_bytes() * 8 / b_bits) /
        detail::piece_elements * detail::piece_elements;
    for (std::uint64_t done = 0; done < stretch.count;) {
      const std::uint64_t count = std::min(most, stretch.count - done);
      const std::uint64_t first = stretch.first + done;
      ANDIRON_ASSIGN(const std::span<const std::byte> left,
                     desk.a.read(first * a_bits / 8, count * a_bits / 8));
      ANDIRON_ASSIGN(const std::span<const std::byte> right,
                     desk.b.read(first * b_bits / 8, count * b_bits / 8));
      const bool goes_on = take(left, right, first, count);
      done += count;
      ANDIRON_TRY(tally_.add(left.size() + right.size(), worker));
      if (!goes_on) {
        const std::uint64_t rest = stretch.count - done;
        return tally_.add(rest * a_bits / 8 + rest * b_bits / 8, worker);
      }
    }
    return {};
  }

  // Which pairs are not known to be equal.
  Result<std::vector<bool>> compare_bytes() {
    std::vector<std::atomic<bool>> differs(pairs_.size());
    std::vector<Stretch> stretches;
    for (const std::size_t i : order_) {
      const std::uint64_t size = a_.info(pairs_[i].a).byte_size;
      differs[i] = !bytes_decide(pairs_[i]) || b_.info(pairs_[i].b).byte_size != size;
      if (differs[i]) continue;
      append_stretches(stretches, i, size / unit_bytes(pairs_[i]));
      tally_.expect(2 * size);
    }
    ANDIRON_TRY(
        detail::run_tasks(stretches.size(), threads(), [&](std::size_t task, unsigned worker) {
          const std::size_t i = stretches[task].item;
          const unsigned bits = 8 * unit_bytes(pairs_[i]);
          // Nothing more is to be found out.
          if (differs[i]) return tally_.add(stretches[task].count * bits / 4, worker);
          return for_each_part(
              stretches[task], a_.snapshot(pairs_[i].a), b_.snapshot(pairs_[i].b), bits, bits,
              worker, [&](std::span<const std::byte> a, std::span<const std::byte> b, auto, auto) {
                if (std::memcmp(a.data(), b.data(), a.size()) != 0) differs[i] = true;
                return !differs[i];
              });
        }));
    return std::vector<bool>(differs.begin(), differs.end());
  }

  // Of an element, or of what is read at a time where elements are not whole bytes.
  unsigned unit_bytes(const Pair& pair) const {
    return std::max(1u, bit_width(a_.info(pair.a).dtype) / 8);
  }

  // Of an element that numbers_of() gives.
  static unsigned number_bits(DType dtype) {
    return bit_width(dtype == DType::qfloat ? DType::f32 : dtype);
  }

  Result<Measure> measure_of(const Pair& pair) const {
    const Result<TensorSnapshot> a = detail::numbers_of(a_.snapshot(pair.a));
    const Result<TensorSnapshot> b = detail::numbers_of(b_.snapshot(pair.b));
    for (const Result<TensorSnapshot>* const one : {&a, &b}) {
      if (*one) continue;
      const ErrorCode code = one->error().code;
      if (code != ErrorCode::unsupported && code != ErrorCode::unsupported_dtype) {
        return one->error();
      }
      return pair.is_one_dtype ? Measure::bytes : Measure::none;
    }
    return is_complex(a->dtype()) == is_complex(b->dtype()) ? Measure::numbers : Measure::none;
  }

  Status measure(const std::vector<bool>& differs) {
    std::vector<Measure> measures(pairs_.size());
    std::vector<Stretch> stretches;
    for (const std::size_t i : order_) {
      const Pair& pair = pairs_[i];
      if (!differs[i]) {
        ++result_.equal;
        continue;
      }
      ANDIRON_ASSIGN(measures[i], measure_of(pair));
      const TensorInfo a = a_.info(pair.a);
      const TensorInfo b = b_.info(pair.b);
      if (measures[i] == Measure::numbers) {
        ANDIRON_ASSIGN(const std::uint64_t count, Shape(a.shape).element_count());
        append_stretches(stretches, i, count);
        tally_.expect(count * number_bits(a.dtype) / 8 + count * number_bits(b.dtype) / 8);
      } else if (measures[i] == Measure::bytes) {
        const std::uint64_t both = std::min(a.byte_size, b.byte_size);
        append_stretches(stretches, i, both);
        tally_.expect(2 * both);
      }
    }
    std::vector<Distances> distances(stretches.size());
    ANDIRON_TRY(
        detail::run_tasks(stretches.size(), threads(), [&](std::size_t task, unsigned worker) {
          const std::size_t i = stretches[task].item;
          return measure_stretch(stretches[task], pairs_[i], measures[i], worker, distances[task]);
        }));
    std::size_t task = 0;
    for (const std::size_t i : order_) {
      if (!differs[i]) continue;
      Distances all;
      for (; task < stretches.size() && stretches[task].item == i; ++task) all.add(distances[task]);
      judge(pairs_[i], measures[i], all);
    }
    return {};
  }

  Status measure_stretch(const Stretch& stretch, const Pair& pair, Measure measure, unsigned worker,
                         Distances& out) {
    TensorSnapshot a = a_.snapshot(pair.a);
    TensorSnapshot b = b_.snapshot(pair.b);
    const bool in_bytes = measure == Measure::bytes;
    if (!in_bytes) {
      ANDIRON_ASSIGN(a, detail::numbers_of(a));
      ANDIRON_ASSIGN(b, detail::numbers_of(b));
    }
    const DType a_dtype = in_bytes ? DType::u8 : a.dtype();
    const DType b_dtype = in_bytes ? DType::u8 : b.dtype();
    detail::PairMeter& meter = in_bytes ? desks_[worker].bytes : desks_[worker].numbers;
    Distances all;
    ANDIRON_TRY(for_each_part(
        stretch, std::move(a), std::move(b), bit_width(a_dtype), bit_width(b_dtype), worker,
        [&](std::span<const std::byte> left, std::span<const std::byte> right, std::uint64_t first,
            std::uint64_t count) {
          for (std::uint64_t at = 0; at < count; at += detail::piece_elements) {
            const auto some = static_cast<std::size_t>(
                std::min<std::uint64_t>(detail::piece_elements, count - at));
            all.add(meter.measure(a_dtype, left.data() + at * bit_width(a_dtype) / 8, b_dtype,
                                  right.data() + at * bit_width(b_dtype) / 8, some, first + at));
          }
          return true;
        }));
    out = all;
    return {};
  }

  void judge(const Pair& pair, Measure measure, const Distances& distances) {
    std::optional<Distance> distance;
    if (measure != Measure::none) distance = distances.result();
    if (measure == Measure::bytes) finish_bytes(pair, *distance);
    if (!pair.is_one_dtype && (!options_.ignore_dtype || !distance)) {
      tell(DifferenceKind::dtype, pair.a, pair.b).distance = distance;
    } else if (distance->differing == 0) {
      ++result_.equal;
    } else {
      tell(distance->beyond == 0 ? DifferenceKind::close : DifferenceKind::values, pair.a, pair.b)
          .distance = distance;
    }
  }

  // Bytes that only one side has differ.
  void finish_bytes(const Pair& pair, Distance& distance) const {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const std::uint64_t a_size = a_.info(pair.a).byte_size;
    const std::uint64_t b_size = b_.info(pair.b).byte_size;
    const std::uint64_t both = std::min(a_size, b_size);
    distance.in_bytes = true;
    distance.elements = std::max(a_size, b_size);
    distance.differing += distance.elements - both;
    distance.beyond = distance.differing;
    if (!distance.first_beyond && distance.differing != 0) distance.first_beyond = both;
    distance.max_abs = distance.relative_l2 = distance.cosine = none;
    distance.max_abs_index.reset();
  }

  // The largest change first, and what cannot be measured before it.
  void sort_differences() {
    const auto size_of_change = [](const TensorDifference& one) {
      const bool is_sorted_by_it =
          one.kind == DifferenceKind::values || one.kind == DifferenceKind::close;
      if (!is_sorted_by_it) return 0.0;
      const Distance& distance = *one.distance;
      const bool is_measured = distance.not_finite == 0 && !std::isnan(distance.relative_l2);
      return is_measured ? distance.relative_l2 : std::numeric_limits<double>::infinity();
    };
    detail::sort(result_.differences.begin(), result_.differences.end(),
                 [&](const TensorDifference& x, const TensorDifference& y) {
                   if (x.kind != y.kind) return x.kind < y.kind;
                   const double x_size = size_of_change(x);
                   const double y_size = size_of_change(y);
                   if (x_size != y_size) return x_size > y_size;
                   if (natural_less(x.name(), y.name())) return true;
                   return !natural_less(y.name(), x.name()) && x.name() < y.name();
                 });
  }

  unsigned threads() const { return static_cast<unsigned>(desks_.size()); }

  const Archive& a_;
  const Archive& b_;
  const CompareOptions& options_;
  detail::ProgressTally tally_;
  std::vector<Desk> desks_;
  std::vector<Pair> pairs_;
  std::vector<detail::CompressedInputs> inputs_;  // of the pairs
  std::vector<std::size_t> order_;                // in which the pairs are read
  detail::ReadingTurns turns_;
  Comparison result_;
};

Status check_tolerance(const char* name, double tolerance) {
  if (tolerance >= 0) return {};
  return Error{.code = ErrorCode::invalid_argument,
               .message = std::string("the ") + name + " tolerance is out of range",
               .found = std::to_string(tolerance),
               .expected = "0 or more"};
}

}  // namespace

std::string_view difference_name(DifferenceKind kind) noexcept {
  constexpr std::string_view names[] = {"added", "removed", "renamed", "shape",
                                        "dtype", "values",  "close"};
  return names[static_cast<unsigned>(kind)];
}

std::size_t Comparison::count(DifferenceKind kind) const noexcept {
  return static_cast<std::size_t>(
      std::count_if(differences.begin(), differences.end(),
                    [kind](const TensorDifference& one) { return one.kind == kind; }));
}

bool Comparison::is_equal() const noexcept {
  return count(DifferenceKind::close) == differences.size() && metadata.empty() && values.empty() &&
         unlisted_values == 0;
}

Result<Comparison> compare(const Archive& a, const Archive& b, const CompareOptions& options)
    ANDIRON_NO_THROW {
  ANDIRON_TRY(check_tolerance("absolute", options.absolute_tolerance));
  ANDIRON_TRY(check_tolerance("relative", options.relative_tolerance));
  ANDIRON_ASSIGN(const Archive whole_a, a.with_ties_as_copies());
  ANDIRON_ASSIGN(const Archive whole_b, b.with_ties_as_copies());
  ANDIRON_ASSIGN(Comparison comparison, CompareRun(whole_a, whole_b, options).run());
  if (options.metadata) {
    comparison.metadata = detail::metadata_differences(a.metadata(), b.metadata());
    ANDIRON_ASSIGN(const Value a_value, a.value());
    ANDIRON_ASSIGN(const Value b_value, b.value());
    detail::ValueDifferences differences = detail::value_differences(a_value, b_value);
    comparison.values = std::move(differences.listed);
    comparison.unlisted_values = differences.unlisted;
  }
  return comparison;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
