// SPDX-License-Identifier: MIT OR Apache-2.0
// Bytes in hex with what they mean, one field after the other.
#include "cli/hex_view.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "cli/text_layout.h"

namespace andiron::cli {
namespace {

constexpr std::size_t offset_width = 8;
constexpr std::size_t column_gap = 2;
constexpr std::size_t indent = 2;
// Below this, a meaning is hardly a sentence.
constexpr std::size_t fair_meaning = 34;
constexpr std::size_t least_meaning = 12;

// Columns before the meaning.
std::size_t bytes_width(std::size_t bytes) {
  return offset_width + column_gap + (bytes * 3 - 1) + column_gap + bytes + column_gap;
}

std::string character_text(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    const char c = static_cast<char>(byte);
    text += c >= ' ' && c <= '~' ? c : '.';
  }
  return text;
}

std::vector<std::string> wrapped_lines(std::string_view text, std::size_t width) {
  std::string wrapped;
  append_wrapped(wrapped, text, 0, width);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < wrapped.size();) {
    const std::size_t end = wrapped.find('\n', begin);
    lines.push_back(wrapped.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string hex_text(std::span<const std::byte> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    if (!text.empty()) text += ' ';
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

HexView::HexView(const Page& page) : page_(page) {
  for (const std::size_t fewer : {8u, 4u}) {
    if (page.width < bytes_width(bytes_a_line_) + fair_meaning) bytes_a_line_ = fewer;
  }
  const std::size_t before = bytes_width(bytes_a_line_);
  meaning_width_ = page.width > before + least_meaning ? page.width - before : least_meaning;
}

std::string HexView::line(std::string_view offset, std::string_view hex, std::string_view text,
                          std::string_view meaning) const {
  std::string out(offset);
  out.append(offset_width + column_gap - std::min(offset_width, offset.size()), ' ').append(hex);
  out.append(bytes_a_line_ * 3 - 1 + column_gap - hex.size(), ' ').append(text);
  out.append(bytes_a_line_ + column_gap - text.size(), ' ').append(meaning);
  out.resize(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

void HexView::append_heading(std::string& out) const {
  page_.append_bold(out, line("OFFSET", "BYTES", "TEXT", "MEANING"));
}

void HexView::append_field(std::string& out, std::uint64_t offset, std::span<const std::byte> bytes,
                           unsigned depth, std::string_view meaning) const {
  // Where there is little room, deep fields share an indentation.
  const std::size_t indentation = std::min(depth * indent, meaning_width_ / 3);
  const std::vector<std::string> meanings = wrapped_lines(meaning, meaning_width_ - indentation);

  std::string previous_hex;
  bool repeating = false;
  for (std::size_t row = 0, at = 0; at < bytes.size() || row < meanings.size(); ++row) {
    const auto part = bytes.subspan(at, std::min(bytes_a_line_, bytes.size() - at));
    const std::string hex = hex_text(part);
    const bool has_meaning = row < meanings.size();
    const bool repeats = !has_meaning && part.size() == bytes_a_line_ && hex == previous_hex;
    if (!repeats) {
      char where[24] = "";
      const unsigned long long begin = offset + at;
      if (!part.empty()) std::snprintf(where, sizeof where, "%08llx", begin);
      out += line(where, hex, character_text(part),
                  has_meaning ? std::string(indentation, ' ') + meanings[row] : std::string());
    } else if (!repeating) {
      out += "*\n";
    }
    repeating = repeats;
    previous_hex = hex;
    at += part.size();
  }
}

}  // namespace andiron::cli
