// SPDX-License-Identifier: MIT OR Apache-2.0
// A tensor as PyTorch files describe it: a strided view of a storage.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/snapshot.h"
#include "src/core/archive_builder.h"
#include "src/format/pytorch/element_type.h"

namespace andiron::inline v1::detail {

// Bytes that tensors are views of.
struct Storage {
  static constexpr std::uint32_t no_file = ~std::uint32_t{0};

  // Null for one that lies in a file of the archive, where nobody needs it: counting who holds it,
  // for each tensor, would show.
  ByteSourcePtr source;
  std::uint64_t offset = 0;  // in the source
  std::uint64_t bytes = 0;
  const ElementType* type = nullptr;
  // Number of the archive's file when it lies in one of them.
  std::uint32_t file = no_file;
  enum class Home : std::uint8_t {
    container,
    pickle,   // in a file of its own, in bytes of the pickle
    nowhere,  // on the device "meta", which has no data
  };
  Home home = Home::container;
};

struct TorchTensor {
  Storage storage;
  const ElementType* type = nullptr;
  std::uint64_t offset = 0;  // in elements, as the strides
  std::size_t rank = 0;
  // The first `rank` count. Left unset: clearing a kilobyte for each tensor would show.
  std::array<std::uint64_t, max_rank> shape;
  std::array<std::int64_t, max_rank> strides;
  bool conjugate = false;
  bool negate = false;
  bool big_endian = false;
  // For a quantized tensor: its elements as they are stored.
  bool as_int_repr = false;
  // The type that elements are converted to when read; nullptr for none.
  const ElementType* converted = nullptr;

  // Whether the elements are row-major without gaps, ignoring the strides of dimensions of size 1.
  bool is_contiguous() const noexcept;
  void set_row_major() noexcept;
  // Fails unless every element is inside the storage.
  Status check() const;
  // Fails if the tensor is not a run and cannot be read otherwise: swapped, negated or converted.
  // REQUIRES: check() passed.
  Status check_view() const;
  // Fails if all elements together take more than `most` bytes. REQUIRES: check() passed.
  Status check_size(std::uint64_t most) const;

  DType dtype() const noexcept { return as_int_repr ? type->int_repr : type->dtype; }
  bool converts() const noexcept { return converted != nullptr && converted != type; }
  // Empty unless the dtype is raw.
  std::string_view raw_name() const noexcept {
    return dtype() == DType::raw ? type->torch_name : std::string_view();
  }
  // The shape in elements of our dtype.
  Shape our_shape() const;
  std::uint64_t byte_size() const noexcept {
    std::uint64_t bytes = type->bytes;
    for (std::size_t d = 0; d < rank; ++d) bytes *= shape[d];
    return bytes;
  }
  // Whether it is one run of bytes in the form that read() returns.
  bool is_run() const noexcept;
  // In the storage's source; a tensor without elements lies anywhere.
  std::uint64_t first_byte() const noexcept {
    return storage.offset + (byte_size() == 0 ? 0 : offset * type->bytes);
  }

  // REQUIRES: check() passed, and the storage has a source.
  Result<TensorSnapshot> snapshot(std::string path) const;
  // Into the tables of an archive, where it is a run of one of its files; else as a snapshot.
  // REQUIRES: check() passed; the builder stored the name; the storage has a source, or a file.
  Status add_to(ArchiveBuilder& builder, std::string_view stored_name) const;
};

// The most memory that one tensor of a file may take: strides of zero can repeat a few bytes
// endlessly.
std::uint64_t most_tensor_bytes(std::uint64_t file_bytes, const Limits& limits);

}  // namespace andiron::inline v1::detail
