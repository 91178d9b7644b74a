#include "vgpu/exec/block_replay.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/core/access_sample.h"
#include "vgpu/core/insn_class.h"
#include "vgpu/core/source_place.h"
#include "vgpu/core/symbol_name.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/engine.h"
#include "vgpu/memory/access_cost.h"
#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostKernels = 20, kMostTries = 10;  // tries: launches of any kernels, from the recorded one on
constexpr size_t kMostSteps = 3000, kMostNumbers = 40'000;

// Offsets in lane order; three or more with a constant step become [first offset, step].
Json Packed(const std::vector<int64_t>& offsets) {
  const int64_t step = offsets.size() > 2 ? offsets[1] - offsets[0] : 0;
  for (size_t k = 0; k < offsets.size(); ++k) {
    if (offsets.size() < 3 || offsets[k] != offsets[0] + static_cast<int64_t>(k) * step) return offsets;
  }
  return {offsets[0], step};
}

// A step is one warp on one source line, until it passes a barrier, jumps back, reaches another line, or its lanes
// diverge or reconverge.
class BlockReplay : public InstructionHook {
 public:
  // Only one engine of a launch runs the block; if the launch restarts, it has new engines.
  BlockReplay(Engine& engine, ReplayJob& job, std::vector<Insn>& code)
      : InstructionHook(engine.program(), code),
        job_(job),
        places_(program()),
        last_(engine.launch().info.warps_per_block) {
    const Program& code_of = engine.program();
    // Whether only __syncthreads() orders the warps: no polling, asynchronous copies, mbarriers or clusters; Note()
    // clears it at other barriers.
    job.json["by_barriers"] = !code_of.may_wait && !code_of.copies_async && !code_of.memory_barriers &&
                              engine.launch().info.cluster.Count() == 1;
    job.json["whole"] = true;
    job.json["steps"] = Json::array();
  }

  void Run(Warp& warp, LaneMask mask) override {
    const uint32_t pc = warp.pc - 1;
    if (warp.block->index == job_.block && !is_full_ && program().info[pc].counted) Note(warp, pc, mask);
    Execute(warp, pc, mask);
  }

 private:
  struct Last {  // a warp's last step
    size_t step = 0;
    uint32_t pc = 0;
    bool ended = true;
  };

  void Note(const Warp& warp, uint32_t pc, LaneMask mask) {
    const ptx::SourceLocation place = places_.Shown(pc);
    if (place.line == 0) return;
    Json& steps = job_.json["steps"];
    Last& last = last_[warp.index];
    if (last.ended || pc <= last.pc || steps[last.step][1] != place.file || steps[last.step][2] != place.line ||
        steps[last.step][3] != warp.active) {
      is_full_ = steps.size() >= kMostSteps || numbers_ >= kMostNumbers;
      job_.json["whole"] = !is_full_;
      if (is_full_) return;
      last = {steps.size(), pc, false};
      steps.push_back({warp.index, place.file, place.line, warp.active, 0, Json::array(), Json::array()});
    }
    last.pc = pc;
    Json& step = steps[last.step];
    if (program().code[pc].insn_class == InsnClass::kBarrier) {
      last.ended = true;
      step[4] = 1;
      // It must be "bar.sync 0" by all threads of the warp: no other barrier has a single operand.
      if (mask != warp.alive || !job_.listing.insns[pc].text.ends_with(" 0")) job_.json["by_barriers"] = false;
    }
    if (job_.listing.insns[pc].has_address) NoteAccess(warp, pc, mask, step);
  }

