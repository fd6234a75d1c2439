// SPDX-License-Identifier: MIT OR Apache-2.0
// Building expressions. Tested by tests/core/snapshot_test.cpp
#include "src/core/expression.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "andiron/limits.h"
#include "andiron/tensor.h"
#include "src/core/cast_source.h"
#include "src/core/check_limit.h"
#include "src/core/expression_source.h"
#include "src/core/kernels/convert.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

std::string dtype_and_shape(DType dtype, const Shape& shape) {
  return std::string(dtype_name(dtype)) + " " + shape.to_string();
}

Error unsupported_packed(DType dtype, const Shape& shape, std::string_view operation) {
  return Error{.code = ErrorCode::unsupported,
               .message = std::string(operation) + " would split packed elements",
               .found = dtype_and_shape(dtype, shape),
               .expected = is_opaque(dtype) ? "the whole tensor" : "whole bytes of elements",
               .hint = is_opaque(dtype) ? "" : "cast it to f32 first"};
}

bool has_no_elements(const Shape& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

Strides row_major_strides(const Shape& shape, std::uint64_t width) {
  Strides strides(shape.rank());
  if (has_no_elements(shape)) return strides;
  std::uint64_t step = width;
  for (std::size_t d = shape.rank(); d-- > 0;) {
    strides[d] = static_cast<std::int64_t>(step);
    step *= shape[d];
  }
  return strides;
}

// Dimensions other than 1, in order.
std::vector<std::uint64_t> without_ones(const Shape& shape) {
  std::vector<std::uint64_t> dims;
  for (std::uint64_t dim : shape) {
    if (dim != 1) dims.push_back(dim);
  }
  return dims;
}

// Strides that show the elements of (shape, strides) in row-major order as `wanted`, or nothing
// when no strides can. Dimensions that continue each other form a chunk; each chunk is cut up anew.
std::optional<Strides> fold_reshape(const Shape& shape, const Strides& strides,
                                    const Shape& wanted) {
  Strides folded(wanted.rank());
  std::size_t next = wanted.rank();
  std::uint64_t chunk = 1;
  std::int64_t step = 0;
  for (std::size_t d = shape.rank(); d-- > 0;) {
    if (chunk == 1) step = strides[d];
    chunk *= shape[d];
    // One step behind the last element may be more than a stride can say.
    const auto steps = [&](std::uint64_t count) {
      return static_cast<std::int64_t>(count * static_cast<std::uint64_t>(step));
    };
    const bool ends = d == 0 || (shape[d - 1] != 1 && strides[d - 1] != steps(chunk));
    if (!ends) continue;
    std::uint64_t taken = 1;
    while (next > 0 && (taken < chunk || wanted[next - 1] == 1)) {
      --next;
      folded[next] = steps(taken);
      taken *= wanted[next];
    }
    if (taken != chunk) return std::nullopt;
    chunk = 1;
  }
  return folded;
}

Status check_depth(unsigned depth) {
  Status status = check_limit(depth, max_expression_depth,
                              {"too many operations on an unread tensor", nullptr, "levels"});
  if (status) return {};
  Error error = std::move(status).error();
  error.hint = "read it and continue with the result";
  return error;
}

}  // namespace

const std::string& Expression::raw_name() const noexcept {
  static const std::string none;
  const auto* packed = std::get_if<PackedLeaf>(&node_);
  return packed != nullptr ? packed->raw_name : none;
}

const ByteSource* Expression::place(std::uint64_t& offset) const noexcept {
  if (const auto* leaf = std::get_if<StridedLeaf>(&node_)) {
    offset = leaf->offset;
    return leaf->source.get();
  }
  if (const auto* packed = std::get_if<PackedLeaf>(&node_)) {
    offset = packed->offset;
    return packed->source.get();
  }
  return nullptr;
}

CompressedData Expression::compressed_data() const noexcept {
  std::uint64_t offset = 0;
  if (const ByteSource* source = place(offset)) return source->compressed_data();
  for (const ExpressionPtr& part : std::get<Join>(node_).parts) {
    const CompressedData data = part->compressed_data();
    if (data.source != nullptr) return data;
  }
  return {};
}

