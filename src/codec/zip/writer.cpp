// SPDX-License-Identifier: MIT OR Apache-2.0
// The checksum is known when the data has passed, hence the descriptor and bit 3 of the flags; an
// entry without data has neither. Padding, descriptors and ZIP64 fields are those of PyTorch's
// writer, offset of the header in the local ZIP64 field included: its readers, and ours, know then
// where data lies without a look at local headers (ZipReader::data_offset).
//
// Tested by tests/codec/zip_writer_test.cpp
#include "src/codec/zip/writer.h"

#include <algorithm>
#include <concepts>

#include "src/codec/inflate.h"
#include "src/codec/zip/layout.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::uint16_t padding_id = 0x4246;  // 'FB'
constexpr char padding_byte = 'Z';
constexpr std::uint16_t plain_version = 20;
constexpr std::uint16_t zip64_version = 45;
// By Unix: unzip takes names that others made for names of DOS, UTF-8 or not.
constexpr std::uint16_t made_by = 3 << 8 | zip64_version;
constexpr std::uint32_t file_mode = std::uint32_t{0100644} << 16;
constexpr std::uint16_t stored = 0;
constexpr std::uint16_t no_time = 0;
constexpr std::uint16_t first_day = 1 << 5 | 1;  // 1 January 1980, the first that a zip can tell

// Padding counts in 16 bits, as the rest of the extra field does.
constexpr std::uint64_t most_alignment = 32768;
// Far beyond what a disk holds, far enough from where sums of a few sizes would wrap.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 62;

template <std::unsigned_integral... Numbers>
void append(std::string& text, Numbers... numbers) {
  const auto put = [&](auto number) {
    for (unsigned i = 0; i < sizeof(number); ++i) {
      text += static_cast<char>(static_cast<std::uint64_t>(number) >> 8 * i & 0xff);
    }
  };
  (put(numbers), ...);
}

constexpr std::uint32_t fit(std::uint64_t number) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(number, zip64_elsewhere));
}
constexpr std::uint16_t fit16(std::uint64_t number) {
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(number, zip64_elsewhere16));
}

void append_zip64(std::string& text, const ZipPlace& place, std::uint64_t bytes) {
  if (!place.has_zip64()) return;
  append(text, zip64_field_id,
         static_cast<std::uint16_t>(place.zip64_bytes() - zip_field_head_bytes));
  if (place.is_large) append(text, bytes, bytes);
  if (place.is_far) append(text, place.header);
}

std::uint16_t version_of(const ZipPlace& place) {
  return place.has_zip64() ? zip64_version : plain_version;
}

std::uint16_t flags_of(std::uint64_t bytes) {
  return bytes == 0 ? zip_utf8_name : zip_utf8_name | zip_has_descriptor;
}

}  // namespace

Result<ZipPlace> ZipLayout::add(std::string_view name, std::uint64_t bytes,
                                std::uint64_t alignment) {
  if (name.empty() || name.size() > zip_most_text_bytes) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "a zip entry cannot have this name",
                 .found = std::to_string(name.size()) + " bytes",
                 .expected = "1 to " + std::to_string(zip_most_text_bytes)};
  }
  if (alignment > most_alignment) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "a zip archive cannot have this alignment",
                 .found = std::to_string(alignment),
                 .expected = "at most " + std::to_string(most_alignment)};
  }
  if (bytes > most_bytes || end_ > most_bytes) {
    return Error{.code = ErrorCode::overflow, .message = "the zip archive is too large to address"};
  }
  const ZipPlace place = place_zip_entry(end_, name.size(), bytes, alignment);
  end_ = place.end;
  directory_bytes_ += zip_entry_bytes + name.size() + place.zip64_bytes();
  ++entries_;
  return place;
}

bool ZipLayout::has_zip64_end() const noexcept {
  return entries_ >= zip64_elsewhere16 || directory_bytes_ >= zip64_elsewhere ||
         end_ >= zip64_elsewhere;
}

std::uint64_t ZipLayout::size() const noexcept {
  return end_ + directory_bytes_ + (has_zip64_end() ? zip_end64_bytes + zip_locator_bytes : 0) +
         zip_end_bytes;
}

Status ZipWriter::expect(State state, const char* call) const {
  if (state_ == state) return {};
  constexpr const char* states[] = {"no entry was begun", "an entry was not ended",
                                    "the archive is finished"};
  return Error{.code = ErrorCode::invalid_argument,
               .message = std::string("a zip archive is written in order: ") + call,
               .found = states[static_cast<unsigned>(state_)]};
}

