// SPDX-License-Identifier: MIT OR Apache-2.0
// Every limit on what a file may ask for, in one place. Weight files come from strangers: nothing
// in them decides how much memory or time is spent beyond these numbers. Writers keep to them too.
// Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>

namespace andiron::inline v1 {

/// The most dimensions a tensor may have. PyTorch stops at 64; a fixed number lets the freestanding
/// parsers keep a shape without a heap.
inline constexpr std::size_t max_rank = 64;

/// The deepest JSON nesting followed, the reference reader's number.
inline constexpr unsigned max_json_depth = 128;

/// The deepest CBOR and MessagePack nesting followed; for CBOR the number of Burn's reader.
inline constexpr unsigned max_cbor_depth = 128;
inline constexpr unsigned max_msgpack_depth = 128;

/// The deepest nesting of lists, dicts and objects followed in a pickle: Python's own recursion
/// limit.
inline constexpr unsigned max_pickle_depth = 1000;

/// The longest chain of views, casts and joins that one snapshot may hold: reading walks it.
inline constexpr unsigned max_expression_depth = 64;

/// Limits that a caller may move.
struct Limits {
  /// SafeTensors header; the reference reader's own number (decimal).
  std::uint64_t header_bytes = 100'000'000;
  /// Burnpack metadata; the number of Burn's reader.
  std::uint64_t burnpack_metadata_bytes = std::uint64_t{100} << 20;
  /// Burn's reader refuses Burnpack files beyond these three, so they are not written. They do not
  /// bound reading, which costs nothing for data that is not asked for.
  std::uint64_t burnpack_tensors = 100'000;
  std::uint64_t burnpack_tensor_bytes = std::uint64_t{10} << 30;
  std::uint64_t burnpack_file_bytes = std::uint64_t{100} << 30;
  /// The header of one NumPy array: its dtype and shape. NumPy itself stops at 10 000 bytes.
  std::uint64_t npy_header_bytes = std::uint64_t{64} << 10;
  /// What a compressed file may grow to in memory.
  std::uint64_t inflated_bytes = std::uint64_t{8} << 30;
  /// Entries of a zip archive: one for each storage of a PyTorch file, and a few more.
  std::uint64_t zip_entries = 4'000'000;
  /// Values in one pickle, some thirty a tensor; each takes up to 64 bytes of memory.
  std::uint64_t pickle_values = 128'000'000;
  /// Steps of the walk over a pickle into what it has been in before, under another name.
  std::uint64_t pickle_repeats = 4'000'000;
  /// All names of a PyTorch file together, which a few bytes of pickle can multiply.
  std::uint64_t name_bytes_in_all = std::uint64_t{512} << 20;
  /// What one tensor of a PyTorch file may take in memory that repeats its data by strides of zero,
  /// or sixteen times the size of the file, where that is more.
  std::uint64_t expanded_bytes = std::uint64_t{1} << 30;
  /// A 100 MB header holds about two million tensors; beyond this is an attack.
  std::uint64_t tensors = 4'000'000;
  /// Module paths are short; 64 KiB leaves room for anything but abuse.
  std::uint64_t name_bytes = std::uint64_t{64} << 10;
  /// Diffusion tools keep training logs of some hundred KB in metadata.
  std::uint64_t metadata_bytes = std::uint64_t{64} << 20;
  /// A shard index is JSON text of about 100 bytes a tensor; the largest published ones have some
  /// 20 MB.
  std::uint64_t index_bytes = std::uint64_t{64} << 20;
  /// Shards of one model; the largest published ones have a few hundred.
  std::uint64_t shards = 10'000;
  /// Tensor data that one load into a module may hold; as much as there is unless set.
  std::uint64_t load_bytes = ~std::uint64_t{0};
  /// Tensor data held at once while saving or hashing, whatever the size of the model.
  std::uint64_t window_bytes = std::uint64_t{8} << 20;
};

}  // namespace andiron::inline v1
