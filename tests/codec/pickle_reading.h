// SPDX-License-Identifier: MIT OR Apache-2.0
// Pickles in tests: read from memory or in windows, and shown as Python would write them.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/codec/pickle/machine.h"
#include "tests/support/test_source.h"

namespace andiron::test {

using namespace std::string_literals;

inline std::vector<std::byte> byte_vector(std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

inline Result<detail::PickleGraph> read_in_memory(std::string_view pickle,
                                                  const Limits& limits = {}) {
  const ByteSourcePtr source = memory_source(Bytes::own(byte_vector(pickle)), "m.pkl");
  return detail::read_pickle(*source, 0, source->size(), limits);
}

inline Result<detail::PickleGraph> read_in_windows(std::string_view pickle,
                                                   const Limits& limits = {}) {
  const TestSource source(byte_vector(pickle));
  return detail::read_pickle(source, 0, source.size(), limits);
}

// A number as so many little-endian bytes.
inline std::string little(std::uint64_t number, unsigned bytes) {
  std::string out;
  for (unsigned i = 0; i < bytes; ++i) out += static_cast<char>(number >> 8 * i & 0xff);
  return out;
}

// These opcodes in a frame.
inline std::string framed(const std::string& opcodes) {
  return "\x95" + little(opcodes.size(), 8) + opcodes;
}

// Shows a graph as text: values by their kind, "..." where it is deeper or longer than it may be.
class PickleText {
 public:
  using Kind = detail::PickleKind;
  using Value = detail::PickleValue;

  explicit PickleText(const detail::PickleGraph& graph, unsigned most_steps = 2000)
      : graph_(graph), steps_(most_steps) {}

  std::string show(Value value, unsigned depth = 0) {
    if (depth > 20 || steps_ == 0) return "...";
    --steps_;
    switch (value.kind) {
      case Kind::none:
        return "None";
      case Kind::boolean:
        return graph_.boolean(value) ? "True" : "False";
      case Kind::integer:
        return std::to_string(graph_.integer(value));
      case Kind::big_integer:
        return "int(" + blob(value) + ")";
      case Kind::real:
        return real(graph_.real(value));
      case Kind::text:
        return blob(value);
      case Kind::old_text:
        return "str(" + blob(value) + ")";
      case Kind::bytes:
        return "b" + blob(value);
      case Kind::tuple:
        return "(" + items(graph_.items(value), depth) + ")";
      case Kind::list:
        return "[" + items(graph_.items(value), depth) + "]";
      case Kind::set:
        return "set(" + items(graph_.items(value), depth) + ")";
      case Kind::frozen_set:
        return "frozenset(" + items(graph_.items(value), depth) + ")";
      case Kind::dict:
        return "{" + items(graph_.pairs(value), depth) + "}";
      case Kind::global:
        return std::string(graph_.global(value).module) + "." +
               std::string(graph_.global(value).name);
      case Kind::persistent:
        return "persistent(" + show(graph_.persistent_id(value), depth + 1) + ")";
      case Kind::object:
        return object(value, depth);
    }
    return "?";
  }

 private:
  static std::string real(double number) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.17g", number);
    return text;
  }

  std::string blob(Value value) {
    const detail::PickleBlob& blob = graph_.blob(value);
    if (blob.data == nullptr) return "<" + std::to_string(blob.size) + " bytes>";
    std::string out = "'";
    for (const char c : blob.view()) {
      if (c > ' ' && c < 0x7f && c != '\'' && c != '\\') {
        out += c;
        continue;
      }
      char code[8];
      std::snprintf(code, sizeof(code), "\\x%02x", static_cast<unsigned>(c) & 0xff);
      out += code;
    }
    return out + "'";
  }

  std::string items(detail::PickleItems range, unsigned depth) {
    std::string out;
    std::uint32_t count = 0;
    for (const Value item : range) {
      ++count;
      if (steps_ != 0) out += (out.empty() ? "" : " ") + show(item, depth + 1);
    }
    EXPECT_EQ(count, range.size());
    return out;
  }

  std::string object(Value value, unsigned depth) {
    const detail::PickleObject& object = graph_.object(value);
    std::string out =
        "call " + show(object.callable, depth + 1) + " " + show(object.args, depth + 1);
    if (object.kwargs.kind != Kind::none) out += " " + show(object.kwargs, depth + 1);
    if (!graph_.items(value).empty()) out += " += [" + items(graph_.items(value), depth) + "]";
    if (!graph_.pairs(value).empty()) out += " += {" + items(graph_.pairs(value), depth) + "}";
    if (!graph_.states(value).empty()) {
      out += " state " + items(graph_.states(value), depth);
    }
    return "<" + out + ">";
  }

  const detail::PickleGraph& graph_;
  unsigned steps_;
};

inline std::string show(const detail::PickleGraph& graph) {
  return PickleText(graph).show(graph.root());
}

inline std::string show(const Result<detail::PickleGraph>& result) {
  return result ? show(*result) : "<" + result.error().description() + ">";
}

// What a pickle means, the same from memory and in windows.
inline std::string meaning(std::string_view pickle) {
  const auto whole = read_in_memory(pickle);
  const auto in_windows = read_in_windows(pickle);
  EXPECT_EQ(show(whole), show(in_windows));
  if (whole && in_windows) {
    EXPECT_EQ(whole->end(), in_windows->end());
  }
  return show(whole);
}

// The message of a pickle that is refused with this code.
inline std::string refusal(std::string_view pickle, ErrorCode code = ErrorCode::bad_pickle) {
  meaning(pickle);
  const auto result = read_in_memory(pickle);
  if (result) return "accepted: " + show(result);
  EXPECT_EQ(result.error().code, code) << result.error();
  EXPECT_EQ(result.error().file, "m.pkl");
  return result.error().message;
}

}  // namespace andiron::test
