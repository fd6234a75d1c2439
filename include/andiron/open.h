// SPDX-License-Identifier: MIT OR Apache-2.0
// Weight files to archives.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/file.h"
#include "andiron/limits.h"

namespace andiron::inline v1 {

/// The weight formats.
enum class Format : std::uint8_t {
  safetensors,
  burnpack,  ///< .bpk, of every release of Burn
  mpk,  ///< .mpk, .mpk.gz: named records of Burn up to 0.21. Reading takes .json and .json.gz too
  pytorch,  ///< .pt, .pth, .bin, .ckpt: what torch.save of any release wrote, and its relatives
};

/// "safetensors", "burnpack", "mpk", "pytorch": what Archive::format() says.
constexpr std::string_view format_name(Format format) noexcept {
  constexpr std::string_view names[] = {"safetensors", "burnpack", "mpk", "pytorch"};
  return names[static_cast<unsigned>(format)];
}

/// ".safetensors", ".bpk", ".mpk", ".pt".
constexpr std::string_view file_extension(Format format) noexcept {
  constexpr std::string_view extensions[] = {".safetensors", ".bpk", ".mpk", ".pt"};
  return extensions[static_cast<unsigned>(format)];
}

/// How forgiving a reader is.
enum class Strictness : std::uint8_t {
  lenient,   ///< oddities that cannot harm become notes: gaps between tensors, trailing bytes, NUL
             ///< padding, metadata keys given twice; in Burnpack, data that does not fit dtype and
             ///< shape is carried as raw bytes; in PyTorch files, tensors that cannot be read, as
             ///< where a file is cut, are skipped
  standard,  ///< what the format's own reader accepts, less what is ambiguous; unknown dtypes pass
  strict,  ///< as standard, and unknown dtypes are refused; in Burnpack also names given twice, of
           ///< which the last counts otherwise, and data that overlaps
};

struct OpenOptions {
  IoMode io = IoMode::automatic;
  Strictness strictness = Strictness::standard;
  /// Found by content unless given.
  std::optional<Format> format = {};
  Limits limits = {};
  /// NumPy's arrays beside PyTorch's tensors, which are random states more often than weights, are
  /// tensors as well. They always are in a file without tensors of PyTorch, and in a bare pickle.
  bool numpy_arrays = false;
};

/// Opens a weight file, a shard index (`*.safetensors.index.json`), or a folder that holds an
/// index or exactly one model (model.safetensors.index.json, model.safetensors and model.bpk come
/// before other names). `NAME.safetensors` also finds the shards of `NAME.safetensors.index.json`
/// when there is no such file. Reads the header alone; the format is found by content. Shards are
/// opened together and appear as one archive.
Result<Archive> open(const std::string& path, const OpenOptions& options = {});

/// The same for a file in memory, owned or static. Tensors borrow from it.
Result<Archive> open(Bytes bytes, const OpenOptions& options = {});

/// The same for any source.
Result<Archive> open(const ByteSourcePtr& source, const OpenOptions& options = {});

}  // namespace andiron::inline v1
