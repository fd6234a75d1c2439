// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/zip_reader_test.cpp and tests/codec/zip_hostile_test.cpp
#include "src/codec/zip_reader.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/codec/inflate.h"
#include "src/codec/zip_end.h"
#include "src/codec/zip_local_header.h"
#include "src/core/large_blocks.h"
#include "src/core/limit.h"
#include "src/core/quoted.h"
#include "src/core/read_ahead.h"
#include "src/core/slice_source.h"
#include "src/core/try.h"
#include "src/core/with_file.h"

namespace andiron::inline v1::detail {

namespace {

// Contents that were used last. A model of many deflated entries is not to stay in memory
// whole, and one that tensors view in turn is not to be inflated for each.
class RecentContents {
 public:
  std::optional<Bytes> find(std::uint32_t entry) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const Kept& kept) { return kept.entry == entry; });
    if (found == kept_.end()) return std::nullopt;
    std::rotate(found, found + 1, kept_.end());
    return kept_.back().content;
  }

  void add(std::uint32_t entry, const Bytes& content) {
    const std::lock_guard lock(mutex_);
    kept_.push_back({entry, content});
    bytes_ += content.size();
    while (kept_.size() > 1 && (bytes_ > most_bytes || kept_.size() > most_entries)) {
      bytes_ -= kept_.front().content.size();
      kept_.erase(kept_.begin());
    }
  }

 private:
  static constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
  static constexpr std::size_t most_entries = 64;
  struct Kept {
    std::uint32_t entry;
    Bytes content;
  };
  std::mutex mutex_;
  std::vector<Kept> kept_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

struct ZipState {
  ByteSourcePtr source;
  Limits limits;
  ZipDirectory directory;
  // Where the data of each entry begins, 0 while that is not known; with the bit `checked` once its
  // local header was seen to agree.
  std::span<std::atomic<std::uint64_t>> places;
  Bytes places_memory;  // that they lie in
  static constexpr std::uint64_t checked = std::uint64_t{1} << 63;

  mutable RecentContents recent;
  mutable std::mutex inflated_mutex;
  mutable std::unordered_map<std::uint32_t, std::weak_ptr<const ByteSource>> inflated;

  const ZipEntry& entry(std::uint32_t index) const noexcept { return directory.entries()[index]; }
  Error error(ErrorCode code, std::uint32_t index, std::string_view what, std::string found = {},
              std::string expected = {}) const {
    Error error = zip_entry_error(code, *source, entry(index).name, what);
    error.found = std::move(found);
    error.expected = std::move(expected);
    return error;
  }

  Result<std::uint64_t> data_offset(std::uint32_t index, std::uint64_t alignment) const;
  Result<std::uint64_t> checked_offset(std::uint32_t index,
                                       std::span<const std::byte> head = {}) const;
  Result<Bytes> read(std::uint32_t index, std::uint64_t most) const;
  Result<Bytes> read_head(std::uint32_t index, std::size_t count) const;
  Status check_can_inflate(std::uint32_t index) const;
  Status check_range(std::uint32_t index, std::uint64_t data, std::uint64_t offset,
                     std::uint64_t count) const;
};

namespace {

// The file, of which only the data of stored entries can be read.
class CheckedSource final : public ByteSource {
 public:
  explicit CheckedSource(std::shared_ptr<const ZipState> state)
      : state_(std::move(state)), ahead_(file()) {}
  std::uint64_t size() const noexcept override { return file().size(); }
  const std::string& name() const noexcept override { return file().name(); }
  bool can_view() const noexcept override { return file().can_view(); }
  bool in_memory() const noexcept override { return file().in_memory(); }

