// Handlers for control flow. The decoder emits them itself because they need labels, call frames or convergence points.
#pragma once

#include "vgpu/core/insn.h"

namespace lockstep::vgpu {

// bra: immediate = target, extra = convergence point or kNoPc.
void Branch(Warp& warp, const Insn& insn, LaneMask mask);
// The same for the back edge of a loop that may wait for other threads.
void SpinBranch(Warp& warp, const Insn& insn, LaneMask mask);
// brx.idx: row[0] = index, immediate = number of the branch table, extra as for bra.
void IndexedBranch(Warp& warp, const Insn& insn, LaneMask mask);
// call: immediate = index in Program::calls, extra = convergence point right after it, or kNoPc.
void Call(Warp& warp, const Insn& insn, LaneMask mask);
void CallBuiltin(Warp& warp, const Insn& insn, LaneMask mask);
// The end of a function (a pseudo-instruction that ret branches to), and of the kernel.
void Return(Warp& warp, const Insn& insn, LaneMask mask);
void Exit(Warp& warp, const Insn& insn, LaneMask mask);
// row[0] = address of the local variable at offset `immediate` in the running function, as a 64-bit offset.
void LocalAddress(Warp& warp, const Insn& insn, LaneMask mask);
// row[0] = the handle of the texture bound to the .texref at address `immediate`; kNoTexture: none, which reads zeros.
inline constexpr uint64_t kNoTexture = ~uint64_t{0};
void TextureOfReference(Warp& warp, const Insn& insn, LaneMask mask);
// bar.warp.sync.
void WarpBarrier(Warp& warp, const Insn& insn, LaneMask mask);
// A pseudo-instruction before each read of a clock: RunGroup returns, which updates the counts of instructions. extra
// not 0: the loop from `immediate` to its branch `extra` only waits for a clock (Engine::PassTime).
void PauseForClock(Warp& warp, const Insn& insn, LaneMask mask);
// immediate = index in Program::unsupported.
void RaiseUnsupported(Warp& warp, const Insn& insn, LaneMask mask);

}  // namespace lockstep::vgpu
