#include "vgpu/exec/instruction_hook.h"

#include "vgpu/exec/engine.h"

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

}  // namespace lockstep::vgpu
