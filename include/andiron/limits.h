// SPDX-License-Identifier: MIT OR Apache-2.0
// All limits on what a file may ask for. Weight files are untrusted: nothing in them makes the
// library use more memory or time than these limits allow. Writers respect them too. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace andiron::inline v1 {

/// The most dimensions of a tensor. PyTorch stops at 64. A constant lets the freestanding parsers
/// store a shape without a heap.
inline constexpr std::size_t max_rank = 64;

/// The deepest JSON nesting; the reference reader's limit.
inline constexpr unsigned max_json_depth = 128;

/// The deepest CBOR and MessagePack nesting. For CBOR it is the limit of Burn's reader.
inline constexpr unsigned max_cbor_depth = 128;
inline constexpr unsigned max_msgpack_depth = 128;

/// The deepest nesting of lists, dicts and objects in a pickle: Python's own recursion limit.
inline constexpr unsigned max_pickle_depth = 1000;

/// The longest chain of views, casts and joins in one snapshot. Reading walks it.
inline constexpr unsigned max_expression_depth = 64;

/// Limits that a caller may change.
struct Limits {
  /// SafeTensors header: the reference reader's limit (decimal).
  std::uint64_t header_bytes = 100'000'000;
  /// Burnpack metadata: the limit of Burn's reader.
  std::uint64_t burnpack_metadata_bytes = std::uint64_t{100} << 20;
  /// Burn's reader refuses Burnpack files beyond these three, so they are not written. They do not
  /// bound reading, because data that is not requested costs nothing.
  std::uint64_t burnpack_tensors = 100'000;
  std::uint64_t burnpack_tensor_bytes = std::uint64_t{10} << 30;
  std::uint64_t burnpack_file_bytes = std::uint64_t{100} << 30;
  /// The header of one NumPy array: its dtype and shape. NumPy itself stops at 10 000 bytes.
  std::uint64_t npy_header_bytes = std::uint64_t{64} << 10;
  /// Memory for everything that opening a file, listing it and Archive::value() make of its bytes:
  /// names, entries, values, messages. Not tensor data, and not what the next three are about. By
  /// default 16 MiB and 48 times the size of the file, at most 4 GiB; real files take less than
  /// ten times the size of their header. A few bytes of pickle can ask for gigabytes.
  std::uint64_t memory_bytes = in_proportion;
  static constexpr std::uint64_t in_proportion = ~std::uint64_t{0};
  /// Decompressed data held at once: a gzip file, or an entry of a zip archive; half of what a
  /// small laptop has free. Several entries together take three eighths of it. With 256 times the
  /// file, it also bounds what is inflated again in vain.
  std::uint64_t inflated_bytes = std::uint64_t{2} << 30;
  /// How many times its compressed size data may inflate to, once it is more than 64 MiB. Weights
  /// compress to about nine tenths, sparse ones to a tenth; deflate could make a thousand times.
  std::uint64_t inflated_ratio = 64;
  /// Entries of a zip archive. A PyTorch file has one per storage and a few more.
  std::uint64_t zip_entries = 4'000'000;
  /// Values in one pickle: about thirty per tensor, each up to 64 bytes of memory.
  std::uint64_t pickle_values = 128'000'000;
  /// Steps that the walk over a pickle may take into objects it has visited before under another
  /// name.
  std::uint64_t pickle_repeats = 4'000'000;
  /// The size in memory of one PyTorch tensor that repeats its data through strides of zero.
  /// Sixteen times the size of the file is allowed too, if that is more.
  std::uint64_t expanded_bytes = std::uint64_t{1} << 30;
  /// The same for all tensors of an archive together, which a load or a conversion would read one
  /// after the other: those that share a storage count each.
  std::uint64_t expanded_bytes_in_all = std::uint64_t{2} << 30;
  /// Tensors in a file. A 100 MB header holds about two million; more than this is an attack.
  std::uint64_t tensors = 4'000'000;
  /// One name. Module paths are short; 64 KiB is more than any of them needs.
  std::uint64_t name_bytes = std::uint64_t{64} << 10;
  /// String metadata. Diffusion tools keep training logs of some hundred KB in it.
  std::uint64_t metadata_bytes = std::uint64_t{64} << 20;
  /// A shard index: about 100 bytes of JSON per tensor. The largest published ones have about 20
  /// MB.
  std::uint64_t index_bytes = std::uint64_t{64} << 20;
  /// Shards of one model. The largest published ones have a few hundred.
  std::uint64_t shards = 10'000;
  /// Memory that one load into a module may allocate for tensor data; unlimited by default. Beyond
  /// it, a load fails with OutOfMemory.
  std::uint64_t load_bytes = ~std::uint64_t{0};
  /// Tensor data held at once while saving or hashing, whatever the size of the model.
  std::uint64_t window_bytes = std::uint64_t{8} << 20;
};

/// Returns "tensors" for &Limits::tensors. Not freestanding.
std::string_view limit_name(std::uint64_t Limits::* limit) noexcept;

}  // namespace andiron::inline v1
