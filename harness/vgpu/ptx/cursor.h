// A reader of PTX text: one pass over the characters; tokens are views into the text.
//
// PTX needs no separate lexer: the next token's first character tells what comes next, and a word's position tells its
// kind (an opcode, a modifier, a name). A Cursor skips white space and comments before every token and counts lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::ptx {

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool IsNameStart(char c) { return IsLetter(c) || c == '_' || c == '$' || c == '%'; }
inline bool IsNameCharacter(char c) { return IsLetter(c) || IsDigit(c) || c == '_' || c == '$'; }

// A name from the text, made safe for a message: quoted, printable, limited in length.
std::string Quoted(std::string_view text);

// A literal: a 64-bit integer, or the bits of a float.
struct Number {
  uint64_t bits = 0;
  bool is_float = false;
  bool is_double = true;     // floats only
  bool is_unsigned = false;  // integers only
};

class Cursor {
 public:
  explicit Cursor(std::string_view text) : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  // The next token's first character; '\0' at the end of the text.
  char Peek() {
    SkipSpace();
    return at_ == end_ ? '\0' : *at_;
  }
  bool AtEnd() {
    SkipSpace();
    return at_ == end_;
  }
  // Takes the character if it is next.
  bool Take(char c) {
    SkipSpace();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  // The same for a symbol of several characters ("<<"); Next does not take it.
  bool Next(std::string_view symbol) {
    SkipSpace();
    return std::string_view(at_, end_ - at_).starts_with(symbol);
  }
  bool Take(std::string_view symbol) {
    if (!Next(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  void Expect(char c) {
    if (!Take(c)) FailExpected(std::string("'") + c + "'");
  }
  // Whether the character immediately after the last token is this one; skips no space.
  bool Touches(char c) const { return at_ != end_ && *at_ == c; }

  // The next token if it is a name, otherwise "".
  std::string_view PeekName();
  std::string_view Name();
  // The word of the directive or modifier whose dot comes next: "global", "L2::128B".
  std::string_view DotWord();
  std::string_view PeekDotWord();
  // The text of a string, without quotes.
  std::string_view String();
  Number Literal();
  // Whether a number is next: a digit, or a point before one.
  bool AtNumber() {
    SkipSpace();
    const char* const digit = at_ != end_ && *at_ == '.' ? at_ + 1 : at_;
    return digit != end_ && IsDigit(*digit);
  }
  // Digits and dots, as in a version number.
  std::string_view DottedDigits();

  // Moves past the next such character; returns the text before it.
  std::string_view SkipPast(char c);

  int line() const { return line_; }
  [[noreturn]] void Fail(const std::string& message) const { throw PtxError(line_, message); }
  [[noreturn]] void FailExpected(const std::string& what);

 private:
  void SkipSpace() {
    while (at_ != end_) {
      const char c = *at_;
      if (c == '\n') {
        ++line_;
      } else if (c == '/') {
        if (!SkipComment()) return;
        continue;
      } else if (c == '#') {
        if (!SkipLineMarker()) return;
        continue;
      } else if (c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v') {
        return;
      }
      ++at_;
    }
  }
  bool SkipComment();
  // # 10 "f.cu" or #line 10 "f.cu", alone on its line: written by a preprocessor.
  bool SkipLineMarker();
  uint64_t HexDigits(int count);

  const char* begin_;
  const char* at_;
  const char* end_;
  int line_ = 1;
};

}  // namespace lockstep::vgpu::ptx
