// SPDX-License-Identifier: MIT OR Apache-2.0
// What must hold for every archive, whatever format it was read from.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "andiron/open.h"
#include "andiron/tensor.h"
#include "fuzz/property.h"

namespace andiron::fuzz {

// Beyond these an input only takes time.
inline constexpr std::size_t max_tensors_read = 64;
inline constexpr std::uint64_t max_bytes_read = std::uint64_t{1} << 20;
inline constexpr std::uint64_t max_bytes_transformed = 4096;

// The same bytes from a source that lends nothing, as a file read by copies.
class CopyingSource final : public ByteSource {
 public:
  explicit CopyingSource(std::span<const std::byte> data) : data_(data) {}
  std::uint64_t size() const noexcept override { return data_.size(); }
  const std::string& name() const noexcept override { return name_; }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!out.empty()) std::memcpy(out.data(), data_.data() + offset, out.size());
    return {};
  }
  std::span<const std::byte> data_;
  std::string name_ = "copied";
};

inline bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

inline bool same_shape(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

inline bool same_data(const TensorSnapshot& a, const TensorSnapshot& b) {
  return same(must(a.read()).bytes().span(), must(b.read()).bytes().span());
}

inline bool same_value(const Value& a, const Value& b);

template <class T>
bool same_held(const T& a, const T& b) {
  return a == b;
}
// By its bits: a NaN is the same as itself.
inline bool same_held(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
inline bool same_held(const Bytes& a, const Bytes& b) { return same(a.span(), b.span()); }
inline bool same_held(const ValueList& a, const ValueList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_value);
}
inline bool same_held(const ValueDict& a, const ValueDict& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && same_value(x.second, y.second);
  });
}

inline bool same_value(const Value& a, const Value& b) {
  if (a.is_null()) return b.is_null();
  return a.visit([&]<class T>(const T& held) {
    const T* const other = b.get<T>();
    return other != nullptr && same_held(held, *other);
  });
}

inline Result<Archive> open_as(Format format, const ByteSourcePtr& source, Strictness strictness) {
  OpenOptions options;
  options.strictness = strictness;
  options.format = format;
  return open(source, options);
}

// A file read with each strictness.
struct Opened {
  Result<Archive> lenient;
  Result<Archive> standard;
  Result<Archive> strict;
};

inline void check_error(const Result<Archive>& archive) {
  if (archive) return;
  ANDIRON_HOLDS(!archive.error().message.empty() && !archive.error().file.empty());
}

// Each strictness refuses what the one before it does, and more. `open` takes a source and a
// strictness.
template <class Open>
Opened open_strictly_and_not(const ByteSourcePtr& source, Open open) {
  Opened opened{open(source, Strictness::lenient), open(source, Strictness::standard),
                open(source, Strictness::strict)};
  const auto& [lenient, standard, strict] = opened;
  if (standard) ANDIRON_HOLDS(lenient.ok() && standard->size() == lenient->size());
  if (strict) ANDIRON_HOLDS(standard.ok() && strict->size() == standard->size());
  for (const Result<Archive>* archive : {&lenient, &standard, &strict}) check_error(*archive);
  return opened;
}

inline Opened open_strictly_and_not(Format format, const ByteSourcePtr& source) {
  return open_strictly_and_not(source, [&](const ByteSourcePtr& from, Strictness strictness) {
    return open_as(format, from, strictness);
  });
}

// Both snapshots describe the same tensor, from memory that can be lent and from copies.
inline void read_both(const TensorSnapshot& lent, const TensorSnapshot& copied) {
  const Tensor a = must(lent.read());
  const Tensor b = must(copied.read());
  ANDIRON_HOLDS(a.byte_size() == lent.byte_size());
  ANDIRON_HOLDS(same(a.bytes().span(), b.bytes().span()));
}

// Applies one operation to both snapshots; they succeed or fail alike.
template <class Operation>
void transform(const TensorSnapshot& lent, const TensorSnapshot& copied, bool must_succeed,
               Operation operation) {
  const Result<TensorSnapshot> a = operation(lent);
  const Result<TensorSnapshot> b = operation(copied);
  ANDIRON_HOLDS(a.ok() == b.ok());
  if (must_succeed) ANDIRON_HOLDS(a.ok());
  if (a && a->byte_size() <= 8 * max_bytes_transformed) read_both(*a, *b);
}

