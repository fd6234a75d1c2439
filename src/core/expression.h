// SPDX-License-Identifier: MIT OR Apache-2.0
// The lazy expression behind a TensorSnapshot: a strided leaf, or a join of others.
//
// Views (permute, slice, expand, most reshapes) fold into the leaf's strides and are pushed through
// joins; casts and signs are steps of the leaf's element map. A reshape that strides cannot express
// makes a new leaf whose source is the expression below it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/shape.h"
#include "src/core/element_map.h"
#include "src/core/strides.h"

namespace andiron::inline v1 {
struct CastLoss;
}

namespace andiron::inline v1::detail {

class Expression;
using ExpressionPtr = std::shared_ptr<const Expression>;

// Elements that are addressed one by one.
struct StridedLeaf {
  ByteSourcePtr source;
  std::uint64_t offset;
  Strides strides;
  ElementMap map;
};

// Sub-byte and opaque types: a run of bytes that is not taken apart.
struct PackedLeaf {
  ByteSourcePtr source;
  std::uint64_t offset;
  std::string raw_name;
};

struct Join {
  std::size_t dim;
  std::vector<ExpressionPtr> parts;  // at least two, none empty along dim
};

class Expression : public std::enable_shared_from_this<Expression> {
 public:
  using Node = std::variant<StridedLeaf, PackedLeaf, Join>;

  static Result<ExpressionPtr> strided(ByteSourcePtr source, std::uint64_t offset, DType dtype,
                                       Shape shape, std::span<const std::int64_t> byte_strides,
                                       bool big_endian);
  // Row-major bytes of any dtype.
  static Result<ExpressionPtr> contiguous(ByteSourcePtr source, std::uint64_t offset,
                                          std::uint64_t byte_count, DType dtype, Shape shape,
                                          std::string raw_name);

  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  std::uint64_t byte_size() const noexcept { return byte_size_; }
  const std::string& raw_name() const noexcept;

  // Offset and size are multiples of the element size and lie within byte_size().
  Status read_part(std::uint64_t offset, std::span<std::byte> out) const;
  // The source and offset of the bytes when they lie there as they will be read, or nullptr.
  const ByteSource* stored_run(std::uint64_t& offset) const noexcept;

  // Where the first element lies, or nullptr for a join.
  const ByteSource* place(std::uint64_t& offset) const noexcept;
  // What its source has; of a join, that of the first part that has some.
  CompressedData compressed_data() const noexcept;
  bool is_same_data(const Expression& other) const noexcept;

  Result<ExpressionPtr> permute(std::span<const std::size_t> dims) const;
  // `count` elements from `start` (in range) on, `step` apart.
  Result<ExpressionPtr> slice(std::size_t dim, std::uint64_t start, std::uint64_t count,
                              std::int64_t step) const;
  Result<ExpressionPtr> reshape(Shape shape) const;
  Result<ExpressionPtr> expand(const Shape& shape) const;
  Result<ExpressionPtr> apply(ElementStep::Kind kind, DType to) const;
  // A cast whose reads add to `loss`, if there is one.
  Result<ExpressionPtr> cast(DType to, std::shared_ptr<CastLoss> loss) const;
  static Result<ExpressionPtr> join(std::vector<ExpressionPtr> parts, std::size_t dim);

  // Only its own functions make one.
  class Key {
    friend class Expression;
    Key() = default;
  };
  Expression(Key, DType dtype, Shape shape, std::uint64_t byte_size, Node node, unsigned depth)
      : dtype_(dtype),
        shape_(std::move(shape)),
        byte_size_(byte_size),
        node_(std::move(node)),
        depth_(depth) {}

 private:
  static Result<ExpressionPtr> make(DType dtype, Shape shape, Node node, unsigned depth);
  // A row-major leaf over `source`, whose bytes are made by the expression below it.
  static Result<ExpressionPtr> over(ByteSourcePtr source, DType dtype, Shape shape, unsigned depth);
  ExpressionPtr self() const { return shared_from_this(); }
  Result<ExpressionPtr> with_strides(const StridedLeaf& leaf, std::uint64_t offset, Shape shape,
                                     Strides strides) const;
  Status read_join(const Join& join, std::uint64_t first, std::span<std::byte> out) const;
  bool is_row_major(const StridedLeaf& leaf) const noexcept;

  DType dtype_;
  Shape shape_;
  std::uint64_t byte_size_;
  Node node_;
  unsigned depth_;
};

}  // namespace andiron::inline v1::detail
