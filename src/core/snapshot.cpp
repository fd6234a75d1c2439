// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the caller's arguments; the algebra itself is in expression.cpp.
// Tested by tests/core/snapshot_test.cpp
#include "andiron/snapshot.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "andiron/tensor.h"
#include "src/core/expression.h"
#include "src/core/sort.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1 {

using detail::ElementStep;
using detail::Expression;
using detail::ExpressionPtr;

namespace {

Error bad_argument(std::string message, std::string found, std::string expected) {
  return Error{.code = ErrorCode::invalid_argument,
               .message = std::move(message),
               .found = std::move(found),
               .expected = std::move(expected)};
}

Status check_dim(std::size_t dim, std::size_t rank) {
  if (dim < rank) return {};
  return bad_argument("no such dimension", std::to_string(dim),
                      "less than " + std::to_string(rank));
}

// Python's slice.indices: first element and number of elements for a dimension of `size`.
void resolve_slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                   std::int64_t step, std::int64_t size, std::int64_t& first, std::int64_t& count) {
  const std::int64_t low = step < 0 ? -1 : 0;
  const std::int64_t high = step < 0 ? size - 1 : size;
  auto bound = [&](std::optional<std::int64_t> value, std::int64_t otherwise) {
    if (!value) return otherwise;
    // Counting from the end cannot overflow: both numbers have known signs.
    return std::clamp(*value < 0 ? *value + size : *value, low, high);
  };
  first = bound(start, step < 0 ? high : low);
  const std::int64_t last = bound(stop, step < 0 ? low : high);
  const std::int64_t distance = step < 0 ? first - last : last - first;
  // Written without |step|, which does not exist for the smallest integer.
  const std::uint64_t stride =
      step < 0 ? 0 - static_cast<std::uint64_t>(step) : static_cast<std::uint64_t>(step);
  count =
      distance <= 0
          ? 0
          : static_cast<std::int64_t>((static_cast<std::uint64_t>(distance) + stride - 1) / stride);
}

}  // namespace

// All empty ones share an expression: they are made on the way to others.
TensorSnapshot::TensorSnapshot() {
  static const ExpressionPtr empty = TensorSnapshot(std::string(), Tensor()).expression_;
  expression_ = empty;
}

TensorSnapshot::TensorSnapshot(std::string path, const Tensor& tensor) : path_(std::move(path)) {
  // A Tensor keeps its size, dtype and shape in step, so only memory can be missing.
  expression_ = detail::value_or_bad_alloc(
      Expression::contiguous(memory_source(tensor.bytes()), 0, tensor.byte_size(), tensor.dtype(),
                             tensor.shape(), tensor.raw_name()));
}

