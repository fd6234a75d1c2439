// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/shard_set_test.cpp
#include "src/format/shard_set.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "src/core/try.h"
#include "src/format/formats.h"
#include "src/io/folder.h"
#include "src/io/temporary_name.h"
#include "src/io/write_target.h"

namespace andiron::inline v1::detail {
namespace {

using ShardList = std::set<std::string>;

ShardNames pattern_of(const std::string& path, std::string_view ending) {
  std::string stem = file_name_of(path);
  if (stem.ends_with(ending)) stem.resize(stem.size() - ending.size());
  return {std::move(stem), std::string(ending)};
}

std::string index_name(const ShardNames& pattern) {
  return pattern.stem + pattern.ending + std::string(index_ending);
}

// What an open index names. A draft that was not finished names nothing, and has no shards.
struct IndexContent {
  bool is_read = false;
  bool is_index = false;
  ShardList shards;
};
IndexContent content_of(const Descriptor& index, const ShardNames& pattern, const Limits& limits) {
  if (!index) return {};
  const std::optional<std::string> text = read_text(index.get(), limits.index_bytes);
  if (!text) return {};
  std::optional<ShardList> shards = pattern.in_index(*text);
  return {true, shards.has_value(), std::move(shards).value_or(ShardList())};
}

// Whether all of them are gone.
bool remove_shards(const std::string& folder, const ShardNames& pattern, const ShardList& names,
                   const ShardList& except) {
  bool all = true;
  for (const std::string& name : names) {
    // Set 2 of "model" and the first set of "model-2" have the same names.
    const unsigned number = pattern.set_number(name).value_or(0);
    const std::string other = pattern.namesake(number) + std::string(index_ending);
    const bool is_ours = number == 0 || !file_exists(join_path(folder, other));
    if (is_ours && !except.contains(name)) all &= try_remove(join_path(folder, name));
  }
  return all;
}

// Tidies up after processes that were killed while they saved this model.
void remove_abandoned_shards(const Target& index, const std::string& folder,
                             const ShardNames& pattern, const Limits& limits) {
  const auto in_folder = names_in(index.folder.get(), index.name);
  if (!in_folder) return;
  for (const std::string& name : *in_folder) {
    if (!temporary_number(name, index.name)) continue;
    const Descriptor abandoned = lock_abandoned(index.folder.get(), name);
    if (!abandoned) continue;
    // Asked each time: another process may have saved meanwhile.
    const Descriptor now = open_for_reading(index.folder.get(), index.name);
    if (!now && errno != ENOENT) return;
    const IndexContent current = content_of(now, pattern, limits);
    const IndexContent left = content_of(abandoned, pattern, limits);
    if (!left.is_read || (now && !current.is_index)) return;
    // A rename that was not flushed could be undone by a power cut, and the old shards be needed.
    if (sync_folder(index.folder.get()) != 0) return;
    if (remove_shards(folder, pattern, left.shards, current.shards)) {
      try_remove(index.folder.get(), name);
    }
  }
}

// Names are not used again while a model has shards: a reader that has opened half of a set
// never finds the rest in another. 0 if there are none.
unsigned next_number(const std::vector<std::string>& in_folder, const ShardNames& pattern) {
  unsigned next = 0;
  for (const std::string& name : in_folder) {
    const auto number = pattern.set_number(name);
    if (number && *number < ShardNames::max_set_number) next = std::max(next, *number + 1);
  }
  return next;
}

}  // namespace

Result<std::unique_ptr<ShardSet>> ShardSet::create(const std::string& path, std::string_view ending,
                                                   std::size_t count, const WriteOptions& options) {
  std::unique_ptr<ShardSet> set(new ShardSet(options));
  set->shown_folder_ = folder_of(path);
  set->folder_ = real_folder(set->shown_folder_);
  set->path_ = join_path(set->folder_, file_name_of(path));
  set->pattern_ = pattern_of(path, ending);
  set->index_path_ = join_path(set->folder_, index_name(set->pattern_));
  ANDIRON_ASSIGN(const Target index, find_target(set->index_path_));
  if (!options.dry_run) {
    remove_abandoned_shards(index, set->folder_, set->pattern_, options.limits);
  }
  ANDIRON_ASSIGN(const std::vector<std::string> in_folder, list_files(set->folder_));
  set->choose_names(0, count);
  const auto taken = std::find_first_of(set->names_.begin(), set->names_.end(), in_folder.begin(),
                                        in_folder.end());
  if (!options.overwrite && (index.is_taken() || taken != set->names_.end())) {
    return already_exists(index.is_taken() ? set->index_path_ : join_path(set->folder_, *taken));
  }
  const unsigned number =
      std::max(next_number(in_folder, set->pattern_), index.is_taken() ? 1u : 0u);
  set->choose_names(number, count);
  if (options.dry_run) return set;
  FileDraftOptions draft{.overwrite = options.overwrite,
                         .sync = options.sync,
                         .first_number = number,
                         .keep_replaced = true,
                         .like = file_exists(set->path_) ? set->path_ : ""};
  // Another save may have taken the number and finished since the folder was listed.
  for (unsigned attempt = 0; attempt < max_temporaries; ++attempt) {
    set->index_ = nullptr;
    ANDIRON_ASSIGN(set->index_, FileDraft::create(set->index_path_, draft));
    set->choose_names(set->index_->number(), count);
    if (std::none_of(set->paths_.begin(), set->paths_.end(), file_exists)) break;
    draft.first_number = set->index_->number() + 1;
  }
  return set;
}

ShardSet::~ShardSet() {
  if (index_ == nullptr || index_->is_published()) return;
  for (std::size_t i = 0; i < added_; ++i) {
    if (!try_remove(paths_[i])) index_->leave_temporary();
  }
}

void ShardSet::choose_names(unsigned number, std::size_t count) {
  names_.clear();
  paths_.clear();
  for (std::size_t i = 1; i <= count; ++i) {
    names_.push_back(pattern_.name(number, i, count));
    paths_.push_back(join_path(folder_, names_.back()));
  }
}

std::vector<std::string> ShardSet::shown_paths() const {
  std::vector<std::string> paths;
  paths.reserve(names_.size() + 1);
  for (const std::string& name : names_) paths.push_back(join_path(shown_folder_, name));
  paths.push_back(join_path(shown_folder_, index_name(pattern_)));
  return paths;
}

Status ShardSet::write_index(std::string_view text) {
  if (index_ == nullptr) return {};
  ANDIRON_TRY(index_->write(std::as_bytes(std::span(text))));
  return index_->flush();
}

Result<std::unique_ptr<OutputFile>> ShardSet::create_shard(std::size_t index) {
  const std::string old = file_exists(index_path_) ? index_path_ : path_;
  return OutputFile::create(paths_[index],
                            {.sync = options_.sync, .like = file_exists(old) ? old : ""},
                            options_.dry_run);
}

Status ShardSet::add_shard(OutputFile& shard) {
  // Counted whatever happens after it got its name.
  struct Count {
    ~Count() { added += shard.is_published() ? 1 : 0; }
    const OutputFile& shard;
    std::size_t& added;
  };
  const Count count{shard, added_};
  return shard.commit();
}

Status ShardSet::commit() {
  if (index_ == nullptr) return {};
  // One model at a time: what is removed below is older than what this set replaces it with.
  ANDIRON_ASSIGN(const Descriptor lock, lock_folder(folder_));
  if (!options_.overwrite && file_exists(path_)) return already_exists(path_);
  ANDIRON_TRY(index_->commit());
  Status status = options_.overwrite ? remove_single_file() : Status();
  // The model is the new one, whatever happens now.
  if (!status || !remove_replaced()) index_->leave_temporary();
  return status;
}

Status ShardSet::remove_replaced() ANDIRON_NO_THROW {
  if (!index_->replaced()) return {};
  const IndexContent old = content_of(index_->replaced(), pattern_, options_.limits);
  const ShardList fresh(names_.begin(), names_.end());
  if (old.is_read && remove_shards(folder_, pattern_, old.shards, fresh)) return {};
  return Error{.message = "some shards stay"};
}
ANDIRON_OR_OUT_OF_MEMORY

// Readers take a single file before an index, so this is what makes them take the shards.
Status ShardSet::remove_single_file() {
  Status status = remove_file(path_);
  if (status) return options_.sync ? sync_folder_at(folder_, path_) : Status();
  Error error = std::move(status).error();
  error.found = "the shards are in place, but readers take the single file that is still there";
  error.hint = "remove " + path_;
  return error;
}

std::vector<std::string> ShardSet::notes() const {
  return index_ == nullptr ? std::vector<std::string>() : index_->notes();
}

Result<std::string> remove_shard_set(const std::string& path, std::string_view ending,
                                     const WriteOptions& options) ANDIRON_NO_THROW {
  const ShardNames pattern = pattern_of(path, ending);
  const std::string folder = real_folder(folder_of(path));
  const std::string index_path = join_path(folder, index_name(pattern));
  const Result<Target> found = find_target(index_path);
  if (!found) return "the old index stays: " + sentence_of(found.error());
  remove_abandoned_shards(*found, folder, pattern, options.limits);
  if (!found->old) return std::string();
  // Under a temporary name, it lists what is left to remove if this process is killed now.
  const int index_folder = found->folder.get();
  const Descriptor index = lock_for_reading(index_folder, found->name);
  const std::string name = hide_under_temporary_name(index_folder, found->name);
  const IndexContent old = content_of(index, pattern, options.limits);
  if (old.is_read && remove_shards(folder, pattern, old.shards, {}) &&
      try_remove(index_folder, name)) {
    return std::string();
  }
  if (name != found->name) return std::string();
  return "the old index stays beside the file: " + index_path;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1::detail