 private:
  const ByteSource& file() const noexcept { return *state_->source; }

  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (out.empty()) return {};
    ANDIRON_ASSIGN(const std::uint32_t index, entry_at(offset));
    const std::uint64_t place = state_->places[index].load(std::memory_order_acquire);
    if ((place & ZipState::checked) != 0) {
      ANDIRON_TRY(state_->check_range(index, place & ~ZipState::checked, offset, out.size()));
      return is_small(out.size()) ? ahead_.read_at(offset, out) : file().read_at(offset, out);
    }
    // The first read of an entry brings its header along, where both are small.
    const std::uint64_t lead = offset - state_->entry(index).header_offset;
    std::array<std::byte, ReadAhead::largest_read> buffer;
    std::span<std::byte> head;
    if (lead <= buffer.size() && out.size() <= buffer.size() - lead) {
      head = std::span(buffer).first(static_cast<std::size_t>(lead) + out.size());
      ANDIRON_TRY(in_memory() ? file().read_at(offset - lead, head)
                              : ahead_.read_at(offset - lead, head));
    }
    ANDIRON_ASSIGN(const std::uint64_t data, state_->checked_offset(index, head));
    ANDIRON_TRY(state_->check_range(index, data, offset, out.size()));
    if (head.empty()) return file().read_at(offset, out);
    std::memcpy(out.data(), head.data() + lead, out.size());
    return {};
  }

  bool is_small(std::uint64_t count) const {
    return count <= ReadAhead::largest_read && !in_memory();
  }

  Result<Bytes> do_view(std::uint64_t offset, std::uint64_t count) const override {
    if (count == 0) return Bytes();
    ANDIRON_ASSIGN(const std::uint32_t index, entry_at(offset));
    ANDIRON_ASSIGN(const std::uint64_t data, state_->checked_offset(index));
    ANDIRON_TRY(state_->check_range(index, data, offset, count));
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
  ContentSource(std::shared_ptr<const ZipState> state, std::uint32_t index)
      : state_(std::move(state)), index_(index) {}
  std::uint64_t size() const noexcept override { return state_->entry(index_).bytes; }
  const std::string& name() const noexcept override { return state_->source->name(); }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    ANDIRON_ASSIGN(const Bytes all, content());
    if (!out.empty()) std::memcpy(out.data(), all.data() + offset, out.size());
    return {};
  }

  Result<Bytes> content() const {
    const std::lock_guard lock(mutex_);
    if (const std::optional<Bytes> kept = state_->recent.find(index_)) return *kept;
    ANDIRON_ASSIGN(Bytes content, state_->read(index_, state_->limits.inflated_bytes));
    state_->recent.add(index_, content);
    return content;
  }

  const std::shared_ptr<const ZipState> state_;
  const std::uint32_t index_;
  mutable std::mutex mutex_;
};

// Where PyTorch would have put the data of an entry, by its directory alone: it pads its headers to
// an alignment, and where descriptors follow the data it knows their size.
std::optional<std::uint64_t> padded_offset(const ZipEntry& entry, std::uint64_t end,
                                           std::uint64_t alignment) {
  constexpr std::uint64_t most_padding = 65535;
  const std::uint16_t flags = entry.bytes == 0 ? zip_utf8_name : zip_utf8_name | zip_has_descriptor;
  if (!entry.is_stored() || entry.flags != flags) return std::nullopt;
  if (alignment == 0 || alignment > most_padding) return std::nullopt;
  const bool large = entry.bytes >= zip64_elsewhere;
  const bool far = entry.header_offset >= zip64_elsewhere;
  const std::uint64_t head = entry.header_offset + zip_local_header_bytes + entry.name.size();
  std::uint64_t extra = 4u + (large || far ? 4u : 0u) + (large ? 16u : 0u) + (far ? 8u : 0u);
  // Divisions would show, for a hundred thousand entries.
  const std::uint64_t beyond = (alignment & (alignment - 1)) == 0 ? (head + extra) & (alignment - 1)
                                                                  : (head + extra) % alignment;
  if (beyond != 0) extra += alignment - beyond;
  const std::uint64_t descriptor = entry.bytes == 0 ? 0 : large || far ? 24 : 16;
  if (extra + descriptor != end - head - entry.stored_bytes) return std::nullopt;
  return head + extra;
}

}  // namespace

Result<std::uint64_t> ZipState::data_offset(std::uint32_t index, std::uint64_t alignment) const {
  const std::uint64_t place = places[index].load(std::memory_order_acquire);
  if (place != 0) return place & ~checked;
  const auto told = padded_offset(entry(index), directory.end_of(index), alignment);
  if (!told) return checked_offset(index);
  // If another thread checked the header meanwhile, that is forgotten and done again.
  places[index].store(*told, std::memory_order_release);
  return *told;
}

