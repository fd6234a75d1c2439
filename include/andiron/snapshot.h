// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors that have not been read yet: one, and lists of them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/param_id.h"
#include "andiron/place.h"
#include "andiron/shape.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {

class Archive;

class TensorSnapshot;
namespace detail {
class Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;
const Expression& expression_of(const TensorSnapshot& snapshot) noexcept;
}  // namespace detail

/// What reads of a cast lost. Reads add to it from any thread.
struct CastLoss {
  /// Elements beyond the range of the new dtype: they became infinite or NaN, or were clamped or
  /// wrapped.
  std::atomic<std::uint64_t> overflowed = 0;
  /// Elements other than 0 that became 0.
  std::atomic<std::uint64_t> underflowed = 0;
};

/// A named tensor whose data is fetched when asked for. A small immutable value: it shares what it
/// reads from, outlives the archive or store it came from, and is safe to use from several threads.
///
/// The operations (transpose, slice, cast ...) return a changed snapshot at once and read nothing;
/// the data is gathered in one pass when read. They fail for
/// arguments that do not fit the shape, for conversions that do not exist (UnsupportedDType), for
/// sizes beyond 64 bits (Overflow) and after max_expression_depth operations (LimitExceeded).
/// Sub-byte types can be sliced on byte boundaries and reshaped, opaque types are taken whole:
/// anything else is Unsupported.
class TensorSnapshot {
 public:
  /// An empty f32 tensor without a name.
  TensorSnapshot();
  /// A tensor in memory.
  TensorSnapshot(std::string path, const Tensor& tensor);

  /// A run of row-major little-endian bytes in `source`. SizeMismatch when the range does not fit
  /// shape and dtype, Truncated when it leaves the source. `raw_name` names a raw dtype, or
  /// gives the text of a quantized one's scheme.
  static Result<TensorSnapshot> from_source(std::string path, ByteSourcePtr source,
                                            std::uint64_t offset, std::uint64_t byte_count,
                                            DType dtype, Shape shape, std::string raw_name = {});
  /// A strided view of `source`: element (i, j, ...) starts at byte `offset + i * strides[0] + j *
  /// strides[1] ...`; strides count bytes and may be zero or negative. `big_endian` data is swapped
  /// when read. Truncated when any element leaves the source.
  static Result<TensorSnapshot> from_strided(std::string path, ByteSourcePtr source,
                                             std::uint64_t offset, DType dtype, Shape shape,
                                             std::span<const std::int64_t> byte_strides,
                                             bool big_endian = false);

  /// Dotted path of the tensor.
  const std::string& full_path() const noexcept { return path_; }
  const Container& container() const noexcept { return container_; }
  std::optional<ParamId> param_id() const noexcept { return param_id_; }
  DType dtype() const noexcept;
  /// NAME of a raw tensor, the scheme's text of a quantized one (quantized.h); empty otherwise.
  const std::string& raw_name() const noexcept;
  /// How a quantized tensor is made; nothing for others.
  std::optional<QuantScheme> scheme() const;
  /// "f32", or "raw:NAME".
  std::string dtype_text() const;
  const Shape& shape() const noexcept;
  /// Bytes that read() gives.
  std::uint64_t byte_size() const noexcept;

  /// Renames this snapshot.
  void set_full_path(std::string path) { path_ = std::move(path); }
  TensorSnapshot with_path(std::string path) const&;
  TensorSnapshot with_path(std::string path) &&;
  TensorSnapshot with_container(Container container) const&;
  TensorSnapshot with_container(Container container) &&;
  TensorSnapshot with_param_id(std::optional<ParamId> id) const&;
  TensorSnapshot with_param_id(std::optional<ParamId> id) &&;

  /// Reads the data into fresh memory. Each call reads anew.
  Result<Tensor> read() const;
  /// Burn's name for read().
  Result<TensorData> to_data() const { return read(); }
  /// The data without a copy where the source can lend it and it lies there row by row; otherwise
  /// reads it.
  Result<Tensor> borrow() const;
  /// Whether borrow() would not copy.
  bool can_borrow() const noexcept;
  /// Whether the data lies in memory as it is read (ByteSource::in_memory), so that borrow() costs
  /// nothing.
  bool is_in_memory() const noexcept;
  /// Whether both are the same bytes of one source in the same arrangement, so that reading one is
  /// reading the other. Tensors without elements, and joined ones, are never the same.
  bool is_same_data(const TensorSnapshot& other) const noexcept;
  /// Bytes that were read elsewhere as a tensor of this dtype and shape. SizeMismatch when they are
  /// too few or too many.
  Result<Tensor> with_bytes(Bytes bytes) const;
  /// Reads the data into `out`, which must have exactly byte_size() bytes.
  Status read_into(std::span<std::byte> out) const;
  /// Reads the part of the data that starts at byte `offset`, to work through a tensor larger than
  /// memory. Offset and size must be multiples of the element size.
  Status read_part(std::uint64_t offset, std::span<std::byte> out) const;

