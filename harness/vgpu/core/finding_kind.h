// The kinds of errors in a kernel.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "vgpu/core/launch_error.h"

namespace lockstep::vgpu {

// All kinds, one per row: X(kind, "HEADING", "name", error, "hint"). A finding's text begins with the heading, which is
// also the verdict's word if there is one (judge/model/verdict.h). `error` is what the launch returns after the finding
// has stopped it. If the hint is "", core/finding_hint.cc chooses one for the case.
#define LOCKSTEP_FINDING_KINDS(X)                                                                                    \
  X(OutOfBounds, "BOUNDS", "out of bounds", IllegalAddress, "")                                                      \
  X(Misaligned, "BOUNDS", "misaligned address", MisalignedAddress,                                                   \
    "an access of N bytes needs an address that is a multiple of N: check casts to wider types and odd offsets")     \
  X(InvalidAddress, "BOUNDS", "invalid address", IllegalAddress, "") /* near no allocation, or the null pointer */   \
  X(Uninitialized, "UNINIT", "uninitialised read", IllegalAddress, "")                                               \
  X(Race, "RACE", "race", IllegalAddress, "")                                                                        \
  /* Lanes of a warp, or warps, disagree about a barrier; or nobody can complete it. The hardware would hang. */     \
  X(BarrierDivergence, "BARRIER", "barrier divergence", Timeout,                                                     \
    "every thread of the block that has not returned must reach the same __syncthreads()")                           \
  /* A .sync operation whose member mask is wrong. */                                                                \
  X(WarpSyncMismatch, "BARRIER", "wrong warp mask", Timeout,                                                         \
    "the mask of a _sync function must name exactly the lanes that execute it")                                      \
  /* A use of what a shuffle read from a lane that takes no part in it. */                                           \
  X(UndefinedShuffle, "BARRIER", "undefined shuffle", IllegalAddress,                                                \
    "what such a lane gives is undefined: let every lane of the warp come to the shuffle, with the neutral element " \
    "(0 for a sum) where it has none of its own, and leave behind the last shuffle")                                 \
  X(Trap, "CRASH", "trap", Trap, "")                                                                                 \
  X(Assert, "CRASH", "assertion failed", Assert,                                                                     \
    "the kernel's assert fails for this input: print the values it uses, from this one thread")                      \
  X(Timeout, "TIMEOUT", "timeout", Timeout,                                                                          \
    "is there a loop that never ends, or that runs far more often than it needs to?")                                \
  X(Unsupported, "UNSUPPORTED", "unsupported", Unsupported,                                                          \
    "the virtual GPU does not run this instruction; docs/reference/isa.md lists those that it does")                 \
  X(StackOverflow, "CRASH", "stack overflow", StackOverflow, "recursion this deep does not fit in a thread's stack") \
  X(IllegalInstruction, "CRASH", "illegal instruction", IllegalInstruction,                                          \
    "a GPU does not take the instruction so: do the copy's operands keep to what the PTX ISA asks of them?")

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
  const char* hint;
};

std::span<const FindingKindInfo> AllFindingKinds();
const FindingKindInfo& InfoOf(FindingKind kind);
inline std::string_view NameOf(FindingKind kind) { return InfoOf(kind).name; }  // "out of bounds"

}  // namespace lockstep::vgpu
