// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_tensor_test.cpp
#include "src/format/pytorch/torch_tensor.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/core/check_limit.h"
#include "src/core/expression.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

std::string text_of(std::span<const std::uint64_t> numbers) { return Shape(numbers).to_string(); }

// What moves elements that are not taken apart; raw for a width that nothing has.
DType as_wide_as(std::uint8_t bytes) {
  switch (bytes) {
    case 1:
      return DType::u8;
    case 2:
      return DType::u16;
    case 4:
      return DType::u32;
    case 8:
      return DType::u64;
    case 16:
      return DType::c128;
    default:
      return DType::raw;
  }
}

// Stands for a storage where nothing is read.
class UnreadSource : public ByteSource {
 public:
  explicit UnreadSource(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const noexcept override { return size_; }
  const std::string& name() const noexcept override { return name_; }

 private:
  Status do_read_at(std::uint64_t, std::span<std::byte>) const override {
    return Error{.code = ErrorCode::unsupported, .message = "nothing to read here"};
  }
  std::uint64_t size_;
  std::string name_;
};

// The rows of a strided view, one after the other, as a source of their own: types that cannot be
// taken apart are read from there.
class RowsSource : public ByteSource {
 public:
  explicit RowsSource(TensorSnapshot rows) : rows_(std::move(rows)) {}
  std::uint64_t size() const noexcept override { return rows_.byte_size(); }
  const std::string& name() const noexcept override { return rows_.full_path(); }
  CompressedData compressed_data() const noexcept override {
    return expression_of(rows_).compressed_data();
  }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    return rows_.read_part(offset, out);
  }
  TensorSnapshot rows_;
};

}  // namespace

bool TorchTensor::is_contiguous() const noexcept {
  std::uint64_t step = 1;
  bool contiguous = true;
  for (std::size_t d = rank; d-- > 0;) {
    if (shape[d] == 0) return true;
    if (shape[d] != 1 && strides[d] != static_cast<std::int64_t>(step)) contiguous = false;
    step *= shape[d];
  }
  return contiguous;
}

void TorchTensor::set_row_major() noexcept {
  std::uint64_t step = 1;
  for (std::size_t d = rank; d-- > 0;) {
    strides[d] = static_cast<std::int64_t>(step);
    step *= std::max<std::uint64_t>(shape[d], 1);
  }
}

Status TorchTensor::check() const {
  const std::uint64_t width = type->bytes;
  std::uint64_t bytes = width;
  std::uint64_t last = offset;  // element
  bool fits = true;
  bool empty = false;
  for (std::size_t d = 0; d < rank; ++d) {
    if (strides[d] < 0) {
      return Error{.code = ErrorCode::bad_pickle,
                   .message = "a tensor has a negative stride",
                   .found = std::to_string(strides[d]),
                   .expected = "0 or more"};
    }
    std::uint64_t reach = 0;
    empty = empty || shape[d] == 0;
    fits = !__builtin_mul_overflow(bytes, shape[d], &bytes) && fits;
    if (shape[d] != 0) {
      fits =
          !__builtin_mul_overflow(shape[d] - 1, static_cast<std::uint64_t>(strides[d]), &reach) &&
          !__builtin_add_overflow(last, reach, &last) && fits;
    }
  }
  const std::uint64_t elements = storage.bytes / width;
  // Without elements nothing is read, whatever the other numbers say: PyTorch writes offsets behind
  // the end then.
  if (empty) {
    const Result<std::uint64_t> none =
        our_shape().byte_count(dtype() == DType::raw ? DType::u8 : dtype());
    return none ? Status() : Status(Error(none.error()));
  }
  // Strides count bytes with a sign.
  fits = fits && storage.bytes <= INT64_MAX;
  if (!fits || last >= elements) {
    return Error{.code = ErrorCode::bad_offsets,
                 .message = "the tensor extends past its storage",
                 .found = "elements " + std::to_string(offset) + " to " +
                          (fits ? std::to_string(last) : std::string("beyond 64 bits")) +
                          " for shape " + text_of(std::span(shape).first(rank)),
                 .expected = "a storage of " + std::to_string(elements) + " elements"};
  }
  return {};
}

