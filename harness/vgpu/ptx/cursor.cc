#include "vgpu/ptx/cursor.h"

#include <bit>
#include <charconv>
#include <cstring>

namespace lockstep::vgpu::ptx {
namespace {

int HexValue(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string Quoted(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kLongest)) quoted += c >= ' ' && c <= '~' ? c : '?';
  return quoted + (text.size() > kLongest ? "…\"" : "\"");
}

bool Cursor::SkipComment() {
  if (end_ - at_ < 2) return false;
  if (at_[1] == '/') {
    const void* newline = std::memchr(at_, '\n', end_ - at_);
    at_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
    return true;
  }
  if (at_[1] != '*') return false;
  const int opened = line_;
  for (at_ += 2; end_ - at_ >= 2; ++at_) {
    if (at_[0] == '*' && at_[1] == '/') {
      at_ += 2;
      return true;
    }
    if (*at_ == '\n') ++line_;
  }
  throw PtxError(opened, "a comment is not closed");
}

bool Cursor::SkipLineMarker() {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const char* before = at_;
  while (before != begin_ && is_blank(before[-1])) --before;
  if (before != begin_ && before[-1] != '\n') return false;
  const char* next = at_ + 1;
  const auto skip_blanks = [&] {
    while (next != end_ && is_blank(*next)) ++next;
  };
  skip_blanks();
  constexpr std::string_view kLine = "line";
  if (std::string_view(next, end_ - next).starts_with(kLine)) next += kLine.size();
  skip_blanks();
  if (next == end_ || !IsDigit(*next)) return false;
  const void* newline = std::memchr(next, '\n', end_ - next);
  at_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
  return true;
}

std::string_view Cursor::PeekName() {
  SkipSpace();
  if (at_ == end_ || !IsNameStart(*at_)) return {};
  const char* last = at_ + 1;
  while (last != end_ && IsNameCharacter(*last)) ++last;
  return {at_, static_cast<size_t>(last - at_)};
}

std::string_view Cursor::Name() {
  const std::string_view name = PeekName();
  if (name.empty() || name == "%") FailExpected("a name");
  at_ += name.size();
  return name;
}

std::string_view Cursor::PeekDotWord() {
  SkipSpace();
  if (at_ == end_ || *at_ != '.') return {};
  const char* last = at_ + 1;
  while (last != end_) {
    if (IsLetter(*last) || IsDigit(*last) || *last == '_') {
      ++last;
    } else if (*last == ':' && end_ - last > 2 && last[1] == ':' && (IsLetter(last[2]) || IsDigit(last[2]))) {
      last += 2;
    } else {
      break;
    }
  }
  return {at_ + 1, static_cast<size_t>(last - at_ - 1)};
}

std::string_view Cursor::DotWord() {
  const std::string_view word = PeekDotWord();
  if (word.empty()) FailExpected("a word that begins with a dot");
  at_ += word.size() + 1;
  return word;
}

std::string_view Cursor::String() {
  Expect('"');
  const char* first = at_;
  while (at_ != end_ && *at_ != '"' && *at_ != '\n') at_ += *at_ == '\\' && end_ - at_ > 1 && at_[1] != '\n' ? 2 : 1;
  if (!Touches('"')) Fail("a string is not closed");
  return {first, static_cast<size_t>(at_++ - first)};
}

std::string_view Cursor::DottedDigits() {
  SkipSpace();
  const char* first = at_;
  while (at_ != end_ && (IsDigit(*at_) || *at_ == '.')) ++at_;
  return {first, static_cast<size_t>(at_ - first)};
}

uint64_t Cursor::HexDigits(int count) {
  uint64_t value = 0;
  for (int k = 0; k < count; ++k) {
    const int digit = at_ == end_ ? -1 : HexValue(*at_);
    if (digit < 0) Fail("a float constant needs " + std::to_string(count) + " hexadecimal digits");
    value = value << 4 | static_cast<uint64_t>(digit);
    ++at_;
  }
  return value;
}

Number Cursor::Literal() {
  if (!AtNumber()) FailExpected("a number");
  const char* first = at_;
  Number number;
  int base = 10;
  if (*at_ == '0' && end_ - at_ > 1) {
    switch (at_[1]) {
      case 'f':
      case 'F':
        at_ += 2;
        number = {HexDigits(8), true, false, false};
        break;
      case 'd':
      case 'D':
        at_ += 2;
        number = {HexDigits(16), true, true, false};
        break;
      case 'x':
      case 'X':
        base = 16;
        at_ += 2;
        break;
      case 'b':
      case 'B':
        base = 2;
        at_ += 2;
        break;
      default:
        base = 8;
        break;
    }
  }
  if (!number.is_float) {
    const char* digits_end = at_;
    while (digits_end != end_ && IsDigit(*digits_end)) ++digits_end;
    const bool decimal_point = digits_end != end_ && (*digits_end == '.' || *digits_end == 'e' || *digits_end == 'E');
    if (decimal_point && (base == 10 || base == 8)) {
      double value = 0;
      const auto parsed = std::from_chars(first, end_, value);
      if (parsed.ec != std::errc()) Fail("the float constant is out of range");
      at_ = parsed.ptr;
      number = {std::bit_cast<uint64_t>(value), true, true, false};
    } else {
      const auto parsed = std::from_chars(at_, end_, number.bits, base);
      if (parsed.ec == std::errc::result_out_of_range) Fail("the integer constant needs more than 64 bits");
      if (parsed.ec != std::errc()) Fail("malformed integer constant");
      at_ = parsed.ptr;
      number.is_unsigned = number.bits >> 63 != 0;
      if (Touches('U') || Touches('u')) {
        number.is_unsigned = true;
        ++at_;
      }
    }
  }
  if (at_ != end_ && IsNameCharacter(*at_)) Fail("malformed number");
  return number;
}

std::string_view Cursor::SkipPast(char c) {
  const char* const first = at_;
  while (at_ != end_) {
    const char skipped = *at_++;
    if (skipped == '\n') ++line_;
    if (skipped == c) return {first, static_cast<size_t>(at_ - 1 - first)};
  }
  Fail(std::string("the text ends before a '") + c + "'");
}

void Cursor::FailExpected(const std::string& what) {
  SkipSpace();
  if (at_ == end_) Fail("expected " + what + ", not the end of the text");
  const char* last = at_ + 1;
  if (IsNameStart(*at_) || IsDigit(*at_) || *at_ == '.') {
    while (last != end_ && (IsNameCharacter(*last) || *last == '.')) ++last;
  }
  Fail("expected " + what + ", not " + Quoted({at_, static_cast<size_t>(last - at_)}));
}

}  // namespace lockstep::vgpu::ptx
