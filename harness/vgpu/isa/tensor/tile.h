// One matrix product of a warp, d = a * b + c, with m = 8 or 16 and n = 8.
//
// Fragments. Lane 4g + t holds, of a matrix in registers whose words have e elements (32-bit and 64-bit elements: 1):
//   a  register r: row g (m = 16: g + 8 * (r & 1)), columns q * 4e + t * e …, where q = r (m = 16: r >> 1)
//   b  register r: rows r * 4e + t * e …, column g
//   c, d  register r: row g + 8 * (r >> 1), column 2t + (r & 1); of f16: row g + 8r, columns 2t and 2t + 1
// Source: PTX ISA 9.0, 9.7.14.5. wmma's fragments consist of such tiles (isa/tensor/wmma_memory.cc), as on an H100.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "vgpu/core/insn_class.h"
#include "vgpu/core/lane_mask.h"
#include "vgpu/isa/soft_float.h"

namespace lockstep::vgpu::tensor {

inline constexpr int kRowsOfTile = 16, kColumnsOfTile = 8;
inline constexpr int kMostRegisters = 8;  // the most that one operand has

enum class Element : uint8_t { kF16, kBf16, kTf32, kE4m3, kE5m2, kF32, kF64, kS8, kU8, kS4, kU4, kB1, kS32 };

constexpr int BitsOf(Element element) {
  switch (element) {
    case Element::kF16:
    case Element::kBf16:
      return 16;
    case Element::kE4m3:
    case Element::kE5m2:
    case Element::kS8:
    case Element::kU8:
      return 8;
    case Element::kS4:
    case Element::kU4:
      return 4;
    case Element::kB1:
      return 1;
    case Element::kF64:
      return 64;
    case Element::kTf32:
    case Element::kF32:
    case Element::kS32:
      break;
  }
  return 32;
}

// Registers as rows of 32 lanes, 4 or 8 bytes each.
struct Tile {
  const uint8_t* a[kMostRegisters] = {};
  const uint8_t* b[kMostRegisters] = {};
  const uint8_t* c[kMostRegisters] = {};
  uint8_t* d[kMostRegisters] = {};
};

struct Kind;
using Product = void (*)(const Kind& kind, const Tile& tile);

// How an instruction's registers are divided into tiles.
enum class Division : uint8_t {
  kAlongN,      // tiles have different columns of b
  kAlongM,      // tiles have different rows of a
  kTransposed,  // the tiles' a is the instruction's b transposed, and the other way round
};

// An instruction, with all its modifiers.
struct Kind {
  std::string name;  // "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
  Product product = nullptr;
  Element a = Element::kF16, b = Element::kF16, c = Element::kF32, d = Element::kF32;
  int m = 16, k = 16;  // of a tile
  int group = 16;      // products that are added together: isa/tensor/float_tile.cc
  int a_registers = 0, b_registers = 0, c_registers = 0, d_registers = 0;  // of a tile
  int a_operands = 0, b_operands = 0;  // registers of the instruction, copies included
  int tiles = 1;
  Division division = Division::kAlongN;
  bool satfinite = false;
  bool exclusive_or = false;                   // b1: xor instead of and
  bool row_a = true, row_b = false;            // m8n8k4 of f16, whose fragments depend on it
  Rounding rounding = Rounding::kNearestEven;  // f64
  TensorWork work;

  int row_bytes() const { return a == Element::kF64 ? 8 : 4; }
};

// All kinds of mma.sync and wmma.mma, and the one with a name; nullptr if there is none.
const std::vector<Kind>& AllKinds();
const Kind* FindKind(const std::string& name);

void MultiplyFloats(const Kind& kind, const Tile& tile);   // f16, bf16, tf32
void MultiplyEighths(const Kind& kind, const Tile& tile);  // e4m3, e5m2
void MultiplyQuads(const Kind& kind, const Tile& tile);    // m8n8k4 of f16
void MultiplyDoubles(const Kind& kind, const Tile& tile);
void MultiplyIntegers(const Kind& kind, const Tile& tile);
void MultiplyBits(const Kind& kind, const Tile& tile);

template <typename T>
T Get(const uint8_t* row, int lane) {
  T value;
  std::memcpy(&value, row + sizeof(T) * static_cast<size_t>(lane), sizeof value);
  return value;
}
template <typename T>
void Put(uint8_t* row, int lane, T value) {
  std::memcpy(row + sizeof(T) * static_cast<size_t>(lane), &value, sizeof value);
}

// Calls f(row, column, register, lane, part) for each element of c or d; half: two in a register.
template <typename F>
void ForAccumulators(const Kind& kind, bool half, const F& f) {
  const int registers = (kind.m / 8) * (half ? 1 : 2);
  for (int r = 0; r < registers; ++r) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const int g = lane / 4, t = lane % 4;
      if (half) {
        for (int part = 0; part < 2; ++part) f(g + 8 * r, 2 * t + part, r, lane, part);
      } else {
        f(g + 8 * (r >> 1), 2 * t + (r & 1), r, lane, 0);
      }
    }
  }
}

// Calls f(row, k, register, lane, part) for each element of a, and f(column, k, …) for each of b.
template <typename F>
void ForFactors(const Kind& kind, bool is_a, int per_register, const F& f) {
  const int registers = is_a ? kind.a_registers : kind.b_registers;
  const bool pairs = is_a && kind.m == 16;
  for (int r = 0; r < registers; ++r) {
    const int first = (pairs ? r >> 1 : r) * 4 * per_register, up = pairs ? 8 * (r & 1) : 0;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      for (int part = 0; part < per_register; ++part) {
        f(lane / 4 + up, first + lane % 4 * per_register + part, r, lane, part);
      }
    }
  }
}

}  // namespace lockstep::vgpu::tensor
