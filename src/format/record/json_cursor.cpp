// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/record_reader_test.cpp and record_hostile_test.cpp
#include <array>
#include <charconv>
#include <optional>

#include "src/codec/decode_text.h"
#include "src/core/parse_double.h"
#include "src/core/try.h"
#include "src/format/record/cursor.h"
#include "src/freestanding/json_reader.h"

namespace andiron::inline v1::detail {
namespace {

using Kind = RecordItem::Kind;

class JsonCursor : public RecordCursor {
 public:
  JsonCursor(const ByteSourcePtr& source, Bytes text)
      : RecordCursor(source), text_(std::move(text)), reader_(text_.text()) {}

  Status next(RecordItem& item) override {
    item = {};
    switch (reader_.peek()) {
      case '{':
        reader_.take('{');
        item.kind = Kind::dict;
        item.level.is_dict = true;
        break;
      case '[':
        reader_.take('[');
        item.kind = Kind::list;
        break;
      case '"':
        item.kind = Kind::text;
        take_text(item.text, &JsonReader::string);
        break;
      case 't':
      case 'f':
        item.kind = Kind::boolean;
        item.boolean = reader_.peek() == 't';
        reader_.literal(item.boolean ? "true" : "false");
        break;
      case 'n':
        reader_.literal("null");
        break;
      default:
        take_number(item);
    }
    return status();
  }

  Result<bool> more(RecordLevel& level) override {
    const bool another = reader_.next_item(level.is_dict ? '}' : ']', level.is_first);
    ANDIRON_TRY(status());
    return another;
  }

  Status key(std::string_view& key) override {
    take_text(key, &JsonReader::key);
    return status();
  }

  Status byte_list(RecordLevel& level, Sink& out) override {
    std::array<std::byte, 4096> chunk;
    for (bool another = true; another;) {
      std::size_t count = 0;
      while (count < chunk.size() && (another = reader_.next_item(']', level.is_first))) {
        std::uint64_t number = 0;
        if (reader_.unsigned_integer(number) && number > 0xff) {
          reader_.fail(ErrorCode::bad_header, "a number does not fit in a byte");
        }
        chunk[count++] = static_cast<std::byte>(number & 0xff);
      }
      ANDIRON_TRY(status());
      ANDIRON_TRY(out.write(std::span(chunk).first(count)));
    }
    return {};
  }

  std::uint64_t offset() const override { return reader_.offset(); }
  bool at_end() override { return reader_.at_end(); }

 private:
  Status status() const {
    if (!reader_.failed()) return {};
    Error result = error(reader_.code(), reader_.what());
    if (offset() == text_.size()) {
      result.code = ErrorCode::truncated;
      result.hint = "the download may be incomplete";
    }
    return result;
  }

  void take_text(std::string_view& text, bool (JsonReader::*take)(JsonText&) noexcept) {
    JsonText found;
    if (!(reader_.*take)(found)) return;
    if (found.has_escapes) decoded_ = decode_text(found);
    text = found.has_escapes ? std::string_view(decoded_) : found.raw;
  }

  void take_number(RecordItem& item) {
    std::string_view text;
    if (!reader_.number(text)) return;
    const char* const end = text.data() + text.size();
    const auto fits = [&](auto& number) {
      return std::from_chars(text.data(), end, number).ec == std::errc();
    };
    const bool is_whole = text.find_first_of(".eE") == std::string_view::npos && text != "-0";
    if (is_whole && text[0] == '-' && fits(item.integer)) {
      item.kind = Kind::integer;
    } else if (is_whole && text[0] != '-' && fits(item.number)) {
      item.kind = Kind::unsigned_integer;
    } else if (const std::optional<double> number = parse_double(text)) {
      item.kind = Kind::floating;
      item.floating = *number;
    } else {
      reader_.fail(ErrorCode::bad_header, "a number does not fit in a double");
    }
  }

  Bytes text_;
  JsonReader reader_;
  std::string decoded_;
};

}  // namespace

Result<std::unique_ptr<RecordCursor>> json_cursor(const ByteSourcePtr& source) {
  Bytes text;
  if (source->in_memory()) {
    ANDIRON_ASSIGN(text, source->view(0, source->size()));
  } else {
    ANDIRON_ASSIGN(text, Bytes::allocate(source->size()));
    ANDIRON_TRY(source->read_at(0, text.writable()));
  }
  return std::unique_ptr<RecordCursor>(std::make_unique<JsonCursor>(source, std::move(text)));
}

}  // namespace andiron::inline v1::detail