bool Expression::is_same_data(const Expression& other) const noexcept {
  if (byte_size_ == 0 || byte_size_ != other.byte_size_ || dtype_ != other.dtype_ ||
      shape_ != other.shape_) {
    return false;
  }
  std::uint64_t offset = 0;
  std::uint64_t other_offset = 0;
  const ByteSource* source = place(offset);
  if (source == nullptr || source != other.place(other_offset) || offset != other_offset) {
    return false;
  }
  const auto* leaf = std::get_if<StridedLeaf>(&node_);
  const auto* other_leaf = std::get_if<StridedLeaf>(&other.node_);
  if (leaf == nullptr || other_leaf == nullptr) {
    return leaf == other_leaf && raw_name() == other.raw_name();
  }
  // The stride of a dimension of one element means nothing.
  for (std::size_t d = 0; d < shape_.rank(); ++d) {
    if (shape_[d] != 1 && leaf->strides[d] != other_leaf->strides[d]) return false;
  }
  return leaf->map == other_leaf->map;
}

Result<ExpressionPtr> Expression::make(DType dtype, Shape shape, Node node, unsigned depth) {
  ANDIRON_TRY(check_depth(depth));
  ANDIRON_TRY(shape.check_rank());
  ANDIRON_ASSIGN(const std::uint64_t bytes, shape.byte_count(dtype));
  return ExpressionPtr(std::make_shared<const Expression>(Key(), dtype, std::move(shape), bytes,
                                                          std::move(node), depth));
}

Result<ExpressionPtr> Expression::strided(ByteSourcePtr source, std::uint64_t offset, DType dtype,
                                          Shape shape, std::span<const std::int64_t> byte_strides,
                                          bool big_endian) {
  if (byte_strides.size() != shape.rank() || bit_width(dtype) % 8 != 0 || is_opaque(dtype)) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "these strides do not fit the dtype and shape",
                 .found = dtype_and_shape(dtype, shape) + " with " +
                          std::to_string(byte_strides.size()) + " strides"};
  }
  Strides strides(byte_strides);
  if (has_no_elements(shape)) {
    strides.set_all_to_zero();
    offset = 0;
  } else {
    std::uint64_t below = 0;
    std::uint64_t above = bit_width(dtype) / 8;
    bool fits = true;
    for (std::size_t d = 0; d < shape.rank() && fits; ++d) {
      std::uint64_t reach = 0;
      std::uint64_t& side = strides[d] < 0 ? below : above;
      // Reading adds strides up in 64 bits with a sign.
      fits = !__builtin_mul_overflow(shape[d] - 1, stride_size(strides[d]), &reach) &&
             !__builtin_add_overflow(side, reach, &side) && side <= INT64_MAX;
    }
    if (!fits || below > offset || offset > source->size() || above > source->size() - offset) {
      return Error{.code = ErrorCode::truncated,
                   .message = "the elements go past the end of their storage",
                   .file = source->name(),
                   .found = dtype_and_shape(dtype, shape) + " from byte " + std::to_string(offset),
                   .expected = "all elements within " + std::to_string(source->size()) + " bytes"};
    }
  }
  return make(
      dtype, std::move(shape),
      StridedLeaf{std::move(source), offset, std::move(strides), ElementMap(dtype, big_endian)}, 1);
}

Result<ExpressionPtr> Expression::contiguous(ByteSourcePtr source, std::uint64_t offset,
                                             std::uint64_t byte_count, DType dtype, Shape shape,
                                             std::string raw_name) {
  if (!is_opaque(dtype)) {
    ANDIRON_ASSIGN(const std::uint64_t wanted, shape.byte_count(dtype));
    if (byte_count != wanted) {
      return Error{.code = ErrorCode::size_mismatch,
                   .message = "the data size does not match dtype and shape",
                   .file = source->name(),
                   .found = std::to_string(byte_count) + " bytes",
                   .expected = std::to_string(wanted) + " for " + dtype_and_shape(dtype, shape)};
    }
  }
  if (offset > source->size() || byte_count > source->size() - offset) {
    return Error{.code = ErrorCode::truncated,
                 .message = "the data extends past the end of its file",
                 .file = source->name(),
                 .found = std::to_string(byte_count) + " bytes from " + std::to_string(offset),
                 .expected = "a range within " + std::to_string(source->size()) + " bytes"};
  }
  if (!is_opaque(dtype) && !is_sub_byte(dtype)) {
    Strides strides = row_major_strides(shape, bit_width(dtype) / 8);
    return make(dtype, std::move(shape),
                StridedLeaf{std::move(source), byte_count == 0 ? 0 : offset, std::move(strides),
                            ElementMap(dtype, false)},
                1);
  }
  ANDIRON_TRY(shape.check_rank());
  if (dtype == DType::qfloat) ANDIRON_TRY(quant_scheme_from_text(raw_name));
  return ExpressionPtr(std::make_shared<const Expression>(
      Key(), dtype, std::move(shape), byte_count,
      PackedLeaf{std::move(source), offset, std::move(raw_name)}, 1));
}