// `head` may hold what was read of the file from the entry's header on.
Result<std::uint64_t> ZipState::checked_offset(std::uint32_t index,
                                               std::span<const std::byte> head) const {
  const std::uint64_t place = places[index].load(std::memory_order_acquire);
  if ((place & checked) != 0) return place & ~checked;
  ANDIRON_TRY(check_zip_entry_is_readable(*source, entry(index)));
  ANDIRON_ASSIGN(const std::uint64_t offset,
                 check_zip_local_header(*source, entry(index), directory.end_of(index), head));
  if (place != 0 && place != offset) {
    return error(ErrorCode::bad_archive, index, "does not begin where the directory tells",
                 "data from byte " + std::to_string(offset), "byte " + std::to_string(place));
  }
  places[index].store(offset | checked, std::memory_order_release);
  return offset;
}

Status ZipState::check_range(std::uint32_t index, std::uint64_t data, std::uint64_t offset,
                             std::uint64_t count) const {
  const ZipEntry& asked = entry(index);
  if (asked.is_stored() && offset >= data && offset - data <= asked.bytes &&
      count <= asked.bytes - (offset - data)) {
    return {};
  }
  return error(ErrorCode::bad_archive, index,
               asked.is_stored() ? "does not hold the bytes that were asked for"
                                 : "is deflated and cannot be read in place",
               std::to_string(count) + " bytes from " + std::to_string(offset),
               "a range within " + std::to_string(asked.stored_bytes) + " bytes from " +
                   std::to_string(data));
}

Status ZipState::check_can_inflate(std::uint32_t index) const {
  const ZipEntry& asked = entry(index);
  if (asked.is_stored() || can_inflate_to(asked.stored_bytes, asked.bytes)) return {};
  return error(ErrorCode::bad_archive, index, "claims more than its data can inflate to",
               std::to_string(asked.bytes) + " bytes of " + std::to_string(asked.stored_bytes));
}

Result<Bytes> ZipState::read_head(std::uint32_t index, std::size_t count) const {
  const ZipEntry& wanted = entry(index);
  ANDIRON_TRY(check_zip_entry_is_readable(*source, wanted));
  ANDIRON_TRY(check_can_inflate(index));
  constexpr std::size_t usual_extra = 128;  // with PyTorch's padding
  const std::uint64_t lead = zip_local_header_bytes + wanted.name.size() + usual_extra;
  ANDIRON_ASSIGN(Bytes head, Bytes::allocate(std::min<std::uint64_t>(
                                 directory.end_of(index) - wanted.header_offset, lead + count)));
  ANDIRON_TRY(source->read_at(wanted.header_offset, head.writable()));
  ANDIRON_ASSIGN(const std::uint64_t data, checked_offset(index, head.span()));
  ANDIRON_ASSIGN(Bytes content, Bytes::allocate(std::min<std::uint64_t>(count, wanted.bytes)));
  if (content.empty()) return content;
  if (!wanted.is_stored()) {
    Status status = inflate_head(*source, data, wanted.stored_bytes, content.writable());
    if (status) return content;
    if (status.error().code != ErrorCode::bad_archive) return std::move(status).error();
    return error(ErrorCode::bad_archive, index, "cannot be inflated", status.error().message);
  }
  const std::uint64_t skipped = data - wanted.header_offset;
  if (skipped + content.size() <= head.size()) {
    std::memcpy(content.writable().data(), head.data() + skipped, content.size());
  } else {
    ANDIRON_TRY(source->read_at(data, content.writable()));
  }
  return content;
}

