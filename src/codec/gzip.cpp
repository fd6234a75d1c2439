// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/codec/gzip_test.cpp
#include "src/codec/gzip.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "src/codec/inflate.h"
#include "src/core/check_limit.h"
#include "src/core/little_endian.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

constexpr std::uint16_t gzip_magic = 0x8b1f;
constexpr std::byte deflate_method{8};

class GzipInflater {
 public:
  GzipInflater(const ByteSource& source, const Limits& limits, MemoryBudget* budget)
      : source_(source), limits_(limits), budget_(budget) {}

  // Makes room for as much as the end of the file says, which is the size of the last member: most
  // files have one. Growing would take twice the memory.
  Status reserve() {
    std::array<std::byte, 4> size;
    if (source_.size() < size.size()) return {};
    ANDIRON_TRY(source_.read_at(source_.size() - size.size(), size));
    const std::uint64_t said = load_u32(size.data());
    const bool may_be = can_inflate_to(source_.size(), said) && said <= limits_.inflated_bytes;
    return may_be ? grow(said) : Status();
  }

  // Stops when there are `enough` bytes.
  Result<Bytes> run(std::uint64_t enough = ~std::uint64_t{0}) {
    if (budget_ != nullptr) {
      ANDIRON_TRY(budget_->charge(sizeof(Windows) + inflate_stream_bytes, "windows to inflate"));
    }
    stream_ = new_inflate_stream();
    if (stream_ == nullptr) return no_memory_for_deflate();
    windows_ = std::make_unique<Windows>();
    for (;;) {
      ANDIRON_TRY(read_header());
      ANDIRON_TRY(inflate_member(enough));
      if (inflated_ >= enough) return out_.take();
      ANDIRON_TRY(check_trailer());
      ANDIRON_TRY(fill());
      if (in_.empty()) return out_.take();
      stream_->reset();
    }
  }

 private:
  struct Windows {
    GzipWindow in;
    GzipWindow out;
  };

  // Reads on if all that was read is used. Nothing is left at the end of the file.
  Status fill() {
    if (!in_.empty()) return {};
    const auto part = std::span(windows_->in)
                          .first(static_cast<std::size_t>(
                              std::min<std::uint64_t>(gzip_window_bytes, source_.size() - read_)));
    ANDIRON_TRY(source_.read_at(read_, part));
    read_ += part.size();
    in_ = part;
    return {};
  }

  Status need_more() {
    ANDIRON_TRY(fill());
    return in_.empty() ? ends_too_early() : Status();
  }

  // Takes the next bytes of a header or trailer.
  Status take(std::span<std::byte> out) {
    while (!out.empty()) {
      ANDIRON_TRY(need_more());
      const std::size_t count = std::min(out.size(), in_.size());
      std::memcpy(out.data(), in_.data(), count);
      drop_header_bytes(count);
      out = out.subspan(count);
    }
    return {};
  }
  Result<std::uint16_t> take_u16() {
    std::array<std::byte, 2> bytes;
    ANDIRON_TRY(take(bytes));
    return load_u16(bytes.data());
  }
  Result<std::uint32_t> take_u32() {
    std::array<std::byte, 4> bytes;
    ANDIRON_TRY(take(bytes));
    return load_u32(bytes.data());
  }
  void drop_header_bytes(std::size_t count) {
    header_crc_ = crc_of(in_.first(count), header_crc_);
    in_ = in_.subspan(count);
  }

