// SPDX-License-Identifier: MIT OR Apache-2.0
// Measuring and cutting text by what a terminal shows of it. All text here is what display_text()
// gives: one line of valid UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace andiron::cli {

/// Columns that the text takes.
std::size_t display_width(std::string_view text);

/// The text in at most `width` columns: what is too long loses its middle to "...".
std::string shorten_middle(std::string_view text, std::size_t width);

/// Appends the text as lines of at most `width` columns, broken at spaces where there are any;
/// every line starts with `indent` spaces. REQUIRES: indent + 2 <= width.
void append_wrapped(std::string& out, std::string_view text, std::size_t indent, std::size_t width);

/// Appends a label and, in a column of its own, what is to be said. REQUIRES: a short label.
void append_fact(std::string& out, std::string_view label, std::string_view text,
                 std::size_t width);

}  // namespace andiron::cli
