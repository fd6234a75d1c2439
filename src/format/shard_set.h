// SPDX-License-Identifier: MIT OR Apache-2.0
// A set of shards with its index, saved as one: the rename of the index is the moment at which a
// model changes. What the index named before is removed afterwards.
//
// The index is the first file to be written, under a temporary name: ".STEM.safetensors.index.json.
// 2.tmp" for set 2. It lists what a process leaves behind if it is killed. After the rename, that
// name belongs to the replaced index, whose shards are to go. So whoever saves next can tidy up by
// one rule: shards that an abandoned index names and the current one does not are removed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "andiron/error.h"
#include "andiron/write.h"
#include "src/format/output_file.h"
#include "src/format/shard_names.h"
#include "src/io/file_draft.h"

namespace andiron::inline v1::detail {

// Where the files of a model are.
struct ModelPlace {
  ModelPlace(const std::string& path, std::string_view ending);

  std::string path_of(const std::string& name) const;
  // Set 2 of "model" and the first set of "model-2" have the same names. False if they are the
  // other model's.
  bool has_set(unsigned number) const;

  std::string folder;  // without symbolic links, which may come to lead elsewhere
  ShardNames pattern;
  std::string file;  // the path of the model as a single file
  std::string index;
};

class ShardSet {
 public:
  // A set of `count` shards in place of the single file `path`, or of the set that is there. Fails
  // with AlreadyExists if a file is in the way. In a dry run, nothing is written.
  static Result<std::unique_ptr<ShardSet>> create(const std::string& path, std::string_view ending,
                                                  std::size_t count, const WriteOptions& options);
  ~ShardSet() { static_cast<void>(take_back()); }

  // Of the shards in their folder.
  const std::vector<std::string>& names() const noexcept { return names_; }
  // Of all files beside the path that the caller gave, the index last.
  std::vector<std::string> shown_paths() const;

  // The order of calls: the index, each shard created and added in turn, commit(). The model is the
  // new one once that succeeds; it returns a note if something of the old one stays, else the empty
  // string.
  Status write_index(std::string_view text);
  Result<std::unique_ptr<OutputFile>> create_shard(std::size_t index);
  Status add_shard(OutputFile& shard);
  Result<Message> commit();
  // Removes the shards that were written, unless the index has its name. False if some stay.
  bool take_back() noexcept;
  // What could not be kept of the old files.
  std::vector<Message> notes() const;

 private:
  ShardSet(const std::string& path, std::string_view ending, const WriteOptions& options);
  void choose_names(unsigned number, std::size_t count);
  Error after_rename(Error error) const;
  Status remove_single_file();
  Status remove_replaced();

  const WriteOptions& options_;
  const std::string shown_folder_;  // as the caller gave it
  const ModelPlace place_;
  std::vector<std::string> names_;
  std::vector<std::string> paths_;  // of the shards
  std::size_t added_ = 0;           // shards that have their names
  std::unique_ptr<FileDraft> index_;
};

// Removes the index and the shards of a model that is a single file now. Returns a note if some of
// them stay, else the empty string.
Result<Message> remove_shard_set(const std::string& path, std::string_view ending,
                                 const WriteOptions& options);

}  // namespace andiron::inline v1::detail
