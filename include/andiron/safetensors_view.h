// SPDX-License-Identifier: MIT OR Apache-2.0
// SafeTensors files in memory, for firmware and the browser: no heap, file system, exceptions or
// threads. Also the parser behind andiron::open. Freestanding: needs only memcpy, memcmp and the
// like.
//
//   SafetensorsView view;
//   ViewStatus status = SafetensorsView::open(bytes, view);
//   SafetensorsEntry entry;
//   if (status.ok() && view.find("conv1.weight", entry).ok()) use(view.data(entry), entry.dims());
//
// An error is a code and an offset into the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "andiron/dtype.h"
#include "andiron/error_code.h"
#include "andiron/limits.h"

namespace andiron::inline v1 {

/// The text between the quotes of a JSON string, checked but not decoded.
struct JsonText {
  std::string_view raw;
  bool has_escapes = false;

  /// Compares the decoded text.
  bool equals(std::string_view text) const noexcept;
  /// Decodes into `out`, which needs room for raw.size() bytes. Returns the decoded size.
  std::size_t decode(char* out) const noexcept;
};

/// One tensor of the header.
struct SafetensorsEntry {
  JsonText name;
  DType dtype = DType::raw;  ///< raw if dtype_name is unknown
  JsonText dtype_name;       ///< as the file spells it
  std::uint64_t begin = 0;   ///< of the data, from the start of the data section
  std::uint64_t end = 0;
  std::size_t rank = 0;
  std::uint64_t shape[max_rank] = {};
  std::uint64_t header_offset = 0;  ///< of the name, from the start of the file
  unsigned unknown_keys = 0;        ///< ignored keys other than dtype, shape and data_offsets

  std::span<const std::uint64_t> dims() const noexcept { return {shape, rank}; }
};

/// Reads a header entry by entry. Checks grammar, field types, and byte count against shape and
/// dtype. After a failure, every call fails the same way.
class SafetensorsHeader {
 public:
  enum class Item : std::uint8_t { tensor, metadata, end, error };

  /// `header` is the JSON text, which starts at byte 8 of the file.
  explicit SafetensorsHeader(std::string_view header) noexcept : header_(header) {}

  /// Reads the next item. A tensor goes into `entry`. An entry of `__metadata__` goes into
  /// metadata_key() and metadata_value(), in file order.
  Item next(SafetensorsEntry& entry) noexcept;

  const JsonText& metadata_key() const noexcept { return metadata_key_; }
  const JsonText& metadata_value() const noexcept { return metadata_value_; }
  /// The value of `__metadata__` as it is in the header, once next() has passed it. Empty if there
  /// is none.
  std::string_view metadata_text() const noexcept { return metadata_text_; }
  ViewStatus status() const noexcept { return status_; }

 private:
  enum class Place : std::uint8_t { start, tensors, metadata, end };

  std::string_view header_;
  std::size_t at_ = 0;
  Place place_ = Place::start;
  bool first_ = true;           // no tensor or `__metadata__` came yet
  bool first_metadata_ = true;  // no metadata entry came yet
  bool seen_metadata_ = false;
  std::size_t metadata_begin_ = 0;
  std::string_view metadata_text_;
  JsonText metadata_key_;
  JsonText metadata_value_;
  ViewStatus status_;
};

/// Scratch memory for checks that compare tensors with each other.
struct SafetensorsScratch {
  std::uint64_t key;  ///< start of the data, or a hash of the name
  std::uint64_t end;  ///< of the data
  std::uint64_t tag;  ///< identifies the tensor: the offset of its name in the file
};

/// A whole file in memory. The memory must outlive the view.
class SafetensorsView {
 public:
  /// Checks the header's grammar, and each tensor's size and that it is inside the file. Does not
  /// compare names and ranges with each other: see check_layout. O(n).
  static ViewStatus open(std::span<const std::byte> file, SafetensorsView& view) noexcept;

  /// Fails if names repeat, or if data overlaps or leaves gaps. `scratch` needs at least
  /// tensor_count() items. O(n log n).
  ViewStatus check_layout(std::span<SafetensorsScratch> scratch) const noexcept;

  std::size_t tensor_count() const noexcept { return tensor_count_; }
  /// Finds a tensor by a scan of the header, O(n). Fails with MissingTensor if there is none.
  ViewStatus find(std::string_view name, SafetensorsEntry& entry) const noexcept;
  /// All tensors in header order. Call next() on the result until it returns `end`.
  SafetensorsHeader header() const noexcept { return SafetensorsHeader(header_); }
  /// Returns the tensor's bytes: row-major, little-endian, with any alignment.
  std::span<const std::byte> data(const SafetensorsEntry& entry) const noexcept {
    return data_.subspan(static_cast<std::size_t>(entry.begin),
                         static_cast<std::size_t>(entry.end - entry.begin));
  }

 private:
  std::string_view header_;
  std::span<const std::byte> data_;
  std::size_t tensor_count_ = 0;
};

/// How tensors fail to cover the data section.
struct CoverageIssue {
  enum class Kind : std::uint8_t { none, gap, overlap, beyond_end, trailing };
  Kind kind = Kind::none;
  std::uint64_t found = 0;     ///< where the tensor begins or ends, or where the data section ends
  std::uint64_t expected = 0;  ///< where it should
  std::uint64_t tag = 0;       ///< of the tensor
};

/// Returns the first place where the ranges [key, end) do not cover [0, data_bytes) exactly. With
/// `allow_gaps`, gaps and trailing bytes are accepted. Sorts `ranges`.
/// REQUIRES: key <= end in each range.
CoverageIssue check_coverage(std::span<SafetensorsScratch> ranges, std::uint64_t data_bytes,
                             bool allow_gaps) noexcept;

/// Returns the dtype for SafeTensors' name ("F32"), or DType::raw if it is unknown.
DType safetensors_dtype(std::string_view name) noexcept;
/// Returns SafeTensors' name; empty for dtypes that the format lacks.
std::string_view safetensors_dtype_name(DType dtype) noexcept;
/// Returns the position in the order in which the reference implementation writes tensors, highest
/// first; -1 for dtypes that the format lacks.
int safetensors_dtype_rank(DType dtype) noexcept;

}  // namespace andiron::inline v1
