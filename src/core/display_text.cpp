// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/display_text_test.cpp
#include "andiron/display_text.h"

#include <cstdio>

#include "src/core/utf8.h"

namespace andiron {
inline namespace v1 {
namespace {

// Characters that a terminal does not show, or that reorder what it shows.
bool is_invisible(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
         (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

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

}  // namespace

std::string display_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    const CodePoint c = decode_utf8(at, end);
    if (c.length == 0) {
      append_escape(out, static_cast<unsigned char>(*at), true);
      ++at;
      continue;
    }
    if (c.value == '\\') {
      out += "\\\\";
    } else if (is_invisible(c.value)) {
      append_escape(out, c.value, false);
    } else {
      out.append(at, c.length);
    }
    at += c.length;
  }
  return out;
}

}  // namespace v1
}  // namespace andiron
