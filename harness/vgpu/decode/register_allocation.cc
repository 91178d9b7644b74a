#include <algorithm>
#include <queue>

#include "vgpu/analysis/liveness.h"
#include "vgpu/decode/flow.h"

// Linear scan (Poletto and Sarkar 1999) with an unlimited number of rows, so nothing spills. Rows of each size form a
// group in the frame. Two registers share a row if their live intervals have no instruction in common; so a handler may
// write its result before it has read all its operands.
namespace lockstep::vgpu {
namespace {

constexpr uint32_t kFrameAlignment = 64;
constexpr size_t kMostKept = 4096;  // with -G, up to this many share no rows, so that a debugger can show them

// Row sizes, in the order of their groups in the frame.
constexpr uint32_t kRowBytes[] = {4, 64, 128, 256, 512};
constexpr size_t kGroups = std::size(kRowBytes);

size_t GroupOf(ptx::Type type) {
  if (type == ptx::Type::kPred) return 0;
  const int bytes = ptx::SizeOf(type);
  return bytes <= 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
}

}  // namespace

RegisterLayout AllocateRegisters(const FunctionOpcodes& opcodes, const Flow& flow) {
  const RegisterUses uses = FindRegisterUses(opcodes);
  const Liveness liveness = FindLiveness(opcodes.function(), *flow.graph, uses);
  const size_t count = liveness.interval.size();

  std::vector<size_t> order(count);
  for (size_t reg = 0; reg < count; ++reg) order[reg] = reg;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(liveness.interval[a].first, a) < std::pair(liveness.interval[b].first, b);
  });

  struct Busy {
    size_t until;
    uint32_t row;
    bool operator>(const Busy& other) const { return std::pair(until, row) > std::pair(other.until, other.row); }
  };
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy[kGroups];
  uint32_t rows[kGroups] = {};
  std::vector<uint32_t> row_of(count);
  const bool shares = opcodes.function().debug == nullptr || count > kMostKept;
  for (const size_t reg : order) {
    const size_t group = GroupOf(uses.registers.type[reg]);
    uint32_t row = rows[group];
    if (shares && !busy[group].empty() && busy[group].top().until < liveness.interval[reg].first) {
      row = busy[group].top().row;
      busy[group].pop();
    } else {
      ++rows[group];
    }
    row_of[reg] = row;
    busy[group].push({liveness.interval[reg].last, row});
  }

  uint64_t base[kGroups], offset = 0;
  for (size_t group = 0; group < kGroups; ++group) {
    base[group] = offset;
    const uint64_t bytes = uint64_t{kRowBytes[group]} * rows[group];
    offset += (bytes + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
  }
  if (offset >= kNoRow)
    throw ptx::PtxError(opcodes.function().ptx_line, opcodes.function().name + " needs too many registers");
  RegisterLayout layout;
  layout.frame_bytes = static_cast<uint32_t>(offset);
  layout.registers = liveness.pressure;
  layout.live_at_entry = liveness.live_at_entry;
  layout.shares_rows = shares;
  layout.row.reserve(count);
  for (size_t reg = 0; reg < count; ++reg) {
    const size_t group = GroupOf(uses.registers.type[reg]);
    layout.row.emplace(uses.registers.name[reg],
                       static_cast<RowRef>(base[group] + uint64_t{kRowBytes[group]} * row_of[reg]));
  }
  return layout;
}

}  // namespace lockstep::vgpu
