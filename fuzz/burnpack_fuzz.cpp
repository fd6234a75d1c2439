// SPDX-License-Identifier: MIT OR Apache-2.0
// A whole Burnpack file: both readers agree, every byte of the header has a meaning, and every
// tensor can be read and transformed. Written again for any release, the file reads back the same,
// except for scalars, which older releases lack.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "andiron/burnpack_view.h"
#include "andiron/open.h"
#include "andiron/sink.h"
#include "andiron/tensor.h"
#include "andiron/write.h"
#include "fuzz/archive_property.h"
#include "src/format/burnpack/header_listing.h"
#include "tests/support/decoded_text.h"

using namespace andiron;
using namespace andiron::fuzz;
using test::decode_text;

namespace {

// Where the entry that counts is, for each name: the last of those given twice.
std::unordered_map<std::string, std::uint64_t> last_places(const BurnpackView& view) {
  std::unordered_map<std::string, std::uint64_t> places;
  BurnpackHeader header = view.header();
  BurnpackEntry entry;
  for (auto item = header.next(entry); item != BurnpackHeader::Item::end;
       item = header.next(entry)) {
    ANDIRON_HOLDS(item != BurnpackHeader::Item::error);
    if (item == BurnpackHeader::Item::tensor) places[decode_text(entry.name)] = entry.header_offset;
  }
  return places;
}

void compare_entry(const Archive& archive, std::size_t index, const BurnpackView& view,
                   const BurnpackEntry& entry) {
  const TensorInfo info = archive.info(index);
  ANDIRON_HOLDS(entry.name.equals(info.name));
  ANDIRON_HOLDS(entry.dtype == info.dtype);
  ANDIRON_HOLDS((entry.dtype == DType::qfloat ? quant_scheme_text(entry.scheme)
                                              : std::string(entry.dtype_name)) == info.file_dtype);
  ANDIRON_HOLDS(same_shape(entry.dims(), info.shape));
  ANDIRON_HOLDS(entry.end - entry.begin == info.byte_size);
  ANDIRON_HOLDS(info.offset == view.layout().data_begin + entry.begin);
  ANDIRON_HOLDS(entry.has_param_id == info.param_id.has_value());
  if (info.param_id) ANDIRON_HOLDS(info.param_id->value == entry.param_id);
  if (index >= max_tensors_read) return;
  const TensorSnapshot snapshot = archive.snapshot(index);
  ANDIRON_HOLDS(same(view.data(entry), must(snapshot.borrow()).bytes().span()));
  if (entry.dtype == DType::qfloat) ANDIRON_HOLDS(snapshot.scheme() == entry.scheme);
  BurnpackEntry found;
  ANDIRON_HOLDS(view.find(info.name, found).ok());
  ANDIRON_HOLDS(found.header_offset == entry.header_offset);
}

void compare_with_view(const Archive& archive, const BurnpackView& view) {
  const auto places = last_places(view);
  ANDIRON_HOLDS(archive.size() == places.size() && archive.size() <= view.tensor_count());
  BurnpackHeader header = view.header();
  BurnpackEntry entry;
  std::size_t index = 0;
  Metadata metadata;
  for (auto item = header.next(entry); item != BurnpackHeader::Item::end;
       item = header.next(entry)) {
    if (item == BurnpackHeader::Item::metadata) {
      metadata[decode_text(header.key())] = decode_text(header.value());
    } else if (item == BurnpackHeader::Item::scalar) {
      ANDIRON_HOLDS(archive.value()->find(decode_text(header.key())) != nullptr);
    } else if (places.at(decode_text(entry.name)) == entry.header_offset) {
      compare_entry(archive, index++, view, entry);
    }
  }
  ANDIRON_HOLDS(index == archive.size());
  ANDIRON_HOLDS(metadata == archive.metadata());
  ANDIRON_HOLDS(header.trailing_bytes() <= archive.file_bytes());
}

// The fields of the header follow each other up to the data, or to the end of a file without any.
void label_header(const ByteSource& source, const Result<Archive>& archive) {
  const Result<detail::BurnpackHead> head = detail::read_burnpack_head(source);
  if (archive) ANDIRON_HOLDS(head.ok());
  if (!head) return;
  ANDIRON_HOLDS(!head->generation.empty());
  ANDIRON_HOLDS(head->bytes.size() == std::min(head->layout.data_begin, source.size()));
  std::uint64_t at = 0;
  for (const detail::BurnpackField& field : must(detail::burnpack_fields(*head))) {
    ANDIRON_HOLDS(field.offset == at && field.size != 0 && !field.meaning.empty());
    at += field.size;
  }
  ANDIRON_HOLDS(at == head->bytes.size());
}

// Types that every release lacks; others lack more.
bool has_unknown_types(const Archive& archive) {
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    if (info.dtype == DType::raw && info.file_dtype != "Bool(U32)") return true;
  }
  return false;
}

