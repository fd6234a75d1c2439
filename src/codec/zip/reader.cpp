// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/zip_reader_test.cpp and tests/codec/zip_hostile_test.cpp
#include "src/codec/zip/reader.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/codec/inflate.h"
#include "src/codec/zip/contents.h"
#include "src/codec/zip/end.h"
#include "src/codec/zip/local_header.h"
#include "src/core/check_limit.h"
#include "src/core/huge_page_memory.h"
#include "src/core/lock.h"
#include "src/core/read_ahead.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

namespace {

// The bytes that one read takes from the file, to inflate them or for a checksum.
constexpr std::uint64_t read_window_bytes = 256 * 1024;
// More than there ever is; sums of it fit 64 bits.
constexpr std::uint64_t plenty = std::uint64_t{1} << 60;

}  // namespace

struct ZipState {
  ByteSourcePtr source;
  Limits limits;
  ZipDirectory directory;
  ZipChecksums checksums = ZipChecksums::of_whole_reads;
  // Where the data of each entry begins, 0 while that is not known; with the bit `checked` once its
  // local header was seen to agree, `verified` once its checksum was, and `inflated_before`
  // once it was.
  std::span<std::atomic<std::uint64_t>> places;
  Bytes places_memory;  // that they lie in
  static constexpr std::uint64_t checked = std::uint64_t{1} << 63;
  static constexpr std::uint64_t verified = std::uint64_t{1} << 62;
  static constexpr std::uint64_t inflated_before = std::uint64_t{1} << 61;
  static constexpr std::uint64_t offset_bits = inflated_before - 1;
  // So that threads which read one entry do not all verify it. Entries share them.
  mutable std::array<Mutex, 16> verifying;

  mutable InflatedContents contents;
  mutable InflatedAgain inflated_again;
  mutable Mutex inflated_mutex;
  mutable std::unordered_map<std::uint32_t, std::weak_ptr<const ByteSource>> inflated;

  const ZipEntry& entry(std::uint32_t index) const noexcept { return directory.entries()[index]; }
  Error error(ErrorCode code, std::uint32_t index, std::string_view what, std::string found = {},
              std::string expected = {}) const {
    Error error = zip_entry_error(code, *source, entry(index).name, what);
    error.found = std::move(found);
    error.expected = std::move(expected);
    return error;
  }

  // Bytes from the header of an entry to what follows it.
  std::uint64_t room_of(std::uint32_t index) const {
    return directory.end_of(index) - entry(index).header_offset;
  }
  // What is read of an entry so that its header is whole: with PyTorch's padding, or all it can be.
  std::uint64_t usual_header_bytes(std::uint32_t index) const {
    constexpr std::uint64_t usual_extra = 256;
    return std::min<std::uint64_t>(room_of(index),
                                   zip_local_header_bytes + entry(index).name.size() + usual_extra);
  }
  std::uint64_t most_header_bytes(std::uint32_t index) const {
    return std::min<std::uint64_t>(
        room_of(index), zip_local_header_bytes + entry(index).name.size() + zip_most_text_bytes);
  }

  Error wrong_checksum(std::uint32_t index, std::uint32_t found, Message hint) const {
    const auto hex = [](std::uint32_t crc) {
      char text[20];
      std::snprintf(text, sizeof text, "CRC-32 %08x", crc);
      return std::string(text);
    };
    Error wrong = error(ErrorCode::checksum_mismatch, index, "does not match its checksum",
                        hex(found), hex(entry(index).crc));
    wrong.hint = std::move(hint);
    return wrong;
  }

  Error not_inflated(std::uint32_t index, Error reason) const {
    if (reason.code != ErrorCode::bad_archive) return reason;
    return error(ErrorCode::bad_archive, index, "cannot be inflated", reason.message);
  }

