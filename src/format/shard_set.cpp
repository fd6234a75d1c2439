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

constexpr const char* old_files_stay =
    "shards of the old model, or its index, could not be removed; the next save removes them";

using ShardList = std::set<std::string>;

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
bool remove_shards(const ModelPlace& place, const ShardList& names, const ShardList& except) {
  bool all = true;
  for (const std::string& name : names) {
    const auto number = place.pattern.set_number(name);
    if (number && place.has_set(*number) && !except.contains(name)) {
      all &= try_remove(place.path_of(name));
    }
  }
  return all;
}

// Tidies up after processes that were killed while they saved this model.
void remove_abandoned_shards(const ModelPlace& place, const Target& index, const Limits& limits) {
  const int folder = index.folder.get();
  const auto in_folder = names_in(folder, place.index);
  if (!in_folder) return;
  for (const std::string& name : *in_folder) {
    if (!temporary_number(name, index.name)) continue;
    const Descriptor abandoned = lock_abandoned(folder, name);
    if (!abandoned) continue;
    // Asked each time: another process may have saved meanwhile.
    const Descriptor now = open_for_reading(folder, index.name);
    if (!now && errno != ENOENT) return;
    const IndexContent current = content_of(now, place.pattern, limits);
    const IndexContent left = content_of(abandoned, place.pattern, limits);
    if (!left.is_read || (now && !current.is_index)) return;
    // A rename that was not flushed could be undone by a power cut, and the old shards be needed.
    if (sync_folder(folder) != 0) return;
    if (remove_shards(place, left.shards, current.shards)) try_remove(folder, name);
  }
}

// Names are not used again while a model has shards: a reader that has opened half of a set
// never finds the rest in another. 0 if there are none.
unsigned next_number(const std::vector<std::string>& in_folder, const ModelPlace& place) {
  unsigned next = 0;
  for (const std::string& name : in_folder) {
    const auto number = place.pattern.set_number(name);
    if (number && *number < ShardNames::max_set_number && place.has_set(*number)) {
      next = std::max(next, *number + 1);
    }
  }
  return next;
}

ShardNames pattern_of(const std::string& path, std::string_view ending) {
  std::string stem = file_name_of(path);
  stem.resize(stem.size() - ending.size());
  return {std::move(stem), std::string(ending)};
}

}  // namespace

// REQUIRES: the path ends in `ending`.
ModelPlace::ModelPlace(const std::string& path, std::string_view ending)
    : folder(real_folder(folder_of(path))),
      pattern(pattern_of(path, ending)),
      file(path_of(file_name_of(path))),
      index(file + std::string(index_ending)) {}

std::string ModelPlace::path_of(const std::string& name) const { return join_path(folder, name); }

bool ModelPlace::has_set(unsigned number) const {
  return number == 0 || !file_exists(path_of(pattern.namesake(number) + std::string(index_ending)));
}

ShardSet::ShardSet(const std::string& path, std::string_view ending, const WriteOptions& options)
    : options_(options), shown_folder_(folder_of(path)), place_(path, ending) {}

Result<std::unique_ptr<ShardSet>> ShardSet::create(const std::string& path, std::string_view ending,
                                                   std::size_t count, const WriteOptions& options) {
  std::unique_ptr<ShardSet> set(new ShardSet(path, ending, options));
  const ModelPlace& place = set->place_;
  ANDIRON_ASSIGN(const Target index, find_target(place.index));
  if (!options.dry_run) remove_abandoned_shards(place, index, options.limits);
  ANDIRON_ASSIGN(const std::vector<std::string> in_folder, list_files(place.folder));
  set->choose_names(0, count);
  const auto taken = std::find_first_of(set->names_.begin(), set->names_.end(), in_folder.begin(),
                                        in_folder.end());
  if (!options.overwrite && (index.is_taken() || taken != set->names_.end())) {
    return already_exists(index.is_taken() ? place.index : place.path_of(*taken));
  }
  const unsigned number = std::max(next_number(in_folder, place), index.is_taken() ? 1u : 0u);
  set->choose_names(number, count);
  if (options.dry_run) return set;
  FileDraftOptions draft{.overwrite = options.overwrite,
                         .sync = options.sync,
                         .first_number = number,
                         .keep_replaced = true,
                         .like = file_exists(place.file) ? place.file : ""};
  // Another save may have taken the number and finished since the folder was listed.
  for (unsigned attempt = 0; attempt < max_temporaries; ++attempt) {
    set->index_ = nullptr;
    ANDIRON_ASSIGN(set->index_, FileDraft::create(place.index, draft));
    set->choose_names(set->index_->number(), count);
    if (std::none_of(set->paths_.begin(), set->paths_.end(), file_exists)) break;
    draft.first_number = set->index_->number() + 1;
  }
  return set;
}