Result<Bytes> ZipState::read(std::uint32_t index, std::uint64_t most) const {
  const ZipEntry& wanted = entry(index);
  ANDIRON_ASSIGN(const std::uint64_t offset, checked_offset(index));
  ANDIRON_TRY(check_limit(wanted.bytes, most,
                          {"zip entry " + quoted(wanted.name) + " is larger than allowed",
                           "inflated_bytes", "bytes", source->name()}));
  ANDIRON_TRY(check_can_inflate(index));
  ANDIRON_ASSIGN(Bytes content, Bytes::allocate(wanted.bytes));
  if (wanted.is_stored()) {
    ANDIRON_TRY(source->read_at(offset, content.writable()));
  } else {
    Status status = inflate_into(*source, offset, wanted.stored_bytes, content.writable());
    if (!status && status.error().code == ErrorCode::bad_archive) {
      return error(ErrorCode::bad_archive, index, "cannot be inflated", status.error().message);
    }
    ANDIRON_TRY(std::move(status));
  }
  if (wanted.crc != 0 && crc_of(content.span()) != wanted.crc) {
    Error error = this->error(ErrorCode::bad_archive, index, "is damaged: its checksum is another");
    error.hint = "copy or download the file again";
    return error;
  }
  return content;
}

ZipReader::ZipReader(std::shared_ptr<const ZipState> state)
    : state_(std::move(state)), checked_source_(std::make_shared<CheckedSource>(state_)) {}

Result<ZipReaderPtr> ZipReader::open(ByteSourcePtr source, const Limits& limits,
                                     ZipNames compared) {
  Result<ZipDirectory> directory = ZipDirectory::read(*source, limits, compared);
  if (!directory) return with_file(std::move(directory).error(), source->name());
  auto state = std::make_shared<ZipState>();
  state->source = std::move(source);
  state->limits = limits;
  state->directory = *std::move(directory);
  const std::size_t count = state->directory.entries().size();
  using Place = std::atomic<std::uint64_t>;
  Result<Bytes> memory = Bytes::allocate(index_block_bytes(count * sizeof(Place)));
  if (!memory) {
    return Error{.code = ErrorCode::out_of_memory,
                 .message = "no memory for the zip directory",
                 .file = state->source->name()};
  }
  state->places_memory = *std::move(memory);
  auto* const places = reinterpret_cast<Place*>(state->places_memory.writable().data());
  std::uninitialized_value_construct_n(places, count);
  state->places = {places, count};
  return ZipReaderPtr(new ZipReader(std::move(state)));
}

Result<ZipReaderPtr> ZipReader::open_leniently(ByteSourcePtr source, const Limits& limits,
                                               ZipNames compared, std::vector<std::string>& notes) {
  ANDIRON_ASSIGN(const std::uint64_t end, find_zip_end(*source));
  if (end != source->size()) {
    notes.push_back("what follows the zip archive is left alone, from byte " + std::to_string(end) +
                    " on");
    source = slice_source(source, 0, end);
  }
  return open(std::move(source), limits, compared);
}

const ByteSourcePtr& ZipReader::source() const noexcept { return state_->source; }

const ZipRun& ZipReader::run() const noexcept { return state_->directory.run(); }

std::span<const ZipEntry> ZipReader::entries() const noexcept {
  return state_->directory.entries().items();
}

std::optional<std::uint32_t> ZipReader::find(std::string_view name) const {
  return state_->directory.find(name);
}

Result<std::uint64_t> ZipReader::data_offset(std::uint32_t entry, std::uint64_t alignment) const {
  return state_->data_offset(entry, alignment);
}

const ByteSourcePtr& ZipReader::checked_source() const noexcept { return checked_source_; }

Result<Bytes> ZipReader::read(std::uint32_t entry, std::uint64_t most) const {
  Result<Bytes> content = state_->read(entry, most);
  if (!content) return with_file(std::move(content).error(), source()->name());
  return content;
}

Result<Bytes> ZipReader::read_head(std::uint32_t entry, std::size_t count) const {
  Result<Bytes> content = state_->read_head(entry, count);
  if (!content) return with_file(std::move(content).error(), source()->name());
  return content;
}

ByteSourcePtr ZipReader::inflated_source(std::uint32_t entry) const {
  const std::lock_guard lock(state_->inflated_mutex);
  std::weak_ptr<const ByteSource>& known = state_->inflated[entry];
  ByteSourcePtr shared = known.lock();
  if (shared == nullptr) {
    shared = std::make_shared<ContentSource>(state_, entry);
    known = shared;
  }
  return shared;
}

}  // namespace andiron::inline v1::detail