Status TorchTensor::check_view() const {
  if (is_run()) return {};
  TorchTensor probe = *this;
  probe.storage.source = std::make_shared<UnreadSource>(storage.offset + storage.bytes);
  const Result<TensorSnapshot> made = probe.snapshot("");
  return made ? Status() : Status(Error(made.error()));
}

Status TorchTensor::check_size(std::uint64_t most) const {
  if (byte_size() <= std::max(most, storage.bytes)) return {};
  return over_limit(
      std::to_string(byte_size()) + " bytes from a storage of " + std::to_string(storage.bytes),
      most, {"the tensor repeats its data too often", &Limits::expanded_bytes});
}

Shape TorchTensor::our_shape() const {
  const std::span<const std::uint64_t> dims(shape.data(), rank);
  if (type->per_item == 1) return Shape(dims);
  // Packed elements count in the last dimension; a tensor without dimensions gets one.
  std::vector<std::uint64_t> all(dims.begin(), dims.end());
  if (all.empty()) all.push_back(1);
  all.back() *= type->per_item;
  return Shape(all);
}

bool TorchTensor::is_run() const noexcept {
  if (converts()) return false;
  if (byte_size() == 0) return true;
  return !conjugate && !negate && (!big_endian || type->bytes == 1) && is_contiguous();
}

Result<TensorSnapshot> TorchTensor::snapshot(std::string path) const {
  const DType ours = dtype();
  const bool swaps = big_endian && type->bytes > 1;
  if (is_run()) {
    return TensorSnapshot::from_source(std::move(path), storage.source, first_byte(), byte_size(),
                                       ours, our_shape(), std::string(raw_name()));
  }
  const bool taken_apart = !is_opaque(ours) && !is_sub_byte(ours);
  if (!taken_apart && (swaps || conjugate || negate)) {
    return Error{.code = ErrorCode::unsupported_dtype,
                 .message = "cannot change the elements of this dtype",
                 .found = std::string(type->torch_name)};
  }
  const DType moved = taken_apart ? ours : as_wide_as(type->bytes);
  if (moved == DType::raw) {
    return Error{.code = ErrorCode::unsupported_dtype,
                 .message = "cannot move elements of this width",
                 .found = std::string(type->torch_name)};
  }
  std::vector<std::int64_t> byte_strides(rank);
  // The stride of a single element, or of none, may be any number.
  const bool is_empty = byte_size() == 0;
  for (std::size_t d = 0; d < rank; ++d) {
    byte_strides[d] = is_empty || shape[d] == 1 ? 0 : strides[d] * type->bytes;
  }
  ANDIRON_ASSIGN(
      TensorSnapshot view,
      TensorSnapshot::from_strided(path, storage.source, first_byte(), moved,
                                   Shape(std::span(shape).first(rank)), byte_strides, swaps));
  if (conjugate) {
    ANDIRON_ASSIGN(view, view.conjugate());
  }
  if (negate) {
    ANDIRON_ASSIGN(view, view.negate());
  }
  if (taken_apart) return converts() ? view.cast(converted->dtype) : Result<TensorSnapshot>(view);
  return TensorSnapshot::from_source(std::move(path), std::make_shared<RowsSource>(view), 0,
                                     byte_size(), ours, our_shape(), std::string(raw_name()));
}

Status TorchTensor::add_to(ArchiveBuilder& builder, std::string_view stored_name) const {
  if (storage.file != Storage::no_file && is_run() && type->per_item == 1) {
    return builder.add({stored_name, dtype(), type->torch_name, std::span(shape).first(rank),
                        storage.file, first_byte(), byte_size()});
  }
  TorchTensor whole = *this;
  if (whole.storage.source == nullptr) {
    whole.storage.source = builder.state().files[whole.storage.file].source;
  }
  ANDIRON_ASSIGN(TensorSnapshot made, whole.snapshot(std::string(stored_name)));
  return builder.add(stored_name, type->torch_name, std::move(made));
}

std::uint64_t most_tensor_bytes(std::uint64_t file_bytes, const Limits& limits) {
  constexpr std::uint64_t factor = 16;
  std::uint64_t most = 0;
  if (__builtin_mul_overflow(file_bytes, factor, &most)) return file_bytes;
  return std::max(most, limits.expanded_bytes);
}

}  // namespace andiron::inline v1::detail
