// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the model behind a path and hands it to its format.
// Tested by tests/format/open_test.cpp
#include "andiron/open.h"

#include <algorithm>
#include <array>

#include "src/core/quoted.h"
#include "src/core/try.h"
#include "src/format/formats.h"
#include "src/format/model_in_folder.h"
#include "src/format/recognise.h"
#include "src/format/sharded.h"
#include "src/io/folder.h"

namespace andiron::inline v1 {
namespace {

using namespace detail;

// Content that nobody knows is shown by its first bytes, by which its owner may know it.
Result<Archive> not_a_weight_file(const ByteSource& source, Recognised content) {
  if (content.what.empty()) {
    std::array<std::byte, 16> first{};
    const auto head = std::span(first).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(first.size(), source.size())));
    ANDIRON_TRY(source.read_at(0, head));
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    content.what = "content that begins with " + quoted(text);
  }
  return Error{.code = ErrorCode::not_a_weight_file,
               .message = "this is no weight file that we know",
               .file = source.name(),
               .found = std::move(content.what),
               .hint = std::move(content.hint)};
}

Result<Archive> read(const ReadContext& context) {
  if (context.options.format) return row_of(*context.options.format).read(context);
  const ByteSource& source = *context.source;
  ANDIRON_ASSIGN(const Recognised content, recognise(source));
  if (content.row != nullptr) return content.row->read(context);
  if (content.is_json) return read_sharded(context);
  if (!content.what.empty()) return not_a_weight_file(source, content);
  // A broken file deserves the reason why: the name cannot make it readable, but it tells what it
  // was meant to be.
  const FormatRow* meant = format_by_name(source.name()).row;
  if (meant != nullptr && meant->folder_rank == 0) return meant->read(context);
  return not_a_weight_file(source, content);
}

}  // namespace

Result<Archive> open(const ByteSourcePtr& source, const OpenOptions& options) {
  return read({source, options});
}

Result<Archive> open(Bytes bytes, const OpenOptions& options) {
  return read({memory_source(std::move(bytes)), options});
}

Result<Archive> open(const FileSet& files, const std::string& name, const OpenOptions& options) {
  std::string file = name;
  if (file.empty()) {
    ANDIRON_ASSIGN(file, model_in(files));
  }
  Result<ByteSourcePtr> source = files.open(file);
  const FormatRow* row = format_by_name(file).row;
  // A model that was written as shards goes by the same name.
  if (!source && source.error().code == ErrorCode::not_found && row != nullptr && row->has_shards) {
    Result<ByteSourcePtr> index = files.open(file + std::string(index_ending));
    if (index) {
      file += index_ending;
      source = std::move(index);
    }
  }
  if (!source) return std::move(source).error();
  return read({*source, options, &files, file});
}

Result<Archive> open(const std::string& path, const OpenOptions& options) {
  if (is_folder(path)) return open(FolderFiles(path, options.io), "", options);
  const std::string name = file_name_of(path);
  if (!name.empty()) {
    return open(FolderFiles(path.substr(0, path.size() - name.size()), options.io), name, options);
  }
  ANDIRON_ASSIGN(const ByteSourcePtr source, open_file(path, options.io));
  return open(source, options);
}

}  // namespace andiron::inline v1
