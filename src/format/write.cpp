// SPDX-License-Identifier: MIT OR Apache-2.0
// Hands an archive to the format that its target asks for.
// Tested by tests/format/write_test.cpp
#include "andiron/write.h"

#include <numeric>

#include "src/core/try.h"
#include "src/core/with_file.h"
#include "src/format/format.h"
#include "src/format/output.h"
#include "src/format/record/record.h"
#include "src/io/folder.h"

namespace andiron::inline v1 {
namespace {

constexpr std::string_view compressed = ".gz";

// What is to be written.
struct Target {
  Format format = Format::safetensors;
  bool gzip = false;
};

Error not_written() {
  return Error{.code = ErrorCode::unsupported,
               .message = "PyTorch files are read, but not written",
               .hint =
                   "write SafeTensors, which PyTorch reads too; a module's needs "
                   "with_to_adapter(BurnToPyTorchAdapter())"};
}

Result<Target> target_of(const std::string& path, const WriteOptions& options) {
  if (options.format == Format::pytorch || (!options.format && path.ends_with(".pt"))) {
    return not_written();
  }
  if (options.format) {
    return Target{*options.format, *options.format == Format::mpk && path.ends_with(compressed)};
  }
  const bool gzip = path.ends_with(compressed);
  const std::string_view plain =
      std::string_view(path).substr(0, path.size() - (gzip ? compressed.size() : 0));
  for (const Format format : {Format::safetensors, Format::burnpack, Format::mpk}) {
    const bool may_be = !gzip || format == Format::mpk;
    if (may_be && plain.ends_with(file_extension(format))) return Target{format, gzip};
  }
  return Error{.code = ErrorCode::unsupported,
               .message = "the file name does not tell the format",
               .file = path,
               .expected = "a name that ends in .safetensors, .bpk, .mpk or .mpk.gz",
               .hint = "or name the format in the options"};
}

std::vector<std::size_t> all_tensors(const Archive& archive) {
  std::vector<std::size_t> all(archive.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// Returns how many bytes that took.
Result<std::uint64_t> write_as(const Target& target, const Archive& archive, Sink& sink,
                               const WriteOptions& options) {
  switch (target.format) {
    case Format::safetensors:
      return detail::write_safetensors(archive, all_tensors(archive), archive.metadata(), sink,
                                       options);
    case Format::burnpack:
      return detail::write_burnpack(archive, sink, options);
    case Format::mpk:
      return detail::write_record(archive, sink, options, target.gzip);
    case Format::pytorch:
      break;
  }
  return not_written();
}

Result<WriteReport> write_single(const Target& target, const Archive& archive,
                                 const std::string& path, const WriteOptions& options) {
  ANDIRON_ASSIGN(const std::unique_ptr<detail::Output> file, detail::Output::create(path, options));
  ANDIRON_ASSIGN(const std::uint64_t bytes, write_as(target, archive, *file, options));
  ANDIRON_TRY(file->commit());
  return WriteReport{{path}, bytes};
}

// A SafeTensors model has one form. A file beside shards of the same name, or an index beside a
// file, would leave it to each reader which of the two it takes.
Result<WriteReport> write_safetensors_as_only_form(const Archive& archive, const std::string& path,
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
                                       : write_single({}, archive, path, options);
  if (report && !options.dry_run) detail::remove_file(other);
  return report;
}

}  // namespace

Result<WriteReport> write(const Archive& archive, const std::string& path,
                          const WriteOptions& options) {
  Result<Target> target = target_of(path, options);
  if (!target) return with_file(std::move(target).error(), path);
  Result<WriteReport> report = target->format == Format::safetensors
                                   ? write_safetensors_as_only_form(archive, path, options)
                                   : write_single(*target, archive, path, options);
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
  if (options.dry_run) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "a dry run needs a path",
                 .hint = "it makes no file there"};
  }
  ANDIRON_TRY(write_as({options.format.value_or(Format::safetensors)}, archive, sink, options));
  return {};
}

Result<Bytes> write_to_memory(const Archive& archive, const WriteOptions& options) {
  MemorySink sink;
  ANDIRON_TRY(write(archive, sink, options));
  return sink.take();
}

}  // namespace andiron::inline v1