Result<ExpressionPtr> Expression::over(ByteSourcePtr source, DType dtype, Shape shape,
                                       unsigned depth) {
  Node node = PackedLeaf{source, 0, {}};
  if (!is_sub_byte(dtype)) {
    Strides strides = row_major_strides(shape, bit_width(dtype) / 8);
    node = StridedLeaf{std::move(source), 0, std::move(strides), ElementMap(dtype, false)};
  }
  return make(dtype, std::move(shape), std::move(node), depth + 1);
}

Result<ExpressionPtr> Expression::with_strides(const StridedLeaf& leaf, std::uint64_t offset,
                                               Shape shape, Strides strides) const {
  return make(dtype_, std::move(shape),
              StridedLeaf{leaf.source, offset, std::move(strides), leaf.map}, depth_);
}

Result<ExpressionPtr> Expression::permute(std::span<const std::size_t> dims) const {
  Shape shape = shape_;
  for (std::size_t d = 0; d < dims.size(); ++d) shape[d] = shape_[dims[d]];
  if (const auto* leaf = std::get_if<StridedLeaf>(&node_)) {
    Strides strides(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d) strides[d] = leaf->strides[dims[d]];
    return with_strides(*leaf, leaf->offset, std::move(shape), std::move(strides));
  }
  if (const auto* join = std::get_if<Join>(&node_)) {
    std::vector<ExpressionPtr> parts;
    for (const ExpressionPtr& part : join->parts) {
      ANDIRON_ASSIGN(parts.emplace_back(), part->permute(dims));
    }
    const auto at = std::find(dims.begin(), dims.end(), join->dim);
    return Expression::join(std::move(parts), static_cast<std::size_t>(at - dims.begin()));
  }
  // Packed elements stay in order when only dimensions of size 1 move.
  if (std::is_sorted(dims.begin(), dims.end())) return self();
  if (!is_opaque(dtype_)) {
    std::vector<std::size_t> moved;
    for (std::size_t dim : dims) {
      if (shape_[dim] != 1) moved.push_back(dim);
    }
    if (std::is_sorted(moved.begin(), moved.end())) return reshape(std::move(shape));
  }
  return unsupported_packed(dtype_, shape_, "a permutation");
}

