// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack files in memory, for firmware and the browser: no heap, file system, exceptions or
// threads. Also the parser behind andiron::open. Reads the files of every Burn release.
// Freestanding: needs only memcpy, memcmp and the like.
//
//   BurnpackView view;
//   ViewStatus status = BurnpackView::open(bytes, view);
//   BurnpackEntry entry;
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
#include "andiron/quant_scheme.h"

namespace andiron::inline v1 {

/// Groups of Burn releases that write the same Burnpack files. The version number in the file is 1
/// in all of them.
enum class BurnpackGeneration : std::uint8_t {
  burn_0_19,      ///< data directly after the metadata, without gaps; also 0.20.0-pre.1 to pre.4
  burn_0_20,      ///< every tensor at a multiple of 256 bytes; booleans are "Bool"
  burn_0_21,      ///< booleans are {"Bool": "Native"}
  burn_0_22_pre,  ///< 0.22.0-pre.1 and pre.2: scalars; quantization with two levels
  burn_0_22,      ///< 0.22.0 and later: another quantization schema
};

/// The UTF-8 text of a CBOR string, checked. A string of indefinite length consists of chunks, each
/// with its own length before it.
struct CborText {
  std::string_view raw;  ///< the text, or all chunks with their lengths
  bool is_chunked = false;

  /// Compares the text without the lengths.
  bool equals(std::string_view text) const noexcept;
  /// Copies the text into `out`, which needs room for raw.size() bytes. Returns its size.
  std::size_t decode(char* out) const noexcept;
};

/// One tensor of the metadata.
struct BurnpackEntry {
  CborText name;
  DType dtype = DType::raw;  ///< raw if dtype_name is unknown
  /// "F32", "Flex32", "Bool" (up to 0.20), "Bool(Native)", "Bool(U8)", "Bool(U32)", "QFloat", or
  /// the file's own name for an unknown type.
  std::string_view dtype_name;
  QuantScheme scheme;       ///< for DType::qfloat
  std::uint64_t begin = 0;  ///< of the data, from the start of the data section
  std::uint64_t end = 0;
  std::size_t rank = 0;
  std::uint64_t shape[max_rank] = {};
  bool has_param_id = false;
  std::uint64_t param_id = 0;
  std::uint64_t header_offset = 0;  ///< of the name, from the start of the file
  unsigned unknown_keys = 0;    ///< ignored keys other than dtype, shape, data_offsets and param_id
  bool has_wrong_size = false;  ///< raw because of BurnpackHeader::allow_wrong_sizes
  /// The oldest and newest releases that write such an entry.
  BurnpackGeneration earliest = BurnpackGeneration::burn_0_19;
  BurnpackGeneration latest = BurnpackGeneration::burn_0_22;

  std::span<const std::uint64_t> dims() const noexcept { return {shape, rank}; }
};

/// A typed number next to the tensors.
struct BurnpackScalar {
  enum class Kind : std::uint8_t { integer, unsigned_integer, floating, boolean };
  Kind kind = Kind::integer;
  std::int64_t integer = 0;
  std::uint64_t unsigned_integer = 0;
  double floating = 0;
  bool boolean = false;
};

/// Reads the metadata entry by entry. Checks CBOR grammar, field types, and byte count against
/// shape and dtype. Repeated names are returned each time. After a failure, every call fails the
/// same way.
class BurnpackHeader {
 public:
  enum class Item : std::uint8_t { tensor, metadata, scalar, end, error };

  /// `cbor` is the metadata, which starts at byte 10 of the file.
  explicit BurnpackHeader(std::span<const std::byte> cbor) noexcept : cbor_(cbor) {}

  /// Tensors whose bytes do not fit dtype and shape become DType::raw instead of an error.
  void allow_wrong_sizes() noexcept { allow_wrong_sizes_ = true; }

  /// Reads the next item. A tensor goes into `entry`; metadata goes into key() and value(), a
  /// scalar into key() and scalar().
  Item next(BurnpackEntry& entry) noexcept;

