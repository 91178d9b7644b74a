// Operands of matrix instructions, the same on every machine: registers are filled with random values of a mode, which
// sets their exponents' range, how many are zero, subnormal, infinite or NaN, and what fractions they have. The H100's
// results for them are in isa_tensor.h100.txt.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::vgpu {

// splitmix64
class CaseRandom {
 public:
  explicit CaseRandom(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int Below(int n) { return static_cast<int>((Next() >> 33) % static_cast<uint64_t>(n)); }

 private:
  uint64_t state_;
};

struct CaseFormat {
  std::string name;
  int exponent_bits, fraction_bits, bits;
  bool integer() const { return exponent_bits == 0; }
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

inline CaseFormat FormatOf(const std::string& name) {
  for (const CaseFormat& format : {CaseFormat{"F16", 5, 10, 16},
                                   {"BF16", 8, 7, 16},
                                   {"TF32", 8, 10, 32},
                                   {"F32", 8, 23, 32},
                                   {"F64", 11, 52, 64},
                                   {"E4M3", 4, 3, 8},
                                   {"E5M2", 5, 2, 8}}) {
    if (format.name == name) return format;
  }
  return {name, 0, 0, 32};
}

struct CaseMode {
  int zeros = 0;  // so many of 8 values are zero
  int center = 0, width = 0;
  int fraction = 0;  // 0: random; 1: zero; 2: two bits; 3: all ones
  int special = 0;   // so many of 64 values are infinities or NaNs
};

inline uint64_t RandomFloat(CaseRandom& random, const CaseFormat& format, const CaseMode& mode) {
  const int largest = (1 << format.exponent_bits) - 1;
  const uint64_t sign = random.Next() & 1, raw = random.Next();
  const int zero = random.Below(8), special = random.Below(64);
  const int off = random.Below(2 * mode.width + 1) - mode.width;
  const bool infinite = random.Below(2) != 0;
  int exponent = std::clamp(format.bias() + mode.center + off, 0, largest - 1);
  const uint64_t full = (uint64_t{1} << format.fraction_bits) - 1;
  uint64_t fraction = raw & full;
  if (mode.fraction == 1) fraction = 0;
  if (mode.fraction == 2) fraction &= (full << (format.fraction_bits > 2 ? format.fraction_bits - 2 : 0)) & full;
  if (mode.fraction == 3) fraction = full - (raw >> 60 & 1);
  if (zero < mode.zeros) exponent = 0, fraction = 0;
  if (special < mode.special) exponent = largest, fraction = infinite ? 0 : fraction;
  const uint64_t value = sign << (format.exponent_bits + format.fraction_bits) |
                         static_cast<uint64_t>(exponent) << format.fraction_bits | fraction;
  if (format.name != "TF32") return value;
  return value << 13 | (mode.fraction == 0 ? raw >> 40 & 0x1fff : 0);  // bits that the hardware ignores
}

// The registers of one operand: 32 lanes times `registers`.
inline std::vector<uint64_t> RandomRegisters(CaseRandom& random, const CaseFormat& format, const CaseMode& mode,
                                             int registers) {
  std::vector<uint64_t> values(32 * static_cast<size_t>(registers));
  for (uint64_t& value : values) {
    if (format.name == "RAW") {
      value = static_cast<uint32_t>(random.Next());
      if (mode.special != 0 && (random.Next() & 1) != 0) value = 0x7f7f7f7f;
    } else if (format.name == "S32") {
      value = static_cast<uint32_t>(random.Next());
      if ((mode.width & 1) != 0) value = (value & 0xffff) | ((value & 0x10000) != 0 ? 0x7fff0000u : 0x80000000u);
    } else if (format.bits >= 32) {
      value = RandomFloat(random, format, mode);
    } else {
      for (int at = 0; at < 32; at += format.bits) value |= RandomFloat(random, format, mode) << at;
    }
  }
  return values;
}

struct TensorCase {
  std::vector<uint64_t> a, b, c;
};

struct TensorOperands {
  CaseFormat a, b, c;
  int a_registers, b_registers, c_registers;
};

inline TensorCase MakeTensorCase(uint64_t row, uint64_t number, const TensorOperands& of) {
  CaseRandom random((row * 1000003 + number * 7919 + 1) * 0x2545f4914f6cdd1d + 12345);
  for (int k = 0; k < 3; ++k) random.Next();
  static constexpr int kZeros[] = {0, 0, 0, 2, 6}, kWidths[] = {0, 1, 2, 4, 8, 20, 60, 200};
  const auto center = [&](const CaseFormat& format) {
    switch (random.Below(8)) {
      case 0:
        return -format.bias();
      case 1:
        return format.bias();
      case 2:
        return -format.bias() / 2;
      case 3:
        return format.bias() / 2;
      default:
        return random.Below(5) - 2;
    }
  };
  CaseMode a;
  a.zeros = kZeros[random.Below(5)];
  a.width = kWidths[random.Below(of.a.name == "F64" ? 8 : 6)];
  a.fraction = random.Below(4);
  a.special = random.Below(8) == 0 ? 1 : 0;
  CaseMode b = a, c = a;
  b.width = kWidths[random.Below(6)], b.fraction = random.Below(4), b.zeros = kZeros[random.Below(5)];
  c.width = kWidths[random.Below(6)], c.fraction = random.Below(3), c.zeros = kZeros[random.Below(5)];
  if (!of.a.integer()) {
    a.center = center(of.a);
    b.center = center(of.b);
    if (random.Below(3) != 0) b.center = -a.center / 2;
    c.center = a.center + b.center;
    c.center += random.Below(2) != 0 ? random.Below(61) - 30 : random.Below(7) - 3;
    if (random.Below(8) == 0) c.center = center(of.c);
  }
  TensorCase made;
  made.a = RandomRegisters(random, of.a, a, of.a_registers);
  made.b = RandomRegisters(random, of.b, b, of.b_registers);
  made.c = RandomRegisters(random, of.c, c, of.c_registers);
  return made;
}

}  // namespace lockstep::vgpu
