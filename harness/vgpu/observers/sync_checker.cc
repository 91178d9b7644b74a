// Finds barriers that warps reach at different places in the program.
//
// The hardware counts arrivals at barrier 0 wherever they come from, so a block whose warps wait at two different
// __syncthreads() continues; by the programming guide the behaviour is undefined. Barriers 1 to 15 are for warps with
// different roles and may be reached at different places. The engine itself finds divergence within a warp, barriers
// that cannot complete, wrong member masks, and shuffles from missing lanes.
#include <array>
#include <bit>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/core/hint.h"
#include "vgpu/observers/checkers.h"
#include "vgpu/observers/finding_table.h"

namespace lockstep::vgpu {
namespace {

class SyncChecker : public Checker {
 public:
  std::unique_ptr<Observer> Fork() const override { return std::make_unique<SyncChecker>(); }
  std::unique_ptr<Checker> Beside() const override { return std::make_unique<SyncChecker>(); }
  void Absorb(Observer& forked) override { findings_.Absorb(static_cast<SyncChecker&>(forked).findings_); }

  bool WatchesMemory() const override { return false; }
  bool ChecksShuffles() const override { return true; }
  void OnLaunchEnd() override {
    meetings_.clear();
    last_ = nullptr;
  }
  void OnBlockEnd(uint32_t block_index) override {
    meetings_.erase(block_index);
    last_ = nullptr;
  }

  void OnBarrierArrive(const WarpEvent& event, uint32_t barrier) override {
    if (barrier != 0 || event.mask == 0) return;
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(event.mask));
    const Party party{event.block_index, event.warp_index * kWarpSize + lane, event.pc, AccessKind::kLoad};
    Meeting& meeting = MeetingOf(event.block_index);
    // Groups of one warp at different places are reported by the engine.
    const uint64_t warp = uint64_t{1} << (event.warp_index % 64);
    if (meeting.warps & warp) return;
    meeting.warps |= warp;
    if (meeting.parties == 0) {
      meeting.party[0] = party;
      meeting.parties = 1;
    } else if (meeting.parties == 1 && meeting.party[0].pc != event.pc) {
      meeting.party[1] = party;
      meeting.parties = 2;
    }
  }

  void OnBarrierComplete(uint32_t block_index, uint32_t barrier, uint64_t /*warps*/) override {
    if (barrier != 0) return;
    Meeting& meeting = MeetingOf(block_index);
    if (meeting.parties == 2) {
      RawFinding finding;
      finding.kind = FindingKind::kBarrierDivergence;
      // Either may have come first; the message shows the upper one first.
      const bool in_order = meeting.party[0].pc < meeting.party[1].pc;
      finding.first = meeting.party[in_order ? 0 : 1];
      finding.has_second = true;
      finding.second = meeting.party[in_order ? 1 : 0];
      finding.detail = "threads of one block waited at different __syncthreads()";
      finding.hint = Hint::kSameBarriers;
      findings_.Add(finding);
    }
    meeting.parties = 0;
    meeting.warps = 0;
  }

  const FindingTable& findings() const override { return findings_; }
  std::vector<RawFinding> TakeFindings() override { return findings_.Take(); }

 private:
  // The first to arrive, and the first to arrive at a different place.
  struct Meeting {
    int parties = 0;
    uint64_t warps = 0;  // warps that have arrived
    std::array<Party, 2> party;
  };
  Meeting& MeetingOf(uint32_t block_index) {
    if (last_ == nullptr || last_index_ != block_index) {
      last_ = &meetings_[block_index];
      last_index_ = block_index;
    }
    return *last_;
  }

  std::unordered_map<uint32_t, Meeting> meetings_;
  Meeting* last_ = nullptr;  // the one looked up last
  uint32_t last_index_ = 0;
  FindingTable findings_;
};

}  // namespace

std::unique_ptr<Checker> MakeSyncChecker() { return std::make_unique<SyncChecker>(); }

}  // namespace lockstep::vgpu
