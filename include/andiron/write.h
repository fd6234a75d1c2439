// SPDX-License-Identifier: MIT OR Apache-2.0
// Archives to weight files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "andiron/archive.h"
#include "andiron/bytes.h"
#include "andiron/error.h"
#include "andiron/format.h"
#include "andiron/limits.h"
#include "andiron/progress.h"
#include "andiron/sink.h"
#include "andiron/snapshot.h"

namespace andiron::inline v1 {

struct WriteOptions {
  /// By the end of the file's name unless given (.safetensors, .bpk, .mpk, .mpk.gz, .npz,
  /// .npy); SafeTensors for memory and sinks.
  std::optional<Format> format = {};
  /// InvalidArgument when they are another format's.
  FormatSettings settings = {};
  bool overwrite = false;  ///< replace existing files; otherwise AlreadyExists
  bool sync = true;        ///< survive a power cut (fsync)
  /// When not 0: tensors are spread, in archive order, over files `STEM-00001-of-0000N.safetensors`
  /// of at most this many tensor bytes (a larger tensor gets a file of its own), with an index
  /// `STEM.safetensors.index.json`. A model that fits one file is written as one file. Shards of an
  /// archive without a "format" entry get the metadata format=pt, which Hugging Face's loaders ask
  /// for. Each shard takes two file descriptors until all are written.
  std::uint64_t max_shard_bytes = 0;
  /// Entries that are written beside those of the archive, or in their place.
  Metadata metadata = {};
  /// Checks and plans everything, but reads no tensor, makes no file and touches none.
  bool dry_run = false;
  Progress progress = {};
  Limits limits = {};
};

/// What a write made, or with dry_run would make.
struct WriteReport {
  std::vector<std::string> files = {};  ///< paths, the index last
  std::uint64_t bytes = 0;              ///< of all files
  std::size_t tensors = 0;
  /// What the writer of a model should know: what the format has no place for, and what it changes.
  std::vector<std::string> notes = {};
};

/// Writes an archive. The layout is fixed before any tensor is read; tensor data passes through one
/// window of limits.window_bytes. Files appear whole or not at all, and the targets may be the
/// files that the archive is read from. Of several shards, none
/// appears before all are written. A model has one form: an index beside a new single file, or a
/// single file beside new shards, of the same name, is AlreadyExists, or with overwrite is taken
/// away. Old shards that a new index does not name stay.
///
/// Values, metadata and ids that a format has no place for are left out, with a note.
///
/// SafeTensors: the bytes are those of the safetensors crate 0.8 for the same content, with
/// metadata sorted by key. Errors: UnsupportedDType for types the format lacks (c32, c128, qfloat),
/// BadHeader for names that are not written ("__metadata__", NUL, text that is not UTF-8).
///
/// Burnpack: the bytes are those of Burn for the same tensors in the same order, with their ids,
/// the metadata and the scalars of value(). Errors: UnsupportedDType for types that the format, or
/// the chosen release, lacks; LimitExceeded for what Burn's reader would refuse.
///
/// Records (.mpk, .mpk.gz): value() of an archive that was read from a record gives the structure;
/// otherwise it follows from the names: NAME.0, NAME.1 ... are a list.
///
/// NumPy (.npz, .npy): np.load reads it. An .npy file holds one tensor, without its name. Errors:
/// UnsupportedDType for types that NumPy lacks (bf16, f8), BadHeader for names that cannot be zip
/// entries.
Result<WriteReport> write(const Archive& archive, const std::string& path,
                          const WriteOptions& options = {});

/// The same for a list of tensors; of equal names the later one is written.
Result<WriteReport> write(const Snapshots& snapshots, const std::string& path,
                          const WriteOptions& options = {});

/// The same bytes into a sink; no shards, no dry run.
Result<WriteReport> write(const Archive& archive, Sink& sink, const WriteOptions& options = {});

/// The same bytes in memory.
Result<Bytes> write_to_memory(const Archive& archive, const WriteOptions& options = {});

/// A change to a file's string metadata: keys are removed first, then set.
struct MetadataEdit {
  Metadata set = {};                     ///< added or replaced
  std::vector<std::string> remove = {};  ///< dropped; absent keys are no error
  /// Change the file itself instead of replacing it. Only done when all changed bytes lie within
  /// one 4 KiB page of the file, so that a crash leaves the old or the new header; else
  /// Unsupported.
  bool in_place = false;
  bool sync = true;  ///< survive a power cut (fsync)
  Limits limits = {};
};

/// Edits `__metadata__` and nothing else: the rest of the header and all data stay byte for byte.
/// Unless in place, the new file is built beside the old one (sharing its blocks where the file
/// system has reflinks) and takes its name when complete.
Status edit_safetensors_metadata(const std::string& path, const MetadataEdit& edit);

}  // namespace andiron::inline v1