  // RFC 1952, section 2.3.
  Status read_header() {
    constexpr unsigned has_crc = 0x02;
    constexpr unsigned has_extra = 0x04;
    constexpr unsigned has_name = 0x08;
    constexpr unsigned has_comment = 0x10;
    constexpr unsigned is_reserved = 0xe0;
    header_crc_ = 0;
    ANDIRON_ASSIGN(const std::uint16_t begin, take_u16());
    if (begin != gzip_magic) return damaged();
    std::array<std::byte, 2> method_and_flags;
    ANDIRON_TRY(take(method_and_flags));
    const auto flags = std::to_integer<unsigned>(method_and_flags[1]);
    if (method_and_flags[0] != deflate_method || (flags & is_reserved) != 0) return damaged();
    ANDIRON_TRY(skip(6));  // the time, hints and the system
    if ((flags & has_extra) != 0) {
      ANDIRON_ASSIGN(const std::uint16_t count, take_u16());
      ANDIRON_TRY(skip(count));
    }
    if ((flags & has_name) != 0) ANDIRON_TRY(skip_text());
    if ((flags & has_comment) != 0) ANDIRON_TRY(skip_text());
    if ((flags & has_crc) != 0) {
      const std::uint32_t crc = header_crc_ & 0xffff;
      ANDIRON_ASSIGN(const std::uint16_t said, take_u16());
      if (said != crc) return damaged();
    }
    return {};
  }

  Status skip(std::size_t count) {
    while (count != 0) {
      ANDIRON_TRY(need_more());
      const std::size_t part = std::min(count, in_.size());
      drop_header_bytes(part);
      count -= part;
    }
    return {};
  }

  // Up to a zero byte, and that.
  Status skip_text() {
    for (;;) {
      ANDIRON_TRY(need_more());
      const auto end = std::find(in_.begin(), in_.end(), std::byte{0});
      const bool is_all = end != in_.end();
      drop_header_bytes(static_cast<std::size_t>(end - in_.begin()) + (is_all ? 1 : 0));
      if (is_all) return {};
    }
  }

  Status inflate_member(std::uint64_t enough) {
    member_crc_ = 0;
    member_bytes_ = 0;
    for (;;) {
      ANDIRON_TRY(need_more());
      const InflateStream::Step step = stream_->step(in_, windows_->out);
      in_ = in_.subspan(step.taken);
      ANDIRON_TRY(take_output(std::span(windows_->out).first(step.made)));
      if (inflated_ >= enough || step.state == InflateStream::State::ended) return {};
      if (step.state == InflateStream::State::out_of_memory) return no_memory_for_deflate();
      if (step.state == InflateStream::State::damaged) return damaged();
    }
  }

  Status check_trailer() {
    ANDIRON_ASSIGN(const std::uint32_t crc, take_u32());
    if (crc != member_crc_) return damaged();
    ANDIRON_ASSIGN(const std::uint32_t bytes, take_u32());
    return bytes == static_cast<std::uint32_t>(member_bytes_) ? Status() : damaged();
  }

  Error damaged() const { return error(ErrorCode::bad_header, "the gzip data is damaged"); }
  Error ends_too_early() const {
    return error(ErrorCode::truncated, "the gzip data ends too early");
  }
  Error error(ErrorCode code, const char* what) const {
    return Error{.code = code,
                 .message = what,
                 .file = source_.name(),
                 .found = "at byte " + std::to_string(read_ - in_.size()),
                 .hint = "the download may be incomplete"};
  }

  Status take_output(std::span<const std::byte> made) {
    inflated_ += made.size();
    ANDIRON_TRY(check_limit(inflated_, limits_.inflated_bytes, [&] {
      return LimitCheck{"the file inflates to more than allowed", &Limits::inflated_bytes, "bytes",
                        source_.name()};
    }));
    ANDIRON_TRY(check_inflated_ratio(inflated_, source_.size(), limits_, source_.name()));
    if (inflated_ > room_) ANDIRON_TRY(grow(std::max(inflated_, 2 * room_)));
    member_bytes_ += made.size();
    member_crc_ = crc_of(made, member_crc_);
    return out_.write(made);
  }

  Status grow(std::uint64_t room) {
    if (budget_ != nullptr) ANDIRON_TRY(budget_->charge(room, "inflated data"));
    room_ = room;
    return out_.reserve(room);
  }

