// A device's capabilities: attributes and properties from its profile; kernels' queries.
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>

#include "vgpu/cudart/graph.h"
#include "vgpu/cudart/memory.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr int kWarpSize = 32;
constexpr int kConstantBytes = 64 << 10;
constexpr int kMaxGridX = 2147483647, kMaxGridYZ = 65535;
constexpr int kMaxBlockZ = 64;
constexpr int kTextureAlignment = 512, kTexturePitchAlignment = 32;
constexpr int kKilohertzInGigahertz = 1'000'000;

bool HasFeature(const DeviceProfile& profile, int major) { return profile.cc_major >= major; }

// Attributes of compute capability 9.0 that profiles lack, as recorded on a Hopper (harness/dev/conformance). Other
// devices report 0.
struct Recorded {
  int attribute, value;
};
constexpr Recorded kHopper[] = {
    {21, 131072},     // cudaDevAttrMaxTexture1DWidth
    {22, 131072},     // cudaDevAttrMaxTexture2DWidth
    {23, 65536},      // cudaDevAttrMaxTexture2DHeight
    {24, 16384},      // cudaDevAttrMaxTexture3DWidth
    {25, 16384},      // cudaDevAttrMaxTexture3DHeight
    {26, 16384},      // cudaDevAttrMaxTexture3DDepth
    {27, 32768},      // cudaDevAttrMaxTexture2DLayeredWidth
    {28, 32768},      // cudaDevAttrMaxTexture2DLayeredHeight
    {29, 2048},       // cudaDevAttrMaxTexture2DLayeredLayers
    {30, 512},        // cudaDevAttrSurfaceAlignment
    {32, 1},          // cudaDevAttrEccEnabled
    {42, 32768},      // cudaDevAttrMaxTexture1DLayeredWidth
    {43, 2048},       // cudaDevAttrMaxTexture1DLayeredLayers
    {44, 1},          // CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER
    {45, 32768},      // cudaDevAttrMaxTexture2DGatherWidth
    {46, 32768},      // cudaDevAttrMaxTexture2DGatherHeight
    {47, 8192},       // cudaDevAttrMaxTexture3DWidthAlt
    {48, 8192},       // cudaDevAttrMaxTexture3DHeightAlt
    {49, 32768},      // cudaDevAttrMaxTexture3DDepthAlt
    {52, 32768},      // cudaDevAttrMaxTextureCubemapWidth
    {53, 32768},      // cudaDevAttrMaxTextureCubemapLayeredWidth
    {54, 2046},       // cudaDevAttrMaxTextureCubemapLayeredLayers
    {55, 32768},      // cudaDevAttrMaxSurface1DWidth
    {56, 131072},     // cudaDevAttrMaxSurface2DWidth
    {57, 65536},      // cudaDevAttrMaxSurface2DHeight
    {58, 16384},      // cudaDevAttrMaxSurface3DWidth
    {59, 16384},      // cudaDevAttrMaxSurface3DHeight
    {60, 16384},      // cudaDevAttrMaxSurface3DDepth
    {61, 32768},      // cudaDevAttrMaxSurface1DLayeredWidth
    {62, 2048},       // cudaDevAttrMaxSurface1DLayeredLayers
    {63, 32768},      // cudaDevAttrMaxSurface2DLayeredWidth
    {64, 32768},      // cudaDevAttrMaxSurface2DLayeredHeight
    {65, 2048},       // cudaDevAttrMaxSurface2DLayeredLayers
    {66, 32768},      // cudaDevAttrMaxSurfaceCubemapWidth
    {67, 32768},      // cudaDevAttrMaxSurfaceCubemapLayeredWidth
    {68, 2046},       // cudaDevAttrMaxSurfaceCubemapLayeredLayers
    {69, 268435456},  // cudaDevAttrMaxTexture1DLinearWidth
    {70, 131072},     // cudaDevAttrMaxTexture2DLinearWidth
    {71, 65000},      // cudaDevAttrMaxTexture2DLinearHeight
    {72, 2097120},    // cudaDevAttrMaxTexture2DLinearPitch
    {73, 32768},      // cudaDevAttrMaxTexture2DMipmappedWidth
    {74, 32768},      // cudaDevAttrMaxTexture2DMipmappedHeight
    {77, 32768},      // cudaDevAttrMaxTexture1DMipmappedWidth
    {91, 1},          // cudaDevAttrCanUseHostPointerForRegisteredMem
    {96, 1},          // CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH
    {102, 1},         // CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED
    {103, 1},         // CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
    {107, 1},         // CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED
    {110, 1},         // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED
    {112, 1},         // cudaDevAttrSparseCudaArraySupported
    {113, 1},         // cudaDevAttrHostRegisterReadOnlySupported
    {114, 1},         // cudaDevAttrTimelineSemaphoreInteropSupported
    {116, 1},         // cudaDevAttrGPUDirectRDMASupported
    {117, 1},         // cudaDevAttrGPUDirectRDMAFlushWritesOptions
    {118, 100},       // cudaDevAttrGPUDirectRDMAWritesOrdering
    {119, 9},         // cudaDevAttrMemoryPoolSupportedHandleTypes
    {120, 1},         // cudaDevAttrClusterLaunch
    {121, 1},         // cudaDevAttrDeferredMappingCudaArraySupported
    {122, 1},         // CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS
    {123, 1},         // CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR
    {124, 1},         // CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED
    {125, 1},         // cudaDevAttrIpcEventSupport
    {126, 4},         // cudaDevAttrMemSyncDomainCount
    {127, 1},         // CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED
    {128, 1},         // CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED
    {129, 1},         // CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS
    {131, -1},        // cudaDevAttrNumaId
    {141, 1},         // CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    {142, 1},         // cudaDevAttrHostNumaMemoryPoolsSupported
    {144, 1},         // cudaDevAttrHostMemoryPoolsSupported
    {145, 1},         // CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
};
constexpr int kLastAttribute = 147;

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a case for each attribute
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
      return p.cc_major == 9 ? 3 : p.copy_engines;  // 3 as on a Hopper, though the model has only 2
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
    // The next two: an H200's maxima for persisting L2 accesses, which don't affect the model.
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
    case cudaDevAttrPciBusId:
      return PciBusOf(r.device());
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return p.shared_reserved_per_block;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return std::max(1, static_cast<int>(p.cycles_per_float64 * p.issue_per_clock));
    default:
      Require(attribute >= cudaDevAttrMaxThreadsPerBlock && attribute <= kLastAttribute, cudaErrorInvalidValue);
      if (p.cc_major != 9) return 0;
      for (const Recorded& each : kHopper) {
        if (each.attribute == static_cast<int>(attribute)) return each.value;
      }
      return 0;
  }
}

