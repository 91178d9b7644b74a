// A hook that is called for each instruction of a launch and executes it itself: a trace, a debugger, a recording.
//
// The engine runs a copy of the program's code in which each instruction calls the hook. A launch without one is
// unaffected.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/core/finding.h"
#include "vgpu/core/listing.h"
#include "vgpu/core/program.h"
#include "vgpu/core/warp.h"

namespace lockstep::vgpu {

class InstructionHook {
 public:
  // code: the code that the engine runs; it must not move.
  InstructionHook(const Program& program, std::vector<Insn>& code);
  virtual ~InstructionHook() = default;
  InstructionHook(const InstructionHook&) = delete;
  InstructionHook& operator=(const InstructionHook&) = delete;

  // Runs the instruction before warp.pc.
  virtual void Run(Warp& warp, LaneMask mask) = 0;
  // The launch is about to end with this fault.
  virtual void AtFault(Warp& /*warp*/, const Finding& /*finding*/) {}

 protected:
  // Executes the instruction with its own handler, or another tracker's.
  void Execute(Warp& warp, uint32_t pc, LaneMask mask) const {
    if (mask != 0 || (inner_flags_[pc] & kAlwaysCall) != 0) inner_[pc](warp, program_.code[pc], mask);
  }
  const Program& program() const { return program_; }

 private:
  const Program& program_;
  std::vector<Handler> inner_;  // by pc: the original handler
  std::vector<uint8_t> inner_flags_;
};

// The target of a lane's access at `pc`: the space of a generic address, and the address in it.
struct LaneAccess {
  MemorySpace space;
  uint64_t address;
};
LaneAccess AccessOf(const Warp& warp, const Program& program, const ListedInsn& listed, uint32_t pc, int lane);

}  // namespace lockstep::vgpu
