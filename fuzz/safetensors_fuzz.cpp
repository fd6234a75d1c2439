// SPDX-License-Identifier: MIT OR Apache-2.0
// A whole SafeTensors file: both readers agree, every tensor can be read and transformed, and
// written again the file reads back the same.
#include <vector>

#include "andiron/open.h"
#include "andiron/safetensors_view.h"
#include "andiron/write.h"
#include "fuzz/archive_property.h"

using namespace andiron;
using namespace andiron::fuzz;

namespace {

// What the freestanding reader accepts beyond the hosted one at its standard strictness: it keeps
// no metadata and has no limits to pass.
bool is_hosted_rule(const Error& error) {
  return (error.code == ErrorCode::duplicate_key && error.tensor.empty()) ||
         error.code == ErrorCode::limit_exceeded;
}

void compare_with_view(const Archive& archive, const SafetensorsView& view) {
  ANDIRON_HOLDS(archive.size() == view.tensor_count());
  SafetensorsHeader header = view.header();
  SafetensorsEntry entry;
  std::size_t index = 0;
  for (auto item = header.next(entry); item != SafetensorsHeader::Item::end;
       item = header.next(entry)) {
    ANDIRON_HOLDS(item != SafetensorsHeader::Item::error);
    if (item != SafetensorsHeader::Item::tensor) continue;
    const TensorInfo info = archive.info(index);
    ANDIRON_HOLDS(entry.name.equals(info.name));
    ANDIRON_HOLDS(entry.dtype_name.equals(info.file_dtype));
    ANDIRON_HOLDS(entry.dtype == info.dtype);
    ANDIRON_HOLDS(same_shape(entry.dims(), info.shape));
    ANDIRON_HOLDS(entry.end - entry.begin == info.byte_size);
    if (index < max_tensors_read) {
      SafetensorsEntry found;
      ANDIRON_HOLDS(view.find(info.name, found).ok());
      ANDIRON_HOLDS(found.header_offset == entry.header_offset);
      ANDIRON_HOLDS(same(view.data(entry), must(archive.snapshot(index).borrow()).bytes().span()));
    }
    ++index;
  }
  ANDIRON_HOLDS(index == archive.size());
}

// Tensors do not overlap, so that all of them fit the file.
void check_places(const Archive& archive, std::span<const std::byte> file) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < archive.size(); ++i) {
    ANDIRON_HOLDS(archive.info(i).offset.has_value());
    total += archive.info(i).byte_size;
  }
  ANDIRON_HOLDS(total <= file.size());
}

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// The writer refuses what other readers would trip over.
bool may_be_refused(const Archive& archive) {
  for (const auto& [key, value] : archive.metadata()) {
    if (has_nul(key) || has_nul(value)) return true;
  }
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    if (has_nul(info.name) || info.dtype == DType::raw) return true;
  }
  return false;
}

void write_and_read_back(const Archive& archive) {
  const Result<Bytes> written = write_to_memory(archive);
  if (!written) {
    ANDIRON_HOLDS(may_be_refused(archive));
    return;
  }
  const ByteSourcePtr source = memory_source(*written);
  const Archive again = must(open_as(Format::safetensors, source, Strictness::standard));
  ANDIRON_HOLDS(again.metadata() == archive.metadata());
  ANDIRON_HOLDS(again.aliases() == archive.aliases());
  match_tensors(archive, again, [&](std::size_t before, std::size_t after) {
    ANDIRON_HOLDS(archive.info(before).dtype == again.info(after).dtype);
    ANDIRON_HOLDS(archive.info(before).file_dtype == again.info(after).file_dtype);
    ANDIRON_HOLDS(same_data(archive.snapshot(before), again.snapshot(after)));
  });
  ANDIRON_HOLDS(same(must(write_to_memory(again)).span(), written->span()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const auto [lenient, standard, strict] =
      open_strictly_and_not(Format::safetensors, memory_source(Bytes::borrow(file)));
  if (standard && !strict) ANDIRON_HOLDS(strict.error().code == ErrorCode::unsupported_dtype);

  SafetensorsView view;
  ViewStatus status = SafetensorsView::open(file, view);
  if (status.ok()) {
    std::vector<SafetensorsScratch> scratch(view.tensor_count());
    status = view.check_layout(scratch);
  }
  ANDIRON_HOLDS(status.ok() || status.offset <= file.size());
  if (standard) {
    ANDIRON_HOLDS(status.ok());
    compare_with_view(*standard, view);
    // What is SafeTensors is known by its content.
    ANDIRON_HOLDS(must(open(Bytes::borrow(file))).size() == standard->size());
  } else {
    ANDIRON_HOLDS(!status.ok() || is_hosted_rule(standard.error()));
  }

  if (lenient) {
    const auto copying = std::make_shared<CopyingSource>(file);
    read_tensors(*lenient, must(open_as(Format::safetensors, copying, Strictness::lenient)), file);
    check_places(*lenient, file);
    write_and_read_back(*lenient);
  }
  return 0;
}
