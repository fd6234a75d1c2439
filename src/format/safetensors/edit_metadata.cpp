// SPDX-License-Identifier: MIT OR Apache-2.0
// Replaces the value of `__metadata__` in the header's text and leaves every other byte alone.
// Tested by tests/format/safetensors_edit_test.cpp
#include <algorithm>

#include "andiron/file.h"
#include "andiron/safetensors_view.h"
#include "andiron/write.h"
#include "src/core/try.h"
#include "src/core/with_file.h"
#include "src/format/safetensors/header.h"
#include "src/format/safetensors/safetensors.h"
#include "src/io/folder.h"

namespace andiron::inline v1 {
namespace {

using namespace detail;

constexpr std::uint64_t page_bytes = 4096;

// The header, from its length on, with other metadata.
Result<std::string> edited_header(std::string_view text, const Metadata& metadata,
                                  const Limits& limits) {
  SafetensorsHeader header(text);
  SafetensorsEntry entry;
  bool has_tensors = false;
  for (auto item = header.next(entry); item != SafetensorsHeader::Item::end;
       item = header.next(entry)) {
    if (item == SafetensorsHeader::Item::error) {
      return Error{.code = ErrorCode::file_changed,
                   .message = "the header changed while it was read"};
    }
    has_tensors = has_tensors || item == SafetensorsHeader::Item::tensor;
  }
  ANDIRON_ASSIGN(const std::string json, safetensors_metadata_json(metadata, limits));
  const std::string_view body = text.substr(0, text.find_last_of('}') + 1);
  const std::string_view old = header.metadata_text();
  std::string edited(safetensors_length_bytes, '\0');
  if (!old.empty()) {
    const auto begin = static_cast<std::size_t>(old.data() - text.data());
    edited += body.substr(0, begin);
    edited += json;
    edited += body.substr(begin + old.size());
  } else {
    const std::size_t brace = body.find('{') + 1;
    edited += body.substr(0, brace);
    edited += "\"__metadata__\":" + json + (has_tensors ? "," : "");
    edited += body.substr(brace);
  }
  // Keep the data where it is if there is room, else at the alignment that it had.
  const std::size_t old_bytes = safetensors_length_bytes + text.size();
  if (edited.size() <= old_bytes) edited.resize(old_bytes, ' ');
  std::uint64_t alignment = 8;
  while (alignment < page_bytes && old_bytes % (2 * alignment) == 0) alignment *= 2;
  if (edited.size() == old_bytes) alignment = 1;
  ANDIRON_TRY(finish_safetensors_header(edited, alignment, limits));
  return edited;
}

Status patch_in_place(const std::string& path, const ByteSource& source, const std::string& header,
                      std::uint64_t data_begin, bool sync) {
  Error refused{.code = ErrorCode::unsupported,
                .message = "the metadata cannot be changed in place",
                .file = path,
                .hint = "turn in_place off to rewrite the whole file"};
  if (header.size() != data_begin) {
    refused.found = "the header would grow and move the data";
    return refused;
  }
  ANDIRON_ASSIGN(Bytes old, Bytes::allocate(header.size()));
  ANDIRON_TRY(source.read_at(0, old.writable()));
  const auto fresh = std::as_bytes(std::span(header));
  const auto first = std::mismatch(fresh.begin(), fresh.end(), old.span().begin()).first;
  if (first == fresh.end()) return {};
  const auto last = std::mismatch(fresh.rbegin(), fresh.rend(), old.span().rbegin()).first;
  const auto begin = static_cast<std::size_t>(first - fresh.begin());
  const auto end = static_cast<std::size_t>(fresh.rend() - last);
  if (begin / page_bytes != (end - 1) / page_bytes) {
    refused.found =
        "bytes " + std::to_string(begin) + " to " + std::to_string(end) + " would change";
    refused.expected = "changes within one page of 4096 bytes";
    return refused;
  }
  return overwrite_bytes(path, source.file_descriptor(), begin, fresh.subspan(begin, end - begin),
                         sync);
}

}  // namespace

Status edit_safetensors_metadata(const std::string& path, const MetadataEdit& edit)
    ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const ByteSourcePtr source, open_file(path, IoMode::pread));
  OpenOptions options;
  options.limits = edit.limits;
  ANDIRON_ASSIGN(const Archive archive, read_safetensors({source, options}));
  Metadata metadata = archive.metadata();
  for (const std::string& key : edit.remove) metadata.erase(key);
  for (const auto& [key, value] : edit.set) metadata.insert_or_assign(key, value);
  if (metadata == archive.metadata()) return {};

  ANDIRON_ASSIGN(const Bytes text, read_safetensors_header(*source, edit.limits));
  Result<std::string> edited = edited_header(text.text(), metadata, edit.limits);
  if (!edited) return with_file(std::move(edited).error(), path);
  const std::string& header = *edited;
  const std::uint64_t data_begin = safetensors_length_bytes + text.size();
  if (edit.in_place) return patch_in_place(path, *source, header, data_begin, edit.sync);

  const std::uint64_t data_bytes = source->size() - data_begin;
  ANDIRON_ASSIGN(const std::unique_ptr<AtomicFile> file,
                 AtomicFile::create(path, {.overwrite = true, .sync = edit.sync}));
  ANDIRON_TRY(file->write(std::as_bytes(std::span(header))));
  ANDIRON_TRY(file->copy_from(*source, data_begin, data_bytes));
  return file->commit();
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
