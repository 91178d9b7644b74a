// The device: which there are, what it can do, waiting for it, starting afresh.
#include <algorithm>
#include <cstring>

#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr int kWarpSize = 32;
constexpr int kConstantBytes = 64 << 10;
constexpr int kMaxGridX = 2147483647, kMaxGridYZ = 65535;
constexpr int kMaxBlockZ = 64;
constexpr int kTextureAlignment = 512, kTexturePitchAlignment = 32;
constexpr int kKilohertzInGigahertz = 1'000'000;

void RequireDevice(int device) { Require(device == 0, cudaErrorInvalidDevice); }

bool HasFeature(const DeviceProfile& profile, int major) { return profile.cc_major >= major; }

// Attributes of what the virtual GPU lacks (textures above all) are 0.
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
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrComputePreemptionSupported:
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

void FillProperties(Runtime& r, cudaDeviceProp* properties) {
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
  properties->asyncEngineCount = 1;
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
}

// Limits that a program may set and read back; the virtual GPU's own stack and heap grow as needed.
size_t& LimitOf(cudaLimit limit) {
  static size_t stack = 1024, printf_fifo = 8 << 20, heap = 8 << 20, fetch = 64, persisting = 0;
  switch (limit) {
    case cudaLimitStackSize:
      return stack;
    case cudaLimitPrintfFifoSize:
      return printf_fifo;
    case cudaLimitMallocHeapSize:
      return heap;
    case cudaLimitMaxL2FetchGranularity:
      return fetch;
    case cudaLimitPersistingL2CacheSize:
      return persisting;
    default:
      throw ApiError{cudaErrorUnsupportedLimit};
  }
}

unsigned& DeviceFlags() {
  static unsigned flags = cudaDeviceMapHost;
  return flags;
}

}  // namespace

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return Api("cudaGetDeviceCount", Faults::kNone, [&](Runtime&) {
    Require(count != nullptr, cudaErrorInvalidValue);
    *count = 1;
  });
}

cudaError_t cudaSetDevice(int device) {
  return Api("cudaSetDevice", Faults::kNone, [&](Runtime&) { RequireDevice(device); });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return Api("cudaInitDevice", [&](Runtime&) { RequireDevice(device); });
}

cudaError_t cudaGetDevice(int* device) {
  return Api("cudaGetDevice", Faults::kNone, [&](Runtime&) {
    Require(device != nullptr, cudaErrorInvalidValue);
    *device = 0;
  });
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  return Api("cudaChooseDevice", Faults::kNone, [&](Runtime&) {
    Require(device != nullptr && properties != nullptr, cudaErrorInvalidValue);
    *device = 0;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return Api("cudaSetDeviceFlags", [&](Runtime&) { DeviceFlags() = flags; });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return Api("cudaGetDeviceFlags", [&](Runtime&) {
    Require(flags != nullptr, cudaErrorInvalidValue);
    *flags = DeviceFlags();
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return Api("cudaGetDeviceProperties", Faults::kNone, [&](Runtime& r) {
    Require(properties != nullptr, cudaErrorInvalidValue);
    RequireDevice(device);
    FillProperties(r, properties);
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return Api("cudaDeviceGetAttribute", Faults::kNone, [&](Runtime& r) {
    Require(value != nullptr, cudaErrorInvalidValue);
    RequireDevice(device);
    *value = AttributeOf(r, attribute);
  });
}

cudaError_t cudaDeviceSynchronize() {
  return Api("cudaDeviceSynchronize", [](Runtime& r) { r.timeline().SynchronizeDevice(r.device()); });
}

cudaError_t cudaDeviceReset() {
  return Api("cudaDeviceReset", Faults::kNone, [](Runtime& r) { r.Reset(); });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return Api("cudaDeviceSetLimit", [&](Runtime&) { LimitOf(limit) = value; });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return Api("cudaDeviceGetLimit", [&](Runtime&) {
    Require(value != nullptr, cudaErrorInvalidValue);
    *value = LimitOf(limit);
  });
}

// Preferences that nothing in the model follows.
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return Api("cudaDeviceSetCacheConfig", [](Runtime&) {});
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return Api("cudaDeviceGetCacheConfig", [&](Runtime&) {
    Require(config != nullptr, cudaErrorInvalidValue);
    *config = cudaFuncCachePreferNone;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return Api("cudaDeviceGetStreamPriorityRange", [&](Runtime&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return Api("cudaDeviceCanAccessPeer", [&](Runtime&) {
    Require(can != nullptr, cudaErrorInvalidValue);
    RequireDevice(device);
    RequireDevice(peer);
    *can = 0;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return Api("cudaRuntimeGetVersion", Faults::kNone, [&](Runtime&) {
    Require(version != nullptr, cudaErrorInvalidValue);
    *version = CUDART_VERSION;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return Api("cudaDriverGetVersion", Faults::kNone, [&](Runtime&) {
    Require(version != nullptr, cudaErrorInvalidValue);
    *version = CUDART_VERSION;
  });
}

// vgpu-run decides what is profiled; the calls are accepted.
cudaError_t cudaProfilerStart() {
  return Api("cudaProfilerStart", [](Runtime&) {});
}
cudaError_t cudaProfilerStop() {
  return Api("cudaProfilerStop", [](Runtime&) {});
}

}  // extern "C"
