#include "vgpu/exec/instruction_hook.h"

#include "vgpu/core/row.h"
#include "vgpu/exec/engine.h"
#include "vgpu/memory/address_space.h"

namespace lockstep::vgpu {
namespace {

void RunHooked(Warp& warp, const Insn&, LaneMask mask) { warp.engine->hook()->Run(warp, mask); }

}  // namespace

InstructionHook::InstructionHook(const Program& program, std::vector<Insn>& code) : program_(program) {
  for (Insn& insn : code) {
    inner_.push_back(insn.handler);
    inner_flags_.push_back(insn.flags);
    insn.handler = RunHooked;
    if (insn.guard != kNoRow) insn.flags |= kAlwaysCall;
  }
}

LaneAccess AccessOf(const Warp& warp, const Program& program, const ListedInsn& listed, uint32_t pc, int lane) {
  LaneAccess access{program.info[pc].space, program.code[pc].immediate};
  uint64_t& address = access.address;
  if (listed.base.row != kNoRow && ptx::SizeOf(listed.base.type) == 4) {
    address = static_cast<uint32_t>(address + Source<uint32_t>(warp, listed.base.row)[lane]);
  } else if (listed.base.row != kNoRow) {
    address += Source<uint64_t>(warp, listed.base.row)[lane];
  }
  if (access.space == MemorySpace::kGlobal && InWindow(address, kSharedWindow)) {
    access = {MemorySpace::kShared, address - kSharedWindow};
  } else if (access.space == MemorySpace::kGlobal && InWindow(address, kLocalWindow)) {
    access = {MemorySpace::kLocal, address - kLocalWindow};
  }
  return access;
}

}  // namespace lockstep::vgpu
