// SPDX-License-Identifier: MIT OR Apache-2.0
// SafeTensors files in memory, without a heap, a file system, exceptions or threads: for firmware,
// the browser, and as the parser under andiron::open. Freestanding: uses memcpy, memcmp and the
// like, nothing else.
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

/// What lies between the quotes of a JSON string, checked but not decoded.
struct JsonText {
  std::string_view raw;
  bool has_escapes = false;

  /// Compares the decoded text.
  bool equals(std::string_view text) const noexcept;
  /// Decodes into `out`, which has room for raw.size() bytes; returns the decoded size.
  std::size_t decode(char* out) const noexcept;
};

/// One tensor of the header.
struct SafetensorsEntry {
  JsonText name;
  DType dtype = DType::raw;  ///< raw when dtype_name is not one we know
  JsonText dtype_name;       ///< as the file spells it
  std::uint64_t begin = 0;   ///< of the data, from the start of the data section
  std::uint64_t end = 0;
  std::size_t rank = 0;
  std::uint64_t shape[max_rank] = {};
  std::uint64_t header_offset = 0;  ///< of the name, from the start of the file
  unsigned unknown_keys = 0;  ///< keys beside dtype, shape and data_offsets, which were ignored

  std::span<const std::uint64_t> dims() const noexcept { return {shape, rank}; }
};

/// Reads a header entry by entry: grammar, field types, byte count against shape and dtype. Every
/// call after a failure fails the same way.
class SafetensorsHeader {
 public:
  enum class Item : std::uint8_t { tensor, metadata, end, error };

  /// `header` is the JSON text, which starts at byte 8 of the file.
  explicit SafetensorsHeader(std::string_view header) noexcept : header_(header) {}

  /// The next tensor goes into `entry`. A metadata entry (in file order, wherever `__metadata__`
  /// stands) goes into metadata_key() and metadata_value().
  Item next(SafetensorsEntry& entry) noexcept;

  const JsonText& metadata_key() const noexcept { return metadata_key_; }
  const JsonText& metadata_value() const noexcept { return metadata_value_; }
  /// Where the value of `__metadata__` stands in the header, once read past it; empty when there is
  /// none.
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

/// Scratch for checks that compare tensors with each other.
struct SafetensorsScratch {
  std::uint64_t key;  ///< start of the data, or a hash of the name
  std::uint64_t end;  ///< of the data
  std::uint64_t tag;  ///< which tensor: here the place of its name in the file
};

/// A whole file in memory, which must stay there.
class SafetensorsView {
 public:
  /// Checks the header's grammar, and for every tensor its size and that it lies within the file.
  /// Names and ranges are not compared with each other: see check_layout.
  static ViewStatus open(std::span<const std::byte> file, SafetensorsView& view) noexcept;

  /// Refuses names given twice, overlaps and gaps. `scratch` holds at least tensor_count() items.
  /// Time n log n.
  ViewStatus check_layout(std::span<SafetensorsScratch> scratch) const noexcept;

  std::size_t tensor_count() const noexcept { return tensor_count_; }
  /// A scan of the header: MissingTensor when there is no such tensor.
  ViewStatus find(std::string_view name, SafetensorsEntry& entry) const noexcept;
  /// All tensors in header order: `SafetensorsHeader header = view.header();`, then next() until
  /// end.
  SafetensorsHeader header() const noexcept { return SafetensorsHeader(header_); }
  /// The tensor's bytes: row-major, little-endian, of any alignment.
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
  std::uint64_t found = 0;     ///< where the tensor begins or ends, or the data section ends
  std::uint64_t expected = 0;  ///< where it should
  std::uint64_t tag = 0;       ///< of the tensor
};

/// The first place where the ranges [key, end) do not cover [0, data_bytes) exactly; gaps and
/// trailing bytes do not count when allowed. Sorts `ranges`. Each range has key <= end.
CoverageIssue check_coverage(std::span<SafetensorsScratch> ranges, std::uint64_t data_bytes,
                             bool allow_gaps) noexcept;

/// dtype of a name in SafeTensors' spelling ("F32"); DType::raw when unknown.
DType safetensors_dtype(std::string_view name) noexcept;
/// SafeTensors' spelling; empty for types that the format lacks.
std::string_view safetensors_dtype_name(DType dtype) noexcept;
/// Place in the order by which the reference implementation lays tensors out, highest first; -1 for
/// types that the format lacks.
int safetensors_dtype_rank(DType dtype) noexcept;

}  // namespace andiron::inline v1
