// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/display_text_test.cpp
#include "andiron/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "src/core/text/literal.h"
#include "src/core/text/shown_characters.h"
#include "src/core/text/utf8.h"

namespace andiron::inline v1 {
namespace {

void append_escape(std::string& out, std::uint32_t c, bool is_byte) {
  char text[16];
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else {
    const char* form = is_byte || c < 0x80 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x";
    std::snprintf(text, sizeof text, form, static_cast<unsigned>(c));
    out += text;
  }
}

std::string escaped(std::string_view text, std::string_view backslash) {
  std::string out;
  out.reserve(text.size());
  detail::ShownCharacters shown;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    const CodePoint c = decode_utf8(at, end);
    if (c.length == 0) {
      append_escape(out, static_cast<unsigned char>(*at), true);
      shown.pass_escape();
      ++at;
      continue;
    }
    const bool must_escape = shown.must_escape(c.value);
    if (c.value == '\\') {
      out += backslash;
    } else if (must_escape) {
      append_escape(out, c.value, false);
    } else {
      out.append(at, c.length);
    }
    at += c.length;
  }
  return out;
}

}  // namespace

std::string display_text(std::string_view text) {
  std::string out = escaped(text, "\\\\");
  // Nobody sees a blank at an end.
  if (out.ends_with(' ')) out.replace(out.size() - 1, 1, "\\x20");
  if (out.starts_with(' ')) out.replace(0, 1, "\\x20");
  return out;
}

std::string display_line(std::string_view sentence) { return escaped(sentence, "\\"); }

std::string shell_word(std::string_view text) {
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-/+:@%").find(c) != std::string_view::npos;
  });
  return is_plain ? std::string(text) : detail::literal(text, Wording::flags);
}

}  // namespace andiron::inline v1