Result<TensorSnapshot> TensorSnapshot::from_source(std::string path, ByteSourcePtr source,
                                                   std::uint64_t offset, std::uint64_t byte_count,
                                                   DType dtype, Shape shape, std::string raw_name)
    ANDIRON_NO_THROW {
  Result<ExpressionPtr> expression = Expression::contiguous(
      std::move(source), offset, byte_count, dtype, std::move(shape), std::move(raw_name));
  if (!expression) {
    Error error = std::move(expression).error();
    error.tensor = std::move(path);
    return error;
  }
  return TensorSnapshot(std::move(path), std::nullopt, *std::move(expression));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::from_strided(std::string path, ByteSourcePtr source,
                                                    std::uint64_t offset, DType dtype, Shape shape,
                                                    std::span<const std::int64_t> byte_strides,
                                                    bool big_endian) ANDIRON_NO_THROW {
  TensorSnapshot snapshot;
  snapshot.path_ = std::move(path);
  return snapshot.with(Expression::strided(std::move(source), offset, dtype, std::move(shape),
                                           byte_strides, big_endian));
}
ANDIRON_OR_OUT_OF_MEMORY

DType TensorSnapshot::dtype() const noexcept { return expression_->dtype(); }
const std::string& TensorSnapshot::raw_name() const& noexcept { return expression_->raw_name(); }

std::optional<QuantScheme> TensorSnapshot::scheme() const {
  if (dtype() != DType::qfloat) return std::nullopt;
  return detail::value_or_bad_alloc(quant_scheme_from_text(raw_name()));
}
const Shape& TensorSnapshot::shape() const& noexcept { return expression_->shape(); }
std::uint64_t TensorSnapshot::byte_size() const noexcept { return expression_->byte_size(); }

std::string TensorSnapshot::dtype_text() const {
  std::string text(dtype_name(dtype()));
  return dtype() == DType::raw ? text + ":" + raw_name() : text;
}

TensorSnapshot TensorSnapshot::with_path(std::string path) const& {
  return TensorSnapshot(*this).with_path(std::move(path));
}

TensorSnapshot TensorSnapshot::with_path(std::string path) && {
  path_ = std::move(path);
  return std::move(*this);
}

TensorSnapshot TensorSnapshot::with_container(Container container) const& {
  return TensorSnapshot(*this).with_container(std::move(container));
}

TensorSnapshot TensorSnapshot::with_container(Container container) && {
  container_ = std::move(container);
  return std::move(*this);
}

TensorSnapshot TensorSnapshot::with_param_id(std::optional<ParamId> id) const& {
  return TensorSnapshot(*this).with_param_id(id);
}

TensorSnapshot TensorSnapshot::with_param_id(std::optional<ParamId> id) && {
  param_id_ = id;
  return std::move(*this);
}

Result<TensorSnapshot> TensorSnapshot::with(Result<ExpressionPtr> expression) const {
  if (!expression) return annotate(std::move(expression).error());
  TensorSnapshot changed = *this;
  changed.expression_ = *std::move(expression);
  return changed;
}

Error TensorSnapshot::annotate(Error error) const {
  if (error.tensor.empty()) error.tensor = path_;
  return error;
}

const detail::Expression& detail::expression_of(const TensorSnapshot& snapshot) noexcept {
  return *snapshot.expression_;
}

Status TensorSnapshot::read_part(std::uint64_t offset, std::span<std::byte> out) const
    ANDIRON_NO_THROW {
  Status status = expression_->read_part(offset, out);
  if (!status) return annotate(std::move(status).error());
  return {};
}
ANDIRON_OR_OUT_OF_MEMORY

bool TensorSnapshot::is_same_data(const TensorSnapshot& other) const noexcept {
  return expression_->is_same_data(*other.expression_);
}

Status TensorSnapshot::read_into(std::span<std::byte> out) const ANDIRON_NO_THROW {
  if (out.size() != byte_size()) {
    return annotate(bad_argument("the destination and the tensor differ in size",
                                 std::to_string(out.size()) + " bytes",
                                 std::to_string(byte_size()) + " bytes"));
  }
  return read_part(0, out);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> TensorSnapshot::read() const ANDIRON_NO_THROW {
  Result<Bytes> bytes = Bytes::allocate(byte_size());
  if (!bytes) return annotate(std::move(bytes).error());
  ANDIRON_TRY(read_into(bytes->writable()));
  return with_bytes(*std::move(bytes));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Tensor> TensorSnapshot::with_bytes(Bytes bytes) const ANDIRON_NO_THROW {
  switch (dtype()) {
    case DType::raw:
      return Tensor::raw(raw_name(), shape(), std::move(bytes));
    case DType::qfloat:
      return Tensor::qfloat(*scheme(), shape(), std::move(bytes));
    default:
      return Tensor::from_bytes(dtype(), shape(), std::move(bytes));
  }
}
ANDIRON_OR_OUT_OF_MEMORY

bool TensorSnapshot::can_borrow() const noexcept {
  std::uint64_t offset = 0;
  const ByteSource* source = expression_->stored_run(offset);
  return source != nullptr && source->can_view();
}

bool TensorSnapshot::is_in_memory() const noexcept {
  std::uint64_t offset = 0;
  const ByteSource* source = expression_->stored_run(offset);
  return source != nullptr && source->in_memory();
}

Result<Tensor> TensorSnapshot::borrow() const ANDIRON_NO_THROW {
  std::uint64_t offset = 0;
  const ByteSource* source = expression_->stored_run(offset);
  if (source == nullptr || !source->can_view()) return read();
  Result<Bytes> bytes = source->view(offset, byte_size());
  if (!bytes && bytes.error().code == ErrorCode::unsupported) return read();
  if (!bytes) return annotate(std::move(bytes).error());
  return with_bytes(*std::move(bytes));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::permute(std::span<const std::size_t> dims) const
    ANDIRON_NO_THROW {
  std::vector<std::size_t> sorted(dims.begin(), dims.end());
  detail::sort(sorted.begin(), sorted.end());
  std::vector<std::size_t> all(shape().rank());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (sorted != all) {
    return annotate(bad_argument("the dimensions are not a permutation",
                                 std::to_string(dims.size()) + " dimensions",
                                 "each of the " + std::to_string(all.size()) + " once"));
  }
  return with(expression_->permute(dims));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::transpose(std::size_t dim0, std::size_t dim1) const
    ANDIRON_NO_THROW {
  for (std::size_t dim : {dim0, dim1}) {
    if (Status status = check_dim(dim, shape().rank()); !status) {
      return annotate(std::move(status).error());
    }
  }
  std::vector<std::size_t> dims(shape().rank());
  std::iota(dims.begin(), dims.end(), std::size_t{0});
  std::swap(dims[dim0], dims[dim1]);
  return permute(dims);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::slice(std::size_t dim, std::optional<std::int64_t> start,
                                             std::optional<std::int64_t> stop,
                                             std::int64_t step) const ANDIRON_NO_THROW {
  if (Status status = check_dim(dim, shape().rank()); !status) {
    return annotate(std::move(status).error());
  }
  if (step == 0)
    return annotate(bad_argument("the slice does not advance", "step 0", "a step other than 0"));
  const auto size = static_cast<std::int64_t>(std::min<std::uint64_t>(
      shape()[dim], static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
  std::int64_t first = 0;
  std::int64_t count = 0;
  resolve_slice(start, stop, step, size, first, count);
  return with(expression_->slice(dim, count == 0 ? 0 : static_cast<std::uint64_t>(first),
                                 static_cast<std::uint64_t>(count), step));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::reshape(Shape wanted) const ANDIRON_NO_THROW {
  return with(expression_->reshape(std::move(wanted)));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::squeeze(std::size_t dim) const ANDIRON_NO_THROW {
  if (Status status = check_dim(dim, shape().rank()); !status) {
    return annotate(std::move(status).error());
  }
  if (shape()[dim] != 1) {
    return annotate(bad_argument("only a dimension of size 1 can be dropped",
                                 "size " + std::to_string(shape()[dim]), "size 1"));
  }
  std::vector<std::uint64_t> dims(shape().begin(), shape().end());
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(dim));
  return reshape(Shape(dims));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::unsqueeze(std::size_t dim) const ANDIRON_NO_THROW {
  if (Status status = check_dim(dim, shape().rank() + 1); !status) {
    return annotate(std::move(status).error());
  }
  std::vector<std::uint64_t> dims(shape().begin(), shape().end());
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(dim), 1);
  return reshape(Shape(dims));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::expand(const Shape& wanted) const ANDIRON_NO_THROW {
  bool fits = wanted.rank() >= shape().rank();
  for (std::size_t d = 0; fits && d < shape().rank(); ++d) {
    const std::uint64_t size = shape()[d];
    fits = size == 1 || size == wanted[wanted.rank() - shape().rank() + d];
  }
  if (!fits) {
    return annotate(Error{.code = ErrorCode::shape_mismatch,
                          .message = "only dimensions of size 1 can be repeated",
                          .found = shape().to_string(),
                          .expected = "a shape that expands to " + wanted.to_string()});
  }
  return with(expression_->expand(wanted));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::cast(DType to) const ANDIRON_NO_THROW {
  return with(expression_->apply(ElementStep::Kind::cast, to));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::cast(DType to, std::shared_ptr<CastLoss> loss) const
    ANDIRON_NO_THROW {
  return with(expression_->cast(to, std::move(loss)));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::negate() const ANDIRON_NO_THROW {
  return with(expression_->apply(ElementStep::Kind::negate, dtype()));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::conjugate() const ANDIRON_NO_THROW {
  return with(expression_->apply(ElementStep::Kind::conjugate, dtype()));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::concat(std::span<const TensorSnapshot> parts,
                                              std::size_t dim) ANDIRON_NO_THROW {
  if (parts.empty()) return bad_argument("there is nothing to join", "no tensors", "at least one");
  const TensorSnapshot& first = parts.front();
  if (Status status = check_dim(dim, first.shape().rank()); !status) {
    return first.annotate(std::move(status).error());
  }
  std::vector<ExpressionPtr> expressions;
  for (const TensorSnapshot& part : parts) {
    Shape aligned = part.shape();
    if (aligned.rank() == first.shape().rank()) aligned[dim] = first.shape()[dim];
    if (part.dtype() != first.dtype() || aligned != first.shape() || is_opaque(part.dtype())) {
      return part.annotate(Error{
          .code = part.dtype() != first.dtype() ? ErrorCode::dtype_mismatch
                  : is_opaque(part.dtype())     ? ErrorCode::unsupported
                                                : ErrorCode::shape_mismatch,
          .message = "this tensor cannot be joined with " + detail::in_quotes(first.full_path()),
          .found = part.dtype_text() + " " + part.shape().to_string(),
          .expected = first.dtype_text() + " " + first.shape().to_string() +
                      " except in dimension " + std::to_string(dim)});
    }
    expressions.push_back(part.expression_);
  }
  return first.with(Expression::join(std::move(expressions), dim));
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> TensorSnapshot::stack(std::span<const TensorSnapshot> parts, std::size_t dim)
    ANDIRON_NO_THROW {
  std::vector<TensorSnapshot> raised;
  for (const TensorSnapshot& part : parts) {
    ANDIRON_ASSIGN(raised.emplace_back(), part.unsqueeze(dim));
  }
  return concat(raised, dim);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
