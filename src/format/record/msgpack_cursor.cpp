// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/record_reader_test.cpp and record_hostile_test.cpp
#include <algorithm>
#include <array>

#include "src/core/check_limit.h"
#include "src/core/text/utf8.h"
#include "src/core/try.h"
#include "src/format/record/cursor.h"
#include "src/freestanding/msgpack_reader.h"

namespace andiron::inline v1::detail {
namespace {

// After a tensor's bytes, what describes the next tensor is short; text without tensors is long.
constexpr std::uint64_t shortest_window = 4 * 1024;
constexpr std::uint64_t longest_window = 64 * 1024;

using Kind = RecordItem::Kind;

class MsgpackCursor : public RecordCursor {
 public:
  MsgpackCursor(const ByteSourcePtr& source, const Limits& limits)
      : RecordCursor(source), limits_(limits) {}

  Status next(RecordItem& item) override {
    ANDIRON_TRY(ensure(MsgpackReader::max_item_bytes));
    MsgpackItem head;
    ANDIRON_TRY(take(head));
    item = {};
    switch (head.kind) {
      case MsgpackKind::nil:
        return {};
      case MsgpackKind::boolean:
        item.kind = Kind::boolean;
        item.boolean = head.boolean;
        return {};
      case MsgpackKind::integer:
        item.kind = Kind::integer;
        item.integer = head.integer;
        return {};
      case MsgpackKind::unsigned_integer:
        item.kind = Kind::unsigned_integer;
        item.number = head.number;
        return {};
      case MsgpackKind::floating:
        item.kind = Kind::floating;
        item.floating = head.floating;
        return {};
      case MsgpackKind::text:
        ANDIRON_TRY(check_text(head.size));
        ANDIRON_TRY(ensure(head.size));
        item.kind = Kind::text;
        return take_text(head.size, item.text);
      case MsgpackKind::bytes:
        ANDIRON_TRY(check_left(head.size));
        item.kind = Kind::bytes;
        item.offset = offset();
        item.size = head.size;
        skip(head.size);
        return {};
      case MsgpackKind::list:
      case MsgpackKind::map:
        // Every item takes a byte at least.
        ANDIRON_TRY(check_left(head.size));
        item.kind = head.kind == MsgpackKind::map ? Kind::dict : Kind::list;
        item.level = {.left = head.size, .is_dict = head.kind == MsgpackKind::map};
        return {};
      case MsgpackKind::extension:
        break;
    }
    return error(ErrorCode::unsupported,
                 "MessagePack extension types are not supported in records");
  }

  Result<bool> more(RecordLevel& level) override {
    if (level.left == 0) return false;
    --level.left;
    return true;
  }

  Status key(std::string_view& key) override {
    ANDIRON_TRY(ensure(MsgpackReader::max_item_bytes));
    MsgpackItem head;
    ANDIRON_TRY(take(head));
    if (head.kind != MsgpackKind::text) return error(ErrorCode::bad_header, "a key is not text");
    ANDIRON_TRY(check_text(head.size));
    ANDIRON_TRY(ensure(head.size));
    return take_text(head.size, key);
  }

  Status byte_list(RecordLevel& level, Sink& out) override {
    std::array<std::byte, 4096> chunk;
    while (level.left != 0) {
      std::size_t count = 0;
      for (; count < chunk.size() && level.left != 0; --level.left) {
        ANDIRON_TRY(ensure(MsgpackReader::max_item_bytes));
        MsgpackItem head;
        ANDIRON_TRY(take(head));
        if (head.kind != MsgpackKind::unsigned_integer || head.number > 0xff) {
          return error(ErrorCode::bad_header, "a number does not fit in a byte");
        }
        chunk[count++] = static_cast<std::byte>(head.number);
      }
      ANDIRON_TRY(out.write(std::span(chunk).first(count)));
    }
    return {};
  }

  std::uint64_t offset() const override { return window_begin_ + at_; }
  bool at_end() override { return left() == 0; }

 private:
  std::uint64_t left() const { return source().size() - offset(); }

  Status check_left(std::uint64_t count) const {
    if (count <= left()) return {};
    Error result = error(ErrorCode::truncated, "the file ends within a value");
    result.expected = std::to_string(count) + " more bytes";
    result.hint = "the download may be incomplete";
    return result;
  }

  Status check_text(std::uint64_t size) const {
    ANDIRON_TRY(check_left(size));
    return check_limit(size, limits_.metadata_bytes,
                       {"a text is too long", &Limits::metadata_bytes, "bytes", source().name()});
  }

  // Makes the window hold `count` bytes from here on, or all that are left. Nothing else reads.
  Status ensure(std::uint64_t count) {
    count = std::min(count, left());
    if (window_.size() - at_ >= count) return {};
    const std::uint64_t begin = offset();
    const std::uint64_t rest = source().size() - begin;
    if (source().in_memory()) {
      ANDIRON_ASSIGN(memory_, source().view(begin, rest));
      window_ = memory_.text();
    } else {
      const std::uint64_t size = std::min(rest, std::max(count, next_window_));
      next_window_ = std::min(2 * next_window_, longest_window);
      if (memory_.size() < size) {
        ANDIRON_ASSIGN(memory_, Bytes::allocate(std::max(size, longest_window)));
      }
      const auto fresh = memory_.writable().first(static_cast<std::size_t>(size));
      ANDIRON_TRY(source().read_at(begin, fresh));
      window_ = memory_.text().substr(0, fresh.size());
    }
    window_begin_ = begin;
    at_ = 0;
    return {};
  }

  void skip(std::uint64_t count) {
    if (count <= window_.size() - at_) {
      at_ += static_cast<std::size_t>(count);
      return;
    }
    window_begin_ += at_ + count;
    window_ = {};
    at_ = 0;
    next_window_ = shortest_window;
  }

  // REQUIRES: ensure(), of this and of take_text().
  Status take(MsgpackItem& head) {
    MsgpackReader reader(window_.substr(at_));
    if (!reader.next(head)) return error(reader.code(), reader.what());
    at_ += reader.offset();
    return {};
  }

  Status take_text(std::uint64_t size, std::string_view& text) {
    text = window_.substr(at_, static_cast<std::size_t>(size));
    if (!is_utf8(text)) return error(ErrorCode::bad_header, "text is not UTF-8");
    at_ += text.size();
    return {};
  }

  const Limits& limits_;
  Bytes memory_;
  std::string_view window_;  // the source from window_begin_ on
  std::uint64_t window_begin_ = 0;
  std::size_t at_ = 0;  // in the window
  std::uint64_t next_window_ = shortest_window;
};

}  // namespace

std::unique_ptr<RecordCursor> msgpack_cursor(const ByteSourcePtr& source, const Limits& limits) {
  return std::make_unique<MsgpackCursor>(source, limits);
}

}  // namespace andiron::inline v1::detail