  // Adds an access to shared or global memory: its kind, bytes per lane, lanes, their offsets, cost and ideal cost.
  void NoteAccess(const Warp& warp, uint32_t pc, LaneMask mask, Json& step) {
    const ListedInsn& listed = job_.listing.insns[pc];
    const InsnClass kind = program().code[pc].insn_class;
    uint64_t bytes = 0;
    for (const ListedRegister& one : kind == InsnClass::kStore ? listed.stores : listed.writes) {
      bytes += ptx::SizeOf(one.type);
    }
    if (bytes == 0) bytes = sizeof(uint32_t);  // an atomic whose result nobody takes
    const AccessKind access = kind == InsnClass::kAtomic  ? AccessKind::kAtomic
                              : kind == InsnClass::kStore ? AccessKind::kStore
                                                          : AccessKind::kLoad;
    for (const MemorySpace wanted : {MemorySpace::kShared, MemorySpace::kGlobal}) {
      const bool is_shared = wanted == MemorySpace::kShared;
      AccessSample sample;
      std::vector<int64_t> offsets;
      for (LaneMask left = mask; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const auto [space, address] = AccessOf(warp, program(), listed, pc, lane);
        if (space != wanted || (is_shared && address >= warp.block->shared_bytes)) continue;
        sample.mask |= left & -left;
        sample.at[static_cast<size_t>(lane)] = address;
      }
      if (sample.mask == 0) continue;
      const uint64_t origin = is_shared ? 0 : OriginOf(sample);
      for (LaneMask left = sample.mask; left != 0; left &= left - 1) {
        offsets.push_back(static_cast<int64_t>(sample.at[static_cast<size_t>(std::countr_zero(left))] - origin));
      }
      PcMemory cost;
      (is_shared ? AddSharedCost : AddGlobalCost)(access, sample.at.data(), sample.mask, static_cast<int>(bytes), cost);
      Json packed = Packed(offsets);
      numbers_ += packed.size();
      step[is_shared ? 5 : 6].push_back({NameOf(access), bytes, sample.mask, std::move(packed),
                                         is_shared ? cost.wavefronts : cost.sectors,
                                         is_shared ? cost.wavefronts_ideal : cost.sectors_ideal});
    }
  }

  ReplayJob& job_;
  SourcePlaces places_;
  std::vector<Last> last_;  // by warp
  size_t numbers_ = 0;      // numbers that the recorded accesses take
  bool is_full_ = false;
};

}  // namespace

std::unique_ptr<InstructionHook> RecordBlock(Engine& engine, ReplayJob& job, std::vector<Insn>& code) {
  return std::make_unique<BlockReplay>(engine, job, code);
}

uint64_t ReplayLog::BlockOf(const LaunchInfo& info) const {
  const Dim3& grid = info.grid;
  if (!at) return block;
  const bool inside = at->x < grid.x && at->y < grid.y && at->z < grid.z;
  return inside ? at->x + uint64_t{grid.x} * (at->y + uint64_t{grid.y} * at->z) : 0;
}

bool ReplayLog::Wants(const LaunchInfo& info) const {
  const auto known = replays.find(info.program->kernel.mangled);
  if (BlockOf(info) >= info.grid.Count()) return false;
  if (known == replays.end()) return replays.size() < kMostKernels;
  return !known->second.has_findings && info.ordinal < known->second.launch + kMostTries;
}

void ReplayLog::Keep(ReplayJob job, bool has_findings) {
  job.has_findings = has_findings;
  const std::string name = job.mangled;
  if (!job.json["steps"].empty() && (has_findings || !replays.contains(name)))
    replays.insert_or_assign(name, std::move(job));
}

ReplayJob::ReplayJob(const LaunchInfo& info, uint64_t index, Listing list)
    : block(index), launch(info.ordinal), mangled(info.program->kernel.mangled), listing(std::move(list)) {
  const std::string kernel = info.kernel.substr(0, 200);
  json = {{"kernel", kernel}, {"launch", launch}, {"block", block}, {"bytes", info.shared_bytes}};
  json["what"] = "block " + PointText(Unflatten(index, info.grid)) + " of launch " + std::to_string(launch + 1) + ", " +
                 kernel + "<<<" + ShapeText(info.grid) + "," + ShapeText(info.block) + ">>>";
  json["files"] = info.program->files;
  json["variables"] = Json::array();
  for (const NamedRange& one : info.program->shared_variables) {
    json["variables"].push_back({VariableName(one.name), one.offset, one.bytes});
  }
}

}  // namespace lockstep::vgpu
