// The kinds of errors in a kernel.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "vgpu/core/launch_error.h"

namespace lockstep::vgpu {

enum class Hint : uint16_t;  // defined in core/hint.h, so that files that name no hint need not include it

// All kinds, one per row: X(kind, "HEADING", "name", error, hint). A finding's text begins with the heading, which is
// also the verdict's word if there is one (judge/model/verdict.h). `error` is what the launch returns after the finding
// has stopped it. If the hint is kNone, core/finding_hint.cc chooses one for the case.
#define LOCKSTEP_FINDING_KINDS(X)                                                                                \
  X(OutOfBounds, "BOUNDS", "out of bounds", IllegalAddress, Hint::kNone)                                         \
  X(Misaligned, "BOUNDS", "misaligned address", MisalignedAddress, Hint::kMisaligned)                            \
  X(InvalidAddress, "BOUNDS", "invalid address", IllegalAddress,                                                 \
    Hint::kNone) /* near no allocation, or the null pointer */                                                   \
  X(Uninitialized, "UNINIT", "uninitialised read", IllegalAddress, Hint::kNone)                                  \
  X(Race, "RACE", "race", IllegalAddress, Hint::kNone)                                                           \
  /* Lanes of a warp, or warps, disagree about a barrier; or nobody can complete it. The hardware would hang. */ \
  X(BarrierDivergence, "BARRIER", "barrier divergence", Timeout, Hint::kBarrierDivergence)                       \
  /* A .sync operation whose member mask is wrong. */                                                            \
  X(WarpSyncMismatch, "BARRIER", "wrong warp mask", Timeout, Hint::kWarpMask)                                    \
  /* A use of what a shuffle read from a lane that takes no part in it. */                                       \
  X(UndefinedShuffle, "BARRIER", "undefined shuffle", IllegalAddress, Hint::kUndefinedShuffle)                   \
  X(Trap, "CRASH", "trap", Trap, Hint::kNone)                                                                    \
  X(Assert, "CRASH", "assertion failed", Assert, Hint::kAssert)                                                  \
  X(Timeout, "TIMEOUT", "timeout", Timeout, Hint::kKernelTimeout)                                                \
  X(Unsupported, "UNSUPPORTED", "unsupported", Unsupported, Hint::kUnsupported)                                  \
  X(StackOverflow, "CRASH", "stack overflow", StackOverflow, Hint::kStackOverflow)                               \
  X(IllegalInstruction, "CRASH", "illegal instruction", IllegalInstruction, Hint::kIllegalInstruction)

enum class FindingKind : uint8_t {
#define LOCKSTEP_FINDING_KIND(kind, heading, name, error, hint) k##kind,
  LOCKSTEP_FINDING_KINDS(LOCKSTEP_FINDING_KIND)
#undef LOCKSTEP_FINDING_KIND
};

struct FindingKindInfo {
  FindingKind kind;
  const char* heading;
  const char* name;
  LaunchError error;
  Hint hint;
};

std::span<const FindingKindInfo> AllFindingKinds();
const FindingKindInfo& InfoOf(FindingKind kind);
inline std::string_view NameOf(FindingKind kind) { return InfoOf(kind).name; }  // "out of bounds"

}  // namespace lockstep::vgpu
