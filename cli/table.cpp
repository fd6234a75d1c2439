// SPDX-License-Identifier: MIT OR Apache-2.0
// The layout of tables.
#include "cli/table.h"

#include <algorithm>
#include <utility>

#include "andiron/text.h"
#include "cli/text_layout.h"

namespace andiron::cli {
namespace {

constexpr std::size_t gap = 2;
// No cell makes the others wider than this: a file chooses its names, and has many.
constexpr std::size_t most_padding = 400;

void append_padded(std::string& line, const std::string& cell, std::size_t width,
                   Column::Align align) {
  const std::size_t used = display_width(cell);
  const std::size_t padding = width - std::min(width, used);
  if (align == Column::Align::right) line.append(padding, ' ');
  line += cell;
  if (align == Column::Align::left) line.append(padding, ' ');
}

void trim_right(std::string& line) { line.resize(line.find_last_not_of(' ') + 1); }

}  // namespace

Table::Table(std::string name_heading, std::vector<Column> columns) : columns_(std::move(columns)) {
  headings_.push_back(std::move(name_heading));
  for (const Column& column : columns_) headings_.push_back(column.heading);
}

void Table::add_row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = display_text(cell);
  rows_.push_back(std::move(cells));
}

void Table::append_to(std::string& out, const Page& page) const {
  const bool limited = page.width < Page::unlimited;
  std::vector<std::size_t> widths;
  std::size_t rest = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = columns_[i].heading.size();
    for (const auto& row : rows_) width = std::max(width, display_width(row[i + 1]));
    width = std::min(width, limited ? columns_[i].max_width : most_padding);
    widths.push_back(width);
    rest += gap + width;
  }

  // A narrow terminal takes from the widest columns, as long as they still say something.
  constexpr std::size_t least_column = 6;
  while (rest + headings_[0].size() > page.width && !widths.empty()) {
    std::size_t& widest = *std::max_element(widths.begin(), widths.end());
    if (widest <= least_column) break;
    --widest;
    --rest;
  }

  const std::size_t name_room = limited ? page.width - std::min(page.width, rest) : most_padding;
  std::size_t name_width = headings_[0].size();
  for (const auto& row : rows_) {
    // A name that gets a line of its own does not widen the column for the others.
    const std::size_t width = display_width(row[0]);
    if (width <= name_room) name_width = std::max(name_width, width);
  }

  const auto row_text = [&](const std::vector<std::string>& cells) {
    std::string text;
    std::string line;
    if (display_width(cells[0]) <= name_width) {
      append_padded(line, cells[0], name_width, Column::Align::left);
    } else {
      text = shorten_middle(cells[0], page.width) + '\n';
      line.append(name_width, ' ');
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      line.append(gap, ' ');
      const std::string cell = limited ? shorten_middle(cells[i + 1], widths[i]) : cells[i + 1];
      const bool ends_line = i + 1 == columns_.size() && columns_[i].align == Column::Align::left;
      append_padded(line, cell, ends_line ? 0 : widths[i], columns_[i].align);
    }
    trim_right(line);
    return text + line;
  };

  page.append_bold(out, row_text(headings_));
  out += '\n';
  for (const auto& row : rows_) out += row_text(row) + '\n';
}

}  // namespace andiron::cli
