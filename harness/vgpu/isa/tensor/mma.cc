// mma.sync and wmma.mma: d = a * b + c.
#include <bit>
#include <cstring>

#include "vgpu/core/hint.h"
#include "vgpu/core/opcode_table.h"
#include "vgpu/isa/tensor/tile.h"
#include "vgpu/isa/tensor/whole_warp.h"

namespace lockstep::vgpu {
namespace tensor {

bool IsWhole(Warp& warp, LaneMask mask) {
  if (mask == kFullMask) return true;
  const uint32_t pc = warp.pc - 1;
  Engine& engine = *warp.engine;
  Finding finding = engine.MakeFinding(warp, pc, std::countr_zero(mask), FindingKind::kWarpSyncMismatch,
                                       std::to_string(std::popcount(mask)) + " of the warp's 32 lanes execute " +
                                           engine.program().Text(pc) + ", which all 32 have to execute together");
  finding.hint = Hint::kMatrixFunctionInBranch;
  engine.Fault(warp, std::move(finding));
  return false;
}

namespace {

// Rows: d, a, b, c. Results are written after all tiles have read their operands: d may share registers with c or a.
void MultiplyMatrices(Warp& warp, const Insn& insn, LaneMask mask) {
  if (!IsWhole(warp, mask)) return;
  const Kind& kind = AllKinds()[static_cast<uint32_t>(insn.extra)];
  const RowRef* const d = OperandRows(warp, insn);
  const RowRef* const a = d + kind.d_registers * kind.tiles;
  const RowRef* const b = a + kind.a_operands;
  const RowRef* const c = b + kind.b_operands;
  alignas(64) uint8_t results[kMostRegisters][kWarpSize * sizeof(uint64_t)];
  for (int t = 0; t < kind.tiles; ++t) {
    Tile tile;
    const bool transposed = kind.division == Division::kTransposed;
    const RowRef* const left = (transposed ? b : a) + (kind.division == Division::kAlongN ? 0 : t * kind.a_registers);
    const RowRef* const right = (transposed ? a : b) + (kind.division == Division::kAlongN ? t * kind.b_registers : 0);
    for (int r = 0; r < kind.a_registers; ++r) tile.a[r] = Row(warp, left[r]);
    for (int r = 0; r < kind.b_registers; ++r) tile.b[r] = Row(warp, right[r]);
    for (int r = 0; r < kind.c_registers; ++r) tile.c[r] = Row(warp, c[t * kind.c_registers + r]);
    for (int r = 0; r < kind.d_registers; ++r) tile.d[r] = results[t * kind.d_registers + r];
    kind.product(kind, tile);
  }
  for (int r = 0; r < kind.d_registers * kind.tiles; ++r) {
    std::memcpy(Destination<uint8_t>(warp, d[r]), results[r], static_cast<size_t>(kind.row_bytes()) * kWarpSize);
  }
}

Selection Select(Modifiers& modifiers, const char* row) {
  const Kind* kind = FindKind(std::string(row) + modifiers.TakeAll());
  if (kind == nullptr) return {};
  Selection selection;
  selection.handler = MultiplyMatrices;
  selection.flags = kWarpSynchronous | kRowsInTable;
  selection.extra = static_cast<uint64_t>(kind - AllKinds().data());
  selection.form = kind->a == Element::kF64 ? "dvb64 svb64 svb64 svb64" : "dvb32 svb32 svb32 svb32";
  selection.elements = {static_cast<uint8_t>(kind->d_registers * kind->tiles), static_cast<uint8_t>(kind->a_operands),
                        static_cast<uint8_t>(kind->b_operands), static_cast<uint8_t>(kind->c_registers * kind->tiles)};
  selection.tensor = kind->work;
  return selection;
}

constexpr char kMma[] = "mma.sync.aligned", kWmma[] = "wmma.mma.sync.aligned",
               kWmmaXor[] = "wmma.mma.xor.popc.sync.aligned", kWmmaAnd[] = "wmma.mma.and.popc.sync.aligned";

template <const char* kRow>
Selection SelectKind(Modifiers& modifiers) {
  return Select(modifiers, kRow);
}

template <const char* kRow>
std::vector<std::string> Variants() {
  std::vector<std::string> variants;
  const std::string start = std::string(kRow) + ".";
  for (const Kind& kind : AllKinds()) {
    if (kind.name.starts_with(start)) variants.push_back(kind.name.substr(start.size() - 1));
  }
  return variants;
}

template <const char* kRow>
constexpr Opcode MatrixRow() {
  return {.name = kRow,
          .form = "dvb32 svb32 svb32 svb32",
          .select = SelectKind<kRow>,
          .insn_class = InsnClass::kTensor,
          .traits = kAnyOrder | kExchangesLanes | kWholeWarp,
          .variants = Variants<kRow>};
}

LOCKSTEP_OPCODES(mma, {MatrixRow<kMma>(), MatrixRow<kWmma>(), MatrixRow<kWmmaXor>(), MatrixRow<kWmmaAnd>()});

}  // namespace
}  // namespace tensor
}  // namespace lockstep::vgpu
