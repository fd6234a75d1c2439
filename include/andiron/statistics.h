// SPDX-License-Identifier: MIT OR Apache-2.0
// Statistics of tensors, in one pass over their data.
//
//   Statistics weight = statistics(file.get("conv1.weight").value()).value();
//   if (!weight.is_finite()) warn(weight.nans);
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/progress.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1 {

namespace detail {
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
}

/// An element as it is: std::int64_t for signed integers, std::uint64_t for unsigned ones and bool,
/// double for floats.
using Number = std::variant<std::int64_t, std::uint64_t, double>;

/// Returns the nearest double.
inline double to_double(const Number& number) noexcept {
  if (const auto* held = std::get_if<std::int64_t>(&number)) return static_cast<double>(*held);
  if (const auto* held = std::get_if<std::uint64_t>(&number)) return static_cast<double>(*held);
  const auto* held = std::get_if<double>(&number);
  return held != nullptr ? *held : detail::not_a_number;
}

/// How the finite elements are distributed. Bin i counts the elements from low + i * width up to,
/// but without, low + (i + 1) * width, where width is (high - low) / counts.size(); the last bin
/// includes `high`. If all are equal, they are in the first bin.
struct Histogram {
  double low = 0;   ///< the smallest finite element
  double high = 0;  ///< the largest
  std::vector<std::uint64_t> counts;
};

/// Statistics of the elements of a tensor.
///
/// The statistics of a complex tensor are those of the magnitudes of its elements; an element is
/// NaN if a part of it is, else infinite if a part is. A quantized tensor has the statistics of the
/// elements that dequantize() gives.
struct Statistics {
  std::uint64_t count = 0;  ///< of all elements
  std::uint64_t zeros = 0;  ///< negative zeros too
  std::uint64_t nans = 0;
  std::uint64_t positive_infinities = 0;
  std::uint64_t negative_infinities = 0;

  // Of the finite elements alone. All are NaN if there are none.
  Number min = detail::not_a_number;
  Number max = detail::not_a_number;
  Number abs_max = detail::not_a_number;  ///< the largest magnitude
  double mean = detail::not_a_number;
  double standard_deviation =
      detail::not_a_number;  ///< of the population: divided by the number of elements
  /// The square root of the sum of squares; 0 if there are no finite elements. Infinite only if it
  /// is larger than the largest double.
  double l2 = 0;
  /// If it was asked for and there are finite elements.
  std::optional<Histogram> histogram = {};

  /// Why only `count` is known: the dtype is raw, f6e2m3 or f6e3m2, or a quantized one that
  /// dequantize() does not know. Otherwise empty.
  Message refused = {};

  std::uint64_t infinities() const noexcept { return positive_infinities + negative_infinities; }
  /// True if no element is NaN or infinite.
  bool is_finite() const noexcept { return nans == 0 && infinities() == 0; }
};

struct StatisticsOptions {
  /// Bins of the histogram, at most 65 536, and 2^26 for all tensors of an archive together; 0 for
  /// none. A histogram takes a second pass over the data.
  std::size_t histogram_bins = 0;
  /// Threads that read and compute, the calling one included; 0 for one per processor, at most 8.
  /// They end before the function returns. The result does not depend on their number.
  unsigned threads = 0;
  /// Tensor data that each thread holds at once, at least 64 KiB. The result does not depend on it.
  std::uint64_t window_bytes = Limits().window_bytes;
  Progress progress = {};
};

/// Computes the statistics of a tensor. Integers of 64 bits are exact in `min`, `max` and
/// `abs_max`, and rounded to doubles for the rest. `mean`, `standard_deviation` and `l2` are
/// computed in doubles with compensated sums; the error is below 1e-12 of the largest magnitude,
/// that of `l2` below 1e-12 of itself.
///
/// Reads the data once, or twice with a histogram, in parts: memory does not grow with the tensor.
/// Fails with UnsupportedDType or Unsupported where `refused` would say why, InvalidArgument for
/// too many bins, Cancelled, and the errors of reading.
Result<Statistics> statistics(const TensorSnapshot& snapshot,
                              const StatisticsOptions& options = {});

/// The same for each tensor, in the order of the archive. Tensors whose elements are not known as
/// numbers are told by `refused` instead of an error. Tied tensors are read once. Several tensors,
/// and several parts of one, are read at a time.
Result<std::vector<Statistics>> statistics(const Archive& archive,
                                           const StatisticsOptions& options = {});

}  // namespace andiron::inline v1
