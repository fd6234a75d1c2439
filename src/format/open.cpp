// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the model behind a path and hands it to its format.
// Tested by tests/format/open_test.cpp
#include "andiron/open.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/formats.h"
#include "src/format/model_in_folder.h"
#include "src/format/recognize.h"
#include "src/format/sharded.h"
#include "src/io/folder.h"
#include "src/io/system_calls.h"

namespace andiron::inline v1 {
namespace {

using namespace detail;

// Content that nobody knows is shown by its first bytes, by which its owner may know it.
Error not_a_weight_file(const ByteSource& source, Recognized content) {
  if (content.what.empty()) {
    std::array<std::byte, 16> first{};
    const auto head = std::span(first).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(first.size(), source.size())));
    if (Status status = source.read_at(0, head); !status) return std::move(status).error();
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    content.what = "content that begins with " + in_quotes(text);
  }
  return Error{.code = ErrorCode::not_a_weight_file,
               .message = "not a recognized weight file",
               .file = source.name(),
               .found = std::move(content.what),
               .hint = std::move(content.hint)};
}

// The format of what a file holds, nullptr for an index of shards, or why there is none.
Result<const FormatRow*> format_of(const ReadContext& context) {
  const bool is_index = context.name.ends_with(index_ending);
  if (context.options.format && !is_index) return &row_of(*context.options.format);
  const ByteSource& source = *context.source;
  ANDIRON_ASSIGN(const Recognized content, recognize(source));
  if (content.row != nullptr || content.is_json) return content.row;
  // A broken file deserves the reason why: the name cannot make it readable, but it tells what it
  // was meant to be.
  const FormatRow* meant = format_by_name(source.name()).row;
  const bool is_broken = content.what.empty() && meant != nullptr && meant->folder_rank == 0;
  if (is_broken) return meant;
  return not_a_weight_file(source, content);
}

struct NamedSource {
  ByteSourcePtr source;
  std::string name;
};

// A file of a set: the one that is named, its index where it was written as shards, or the one
// model there is.
Result<NamedSource> find_source(const FileSet& files, std::string name) {
  if (name.empty()) {
    ANDIRON_ASSIGN(name, model_in(files));
  }
  Result<ByteSourcePtr> source = files.open(name);
  const FormatRow* row = format_by_name(name).row;
  if (row == nullptr || !row->info.has_shards) {
    if (!source) return std::move(source).error();
    return NamedSource{*std::move(source), std::move(name)};
  }
  // While one is looked for, saves may write the other and remove this one.
  constexpr int lookups = 3;
  const std::string index_name = name + std::string(index_ending);
  for (int i = 1; !source && source.error().code == ErrorCode::not_found && i < lookups; ++i) {
    Result<ByteSourcePtr> index = pass_on_out_of_memory(files.open(index_name));
    if (index) return NamedSource{*std::move(index), index_name};
    source = files.open(name);
  }
  if (!source) return std::move(source).error();
  return NamedSource{*std::move(source), std::move(name)};
}

// Whether the index that was read is no longer the model's: a save has replaced it. Unknown, and
// false, for what is not a file.
bool was_replaced(const FileSet& files, const NamedSource& index) {
  const int descriptor = index.source->file_descriptor();
  if (descriptor == -1) return false;
  const Result<ByteSourcePtr> now = pass_on_out_of_memory(files.open(index.name));
  if (!now) return now.error().code == ErrorCode::not_found;
  return !is_same_file((*now)->file_descriptor(), descriptor);
}

Error replaced_while_opened(const NamedSource& index) {
  return Error{.code = ErrorCode::file_changed,
               .message = "the model was replaced while it was opened",
               .file = index.source->name(),
               .hint = "open it again when nothing saves to it"};
}

// How often a model is opened that is replaced each time.
constexpr int max_attempts = 4;

}  // namespace

Result<detail::PathInFolder> detail::folder_and_name(const std::string& path, IoMode io) {
  const bool is_in_folder = !is_folder(path);
  std::string name = is_in_folder ? file_name_of(path) : "";
  // A path that names nothing: the system says why.
  if (is_in_folder && name.empty()) return open_file(path, io).error();
  return PathInFolder{folder_files(path.substr(0, path.size() - name.size()), io), std::move(name)};
}

Result<Archive> open(const std::string& path, const OpenOptions& options) ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const PathInFolder place, folder_and_name(path, options.io));
  return open(*place.files, place.name, options);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Archive> open(const FileSet& files, const std::string& name, const OpenOptions& options)
    ANDIRON_NO_THROW {
  for (int attempt = 1;; ++attempt) {
    Result<NamedSource> source = find_source(files, name);
    // What was there a moment ago was replaced by something else; a listing of the folder can miss
    // both.
    const bool is_gone = !source && (source.error().code == ErrorCode::not_found ||
                                     source.error().code == ErrorCode::not_a_weight_file);
    if (is_gone && (attempt > 1 || name.empty()) && attempt < max_attempts) continue;
    ANDIRON_ASSIGN(const NamedSource found, std::move(source));
    const ReadContext context{found.source, options, &files, found.name};
    ANDIRON_ASSIGN(const FormatRow* format, format_of(context));
    if (format != nullptr) return format->read(context);
    ANDIRON_ASSIGN(ShardedModel model, ShardedModel::read_index(context));
    Result<bool> has_shard = model.next();
    while (has_shard && *has_shard) {
      Result<Archive> shard = model.format().read(model.shard());
      if (!shard) {
        has_shard = std::move(shard).error();
        break;
      }
      model.add(*std::move(shard));
      has_shard = model.next();
    }
    Result<Archive> archive = has_shard ? model.finish() : std::move(has_shard).error();
    // A set of shards is the old one or the new one, never parts of both.
    const bool missed_one = !archive && archive.error().code == ErrorCode::missing_shard;
    const bool is_stale = was_replaced(files, found);
    if (!is_stale && !(missed_one && attempt == 1)) return archive;
    if (attempt == max_attempts) return replaced_while_opened(found);
  }
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Archive> open(const ByteSourcePtr& source, const OpenOptions& options) ANDIRON_NO_THROW {
  const ReadContext context{source, options};
  ANDIRON_ASSIGN(const FormatRow* format, format_of(context));
  if (format != nullptr) return format->read(context);
  return ShardedModel::read_index(context).error();
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Archive> open(Bytes bytes, const OpenOptions& options) ANDIRON_NO_THROW {
  return open(memory_source(std::move(bytes)), options);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
