// Resident blocks of a kernel, from the device's model.
#include <algorithm>

#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/work.h"
#include "vgpu/model/capability.h"

using namespace lockstep::vgpu::cudart;
using lockstep::vgpu::DeviceProfile;
using lockstep::vgpu::KernelInfo;

namespace {

// Occupancy counts no block that asks for more than every kernel may have and more than cudaFuncSetAttribute has
// allowed; that it may have allowed less does not count.
uint64_t MostForOccupancy(Runtime& r, const Kernel& kernel, const KernelInfo& info) {
  const auto every = static_cast<uint64_t>(r.profile().shared_per_block);
  return std::max(MaxDynamicShared(r, kernel, info), every - std::min<uint64_t>(info.static_shared, every));
}

// Blocks that fit on a multiprocessor, with the share of its memory that the kernel's preference makes shared memory.
int ResidentBlocks(Runtime& r, const Kernel& kernel, const KernelInfo& info, int threads, uint64_t dynamic) {
  const int blocks = r.backend().MaxBlocksPerSm(info, threads, dynamic);
  const DeviceProfile& profile = r.profile();
  const lockstep::vgpu::ComputeCapability* const capability =
      lockstep::vgpu::FindCapability(profile.cc_major, profile.cc_minor);
  if (kernel.preferred_carveout < 0 || blocks == 0 || capability == nullptr || capability->carveouts_kb.size() < 2) {
    return blocks;
  }
  const auto unit = static_cast<uint64_t>(profile.shared_allocation_unit);
  const uint64_t of_block =
      RoundedUp(info.static_shared + dynamic + static_cast<uint64_t>(profile.shared_reserved_per_block), unit);
  const double wanted = kernel.preferred_carveout * 0.01 * profile.shared_per_sm;
  constexpr uint64_t kKibi = 1024;
  for (const int kb : capability->carveouts_kb) {
    const uint64_t bytes = static_cast<uint64_t>(kb) * kKibi;
    if (kb == 0 || static_cast<double>(bytes) < wanted || bytes < of_block) continue;
    return std::min<int>(blocks, static_cast<int>(bytes / of_block));
  }
  return blocks;
}

}  // namespace

extern "C" {

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
    Require(r.backend().MaxBlocksPerSm(info, threads, 0) >= blocks, cudaErrorInvalidValue);
    // An equal share of all, by whole units; what each block has reserved is not taken off, on a GPU neither.
    const auto all = static_cast<uint64_t>(r.profile().shared_per_sm);
    const auto unit = static_cast<uint64_t>(r.profile().shared_allocation_unit);
    const uint64_t share = all / static_cast<uint64_t>(blocks) / unit * unit;
    *bytes =
        std::min<uint64_t>(share - std::min<uint64_t>(share, info.static_shared), MaxDynamicShared(r, kernel, info));
  });
}

}  // extern "C"
