// SPDX-License-Identifier: MIT OR Apache-2.0
// Hands an archive to the format that its target asks for, and tells what that leaves out.
// Tested by tests/format/write_test.cpp
#include "andiron/write.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/core/with_file.h"
#include "src/format/formats.h"
#include "src/format/output_file.h"
#include "src/format/shard_set.h"
#include "src/format/sharded.h"
#include "src/format/write_with_notes.h"
#include "src/io/folder.h"

namespace andiron::inline v1 {
namespace {

using namespace detail;

std::string title_of(const FormatSettings& settings) {
  const auto rows = format_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const FormatRow& candidate) {
    return candidate.settings == settings.index();
  });
  return std::string(row == rows.end() ? "no format" : row->info.title);
}

// The format to write and the ending that tells its form, which a path may lack.
Result<NamedFormat> target_of(std::string_view path, const WriteOptions& options) {
  NamedFormat named = format_by_name(path);
  if (options.format) {
    const FormatRow& row = row_of(*options.format);
    if (named.row != &row) named = {&row, row.info.endings.front()};
  }
  if (named.row == nullptr) {
    return Error{.code = ErrorCode::unsupported,
                 .message = "cannot tell the format from the file name",
                 .expected = "a name that ends in " + list_endings([](const FormatInfo& format) {
                               return format.is_written;
                             }),
                 .hint = Advice::set_format};
  }
  if (named.row->write == nullptr) {
    return Error{
        .code = ErrorCode::unsupported,
        .message = std::string(named.row->info.title) + " files can be read, but not written",
        .hint = named.row->write_instead + Message(Advice::save_for_pytorch)};
  }
  if (options.settings.index() != 0 && options.settings.index() != named.row->settings) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "the settings are for another format",
                 .found = "settings for " + title_of(options.settings),
                 .expected = "none, or settings for " + std::string(named.row->info.title)};
  }
  if (options.max_shard_bytes != 0 && !named.row->info.has_shards) {
    return Error{.code = ErrorCode::unsupported,
                 .message = std::string(named.row->info.title) + " files have no shards",
                 .hint = "write one file, or use a name that ends in " +
                         list_endings([](const FormatInfo& format) {
                           return format.is_written && format.has_shards;
                         })};
  }
  return named;
}

std::vector<Message> notes_on(const FormatRow& row, const KeptContext& context) {
  const Archive& archive = context.archive;
  const Value& tree = context.tree;
  std::vector<Message> notes;
  const Kept kept = row.kept(context);
  const std::string name = kept.written_as.empty() ? std::string(row.info.name) : kept.written_as;
  const auto lose = [&](std::size_t count, std::string_view noun, std::string_view examples = {}) {
    if (count == 0) return;
    notes.push_back(name + " cannot store " + count_of(count, noun) + std::string(examples) +
                    (count == 1 ? "; it was left out" : "; they were left out"));
  };
  lose(tree.leaf_count() - kept.values, "value", " (configs, scalars)");
  if (!kept.param_ids) {
    std::size_t ids = 0;
    for (std::size_t i = 0; i < archive.size(); ++i) ids += archive.info(i).param_id.has_value();
    if (!kept.ids_if_asked) {
      lose(ids, "parameter id");
    } else if (ids != 0) {
      notes.push_back(count_of(ids, "parameter id") + (ids == 1 ? " was" : " were") + " left out" +
                      Message(Advice::keep_param_ids, ids == 1 ? "it" : "them"));
    }
  }
  lose(archive.metadata().size() - kept.metadata, "metadata string");
  if (!kept.names && archive.size() == 1 && !archive.info(0).name.empty()) {
    notes.push_back("the file has no room for the name " + in_quotes(archive.info(0).name) +
                    "; it was left out");
  }
  if (kept.converted != 0) {
    notes.push_back(name + " stores " + count_of(kept.converted, "tensor") +
                    " in another dtype: " + kept.conversion);
  }
  return notes;
}

// A name that says something else than the content.
void note_ending(const std::string& path, const FormatRow& row, std::vector<Message>& notes) {
  const NamedFormat other = format_by_name(path);
  if (other.row == nullptr || other.row == &row) return;
  notes.push_back("this is a " + std::string(row.info.title) + " file, although its name ends in " +
                  std::string(other.ending));
}