  Result<std::uint64_t> checked_offset(std::uint32_t index,
                                       std::span<const std::byte> head = {}) const;
  // The header, as `head` has it, and then the range.
  Status check_header(std::uint32_t index, std::span<const std::byte> head, std::uint64_t offset,
                      std::uint64_t count) const {
    ANDIRON_ASSIGN(const std::uint64_t data, checked_offset(index, head));
    return check_range(index, data, offset, count);
  }
  Status check_can_inflate(std::uint32_t index) const;
  // Compares the checksum of a stored entry, if all are to be compared and this one was not yet.
  Status verify(std::uint32_t index) const {
    return checksums == ZipChecksums::of_all ? compare_checksum(index) : Status();
  }
  Status compare_checksum(std::uint32_t index) const;
  Result<std::uint32_t> crc_of_range(std::uint64_t offset, std::uint64_t count) const;
  Status check_range(std::uint32_t index, std::uint64_t data, std::uint64_t offset,
                     std::uint64_t count) const;
};

namespace {

// The file, of which only the data of stored entries can be read.
class CheckedSource final : public ByteSource {
 public:
  explicit CheckedSource(std::shared_ptr<const ZipState> state) : state_(std::move(state)) {}
  std::uint64_t size() const noexcept override { return file().size(); }
  const std::string& name() const noexcept override { return file().name(); }
  bool can_view() const noexcept override { return file().can_view(); }
  bool in_memory() const noexcept override { return file().in_memory(); }

 private:
  const ByteSource& file() const noexcept { return *state_->source; }

  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (out.empty()) return {};
    ANDIRON_ASSIGN(const std::uint32_t index, entry_at(offset));
    ANDIRON_TRY(state_->verify(index));
    const std::uint64_t place = state_->places[index].load(std::memory_order_acquire);
    const bool is_checked = (place & ZipState::checked) != 0;
    if (is_checked) {
      ANDIRON_TRY(state_->check_range(index, place & ZipState::offset_bits, offset, out.size()));
    }
    // The first read of an entry brings its header along, where both are small.
    std::array<std::byte, ReadAhead::largest_read> buffer;
    const std::uint64_t begin = is_checked ? offset : state_->entry(index).header_offset;
    const std::uint64_t lead = offset - begin;
    const bool together = lead <= buffer.size() && out.size() <= buffer.size() - lead;
    if (!is_checked && !together) {
      const auto head = std::span(buffer).first(static_cast<std::size_t>(
          std::min<std::uint64_t>(buffer.size(), state_->usual_header_bytes(index))));
      ANDIRON_TRY(file().read_at(begin, head));
      ANDIRON_TRY(state_->check_header(index, head, offset, out.size()));
    }
    if (!together) return file().read_at(offset, out);

    const auto wanted =
        is_checked ? out : std::span(buffer).first(static_cast<std::size_t>(lead) + out.size());
    if (in_memory()) {
      ANDIRON_TRY(file().read_at(begin, wanted));
    } else if (!ahead_.copy(begin, wanted)) {
      ReadAhead::Window window = ahead_.next_window(begin, size());
      if (window.size != 0) {
        window.has_failed = !file().read_at(begin, window.bytes()).ok();
        ahead_.keep(std::move(window));
      }
      if (!ahead_.copy(begin, wanted)) ANDIRON_TRY(file().read_at(begin, wanted));
    }
    if (is_checked) return {};
    ANDIRON_TRY(state_->check_header(index, wanted, offset, out.size()));
    std::memcpy(out.data(), buffer.data() + lead, out.size());
    return {};
  }

  Result<Bytes> do_view(std::uint64_t offset, std::uint64_t count) const override {
    if (count == 0) return Bytes();
    ANDIRON_ASSIGN(const std::uint32_t index, entry_at(offset));
    ANDIRON_ASSIGN(const std::uint64_t data, state_->checked_offset(index));
    ANDIRON_TRY(state_->check_range(index, data, offset, count));
    ANDIRON_TRY(state_->verify(index));
    return file().view(offset, count);
  }

  Result<std::uint32_t> entry_at(std::uint64_t offset) const {
    if (state_->directory.entries().size() == 0) {
      return Error{.code = ErrorCode::bad_archive, .message = "the zip archive has no entries"};
    }
    // Tensors are read in the order of the file more often than not.
    const std::size_t rank =
        state_->directory.rank_before(offset, last_rank_.load(std::memory_order_relaxed));
    last_rank_.store(rank, std::memory_order_relaxed);
    return state_->directory.at_rank(rank);
  }

