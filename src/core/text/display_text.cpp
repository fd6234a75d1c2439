// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/display_text_test.cpp
#include "andiron/text.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "src/core/text/utf8.h"

namespace andiron::inline v1 {
namespace {

struct CodePointRange {
  std::uint32_t first;
  std::uint32_t last;
};

// Characters that a terminal does not show, or that reorder what it shows.
constexpr CodePointRange invisible[] = {
    {0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},     {0x34f, 0x34f},   {0x61c, 0x61c},
    {0x115f, 0x1160}, {0x17b4, 0x17b5},   {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e},
    {0x2060, 0x206f}, {0x3164, 0x3164},   {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
    {0xfff0, 0xfffb}, {0xe0000, 0xe0fff},
};

bool is_invisible(std::uint32_t c) {
  return std::any_of(std::begin(invisible), std::end(invisible),
                     [c](CodePointRange range) { return c >= range.first && c <= range.last; });
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

std::string escaped(std::string_view text, std::string_view backslash) {
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
      out += backslash;
    } else if (is_invisible(c.value)) {
      append_escape(out, c.value, false);
    } else {
      out.append(at, c.length);
    }
    at += c.length;
  }
  return out;
}

}  // namespace

std::string display_text(std::string_view text) { return escaped(text, "\\\\"); }
std::string display_line(std::string_view sentence) { return escaped(sentence, "\\"); }

}  // namespace andiron::inline v1