// With the entries that the options add. A tied name is an entry, too, which they may not replace.
Result<Archive> with_metadata(const Archive& archive, const WriteOptions& options) {
  if (options.metadata.empty()) return archive;
  Metadata merged = archive.metadata();
  for (const auto& [key, value] : options.metadata) {
    if (archive.aliases().contains(key)) {
      return Error{.code = ErrorCode::name_collision,
                   .message = "a metadata entry has the name of a tied tensor",
                   .tensor = key,
                   .hint = Advice::rename_entry};
    }
    merged.insert_or_assign(key, value);
  }
  Archive result = archive;
  result.set_metadata(std::move(merged));
  return result;
}

void append(std::vector<Message>& notes, const std::vector<Message>& more) {
  notes.insert(notes.end(), more.begin(), more.end());
}

// The archive as it is written, with notes on what the format leaves out or changes.
struct Prepared {
  Archive archive;
  std::vector<Message> notes;
};

Status check_data_bytes(const Archive& archive) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    if (info.byte_size > most_data_bytes - total) {
      return Error{.code = ErrorCode::overflow,
                   .message = "the data is too large to address",
                   .tensor = std::string(info.name),
                   .found = info.byte_size > most_data_bytes
                                ? std::to_string(info.byte_size) + " bytes"
                                : "too many with this tensor",
                   .expected = "at most " + std::to_string(most_data_bytes) + " bytes in all"};
    }
    total += info.byte_size;
  }
  return {};
}

Result<Prepared> prepare(const Archive& archive, const NamedFormat& named,
                         const WriteOptions& options) {
  const FormatRow& row = *named.row;
  Prepared prepared;
  ANDIRON_ASSIGN(prepared.archive, with_metadata(archive, options));
  // Where there is no room for values, those that are too much are none the less left out.
  Result<Value> values = archive.value();
  if (!values && (row.keeps_values || values.error().code != ErrorCode::limit_exceeded)) {
    return std::move(values).error();
  }
  const Value tree = values ? *values : Value();
  const std::size_t ties = prepared.archive.aliases().size();
  const KeptContext context = {prepared.archive, tree, options, named.ending};
  const bool copies = ties != 0 && !row.kept(context).ties;
  if (copies) {
    ANDIRON_ASSIGN(prepared.archive, prepared.archive.with_ties_as_copies());
  }
  ANDIRON_TRY(check_data_bytes(prepared.archive));
  prepared.notes = notes_on(row, context);
  if (!values) prepared.notes.push_back("values were left out: " + sentence_of(values.error()));
  if (copies) {
    prepared.notes.push_back(count_of(ties, "tied name") + " written as " +
                             (ties == 1 ? "a copy" : "copies"));
  }
  return prepared;
}

Error exists_as(const char* what, const std::string& path) {
  return Error{.code = ErrorCode::already_exists,
               .message = what,
               .file = path,
               .hint = Message(Advice::overwrite) + ", or choose another name"};
}

// The report is complete before the file is in place: after that, nothing may fail.
Result<WriteReport> write_single(const NamedFormat& named, const Archive& archive,
                                 const std::string& path, const WriteOptions& options,
                                 WriteReport report) {
  // Under a name that is not the format's, an index beside it is somebody else's.
  const bool may_be_shards = named.row->info.has_shards && path.ends_with(named.ending);
  const std::string index = path + std::string(index_ending);
  const auto has_shards = [&] { return may_be_shards && file_exists(index); };
  constexpr const char* as_shards = "the model already exists as shards with an index";
  if (!options.overwrite && has_shards()) return exists_as(as_shards, index);
  // Where shards give way to one file, it is as private as they were.
  ANDIRON_ASSIGN(
      const std::unique_ptr<OutputFile> file,
      OutputFile::create(
          path,
          {.overwrite = options.overwrite, .sync = options.sync, .like = has_shards() ? index : ""},
          options.dry_run));
  ANDIRON_ASSIGN(report.bytes,
                 named.row->write({archive, *file, options, named.ending, file.get()}));
  report.files = {path};
  append(report.notes, file->notes());
  // Room for a note on what stays of the shards.
  report.notes.reserve(report.notes.size() + 1);
  if (options.dry_run || !may_be_shards) {
    ANDIRON_TRY(file->commit());
    return report;
  }
  // One model at a time: the shards that are removed are older than this file.
  ANDIRON_ASSIGN(const Descriptor lock, lock_folder(folder_of(path)));
  if (!options.overwrite && has_shards()) return exists_as(as_shards, index);
  ANDIRON_TRY(file->commit());
  if (!options.overwrite) return report;
  Result<Message> stays = remove_shard_set(path, named.ending, options);
  if (stays && !stays->empty()) report.notes.push_back(*std::move(stays));
  return report;
}

