// table.cc — Lays out tables, bars and paragraphs.
// SPDX-License-Identifier: MIT
#include "loadgen/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace convoy {
namespace {

constexpr std::size_t kNameWidth = 28;  // of a bar or row; longer names lose their middle

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Returns the first `count` characters, or the last ones.
std::string first_characters(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  for (; end < text.size(); ++end)
    if (starts_character(text[end]) && count-- == 0) break;
  return std::string(text.substr(0, end));
}

std::string last_characters(std::string_view text, std::size_t count) {
  const auto all = columns_of(text);
  return std::string(text.substr(first_characters(text, all - std::min(all, count)).size()));
}

std::string padded_left(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, columns_of(text)), ' ') + text;
}

std::string padded_right(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, columns_of(text)), ' ');
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string fitted(std::string_view text, std::size_t width) {
  std::string clean(text);
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  if (columns_of(clean) <= width) return clean;
  const std::size_t kept = width > 2 ? width - 2 : 0;
  return first_characters(clean, kept - kept / 2) + ".." + last_characters(clean, kept / 2);
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t first_indent) {
  std::string out(first_indent, ' ');
  std::size_t column = first_indent;
  bool line_is_empty = true;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    const auto width = columns_of(word);
    if (!line_is_empty && column + 1 + width > kTextWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!line_is_empty) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
    line_is_empty = false;
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return out + "\n";
}

std::string bar_lines(const std::vector<Bar>& bars, double scale) {
  std::size_t name_width = 0, value_width = 0;
  for (const auto& bar : bars) {
    name_width = std::max(name_width, columns_of(fitted(bar.name, kNameWidth)));
    value_width = std::max(value_width, columns_of(bar.value_text));
  }
  constexpr std::size_t kFewestDots = 3;
  const std::size_t left = name_width + 1 + kFewestDots + 1 + value_width + 2;
  const auto longest = static_cast<double>(kTextWidth - std::min(left, kTextWidth - 10));
  std::string text;
  for (const auto& bar : bars) {
    const auto name = fitted(bar.name, kNameWidth);
    const auto dots = name_width + kFewestDots + value_width - columns_of(name) - columns_of(bar.value_text);
    const double share = scale > 0 ? std::clamp(bar.value / scale, 0.0, 1.0) : 0;
    const auto length = static_cast<std::size_t>(std::max(std::round(share * longest), share > 0 ? 1.0 : 0.0));
    text += without_trailing_spaces(
                fmt::format("{} {} {} |{}", name, std::string(dots, '.'), bar.value_text, std::string(length, '='))) +
            "\n";
  }
  return text;
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths(rows_.empty() ? 0 : rows_[0].size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(i == 0 ? fitted(row[i], kNameWidth) : row[i]));
  return widths;
}

std::vector<std::string> TextTable::lines(std::size_t width) const {
  std::vector<std::string> lines;
  const auto column_widths = widths();
  if (column_widths.empty()) return lines;
  const std::size_t data_columns = column_widths.size() - 1;
  const std::size_t widest = data_columns == 0 ? 0 : *std::max_element(column_widths.begin() + 1, column_widths.end());
  const std::size_t room = width - std::min(width, column_widths[0]);
  const std::size_t all = std::accumulate(column_widths.begin() + 1, column_widths.end(), data_columns * gap_);
  const std::size_t fitting = all <= room ? data_columns : std::max<std::size_t>(room / (widest + gap_), 1);
  const std::size_t parts = data_columns == 0 ? 1 : (data_columns + fitting - 1) / fitting;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = 1 + part * data_columns / parts;
    const std::size_t end = 1 + (part + 1) * data_columns / parts;
    if (part > 0) lines.emplace_back();
    for (const auto& row : rows_) {
      std::string line = padded_right(fitted(row[0], kNameWidth), column_widths[0]);
      for (std::size_t i = begin; i < end; ++i) line += std::string(gap_, ' ') + padded_left(row[i], column_widths[i]);
      lines.push_back(without_trailing_spaces(std::move(line)));
    }
  }
  return lines;
}

std::string TextTable::text() const { return joined(lines()); }

std::string TextTable::beside(const TextTable& right) const {
  if (rows_.empty() || right.rows_.empty()) return text() + right.text();
  TextTable unnamed(right);  // the names of the rows already stand on the left
  for (std::size_t i = 1; i < unnamed.rows_.size(); ++i) unnamed.rows_[i][0].clear();
  constexpr std::size_t kGutter = 4;
  const std::size_t left_width = width();
  if (rows_.size() != right.rows_.size() || left_width + kGutter + unnamed.width() > kTextWidth)
    return text() + "\n" + right.text();
  const auto left_lines = lines(), right_lines = unnamed.lines();
  std::vector<std::string> both;
  for (std::size_t i = 0; i < left_lines.size(); ++i)
    both.push_back(without_trailing_spaces(padded_right(left_lines[i], left_width + kGutter) + right_lines[i]));
  return joined(both);
}

std::size_t TextTable::width() const {
  const auto all = widths();
  return all.empty() ? 0 : std::accumulate(all.begin(), all.end(), (all.size() - 1) * gap_);
}

}  // namespace convoy