bool by_name(const std::pair<std::string, Value>& a, const std::pair<std::string, Value>& b) {
  return a.first < b.first;
}

Value sorted(const Value& scalars) {
  const ValueDict* dict = scalars.get<ValueDict>();
  if (dict == nullptr) return scalars;
  ValueDict sorted = *dict;
  std::sort(sorted.begin(), sorted.end(), by_name);
  return Value(std::move(sorted));
}

// [1, 32] and [32] are the same block, and the newest release writes the shorter; up to 0.21 no
// scale means an F32 one.
QuantScheme normal(QuantScheme scheme) {
  QuantBlock block;
  for (const std::uint8_t extent : scheme.block.dims()) {
    if (block.rank == 0 && extent == 1) continue;
    block.size[block.rank++] = extent;
  }
  scheme.block = block;
  if (!scheme.has_blocks && !scheme.has_tensor_scale) scheme.has_tensor_scale = true;
  return scheme;
}

// A file for one release, and what the writer says of it.
struct Written {
  BurnpackGeneration release;
  Bytes file;
  std::vector<Message> notes;
};

Result<Written> write_for(BurnpackGeneration release, const Archive& archive) {
  WriteOptions options;
  options.format = Format::burnpack;
  options.settings = BurnpackSettings{release};
  MemorySink sink;
  Result<WriteReport> report = write(archive, sink, options);
  if (!report) return std::move(report).error();
  return Written{release, sink.take(), std::move(report->notes)};
}

// Older releases have no place for scalars: they are left out, which a note says.
void compare_scalars(const Archive& before, const Written& written, const Archive& after) {
  const bool are_kept = written.release >= BurnpackGeneration::burn_0_22_pre;
  const bool are_lost = !are_kept && before.value()->leaf_count() != 0;
  const auto is_about_scalars = [](const std::string& note) {
    return note.find(" cannot store ") != std::string::npos &&
           note.find(" value") != std::string::npos;
  };
  ANDIRON_HOLDS(std::any_of(written.notes.begin(), written.notes.end(), is_about_scalars) ==
                are_lost);
  ANDIRON_HOLDS(are_kept ? same_value(sorted(*before.value()), sorted(*after.value()))
                         : after.value()->leaf_count() == 0);
}

void compare_written(const Archive& before, const Written& written, const Archive& after) {
  ANDIRON_HOLDS(before.metadata() == after.metadata());
  compare_scalars(before, written, after);
  match_tensors(before, after, [&](std::size_t i, std::size_t at) {
    ANDIRON_HOLDS(before.info(i).dtype == after.info(at).dtype);
    ANDIRON_HOLDS(before.info(i).param_id == after.info(at).param_id);
    const TensorSnapshot a = before.snapshot(i);
    const TensorSnapshot b = after.snapshot(at);
    if (a.dtype() == DType::qfloat) ANDIRON_HOLDS(normal(*a.scheme()) == normal(*b.scheme()));
    ANDIRON_HOLDS(same_data(a, b));
  });
}

