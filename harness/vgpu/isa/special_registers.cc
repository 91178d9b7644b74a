#include "vgpu/isa/special_registers.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "vgpu/core/row.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/engine.h"

namespace lockstep::vgpu {
namespace {

constexpr std::string_view kExplicitCluster = "%is_explicit_cluster";

// kValue(warp, lane) is the register's value; T is the type of the move's width.
template <typename T, auto kValue>
void MoveByLane(Warp& warp, const Insn& insn, LaneMask mask) {
  ForLanes<T>(warp, insn.row[0], mask, [&](int lane) { return static_cast<T>(kValue(warp, lane)); });
}

template <typename T, auto kValue>
void MoveUniform(Warp& warp, const Insn& insn, LaneMask mask) {
  const T value = static_cast<T>(kValue(warp));
  ForLanes<T>(warp, insn.row[0], mask, [value](int) { return value; });
}

struct SpecialRegister {
  Handler as16, as32, as64;  // by width of the move; null: not in this width
};

template <auto kValue>
SpecialRegister ByLane() {
  return {MoveByLane<uint16_t, kValue>, MoveByLane<uint32_t, kValue>, nullptr};
}
template <auto kValue>
SpecialRegister Uniform() {
  return {MoveUniform<uint16_t, kValue>, MoveUniform<uint32_t, kValue>, nullptr};
}
template <auto kValue>
SpecialRegister Uniform64() {
  return {nullptr, MoveUniform<uint32_t, kValue>, MoveUniform<uint64_t, kValue>};
}

const Dim3& BlockDim(const Warp& warp) { return warp.engine->launch().info.block; }
const Dim3& GridDim(const Warp& warp) { return warp.engine->launch().info.grid; }

// Own: the size of the block's own shared memory. Reserved: the start of the runtime's, which follows it, aligned; its
// second half belongs to cooperative groups.
uint32_t Own(const Warp& warp) { return warp.engine->launch().reserved_shared_offset; }
uint32_t Reserved(const Warp& warp) {
  constexpr uint32_t kAlignment = 16;
  return (Own(warp) + kAlignment - 1) / kAlignment * kAlignment;
}

// The part of each block's shared memory that an H100 reserves, and how much of that it uses.
constexpr uint32_t kSystemShared = 1024, kSystemSharedUsed = 288;

// %clock per instruction: deterministic, and always advancing. A warp that shares its SM issues every few clocks.
constexpr uint64_t kClocksAnInstruction = 4;
uint64_t Clock(const Warp& warp) {
  return warp.state->executed * kClocksAnInstruction + warp.state->slept + warp.engine->launch().stood_aside;
}

// %globaltimer in nanoseconds, at one per clock; each launch starts one millisecond after the previous one.
uint64_t GlobalTimer(const Warp& warp) { return (warp.engine->launch().info.ordinal + 1) * 1'000'000 + Clock(warp); }

// Cluster indices are relative to the grid's clusters.
Dim3 ClusterId(const Warp& warp) {
  const Dim3 &block = warp.block->id, &cluster = warp.engine->launch().cluster;
  return {block.x / cluster.x, block.y / cluster.y, block.z / cluster.z};
}
Dim3 ClusterCount(const Warp& warp) {
  const Dim3 &grid = GridDim(warp), &cluster = warp.engine->launch().cluster;
  return {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z};
}
Dim3 IdInCluster(const Warp& warp) {
  const Dim3 &block = warp.block->id, &cluster = warp.engine->launch().cluster;
  return {block.x % cluster.x, block.y % cluster.y, block.z % cluster.z};
}
const Dim3& ClusterDim(const Warp& warp) { return warp.engine->launch().cluster; }

void IsExplicitCluster(Warp& warp, const Insn& insn, LaneMask mask) {
  WritePredicate(warp, insn.row[0], warp.engine->launch().has_clusters ? kFullMask : 0, mask);
}

std::unordered_map<std::string_view, SpecialRegister> MakeTable() {
  using W = const Warp&;
  std::unordered_map<std::string_view, SpecialRegister> table = {
      {"%tid.x", ByLane<[](W w, int lane) { return w.state->thread_x[lane]; }>()},
      {"%tid.y", ByLane<[](W w, int lane) { return w.state->thread_y[lane]; }>()},
      {"%tid.z", ByLane<[](W w, int lane) { return w.state->thread_z[lane]; }>()},
      {"%laneid", ByLane<[](W, int lane) { return static_cast<uint32_t>(lane); }>()},
      {"%lanemask_eq", ByLane<[](W, int lane) { return uint32_t{1} << lane; }>()},
      {"%lanemask_lt", ByLane<[](W, int lane) { return (uint32_t{1} << lane) - 1; }>()},
      {"%lanemask_le", ByLane<[](W, int lane) { return (uint32_t{2} << lane) - 1; }>()},
      {"%lanemask_gt", ByLane<[](W, int lane) { return ~((uint32_t{2} << lane) - 1); }>()},
      {"%lanemask_ge", ByLane<[](W, int lane) { return ~((uint32_t{1} << lane) - 1); }>()},
      {"%ntid.x", Uniform<[](W w) { return BlockDim(w).x; }>()},
      {"%ntid.y", Uniform<[](W w) { return BlockDim(w).y; }>()},
      {"%ntid.z", Uniform<[](W w) { return BlockDim(w).z; }>()},
      {"%ctaid.x", Uniform<[](W w) { return w.block->id.x; }>()},
      {"%ctaid.y", Uniform<[](W w) { return w.block->id.y; }>()},
      {"%ctaid.z", Uniform<[](W w) { return w.block->id.z; }>()},
      {"%nctaid.x", Uniform<[](W w) { return GridDim(w).x; }>()},
      {"%nctaid.y", Uniform<[](W w) { return GridDim(w).y; }>()},
      {"%nctaid.z", Uniform<[](W w) { return GridDim(w).z; }>()},
      {"%warpid", Uniform<[](W w) { return w.index; }>()},
      {"%nwarpid", Uniform<[](W w) { return w.engine->launch().warps_per_sm; }>()},
      {"%smid", Uniform<[](W w) { return w.block->index % w.engine->launch().sm_count; }>()},
      {"%nsmid", Uniform<[](W w) { return w.engine->launch().sm_count; }>()},
      {"%gridid", Uniform64<[](W w) { return w.engine->launch().info.ordinal; }>()},
      {"%clock", Uniform<[](W w) { return Clock(w); }>()},
      {"%clock_hi", Uniform<[](W w) { return (Clock(w) >> 32); }>()},
      {"%clock64", Uniform64<[](W w) { return Clock(w); }>()},
      {"%globaltimer", Uniform64<[](W w) { return GlobalTimer(w); }>()},
      {"%globaltimer_lo", Uniform<[](W w) { return GlobalTimer(w); }>()},
      {"%globaltimer_hi", Uniform<[](W w) { return (GlobalTimer(w) >> 32); }>()},
      {"%clusterid.x", Uniform<[](W w) { return ClusterId(w).x; }>()},
      {"%clusterid.y", Uniform<[](W w) { return ClusterId(w).y; }>()},
      {"%clusterid.z", Uniform<[](W w) { return ClusterId(w).z; }>()},
      {"%nclusterid.x", Uniform<[](W w) { return ClusterCount(w).x; }>()},
      {"%nclusterid.y", Uniform<[](W w) { return ClusterCount(w).y; }>()},
      {"%nclusterid.z", Uniform<[](W w) { return ClusterCount(w).z; }>()},
      {"%cluster_ctaid.x", Uniform<[](W w) { return IdInCluster(w).x; }>()},
      {"%cluster_ctaid.y", Uniform<[](W w) { return IdInCluster(w).y; }>()},
      {"%cluster_ctaid.z", Uniform<[](W w) { return IdInCluster(w).z; }>()},
      {"%cluster_nctaid.x", Uniform<[](W w) { return ClusterDim(w).x; }>()},
      {"%cluster_nctaid.y", Uniform<[](W w) { return ClusterDim(w).y; }>()},
      {"%cluster_nctaid.z", Uniform<[](W w) { return ClusterDim(w).z; }>()},
      {"%cluster_ctarank", Uniform<[](W w) { return RankOf(*w.block); }>()},
      {"%cluster_nctarank", Uniform<[](W w) { return ClusterDim(w).Count(); }>()},
      {"%current_graph_exec", Uniform64<[](W w) { return w.engine->launch().info.current_graph; }>()},
      {"%total_smem_size", Uniform<[](W w) { return (Reserved(w) + 127) / 128 * 128; }>()},
      {"%aggr_smem_size", Uniform<[](W w) { return kSystemShared + Own(w); }>()},
      {"%dynamic_smem_size", Uniform<[](W w) { return Own(w) - w.engine->launch().dynamic_shared_offset; }>()},
      {"%reserved_smem_offset_begin", Uniform<[](W) { return 0; }>()},
      {"%reserved_smem_offset_0", Uniform<[](W w) { return Reserved(w); }>()},
      {"%reserved_smem_offset_1", Uniform<[](W w) { return Reserved(w) + 512; }>()},
      {"%reserved_smem_offset_end", Uniform<[](W) { return kSystemSharedUsed; }>()},
      {"%reserved_smem_offset_cap", Uniform<[](W) { return kSystemShared; }>()},
      // Address of the grid barrier in a cooperative launch: 64 bits in two halves.
      {"%envreg1", Uniform<[](W w) { return (w.engine->launch().grid_workspace >> 32); }>()},
      {"%envreg2", Uniform<[](W w) { return w.engine->launch().grid_workspace; }>()},
      {"%envreg6", Uniform<[](W) { return 1; }>()},
      {"%envreg10", Uniform<[](W) { return kSystemSharedUsed; }>()},
  };
  // Zero: the driver's other registers, and event counters that are not set up.
  static const std::vector<std::string> zeros = [] {
    std::vector<std::string> names;
    for (int k = 0; k < 32; ++k) names.push_back("%envreg" + std::to_string(k));
    for (int k = 0; k < 8; ++k) {
      names.push_back("%pm" + std::to_string(k));
      names.push_back("%pm" + std::to_string(k) + "_64");
    }
    return names;
  }();
  for (const std::string& name : zeros) {
    table.try_emplace(name, name.ends_with("_64") ? Uniform64<[](W) { return 0; }>() : Uniform<[](W) { return 0; }>());
  }
  return table;
}

const std::unordered_map<std::string_view, SpecialRegister>& Table() {
  static const std::unordered_map<std::string_view, SpecialRegister> table = MakeTable();
  return table;
}

}  // namespace

Handler FindSpecialPredicate(std::string_view name) { return name == kExplicitCluster ? IsExplicitCluster : nullptr; }

std::vector<std::string_view> SpecialRegisterNames() {
  std::vector<std::string_view> names{kExplicitCluster};
  for (const auto& [name, row] : Table()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

Handler FindSpecialRegister(std::string_view name, int element_bytes) {
  const auto found = Table().find(name);
  if (found == Table().end()) return nullptr;
  switch (element_bytes) {
    case 2:
      return found->second.as16;
    case 4:
      return found->second.as32;
    case 8:
      return found->second.as64;
    default:
      return nullptr;
  }
}

bool ReadsReservedShared(std::string_view name) {
  return name == "%reserved_smem_offset_0" || name == "%reserved_smem_offset_1";
}

bool ReadsClock(std::string_view name) { return name.starts_with("%clock") || name.starts_with("%globaltimer"); }

}  // namespace lockstep::vgpu
