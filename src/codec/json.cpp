// SPDX-License-Identifier: MIT OR Apache-2.0
// JSON text to and from Value. Recursion is bounded by max_json_depth.
// Tested by tests/codec/json_test.cpp
#include "andiron/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "andiron/detail/no_throw.h"
#include "src/codec/decode_text.h"
#include "src/codec/file_json.h"
#include "src/core/parse_double.h"
#include "src/core/print_double.h"
#include "src/core/text/shown_characters.h"
#include "src/core/text/utf8.h"
#include "src/freestanding/append_json.h"
#include "src/freestanding/json_reader.h"

namespace andiron::inline v1 {
namespace {

using detail::decode_text;
using detail::JsonReader;

bool parse_number(JsonReader& reader, Value& out) {
  std::string_view text;
  if (!reader.number(text)) return false;
  const char* end = text.data() + text.size();
  if (text.find_first_of(".eE") == std::string_view::npos) {
    std::int64_t whole = 0;
    if (std::from_chars(text.data(), end, whole).ec == std::errc()) return out = Value(whole), true;
    std::uint64_t large = 0;
    if (std::from_chars(text.data(), end, large).ec == std::errc()) return out = Value(large), true;
  }
  const std::optional<double> number = detail::parse_double(text);
  if (!number) return reader.fail(ErrorCode::bad_header, "a number does not fit in a double");
  out = Value(*number);
  return true;
}

bool parse_value(JsonReader& reader, unsigned depth, Value& out) {
  const char c = reader.peek();
  if (c == '{' || c == '[') {
    if (depth >= max_json_depth) {
      return reader.fail(ErrorCode::limit_exceeded, "nested too deeply");
    }
    bool first = true;
    if (reader.take('[')) {
      ValueList list;
      while (reader.next_item(']', first)) {
        if (!parse_value(reader, depth + 1, list.emplace_back())) return false;
      }
      out = Value(std::move(list));
    } else if (reader.take('{')) {
      ValueDict dict;
      std::set<std::string> seen;  // not hashed: a hostile text could make hashes collide
      while (reader.next_item('}', first)) {
        JsonText key;
        if (!reader.key(key)) return false;
        auto& [name, value] = dict.emplace_back(decode_text(key), Value());
        if (!seen.insert(name).second) {
          return reader.fail(ErrorCode::duplicate_key, "duplicate key");
        }
        if (!parse_value(reader, depth + 1, value)) return false;
      }
      out = Value(std::move(dict));
    }
    return !reader.failed();
  }
  if (c == '"') {
    JsonText text;
    if (!reader.string(text)) return false;
    out = Value(decode_text(text));
    return true;
  }
  if (c == 't') return out = Value(true), reader.literal("true");
  if (c == 'f') return out = Value(false), reader.literal("false");
  if (c == 'n') return out = Value(), reader.literal("null");
  return parse_number(reader, out);
}

// Who reads the text: programs that want it as short as it can be, or people too.
enum class JsonReadBy : std::uint8_t { programs, people };

void append_escape(std::string& out, CodePoint c) {
  if (c.length == 0) {
    out += "\xef\xbf\xbd";  // U+FFFD in place of a byte that is not UTF-8
  } else if (c.value < 0x10000) {
    detail::append_json_escape(out, c.value);
  } else {
    const std::uint32_t rest = c.value - 0x10000;
    detail::append_json_escape(out, 0xd800 + (rest >> 10));
    detail::append_json_escape(out, 0xdc00 + (rest & 0x3ff));
  }
}

void append_string(std::string& out, std::string_view text, JsonReadBy readers) {
  out += '"';
  detail::ShownCharacters shown;
  const char* at = text.data();
  const char* end = at + text.size();
  const char* plain = at;  // start of what need not change
  while (at != end) {
    const CodePoint c = decode_utf8(at, end);
    const bool is_valid = c.length != 0 && c.value >= 0x20 && c.value != '"' && c.value != '\\';
    if (is_valid && (readers == JsonReadBy::programs || !shown.must_escape(c.value))) {
      at += c.length;
      continue;
    }
    out.append(plain, at);
    append_escape(out, c);
    at += std::max(c.length, 1u);
    plain = at;
  }
  out.append(plain, end);
  out += '"';
}

void append_line_break(std::string& out, unsigned indent, unsigned depth) {
  // A thousand levels would make far more space than text.
  constexpr unsigned deepest = 32;
  if (indent != 0) out.append(1, '\n').append(std::size_t{indent} * std::min(depth, deepest), ' ');
}

void append_value(std::string& out, const Value& value, JsonReadBy readers, unsigned indent,
                  unsigned depth);

template <class Items, class AppendItem>
void append_items(std::string& out, const Items& items, const char* brackets, unsigned indent,
                  unsigned depth, AppendItem append_item) {
  out += brackets[0];
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ',';
    first = false;
    append_line_break(out, indent, depth + 1);
    append_item(item);
  }
  if (!first) append_line_break(out, indent, depth);
  out += brackets[1];
}

struct ValueAppender {
  std::string& out;
  JsonReadBy readers;
  unsigned indent;
  unsigned depth;

