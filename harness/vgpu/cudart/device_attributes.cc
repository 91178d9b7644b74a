// What a device can do: attributes and properties, from its profile; what kernels may ask of it.
#include <algorithm>
#include <cstring>

#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr int kWarpSize = 32;
constexpr int kConstantBytes = 64 << 10;
constexpr int kMaxGridX = 2147483647, kMaxGridYZ = 65535;
constexpr int kMaxBlockZ = 64;
constexpr int kTextureAlignment = 512, kTexturePitchAlignment = 32;
constexpr int kKilohertzInGigahertz = 1'000'000;

bool HasFeature(const DeviceProfile& profile, int major) { return profile.cc_major >= major; }

// Attributes of what the virtual GPU lacks (textures above all) are 0.
}  // namespace

int AttributeOf(Runtime& r, cudaDeviceAttr attribute) {
  const DeviceProfile& p = r.profile();
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return p.max_threads_per_block;
    case cudaDevAttrMaxBlockDimZ:
      return kMaxBlockZ;
    case cudaDevAttrMaxGridDimX:
      return HasFeature(p, 3) ? kMaxGridX : kMaxGridYZ;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return kMaxGridYZ;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return p.shared_per_block;
    case cudaDevAttrTotalConstantMemory:
      return kConstantBytes;
    case cudaDevAttrWarpSize:
      return kWarpSize;
    case cudaDevAttrMaxPitch:
      return 2147483647;
    case cudaDevAttrMaxRegistersPerBlock:
      return p.registers_per_block;
    case cudaDevAttrClockRate:
      return static_cast<int>(p.clock_ghz * kKilohertzInGigahertz);
    case cudaDevAttrTextureAlignment:
      return kTextureAlignment;
    case cudaDevAttrTexturePitchAlignment:
      return kTexturePitchAlignment;
    case cudaDevAttrAsyncEngineCount:
      return p.copy_engines;
    case cudaDevAttrGpuOverlap:
      return p.copy_engines > 0 ? 1 : 0;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrMemoryPoolsSupported:
      return 1;
    case cudaDevAttrMultiProcessorCount:
      return p.sm_count;
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
      return r.backend().HostSeesDeviceMemory() ? 1 : 0;
    case cudaDevAttrComputeMode:
      return cudaComputeModeDefault;
    case cudaDevAttrMemoryClockRate:
      return static_cast<int>(p.memory_clock_ghz * kKilohertzInGigahertz);
    case cudaDevAttrGlobalMemoryBusWidth:
      return p.memory_bus_bits;
    case cudaDevAttrL2CacheSize:
      return p.l2_bytes;
    // What an H200 sets aside of its L2 at most, and the longest window: the model follows neither.
    case cudaDevAttrMaxPersistingL2CacheSize:
      return HasFeature(p, 8) ? p.l2_bytes / 8 * 5 : 0;
    case cudaDevAttrMaxAccessPolicyWindowSize:
      return HasFeature(p, 8) ? 128 << 20 : 0;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return p.max_threads_per_sm;
    case cudaDevAttrComputeCapabilityMajor:
      return p.cc_major;
    case cudaDevAttrComputeCapabilityMinor:
      return p.cc_minor;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return p.shared_per_sm;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return p.registers_per_sm;
    case cudaDevAttrCooperativeLaunch:
      return HasFeature(p, 6) ? 1 : 0;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return p.shared_per_block_optin;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return p.max_blocks_per_sm;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return p.shared_reserved_per_block;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return std::max(1, static_cast<int>(p.cycles_per_float64 * p.issue_per_clock));
    default:
      Require(attribute >= cudaDevAttrMaxThreadsPerBlock && attribute < cudaDevAttrMax, cudaErrorInvalidValue);
      return 0;
  }
}

