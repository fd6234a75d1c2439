// SPDX-License-Identifier: MIT OR Apache-2.0
// The data of an Archive: flat tables with one entry per tensor.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/archive.h"
#include "src/core/lazy_value.h"
#include "src/core/name_table.h"
#include "src/core/shared_array.h"

namespace andiron::inline v1::detail {

// Text at stable addresses. A copy shares the stored text and puts new text elsewhere: the rest of
// a chunk belongs to the arena that allocated it.
class TextArena {
 public:
  TextArena() = default;
  TextArena(const TextArena& other) : chunks_(other.chunks_) {}
  TextArena& operator=(const TextArena& other) {
    if (this != &other) {
      chunks_ = other.chunks_;
      own_chunks_ = 0;
      left_ = 0;
    }
    return *this;
  }
  std::string_view store(std::string_view text);
  // Room for this many bytes, of which none is lost.
  Status reserve(std::size_t bytes);

 private:
  Status add_chunk(std::size_t bytes);

  std::vector<Bytes> chunks_;
  std::size_t own_chunks_ = 0;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

struct ArchiveEntry {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  const char* name_data;
  const char* file_dtype_data;
  std::uint64_t offset;  // absolute in its file
  std::uint64_t byte_size;
  std::uint64_t param_id;  // where has_param_id
  std::uint32_t name_size;
  std::uint32_t file_dtype_size;
  std::uint32_t dims_begin;
  std::uint32_t file;      // index into ArchiveState::files
  std::uint32_t snapshot;  // index into ArchiveState::snapshots for tensors that are no plain run
  std::uint8_t rank;
  DType dtype;
  bool has_param_id;

  std::string_view name() const noexcept { return {name_data, name_size}; }
  std::string_view file_dtype() const noexcept { return {file_dtype_data, file_dtype_size}; }
};

struct ArchiveFile {
  ByteSourcePtr source;
  std::string name;  // of the shard; empty when there is one file
};

struct ArchiveState;

// The archive that a selection or renaming was made from. Tensors added since come last.
struct NameOrigin {
  std::shared_ptr<ArchiveState> before;
  std::vector<std::uint32_t> indices;  // of a selection: where each tensor was
  std::optional<NameStage> stage;      // that renamed all in their places; nothing for a selection

  std::size_t index_of(std::size_t index) const noexcept { return stage ? index : indices[index]; }
};

struct ArchiveState {
  std::string origin;
  std::string format;
  std::string packaging;
  bool is_pickled = false;
  std::optional<Layout> marked_layout;  // counts more than what the file shows
  std::uint64_t file_bytes = 0;
  SharedArray<ArchiveEntry> entries;
  SharedArray<std::uint64_t> dims;
  NameTable names;
  std::vector<ArchiveFile> files;
  std::vector<Bytes> headers;  // that names point into
  TextArena texts;             // the other names
  std::vector<TensorSnapshot> snapshots;
  Aliases aliases;
  Metadata metadata;
  LazyValue value;
  std::vector<Message> notes;
  std::vector<Skipped> skipped;
  std::shared_ptr<const NameOrigin> came_from;

  std::string_view name_at(std::uint32_t index) const noexcept { return entries[index].name(); }
  // Returns an entry for a tensor that is not a plain run. What the entry refers to is stored
  // first, so that a failure leaves the archive intact.
  Result<ArchiveEntry> entry_for(std::string_view name, std::string_view file_dtype,
                                 TensorSnapshot snapshot);
  // Appends an entry and its name, or returns the index of the tensor that already has the name.
  // REQUIRES: the tables are private, and all names are indexed.
  Result<std::optional<std::uint32_t>> append(const ArchiveEntry& entry);
  // Rebuilds the name table with room for `count`. Returns the first two tensors that share a name.
  Result<std::optional<std::pair<std::uint32_t, std::uint32_t>>> index_names(std::size_t count);
  // Changes the aliases and the metadata that records them.
  void replace_aliases(Aliases next);
  // What tensor `index` was taken from; nullptr for one that was not there before.
  const ArchiveState* before(std::size_t index) const noexcept;
  // Moves the tables to memory that copies of this state cannot see.
  Status make_private();
};

}  // namespace andiron::inline v1::detail