Status ZipWriter::put(const std::string& text) {
  written_ += text.size();
  return sink_.write(std::as_bytes(std::span(text)));
}

Status ZipWriter::begin(std::string_view name, std::uint64_t bytes, std::uint64_t alignment) {
  ANDIRON_TRY(expect(State::between, "begin"));
  ANDIRON_ASSIGN(place_, layout_.add(name, bytes, alignment));
  name_ = name;
  bytes_ = left_ = bytes;
  crc_ = 0;
  std::string header = local_header();
  if (alignment != 0) {
    append(header, padding_id, static_cast<std::uint16_t>(place_.padding));
    header.append(static_cast<std::size_t>(place_.padding), padding_byte);
  }
  state_ = State::in_entry;
  return put(header);
}

// With the name, and without the padding.
std::string ZipWriter::local_header() const {
  std::string text;
  const std::uint64_t extra = place_.data - place_.header - zip_local_header_bytes - name_.size();
  // Zeros stand for what the descriptor tells; a size in the ZIP64 field is pointed to.
  const std::uint32_t size = place_.is_large ? zip64_elsewhere : 0;
  append(text, zip_local_number, version_of(place_), flags_of(bytes_), stored, no_time, first_day,
         std::uint32_t{0}, size, size, fit16(name_.size()), fit16(extra));
  text += name_;
  append_zip64(text, place_, bytes_);
  return text;
}

Status ZipWriter::write(std::span<const std::byte> data) {
  ANDIRON_TRY(expect(State::in_entry, "write"));
  if (data.size() > left_) {
    return Error{.code = ErrorCode::size_mismatch,
                 .message = "a zip entry got more data than announced",
                 .found = std::to_string(bytes_ - left_ + data.size()) + " bytes",
                 .expected = std::to_string(bytes_)};
  }
  left_ -= data.size();
  written_ += data.size();
  crc_ = crc_of(data, crc_);
  return sink_.write(data);
}

Status ZipWriter::end() {
  ANDIRON_TRY(expect(State::in_entry, "end"));
  if (left_ != 0) {
    return Error{.code = ErrorCode::size_mismatch,
                 .message = "a zip entry got less data than announced",
                 .found = std::to_string(bytes_ - left_) + " bytes",
                 .expected = std::to_string(bytes_)};
  }
  state_ = State::between;
  append_to_directory();
  if (bytes_ == 0) return {};
  std::string descriptor;
  append(descriptor, zip_descriptor_number, crc_);
  if (place_.has_zip64()) {
    append(descriptor, bytes_, bytes_);
  } else {
    append(descriptor, fit(bytes_), fit(bytes_));
  }
  return put(descriptor);
}

void ZipWriter::append_to_directory() {
  append(directory_, zip_entry_number, made_by, version_of(place_), flags_of(bytes_), stored,
         no_time, first_day, crc_, fit(bytes_), fit(bytes_), fit16(name_.size()),
         fit16(place_.zip64_bytes()), std::uint16_t{0}, std::uint16_t{0}, std::uint16_t{0},
         file_mode, fit(place_.header));
  directory_ += name_;
  append_zip64(directory_, place_, bytes_);
}

std::string ZipWriter::ending() const {
  std::string text;
  const std::uint64_t count = layout_.entries();
  const std::uint64_t bytes = layout_.directory_bytes();
  const std::uint64_t offset = layout_.directory_offset();
  if (layout_.has_zip64_end()) {
    constexpr std::uint64_t record_bytes = zip_end64_bytes - 12;  // without its signature and this
    append(text, zip_end64_number, record_bytes, zip64_version, zip64_version, std::uint32_t{0},
           std::uint32_t{0}, count, count, bytes, offset);
    append(text, zip_locator_number, std::uint32_t{0}, offset + bytes, std::uint32_t{1});
  }
  append(text, zip_end_number, std::uint16_t{0}, std::uint16_t{0}, fit16(count), fit16(count),
         fit(bytes), fit(offset), std::uint16_t{0});
  return text;
}

Status ZipWriter::finish() {
  ANDIRON_TRY(expect(State::between, "finish"));
  state_ = State::finished;
  ANDIRON_TRY(put(directory_));
  return put(ending());
}

}  // namespace andiron::inline v1::detail
