// SPDX-License-Identifier: MIT OR Apache-2.0
// A forward cursor over a record, whatever its encoding.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/limits.h"
#include "andiron/sink.h"

namespace andiron::inline v1::detail {

// A list or dict that was opened.
struct RecordLevel {
  std::uint64_t left = 0;  // items to come, where the encoding says
  bool is_first = true;
  bool is_dict = false;
};

// A value, or the opening of one that holds others.
struct RecordItem {
  enum class Kind : std::uint8_t {
    null,
    boolean,
    integer,           // below zero
    unsigned_integer,  // zero and above
    floating,
    text,
    bytes,
    list,
    dict,
  };
  Kind kind = Kind::null;
  bool boolean = false;
  std::int64_t integer = 0;
  std::uint64_t number = 0;  // an unsigned integer
  double floating = 0;
  std::string_view text;  // valid until the next call
  // Where bytes lie in the source; they are passed over, not read.
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  RecordLevel level;

  bool is_number() const {
    return kind == Kind::boolean || kind == Kind::integer || kind == Kind::unsigned_integer ||
           kind == Kind::floating;
  }
};

// Moves forward only. Errors name the file and the byte.
class RecordCursor {
 public:
  virtual ~RecordCursor() = default;

  virtual Status next(RecordItem& item) = 0;
  // Whether the list or dict has another item; leaves it when there is none.
  virtual Result<bool> more(RecordLevel& level) = 0;
  // The key before a dict's next value; valid until the next call.
  virtual Status key(std::string_view& key) = 0;
  // The rest of a list of numbers from 0 to 255.
  virtual Status byte_list(RecordLevel& level, Sink& out) = 0;
  // Bytes of the source behind the cursor.
  virtual std::uint64_t offset() const = 0;
  // Whether nothing but white space follows.
  virtual bool at_end() = 0;

  // An error at this place.
  Error error(ErrorCode code, std::string message) const {
    return Error{.code = code,
                 .message = std::move(message),
                 .file = source_->name(),
                 .found = "at byte " + std::to_string(offset())};
  }

 protected:
  explicit RecordCursor(ByteSourcePtr source) : source_(std::move(source)) {}
  const ByteSource& source() const { return *source_; }

 private:
  ByteSourcePtr source_;
};

// Reads little more than the items themselves.
std::unique_ptr<RecordCursor> msgpack_cursor(const ByteSourcePtr& source, const Limits& limits);
// Takes the whole text into memory.
Result<std::unique_ptr<RecordCursor>> json_cursor(const ByteSourcePtr& source);

}  // namespace andiron::inline v1::detail
