// Cleans texts that come from a submission before they are shown and stored: they are hostile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/core/grouped.h"

namespace lockstep::judge {

// Valid UTF-8 without control characters (newline and tab stay): each byte that is neither is written "\xNN", so that
// nothing a program printed moves a cursor or breaks a file.
std::string Printable(std::string_view bytes);

// A printable text's beginning, of at most so many bytes with the sign that something is missing.
std::string Cut(std::string printable, size_t most_bytes);

// The first `most_lines` lines of at most `most_columns` bytes each, every one after `indent`; what is left out is
// said.
std::string Excerpt(std::string_view printable, size_t most_lines, size_t most_columns, std::string_view indent);

using vgpu::Grouped;

// "1 copy", "4,096 copies". many: the plural where it is not one with an s.
std::string Counted(uint64_t number, const std::string& one, const std::string& many = "");

// A number as a reader wants it: whole ones grouped, others with up to four significant digits.
std::string Figure(double value);
// The same with as many digits more as tell it apart from another number: 12.0005 beside a budget of 12.
std::string FigureApart(double value, double other);

}  // namespace lockstep::judge