  std::shared_ptr<const ZipState> state_;
  ReadAhead ahead_;
  mutable std::atomic<std::size_t> last_rank_ = 0;
};

// The content of one entry, which is inflated whole for the first of several reads. It lends no
// views: a small one would keep all of it in memory.
class ContentSource final : public ByteSource {
 public:
  ContentSource(ZipReaderPtr zip, const ZipState& state, std::uint32_t index)
      : zip_(std::move(zip)), state_(state), index_(index) {}
  std::uint64_t size() const noexcept override { return state_.entry(index_).bytes; }
  const std::string& name() const noexcept override { return state_.source->name(); }
  CompressedData compressed_data() const noexcept override {
    return {this, zip_->memory_to_read(index_), most_together()};
  }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    Lock lock(mutex_);
    std::optional<InflatedContents::Use> use = state_.contents.find(index_);
    if (!use) {
      const bool again = (state_.places[index_].load() & ZipState::inflated_before) != 0;
      if (again) {
        // In a large file there is much to inflate anyway.
        ANDIRON_TRY(state_.inflated_again.charge(size(), std::min(most(), plenty) + times_file(256),
                                                 name()));
      }
      use.emplace(state_.contents.make_room(index_, zip_->memory_to_read(index_), most_together()));
      // What the last entries lay in counts, too, unless this one takes its place.
      if (size() >= Bytes::huge_page_bytes) free_kept_blocks(size());
      ANDIRON_ASSIGN(Bytes content, zip_->read(index_, {most(), &Limits::inflated_bytes}));
      state_.contents.keep(*use, std::move(content), again, times_file(8));
      state_.places[index_].fetch_or(ZipState::inflated_before);
    }
    lock.unlock();
    state_.inflated_again.hand_out(out.size());
    if (!out.empty()) std::memcpy(out.data(), use->content().data() + offset, out.size());
    return {};
  }

  std::uint64_t most() const { return state_.limits.inflated_bytes; }
  // A file that this one is compared with takes as much, and windows take the rest.
  std::uint64_t most_together() const { return most() / 8 * 3; }
  std::uint64_t times_file(std::uint64_t factor) const {
    return factor * std::min(state_.source->size(), plenty / factor);
  }

  const ZipReaderPtr zip_;
  const ZipState& state_;
  const std::uint32_t index_;
  mutable Mutex mutex_;
};

// Where PyTorch would have put the data of an entry, by its directory alone: it pads its headers to
// an alignment, and where descriptors follow the data it knows their size.
std::optional<std::uint64_t> padded_offset(const ZipEntry& entry, std::uint64_t end,
                                           std::uint64_t alignment) {
  const std::uint16_t flags = entry.bytes == 0 ? zip_utf8_name : zip_utf8_name | zip_has_descriptor;
  if (!entry.is_stored() || entry.flags != flags) return std::nullopt;
  if (alignment == 0 || alignment > zip_most_text_bytes) return std::nullopt;
  const ZipPlace place =
      place_zip_entry(entry.header_offset, entry.name.size(), entry.bytes, alignment);
  if (place.end != end) return std::nullopt;
  return place.data;
}

}  // namespace

// `head` may hold what was read of the file from the entry's header on.
Result<std::uint64_t> ZipState::checked_offset(std::uint32_t index,
                                               std::span<const std::byte> head) const {
  const std::uint64_t place = places[index].load(std::memory_order_acquire);
  if ((place & checked) != 0) return place & offset_bits;
  const ZipEntry& asked = entry(index);
  ANDIRON_TRY(check_zip_entry_is_readable(*source, asked));
  const std::uint64_t end = directory.end_of(index);
  const auto is_whole = [&] {
    return head.size() >= std::min(end - asked.header_offset, zip_local_header_size(asked, head));
  };
  Bytes header;
  for (const auto bytes : {&ZipState::usual_header_bytes, &ZipState::most_header_bytes}) {
    if (is_whole()) break;
    ANDIRON_ASSIGN(header, Bytes::allocate((this->*bytes)(index)));
    ANDIRON_TRY(source->read_at(asked.header_offset, header.writable()));
    head = header.span();
  }
  ANDIRON_ASSIGN(const std::uint64_t offset, check_zip_local_header(*source, asked, end, head));
  const std::uint64_t told = place & offset_bits;
  if (told != 0 && told != offset) {
    return error(ErrorCode::bad_archive, index, "does not begin where the directory says",
                 "data from byte " + std::to_string(offset), "byte " + std::to_string(told));
  }
  places[index].store(offset | checked, std::memory_order_release);
  return offset;
}

