// SPDX-License-Identifier: MIT OR Apache-2.0
// A zip archive: it is refused, or every entry is found by its name, does not overlap the others,
// and has the same content in all ways of reading it. The same bytes are also read as a tar
// archive, whose members must be within the file.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/archive_property.h"
#include "src/codec/tar_reader.h"
#include "src/codec/zip/reader.h"

using namespace andiron;
using namespace andiron::fuzz;

namespace {

constexpr std::uint32_t max_entries_read = 64;

bool may_be_refused(ErrorCode code) {
  return code == ErrorCode::bad_archive || code == ErrorCode::truncated ||
         code == ErrorCode::unsupported || code == ErrorCode::limit_exceeded ||
         code == ErrorCode::checksum_mismatch;
}

template <class T>
bool is_refusal(const Result<T>& result) {
  return !result && may_be_refused(result.error().code) && !result.error().to_string().empty() &&
         !result.error().file.empty();
}

// Whatever is asked for, a checked source gives the bytes of the file or an error.
void read_checked(const detail::ZipReader& zip, std::span<const std::byte> file,
                  std::uint64_t offset, std::uint64_t count) {
  if (offset > file.size() || count > file.size() - offset) return;
  std::string out(static_cast<std::size_t>(count), '\0');
  const Status read = zip.checked_source()->read_at(offset, std::as_writable_bytes(std::span(out)));
  ANDIRON_HOLDS(read.ok() || is_refusal(read));
  const auto asked = file.subspan(static_cast<std::size_t>(offset), out.size());
  if (read) ANDIRON_HOLDS(same(std::as_bytes(std::span(out)), asked));
  if (!zip.checked_source()->can_view()) return;
  const Result<Bytes> view = zip.checked_source()->view(offset, count);
  ANDIRON_HOLDS(view.ok() == read.ok());
  if (view) ANDIRON_HOLDS(same(view->span(), asked));
}

void read_entry(const detail::ZipReader& zip, std::span<const std::byte> file, std::uint32_t i) {
  const detail::ZipEntry& entry = zip.entries()[i];
  const Result<std::uint64_t> offset = zip.data_offset(i);
  const Result<Bytes> content = zip.read(i, Limits().inflated_bytes);
  ANDIRON_HOLDS(content.ok() || is_refusal(content));
  ANDIRON_HOLDS(offset.ok() || (is_refusal(offset) && !content));
  const ByteSourcePtr source = zip.inflated_source(i);
  ANDIRON_HOLDS(source->size() == entry.bytes);
  if (content) {
    ANDIRON_HOLDS(content->size() == entry.bytes);
    std::vector<std::byte> again(content->size());
    ANDIRON_HOLDS(source->read_at(0, again).ok());
    ANDIRON_HOLDS(same(again, content->span()));
  }
  if (!offset) return;
  ANDIRON_HOLDS(must(zip.data_offset(i, 0 /* its header is known, or what it told */)) == *offset);
  ANDIRON_HOLDS(*offset > entry.header_offset && *offset <= file.size() &&
                entry.stored_bytes <= file.size() - *offset);
  read_checked(zip, file, *offset, entry.stored_bytes);
  read_checked(zip, file, *offset + entry.stored_bytes / 2, entry.stored_bytes / 2);
  read_checked(zip, file, *offset, entry.stored_bytes + 1);
  read_checked(zip, file, entry.header_offset, 1);
  if (content && entry.is_stored()) {
    ANDIRON_HOLDS(same(content->span(), file.subspan(static_cast<std::size_t>(*offset),
                                                     static_cast<std::size_t>(entry.bytes))));
  }
}

void check_run(const detail::ZipReader& zip) {
  const detail::ZipRun& run = zip.run();
  ANDIRON_HOLDS(run.begin <= run.end && run.end <= zip.entries().size());
  for (std::uint32_t i = run.begin; i < run.end; ++i) {
    const std::string_view name = zip.entries()[i].name;
    ANDIRON_HOLDS(name.starts_with(run.folder));
    const std::string_view own = name.substr(run.folder.size());
    ANDIRON_HOLDS(!run.is_digits || own.find_first_not_of("0123456789") == own.npos);
    if (!run.first_number) continue;
    std::uint64_t number = 0;
    if (__builtin_add_overflow(*run.first_number, i - run.begin, &number)) break;
    const std::string digits = std::to_string(number);
    ANDIRON_HOLDS(own == digits);
    ANDIRON_HOLDS(run.find_number(digits) == i);
  }
}

// With all checksums compared, a part of a stored entry is returned if all of it would be.
void verify_entries(const detail::ZipReader& zip, const ByteSourcePtr& source) {
  const detail::ZipReaderPtr verified = must(detail::ZipReader::open(
      source, {}, detail::ZipNames::any_case, {}, detail::ZipChecksums::of_all));
  const auto count = static_cast<std::uint32_t>(zip.entries().size());
  detail::MemoryBudget budget(source->size(), {}, source->name());
  detail::ZipHeadMemory heads(budget);
  for (std::uint32_t i = 0; i < std::min(count, max_entries_read); ++i) {
    const detail::ZipEntry& entry = zip.entries()[i];
    const Result<std::uint64_t> offset = verified->data_offset(i);
    if (!offset || !entry.is_stored() || entry.bytes == 0) continue;
    std::byte first[1];
    const bool is_read = verified->checked_source()->read_at(*offset, first).ok();
    ANDIRON_HOLDS(is_read == zip.read(i, entry.bytes).ok());
    ANDIRON_HOLDS(is_read == verified->read_head(i, 1, heads).ok());
  }
}

void read_zip(const ByteSourcePtr& source, std::span<const std::byte> file) {
  const Result<detail::ZipReaderPtr> opened = detail::ZipReader::open(source, {});
  ANDIRON_HOLDS(opened.ok() || is_refusal(opened));
  if (!opened) return;
  const detail::ZipReader& zip = **opened;
  const auto count = static_cast<std::uint32_t>(zip.entries().size());
  for (std::uint32_t i = 0; i < count; ++i) ANDIRON_HOLDS(zip.find(zip.entries()[i].name) == i);
  check_run(zip);
  for (std::uint32_t i = 0; i < std::min(count, max_entries_read); ++i) read_entry(zip, file, i);
  read_checked(zip, file, 0, file.size());
  // In order, as small records are read ahead then.
  for (std::uint32_t i = 0; i < std::min(count, max_entries_read); ++i) {
    const Result<std::uint64_t> offset = zip.data_offset(i);
    if (offset) read_checked(zip, file, *offset, zip.entries()[i].stored_bytes);
  }
  verify_entries(zip, source);
}

void read_tar(const ByteSource& source) {
  const Result<std::vector<detail::TarMember>> members = detail::read_tar(source, {});
  ANDIRON_HOLDS(members.ok() || is_refusal(members));
  if (!members) return;
  std::uint64_t before = 0;
  for (const detail::TarMember& member : *members) {
    ANDIRON_HOLDS(!member.name.empty());
    ANDIRON_HOLDS(member.offset > before && member.offset <= source.size() &&
                  member.bytes <= source.size() - member.offset);
    before = member.offset + member.bytes;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const ByteSourcePtr lent = memory_source(Bytes::borrow(file));
  read_zip(lent, file);
  read_zip(std::make_shared<CopyingSource>(file), file);
  read_tar(*lent);
  return 0;
}