  const CborText& key() const noexcept { return key_; }      ///< of metadata or a scalar
  const CborText& value() const noexcept { return value_; }  ///< of metadata
  const BurnpackScalar& scalar() const noexcept { return scalar_; }
  /// The number of entries that the map of tensors announces. 0 before next() reaches it, and if it
  /// announces none.
  std::uint64_t announced_tensors() const noexcept { return announced_tensors_; }
  /// Ignored keys other than tensors, metadata and scalars.
  unsigned unknown_keys() const noexcept { return unknown_keys_; }
  /// Bytes after the end of the CBOR item, once that is reached. Burn ignores them.
  std::size_t trailing_bytes() const noexcept { return cbor_.size() - at_; }
  ViewStatus status() const noexcept { return status_; }

 private:
  enum class Place : std::uint8_t { start, top, tensors, metadata, scalars, end };

  std::span<const std::byte> cbor_;
  std::size_t at_ = 0;
  Place place_ = Place::start;
  bool allow_wrong_sizes_ = false;
  bool seen_[3] = {};  // tensors, metadata, scalars
  struct Open {
    std::uint64_t left = 0;
    bool indefinite = false;
  };
  Open top_;
  Open inner_;
  std::uint64_t announced_tensors_ = 0;
  unsigned unknown_keys_ = 0;
  CborText key_;
  CborText value_;
  BurnpackScalar scalar_;
  ViewStatus status_;
};

/// Where the data is, and which releases may have written it.
struct BurnpackLayout {
  bool is_aligned = true;        ///< tensors at multiples of 256 bytes; false for 0.19
  std::uint64_t data_begin = 0;  ///< of the data section, from the start of the file
  std::uint64_t data_bytes = 0;  ///< from there to the end of the last tensor
  /// The oldest and newest releases that may have written the file, judged by its content.
  BurnpackGeneration earliest = BurnpackGeneration::burn_0_19;
  BurnpackGeneration latest = BurnpackGeneration::burn_0_22;
};

/// A whole file in memory. The memory must outlive the view.
class BurnpackView {
 public:
  /// Checks the metadata's grammar, and each tensor's size and that it is inside the file. If a
  /// name repeats, find() returns the last one, as Burn does. O(n).
  static ViewStatus open(std::span<const std::byte> file, BurnpackView& view) noexcept;

  std::size_t tensor_count() const noexcept { return tensor_count_; }
  const BurnpackLayout& layout() const noexcept { return layout_; }
  /// Finds a tensor by a scan of the metadata, O(n). Fails with MissingTensor if there is none.
  ViewStatus find(std::string_view name, BurnpackEntry& entry) const noexcept;
  /// All tensors in the order of the metadata, which Burn sorts bytewise by name. Call next() on
  /// the result until it returns `end`.
  BurnpackHeader header() const noexcept { return BurnpackHeader(cbor_); }
  /// Returns the tensor's bytes: row-major, little-endian. If the layout is aligned, they are at a
  /// multiple of 256 bytes from the start of the file.
  std::span<const std::byte> data(const BurnpackEntry& entry) const noexcept {
    return file_.subspan(static_cast<std::size_t>(layout_.data_begin + entry.begin),
                         static_cast<std::size_t>(entry.end - entry.begin));
  }

 private:
  std::span<const std::byte> file_;
  std::span<const std::byte> cbor_;
  BurnpackLayout layout_;
  std::size_t tensor_count_ = 0;
};

/// Finds the layout from all entries together, because the version number does not determine it. In
/// files of 0.19, data directly follows the metadata; later, it starts at a multiple of 256 bytes.
class BurnpackSurvey {
 public:
  void add(const BurnpackEntry& entry) noexcept;
  void add_metadata(const CborText& key, const CborText& value) noexcept;
  void add_scalar() noexcept { raise_earliest(BurnpackGeneration::burn_0_22_pre); }

