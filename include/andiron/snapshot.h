// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors that have not been read yet: one (TensorSnapshot), and lists of them (Snapshots).
//
//   TensorSnapshot weight = file.get("conv1.weight").value();
//   Tensor half = weight.cast(DType::f16).value().read().value();
//
// Functions that return no Result may throw std::bad_alloc (error.h).
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

struct CastLoss;

/// A named tensor whose data is read on request. A small value: it shares its source and outlives
/// the archive or store it came from. Const calls are safe from several threads at once.
///
/// The operations (transpose, slice, cast ...) return a changed snapshot immediately and read
/// nothing; read() copies the elements in one pass. They fail with InvalidArgument or ShapeMismatch
/// if the arguments do not fit the shape, UnsupportedDType if a conversion does not exist, Overflow
/// if a size does not fit in 64 bits, and LimitExceeded after max_expression_depth operations.
///
/// Sub-byte types can be reshaped, and sliced and joined on byte boundaries; f4e2m1 can also be
/// cast. Opaque types cannot be taken apart. Other operations on them fail with Unsupported.
class TensorSnapshot {
 public:
  /// An empty f32 tensor without a name.
  TensorSnapshot();
  /// A tensor in memory. Shares its bytes.
  TensorSnapshot(std::string path, const Tensor& tensor);

  /// Row-major little-endian bytes of `source`, starting at `offset`. `raw_name` is the name of a
  /// raw dtype, or the scheme's text of a quantized one. Fails with SizeMismatch if `byte_count`
  /// does not fit shape and dtype, and Truncated if the range passes the end of the source.
  static Result<TensorSnapshot> from_source(std::string path, ByteSourcePtr source,
                                            std::uint64_t offset, std::uint64_t byte_count,
                                            DType dtype, Shape shape, std::string raw_name = {});
  /// A strided view of `source`. Element (i, j, ...) starts at byte `offset + i * strides[0] + j *
  /// strides[1] ...`. Strides are in bytes and may be zero or negative. `big_endian` data is
  /// swapped when read. Fails with Truncated if an element is outside the source.
  static Result<TensorSnapshot> from_strided(std::string path, ByteSourcePtr source,
                                             std::uint64_t offset, DType dtype, Shape shape,
                                             std::span<const std::int64_t> byte_strides,
                                             bool big_endian = false);

  /// The dotted path of the tensor.
  const std::string& full_path() const& noexcept { return path_; }
  const Container& container() const& noexcept { return container_; }
  std::optional<ParamId> param_id() const noexcept { return param_id_; }
  DType dtype() const noexcept;
  /// The file's name for a raw dtype, or the scheme's text for a quantized one (quant_scheme_text).
  /// Otherwise empty.
  const std::string& raw_name() const& noexcept;
  /// The scheme of a quantized tensor; nothing for others.
  std::optional<QuantScheme> scheme() const;
  /// "f32", or "raw:NAME".
  std::string dtype_text() const;
  const Shape& shape() const& noexcept;
  /// The size of read()'s result in bytes.
  std::uint64_t byte_size() const noexcept;
  // Of a temporary, by value: `for (auto dim : file.get("w").value().shape())` is right.
  std::string full_path() && { return std::move(path_); }
  Container container() && { return std::move(container_); }
  std::string raw_name() && { return raw_name(); }
  Shape shape() && { return shape(); }

  /// Renames this snapshot.
  void set_full_path(std::string path) { path_ = std::move(path); }
  /// Copies with another path, container or id.
  TensorSnapshot with_path(std::string path) const&;
  TensorSnapshot with_path(std::string path) &&;
  TensorSnapshot with_container(Container container) const&;
  TensorSnapshot with_container(Container container) &&;
  TensorSnapshot with_param_id(std::optional<ParamId> id) const&;
  TensorSnapshot with_param_id(std::optional<ParamId> id) &&;

  /// Reads the data into new memory. Every call reads again.
  Result<Tensor> read() const;
  /// Burn's name for read().
  Result<TensorData> to_data() const { return read(); }
  /// Returns the data without a copy if the source can lend it and it is row-major there. Otherwise
  /// reads it. The tensor keeps the source's memory alive.
  Result<Tensor> borrow() const;
  /// True if borrow() would not copy.
  bool can_borrow() const noexcept;
  /// True if the data is in memory in the form that read() returns (ByteSource::in_memory), so that
  /// borrow() is free.
  bool is_in_memory() const noexcept;
  /// True if both are the same bytes of one source in the same arrangement, so that reading one is
  /// the same as reading the other. Always false for tensors without elements and for joined
  /// tensors.
  bool is_same_data(const TensorSnapshot& other) const noexcept;
  /// Returns a tensor of this dtype and shape over `bytes`. Fails with SizeMismatch if their number
  /// is wrong.
  Result<Tensor> with_bytes(Bytes bytes) const;
  /// Reads the data into `out`, which must have exactly byte_size() bytes.
  Status read_into(std::span<std::byte> out) const;
  /// Reads part of the data, starting at byte `offset`. For tensors larger than memory. Offset and
  /// size must be multiples of the element size.
  Status read_part(std::uint64_t offset, std::span<std::byte> out) const;

