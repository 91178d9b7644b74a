// Handlers of control flow that the decoder places itself, because they need labels, call frames or convergence points.
#pragma once

#include "vgpu/core/insn.h"

namespace lockstep::vgpu {

// bra: immediate = target, extra = convergence point or kNoPc.
void Branch(Warp& warp, const Insn& insn, LaneMask mask);
// The same, closing a loop that may wait for other threads.
void SpinBranch(Warp& warp, const Insn& insn, LaneMask mask);
// brx.idx: row[0] = index, immediate = number of the branch table, extra as above.
void IndexedBranch(Warp& warp, const Insn& insn, LaneMask mask);
// call: immediate = index in Program::calls, extra = convergence point right behind it, or kNoPc.
void Call(Warp& warp, const Insn& insn, LaneMask mask);
void CallBuiltin(Warp& warp, const Insn& insn, LaneMask mask);
// The end of a function (a pseudo-instruction: ret is a branch to it), and of the kernel.
void Return(Warp& warp, const Insn& insn, LaneMask mask);
void Exit(Warp& warp, const Insn& insn, LaneMask mask);
// row[0] = address of the local variable at offset `immediate` of the running function, as a 64-bit offset.
void LocalAddress(Warp& warp, const Insn& insn, LaneMask mask);
// bar.warp.sync.
void WarpBarrier(Warp& warp, const Insn& insn, LaneMask mask);
// A pseudo-instruction before one that reads a clock: brings the count of executed instructions up to date.
void PauseForClock(Warp& warp, const Insn& insn, LaneMask mask);
// immediate = index in Program::unsupported.
void RaiseUnsupported(Warp& warp, const Insn& insn, LaneMask mask);

}  // namespace lockstep::vgpu
