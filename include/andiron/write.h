// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes archives as weight files.
//
//   write(archive, "model.safetensors", {.overwrite = true}).value();
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

/// What is written, and how.
struct WriteOptions {
  /// The format. If empty, it follows from the extension (.safetensors, .bpk, .mpk, .mpk.gz, .npz,
  /// .npy); memory and sinks get SafeTensors.
  std::optional<Format> format = {};
  /// Fails with InvalidArgument if these are the settings of another format.
  FormatSettings settings = {};
  bool overwrite = false;  ///< replace existing files; otherwise fail with AlreadyExists
  bool sync = true;        ///< survive a power cut (fsync)
  /// If not 0, tensors are distributed in archive order over files
  /// `STEM-00001-of-0000N.safetensors` of at most this many tensor bytes, with an index
  /// `STEM.safetensors.index.json`. A larger tensor gets its own file. A model that fits in one
  /// file is written as one file. Shards that replace others have a number in their names,
  /// `STEM-1-00001-of-0000N.safetensors`: WriteReport::files tells the names.
  ///
  /// If the archive has no "format" metadata, shards get format=pt, which Hugging Face's loaders
  /// require.
  std::uint64_t max_shard_bytes = 0;
  /// Added to the metadata of the archive; replaces entries with the same key.
  Metadata metadata = {};
  /// Check and plan everything, but read no tensor and touch no file.
  bool dry_run = false;
  /// Called while data is written; may cancel.
  Progress progress = {};
  /// What the writer may use and produce (limits.h).
  Limits limits = {};
};

/// What a write produced, or would produce (dry_run).
struct WriteReport {
  std::vector<std::string> files = {};  ///< paths, the index last
  std::uint64_t bytes = 0;              ///< of all files
  std::size_t tensors = 0;              ///< written
  /// What the format could not store, and what it changed.
  std::vector<Message> notes = {};
};

/// Writes an archive to a file. The layout is fixed before any tensor is read. Tensor data passes
/// through one window of limits.window_bytes.
///
/// The model changes at once, so the target may be a file that the archive is read from. Whatever
/// fails, and whenever the process is killed, the path names the old model or the new one; shards
/// count as one model, and the rename of their index changes it. What a killed process left is
/// removed by the next save to the same path. Programs that look for shards without the index may
/// see old and new ones side by side for a moment.
///
/// A model has one form: a new single file next to an index of the same name, or new shards next to
/// a single file, fails with AlreadyExists. With `overwrite`, the old form is removed, and so are
/// shards that the old index named.
///
/// A replaced file keeps its owner, group, permissions and extended attributes as far as the
/// process may; a note tells what was lost. New shards take these from the old index.
///
/// Values, metadata and ids that the format cannot store are left out, with a note.
///
/// Fails with AlreadyExists, Cancelled, Io, Unsupported (the format cannot be written, or has no
/// shards), and the errors of reading. Per format:
///
/// SafeTensors: writes the same bytes as the safetensors crate 0.8, with metadata sorted by key.
/// UnsupportedDType for c32, c128 and qfloat. BadHeader for names that cannot be written
/// ("__metadata__", NUL, invalid UTF-8).
///
/// Burnpack: writes the same bytes as Burn for the same tensors in the same order, with ids,
/// metadata and the scalars of value(). UnsupportedDType for types that the format, or the chosen
/// release, lacks. LimitExceeded for what Burn's reader would refuse.
///
/// Records (.mpk, .mpk.gz): the structure is value() if the archive was read from a record.
/// Otherwise it follows from the names: NAME.0, NAME.1 ... become a list.
///
/// NumPy (.npz, .npy): np.load reads the result. An .npy file contains one tensor, without its
/// name. UnsupportedDType for types that NumPy lacks (bf16, f8). BadHeader for names that cannot be
/// zip entries.
Result<WriteReport> write(const Archive& archive, const std::string& path,
                          const WriteOptions& options = {});

/// The same for a list of tensors. If a name repeats, the later tensor is written, and a note says
/// so.
Result<WriteReport> write(const Snapshots& snapshots, const std::string& path,
                          const WriteOptions& options = {});

/// Writes the same bytes to a sink. Fails with InvalidArgument if max_shard_bytes or dry_run is
/// set.
Result<WriteReport> write(const Archive& archive, Sink& sink, const WriteOptions& options = {});

/// Returns the same bytes in memory.
Result<Bytes> write_to_memory(const Archive& archive, const WriteOptions& options = {});

/// A change to a file's string metadata. Keys are removed first, then set.
struct MetadataEdit {
  Metadata set = {};                     ///< added or replaced
  std::vector<std::string> remove = {};  ///< dropped; absent keys are ignored
  /// Change the file itself instead of replacing it. Not atomic: a power cut during the write can
  /// leave a header that is neither the old nor the new one. Fails with Unsupported unless all
  /// changed bytes are in one 4 KiB page of the file.
  bool in_place = false;
  bool sync = true;  ///< survive a power cut (fsync)
  Limits limits = {};
};

/// Edits the metadata of a SafeTensors file. The rest of the header and all data stay the same,
/// byte for byte. Unless in_place is set, builds a new file next to the old one and renames it when
/// complete; on file systems with reflinks the two share their blocks.
Status edit_safetensors_metadata(const std::string& path, const MetadataEdit& edit);

}  // namespace andiron::inline v1