Status ZipState::compare_checksum(std::uint32_t index) const {
  const ZipEntry& asked = entry(index);
  std::atomic<std::uint64_t>& place = places[index];
  const auto is_done = [&] { return (place.load(std::memory_order_acquire) & verified) != 0; };
  // A deflated entry is not read from the file as it lies there.
  if (asked.crc == 0 || !asked.is_stored() || is_done()) return {};
  const Lock lock(verifying[index % verifying.size()]);
  if (is_done()) return {};
  ANDIRON_ASSIGN(const std::uint64_t offset, checked_offset(index));
  ANDIRON_ASSIGN(const std::uint32_t crc, crc_of_range(offset, asked.bytes));
  if (crc != asked.crc) {
    return wrong_checksum(index, crc,
                          "copy or download the file again; if the program that wrote it does not "
                          "compute checksums, read it " +
                              Message(Advice::without_verify));
  }
  place.fetch_or(verified, std::memory_order_release);
  return {};
}

Result<std::uint32_t> ZipState::crc_of_range(std::uint64_t offset, std::uint64_t count) const {
  if (source->in_memory()) {
    ANDIRON_ASSIGN(const Bytes all, source->view(offset, count));
    return crc_of(all.span());
  }
  ANDIRON_ASSIGN(Bytes window, Bytes::allocate(std::min(read_window_bytes, count)));
  std::uint32_t crc = 0;
  while (count != 0) {
    const auto part = window.writable().first(
        static_cast<std::size_t>(std::min<std::uint64_t>(window.size(), count)));
    ANDIRON_TRY(source->read_at(offset, part));
    crc = crc_of(part, crc);
    offset += part.size();
    count -= part.size();
  }
  return crc;
}

Status ZipState::check_range(std::uint32_t index, std::uint64_t data, std::uint64_t offset,
                             std::uint64_t count) const {
  const ZipEntry& asked = entry(index);
  if (asked.is_stored() && offset >= data && offset - data <= asked.bytes &&
      count <= asked.bytes - (offset - data)) {
    return {};
  }
  return error(ErrorCode::bad_archive, index,
               asked.is_stored() ? "does not contain the requested bytes"
                                 : "is deflated and cannot be read in place",
               std::to_string(count) + " bytes from " + std::to_string(offset),
               "a range within " + std::to_string(asked.stored_bytes) + " bytes from " +
                   std::to_string(data));
}

Status ZipState::check_can_inflate(std::uint32_t index) const {
  const ZipEntry& asked = entry(index);
  if (asked.is_stored() || can_inflate_to(asked.stored_bytes, asked.bytes)) return {};
  return error(ErrorCode::bad_archive, index, "claims to inflate to more than it can",
               std::to_string(asked.bytes) + " bytes of " + std::to_string(asked.stored_bytes));
}

ZipReader::ZipReader(std::shared_ptr<const ZipState> state)
    : state_(std::move(state)), checked_source_(std::make_shared<CheckedSource>(state_)) {}

