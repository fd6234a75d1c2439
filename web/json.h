// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes JSON objects field by field, straight into one string: a file may list a hundred thousand
// tensors.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/message.h"
#include "andiron/value.h"

namespace andiron::web {

/// A list of `count` values; append(index, out) writes each.
template <class Append>
void append_json_list(std::string& out, std::size_t count, const Append& append) {
  out += '[';
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) out += ',';
    append(i, out);
  }
  out += ']';
}

inline void append_json_notes(std::string& out, const std::vector<Message>& notes) {
  append_json_list(out, notes.size(), [&](std::size_t i, std::string& to) {
    append_json_string(to, notes[i].to_string(Wording::javascript));
  });
}

class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  ~JsonObject() { out_ += '}'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  /// Begins a field; returns the text to append its value to.
  std::string& key(std::string_view name) {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    append_json_string(out_, name);
    out_ += ':';
    return out_;
  }
  void text(std::string_view name, std::string_view value) { append_json_string(key(name), value); }
  void flag(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }
  void number(std::string_view name, std::uint64_t value) { key(name) += std::to_string(value); }
  /// JSON has no NaN and no infinities: they are their names in JavaScript.
  void number(std::string_view name, double value) {
    if (std::isfinite(value)) return json(name, to_json(Value(value)));
    text(name, std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  }
  /// A value that is JSON already.
  void json(std::string_view name, std::string_view value) { key(name) += value; }
  template <class Append>
  void list(std::string_view name, std::size_t count, const Append& append) {
    append_json_list(key(name), count, append);
  }
  void notes(std::string_view name, const std::vector<Message>& notes) {
    append_json_notes(key(name), notes);
  }

 private:
  std::string& out_;
  bool is_first_ = true;
};

/// The text of an object that fill(object) writes.
template <class Fill>
std::string json_object(const Fill& fill) {
  std::string out;
  {
    JsonObject object(out);
    fill(object);
  }
  return out;
}

}  // namespace andiron::web
