#include "dev/cosim/builder.h"

#include <cctype>
#include <cstdio>

namespace lockstep::cosim {
namespace {

std::string Hex(const char* prefix, uint64_t value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%s%0*llX", prefix, digits, static_cast<unsigned long long>(value));
  return text;
}

const std::vector<uint64_t>& Table() {
  static const std::vector<uint64_t> table = InputTable();
  return table;
}

}  // namespace

Builder::Builder(uint64_t seed)
    : random_(seed),
      pools_({{{'h', ".b16", 0, 4},
               {'r', ".b32", 1, 10},
               {'d', ".b64", 2, 5},
               {'f', ".f32", 3, 6},
               {'e', ".f64", 4, 4},
               {'g', ".b16", 5, 4},
               {'b', ".b16", 6, 4},
               {'x', ".b32", 7, 3},
               {'y', ".b32", 6, 3},
               {'p', ".pred", 1, 4}}}) {
  for (Pool& pool : pools_) pool.count = 2 + Pick(pool.most - 1);
}

std::string Builder::Register(char letter) {
  for (const Pool& pool : pools_)
    if (pool.letter == letter) return Name(std::string(1, letter), Pick(pool.count));
  return "%none";
}

std::string Builder::Temporary(char letter) {
  return Name("t" + std::string(1, letter), temporaries_[static_cast<size_t>(letter)]++);
}

std::string Builder::TemporaryDeclarations() const {
  std::string text;
  for (const Pool& pool : pools_) {
    const int count = temporaries_[static_cast<size_t>(pool.letter)];
    if (count > 0)
      text += std::string("  .reg ") + pool.type + " %t" + pool.letter + "<" + std::to_string(count) + ">;\n";
  }
  return text;
}

std::string Builder::Immediate(char letter) {
  const auto entry = [&](int kind) { return Table()[static_cast<size_t>(kind * kEntries + Pick(kEntries))]; };
  switch (letter) {
    case 'h':
      return std::to_string(static_cast<int16_t>(entry(0)));
    case 'r':
      return OneIn(2) ? std::to_string(static_cast<int32_t>(entry(1))) : Hex("0x", entry(1), 1);
    case 'd':
      return Hex("0x", entry(2), 1);
    case 'f':
      return Hex("0f", entry(3), 8);
    default:
      return Hex("0d", entry(4), 16);
  }
}

std::string Builder::Canonical(char letter, const std::string& from, Lines* lines) {
  const std::string to = Temporary(letter), p = Temporary('p');
  switch (letter) {
    case 'f':
      lines->push_back("setp.nan.f32 " + p + ", " + from + ", " + from);
      lines->push_back("selp.f32 " + to + ", 0f7FC00000, " + from + ", " + p);
      break;
    case 'e':
      lines->push_back("setp.nan.f64 " + p + ", " + from + ", " + from);
      lines->push_back("selp.f64 " + to + ", 0d7FF8000000000000, " + from + ", " + p);
      break;
    case 'g':
      lines->push_back("setp.nan.f16 " + p + ", " + from + ", " + from);
      lines->push_back("selp.b16 " + to + ", 0x7e00, " + from + ", " + p);
      break;
    case 'b':
      lines->push_back("setp.nan.bf16 " + p + ", " + from + ", " + from);
      lines->push_back("selp.b16 " + to + ", 0x7fc0, " + from + ", " + p);
      break;
    default: {
      const char half = letter == 'x' ? 'g' : 'b';
      const std::string low = Temporary(half), high = Temporary(half);
      lines->push_back("mov.b32 {" + low + ", " + high + "}, " + from);
      const std::string a = Canonical(half, low, lines), b = Canonical(half, high, lines);
      lines->push_back("mov.b32 " + to + ", {" + a + ", " + b + "}");
    }
  }
  return to;
}

std::string Builder::Source(char letter, Lines* lines) {
  const auto odd = [&](char pool, const char* bits) {
    const std::string t = Temporary(pool);
    lines->push_back("or." + std::string(bits) + " " + t + ", " + Register(pool) + ", 1");
    return t;
  };
  switch (letter) {
    case 'h':
    case 'r':
    case 'd':
    case 'f':
    case 'e':
      return OneIn(6) ? Immediate(letter) : Register(letter);
    case 'H':
    case 'R':
    case 'D':
      return Register(static_cast<char>(std::tolower(letter)));
    case 'F':
    case 'E':
    case 'G':
    case 'B':
    case 'X':
    case 'Y': {
      const char small = static_cast<char>(std::tolower(letter));
      return Canonical(small, Register(small), lines);
    }
    case 's': {
      if (OneIn(2)) return std::to_string(Pick(70));
      if (OneIn(3)) return Register('r');
      const std::string t = Temporary('r');
      lines->push_back("and.b32 " + t + ", " + Register('r') + ", 63");
      return t;
    }
    case 'c': {
      // Constants beyond 31 are left out: the assembler folds them differently from the hardware.
      if (OneIn(2)) return std::to_string(Pick(32));
      const std::string t = Temporary('r');
      lines->push_back("and.b32 " + t + ", " + Register('r') + ", " + (OneIn(3) ? "255" : "63"));
      return t;
    }
    case 'z':
      return odd('r', "b32");
    case 'w':
      return odd('h', "b16");
    case 'Z':
      return odd('d', "b64");
    case 'i':
      return std::to_string(Pick(32));
    case 'k':
      return std::to_string(Pick(9) - 4);
    case 'l':
      return std::to_string(Pick(256));
    default:
      return Register(letter);
  }
}

Lines Builder::Instruction() {
  const std::vector<Form>& group = Forms()[static_cast<size_t>(Pick(static_cast<int>(Forms().size())))];
  return Instruction(group[static_cast<size_t>(Pick(static_cast<int>(group.size())))]);
}

Lines Builder::Instruction(const Form& form) {
  Lines lines;
  const std::string& letters = form.operands;
  std::string text = form.guarded && OneIn(12) ? (OneIn(2) ? "@" : "@!") + Register('p') + " " : "";
  text += form.name + " " + Register(letters[0]);
  size_t at = 1;
  if (letters.size() > 1 && letters[1] == '|') {
    std::string second = Register('p');
    while (text.ends_with(second)) second = Register('p');
    text += "|" + second;
    at = 3;
  }
  for (; at < letters.size(); ++at) text += ", " + Source(letters[at], &lines);
  lines.push_back(text);
  return lines;
}

}  // namespace lockstep::cosim
