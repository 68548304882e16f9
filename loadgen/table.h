// table.h — Text tables and bars, 80 columns wide.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace convoy {

inline constexpr std::size_t kTextWidth = 80;

// Returns how many columns UTF-8 text takes, one a code point.
std::size_t columns_of(std::string_view text);

// Returns `text` on one line and at most `width` columns wide: control characters become '?', a middle that does not
// fit becomes "..".
std::string fitted(std::string_view text, std::size_t width);

// Returns `text` broken at spaces into lines of at most kTextWidth columns; every line ends in a newline. The first is
// indented by `first_indent` spaces, the others by `indent`.
std::string wrapped(std::string_view text, std::size_t indent = 0, std::size_t first_indent = 0);

// One bar of a group that shares a scale.
struct Bar {
  std::string name;
  std::string value_text;
  double value = 0;
};

// Draws bars below each other as "name ..... value |=====", the longest as long as `scale` allows: the largest value of
// all bars that are to be compared. A value of 0 has no bar, any other at least one "=".
std::string bar_lines(const std::vector<Bar>& bars, double scale);

// A table whose first column is aligned left and repeated when the others do not fit side by side.
class TextTable {
 public:
  // `gap`: spaces between columns.
  explicit TextTable(std::size_t gap = 2) : gap_(gap) {}

  // All rows have as many fields as the first, which is the heading.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  // Returns the lines of the table; one that is too wide is split into parts of about the same number of columns.
  std::vector<std::string> lines(std::size_t width = kTextWidth) const;

  // Returns the table and `right`, whose rows have the same names, beside it when both fit into kTextWidth, else below
  // each other.
  std::string beside(const TextTable& right) const;

  std::string text() const;

 private:
  std::vector<std::size_t> widths() const;
  std::size_t width() const;

  std::size_t gap_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace convoy