  /// Swaps two dimensions.
  Result<TensorSnapshot> transpose(std::size_t dim0, std::size_t dim1) const;
  /// Reorders dimensions: dimension i of the result is dimension `dims[i]`.
  Result<TensorSnapshot> permute(std::span<const std::size_t> dims) const;
  Result<TensorSnapshot> permute(std::initializer_list<std::size_t> dims) const {
    return permute(std::span(dims.begin(), dims.size()));
  }
  /// Selects elements start, start + step, ... before stop along one dimension, as Python slices
  /// do: negative values count from the end, bounds are clamped, and a negative step runs
  /// backwards. Only the selected elements are read.
  Result<TensorSnapshot> slice(std::size_t dim, std::optional<std::int64_t> start,
                               std::optional<std::int64_t> stop, std::int64_t step = 1) const;
  /// Changes the shape; the elements stay in row-major order.
  Result<TensorSnapshot> reshape(Shape shape) const;
  /// Drops a dimension of size 1.
  Result<TensorSnapshot> squeeze(std::size_t dim) const;
  /// Inserts a dimension of size 1.
  Result<TensorSnapshot> unsqueeze(std::size_t dim) const;
  /// Repeats dimensions of size 1, and adds leading dimensions, up to `shape`.
  Result<TensorSnapshot> expand(const Shape& shape) const;
  /// Converts elements. To floats: rounds to nearest even. Floats to integers: rounds toward zero
  /// and clamps. Between integers: wraps. bool becomes 0 or 1; to bool, every nonzero element is
  /// true. Complex types convert only to each other.
  Result<TensorSnapshot> cast(DType dtype) const;
  /// Also counts the elements that the cast loses: every read of the result adds to `loss`. Slower,
  /// because each element is compared before and after. Without `loss`, a plain cast.
  Result<TensorSnapshot> cast(DType dtype, std::shared_ptr<CastLoss> loss) const;
  /// Changes the sign. Integers wrap. Fails with UnsupportedDType for bool and f8e8m0.
  Result<TensorSnapshot> negate() const;
  /// Complex conjugate. Other types are unchanged.
  Result<TensorSnapshot> conjugate() const;

  /// Joins tensors of one dtype along a dimension. All other dimensions must be equal. The result
  /// has the first tensor's path.
  static Result<TensorSnapshot> concat(std::span<const TensorSnapshot> parts, std::size_t dim);
  /// Joins tensors of one dtype and shape along a new dimension.
  static Result<TensorSnapshot> stack(std::span<const TensorSnapshot> parts, std::size_t dim);

 private:
  friend class Archive;
  friend const detail::Expression& detail::expression_of(const TensorSnapshot& snapshot) noexcept;
  TensorSnapshot(std::string path, std::optional<ParamId> id, detail::ExpressionPtr expression)
      : path_(std::move(path)), param_id_(id), expression_(std::move(expression)) {}
  Result<TensorSnapshot> with(Result<detail::ExpressionPtr> expression) const;
  Error annotate(Error error) const;

  std::string path_;
  Container container_;
  std::optional<ParamId> param_id_;
  detail::ExpressionPtr expression_;
};

/// What reads of a cast lost. Reads on any thread add to it.
struct CastLoss {
  /// Elements beyond the range of the new dtype. They became infinite or NaN, or were clamped or
  /// wrapped.
  std::atomic<std::uint64_t> overflowed = 0;
  /// Elements other than 0 that became 0.
  std::atomic<std::uint64_t> underflowed = 0;
};

/// A list of named tensors, to look through, rename, filter and join before they are applied. Names
/// may repeat; apply() uses the later tensor.
///
///   Snapshots merged = collect(base).value();
///   merged.extend(collect(specialist, {.filter = encoder}).value());
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
  /// Removes the tensors for which `test` returns true.
  template <class Test>
  void remove_if(Test test) {
    std::erase_if(list_, test);
  }
  /// Returns the last tensor with this name, or nullptr. O(n).
  const TensorSnapshot* find(std::string_view full_path) const noexcept {
    for (std::size_t i = list_.size(); i > 0; --i) {
      if (list_[i - 1].full_path() == full_path) return &list_[i - 1];
    }
    return nullptr;
  }
  /// Returns the names, in order.
  std::vector<std::string> keys() const {
    std::vector<std::string> names;
    names.reserve(list_.size());
    for (const TensorSnapshot& snapshot : list_) names.push_back(snapshot.full_path());
    return names;
  }

 private:
  std::vector<TensorSnapshot> list_;
};

/// Returns the list as an archive. If a name repeats, the later tensor is used, and a note says so.
Result<Archive> to_archive(const Snapshots& snapshots);

}  // namespace andiron::inline v1
