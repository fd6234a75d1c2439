// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/archive_test.cpp
#include "src/core/archive_builder.h"

#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

ArchiveBuilder::ArchiveBuilder(std::string origin, std::string format, std::string packaging)
    : state_(std::make_shared<ArchiveState>()) {
  state_->origin = std::move(origin);
  state_->format = std::move(format);
  state_->packaging = std::move(packaging);
}

Status ArchiveBuilder::reserve(std::size_t tensors, std::size_t dims) {
  ANDIRON_TRY(state_->entries.reserve(tensors));
  return state_->dims.reserve(dims);
}

std::uint32_t ArchiveBuilder::add_file(ByteSourcePtr source, std::string shard_name) {
  state_->file_bytes += source->size();
  state_->files.push_back({std::move(source), std::move(shard_name)});
  return static_cast<std::uint32_t>(state_->files.size() - 1);
}

std::uint32_t ArchiveBuilder::add_file_of(const Archive& archive, std::string shard_name) {
  const std::vector<ArchiveFile>& files = archive.state_->files;
  if (files.size() == 1) return add_file(files[0].source, std::move(shard_name));
  state_->file_bytes += archive.file_bytes();
  return ArchiveEntry::none;
}

void ArchiveBuilder::keep(Bytes header) { state_->headers.push_back(std::move(header)); }

std::string_view ArchiveBuilder::store(std::string_view text) { return state_->texts.store(text); }

Status ArchiveBuilder::add(const TensorRun& run) {
  ANDIRON_TRY(state_->entries.reserve_one());
  const std::size_t rank = run.shape.size();
  const auto dims_begin = static_cast<std::uint32_t>(state_->dims.size());
  ANDIRON_TRY(state_->dims.append(run.shape));
  ArchiveEntry& entry = state_->entries.emplace();
  entry.name_data = run.name.data();
  entry.name_size = static_cast<std::uint32_t>(run.name.size());
  entry.file_dtype_data = run.file_dtype.data();
  entry.file_dtype_size = static_cast<std::uint32_t>(run.file_dtype.size());
  entry.offset = run.offset;
  entry.byte_size = run.byte_size;
  entry.dims_begin = dims_begin;
  entry.file = run.file;
  entry.snapshot = ArchiveEntry::none;
  entry.rank = static_cast<std::uint8_t>(rank);
  entry.dtype = run.dtype;
  entry.has_param_id = run.param_id.has_value();
  entry.param_id = run.param_id.value_or(ParamId{}).value;
  return {};
}

Status ArchiveBuilder::add(std::string_view name, std::string_view file_dtype,
                           TensorSnapshot snapshot) {
  ANDIRON_ASSIGN(const ArchiveEntry entry,
                 state_->entry_for(name, file_dtype, std::move(snapshot)));
  return state_->entries.push(entry);
}

void ArchiveBuilder::remove_tensors() {
  state_->entries = {};
  state_->dims = {};
  state_->names = {};
  state_->snapshots.clear();
  state_->skipped.clear();
}

Result<std::optional<std::uint32_t>> ArchiveBuilder::index_names() {
  ANDIRON_ASSIGN(const auto twice, state_->index_names(size()));
  return twice ? std::optional(twice->second) : std::nullopt;
}

void ArchiveBuilder::keep_names_of(const Archive& archive) {
  // The archive's own state holds its headers and texts.
  state_->headers.push_back(Bytes::share(archive.state_, {}));
}

Status ArchiveBuilder::add_from(const Archive& archive, std::size_t index, std::uint32_t file) {
  const TensorInfo info = archive.info(index);
  if (archive.state_->entries[index].snapshot != ArchiveEntry::none) {
    return add(info.name, info.file_dtype, archive.snapshot(index));
  }
  return add({info.name, info.dtype, info.file_dtype, info.shape, file, info.offset.value_or(0),
              info.byte_size, info.param_id});
}

void ArchiveBuilder::take_aliases_from_metadata() {
  for (const auto& [key, value] : state_->metadata) {
    if (key == "format" || find(key) || !find(value)) continue;
    if (state_->aliases.empty()) {
      state_->notes.push_back(in_quotes(key) + " is tied to " + in_quotes(value) + " by metadata");
    }
    state_->aliases.emplace(key, value);
  }
  if (state_->aliases.size() > 1) {
    state_->notes.back() +=
        ", and " + std::to_string(state_->aliases.size() - 1) + " more names are tied";
  }
}

void ArchiveBuilder::move_runs(std::uint64_t by) {
  for (std::size_t i = 0; i < size(); ++i) {
    ArchiveEntry entry = state_->entries[i];
    entry.offset += by;
    state_->entries.set(i, entry);
  }
}

void ArchiveBuilder::set_param_id(std::uint32_t index, ParamId id) {
  ArchiveEntry entry = state_->entries[index];
  entry.has_param_id = true;
  entry.param_id = id.value;
  state_->entries.set(index, entry);
}

std::optional<std::uint32_t> ArchiveBuilder::find(std::string_view name) const {
  return state_->names.find(name, [&](std::uint32_t at) { return state_->name_at(at); });
}

}  // namespace andiron::inline v1::detail
