// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens weight files as archives.
//
//   Archive file = open("model.safetensors").value();
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
  lenient,   ///< harmless oddities become notes: gaps between tensors, trailing bytes, NUL padding,
             ///< repeated metadata keys. Burnpack: data whose size does not fit dtype and shape is
             ///< kept as raw bytes. PyTorch: unreadable tensors are skipped, for example in a
             ///< truncated file
  standard,  ///< accepts what the format's own reader accepts, except ambiguous files. Unknown
             ///< dtypes become DType::raw
  strict,    ///< as standard, but refuses unknown dtypes. Burnpack: also refuses repeated names
             ///< (otherwise the last one counts) and overlapping data
};

/// A tensor that the caller knows to be in a file.
struct ExpectedTensor {
  std::string name;
  std::optional<Shape> shape = {};  ///< empty: any shape
};

struct OpenOptions {
  /// How the file is read (file.h).
  IoMode io = IoMode::automatic;
  Strictness strictness = Strictness::standard;
  /// Compares every checksum that the file has for data that is read. Zip archives have one for
  /// each record (PyTorch since 1.6, TorchScript, .pt2, .npz). Without this, only records that are
  /// read whole are compared: pickles, small records, deflated data. With it, a stored record is
  /// read whole once before its first byte is returned; opening an .npz file reads all of it. A
  /// mismatch is ChecksumMismatch. Notes say where a file has no checksums. Gzip files are always
  /// compared.
  bool verify = false;
  /// The format. Detected from the content if empty.
  std::optional<Format> format = {};
  /// Used if the file has that format; otherwise ignored.
  FormatSettings settings = {};
  /// All tensors in file order, for files that have no names (Burn's .bin records). A store fills
  /// this in from the module.
  std::optional<std::vector<ExpectedTensor>> expected = {};
  /// What the file may ask for (limits.h).
  Limits limits = {};
};

/// Opens a weight file, a shard index (`*.safetensors.index.json`, `*.bin.index.json`) or a folder.
/// Reads only the header. Detects the format from the content. The shards of a model appear as one
/// archive.
///
/// If `NAME.safetensors` does not exist but `NAME.safetensors.index.json` does, opens that index.
/// The same holds for the extensions of PyTorch.
///
/// A folder must contain an index or exactly one model. The names model.safetensors.index.json,
/// model.safetensors and model.bpk are preferred, in this order; PyTorch files come after all of
/// these, and NumPy files last.
///
/// Fails with NotFound if nothing is there, NotAWeightFile if the content is not a known format or
/// the folder has no single model, LimitExceeded or HeaderTooLarge if the file asks for more than
/// `limits`, MissingShard if a shard is not there, and the codes of broken files (Truncated,
/// BadHeader, BadOffsets, BadPickle, ChecksumMismatch and so on).
Result<Archive> open(const std::string& path, const OpenOptions& options = {});

/// The same for files that are not in a folder on disk. Shards are opened from `files`. If `name`
/// is empty, opens the only model in the set.
Result<Archive> open(const FileSet& files, const std::string& name = {},
                     const OpenOptions& options = {});

/// The same for a file in memory. Tensors borrow from `bytes` and keep them alive.
Result<Archive> open(Bytes bytes, const OpenOptions& options = {});

/// The same for any source. A source has no companion files, so a shard index fails with
/// Unsupported.
Result<Archive> open(const ByteSourcePtr& source, const OpenOptions& options = {});

}  // namespace andiron::inline v1
