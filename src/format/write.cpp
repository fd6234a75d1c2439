// SPDX-License-Identifier: MIT OR Apache-2.0
// Hands an archive to the format that its target asks for.
// Tested by tests/format/write_test.cpp
#include "andiron/write.h"

#include <numeric>

#include "andiron/file.h"
#include "src/core/try.h"
#include "src/core/with_file.h"
#include "src/format/format.h"
#include "src/io/folder.h"

namespace andiron {
inline namespace v1 {
namespace {

Status check_format(const std::string& path, const WriteOptions& options) {
  if (options.format || path.ends_with(".safetensors")) return {};
  return Error{.code = ErrorCode::unsupported,
               .message = "the file name does not tell the format",
               .file = path,
               .expected = "a name that ends in .safetensors",
               .hint = "or name the format in the options"};
}

std::vector<std::size_t> all_tensors(const Archive& archive) {
  std::vector<std::size_t> all(archive.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

Result<WriteReport> write_single(const Archive& archive, const std::string& path,
                                 const WriteOptions& options) {
  ANDIRON_ASSIGN(const std::unique_ptr<AtomicFile> file,
                 AtomicFile::create(path, {options.overwrite, options.sync}));
  ANDIRON_ASSIGN(
      const std::uint64_t bytes,
      detail::write_safetensors(archive, all_tensors(archive), archive.metadata(), *file, options));
  ANDIRON_TRY(file->commit());
  return WriteReport{{path}, bytes};
}

// One model has one form. A file beside shards of the same name, or an index beside a file, would
// leave it to each reader which of the two it takes.
Result<WriteReport> write_as_only_form(const Archive& archive, const std::string& path,
                                       const WriteOptions& options) {
  const auto shards = options.max_shard_bytes == 0
                          ? std::vector<std::vector<std::size_t>>()
                          : detail::plan_shards(archive, options.max_shard_bytes);
  const bool sharded = shards.size() > 1;
  const std::string other = sharded ? path : path + ".index.json";
  if (!options.overwrite && detail::file_exists(other)) {
    return Error{.code = ErrorCode::already_exists,
                 .message = sharded ? "the model is there as one file"
                                    : "the model is there as shards with an index",
                 .file = other,
                 .hint = "overwrite it, or choose another name"};
  }
  Result<WriteReport> report = sharded ? detail::write_sharded(archive, path, shards, options)
                                       : write_single(archive, path, options);
  if (report) detail::remove_file(other);
  return report;
}

}  // namespace

Result<WriteReport> write(const Archive& archive, const std::string& path,
                          const WriteOptions& options) {
  ANDIRON_TRY(check_format(path, options));
  Result<WriteReport> report = write_as_only_form(archive, path, options);
  if (!report) return with_file(std::move(report).error(), path);
  report->tensors = archive.size();
  return report;
}

Status write(const Archive& archive, Sink& sink, const WriteOptions& options) {
  if (options.max_shard_bytes != 0) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "shards need a path",
                 .expected = "max_shard_bytes 0"};
  }
  ANDIRON_TRY(
      detail::write_safetensors(archive, all_tensors(archive), archive.metadata(), sink, options));
  return {};
}

Result<Bytes> write_to_memory(const Archive& archive, const WriteOptions& options) {
  MemorySink sink;
  ANDIRON_TRY(write(archive, sink, options));
  return sink.take();
}

}  // namespace v1
}  // namespace andiron
