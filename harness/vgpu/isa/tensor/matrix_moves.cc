// ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16-bit elements. Lane 4g + t holds row g's columns 2t and 2t + 1;
// transposed, column g's rows. Lane l has the address of row l % 8 of matrix l / 8: 16 bytes.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/core/opcode_table.h"
#include "vgpu/isa/tensor/matrix_access.h"
#include "vgpu/isa/tensor/whole_warp.h"

namespace lockstep::vgpu::tensor {
namespace {

constexpr int kSize = 8, kMostMatrices = 4;
constexpr uint32_t kRowBytes = 16;

struct MoveKind {
  int matrices;
  bool transposed;
  std::string name;
};

const std::array<MoveKind, 6>& MoveKinds() {
  static const std::array<MoveKind, 6> kinds = {{{1, false, ".m8n8.x1.b16"},
                                                 {2, false, ".m8n8.x2.b16"},
                                                 {4, false, ".m8n8.x4.b16"},
                                                 {1, true, ".m8n8.x1.trans.b16"},
                                                 {2, true, ".m8n8.x2.trans.b16"},
                                                 {4, true, ".m8n8.x4.trans.b16"}}};
  return kinds;
}

LaneMask AddressLanes(int matrices) { return matrices == 4 ? kFullMask : (LaneMask{1} << (kSize * matrices)) - 1; }

// The position of an element in a register's row of 16-bit halves.
size_t HalfAt(int row, int column, bool transposed) {
  return static_cast<size_t>(transposed ? column * kSize + row : row * kSize + column);
}

// Rows: d…, base.
void LoadMatrices(Warp& warp, const Insn& insn, LaneMask mask) {
  if (!IsWhole(warp, mask)) return;
  const MoveKind& kind = MoveKinds()[MatrixAddress::Unpack(insn.extra).kind];
  const RowRef* rows = OperandRows(warp, insn);
  uint64_t address[kWarpSize];
  uint8_t* host[kWarpSize] = {};
  ReadMatrixAddresses(warp, insn, rows[kind.matrices], address);
  if (!AccessMatrix(warp, insn, AccessKind::kLoad, address, AddressLanes(kind.matrices), kRowBytes, host)) return;
  for (int matrix = 0; matrix < kind.matrices; ++matrix) {
    uint16_t* const to = Destination<uint16_t>(warp, rows[matrix]);
    for (int row = 0; row < kSize; ++row) {
      uint16_t elements[kSize];
      std::memcpy(elements, host[matrix * kSize + row], sizeof elements);
      for (int column = 0; column < kSize; ++column) to[HalfAt(row, column, kind.transposed)] = elements[column];
    }
  }
}

// Rows: base, a…
void StoreMatrices(Warp& warp, const Insn& insn, LaneMask mask) {
  if (!IsWhole(warp, mask)) return;
  const MoveKind& kind = MoveKinds()[MatrixAddress::Unpack(insn.extra).kind];
  const RowRef* rows = OperandRows(warp, insn);
  uint64_t address[kWarpSize];
  uint8_t* host[kWarpSize] = {};
  ReadMatrixAddresses(warp, insn, rows[0], address);
  if (!AccessMatrix(warp, insn, AccessKind::kStore, address, AddressLanes(kind.matrices), kRowBytes, host)) return;
  for (int matrix = 0; matrix < kind.matrices; ++matrix) {
    const uint16_t* const from = Source<uint16_t>(warp, rows[1 + matrix]);
    for (int row = 0; row < kSize; ++row) {
      uint16_t elements[kSize];
      for (int column = 0; column < kSize; ++column) elements[column] = from[HalfAt(row, column, kind.transposed)];
      std::memcpy(host[matrix * kSize + row], elements, sizeof elements);
    }
  }
}

// Rows: d, a.
void TransposeMatrix(Warp& warp, const Insn& insn, LaneMask mask) {
  if (!IsWhole(warp, mask)) return;
  const RowRef* rows = OperandRows(warp, insn);
  uint16_t elements[kSize * kSize];
  std::memcpy(elements, Source<uint16_t>(warp, rows[1]), sizeof elements);
  uint16_t* const to = Destination<uint16_t>(warp, rows[0]);
  for (int row = 0; row < kSize; ++row) {
    for (int column = 0; column < kSize; ++column) to[HalfAt(row, column, true)] = elements[HalfAt(row, column, false)];
  }
}

// Whether both have the same modifiers; ptxas accepts any order, and CUTLASS writes ".x4.m8n8".
bool SameModifiers(std::string_view a, std::string_view b) {
  const auto sorted = [](std::string_view text) {
    std::vector<std::string_view> words;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('.', at + 1), text.size());
      words.push_back(text.substr(at, end - at));
      at = end;
    }
    std::sort(words.begin(), words.end());
    return words;
  };
  return sorted(a) == sorted(b);
}

Selection SelectMove(Modifiers& modifiers, bool stores) {
  std::string text = modifiers.TakeAll();
  MatrixAddress address;
  address.space = TakeSpaceFrom(text);
  if (address.space == AccessSpace::kGlobal) return {};
  for (const MoveKind& kind : MoveKinds()) {
    if (!SameModifiers(kind.name, text)) continue;
    address.kind = static_cast<uint32_t>(&kind - MoveKinds().data());
    address.narrow = modifiers.operand_bytes(stores ? 0 : kind.matrices) == 4;
    Selection selection;
    selection.handler = stores ? StoreMatrices : LoadMatrices;
    selection.flags = kWarpSynchronous | kRowsInTable;
    selection.extra = address.Pack();
    selection.elements[stores ? 1 : 0] = static_cast<uint8_t>(kind.matrices);
    return selection;
  }
  return {};
}
Selection SelectLdmatrix(Modifiers& modifiers) { return SelectMove(modifiers, false); }
Selection SelectStmatrix(Modifiers& modifiers) { return SelectMove(modifiers, true); }

Selection SelectMovmatrix(Modifiers& modifiers) {
  Selection selection;
  if (modifiers.TakeAll() != ".m8n8.trans.b16") return selection;
  selection.handler = TransposeMatrix;
  selection.flags = kWarpSynchronous | kRowsInTable;
  return selection;
}

std::vector<std::string> MoveVariants() {
  std::vector<std::string> variants;
  for (const MoveKind& kind : MoveKinds()) variants.push_back(kind.name);
  return variants;
}
std::vector<std::string> MovmatrixVariants() { return {".m8n8.trans.b16"}; }

LOCKSTEP_OPCODES(matrix_moves, {
                                   {.name = "ldmatrix.sync.aligned",
                                    .form = "dvb32 a",
                                    .select = SelectLdmatrix,
                                    .insn_class = InsnClass::kLoad,
                                    .traits = kAnyOrder | kLoads | kExchangesLanes | kWholeWarp,
                                    .variants = MoveVariants},
                                   {.name = "stmatrix.sync.aligned",
                                    .form = "a svb32",
                                    .select = SelectStmatrix,
                                    .insn_class = InsnClass::kStore,
                                    .traits = kAnyOrder | kStores | kExchangesLanes | kWholeWarp,
                                    .variants = MoveVariants},
                                   {.name = "movmatrix.sync.aligned",
                                    .form = "db32 sb32",
                                    .select = SelectMovmatrix,
                                    .insn_class = InsnClass::kWarpSync,
                                    .traits = kAnyOrder | kExchangesLanes | kWholeWarp,
                                    .variants = MovmatrixVariants},
                               });

}  // namespace
}  // namespace lockstep::vgpu::tensor
