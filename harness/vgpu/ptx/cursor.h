// Reading PTX text: one pass over the characters, tokens are views into the text.
//
// PTX needs no token stream: what comes next is told by its first character, and what a word is (an opcode, a
// modifier, a name) by where it stands. A Cursor skips white space and comments before every token and counts lines.
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

// A name from the text, fit for a message: quoted, printable, not too long.
std::string Quoted(std::string_view text);

// A literal: an integer of 64 bits, or the bits of a float.
struct Number {
  uint64_t bits = 0;
  bool is_float = false;
  bool is_double = true;     // of a float
  bool is_unsigned = false;  // of an integer
};

class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  // The next token's first character; '\0' at the end of the text.
  char Peek() {
    SkipSpace();
    return at_ == end_ ? '\0' : *at_;
  }
  bool AtEnd() {
    SkipSpace();
    return at_ == end_;
  }
  // Takes the character when it is next.
  bool Take(char c) {
    SkipSpace();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  // The same for a symbol of several characters ("<<"); Next only looks.
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
  // Whether the character directly behind the last token is this one; no space is skipped.
  bool Touches(char c) const { return at_ != end_ && *at_ == c; }

  // The name that comes next, "" when none does.
  std::string_view PeekName();
  std::string_view Name();
  // The word of a directive or modifier whose dot is next: "global", "L2::128B".
  std::string_view DotWord();
  std::string_view PeekDotWord();
  // A string's text between its quotes.
  std::string_view String();
  Number Literal();
  // Digits and dots, as in a version number.
  std::string_view DottedDigits();

  // Goes on behind the next such character.
  void SkipPast(char c);

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
      } else if (c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v') {
        return;
      }
      ++at_;
    }
  }
  bool SkipComment();
  uint64_t HexDigits(int count);

  const char* at_;
  const char* end_;
  int line_ = 1;
};

}  // namespace lockstep::vgpu::ptx
