#include "vgpu/exec/warp_trace.h"

#include <algorithm>

#include "vgpu/core/dim3.h"
#include "vgpu/core/grouped.h"
#include "vgpu/core/symbol_name.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/control.h"
#include "vgpu/exec/engine.h"
#include "vgpu/exec/row_text.h"

namespace lockstep::vgpu {
namespace {

constexpr size_t kPlaceColumns = 22, kTextColumns = 50;
}  // namespace

bool BeginTrace(const TraceJob& job, const LaunchInfo& launch) {
  const std::string name = "launch " + std::to_string(launch.ordinal + 1) + ", " + launch.kernel + "<<<" +
                           ShapeText(launch.grid) + "," + ShapeText(launch.block) + ">>>";
  const auto refuse = [&](const std::string& what, uint64_t asked, uint64_t count) {
    job.print("TRACE  " + name + " has no " + what + " " + std::to_string(asked) + ": " +
              (count == 1 ? "0 is the only one" : "they are 0 to " + std::to_string(count - 1)) + "\n");
    return false;
  };
  const TraceRequest& asked = job.request;
  if (asked.block >= launch.grid.Count()) return refuse("block", asked.block, launch.grid.Count());
  if (asked.warp >= launch.warps_per_block) return refuse("warp", asked.warp, launch.warps_per_block);
  const uint64_t first = uint64_t{asked.warp} * kWarpSize;
  const uint64_t last = std::min(first + kWarpSize, launch.block.Count()) - 1;
  job.print("TRACE  " + name + ", block " + PointText(Unflatten(asked.block, launch.grid)) + ", warp " +
            std::to_string(asked.warp) + ": threads " + PointText(Unflatten(first, launch.block)) + " to " +
            PointText(Unflatten(last, launch.block)) + "\n");
  return true;
}

void EndTrace(const TraceJob& job) {
  const TraceRequest& asked = job.request;
  if (job.executed < asked.from) {
    job.print("       the warp ended after " + Grouped(job.executed) +
              " instructions, before the first one asked for\n");
  } else if (job.executed > asked.to) {
    job.print("       the warp has " + Grouped(job.executed) + " instructions: --trace=" + std::to_string(asked.block) +
              "," + std::to_string(asked.warp) + "," + std::to_string(asked.to + 1) + " shows what comes next\n");
  }
}

WarpTrace::WarpTrace(Engine& engine, TraceJob& job, std::vector<Insn>& code)
    : InstructionHook(engine.program(), code), engine_(engine), job_(job), places_(program()) {}

std::string WarpTrace::Place(uint32_t pc) const {
  std::string text = places_.Text(pc);
  return text.empty() ? "PTX line " + std::to_string(program().info[pc].ptx_line) : text;
}

std::string WarpTrace::ValuesText(const std::vector<ListedRegister>& registers, const uint8_t* rows,
                                  LaneMask mask) const {
  std::string text;
  for (const ListedRegister& r : registers) text += "  " + r.name + " = " + RowText(r.type, rows + r.row, mask);
  return text;
}

std::string WarpTrace::AddressText(const Warp& warp, uint32_t pc, LaneMask mask) const {
  const ListedInsn& listed = job_.listing.insns[pc];
  const MemorySpace named = program().info[pc].space;
  if (!listed.has_address || mask == 0 || named == MemorySpace::kParam) return "";
  std::vector<uint64_t> addresses;
  MemorySpace space = named;
  bool one_space = true;
  for (const int lane : EachLane(mask)) {
    const auto [own, address] = AccessOf(warp, program(), listed, pc, lane);
    one_space &= addresses.empty() || own == space;
    space = own;
    addresses.push_back(address);
  }
  if (!one_space) return "  at addresses in several memory spaces";
  const MemoryPlace place = DescribeMemory(engine_.launch(), space, addresses.front(), 1, kNoPc);
  if (!place.in_buffer || place.wrapped || place.address != addresses.front()) return "  at " + SequenceText(addresses);
  std::vector<int64_t> offsets;
  for (const uint64_t address : addresses) offsets.push_back(static_cast<int64_t>(address - place.buffer_base));
  return "  at " + VariableName(place.buffer_name) + " + " + SequenceText(offsets);
}

// Lanes that continue have received the results that they waited for.
void WarpTrace::PrintPending(const Warp& warp) {
  for (Pending& waited : pending_) {
    const LaneMask lanes = waited.lanes & warp.active;
    if (lanes == 0) continue;
    waited.lanes &= ~lanes;
    job_.print(Padded(Padded("", 6) + Place(waited.pc), 6 + 2 + kPlaceColumns) + Hex(lanes, 8) +
               "  what it waited for at " + std::to_string(waited.number) + ":" +
               ValuesText(job_.listing.insns[waited.pc].writes, waited.rows, lanes) + "\n");
  }
  std::erase_if(pending_, [](const Pending& waited) { return waited.lanes == 0; });
}

void WarpTrace::Run(Warp& warp, LaneMask mask) {
  const uint32_t pc = warp.pc - 1;
  const bool chosen = warp.block->index == job_.request.block && warp.index == job_.request.warp;
  if (!chosen || !program().info[pc].counted) return Execute(warp, pc, mask);
  const uint64_t number = ++job_.executed;
  PrintPending(warp);
  if (number < job_.request.from || number > job_.request.to) return Execute(warp, pc, mask);

  const ListedInsn& listed = job_.listing.insns[pc];
  std::string line = std::to_string(number);
  line.insert(0, line.size() < 6 ? 6 - line.size() : 0, ' ');
  line += "  " + Padded(Place(pc), kPlaceColumns) + Hex(mask, 8) + "  ";
  const std::string before =
      AddressText(warp, pc, mask) + (mask == 0 ? "" : ValuesText(listed.stores, warp.base[0], mask));
  const uint8_t* const rows = warp.base[0];
  Execute(warp, pc, mask);
  std::string after;
  const StopReason reason = warp.stop ? warp.state->reason : StopReason::kNone;
  if (reason == StopReason::kFault) {
    after = "  FAULT";
  } else if (!listed.writes.empty() && mask != 0) {
    if (reason == StopReason::kSwitched) {
      after = "  (waits)";
      pending_.push_back({number, pc, mask, rows});
    } else {
      after = ValuesText(listed.writes, rows, mask);
    }
  }
  const std::string values = before + after;
  line += values.empty() ? listed.text : Padded(listed.text, kTextColumns) + values.substr(2);
  job_.print(line + "\n");
}

}  // namespace lockstep::vgpu
