// All forms of mma.sync and wmma.mma.
//
// Counts of machine instructions are those of ptxas 13.0 for compute capability 9.0. The times relative to f16's are
// ratios of the H100's published dense throughputs; a form that ptxas splits into several instructions counts as these.
#include <array>
#include <string_view>
#include <unordered_map>

#include "vgpu/isa/tensor/tile.h"

namespace lockstep::vgpu::tensor {
namespace {

std::string_view NameOf(Element element) {
  constexpr std::string_view kNames[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "f32", "f64",
                                         "s8",  "u8",   "s4",   "u4",   "b1",   "s32"};
  return kNames[static_cast<size_t>(element)];
}

std::string Types(Element d, Element a, Element b, Element c) {
  std::string text;
  for (const Element element : {d, a, b, c}) text.append(".").append(NameOf(element));
  return text;
}

// f16 multiply-adds that take the same time as one.
double TimeOf(Element element) {
  switch (element) {
    case Element::kTf32:
      return 2;
    case Element::kF64:
      return 16;
    case Element::kS8:
    case Element::kU8:
    case Element::kS4:  // computed as two 8-bit products of half of the elements each
    case Element::kU4:
      return 0.5;
    case Element::kB1:
      return 1.0 / 16;
    default:
      return 1;
  }
}

class Builder {
 public:
  std::vector<Kind> Build() {
    Floats();
    Quads();
    Doubles();
    Integers();
    WmmaFloats();
    WmmaOthers();
    return std::move(kinds_);
  }

 private:
  // Derives the fields that follow from the elements and the tile's shape.
  Kind Make(Product product, Element d, Element a, Element b, Element c, int m, int k) const {
    Kind kind;
    kind.product = product;
    kind.a = a, kind.b = b, kind.c = c, kind.d = d;
    kind.m = m, kind.k = k, kind.group = k;
    const int words = std::max(k * BitsOf(a) / (a == Element::kF64 ? 64 : 32) / 4, 1);  // per lane and row
    kind.a_registers = kind.a_operands = words * m / 8;
    kind.b_registers = kind.b_operands = words;
    kind.c_registers = m / 8 * (c == Element::kF16 ? 1 : 2);
    kind.d_registers = m / 8 * (d == Element::kF16 ? 1 : 2);
    return kind;
  }
  void Add(std::string name, Kind kind, uint32_t instructions) {
    kind.name = std::move(name);
    const auto all = static_cast<uint32_t>(kind.m * kColumnsOfTile * kind.k * kind.tiles);
    const double time = TimeOf(kind.a) * (kind.exclusive_or ? 2 : 1);
    kind.work = {instructions, all, static_cast<uint32_t>(all * time)};
    kinds_.push_back(std::move(kind));
  }
  static std::string Mma(int m, int k) { return "mma.sync.aligned.m" + std::to_string(m) + "n8k" + std::to_string(k); }

  void Floats() {
    using enum Element;
    for (const int k : {8, 16}) {
      for (const Element c : {kF32, kF16}) {
        Add(Mma(16, k) + ".row.col" + Types(c, kF16, kF16, c), Make(MultiplyFloats, c, kF16, kF16, c, 16, k), 1);
      }
      Add(Mma(16, k) + ".row.col" + Types(kF32, kBf16, kBf16, kF32),
          Make(MultiplyFloats, kF32, kBf16, kBf16, kF32, 16, k), 1);
    }
    for (const int k : {4, 8}) {
      Add(Mma(16, k) + ".row.col" + Types(kF32, kTf32, kTf32, kF32),
          Make(MultiplyFloats, kF32, kTf32, kTf32, kF32, 16, k), 1);
    }
    for (const int k : {16, 32}) {
      for (const Element c : {kF32, kF16}) {
        for (const Element a : {kE4m3, kE5m2}) {
          for (const Element b : {kE4m3, kE5m2}) {
            Add(Mma(16, k) + ".row.col" + Types(c, a, b, c), Make(MultiplyEighths, c, a, b, c, 16, k), 2);
          }
        }
      }
    }
  }

  void Quads() {
    using enum Element;
    for (const bool row_a : {true, false}) {
      for (const bool row_b : {true, false}) {
        for (const auto& [d, c] :
             std::array<std::pair<Element, Element>, 3>{{{kF32, kF32}, {kF16, kF16}, {kF32, kF16}}}) {
          Kind kind = Make(MultiplyQuads, d, kF16, kF16, c, 8, 4);
          kind.row_a = row_a, kind.row_b = row_b;
          kind.a_registers = kind.b_registers = kind.a_operands = kind.b_operands = 2;
          kind.c_registers = c == kF16 ? 4 : 8;
          kind.d_registers = d == kF16 ? 4 : 8;
          Add(Mma(8, 4) + (row_a ? ".row" : ".col") + (row_b ? ".row" : ".col") + Types(d, kF16, kF16, c), kind, 0);
          kinds_.back().work.multiply_adds *= 4;
          kinds_.back().work.half_equivalent *= 32;  // on the f32 units, an eighth as fast
        }
      }
    }
  }

  static constexpr std::pair<const char*, Rounding> kRoundings[] = {{"", Rounding::kNearestEven},
                                                                    {".rn", Rounding::kNearestEven},
                                                                    {".rz", Rounding::kTowardZero},
                                                                    {".rm", Rounding::kDown},
                                                                    {".rp", Rounding::kUp}};
  void Doubles() {
    constexpr Element f = Element::kF64;
    for (const auto& [m, k] : {std::pair{8, 4}, {16, 4}, {16, 8}, {16, 16}}) {
      for (const auto& [word, rounding] : kRoundings) {
        Kind kind = Make(MultiplyDoubles, f, f, f, f, m, k);
        kind.rounding = rounding;
        Add(Mma(m, k) + ".row.col" + word + Types(f, f, f, f), kind, 1);
      }
    }
  }

