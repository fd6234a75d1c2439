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

// The shards that an open index names, none if it is not an index; nothing if it cannot be read.
std::optional<ShardList> shards_in(const Descriptor& index, const ShardNames& pattern,
                                   const Limits& limits) {
  if (!index) return {};
  const std::optional<std::string> text = read_text(index.get(), limits.index_bytes);
  if (!text) return {};
  return pattern.in_index(*text).value_or(ShardList());
}

// Whether all of them are gone.
bool remove_shards(const std::string& folder, const ShardList& names, const ShardList& except) {
  bool all = true;
  for (const std::string& name : names) {
    if (!except.contains(name)) all &= remove_file(join_path(folder, name)).ok();
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
    const std::optional<ShardList> current =
        now ? shards_in(now, pattern, limits) : std::optional<ShardList>(ShardList());
    const std::optional<ShardList> left = shards_in(abandoned, pattern, limits);
    if (!current || !left || !remove_shards(folder, *left, *current)) return;
    try_remove(index.folder.get(), name);
  }
}

// Names are not used again while a model has shards: a reader that has opened half of a set
// never finds the rest in another.
unsigned next_number(const std::vector<std::string>& in_folder, const ShardNames& pattern) {
  unsigned next = 1;
  for (const std::string& name : in_folder) {
    if (const auto number = pattern.set_number(name)) next = std::max(next, *number + 1);
  }
  return next;
}

}  // namespace

Result<std::unique_ptr<ShardSet>> ShardSet::create(const std::string& path, std::string_view ending,
                                                   std::size_t count, const WriteOptions& options) {
  std::unique_ptr<ShardSet> set(new ShardSet(options));
  set->path_ = path;
  set->folder_ = folder_of(path);
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
  const bool is_first = !index.is_taken() && taken == set->names_.end();
  if (!is_first && !options.overwrite) {
    return already_exists(index.is_taken() ? set->index_path_ : join_path(set->folder_, *taken));
  }
  const unsigned number = is_first ? 0 : next_number(in_folder, set->pattern_);
  set->choose_names(number, count);
  if (options.dry_run) return set;
  ANDIRON_ASSIGN(set->index_,
                 FileDraft::create(set->index_path_, {.overwrite = options.overwrite,
                                                      .sync = options.sync,
                                                      .first_number = number,
                                                      .keep_replaced = true,
                                                      .like = file_exists(path) ? path : ""}));
  set->choose_names(set->index_->number(), count);
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
  paths_.push_back(index_path_);
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
  Status status = shard.commit();
  added_ += shard.is_published();
  return status;
}

Status ShardSet::commit() {
  if (index_ == nullptr) return {};
  ANDIRON_TRY(index_->commit());
  Status status = remove_single_file();
  // The model is the new one, whatever happens now.
  if (!status || !remove_replaced()) index_->leave_temporary();
  return status;
}

Status ShardSet::remove_replaced() ANDIRON_NO_THROW {
  if (!index_->replaced()) return {};
  const auto old = shards_in(index_->replaced(), pattern_, options_.limits);
  const ShardList fresh(names_.begin(), names_.end());
  if (old && remove_shards(folder_, *old, fresh)) return {};
  return Error{.message = "some shards stay"};
}
ANDIRON_OR_OUT_OF_MEMORY

// Readers take a single file before an index, so this is what makes them take the shards.
Status ShardSet::remove_single_file() {
  Status status = remove_file(path_);
  if (status) return options_.sync ? sync_folder(folder_, path_) : Status();
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
  const std::string folder = folder_of(path);
  const std::string index_path = join_path(folder, index_name(pattern));
  const Result<Target> found = find_target(index_path);
  if (!found) return "the old index stays: " + sentence_of(found.error());
  remove_abandoned_shards(*found, folder, pattern, options.limits);
  if (!found->old) return std::string();
  // Under a temporary name, it lists what is left to remove if this process is killed now.
  const int index_folder = found->folder.get();
  const Descriptor index = lock_for_reading(index_folder, found->name);
  const std::string name = hide_under_temporary_name(index_folder, found->name);
  const bool is_hidden = name != found->name;
  const auto old = shards_in(index, pattern, options.limits);
  if ((!old || !remove_shards(folder, *old, {})) && is_hidden) return std::string();
  if (try_remove(index_folder, name) || is_hidden) return std::string();
  return "the old index stays: " + sentence_of(io_error("remove the file", index_path, errno));
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1::detail
