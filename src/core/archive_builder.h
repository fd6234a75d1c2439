// SPDX-License-Identifier: MIT OR Apache-2.0
// Fills an Archive; every format's reader uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "andiron/archive.h"
#include "andiron/bytes.h"
#include "src/core/archive_state.h"

namespace andiron::inline v1::detail {

class ArchiveBuilder {
 public:
  ArchiveBuilder(std::string origin, std::string format, std::string packaging);

  // Reserves room for this many tensors. Call it before the first is added: growing later copies.
  Status reserve(std::size_t tensors, std::size_t dims);
  // Adds a file that contains tensors; returns its number.
  std::uint32_t add_file(ByteSourcePtr source, std::string shard_name = {});
  // Adds the file of another archive under the name of a shard. If that file is compressed, its
  // tensors are in no file, and only its size counts.
  std::uint32_t add_file_of(const Archive& archive, std::string shard_name);
  // Keeps the text that names point into.
  void keep(Bytes header);
  // Returns a copy of `text` that lives as long as the archive.
  std::string_view store(std::string_view text);

  struct TensorRun {
    std::string_view name;  // in kept or stored text
    DType dtype;
    std::string_view file_dtype;  // likewise
    std::span<const std::uint64_t> shape;
    std::uint32_t file;
    std::uint64_t offset;
    std::uint64_t byte_size;
    std::optional<ParamId> param_id = {};
  };
  // Appends a tensor that is one run of row-major bytes.
  Status add(const TensorRun& run);
  // Appends any other tensor.
  Status add(std::string_view name, std::string_view file_dtype, TensorSnapshot snapshot);
  // Removes all tensors, and the skipped ones.
  void remove_tensors();
  // Moves all runs within their files, modulo 2^64.
  void move_runs(std::uint64_t by);
  // Gives tensor `index` an id.
  void set_param_id(std::uint32_t index, ParamId id);
  // Appends tensor `index` of another archive, whose file is number `file` of this one.
  Status add_from(const Archive& archive, std::size_t index, std::uint32_t file);
  // Shares the names of another archive, so that add_from need not copy them.
  void keep_names_of(const Archive& archive);

  std::size_t size() const noexcept { return state_->entries.size(); }
  // Adds all names to the hash table, after all tensors are there: done at once, the memory for
  // each name can be prefetched. Returns the first tensor whose name an earlier one has.
  Result<std::optional<std::uint32_t>> index_names();
  // Treats a metadata entry as a tie if its key is not a tensor and its value is, and adds a note.
  // safetensors.torch.save_model drops all but one of the tensors that share memory and records
  // dropped name -> kept name this way; so does this library. REQUIRES: index_names() was called.
  void take_aliases_from_metadata();
  // REQUIRES: index_names() was called.
  std::optional<std::uint32_t> find(std::string_view name) const;
  ArchiveState& state() noexcept { return *state_; }
  const ArchiveState& state() const noexcept { return *state_; }
  Archive finish() { return Archive(std::move(state_)); }

 private:
  std::shared_ptr<ArchiveState> state_;
};

}  // namespace andiron::inline v1::detail
