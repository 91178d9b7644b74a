#include "judge/model/text.h"

#include <cmath>
#include <cstdio>

namespace lockstep::judge {
namespace {

// Length of the well-formed UTF-8 sequence at the front; 0 if there is none (also for overlong forms and surrogates).
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF0 && byte(1) < 0x90) ||
      (lead == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return length;
}

}  // namespace

std::string Printable(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const uint8_t first = static_cast<uint8_t>(bytes[0]);
    size_t length = SequenceLength(bytes);
    const bool c1_control = length == 2 && first == 0xC2 && static_cast<uint8_t>(bytes[1]) < 0xA0;
    const bool control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F || c1_control;
    if (length == 0 || control) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02X", first);
      text += escaped;
      // A C1 control's second byte is escaped separately, because it is no sequence by itself.
      length = 1;
    } else {
      text += bytes.substr(0, length);
    }
    bytes.remove_prefix(length);
  }
  return text;
}

std::string Cut(std::string printable, size_t most_bytes) {
  constexpr std::string_view kMissing = "…";
  if (printable.size() <= most_bytes) return printable;
  size_t end = most_bytes - kMissing.size();
  while (end > 0 && (static_cast<unsigned char>(printable[end]) & 0xc0) == 0x80) --end;  // don't split a character
  return printable.replace(end, std::string::npos, kMissing);
}

std::string Excerpt(std::string_view printable, size_t most_lines, size_t most_columns, std::string_view indent) {
  std::string text;
  size_t lines = 0;
  while (!printable.empty()) {
    const size_t end = std::min(printable.find('\n'), printable.size());
    if (lines++ < most_lines) {
      size_t columns = std::min(end, most_columns);
      // Don't split a UTF-8 sequence.
      while (columns < end && columns > 0 && (static_cast<uint8_t>(printable[columns]) & 0xC0) == 0x80) --columns;
      text += std::string(text.empty() ? "" : "\n") + std::string(indent) + std::string(printable.substr(0, columns));
      if (columns < end) text += " …";
    }
    printable.remove_prefix(std::min(end + 1, printable.size()));
  }
  if (lines > most_lines) {
    text += "\n" + std::string(indent) + "… and " + Counted(lines - most_lines, "more line");
  }
  return text;
}

std::string Counted(uint64_t number, const std::string& one, const std::string& many) {
  return Grouped(number) + " " + (number == 1 ? one : many.empty() ? one + "s" : many);
}

std::string Figure(double value) {
  if (value >= 0 && value < 1e15 && value == std::floor(value)) return Grouped(static_cast<uint64_t>(value));
  if (std::abs(value) >= 1000 && std::abs(value) < 1e15) {
    return (value < 0 ? "-" : "") + Grouped(static_cast<uint64_t>(std::llround(std::abs(value))));
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string FigureApart(double value, double other) {
  std::string text = Figure(value);
  // 17 digits distinguish any two doubles.
  for (int digits = 5; value != other && text == Figure(other) && digits <= 17; ++digits) {
    char more[64];
    std::snprintf(more, sizeof more, "%.*g", digits, value);
    text = more;
  }
  return text;
}

}  // namespace lockstep::judge