Result<ExpressionPtr> Expression::slice(std::size_t dim, std::uint64_t start, std::uint64_t count,
                                        std::int64_t step) const {
  if (count == shape_[dim] && (step == 1 || count <= 1)) return self();
  Shape shape = shape_;
  shape[dim] = count;
  if (const auto* leaf = std::get_if<StridedLeaf>(&node_)) {
    Strides strides = leaf->strides;
    std::uint64_t offset = leaf->offset;
    if (has_no_elements(shape)) {
      strides.set_all_to_zero();
      offset = 0;
    } else {
      offset += start * static_cast<std::uint64_t>(strides[dim]);
      strides[dim] = count == 1 ? 0 : strides[dim] * step;
    }
    return with_strides(*leaf, offset, std::move(shape), std::move(strides));
  }
  if (const auto* join = std::get_if<Join>(&node_)) {
    std::vector<ExpressionPtr> parts;
    if (dim != join->dim || count == 0) {
      for (const ExpressionPtr& part : join->parts) {
        ANDIRON_ASSIGN(parts.emplace_back(), part->slice(dim, count == 0 ? 0 : start, count, step));
      }
      return Expression::join(std::move(parts), join->dim);
    }
    // Which indices fall into which part, in the order in which the slice visits them.
    const auto index_of = [&](std::uint64_t i) {
      return start + i * static_cast<std::uint64_t>(step);
    };
    std::size_t part = 0;
    std::uint64_t begin = 0;  // of that part
    for (std::uint64_t i = 0; i < count;) {
      while (index_of(i) < begin) begin -= join->parts[--part]->shape_[dim];
      while (index_of(i) >= begin + join->parts[part]->shape_[dim]) {
        begin += join->parts[part++]->shape_[dim];
      }
      const std::uint64_t size = join->parts[part]->shape_[dim];
      const std::uint64_t local = index_of(i) - begin;
      const std::uint64_t stride = stride_size(step);
      const std::uint64_t room = step > 0 ? (size - 1 - local) / stride : local / stride;
      const std::uint64_t taken = std::min(count - i, room + 1);
      ANDIRON_ASSIGN(parts.emplace_back(), join->parts[part]->slice(dim, local, taken, step));
      i += taken;
    }
    return Expression::join(std::move(parts), dim);
  }
  // Packed elements: one run of whole bytes.
  const auto& leaf = std::get<PackedLeaf>(node_);
  std::uint64_t outer = 1;
  std::uint64_t inner_bits = bit_width(dtype_);
  for (std::size_t d = 0; d < shape_.rank(); ++d) {
    if (d < dim) outer *= shape_[d];
    if (d > dim) inner_bits *= shape_[d];
  }
  const bool one_run =
      !is_opaque(dtype_) && (count == 0 || (outer == 1 && (step == 1 || count == 1)));
  if (!one_run || start * inner_bits % 8 != 0 || count * inner_bits % 8 != 0) {
    return unsupported_packed(dtype_, shape_, "a slice");
  }
  return make(dtype_, std::move(shape),
              PackedLeaf{leaf.source, leaf.offset + start * inner_bits / 8, {}}, depth_);
}

Result<ExpressionPtr> Expression::reshape(Shape shape) const {
  if (shape == shape_) return self();
  ANDIRON_ASSIGN(const std::uint64_t wanted, shape.element_count());
  ANDIRON_ASSIGN(const std::uint64_t present, shape_.element_count());
  if (wanted != present) {
    return Error{.code = ErrorCode::shape_mismatch,
                 .message = "a reshape changes the number of elements",
                 .found = shape_.to_string(),
                 .expected = "as many elements as " + shape.to_string()};
  }
  if (const auto* packed = std::get_if<PackedLeaf>(&node_)) {
    if (is_opaque(dtype_)) return unsupported_packed(dtype_, shape_, "a reshape");
    return make(dtype_, std::move(shape), *packed, depth_);
  }
  if (const auto* leaf = std::get_if<StridedLeaf>(&node_)) {
    std::optional<Strides> strides =
        has_no_elements(shape) ? Strides(shape.rank()) : fold_reshape(shape_, leaf->strides, shape);
    if (strides) {
      return with_strides(*leaf, leaf->offset, std::move(shape), *std::move(strides));
    }
    return over(expression_source(self()), dtype_, std::move(shape), depth_);
  }
  const auto& join = std::get<Join>(node_);
  if (!has_no_elements(shape) && without_ones(shape) == without_ones(shape_)) {
    // Only dimensions of size 1 come and go: the join stays, at the same place among the others.
    std::size_t ahead = 0;
    for (std::size_t d = 0; d < join.dim; ++d) ahead += shape_[d] != 1;
    std::size_t dim = 0;
    for (; ahead != 0 || shape[dim] == 1; ++dim) ahead -= shape[dim] != 1;
    std::vector<ExpressionPtr> parts;
    for (const ExpressionPtr& part : join.parts) {
      Shape part_shape = shape;
      part_shape[dim] = part->shape_[join.dim];
      ANDIRON_ASSIGN(parts.emplace_back(), part->reshape(std::move(part_shape)));
    }
    return Expression::join(std::move(parts), dim);
  }
  return over(expression_source(self()), dtype_, std::move(shape), depth_);
}

Result<ExpressionPtr> Expression::expand(const Shape& shape) const {
  if (shape == shape_) return self();
  const std::size_t added = shape.rank() - shape_.rank();
  if (const auto* leaf = std::get_if<StridedLeaf>(&node_)) {
    Strides strides(shape.rank());
    for (std::size_t d = 0; d < shape_.rank(); ++d) {
      if (shape_[d] == shape[added + d]) strides[added + d] = leaf->strides[d];
    }
    return with_strides(*leaf, leaf->offset, shape, std::move(strides));
  }
  if (const auto* join = std::get_if<Join>(&node_)) {
    std::vector<ExpressionPtr> parts;
    for (const ExpressionPtr& part : join->parts) {
      Shape part_shape = shape;
      part_shape[added + join->dim] = part->shape_[join->dim];
      ANDIRON_ASSIGN(parts.emplace_back(), part->expand(part_shape));
    }
    return Expression::join(std::move(parts), added + join->dim);
  }
  if (!is_opaque(dtype_) && without_ones(shape) == without_ones(shape_)) return reshape(shape);
  return unsupported_packed(dtype_, shape_, "an expansion");
}

