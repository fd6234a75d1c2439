// SPDX-License-Identifier: MIT OR Apache-2.0
// Hands an archive to the format that its target asks for.
// Tested by tests/format/write_test.cpp
#include "andiron/write.h"

#include "andiron/file.h"
#include "src/core/try.h"
#include "src/format/format.h"

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

}  // namespace

Result<WriteReport> write(const Archive& archive, const std::string& path,
                          const WriteOptions& options) {
  ANDIRON_TRY(check_format(path, options));
  if (options.max_shard_bytes != 0) return detail::write_sharded(archive, path, options);
  ANDIRON_ASSIGN(const std::unique_ptr<AtomicFile> file,
                 AtomicFile::create(path, {options.overwrite, options.sync}));
  WriteReport report{{path}, 0};
  ANDIRON_TRY(detail::write_safetensors(archive, *file, options, report.bytes));
  ANDIRON_TRY(file->commit());
  return report;
}

Status write(const Archive& archive, Sink& sink, const WriteOptions& options) {
  if (options.max_shard_bytes != 0) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "shards need a path",
                 .expected = "max_shard_bytes 0"};
  }
  std::uint64_t bytes = 0;
  return detail::write_safetensors(archive, sink, options, bytes);
}

Result<Bytes> write_to_memory(const Archive& archive, const WriteOptions& options) {
  MemorySink sink;
  ANDIRON_TRY(write(archive, sink, options));
  return sink.take();
}

}  // namespace v1
}  // namespace andiron