inline void transform_tensor(const TensorSnapshot& lent, const TensorSnapshot& copied) {
  const DType dtype = lent.dtype();
  const std::size_t rank = lent.shape().rank();
  // The dimensions of a tensor without elements may overflow when they come in another order.
  const bool plain = !is_opaque(dtype) && !is_sub_byte(dtype) && lent.byte_size() != 0;
  if (rank != 0) {
    transform(lent, copied, plain,
              [&](const TensorSnapshot& t) { return t.transpose(0, rank - 1); });
    transform(lent, copied, plain, [](const TensorSnapshot& t) { return t.slice(0, 1, {}, 2); });
    transform(lent, copied, plain,
              [&](const TensorSnapshot& t) { return t.slice(rank - 1, {}, {}, -1); });
    transform(lent, copied, plain, [&](const TensorSnapshot& t) -> Result<TensorSnapshot> {
      Result<TensorSnapshot> turned = t.transpose(0, rank - 1);
      if (!turned) return turned;
      return turned->slice(0, -3, -1);
    });
  }
  const DType other = is_complex(dtype) ? DType::c128 : DType::f32;
  transform(lent, copied, plain, [&](const TensorSnapshot& t) { return t.cast(other); });
  const TensorSnapshot pair[] = {lent, lent};
  const TensorSnapshot copied_pair[] = {copied, copied};
  const Result<TensorSnapshot> stacked = TensorSnapshot::stack(pair, rank);
  const Result<TensorSnapshot> copied_stack = TensorSnapshot::stack(copied_pair, rank);
  ANDIRON_HOLDS(stacked.ok() == copied_stack.ok());
  if (stacked) read_both(*stacked, *copied_stack);
}

// The numbers of a quantized tensor, or the reason why there are none.
inline void dequantize_tensor(const Tensor& tensor) {
  const Result<Tensor> numbers = dequantize(tensor);
  if (!numbers) {
    ANDIRON_HOLDS(numbers.error().code == ErrorCode::unsupported ||
                  numbers.error().code == ErrorCode::size_mismatch ||
                  numbers.error().code == ErrorCode::overflow);
    return;
  }
  ANDIRON_HOLDS(numbers->dtype() == DType::f32);
  ANDIRON_HOLDS(numbers->shape() == tensor.shape());
}

// Names are unique, and sizes fit.
inline void check_info(const Archive& archive, std::size_t index) {
  const TensorInfo info = archive.info(index);
  ANDIRON_HOLDS(archive.find(info.name) == index);
  if (is_opaque(info.dtype)) return;
  std::uint64_t bytes = 0;
  ANDIRON_HOLDS(byte_count(info.dtype, info.shape, bytes) == SizeCheck::ok);
  ANDIRON_HOLDS(bytes == info.byte_size);
}

// A tensor has the file's bytes where it tells its place there.
inline void check_place(const Tensor& tensor, const TensorInfo& info,
                        std::span<const std::byte> file) {
  ANDIRON_HOLDS(tensor.byte_size() == info.byte_size);
  if (!info.offset) return;
  ANDIRON_HOLDS(*info.offset <= file.size() && info.byte_size <= file.size() - *info.offset);
  ANDIRON_HOLDS(same(tensor.bytes().span(), file.subspan(*info.offset, info.byte_size)));
}

// Every tensor can be read, and the same from a source that lends nothing.
inline void read_tensors(const Archive& lent, const Archive& copied,
                         std::span<const std::byte> file) {
  ANDIRON_HOLDS(lent.size() == copied.size());
  for (std::size_t i = 0; i < lent.size(); ++i) {
    check_info(lent, i);
    if (i >= max_tensors_read) continue;
    const TensorInfo info = lent.info(i);
    const TensorSnapshot snapshot = lent.snapshot(i);
    ANDIRON_HOLDS(snapshot.full_path() == info.name);
    ANDIRON_HOLDS(snapshot.param_id() == info.param_id);
    const Tensor tensor = must(snapshot.read());
    check_place(tensor, info, file);
    if (info.byte_size <= max_bytes_transformed) transform_tensor(snapshot, copied.snapshot(i));
    if (info.dtype == DType::qfloat) dequantize_tensor(tensor);
  }
}

// The place in `after` of each tensor of `before`, which are as many.
template <class Compare>
void match_tensors(const Archive& before, const Archive& after, Compare compare) {
  ANDIRON_HOLDS(after.size() == before.size());
  for (std::size_t i = 0; i < std::min(before.size(), max_tensors_read); ++i) {
    const TensorInfo info = before.info(i);
    const auto at = after.find(info.name);
    ANDIRON_HOLDS(at.has_value());
    ANDIRON_HOLDS(same_shape(info.shape, after.info(*at).shape));
    compare(i, *at);
  }
}

}  // namespace andiron::fuzz
