// Resident blocks of a kernel, from the device's model.
#include <algorithm>

#include "vgpu/cudart/launch_attributes.h"
#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/work.h"
#include "vgpu/model/capability.h"

using namespace lockstep::vgpu::cudart;
using lockstep::vgpu::DeviceProfile;
using lockstep::vgpu::KernelInfo;

namespace {

// Occupancy is 0 for a block whose memory exceeds both the default limit and that of cudaFuncSetAttribute; a lower
// limit set there is ignored.
uint64_t MostForOccupancy(Runtime& r, const Kernel& kernel, const KernelInfo& info) {
  const auto every = static_cast<uint64_t>(r.profile().shared_per_block);
  return std::max(MaxDynamicShared(r, kernel, info), every - std::min<uint64_t>(info.static_shared, every));
}

// The percentage of shared memory that a kernel wants: its preferred carveout, else by the cudaFuncCache preference of
// the kernel or else of the device. Negative: all of it.
int WantedCarveout(const Kernel& kernel) {
  if (kernel.preferred_carveout >= 0) return kernel.preferred_carveout;
  switch (kernel.cache != cudaFuncCachePreferNone ? kernel.cache : CacheConfig()) {
    case cudaFuncCachePreferL1:
      return 0;
    case cudaFuncCachePreferEqual:
      return 50;
    default:
      return -1;
  }
}

// The smallest shared-memory carveout that the kernel's preference allows and that holds a block.
uint64_t CarveoutOf(Runtime& r, const Kernel& kernel, uint64_t of_block) {
  const DeviceProfile& profile = r.profile();
  const lockstep::vgpu::ComputeCapability* const capability =
      lockstep::vgpu::FindCapability(profile.cc_major, profile.cc_minor);
  const auto all = static_cast<uint64_t>(profile.shared_per_sm);
  const int percent = WantedCarveout(kernel);
  if (percent < 0 || capability == nullptr || capability->carveouts_kb.size() < 2) return all;
  const double wanted = percent * 0.01 * profile.shared_per_sm;
  constexpr uint64_t kKibi = 1024;
  for (const int kb : capability->carveouts_kb) {
    const uint64_t bytes = static_cast<uint64_t>(kb) * kKibi;
    if (kb != 0 && static_cast<double>(bytes) >= wanted && bytes >= of_block) return bytes;
  }
  return all;
}

// Blocks that fit on a multiprocessor, with the shared-memory carveout preferred by the kernel.
int ResidentBlocks(Runtime& r, const Kernel& kernel, const KernelInfo& info, int threads, uint64_t dynamic) {
  const int blocks = r.backend().MaxBlocksPerSm(info, threads, dynamic);
  const DeviceProfile& profile = r.profile();
  if (WantedCarveout(kernel) < 0 || blocks == 0) return blocks;
  const auto unit = static_cast<uint64_t>(profile.shared_allocation_unit);
  const uint64_t of_block =
      RoundedUp(info.static_shared + dynamic + static_cast<uint64_t>(profile.shared_reserved_per_block), unit);
  return std::min<int>(blocks, static_cast<int>(CarveoutOf(r, kernel, of_block) / of_block));
}

// The blocks per cluster of a launch configuration; 0: no clusters. Throws the errors that the launch would return.
uint64_t ClusterOf(const Kernel& kernel, const KernelInfo& info, const cudaLaunchConfig_t& config, uint64_t most) {
  if (kernel.non_portable_cluster != 0) most = info.max_cluster;
  const dim3& set = kernel.required_cluster;
  const lockstep::vgpu::Dim3 own = info.cluster.Count() != 0 ? info.cluster : lockstep::vgpu::Dim3{set.x, set.y, set.z};
  lockstep::vgpu::Dim3 cluster = own;
  Require(own.Count() != 0 || (own.x == 0 && own.y == 0 && own.z == 0), cudaErrorInvalidClusterSize);
  for (unsigned k = 0; k < config.numAttrs; ++k) {
    const cudaLaunchAttribute& each = config.attrs[k];
    if (each.id != cudaLaunchAttributeClusterDimension) continue;
    const lockstep::vgpu::Dim3 asked{each.val.clusterDim.x, each.val.clusterDim.y, each.val.clusterDim.z};
    if (asked.x == 0 && asked.y == 0 && asked.z == 0) continue;  // none
    Require(asked.Count() != 0 && asked.Count() <= most && (own.Count() == 0 || asked == own),
            cudaErrorInvalidClusterSize);
    cluster = asked;
  }
  const dim3& grid = config.gridDim;
  for (unsigned k = 0; k < config.numAttrs; ++k) {
    if (config.attrs[k].id != cudaLaunchAttributePreferredClusterDimension) continue;
    const auto& [x, y, z] = config.attrs[k].val.preferredClusterDim;
    CheckPreferred({cluster.x, cluster.y, cluster.z}, grid, {x, y, z});
  }
  if (cluster.Count() == 0) return 0;
  Require(grid.x % cluster.x == 0 && grid.y % cluster.y == 0 && grid.z % cluster.z == 0, cudaErrorInvalidClusterSize);
  return cluster.Count();
}

// Common to both cluster queries: *answer = result(r, blocks per multiprocessor, blocks per cluster, most per cluster).
template <typename F>
cudaError_t AskClusters(const char* name, int* answer, const void* function, const cudaLaunchConfig_t* config,
                        const F& result) {
  return Api(name, [&](Runtime& r) {
    constexpr uint64_t kPortable = 8, kMost = 16;
    Kernel& kernel = r.KernelOf(function);
    r.RequireContext();
    Require(answer != nullptr && config != nullptr, cudaErrorInvalidValue);
    for (unsigned k = 0; k < config->numAttrs; ++k) {
      Require(CanSet(AttributeOwner::kLaunch, config->attrs[k].id), cudaErrorInvalidValue);
    }
    for (unsigned k = 0; k < config->numAttrs; ++k) {
      const auto& [x, y, z] = config->attrs[k].val.clusterDim;
      const bool is_none = (x == 0 && y == 0 && z == 0) || (x != 0 && y != 0 && z != 0);
      Require(config->attrs[k].id != cudaLaunchAttributeClusterDimension || is_none, cudaErrorInvalidClusterSize);
    }
    const dim3 &grid = config->gridDim, &block = config->blockDim;
    Require(grid.x > 0 && grid.y > 0 && grid.z > 0, cudaErrorInvalidValue);
    const KernelInfo& info = r.InfoOf(kernel);
    const uint64_t most = kernel.non_portable_cluster != 0 ? kMost : kPortable;
    for (unsigned k = 0; k < config->numAttrs; ++k) {
      CheckAttribute(AttributeOwner::kLaunch, config->attrs[k].id, config->attrs[k].val);
    }
    const uint64_t cluster = ClusterOf(kernel, info, *config, most);
    Require(block.x > 0 && block.y > 0 && block.z > 0, cudaErrorInvalidValue);
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    const size_t shared = config->dynamicSmemBytes;
    constexpr uint32_t kMostThreads = 1024;  // even if the kernel's own limit is lower
    KernelInfo any_block = info;
    any_block.max_threads = kMostThreads;
    const bool fits = threads > 0 && threads <= kMostThreads && shared <= MostForOccupancy(r, kernel, info);
    // A multiprocessor takes at most eight blocks of clusters.
    const int blocks = fits ? std::min(ResidentBlocks(r, kernel, any_block, static_cast<int>(threads), shared), 8) : 0;
    *answer = static_cast<int>(result(r, static_cast<uint64_t>(blocks), cluster, most));
  });
}

}  // namespace

