// Sanitizes untrusted text from a submission before it is shown and stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/core/grouped.h"

namespace lockstep::judge {

// Valid UTF-8 without control characters (newline and tab stay): every other byte is written as "\xNN", so that output
// can't move a cursor or break a file.
std::string Printable(std::string_view bytes);

// The start of a printable text, at most this many bytes including a mark of truncation.
std::string Cut(std::string printable, size_t most_bytes);

// The first `most_lines` lines, at most `most_columns` bytes of each, with `indent` before each; notes omissions.
std::string Excerpt(std::string_view printable, size_t most_lines, size_t most_columns, std::string_view indent);

using vgpu::Grouped;

// "1 copy", "4,096 copies". many: the plural where it is not one with an s.
std::string Counted(uint64_t number, const std::string& one, const std::string& many = "");

// A number for people: whole with digit groups if it is whole or at least 1000, else with four significant digits.
std::string Figure(double value);
// The same with enough further digits to distinguish it from another number: 12.001 for a budget of 12.
std::string FigureApart(double value, double other);

}  // namespace lockstep::judge