// A model has one form. A file beside shards of the same name, or an index beside a file, would
// leave it to each reader which of the two it takes.
Result<WriteReport> write_as_only_form(const NamedFormat& named, const Archive& archive,
                                       const std::string& path, const WriteOptions& options,
                                       WriteReport report) {
  const ShardPlan shards =
      options.max_shard_bytes == 0 ? ShardPlan() : plan_shards(archive, options.max_shard_bytes);
  if (shards.size() <= 1) return write_single(named, archive, path, options, std::move(report));
  if (!path.ends_with(named.ending)) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "shards need a name with the extension of their format",
                 .found = path,
                 .expected = "a name that ends in " + std::string(named.ending)};
  }
  if (!options.overwrite && file_exists(path)) {
    return exists_as("the model already exists as one file", path);
  }
  return write_sharded(archive, path, named, shards, options, std::move(report));
}

Result<WriteReport> write_to_path(const Archive& archive, const std::string& path,
                                  const WriteOptions& options, std::vector<Message> notes) {
  ANDIRON_ASSIGN(const NamedFormat named, target_of(path, options));
  ANDIRON_ASSIGN(const Prepared prepared, prepare(archive, named, options));
  WriteReport report{.tensors = prepared.archive.size(), .notes = std::move(notes)};
  append(report.notes, prepared.notes);
  note_ending(path, *named.row, report.notes);
  const auto write = named.row->info.has_shards ? write_as_only_form : write_single;
  return write(named, prepared.archive, path, options, std::move(report));
}

}  // namespace

Result<WriteReport> detail::write_with_notes(const Archive& archive, const std::string& path,
                                             const WriteOptions& options) {
  Result<WriteReport> report = write_to_path(archive, path, options, archive.notes());
  if (!report) return with_file(std::move(report).error(), path);
  return report;
}

Result<WriteReport> write(const Archive& archive, const std::string& path,
                          const WriteOptions& options) ANDIRON_NO_THROW {
  Result<WriteReport> report = write_to_path(archive, path, options, {});
  if (!report) return with_file(std::move(report).error(), path);
  return report;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<WriteReport> write(const Snapshots& snapshots, const std::string& path,
                          const WriteOptions& options) ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const Archive archive, to_archive(snapshots));
  return write_with_notes(archive, path, options);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<WriteReport> write(const Archive& archive, Sink& sink, const WriteOptions& options)
    ANDIRON_NO_THROW {
  if (options.max_shard_bytes != 0) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "shards need a path",
                 .expected = "max_shard_bytes 0"};
  }
  if (options.dry_run) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "a dry run needs a path",
                 .hint = "it creates no file there"};
  }
  ANDIRON_ASSIGN(const NamedFormat named,
                 target_of(options.format ? "" : file_extension(Format::safetensors), options));
  ANDIRON_ASSIGN(Prepared prepared, prepare(archive, named, options));
  WriteReport report;
  ANDIRON_ASSIGN(report.bytes, named.row->write({prepared.archive, sink, options, named.ending}));
  report.tensors = prepared.archive.size();
  report.notes = std::move(prepared.notes);
  return report;
}
ANDIRON_OR_OUT_OF_MEMORY

Result<Bytes> write_to_memory(const Archive& archive, const WriteOptions& options)
    ANDIRON_NO_THROW {
  MemorySink sink;
  ANDIRON_TRY(write(archive, sink, options));
  return sink.take();
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
