// Access to register rows, and the loops shared by element-wise handlers.
#pragma once

#include <cstring>

#include "vgpu/core/insn.h"
#include "vgpu/core/lanes.h"
#include "vgpu/core/warp.h"

namespace lockstep::vgpu {

// The 32 elements of a source row.
template <typename T>
inline const T* Source(const Warp& warp, RowRef ref) {
  return reinterpret_cast<const T*>(warp.base[ref >> 31] + (ref & ~kConstantPool));
}

// The 32 elements of a destination row; never in the constant pool.
template <typename T>
inline T* Destination(Warp& warp, RowRef ref) {
  return reinterpret_cast<T*>(warp.base[0] + ref);
}

// Predicate operand k as a lane mask, with its negation applied; lanes beyond the mask are arbitrary.
inline LaneMask PredicateSource(const Warp& warp, const Insn& insn, int k) {
  const LaneMask value = *Source<LaneMask>(warp, insn.row[k]);
  return (insn.negated_predicates >> k) & 1 ? ~value : value;
}

inline void WritePredicate(Warp& warp, RowRef ref, LaneMask value, LaneMask mask) {
  if (ref == kNoRow) return;
  LaneMask* p = Destination<LaneMask>(warp, ref);
  *p = (*p & ~mask) | (value & mask);
}

// d[lane] = f(lane) for the lanes in mask. To vectorise, this computes all 32 lanes and then blends, so f must be
// defined for every lane and any input (no trap on the host).
template <typename D, typename F>
inline void ForLanes(Warp& warp, RowRef destination, LaneMask mask, F f) {
  D* d = Destination<D>(warp, destination);
  if (mask == kFullMask) {
    D r[kWarpSize];
    for (int lane = 0; lane < kWarpSize; ++lane) r[lane] = f(lane);
    std::memcpy(d, r, sizeof r);
    return;
  }
  D r[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) r[lane] = f(lane);
  BlendLanes(d, r, mask);
}

}  // namespace lockstep::vgpu