bool ShardSet::take_back() noexcept {
  if (index_ == nullptr || index_->is_published()) return true;
  bool all = true;
  for (std::size_t i = 0; i < added_; ++i) all &= try_remove(paths_[i]);
  if (!all) index_->leave_temporary();
  return index_->remove_temporary() && all;
}

void ShardSet::choose_names(unsigned number, std::size_t count) {
  names_.clear();
  paths_.clear();
  for (std::size_t i = 1; i <= count; ++i) {
    names_.push_back(place_.pattern.name(number, i, count));
    paths_.push_back(place_.path_of(names_.back()));
  }
}

std::vector<std::string> ShardSet::shown_paths() const {
  std::vector<std::string> paths;
  paths.reserve(names_.size() + 1);
  for (const std::string& name : names_) paths.push_back(join_path(shown_folder_, name));
  paths.push_back(join_path(shown_folder_, file_name_of(place_.index)));
  return paths;
}

Status ShardSet::write_index(std::string_view text) {
  if (index_ == nullptr) return {};
  ANDIRON_TRY(index_->write(std::as_bytes(std::span(text.data(), text.size()))));
  return index_->flush();
}

Result<std::unique_ptr<OutputFile>> ShardSet::create_shard(std::size_t index) {
  const std::string& old = file_exists(place_.index) ? place_.index : place_.file;
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
  Status status = shard.commit();
  if (status || !shard.is_published()) return status;
  Error error = std::move(status).error();
  error.found = "the new shards are not in place; what was there is as before";
  return error;
}

Result<Message> ShardSet::commit() {
  if (index_ == nullptr) return std::string();
  // Made while there is a way back.
  std::string note = old_files_stay;
  // One model at a time: what is removed below is older than what this set replaces it with.
  ANDIRON_ASSIGN(const Descriptor lock, lock_folder(place_.folder));
  if (!options_.overwrite && file_exists(place_.file)) return already_exists(place_.file);
  Status status = index_->commit();
  if (!status && index_->is_published()) return after_rename(std::move(status).error());
  ANDIRON_TRY(std::move(status));
  status = options_.overwrite ? remove_single_file() : Status();
  // The model is the new one, whatever happens now.
  const bool is_removed = status && remove_replaced();
  if (!is_removed) index_->leave_temporary();
  ANDIRON_TRY(std::move(status));
  if (is_removed && index_->remove_temporary()) note.clear();
  return note;
}

Status ShardSet::remove_replaced() ANDIRON_NO_THROW {
  if (!index_->replaced()) return {};
  const IndexContent old = content_of(index_->replaced(), place_.pattern, options_.limits);
  const ShardList fresh(names_.begin(), names_.end());
  if (old.is_read && remove_shards(place_, old.shards, fresh)) return {};
  return Error{.message = "some shards stay"};
}
ANDIRON_OR_OUT_OF_MEMORY

// Readers take a single file before an index, so this is what makes them take the shards.
Status ShardSet::remove_single_file() {
  Status status = remove_file(place_.file);
  if (status && options_.sync) status = sync_folder_at(place_.folder, place_.file);
  return status ? Status() : after_rename(std::move(status).error());
}

// Says what is in place.
Error ShardSet::after_rename(Error error) const {
  error.found = "the new shards are in place, but may be lost if the power fails now";
  if (file_exists(place_.file)) {
    error.found = "the shards are in place, but readers take the single file that is still there";
    error.hint = "remove " + place_.file;
  }
  return error;
}

std::vector<Message> ShardSet::notes() const {
  return index_ == nullptr ? std::vector<Message>() : index_->notes();
}

Result<Message> remove_shard_set(const std::string& path, std::string_view ending,
                                 const WriteOptions& options) ANDIRON_NO_THROW {
  const ModelPlace place(path, ending);
  const Result<Target> found = find_target(place.index);
  if (!found) return "the old index stays: " + sentence_of(found.error());
  remove_abandoned_shards(place, *found, options.limits);
  if (!found->old) return Message();
  // Under a temporary name, it lists what is left to remove if this process is killed now.
  const int folder = found->folder.get();
  const Descriptor index = lock_for_reading(folder, found->name);
  const std::string name = hide_under_temporary_name(folder, found->name);
  const IndexContent old = content_of(index, place.pattern, options.limits);
  if (old.is_read && remove_shards(place, old.shards, {}) && try_remove(folder, name)) {
    return Message();
  }
  if (name != found->name) return Message(old_files_stay);
  return "the old index stays beside the file: " + place.index;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1::detail