  void operator()(std::monostate) const { out += "null"; }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { out += std::to_string(value); }
  void operator()(std::uint64_t value) const { out += std::to_string(value); }
  void operator()(double value) const {
    if (!std::isfinite(value)) {
      out += "null";
      return;
    }
    const std::string text = detail::print_double(value);
    out += text;
    // A mark of its kind, so that it is read back as a double and -0 keeps its sign.
    if (text.find_first_of(".e") == std::string::npos) out += ".0";
  }
  void operator()(const std::string& value) const { append_string(out, value, readers); }
  void operator()(const Bytes& value) const {
    append_items(out, value.span(), "[]", 0, depth,
                 [&](std::byte b) { out += std::to_string(std::to_integer<int>(b)); });
  }
  void operator()(const ValueList& list) const {
    append_items(out, list, "[]", indent, depth,
                 [&](const Value& item) { append_value(out, item, readers, indent, depth + 1); });
  }
  void operator()(const ValueDict& dict) const {
    append_items(out, dict, "{}", indent, depth, [&](const auto& item) {
      append_string(out, item.first, readers);
      out += indent != 0 ? ": " : ":";
      append_value(out, item.second, readers, indent, depth + 1);
    });
  }
  void operator()(TensorIndex tensor) const {
    out += "{\"tensor\":" + std::to_string(tensor.index) + "}";
  }
};

void append_value(std::string& out, const Value& value, JsonReadBy readers, unsigned indent,
                  unsigned depth) {
  const bool nests = value.get<ValueList>() != nullptr || value.get<ValueDict>() != nullptr ||
                     value.get<Bytes>() != nullptr || value.get<TensorIndex>() != nullptr;
  if (nests && depth >= max_json_depth) {
    out += "null";
    return;
  }
  value.visit(ValueAppender{out, readers, indent, depth});
}

}  // namespace

Result<Value> parse_json(std::string_view text) ANDIRON_NO_THROW {
  JsonReader reader(text);
  Value value;
  if (parse_value(reader, 0, value) && !reader.at_end()) {
    reader.fail(ErrorCode::bad_header, "text after the end of the JSON value");
  }
  if (reader.failed()) {
    return Error{.code = reader.code(),
                 .message = reader.what(),
                 .found = "at byte " + std::to_string(reader.offset())};
  }
  return value;
}
ANDIRON_OR_OUT_OF_MEMORY

std::string to_json(const Value& value, unsigned indent) {
  std::string out;
  append_value(out, value, JsonReadBy::people, indent, 0);
  return out;
}

void append_json_string(std::string& out, std::string_view text) {
  append_string(out, text, JsonReadBy::people);
}

std::string detail::to_file_json(const Value& value, unsigned indent) {
  std::string out;
  append_value(out, value, JsonReadBy::programs, indent, 0);
  return out;
}

void detail::append_file_json_string(std::string& out, std::string_view text) {
  append_string(out, text, JsonReadBy::programs);
}

}  // namespace andiron::inline v1
