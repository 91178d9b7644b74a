// Aligned text tables, by display width. The judge's library uses them without the rest of the reports, so everything
// is inline.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::vgpu {

class Table {
 public:
  // Columns whose heading begins with '<' (not shown) are left-aligned; others right-aligned.
  explicit Table(std::vector<std::string> headings) : headings_(std::move(headings)) {
    for (std::string& heading : headings_) {
      const bool left = !heading.empty() && heading[0] == '<';
      if (left) heading.erase(0, 1);
      left_.push_back(left);
    }
  }
  void Add(std::vector<std::string> row) {
    row.resize(headings_.size());
    rows_.push_back(std::move(row));
  }
  bool empty() const { return rows_.empty(); }
  // Each line is indented by two spaces; heading_prefix and heading_suffix surround the first (colours).
  std::string Format(const std::string& heading_prefix, const std::string& heading_suffix) const {
    std::vector<size_t> widths;
    for (size_t i = 0; i < headings_.size(); ++i) {
      size_t width = Columns(headings_[i]);
      for (const auto& row : rows_) width = std::max(width, Columns(row[i]));
      widths.push_back(width);
    }
    std::string text = heading_prefix + FormatRow(headings_, widths) + heading_suffix + "\n";
    for (const auto& row : rows_) text += FormatRow(row, widths) + "\n";
    return text;
  }

 private:
  static size_t Columns(const std::string& text) {  // UTF-8
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
  }
  std::string FormatRow(const std::vector<std::string>& row, const std::vector<size_t>& widths) const {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - Columns(row[i]), ' ');
      line += "  " + (left_[i] ? row[i] + padding : padding + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

  std::vector<std::string> headings_;
  std::vector<bool> left_;
  std::vector<std::vector<std::string>> rows_;
};

inline std::string WithDecimals(double number, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, number);
  return text;
}

}  // namespace lockstep::vgpu
