// SPDX-License-Identifier: MIT OR Apache-2.0
// Weight files to archives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/file.h"
#include "andiron/format.h"
#include "andiron/limits.h"
#include "andiron/shape.h"

namespace andiron::inline v1 {

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

/// A tensor that a caller knows to be in a file.
struct ExpectedTensor {
  std::string name;
  std::optional<Shape> shape = {};  ///< nothing where any will do
};

struct OpenOptions {
  IoMode io = IoMode::automatic;
  Strictness strictness = Strictness::standard;
  /// Found by content unless given.
  std::optional<Format> format = {};
  /// Taken where the file is of that format.
  FormatSettings settings = {};
  /// All tensors in their order, for files that have no names (Burn's .bin records). A store gives
  /// those of the module.
  std::optional<std::vector<ExpectedTensor>> expected = {};
  Limits limits = {};
};

/// Opens a weight file, a shard index (`*.safetensors.index.json`), or a folder that holds an
/// index or exactly one model (model.safetensors.index.json, model.safetensors and model.bpk come
/// before other names). `NAME.safetensors` also finds the shards of `NAME.safetensors.index.json`
/// when there is no such file. Reads the header alone; the format is found by content. Shards are
/// opened together and appear as one archive.
Result<Archive> open(const std::string& path, const OpenOptions& options = {});

/// The same for files that are not in a folder: shards and the like are opened from `files`. An
/// empty name stands for the one model among them.
Result<Archive> open(const FileSet& files, const std::string& name = {},
                     const OpenOptions& options = {});

/// The same for a file in memory, owned or static. Tensors borrow from it.
Result<Archive> open(Bytes bytes, const OpenOptions& options = {});

/// The same for any source. Nothing lies beside it: an index of shards is Unsupported.
Result<Archive> open(const ByteSourcePtr& source, const OpenOptions& options = {});

}  // namespace andiron::inline v1
