// SPDX-License-Identifier: MIT OR Apache-2.0
// What differs between the tensors of two archives, whatever their formats.
//
//   Comparison found = compare(open("a.pt").value(), open("b.safetensors").value()).value();
//   for (const TensorDifference& one : found.differences) print(one.name());
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/progress.h"
#include "andiron/shape.h"

namespace andiron::inline v1 {

/// In what two tensors differ, or two archives.
enum class DifferenceKind : std::uint8_t {
  added,    ///< only b has the name
  removed,  ///< only a has the name
  renamed,  ///< a removed and an added tensor have the same dtype, shape and bytes
  shape,    ///< the shapes differ; the elements were not compared
  dtype,    ///< the dtypes differ, the shapes do not. `distance` tells whether the numbers do
  values,   ///< elements differ by more than the tolerances allow
  close,    ///< elements differ, but the tolerances allow it. This counts as equal
};

/// Returns "added", "removed", "renamed", "shape", "dtype", "values" or "close".
std::string_view difference_name(DifferenceKind kind) noexcept;

/// How far apart the elements of two tensors of one shape are.
///
/// Elements are equal if they are equal as numbers: 0 and -0 are, and NaN equals NaN unless
/// CompareOptions::nan_equals_nan is false. They are within the tolerances if
/// |a - b| <= absolute_tolerance + relative_tolerance * |b|, as in NumPy's allclose; elements of
/// which one is NaN or infinite are so only if they are equal. For complex elements, |a - b| is the
/// magnitude of the difference.
struct Distance {
  std::uint64_t elements = 0;   ///< that were compared
  std::uint64_t differing = 0;  ///< that are not equal
  std::uint64_t beyond = 0;     ///< of these, not within the tolerances
  /// Of those that differ, how many have a NaN or an infinity on one side. They have no part in
  /// max_abs, relative_l2 and cosine.
  std::uint64_t not_finite = 0;
  /// The row-major index of the first element that is not within the tolerances.
  std::optional<std::uint64_t> first_beyond = {};

  double max_abs = 0;                               ///< the largest |a - b|
  std::optional<std::uint64_t> max_abs_index = {};  ///< of the first element where it is that large
  /// The L2 norm of a - b, divided by that of a. Infinite if a is 0.
  double relative_l2 = 0;
  /// The cosine of the angle between a and b as vectors. NaN if one of them is 0.
  double cosine = 1;

  /// The elements are not known as numbers (Statistics::refused): bytes were compared. The counts
  /// and `first_beyond` are of bytes, and the measures are NaN.
  bool in_bytes = false;
};

/// A tensor as its archive describes it.
struct ComparedTensor {
  std::string name;
  std::string dtype;  ///< "f32", "qfloat", "raw:NAME"
  Shape shape;
  std::string scheme = {};  ///< of a quantized tensor
};

struct TensorDifference {
  DifferenceKind kind = DifferenceKind::values;
  std::optional<ComparedTensor> a = {};  ///< nothing if it was added
  std::optional<ComparedTensor> b = {};  ///< nothing if it was removed
  /// Set for `values` and `close`, and for `dtype` unless the numbers cannot be compared.
  std::optional<Distance> distance = {};
  /// For `renamed`: several removed or added tensors have these bytes. Those whose names end alike
  /// are paired, which may not be how they were renamed.
  bool is_ambiguous = false;

  /// The name in a, or in b if it was added.
  const std::string& name() const noexcept { return a ? a->name : b->name; }
};

/// An entry of the metadata, or a value beside the tensors, that differs.
struct EntryDifference {
  std::string key;  ///< of a value, the path from the top
  /// Nothing if only the other side has the entry. Values are JSON, NaN "NaN"; `list` and `dict`
  /// without quotes stand for what is a list on one side and a dict on the other.
  std::optional<std::string> a = {};
  std::optional<std::string> b = {};
};

/// The outcome of compare().
struct Comparison {
  std::uint64_t equal =
      0;  ///< tensors of both sides that are equal; those that are close not included
  /// In the order of DifferenceKind, and within a kind in natural order of names; `values` and
  /// `close` with the largest relative_l2 first.
  std::vector<TensorDifference> differences;
  /// With CompareOptions::metadata: entries of the string metadata, in order of keys.
  std::vector<EntryDifference> metadata;
  /// With CompareOptions::metadata: what is not a tensor in Archive::value(), in order of keys.
  std::vector<EntryDifference> values;
  std::uint64_t unlisted_values = 0;  ///< more of these; about 16 MiB of text are listed

  std::size_t count(DifferenceKind kind) const noexcept;
  /// True if nothing differs but what is `close`.
  bool is_equal() const noexcept;
};

struct CompareOptions {
  double absolute_tolerance = 0;
  double relative_tolerance = 0;
  bool nan_equals_nan = true;
  /// Tensors whose dtypes differ are judged by their numbers alone.
  bool ignore_dtype = false;
  /// Looks for tensors that were renamed, which reads those that only one side has.
  bool find_renamed = true;
  /// Also compares the string metadata, and the values beside the tensors.
  bool metadata = false;
  /// Threads that read and compare, the calling one included; 0 for one per processor, at most 8.
  /// They end before the function returns. The result does not depend on their number.
  unsigned threads = 0;
  /// Tensor data that each thread holds at once, at least 128 KiB.
  std::uint64_t window_bytes = Limits().window_bytes;
  /// The total grows when tensors turn out to differ: they are read a second time.
  Progress progress = {};
};

/// Compares the tensors of two archives by name. The archives may have any format, shards, strides
/// and byte order; rename them first (apply_names) if their names differ. Aliases count as tensors.
///
/// Tensors of one dtype are first compared as bytes. Those that differ are read again to measure by
/// how much, in doubles; 64-bit integers are compared exactly. Memory does not grow with the
/// tensors.
///
/// Fails with InvalidArgument if a tolerance is negative or NaN, Cancelled, and the errors of
/// reading.
Result<Comparison> compare(const Archive& a, const Archive& b, const CompareOptions& options = {});

}  // namespace andiron::inline v1