  void Integers() {
    using enum Element;
    for (const auto& [m, times] : {std::pair{8, 1}, {16, 1}, {16, 2}}) {
      for (const char* sat : {"", ".satfinite"}) {
        // Clang 14 does not let a lambda refer to a structured binding.
        const auto add = [&, m = m](Element a, Element b, int k, uint32_t instructions) {
          Kind kind = Make(MultiplyIntegers, kS32, a, b, kS32, m, k);
          kind.satfinite = *sat != '\0';
          Add(Mma(m, k) + ".row.col" + sat + Types(kS32, a, b, kS32), kind, instructions);
        };
        for (const Element a : {kS8, kU8}) {
          for (const Element b : {kS8, kU8}) add(a, b, 16 * times, 1);
        }
        for (const Element a : {kS4, kU4}) {
          for (const Element b : {kS4, kU4}) add(a, b, 32 * times, 2);
        }
      }
      for (const bool exclusive_or : {true, false}) {
        Kind kind = Make(MultiplyBits, kS32, kB1, kB1, kS32, m, 128 * times);
        kind.exclusive_or = exclusive_or;
        Add(Mma(m, 128 * times) + ".row.col" + Types(kS32, kB1, kB1, kS32) + (exclusive_or ? ".xor.popc" : ".and.popc"),
            kind, exclusive_or ? 2 : 1);
      }
    }
  }

  // The fragments are the same for both layouts of a and b.
  void AddWmma(const std::string& shape, const std::string& rest, const Kind& kind, uint32_t instructions,
               const std::string& before = "wmma.mma.sync.aligned") {
    for (const char* layout : {".row.row.", ".row.col.", ".col.row.", ".col.col."}) {
      Add(before + layout + shape + rest, kind, instructions);
    }
  }

  void WmmaFloats() {
    using enum Element;
    static constexpr std::pair<const char*, Division> kShapes[] = {
        {"m16n16k16", Division::kAlongN}, {"m32n8k16", Division::kAlongM}, {"m8n32k16", Division::kTransposed}};
    for (const auto& [shape, division] : kShapes) {
      // Registers of a and b; f16 registers outside a tile hold copies.
      const auto divide = [division = division](Kind kind, bool copies) {
        kind.tiles = 2;
        kind.division = division;
        const int a = kind.a_registers, b = kind.b_registers;
        kind.a_operands = division == Division::kAlongN ? a : division == Division::kAlongM ? 2 * a : b;
        kind.b_operands = division == Division::kAlongN ? 2 * b : division == Division::kAlongM ? b : 2 * a;
        if (copies) kind.a_operands = kind.b_operands = kMostRegisters;
        return kind;
      };
      for (const Element d : {kF32, kF16}) {
        for (const Element c : {kF32, kF16}) {
          AddWmma(shape, "." + std::string(NameOf(d)) + "." + std::string(NameOf(c)),
                  divide(Make(MultiplyFloats, d, kF16, kF16, c, 16, 16), true), 2);
        }
      }
      AddWmma(shape, Types(kF32, kBf16, kBf16, kF32),
              divide(Make(MultiplyFloats, kF32, kBf16, kBf16, kF32, 16, 16), false), 2);
      for (const Element a : {kS8, kU8}) {
        Kind kind = divide(Make(MultiplyIntegers, kS32, a, a, kS32, 16, 16), false);
        AddWmma(shape, Types(kS32, a, a, kS32), kind, 2);
        kind.satfinite = true;
        AddWmma(shape, Types(kS32, a, a, kS32) + ".satfinite", kind, 2);
      }
    }
    Kind kind = Make(MultiplyFloats, kF32, kTf32, kTf32, kF32, 16, 8);
    kind.tiles = 2;
    kind.group = 4;  // two instructions of k = 4
    kind.b_operands = 2 * kind.b_registers;
    AddWmma("m16n16k8", Types(kF32, kTf32, kTf32, kF32), kind, 4);
  }

  void WmmaOthers() {
    using enum Element;
    for (const auto& [word, rounding] : kRoundings) {
      Kind kind = Make(MultiplyDoubles, kF64, kF64, kF64, kF64, 8, 4);
      kind.rounding = rounding;
      AddWmma("m8n8k4", word + Types(kF64, kF64, kF64, kF64), kind, 1);
    }
    for (const Element a : {kS4, kU4}) {
      for (const char* sat : {"", ".satfinite"}) {
        Kind kind = Make(MultiplyIntegers, kS32, a, a, kS32, 8, 32);
        kind.satfinite = *sat != '\0';
        Add("wmma.mma.sync.aligned.row.col.m8n8k32" + Types(kS32, a, a, kS32) + sat, kind, 2);
      }
    }
    for (const bool exclusive_or : {true, false}) {
      Kind kind = Make(MultiplyBits, kS32, kB1, kB1, kS32, 8, 128);
      kind.exclusive_or = exclusive_or;
      Add(std::string("wmma.mma.") + (exclusive_or ? "xor" : "and") + ".popc.sync.aligned.row.col.m8n8k128" +
              Types(kS32, kB1, kB1, kS32),
          kind, exclusive_or ? 2 : 1);
    }
  }

  std::vector<Kind> kinds_;
};

}  // namespace

const std::vector<Kind>& AllKinds() {
  static const std::vector<Kind> kinds = Builder().Build();
  return kinds;
}

const Kind* FindKind(const std::string& name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Kind*> map;
    for (const Kind& kind : AllKinds()) map.emplace(kind.name, &kind);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace lockstep::vgpu::tensor