Result<ZipReaderPtr> ZipReader::open(ByteSourcePtr source, const Limits& limits, ZipNames compared,
                                     std::optional<std::uint64_t> end, ZipChecksums checksums) {
  ANDIRON_ASSIGN(const ZipEnd place, read_zip_end(*source, end.value_or(source->size()), limits));
  ANDIRON_ASSIGN(ZipDirectory directory, ZipDirectory::read(*source, place, compared));
  auto state = std::make_shared<ZipState>();
  state->source = std::move(source);
  state->limits = limits;
  state->checksums = checksums;
  state->directory = std::move(directory);
  const std::size_t count = state->directory.entries().size();
  using Place = std::atomic<std::uint64_t>;
  Result<Bytes> memory = Bytes::allocate(index_block_bytes(count * sizeof(Place)));
  if (!memory) {
    return Error{.code = ErrorCode::out_of_memory,
                 .message = "not enough memory for the zip directory",
                 .file = state->source->name()};
  }
  state->places_memory = *std::move(memory);
  auto* const places = reinterpret_cast<Place*>(state->places_memory.writable().data());
  std::uninitialized_value_construct_n(places, count);
  state->places = {places, count};
  return ZipReaderPtr(new ZipReader(std::move(state)));
}

const ByteSourcePtr& ZipReader::source() const noexcept { return state_->source; }

ZipChecksums ZipReader::checksums() const noexcept { return state_->checksums; }

const ZipRun& ZipReader::run() const noexcept { return state_->directory.run(); }

std::span<const ZipEntry> ZipReader::entries() const noexcept {
  return state_->directory.entries().items();
}

std::optional<std::uint32_t> ZipReader::find(std::string_view name) const {
  return state_->directory.find(name);
}

void ZipReader::note_missing_checksums(std::vector<Message>& notes) const {
  if (state_->checksums != ZipChecksums::of_all) return;
  const auto all = entries();
  const auto count = std::count_if(
      all.begin(), all.end(), [](const ZipEntry& one) { return one.crc == 0 && one.bytes != 0; });
  if (count == 0) return;
  notes.push_back(std::to_string(count) + " of " + count_of(all.size(), "record") +
                  " could not be verified: the program that wrote the file left out the checksum");
}

Result<std::uint64_t> ZipReader::data_offset(std::uint32_t index, std::uint64_t alignment) const {
  std::atomic<std::uint64_t>& known = state_->places[index];
  const std::uint64_t place = known.load(std::memory_order_acquire);
  if (place != 0) return place & ZipState::offset_bits;
  const auto told = padded_offset(state_->entry(index), state_->directory.end_of(index), alignment);
  if (!told) return state_->checked_offset(index);
  // If another thread checked the header meanwhile, that is forgotten and done again.
  known.store(*told, std::memory_order_release);
  return *told;
}

std::uint64_t ZipReader::locate_data(std::uint64_t alignment) const {
  const auto entries = this->entries();
  std::uint64_t inflated = 0;
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].is_stored()) {
      // None can claim more than deflate could make of it.
      if (can_inflate_to(entries[i].stored_bytes, entries[i].bytes)) inflated += entries[i].bytes;
      continue;
    }
    const auto told = padded_offset(entries[i], state_->directory.end_of(i), alignment);
    if (!told) {
      static_cast<void>(state_->checked_offset(i));
    } else if (state_->places[i].load(std::memory_order_relaxed) == 0) {
      state_->places[i].store(*told, std::memory_order_release);
    }
  }
  return inflated;
}

const ByteSourcePtr& ZipReader::checked_source() const noexcept { return checked_source_; }