void FillProperties(Runtime& r, int device, cudaDeviceProp* properties) {
  const DeviceProfile& p = r.profile();
  const auto attribute = [&](cudaDeviceAttr name) { return AttributeOf(r, name); };
  *properties = {};
  std::strncpy(properties->name, p.name, sizeof properties->name - 1);
  properties->totalGlobalMem = static_cast<size_t>(p.memory_bytes);
  properties->sharedMemPerBlock = static_cast<size_t>(p.shared_per_block);
  properties->regsPerBlock = p.registers_per_block;
  properties->warpSize = kWarpSize;
  properties->memPitch = static_cast<size_t>(attribute(cudaDevAttrMaxPitch));
  properties->maxThreadsPerBlock = p.max_threads_per_block;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = p.max_threads_per_block;
  properties->maxThreadsDim[2] = kMaxBlockZ;
  properties->maxGridSize[0] = attribute(cudaDevAttrMaxGridDimX);
  properties->maxGridSize[1] = properties->maxGridSize[2] = kMaxGridYZ;
  properties->totalConstMem = kConstantBytes;
  properties->major = p.cc_major;
  properties->minor = p.cc_minor;
  properties->textureAlignment = kTextureAlignment;
  properties->texturePitchAlignment = kTexturePitchAlignment;
  properties->multiProcessorCount = p.sm_count;
  properties->canMapHostMemory = attribute(cudaDevAttrCanMapHostMemory);
  properties->concurrentKernels = 1;
  properties->asyncEngineCount = p.copy_engines;
  properties->unifiedAddressing = 1;
  properties->memoryBusWidth = p.memory_bus_bits;
  properties->l2CacheSize = p.l2_bytes;
  properties->maxThreadsPerMultiProcessor = p.max_threads_per_sm;
  properties->streamPrioritiesSupported = 1;
  properties->globalL1CacheSupported = properties->localL1CacheSupported = 1;
  properties->sharedMemPerMultiprocessor = static_cast<size_t>(p.shared_per_sm);
  properties->regsPerMultiprocessor = p.registers_per_sm;
  properties->managedMemory = attribute(cudaDevAttrManagedMemory);
  properties->concurrentManagedAccess = attribute(cudaDevAttrConcurrentManagedAccess);
  properties->computePreemptionSupported = 1;
  properties->cooperativeLaunch = attribute(cudaDevAttrCooperativeLaunch);
  properties->sharedMemPerBlockOptin = static_cast<size_t>(p.shared_per_block_optin);
  properties->maxBlocksPerMultiProcessor = p.max_blocks_per_sm;
  properties->reservedSharedMemPerBlock = static_cast<size_t>(p.shared_reserved_per_block);
  properties->hostRegisterSupported = 1;
  properties->persistingL2CacheMaxSize = attribute(cudaDevAttrMaxPersistingL2CacheSize);
  properties->accessPolicyMaxWindowSize = attribute(cudaDevAttrMaxAccessPolicyWindowSize);
  properties->memoryPoolsSupported = 1;
  properties->pciBusID = device;
}

namespace {

// The error that f throws.
template <typename F>
uint32_t CodeOf(const F& f) {
  try {
    f();
  } catch (const ApiError& error) {
    return error.code;
  }
  return cudaSuccess;
}

}  // namespace

RuntimeAnswers AnswersFor(int device) {
  RuntimeAnswers answers;
  answers.device = device;
  answers.device_count = [] { return runtime().device_count(); };
  answers.error_name = [](uint32_t error) { return cudaGetErrorName(static_cast<cudaError_t>(error)); };
  answers.error_text = [](uint32_t error) { return cudaGetErrorString(static_cast<cudaError_t>(error)); };
  answers.attribute = [](int attribute, int of_device, int* value) {
    return CodeOf([&] {
      runtime().RequireDevice(of_device);
      *value = AttributeOf(runtime(), static_cast<cudaDeviceAttr>(attribute));
    });
  };
  answers.limit = [](uint32_t limit, uint64_t* value) {
    return CodeOf([&] { *value = LimitOf(static_cast<cudaLimit>(limit)); });
  };
  answers.most_dynamic_shared = [device](ModuleHandle module, const KernelInfo& info) {
    return runtime().MostDynamicShared(device, module, info);
  };
  answers.most_pending = [] { return uint64_t{LimitOf(cudaLimitDevRuntimePendingLaunchCount)}; };
  return answers;
}

}  // namespace lockstep::vgpu::cudart
