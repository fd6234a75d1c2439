// SPDX-License-Identifier: MIT OR Apache-2.0
// Measuring and cutting text by what a terminal shows of it.
#include "cli/text_layout.h"

#include <algorithm>

#include "andiron/text.h"

namespace andiron::cli {
namespace {

struct Character {
  std::size_t bytes = 1;
  std::size_t width = 1;
};

// REQUIRES: text is not empty and valid UTF-8.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {};
  const std::size_t bytes = std::min<std::size_t>(text.size(), lead >= 0xf0   ? 4
                                                               : lead >= 0xe0 ? 3
                                                                              : 2);
  char32_t code_point = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) code_point = code_point << 6 | (byte(i) & 0x3fu);
  return {bytes, character_width(code_point)};
}

// Bytes of the longest start of `text` that takes at most `width` columns.
std::size_t fitting_prefix(std::string_view text, std::size_t width) {
  std::size_t end = 0;
  for (std::size_t used = 0; end < text.size();) {
    const Character character = first_character(text.substr(end));
    used += character.width;
    if (used > width) break;
    end += character.bytes;
  }
  return end;
}

// Where the longest end of `text` starts that takes at most `width` columns.
std::size_t fitting_suffix(std::string_view text, std::size_t width) {
  std::size_t start = 0;
  for (std::size_t left = display_width(text); start < text.size();) {
    const Character character = first_character(text.substr(start));
    // A mark at the cut belongs to a character that is gone.
    if (left <= width && character.width > 0) break;
    left -= character.width;
    start += character.bytes;
  }
  return start;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += character.width;
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string shorten_middle(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  constexpr std::string_view ellipsis = "...";
  if (width <= ellipsis.size()) return std::string(ellipsis.substr(0, width));
  const std::size_t kept = width - ellipsis.size();
  std::string out(text.substr(0, fitting_prefix(text, kept - kept / 2)));
  out += ellipsis;
  out += text.substr(fitting_suffix(text, kept / 2));
  return out;
}

void append_wrapped(std::string& out, std::string_view text, std::size_t indent,
                    std::size_t width) {
  do {
    std::size_t end = fitting_prefix(text, width - indent);
    std::size_t next = end;
    if (end < text.size()) {
      const std::size_t space = text.rfind(' ', end);
      if (space != std::string_view::npos && space > 0) {
        end = space;
        next = space + 1;
      }
    }
    out.append(indent, ' ').append(text.substr(0, end)).append("\n");
    text.remove_prefix(next);
  } while (!text.empty());
}

void append_fact(std::string& out, std::string_view label, std::string_view text,
                 std::size_t width) {
  constexpr std::size_t label_width = 12;
  const std::size_t start = out.size();
  append_wrapped(out, display_text(text), label_width, width);
  out.replace(start, label.size(), label);
}

}  // namespace andiron::cli