Result<ExpressionPtr> Expression::apply(ElementStep::Kind kind, DType to) const {
  const bool cast = kind == ElementStep::Kind::cast;
  if (cast && to == dtype_) return self();
  if (kind == ElementStep::Kind::conjugate && !is_complex(dtype_)) return self();
  const bool signless = dtype_ == DType::boolean || dtype_ == DType::f8e8m0;
  if (cast ? !can_convert(dtype_, to) : signless || is_opaque(dtype_) || is_sub_byte(dtype_)) {
    return Error{.code = ErrorCode::unsupported_dtype,
                 .message = cast ? "cannot convert between these dtypes"
                                 : "this dtype has no sign to change",
                 .found = std::string(dtype_name(dtype_)),
                 .expected = cast ? "a dtype that converts to " + std::string(dtype_name(to))
                                  : "a signed number"};
  }
  if (const auto* join = std::get_if<Join>(&node_)) {
    std::vector<ExpressionPtr> parts;
    for (const ExpressionPtr& part : join->parts) {
      ANDIRON_ASSIGN(parts.emplace_back(), part->apply(kind, to));
    }
    return Expression::join(std::move(parts), join->dim);
  }
  if (is_sub_byte(dtype_) || is_sub_byte(to)) {
    ANDIRON_ASSIGN(const std::uint64_t bytes, shape_.byte_count(to));
    return over(cast_source(self(), to, bytes), to, shape_, depth_);
  }
  const auto& leaf = std::get<StridedLeaf>(node_);
  StridedLeaf mapped = leaf;
  mapped.map = leaf.map.then({kind, to});
  ANDIRON_TRY(check_depth(static_cast<unsigned>(mapped.map.step_count())));
  return make(to, shape_, std::move(mapped), depth_);
}

Result<ExpressionPtr> Expression::cast(DType to, std::shared_ptr<CastLoss> loss) const {
  // Says why where there is no such cast.
  ANDIRON_ASSIGN(ExpressionPtr plain, apply(ElementStep::Kind::cast, to));
  if (to == dtype_ || loss == nullptr) return plain;
  return over(cast_source(self(), to, plain->byte_size(), std::move(loss)), to, shape_, depth_);
}

Result<ExpressionPtr> Expression::join(std::vector<ExpressionPtr> parts, std::size_t dim) {
  std::vector<ExpressionPtr> kept;
  Shape shape = parts.front()->shape_;
  const DType dtype = parts.front()->dtype_;
  std::uint64_t total = 0;
  unsigned depth = 0;
  for (ExpressionPtr& part : parts) {
    const std::uint64_t size = part->shape_[dim];
    if (__builtin_add_overflow(total, size, &total)) {
      return Error{.code = ErrorCode::overflow, .message = "the joined dimension is too large"};
    }
    if (size == 0) continue;
    if (is_sub_byte(dtype)) {
      std::uint64_t inner_bits = size * bit_width(dtype);
      for (std::size_t d = dim + 1; d < shape.rank(); ++d) inner_bits *= shape[d];
      if (inner_bits % 8 != 0) return unsupported_packed(dtype, part->shape_, "a join");
    }
    // A join of joins along one dimension is one join.
    const auto* inner = std::get_if<Join>(&part->node_);
    if (inner != nullptr && inner->dim == dim) {
      kept.insert(kept.end(), inner->parts.begin(), inner->parts.end());
      depth = std::max(depth, part->depth_);
    } else {
      depth = std::max(depth, part->depth_ + 1);
      kept.push_back(std::move(part));
    }
  }
  if (kept.empty()) return parts.front();
  if (kept.size() == 1) return kept.front();
  shape[dim] = total;
  return make(dtype, std::move(shape), Join{dim, std::move(kept)}, depth);
}

}  // namespace andiron::inline v1::detail