namespace {

// A field of the properties, and the equivalent attribute.
template <typename T>
struct Field {
  T cudaDeviceProp::* field;
  cudaDeviceAttr attribute;
};
constexpr auto kUnifiedFunctionPointers = static_cast<cudaDeviceAttr>(129);
constexpr Field<int> kIntegers[] = {
    {&cudaDeviceProp::regsPerBlock, cudaDevAttrMaxRegistersPerBlock},
    {&cudaDeviceProp::warpSize, cudaDevAttrWarpSize},
    {&cudaDeviceProp::pciBusID, cudaDevAttrPciBusId},
    {&cudaDeviceProp::maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock},
    {&cudaDeviceProp::major, cudaDevAttrComputeCapabilityMajor},
    {&cudaDeviceProp::minor, cudaDevAttrComputeCapabilityMinor},
    {&cudaDeviceProp::multiProcessorCount, cudaDevAttrMultiProcessorCount},
    {&cudaDeviceProp::integrated, cudaDevAttrIntegrated},
    {&cudaDeviceProp::canMapHostMemory, cudaDevAttrCanMapHostMemory},
    {&cudaDeviceProp::maxTexture1D, cudaDevAttrMaxTexture1DWidth},
    {&cudaDeviceProp::maxTexture1DMipmap, cudaDevAttrMaxTexture1DMipmappedWidth},
    {&cudaDeviceProp::maxTextureCubemap, cudaDevAttrMaxTextureCubemapWidth},
    {&cudaDeviceProp::maxSurface1D, cudaDevAttrMaxSurface1DWidth},
    {&cudaDeviceProp::maxSurfaceCubemap, cudaDevAttrMaxSurfaceCubemapWidth},
    {&cudaDeviceProp::concurrentKernels, cudaDevAttrConcurrentKernels},
    {&cudaDeviceProp::ECCEnabled, cudaDevAttrEccEnabled},
    {&cudaDeviceProp::asyncEngineCount, cudaDevAttrAsyncEngineCount},
    {&cudaDeviceProp::unifiedAddressing, cudaDevAttrUnifiedAddressing},
    {&cudaDeviceProp::memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth},
    {&cudaDeviceProp::l2CacheSize, cudaDevAttrL2CacheSize},
    {&cudaDeviceProp::persistingL2CacheMaxSize, cudaDevAttrMaxPersistingL2CacheSize},
    {&cudaDeviceProp::maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor},
    {&cudaDeviceProp::streamPrioritiesSupported, cudaDevAttrStreamPrioritiesSupported},
    {&cudaDeviceProp::globalL1CacheSupported, cudaDevAttrGlobalL1CacheSupported},
    {&cudaDeviceProp::localL1CacheSupported, cudaDevAttrLocalL1CacheSupported},
    {&cudaDeviceProp::regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor},
    {&cudaDeviceProp::managedMemory, cudaDevAttrManagedMemory},
    {&cudaDeviceProp::concurrentManagedAccess, cudaDevAttrConcurrentManagedAccess},
    {&cudaDeviceProp::computePreemptionSupported, cudaDevAttrComputePreemptionSupported},
    {&cudaDeviceProp::canUseHostPointerForRegisteredMem, cudaDevAttrCanUseHostPointerForRegisteredMem},
    {&cudaDeviceProp::cooperativeLaunch, cudaDevAttrCooperativeLaunch},
    {&cudaDeviceProp::maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor},
    {&cudaDeviceProp::accessPolicyMaxWindowSize, cudaDevAttrMaxAccessPolicyWindowSize},
    {&cudaDeviceProp::hostRegisterSupported, cudaDevAttrHostRegisterSupported},
    {&cudaDeviceProp::sparseCudaArraySupported, cudaDevAttrSparseCudaArraySupported},
    {&cudaDeviceProp::hostRegisterReadOnlySupported, cudaDevAttrHostRegisterReadOnlySupported},
    {&cudaDeviceProp::timelineSemaphoreInteropSupported, cudaDevAttrTimelineSemaphoreInteropSupported},
    {&cudaDeviceProp::memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported},
    {&cudaDeviceProp::gpuDirectRDMASupported, cudaDevAttrGPUDirectRDMASupported},
    {&cudaDeviceProp::gpuDirectRDMAWritesOrdering, cudaDevAttrGPUDirectRDMAWritesOrdering},
    {&cudaDeviceProp::deferredMappingCudaArraySupported, cudaDevAttrDeferredMappingCudaArraySupported},
    {&cudaDeviceProp::ipcEventSupported, cudaDevAttrIpcEventSupport},
    {&cudaDeviceProp::clusterLaunch, cudaDevAttrClusterLaunch},
    {&cudaDeviceProp::deviceNumaConfig, cudaDevAttrNumaConfig},
    {&cudaDeviceProp::deviceNumaId, cudaDevAttrNumaId},
    {&cudaDeviceProp::unifiedFunctionPointers, kUnifiedFunctionPointers},
};
constexpr Field<unsigned> kMasks[] = {
    {&cudaDeviceProp::gpuDirectRDMAFlushWritesOptions, cudaDevAttrGPUDirectRDMAFlushWritesOptions},
    {&cudaDeviceProp::memoryPoolSupportedHandleTypes, cudaDevAttrMemoryPoolSupportedHandleTypes},
};
constexpr Field<size_t> kSizes[] = {
    {&cudaDeviceProp::sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock},
    {&cudaDeviceProp::memPitch, cudaDevAttrMaxPitch},
    {&cudaDeviceProp::totalConstMem, cudaDevAttrTotalConstantMemory},
    {&cudaDeviceProp::textureAlignment, cudaDevAttrTextureAlignment},
    {&cudaDeviceProp::texturePitchAlignment, cudaDevAttrTexturePitchAlignment},
    {&cudaDeviceProp::surfaceAlignment, cudaDevAttrSurfaceAlignment},
    {&cudaDeviceProp::sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor},
    {&cudaDeviceProp::sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin},
    {&cudaDeviceProp::reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock},
};

}  // namespace