void write_and_read_back(const Archive& archive) {
  constexpr BurnpackGeneration newest = BurnpackGeneration::burn_0_22;
  const Result<Written> written = write_for(newest, archive);
  ANDIRON_HOLDS(written.ok() != has_unknown_types(archive));
  if (!written) {
    ANDIRON_HOLDS(written.error().code == ErrorCode::unsupported_dtype);
    return;
  }
  const ByteSourcePtr source = memory_source(written->file);
  const Archive again = must(open_as(Format::burnpack, source, Strictness::standard));
  if (archive.notes().empty()) ANDIRON_HOLDS(again.notes().empty());
  compare_written(archive, *written, again);
  // Data is now in the order of names, and stays so.
  const Bytes in_order = must(write_for(newest, again)).file;
  const Bytes once_more = must(write_for(newest, must(open(in_order)))).file;
  ANDIRON_HOLDS(same(once_more.span(), in_order.span()));
}

// Zeros after the metadata are the padding of the newer releases: a file of 0.19 whose data begins
// with zeros may look like one of theirs that was cut.
bool seems_cut(std::span<const std::byte> file) {
  std::uint64_t metadata_bytes = 0;
  ANDIRON_HOLDS(read_burnpack_header(file, metadata_bytes).ok());
  const std::size_t end = burnpack_header_bytes + static_cast<std::size_t>(metadata_bytes);
  const std::size_t padding = (burnpack_alignment - end % burnpack_alignment) % burnpack_alignment;
  const auto after = file.subspan(end, std::min(padding, file.size() - end));
  return std::all_of(after.begin(), after.end(), [](std::byte b) { return b == std::byte{0}; });
}

void write_for_older(const Archive& archive, BurnpackGeneration release) {
  const Result<Written> written = write_for(release, archive);
  if (!written) {
    ANDIRON_HOLDS(written.error().code == ErrorCode::unsupported_dtype);
    return;
  }
  const ByteSourcePtr source = memory_source(written->file);
  Result<Archive> again = open_as(Format::burnpack, source, Strictness::standard);
  if (!again && release == BurnpackGeneration::burn_0_19) {
    ANDIRON_HOLDS(again.error().code == ErrorCode::truncated && seems_cut(written->file.span()));
    return;
  }
  compare_written(archive, *written, must(std::move(again)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const ByteSourcePtr source = memory_source(Bytes::borrow(file));
  const auto [lenient, standard, strict] = open_strictly_and_not(Format::burnpack, source);
  if (standard && !strict) {
    ANDIRON_HOLDS(strict.error().code == ErrorCode::unsupported_dtype ||
                  strict.error().code == ErrorCode::duplicate_key ||
                  strict.error().code == ErrorCode::bad_offsets ||
                  strict.error().code == ErrorCode::size_mismatch);
  }

  BurnpackView view;
  const ViewStatus status = BurnpackView::open(file, view);
  ANDIRON_HOLDS(status.ok() || status.offset <= file.size());
  if (standard) {
    ANDIRON_HOLDS(status.ok());
    compare_with_view(*standard, view);
    ANDIRON_HOLDS(must(open(Bytes::borrow(file))).size() == standard->size());
  } else if (standard.error().code != ErrorCode::limit_exceeded) {
    ANDIRON_HOLDS(!status.ok() && status.code == standard.error().code);
  }
  label_header(*source, lenient);

  if (lenient) {
    const auto copying = std::make_shared<CopyingSource>(file);
    read_tensors(*lenient, must(open_as(Format::burnpack, copying, Strictness::lenient)), file);
  }
  if (standard) {
    write_and_read_back(*standard);
    for (const auto release : {BurnpackGeneration::burn_0_19, BurnpackGeneration::burn_0_20,
                               BurnpackGeneration::burn_0_21, BurnpackGeneration::burn_0_22_pre}) {
      write_for_older(*standard, release);
    }
  }
  return 0;
}
