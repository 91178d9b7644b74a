// The accesses that shadow memory refers to by number.
//
// A shadow record is one word: the number of an access and the lane. Accesses of one warp by one instruction between
// two of its synchronisations are alike for every question that is asked of them, so they share a number; numbers rise
// with time, so "older than the last barrier" is one comparison.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/core/finding.h"
#include "vgpu/core/insn.h"

namespace lockstep::vgpu {

// How an access takes part in synchronisation. MayMeet (race_rule.h) says which of two never race. A volatile
// load whose value decides whether its thread goes on waiting counts as strong. kBlockStrong: of global memory, at the
// scope of the block. kRelaxed: a relaxed load or store of shared memory on which nobody waits.
enum class Strength : uint8_t { kPlain, kVolatile, kRelaxed, kBlockStrong, kStrong };

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
  // What a record has room for, and a line's (race_shadow.h). A log forgets only while numbers are below a quarter of
  // it, or else starts again; so three quarters are always left, and how far a log reaches back does not hang on what
  // was before. That also bounds the memory: 16 bytes an access.
  static constexpr uint32_t kMaximum = 1u << 25;
  static constexpr uint32_t kMost = kMaximum / 4 * 3;

  uint32_t next() const { return base_ + static_cast<uint32_t>(accesses_.size()); }
  size_t size() const { return accesses_.size(); }
  bool full() const { return accesses_.size() >= kMost; }
  // It is time to start again, when all is forgotten.
  bool late() const { return next() > kMaximum / 4; }
  const Access& operator[](uint32_t number) const { return accesses_[number - base_]; }
  uint32_t Add(const Access& access) {
    Access& added = accesses_.emplace_back();  // member by member: as for DeferredLoads
    added.block_index = access.block_index;
    added.time = access.time;
    added.pc = access.pc;
    added.warp = access.warp;
    added.kind = access.kind;
    added.strength = access.strength;
    return next() - 1;
  }
  // No record below next() will be asked about again.
  void Forget() {
    base_ = next();
    accesses_.clear();
  }
  // The same, and the numbers start again: for shadow memory that has been cleared.
  void Restart() {
    base_ = 1;
    accesses_.clear();
  }

 private:
  uint32_t base_ = 1;
  std::vector<Access> accesses_;
};

}  // namespace lockstep::vgpu