void FillProperties(Runtime& r, int device, cudaDeviceProp* properties) {
  const DeviceProfile& p = r.profile();
  const cudaDeviceProp before = std::exchange(*properties, {});
  std::copy_n(before.reserved, std::size(before.reserved), properties->reserved);
  std::strncpy(properties->name, p.name, sizeof properties->name - 1);
  properties->totalGlobalMem = static_cast<size_t>(p.memory_bytes);
  properties->pciBusID = device;
  const auto fill = [&](auto field, cudaDeviceAttr attribute) {
    auto& value = properties->*field;
    value = static_cast<std::remove_reference_t<decltype(value)>>(AttributeOf(r, attribute));
  };
  for (const auto& each : kIntegers) fill(each.field, each.attribute);
  for (const auto& each : kMasks) fill(each.field, each.attribute);
  for (const auto& each : kSizes) fill(each.field, each.attribute);
  // Fields with two or three numbers.
  const auto list = [&](int* to, std::initializer_list<cudaDeviceAttr> attributes) {
    for (const cudaDeviceAttr attribute : attributes) *to++ = AttributeOf(r, attribute);
  };
  list(properties->maxThreadsDim, {cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ});
  list(properties->maxGridSize, {cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ});
  list(properties->maxTexture2D, {cudaDevAttrMaxTexture2DWidth, cudaDevAttrMaxTexture2DHeight});
  list(properties->maxTexture2DMipmap, {cudaDevAttrMaxTexture2DMipmappedWidth, cudaDevAttrMaxTexture2DMipmappedHeight});
  list(properties->maxTexture2DLinear,
       {cudaDevAttrMaxTexture2DLinearWidth, cudaDevAttrMaxTexture2DLinearHeight, cudaDevAttrMaxTexture2DLinearPitch});
  list(properties->maxTexture2DGather, {cudaDevAttrMaxTexture2DGatherWidth, cudaDevAttrMaxTexture2DGatherHeight});
  list(properties->maxTexture3D,
       {cudaDevAttrMaxTexture3DWidth, cudaDevAttrMaxTexture3DHeight, cudaDevAttrMaxTexture3DDepth});
  list(properties->maxTexture3DAlt,
       {cudaDevAttrMaxTexture3DWidthAlt, cudaDevAttrMaxTexture3DHeightAlt, cudaDevAttrMaxTexture3DDepthAlt});
  list(properties->maxTexture1DLayered, {cudaDevAttrMaxTexture1DLayeredWidth, cudaDevAttrMaxTexture1DLayeredLayers});
  list(properties->maxTexture2DLayered, {cudaDevAttrMaxTexture2DLayeredWidth, cudaDevAttrMaxTexture2DLayeredHeight,
                                         cudaDevAttrMaxTexture2DLayeredLayers});
  list(properties->maxTextureCubemapLayered,
       {cudaDevAttrMaxTextureCubemapLayeredWidth, cudaDevAttrMaxTextureCubemapLayeredLayers});
  list(properties->maxSurface2D, {cudaDevAttrMaxSurface2DWidth, cudaDevAttrMaxSurface2DHeight});
  list(properties->maxSurface3D,
       {cudaDevAttrMaxSurface3DWidth, cudaDevAttrMaxSurface3DHeight, cudaDevAttrMaxSurface3DDepth});
  list(properties->maxSurface1DLayered, {cudaDevAttrMaxSurface1DLayeredWidth, cudaDevAttrMaxSurface1DLayeredLayers});
  list(properties->maxSurface2DLayered, {cudaDevAttrMaxSurface2DLayeredWidth, cudaDevAttrMaxSurface2DLayeredHeight,
                                         cudaDevAttrMaxSurface2DLayeredLayers});
  list(properties->maxSurfaceCubemapLayered,
       {cudaDevAttrMaxSurfaceCubemapLayeredWidth, cudaDevAttrMaxSurfaceCubemapLayeredLayers});
}

namespace {

// Runs f and returns the error it throws.
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
    return CodeOf([&] { *value = GetLimit(runtime(), static_cast<cudaLimit>(limit)); });
  };
  answers.most_dynamic_shared = [device](ModuleHandle module, const KernelInfo& info) {
    return runtime().MostDynamicShared(device, module, info);
  };
  answers.resident = [](const KernelInfo& info, int threads, uint64_t shared) {
    return runtime().backend().MaxBlocksPerSm(info, threads, shared);
  };
  answers.attributes = [](const KernelInfo& info) {
    Kernel plain;
    const cudaFuncAttributes all = AttributesOf(runtime(), plain, info);
    return std::string(reinterpret_cast<const char*>(&all), sizeof all);
  };
  answers.cache_config = [] { return static_cast<uint32_t>(CacheConfig()); };
  answers.set_condition = SetCondition;
  answers.launch_graph = AskForGraph;
  answers.most_pending = [] { return uint64_t{GetLimit(runtime(), cudaLimitDevRuntimePendingLaunchCount)}; };
  return answers;
}

}  // namespace lockstep::vgpu::cudart
