// The accesses that shadow records refer to by number.
//
// A shadow record is one word: an access number and a lane. All accesses of one warp by one instruction between two of
// its synchronisations are equivalent for the checker, so they share a number. Numbers increase with time, so "older
// than the last barrier" is one comparison.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/core/finding.h"
#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {

// How an access takes part in synchronisation. MayMeet (race_rule.h) says which pairs never race. A volatile load whose
// value decides whether its thread keeps waiting counts as strong. kBlockStrong: global memory at block scope.
// kRelaxed: a relaxed load or store of shared memory that no thread waits on. kReads and kWrites: with
// LaunchInfo::strong_is_data, a strong access that only reads or only writes, and that no thread waits on.
enum class Strength : uint8_t { kPlain, kVolatile, kRelaxed, kReads, kWrites, kBlockStrong, kStrong };

struct Access {
  uint32_t block_index = 0;
  uint32_t time = 0;  // the warp's clock
  uint32_t pc = 0;
  uint8_t warp = 0;
  AccessKind kind = AccessKind::kLoad;
  Strength strength = Strength::kPlain;
};

using Record = uint32_t;  // access number * 32 + lane; 0: none
inline constexpr int kRecordLaneBits = 5;
inline Record MakeRecord(uint32_t access, uint32_t lane) { return access << kRecordLaneBits | lane; }
inline uint32_t AccessOf(Record record) { return record >> kRecordLaneBits; }
inline uint32_t LaneOf(Record record) { return record & (kWarpSize - 1); }

class AccessLog {
 public:
  // Access numbers must fit a record and a line's record (race_shadow.h). Up to a quarter of this limit the log only
  // forgets old accesses; above, numbering restarts. So three quarters are always available, and how far back a log
  // reaches does not depend on what came before. This also bounds the memory: 16 bytes per access.
  static constexpr uint32_t kMaximum = 1u << 25;
  static constexpr uint32_t kMost = kMaximum / 4 * 3;

  uint32_t next() const { return base_ + static_cast<uint32_t>(accesses_.size()); }
  size_t size() const { return accesses_.size(); }
  bool full() const { return accesses_.size() >= kMost; }
  // Numbering should restart at the next point where everything may be forgotten.
  bool late() const { return next() > kMaximum / 4; }
  const Access& operator[](uint32_t number) const { return accesses_[number - base_]; }
  uint32_t Add(const Access& access) {
    Access& added = accesses_.emplace_back();  // member by member, for the reason given in DeferredLoads
    added.block_index = access.block_index;
    added.time = access.time;
    added.pc = access.pc;
    added.warp = access.warp;
    added.kind = access.kind;
    added.strength = access.strength;
    return next() - 1;
  }
  // No record below next() will be looked up again.
  void Forget() {
    base_ = next();
    accesses_.clear();
  }
  // The same, and numbering restarts: only after shadow memory has been cleared.
  void Restart() {
    base_ = 1;
    accesses_.clear();
  }

 private:
  uint32_t base_ = 1;
  std::vector<Access> accesses_;
};

}  // namespace lockstep::vgpu
