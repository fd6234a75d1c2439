// SPDX-License-Identifier: MIT OR Apache-2.0
// Tables for people, as wide as the page and no wider.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/terminal.h"

namespace andiron::cli {

/// A column after the first.
struct Column {
  enum class Align : bool { left, right };

  std::string heading;
  Align align = Align::left;
  /// Longer cells lose their middle, unless the page is unlimited.
  std::size_t max_width = 16;
};

/// Rows of a name and what belongs to it. A name that is too long for its column stands on a line
/// of its own above the rest of the row; one that is longer than the page is shortened in the
/// middle.
class Table {
 public:
  Table(std::string name_heading, std::vector<Column> columns);

  /// One cell for the name and one for each column; escaped here, so any text will do.
  void add_row(std::vector<std::string> cells);
  void append_to(std::string& out, const Page& page) const;

 private:
  std::vector<std::string> headings_;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace andiron::cli
