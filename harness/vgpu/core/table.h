// Aligned text tables, as wide as a terminal shows their cells.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace lockstep::vgpu {

class Table {
 public:
  // Columns whose heading begins with '<' are flush left, without the sign; others flush right.
  explicit Table(std::vector<std::string> headings);
  void Add(std::vector<std::string> row);
  bool empty() const { return rows_.empty(); }
  // Two spaces before each line; heading_prefix and heading_suffix go around the first (colours).
  std::string Format(const std::string& heading_prefix, const std::string& heading_suffix) const;

 private:
  std::string FormatRow(const std::vector<std::string>& row, const std::vector<size_t>& widths) const;
  std::vector<std::string> headings_;
  std::vector<bool> left_;
  std::vector<std::vector<std::string>> rows_;
};

std::string WithDecimals(double number, int decimals);

}  // namespace lockstep::vgpu