Result<Bytes> ZipReader::read(std::uint32_t index, Most most) const {
  const ByteSource& file = *source();
  const ZipEntry& wanted = state_->entry(index);
  ANDIRON_TRY(check_zip_entry_is_readable(file, wanted));
  ANDIRON_TRY(check_limit(wanted.bytes, most.bytes,
                          {"zip entry " + in_quotes(wanted.name) + " is larger than allowed",
                           most.limit, "bytes", file.name()}));
  ANDIRON_TRY(state_->check_can_inflate(index));
  if (!wanted.is_stored()) {
    ANDIRON_TRY(check_inflated_ratio(wanted.bytes, file.size(), state_->limits, file.name()));
  }
  // The header comes along with the data, or with its beginning.
  const std::uint64_t first = wanted.is_stored() ? wanted.stored_bytes : read_window_bytes;
  ANDIRON_ASSIGN(Bytes raw, Bytes::allocate(std::min(state_->room_of(index),
                                                     state_->most_header_bytes(index) + first)));
  ANDIRON_TRY(file.read_at(wanted.header_offset, raw.writable()));
  ANDIRON_ASSIGN(std::uint64_t offset, state_->checked_offset(index, raw.span()));
  const auto lead = static_cast<std::size_t>(offset - wanted.header_offset);
  Bytes content;
  if (wanted.is_stored()) {
    ANDIRON_ASSIGN(content, raw.slice(lead, static_cast<std::size_t>(wanted.bytes)));
  } else {
    ANDIRON_ASSIGN(content, Bytes::allocate(wanted.bytes));
    Inflater inflater(content.writable(), Inflater::Wanted::all);
    std::uint64_t left = wanted.stored_bytes;
    std::span<std::byte> part = raw.writable().subspan(lead);
    for (;;) {
      part = part.first(static_cast<std::size_t>(std::min<std::uint64_t>(part.size(), left)));
      offset += part.size();
      left -= part.size();
      Status status = inflater.take(part);
      if (status && left == 0) status = inflater.finish();
      if (!status) return state_->not_inflated(index, std::move(status).error());
      if (left == 0) break;
      part =
          raw.writable().first(static_cast<std::size_t>(std::min<std::uint64_t>(raw.size(), left)));
      ANDIRON_TRY(file.read_at(offset, part));
    }
  }
  const std::uint32_t crc = wanted.crc == 0 ? 0 : crc_of(content.span());
  if (crc != wanted.crc) {
    return state_->wrong_checksum(index, crc, "copy or download the file again");
  }
  return content;
}

std::uint64_t ZipReader::memory_to_read(std::uint32_t index) const {
  const ZipEntry& wanted = state_->entry(index);
  const std::uint64_t whole = state_->room_of(index);
  if (wanted.is_stored()) return whole;
  return std::min(wanted.bytes, plenty) + inflate_stream_bytes +
         std::min(whole, state_->most_header_bytes(index) + read_window_bytes);
}

Result<std::span<const std::byte>> ZipReader::read_head(std::uint32_t index, std::size_t count,
                                                        ZipHeadMemory& memory) const {
  const ByteSource& file = *source();
  const ZipEntry& wanted = state_->entry(index);
  ANDIRON_TRY(check_zip_entry_is_readable(file, wanted));
  ANDIRON_TRY(state_->check_can_inflate(index));
  const std::uint64_t bytes = std::min<std::uint64_t>(count, wanted.bytes);
  const bool verifies = state_->checksums == ZipChecksums::of_all && wanted.crc != 0;
  if (verifies && !wanted.is_stored()) ANDIRON_TRY(verify_inflated(index, memory));
  ANDIRON_TRY(state_->verify(index));
  ANDIRON_ASSIGN(const std::span<std::byte> raw,
                 memory.room(memory.stored_, std::min(state_->room_of(index),
                                                      state_->usual_header_bytes(index) + count)));
  ANDIRON_TRY(file.read_at(wanted.header_offset, raw));
  ANDIRON_ASSIGN(std::uint64_t offset, state_->checked_offset(index, raw));
  const std::uint64_t end = offset + wanted.stored_bytes;
  // What follows the header in what was read.
  const std::uint64_t lead = std::min<std::uint64_t>(offset - wanted.header_offset, raw.size());
  std::span<std::byte> part = raw.subspan(static_cast<std::size_t>(lead));
  if (wanted.is_stored() && part.size() >= bytes) {
    return std::span<const std::byte>(part.first(static_cast<std::size_t>(bytes)));
  }
  ANDIRON_ASSIGN(const std::span<std::byte> content, memory.room(memory.content_, bytes));
  if (wanted.is_stored()) {
    ANDIRON_TRY(file.read_at(offset, content));
    return std::span<const std::byte>(content);
  }
  ANDIRON_ASSIGN(InflateStream* const stream, memory.stream());
  Inflater inflater(content, Inflater::Wanted::head, *stream);
  while (!inflater.is_full()) {
    part = part.first(static_cast<std::size_t>(std::min<std::uint64_t>(part.size(), end - offset)));
    offset += part.size();
    Status status = part.empty() && offset == end ? inflater.finish() : inflater.take(part);
    if (!status) return state_->not_inflated(index, std::move(status).error());
    if (inflater.is_full()) break;
    part = raw.first(static_cast<std::size_t>(std::min<std::uint64_t>(raw.size(), end - offset)));
    ANDIRON_TRY(file.read_at(offset, part));
  }
  return std::span<const std::byte>(content);
}