  /// Swaps two dimensions.
  Result<TensorSnapshot> transpose(std::size_t dim0, std::size_t dim1) const;
  /// Dimension i of the result is dimension `dims[i]` of this.
  Result<TensorSnapshot> permute(std::span<const std::size_t> dims) const;
  Result<TensorSnapshot> permute(std::initializer_list<std::size_t> dims) const {
    return permute(std::span(dims.begin(), dims.size()));
  }
  /// Elements start, start + step, ... before stop along one dimension, as Python's slices:
  /// negative numbers count from the end, bounds are clamped, a negative step runs backwards. Only
  /// the selected elements are read.
  Result<TensorSnapshot> slice(std::size_t dim, std::optional<std::int64_t> start,
                               std::optional<std::int64_t> stop, std::int64_t step = 1) const;
  /// The same elements in row-major order under another shape.
  Result<TensorSnapshot> reshape(Shape shape) const;
  /// Drops a dimension of size 1.
  Result<TensorSnapshot> squeeze(std::size_t dim) const;
  /// Inserts a dimension of size 1.
  Result<TensorSnapshot> unsqueeze(std::size_t dim) const;
  /// Repeats dimensions of size 1, and adds leading ones, up to `shape`.
  Result<TensorSnapshot> expand(const Shape& shape) const;
  /// Converts numbers: to floats by nearest-even, to integers toward zero and clamped, between
  /// integers by wrapping. bool gives 0 and 1; to bool, anything but zero is true. Complex types
  /// convert to each other.
  Result<TensorSnapshot> cast(DType dtype) const;
  /// The same, and every read of the result adds to `loss` what it lost. Slower: each element is
  /// looked at twice.
  Result<TensorSnapshot> cast(DType dtype, std::shared_ptr<CastLoss> loss) const;
  /// Changes the sign; integers wrap. UnsupportedDType for bool and f8e8m0, which have none.
  Result<TensorSnapshot> negate() const;
  /// Complex conjugate; other types are unchanged.
  Result<TensorSnapshot> conjugate() const;

  /// Joins tensors of one dtype along a dimension; all other dimensions agree. The result has the
  /// first one's path.
  static Result<TensorSnapshot> concat(std::span<const TensorSnapshot> parts, std::size_t dim);
  /// Joins tensors of one shape along a new dimension.
  static Result<TensorSnapshot> stack(std::span<const TensorSnapshot> parts, std::size_t dim);

 private:
  friend class Archive;
  friend const detail::Expression& detail::expression_of(const TensorSnapshot& snapshot) noexcept;
  Result<TensorSnapshot> with(Result<detail::ExpressionPtr> expression) const;
  Error annotate(Error error) const;

  std::string path_;
  Container container_;
  std::optional<ParamId> param_id_;
  detail::ExpressionPtr expression_;
};

/// Named tensors in an order, to look through, rename, thin out and join before they are applied.
/// Names may repeat: where such a list is applied, the later tensor counts.
///
///   Snapshots merged = collect(base).value();
///   merged.extend(collect(specialised, {.filter = encoder}).value());
///   for (TensorSnapshot& tensor : merged) tensor.set_full_path("model." + tensor.full_path());
class Snapshots {
 public:
  using iterator = std::vector<TensorSnapshot>::iterator;
  using const_iterator = std::vector<TensorSnapshot>::const_iterator;
  using value_type = TensorSnapshot;

  Snapshots() = default;
  explicit Snapshots(std::vector<TensorSnapshot> list) : list_(std::move(list)) {}

  std::size_t size() const noexcept { return list_.size(); }
  bool empty() const noexcept { return list_.empty(); }
  TensorSnapshot& operator[](std::size_t index) { return list_[index]; }
  const TensorSnapshot& operator[](std::size_t index) const { return list_[index]; }
  iterator begin() noexcept { return list_.begin(); }
  iterator end() noexcept { return list_.end(); }
  const_iterator begin() const noexcept { return list_.begin(); }
  const_iterator end() const noexcept { return list_.end(); }

  void reserve(std::size_t count) { list_.reserve(count); }
  void push_back(TensorSnapshot snapshot) { list_.push_back(std::move(snapshot)); }
  /// Appends all of `others`.
  void extend(Snapshots others) {
    for (TensorSnapshot& other : others) list_.push_back(std::move(other));
  }
  /// Drops the tensors for which `test` is true.
  template <class Test>
  void remove_if(Test test) {
    std::erase_if(list_, test);
  }
  /// The last tensor of that name, which is the one that counts; nullptr when there is none.
  /// Linear.
  const TensorSnapshot* find(std::string_view full_path) const noexcept {
    for (std::size_t i = list_.size(); i > 0; --i) {
      if (list_[i - 1].full_path() == full_path) return &list_[i - 1];
    }
    return nullptr;
  }
  /// The names, in order.
  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    names.reserve(list_.size());
    for (const TensorSnapshot& snapshot : list_) names.push_back(snapshot.full_path());
    return names;
  }

 private:
  std::vector<TensorSnapshot> list_;
};

/// The list as an archive. Of equal names the later one is taken, and a note says so.
Result<Archive> to_archive(const Snapshots& snapshots);

}  // namespace andiron::inline v1