extern "C" {

// Clusters of more than two blocks stay within a part of the chip (GPC), and can use 124 of the 132 multiprocessors of
// the H100 measured: six GPCs of 16 and two of 14. On other H100s the sizes of GPCs differ.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const cudaLaunchConfig_t* config) {
  return AskClusters("cudaOccupancyMaxActiveClusters", clusters, function, config,
                     [](Runtime& r, uint64_t blocks, uint64_t cluster, uint64_t) -> uint64_t {
                       if (cluster == 0) return 0;
                       const auto all = static_cast<uint64_t>(r.profile().sm_count);
                       if (cluster <= 2) return all * blocks / cluster;
                       constexpr uint64_t kParts[] = {16, 16, 16, 16, 16, 16, 14, 14};
                       uint64_t sum = 0;
                       for (const uint64_t part : kParts) sum += part * blocks / cluster;
                       return sum;
                     });
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function, const cudaLaunchConfig_t* config) {
  return AskClusters("cudaOccupancyMaxPotentialClusterSize", size, function, config,
                     [](Runtime&, uint64_t blocks, uint64_t, uint64_t most) { return blocks == 0 ? 0 : most; });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t dynamic_shared, unsigned flags) {
  return Api("cudaOccupancyMaxActiveBlocksPerMultiprocessor", Faults::kIgnores, [&](Runtime& r) {
    Require(blocks != nullptr, cudaErrorInvalidValue);
    r.KernelOf(function);
    Require(threads > 0, cudaErrorInvalidValue);
    Require(flags == cudaOccupancyDefault || flags == cudaOccupancyDisableCachingOverride, cudaErrorInvalidValue);
    Kernel& kernel = r.KernelOf(function);
    const auto& info = r.InfoOf(kernel);
    const bool possible = (dynamic_shared & UINT32_MAX) <= MostForOccupancy(r, kernel, info);
    *blocks = possible ? ResidentBlocks(r, kernel, info, threads, dynamic_shared & UINT32_MAX) : 0;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t dynamic_shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_shared,
                                                                cudaOccupancyDefault);
}

// The most dynamic shared memory with which that many blocks still fit.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks, int threads) {
  return Api("cudaOccupancyAvailableDynamicSMemPerBlock", Faults::kIgnores, [&](Runtime& r) {
    Require(bytes != nullptr, cudaErrorInvalidValue);
    r.KernelOf(function);
    Require(blocks > 0 && threads > 0, cudaErrorInvalidValue);
    Kernel& kernel = r.KernelOf(function);
    const auto& info = r.InfoOf(kernel);
    Require(ResidentBlocks(r, kernel, info, threads, 0) >= blocks, cudaErrorInvalidValue);
    // Each block gets an equal share, in whole units. As on a GPU, the part reserved in each block is not subtracted. A
    // single block gets all, whatever carveout the kernel prefers.
    const uint64_t all = blocks == 1 ? static_cast<uint64_t>(r.profile().shared_per_sm) : CarveoutOf(r, kernel, 0);
    const auto unit = static_cast<uint64_t>(r.profile().shared_allocation_unit);
    const uint64_t share = all / static_cast<uint64_t>(blocks) / unit * unit;
    *bytes =
        std::min<uint64_t>(share - std::min<uint64_t>(share, info.static_shared), MaxDynamicShared(r, kernel, info));
  });
}

}  // extern "C"