// Part by part: the content may be large, and is not kept.
Status ZipReader::verify_inflated(std::uint32_t index, ZipHeadMemory& memory) const {
  const ZipEntry& wanted = state_->entry(index);
  ANDIRON_TRY(
      check_inflated_ratio(wanted.bytes, source()->size(), state_->limits, source()->name()));
  ANDIRON_ASSIGN(std::uint64_t offset, state_->checked_offset(index));
  const std::uint64_t end = offset + wanted.stored_bytes;
  ANDIRON_ASSIGN(const std::span<std::byte> stored,
                 memory.room(memory.stored_, std::min(wanted.stored_bytes, read_window_bytes)));
  ANDIRON_ASSIGN(const std::span<std::byte> made,
                 memory.room(memory.content_, std::min(wanted.bytes + 1, read_window_bytes)));
  ANDIRON_ASSIGN(InflateStream* const stream, memory.stream());
  stream->reset();
  std::uint64_t left = wanted.bytes;
  std::uint32_t crc = 0;
  std::span<std::byte> part;
  for (;;) {
    if (part.empty()) {
      part = stored.first(
          static_cast<std::size_t>(std::min<std::uint64_t>(stored.size(), end - offset)));
      ANDIRON_TRY(source()->read_at(offset, part));
      offset += part.size();
    }
    const InflateStream::Step step = stream->step(part, made);
    if (step.state == InflateStream::State::out_of_memory) return no_memory_for_deflate();
    const bool has_ended = step.state == InflateStream::State::ended;
    const bool stands = step.taken == 0 && step.made == 0 && !has_ended;
    part = part.subspan(step.taken);
    const bool is_whole = step.made == left && part.empty() && offset == end;
    if (step.state == InflateStream::State::damaged || step.made > left || stands ||
        (has_ended && !is_whole)) {
      return state_->error(ErrorCode::bad_archive, index, "cannot be inflated",
                           "its deflated data is damaged, or not as long as the directory says");
    }
    crc = crc_of(made.first(step.made), crc);
    left -= step.made;
    if (has_ended) break;
  }
  if (crc == wanted.crc) return {};
  return state_->wrong_checksum(index, crc, "copy or download the file again");
}

Result<std::span<std::byte>> ZipHeadMemory::room(Bytes& memory, std::uint64_t count) {
  if (memory.size() < count) {
    const std::uint64_t grown = std::max<std::uint64_t>(count, 2 * memory.size());
    ANDIRON_TRY(budget_.charge(grown - memory.size(), "beginnings of entries"));
    memory = {};
    ANDIRON_ASSIGN(memory, Bytes::allocate(grown));
  }
  return memory.writable().first(static_cast<std::size_t>(count));
}

Result<InflateStream*> ZipHeadMemory::stream() {
  if (stream_ == nullptr) {
    ANDIRON_TRY(budget_.charge(inflate_stream_bytes, "a window to inflate"));
    stream_ = new_inflate_stream();
    if (stream_ == nullptr) return no_memory_for_deflate();
  }
  return stream_.get();
}

ByteSourcePtr ZipReader::inflated_source(std::uint32_t entry) const {
  const Lock lock(state_->inflated_mutex);
  std::weak_ptr<const ByteSource>& known = state_->inflated[entry];
  ByteSourcePtr shared = known.lock();
  if (shared == nullptr) {
    shared = std::make_shared<ContentSource>(shared_from_this(), *state_, entry);
    known = shared;
  }
  return shared;
}

}  // namespace andiron::inline v1::detail
