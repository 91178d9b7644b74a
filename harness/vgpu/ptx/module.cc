#include "vgpu/ptx/module.h"

#include <array>
#include <limits>
#include <unordered_map>

namespace lockstep::vgpu::ptx {
namespace {

struct TypeRow {
  Type type;
  std::string_view name;
  int bytes;
};

// In the order of the enumeration.
constexpr std::array kTypes = {
    TypeRow{Type::kNone, "", 0},         TypeRow{Type::kPred, "pred", 4},   TypeRow{Type::kB8, "b8", 1},
    TypeRow{Type::kB16, "b16", 2},       TypeRow{Type::kB32, "b32", 4},     TypeRow{Type::kB64, "b64", 8},
    TypeRow{Type::kB128, "b128", 16},    TypeRow{Type::kU8, "u8", 1},       TypeRow{Type::kU16, "u16", 2},
    TypeRow{Type::kU32, "u32", 4},       TypeRow{Type::kU64, "u64", 8},     TypeRow{Type::kS8, "s8", 1},
    TypeRow{Type::kS16, "s16", 2},       TypeRow{Type::kS32, "s32", 4},     TypeRow{Type::kS64, "s64", 8},
    TypeRow{Type::kF16, "f16", 2},       TypeRow{Type::kF32, "f32", 4},     TypeRow{Type::kF64, "f64", 8},
    TypeRow{Type::kF16x2, "f16x2", 4},   TypeRow{Type::kBF16, "bf16", 2},   TypeRow{Type::kBF16x2, "bf16x2", 4},
    TypeRow{Type::kTF32, "tf32", 4},     TypeRow{Type::kU16x2, "u16x2", 4}, TypeRow{Type::kS16x2, "s16x2", 4},
    TypeRow{Type::kU8x4, "u8x4", 4},     TypeRow{Type::kS8x4, "s8x4", 4},   TypeRow{Type::kE4M3x2, "e4m3x2", 2},
    TypeRow{Type::kE5M2x2, "e5m2x2", 2}, TypeRow{Type::kF32x2, "f32x2", 8},
};

constexpr bool InOrder() {
  for (size_t k = 0; k < kTypes.size(); ++k) {
    if (static_cast<size_t>(kTypes[k].type) != k) return false;
  }
  return kTypes.back().type == Type::kF32x2;
}
static_assert(InOrder());

}  // namespace

int SizeOf(Type type) { return kTypes[static_cast<size_t>(type)].bytes; }

std::string_view NameOf(Type type) { return kTypes[static_cast<size_t>(type)].name; }

std::optional<Type> TypeFromName(std::string_view name) {
  static const std::unordered_map<std::string_view, Type> by_name = [] {
    std::unordered_map<std::string_view, Type> map;
    for (const TypeRow& row : kTypes) {
      if (row.type != Type::kNone) map.emplace(row.name, row.type);
    }
    return map;
  }();
  const auto found = by_name.find(name);
  if (found == by_name.end()) return std::nullopt;
  return found->second;
}

std::string_view NameOf(Space space) {
  switch (space) {
    case Space::kGeneric:
      return "generic";
    case Space::kReg:
      return "reg";
    case Space::kGlobal:
      return "global";
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kParam:
      return "param";
    case Space::kConst:
      return "const";
  }
  return "";
}

uint64_t Variable::ElementBytes() const { return static_cast<uint64_t>(SizeOf(type)) * vector_width; }

uint64_t Variable::TotalBytes() const {
  uint64_t bytes = ElementBytes();
  for (const uint64_t extent : dimensions) {
    // The parser refuses such arrays; this guards against overflow in a tree built by hand.
    if (extent != 0 && bytes > std::numeric_limits<uint64_t>::max() / extent) {
      return std::numeric_limits<uint64_t>::max();
    }
    bytes *= extent;
  }
  return bytes;
}

}  // namespace lockstep::vgpu::ptx
