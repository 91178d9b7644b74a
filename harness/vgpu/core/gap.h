// A part of a check that was skipped to save memory or time. A program without findings may still have a fault there,
// so a report says so.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

// All gaps, one per row: X(kind, "what was not checked", "what to do").
#define LOCKSTEP_GAPS(X)                                                                                          \
  X(LateUses,                                                                                                     \
    "some loads whose values were used only after 262,144 further accesses were compared without the lanes that " \
    "used them so late",                                                                                          \
    "run it with a smaller input, or load these values nearer to where they are used")                            \
  X(SharedAccesses,                                                                                               \
    "a block's shared accesses between two barriers took more than 25 million records, and only the latest were " \
    "compared",                                                                                                   \
    "run it with a smaller input, or fewer iterations between two barriers")                                      \
  X(GlobalAccesses,                                                                                               \
    "the launch's global accesses took more than 17 million records: blocks that ran long after each other were " \
    "not compared",                                                                                               \
    "run it with a smaller input or a smaller grid")                                                              \
  X(Orders,                                                                                                       \
    "not all orders of warps and blocks were tried: the kernel calls malloc or launches kernels, more than "      \
    "512 MiB of device memory are allocated, or an order took too long",                                          \
    "run it with a smaller input")                                                                                \
  X(GlobalMemory, "the launch touched more global memory than the race checker can watch",                        \
    "run it with an input of at most 768 MiB, or 192 MiB where threads access single bytes")                      \
  X(SyncWords,                                                                                                    \
    "threads synchronised by more than 262,144 words, or more than 64 blocks read one of them: what such words "  \
    "order for some threads counted as ordered for all",                                                          \
    "run it with a smaller input or a smaller grid")                                                              \
  X(Operations, "more than 4,096 stream operations, or 16 million spans of memory, were pending at a time",       \
    "let the host wait for the streams now and then (cudaDeviceSynchronize), or run it with a smaller input")     \
  X(Footprint, "a kernel touched too much memory, or too scattered, to be compared with other streams",           \
    "run it with a smaller input")                                                                                \
  X(HostSources,                                                                                                  \
    "copies of more than 256 MiB in all from page-locked memory were pending: whether the host changed "          \
    "that memory too early was not checked",                                                                      \
    "let the host wait for the copies now and then, or run it with a smaller input")

enum class Gap : uint8_t {
#define LOCKSTEP_GAP(kind, what, remedy) k##kind,
  LOCKSTEP_GAPS(LOCKSTEP_GAP)
#undef LOCKSTEP_GAP
};

struct GapInfo {
  const char* what;
  const char* remedy;
};
inline const GapInfo& InfoOf(Gap gap) {
#define LOCKSTEP_GAP_INFO(kind, what, remedy) {what, remedy},
  static constexpr GapInfo kInfos[] = {LOCKSTEP_GAPS(LOCKSTEP_GAP_INFO)};
#undef LOCKSTEP_GAP_INFO
  return kInfos[static_cast<uint8_t>(gap)];
}
inline constexpr uint8_t kGaps = 0
#define LOCKSTEP_COUNT_GAP(kind, what, remedy) +1
    LOCKSTEP_GAPS(LOCKSTEP_COUNT_GAP);
#undef LOCKSTEP_COUNT_GAP

// A set of gaps.
class GapSet {
 public:
  void Add(Gap gap) { bits_ |= 1u << static_cast<uint8_t>(gap); }
  void Add(GapSet others) { bits_ |= others.bits_; }
  bool Has(Gap gap) const { return (bits_ >> static_cast<uint8_t>(gap) & 1) != 0; }
  bool empty() const { return bits_ == 0; }

 private:
  uint32_t bits_ = 0;
};

}  // namespace lockstep::vgpu