  /// Returns the layout. `after_metadata` is the file's content from the end of the metadata to the
  /// next multiple of 256 bytes, or to the end of the file.
  BurnpackLayout layout(std::uint64_t metadata_bytes, std::uint64_t file_bytes,
                        std::span<const std::byte> after_metadata) const noexcept;

  /// True if some tensors overlap: together they have more bytes than the range they are in.
  bool overlaps() const noexcept { return tensor_bytes_ > data_bytes_; }

 private:
  // The generation that the metadata names; false if it names none.
  bool told_generation(BurnpackGeneration& generation) const noexcept;
  void raise_earliest(BurnpackGeneration generation) noexcept {
    if (earliest_ < generation) earliest_ = generation;
  }

  std::uint64_t data_bytes_ = 0;    // the highest end
  std::uint64_t tensor_bytes_ = 0;  // of all tensors together, saturated
  bool has_data_ = false;
  bool all_aligned_ = true;
  // Metadata: the producer, its version, and the release that Andiron wrote for.
  enum class Producer : std::uint8_t { other, burn, andiron };
  Producer producer_ = Producer::other;
  char version_[16] = {};
  char burn_[16] = {};
  BurnpackGeneration earliest_ = BurnpackGeneration::burn_0_19;
  BurnpackGeneration latest_ = BurnpackGeneration::burn_0_22;
};

inline constexpr std::size_t burnpack_header_bytes = 10;
inline constexpr std::uint64_t burnpack_alignment = 256;
/// Returns the next multiple of 256 at or after `offset`.
constexpr std::uint64_t burnpack_aligned(std::uint64_t offset) noexcept {
  return (offset + burnpack_alignment - 1) / burnpack_alignment * burnpack_alignment;
}

/// Returns the dtype for Burnpack's name ("F32", "Flex32"), or DType::raw if it is unknown.
/// Booleans and quantized types do not have plain names.
DType burnpack_dtype(std::string_view name) noexcept;
/// Returns Burnpack's name; empty for dtypes that the format lacks or that do not have plain names.
std::string_view burnpack_dtype_name(DType dtype) noexcept;

/// Checks the first 10 bytes and reads the size of the metadata.
ViewStatus read_burnpack_header(std::span<const std::byte> head,
                                std::uint64_t& metadata_bytes) noexcept;

/// Returns "0.19" and so on; "0.22-pre" for the previews.
constexpr std::string_view name_of(BurnpackGeneration generation) noexcept {
  constexpr std::string_view names[] = {"0.19", "0.20", "0.21", "0.22-pre", "0.22"};
  return names[static_cast<unsigned>(generation)];
}

/// Finds the generation of a Burn release by its number ("0.21.0"). Returns false for other text.
constexpr bool burnpack_generation_of(std::string_view release,
                                      BurnpackGeneration& generation) noexcept {
  // Not starts_with: it may throw, which firmware cannot link.
  const auto begins_with = [&](std::string_view prefix) {
    std::size_t same = 0;
    while (same < prefix.size() && same < release.size() && prefix[same] == release[same]) ++same;
    return same == prefix.size();
  };
  constexpr std::string_view preview = "0.20.0-pre.";
  const bool is_early = release.size() == preview.size() + 1 && release[release.size() - 1] <= '4';
  if (begins_with("0.19.") || (begins_with(preview) && is_early)) {
    generation = BurnpackGeneration::burn_0_19;
  } else if (begins_with("0.20.")) {
    generation = BurnpackGeneration::burn_0_20;
  } else if (begins_with("0.21.")) {
    generation = BurnpackGeneration::burn_0_21;
  } else if (release == "0.22.0-pre.1" || release == "0.22.0-pre.2") {
    generation = BurnpackGeneration::burn_0_22_pre;
  } else if (begins_with("0.22.") || begins_with("0.23.")) {
    generation = BurnpackGeneration::burn_0_22;
  } else {
    return false;
  }
  return true;
}

}  // namespace andiron::inline v1