  const ByteSource& source_;
  const Limits& limits_;
  MemoryBudget* budget_;  // null for none
  std::unique_ptr<InflateStream> stream_;
  std::unique_ptr<Windows> windows_;
  std::span<const std::byte> in_;  // what was read and is not used
  std::uint64_t read_ = 0;
  std::uint32_t header_crc_ = 0;
  std::uint32_t member_crc_ = 0;
  std::uint64_t member_bytes_ = 0;
  std::uint64_t inflated_ = 0;
  std::uint64_t room_ = 0;
  MemorySink out_;
};

}  // namespace

Result<Bytes> inflate_gzip(const ByteSource& source, const Limits& limits, MemoryBudget* budget) {
  GzipInflater inflater(source, limits, budget);
  ANDIRON_TRY(inflater.reserve());
  return inflater.run();
}

Result<ByteSourcePtr> inflated(const ByteSource& source, const Limits& limits,
                               MemoryBudget& budget) {
  ANDIRON_ASSIGN(Bytes content, inflate_gzip(source, limits, &budget));
  return memory_source(std::move(content), source.name());
}

Result<ContentHead> content_head(const ByteSource& source, std::size_t count) {
  std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(count, source.size())), '\0');
  ANDIRON_TRY(source.read_at(0, std::as_writable_bytes(std::span(head))));
  if (!is_gzip(head)) return ContentHead{false, std::move(head)};
  // Not the caller's limit, which is for content that is kept.
  const Limits a_window_more{.inflated_bytes = count + gzip_window_bytes};
  ANDIRON_ASSIGN(const Bytes content, GzipInflater(source, a_window_more, nullptr).run(count));
  return ContentHead{true, std::string(content.text().substr(0, count))};
}

GzipSink::GzipSink(Sink& sink, std::unique_ptr<DeflateStream> stream)
    : sink_(sink), stream_(std::move(stream)), out_(std::make_unique<GzipWindow>()) {
  constexpr std::byte none{0};
  constexpr std::byte unix_system{3};
  constexpr std::array header = {std::byte{gzip_magic & 0xff},
                                 std::byte{gzip_magic >> 8},
                                 deflate_method,
                                 none /* flags */,
                                 none,
                                 none,
                                 none,
                                 none /* time */,
                                 none /* hints */,
                                 unix_system};
  std::copy(header.begin(), header.end(), out_->begin());
  out_used_ = header.size();
}

Result<std::unique_ptr<GzipSink>> GzipSink::create(Sink& sink) {
  std::unique_ptr<DeflateStream> stream = new_deflate_stream();
  if (stream == nullptr) return no_memory_for_deflate();
  return std::unique_ptr<GzipSink>(new GzipSink(sink, std::move(stream)));
}

Status GzipSink::write(std::span<const std::byte> data) {
  crc_ = crc_of(data, crc_);
  size_ += data.size();
  return deflate(data, false);
}

Status GzipSink::finish() {
  ANDIRON_TRY(deflate({}, true));
  std::array<std::byte, 8> trailer;
  store_u64(crc_ | size_ << 32, trailer.data());
  if (out_->size() - out_used_ < trailer.size()) ANDIRON_TRY(pass_on());
  std::copy(trailer.begin(), trailer.end(), out_->data() + out_used_);
  out_used_ += trailer.size();
  return pass_on();
}

Status GzipSink::deflate(std::span<const std::byte> data, bool is_last) {
  for (;;) {
    const auto room = std::span(*out_).subspan(out_used_);
    const DeflateStream::Step step = stream_->step(data, room, is_last);
    data = data.subspan(step.taken);
    out_used_ += step.made;
    if (step.made == room.size()) {
      ANDIRON_TRY(pass_on());
    } else if (data.empty()) {
      return {};
    }
  }
}

Status GzipSink::pass_on() {
  ANDIRON_TRY(sink_.write(std::span(*out_).first(out_used_)));
  bytes_ += out_used_;
  out_used_ = 0;
  return {};
}

}  // namespace andiron::inline v1::detail
