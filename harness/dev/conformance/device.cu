// What the device reports: properties, attributes, peers; and the errors for bad arguments.
#define CONFORMANCE_CLASS "device"
#include <cuda_profiler_api.h>

#include "ask.h"

namespace {

// Whether an attribute depends on the machine that the card is in.
bool OfTheMachine(int attribute) {
  for (int each : {33, 34, 50, 85, 134, 139, 140}) {
    if (attribute == each) return true;
  }
  return false;
}

void Properties() {
  cudaDeviceProp p;
  std::memset(&p, 0x77, sizeof p);
  Say("get", cudaGetDeviceProperties(&p, 0));
  // clang-format off
#define FIELD(name) Say(#name, p.name);
#define FIELDS(name, count) \
  for (int i = 0; i < count; ++i) Say(F(#name "%d", i), p.name[i]);
  Say("name", std::string(p.name));
  FIELD(luidDeviceNodeMask)
  FIELD(sharedMemPerBlock)
  FIELD(regsPerBlock) FIELD(warpSize) FIELD(memPitch) FIELD(maxThreadsPerBlock) FIELDS(maxThreadsDim, 3) FIELDS(
      maxGridSize, 3) FIELD(totalConstMem) FIELD(major) FIELD(minor) FIELD(textureAlignment)
      FIELD(texturePitchAlignment) FIELD(multiProcessorCount) FIELD(integrated) FIELD(canMapHostMemory)
          FIELD(maxTexture1D) FIELD(maxTexture1DMipmap) FIELDS(maxTexture2D, 2) FIELDS(maxTexture2DMipmap, 2) FIELDS(
              maxTexture2DLinear, 3) FIELDS(maxTexture2DGather, 2) FIELDS(maxTexture3D, 3) FIELDS(maxTexture3DAlt, 3)
              FIELD(maxTextureCubemap) FIELDS(maxTexture1DLayered, 2) FIELDS(maxTexture2DLayered, 3) FIELDS(
                  maxTextureCubemapLayered, 2) FIELD(maxSurface1D) FIELDS(maxSurface2D, 2) FIELDS(maxSurface3D, 3)
                  FIELDS(maxSurface1DLayered, 2) FIELDS(maxSurface2DLayered, 3) FIELD(maxSurfaceCubemap) FIELDS(
                      maxSurfaceCubemapLayered, 2) FIELD(surfaceAlignment) FIELD(concurrentKernels) FIELD(ECCEnabled)
                      FIELD(tccDriver) FIELD(asyncEngineCount) FIELD(unifiedAddressing) FIELD(memoryBusWidth)
                          FIELD(l2CacheSize) FIELD(persistingL2CacheMaxSize) FIELD(maxThreadsPerMultiProcessor) FIELD(
                              streamPrioritiesSupported) FIELD(globalL1CacheSupported) FIELD(localL1CacheSupported)
                              FIELD(sharedMemPerMultiprocessor) FIELD(regsPerMultiprocessor) FIELD(managedMemory) FIELD(
                                  isMultiGpuBoard) FIELD(hostNativeAtomicSupported) FIELD(pageableMemoryAccess)
                                  FIELD(concurrentManagedAccess) FIELD(computePreemptionSupported) FIELD(
                                      canUseHostPointerForRegisteredMem) FIELD(cooperativeLaunch)
                                      FIELD(sharedMemPerBlockOptin) FIELD(pageableMemoryAccessUsesHostPageTables) FIELD(
                                          directManagedMemAccessFromHost) FIELD(maxBlocksPerMultiProcessor)
                                          FIELD(accessPolicyMaxWindowSize) FIELD(reservedSharedMemPerBlock) FIELD(
                                              hostRegisterSupported) FIELD(sparseCudaArraySupported)
                                              FIELD(hostRegisterReadOnlySupported) FIELD(
                                                  timelineSemaphoreInteropSupported) FIELD(memoryPoolsSupported)
                                                  FIELD(gpuDirectRDMASupported) FIELD(gpuDirectRDMAFlushWritesOptions)
                                                      FIELD(gpuDirectRDMAWritesOrdering)
                                                          FIELD(memoryPoolSupportedHandleTypes)
                                                              FIELD(deferredMappingCudaArraySupported)
                                                                  FIELD(ipcEventSupported) FIELD(clusterLaunch) FIELD(
                                                                      unifiedFunctionPointers) FIELD(deviceNumaConfig)
                                                                      FIELD(deviceNumaId)
                                                                          FIELD(mpsEnabled)
                                                                              FIELD(hostNumaMultinodeIpcSupported)
// clang-format on
#undef FIELD
#undef FIELDS
                                                                                      CUdevprop old;
  std::memset(&old, 0x77, sizeof old);
  Say("drv_get", cuDeviceGetProperties(&old, 0));
  Say("drv_maxThreadsPerBlock", old.maxThreadsPerBlock);
  for (int i = 0; i < 3; ++i) Say(F("drv_maxThreadsDim%d", i), old.maxThreadsDim[i]);
  for (int i = 0; i < 3; ++i) Say(F("drv_maxGridSize%d", i), old.maxGridSize[i]);
  Say("drv_sharedMemPerBlock", old.sharedMemPerBlock);
  Say("drv_totalConstantMemory", old.totalConstantMemory);
  Say("drv_SIMDWidth", old.SIMDWidth);
  Say("drv_memPitch", old.memPitch);
  Say("drv_regsPerBlock", old.regsPerBlock);
  Say("drv_clockRate", old.clockRate);
  Say("drv_textureAlign", old.textureAlign);
}

void Attributes() {
  cuInit(0);
  for (int attribute = -1; attribute <= 160; ++attribute) {
    if (OfTheMachine(attribute)) continue;
    int value = -77;
    const cudaError_t error = cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(attribute), 0);
    Say(F("rt%d", attribute), F("%d %d", error, value));
    value = -77;
    const CUresult result = cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), 0);
    Say(F("drv%d", attribute), F("%d %d", result, value));
  }
  Say("last", cudaGetLastError());
}

void Arguments() {
  int value = 7, other = 7;
  size_t bytes = 7;
  char text[64] = "";
  cudaDeviceProp p;
  Say("count", cudaGetDeviceCount(nullptr));
  for (int device : {-1, 1, 2, 100}) {
    Say(F("set%d", device), cudaSetDevice(device));
    Say(F("props%d", device), cudaGetDeviceProperties(&p, device));
    Say(F("attr%d", device), cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, device));
    Say(F("drvattr%d", device), cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    Say(F("init%d", device), cudaInitDevice(device, 0, 0));
    Say(F("bus%d", device), cudaDeviceGetPCIBusId(text, 64, device));
    Say(F("peer%d", device), cudaDeviceCanAccessPeer(&value, 0, device));
    Say(F("peerof%d", device), cudaDeviceCanAccessPeer(&value, device, 0));
    Say(F("enable%d", device), cudaDeviceEnablePeerAccess(device, 0));
    Say(F("disable%d", device), cudaDeviceDisablePeerAccess(device));
    cudaMemPool_t pool = nullptr;
    Say(F("pool%d", device), cudaDeviceGetDefaultMemPool(&pool, device));
    Say(F("curpool%d", device), cudaDeviceGetMemPool(&pool, device));
    CUdevice dev = 7;
    Say(F("drvget%d", device), cuDeviceGet(&dev, device));
    Say(F("drvget%d_is", device), dev);
    Say(F("drvname%d", device), cuDeviceGetName(text, 64, device));
    Say(F("drvmem%d", device), cuDeviceTotalMem(&bytes, device));
    CUcontext context = nullptr;
    Say(F("retain%d", device), cuDevicePrimaryCtxRetain(&context, device));
    Say(F("release%d", device), cuDevicePrimaryCtxRelease(device));
    unsigned flags = 7;
    Say(F("state%d", device), cuDevicePrimaryCtxGetState(device, &flags, &value));
    Say(F("numafirst%d", device), cudaDeviceGetTexture1DLinearMaxWidth(&bytes, nullptr, device));
  }
  Say("props_null", cudaGetDeviceProperties(nullptr, 0));
  Say("attr_null", cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
  Say("get_null", cudaGetDevice(nullptr));
  Say("name_5", cuDeviceGetName(text, 5, 0));
  Say("name_5_is", std::string(text));
  Say("bus_0", cudaDeviceGetPCIBusId(text, 0, 0));
  Say("bus_null", cudaDeviceGetPCIBusId(nullptr, 64, 0));
  Say("bus_5", cudaDeviceGetPCIBusId(text, 5, 0));
  Say("bus_12", cudaDeviceGetPCIBusId(text, 12, 0));
  Say("bus_13", cudaDeviceGetPCIBusId(text, 13, 0));
  for (const char* id : {"", "x", "ffff:ff:1f.7", "0000:99:00.0", "99:0.0", "0000:99", "99:00"}) {
    Say(F("bybus'%s'", id), cudaDeviceGetByPCIBusId(&value, id));
    Say(F("drvbybus'%s'", id), cuDeviceGetByPCIBusId(&value, id));
  }
  Say("bybus_null", cudaDeviceGetByPCIBusId(&value, nullptr));
  Say("peer_self", cudaDeviceCanAccessPeer(&value, 0, 0));
  Say("peer_self_is", value);
  Say("peer_null", cudaDeviceCanAccessPeer(nullptr, 0, 0));
  Say("enable_self", cudaDeviceEnablePeerAccess(0, 0));
  Say("enable_flags", cudaDeviceEnablePeerAccess(0, 1));
  Say("disable_self", cudaDeviceDisablePeerAccess(0));
  for (int attribute = 0; attribute <= 6; ++attribute) {
    value = -77;
    Say(F("p2p%d", attribute), cudaDeviceGetP2PAttribute(&value, static_cast<cudaDeviceP2PAttr>(attribute), 0, 0));
    Say(F("p2p%d_01", attribute), cudaDeviceGetP2PAttribute(&value, static_cast<cudaDeviceP2PAttr>(attribute), 0, 1));
    Say(F("drvp2p%d", attribute), cuDeviceGetP2PAttribute(&value, static_cast<CUdevice_P2PAttribute>(attribute), 0, 0));
    Say(F("p2p%d_is", attribute), value);
  }
  int least = 7, greatest = 7;
  Say("priority", cudaDeviceGetStreamPriorityRange(&least, &greatest));
  Say("priority_least", least);
  Say("priority_greatest", greatest);
  Say("priority_null", cudaDeviceGetStreamPriorityRange(nullptr, nullptr));
  Say("choose", cudaChooseDevice(&value, &p));
  Say("choose_is", value);
  Say("choose_null", cudaChooseDevice(nullptr, &p));
  Say("choose_nullprop", cudaChooseDevice(&value, nullptr));
  int devices[] = {0, 1};
  Say("valid_0", cudaSetValidDevices(devices, 0));
  Say("valid_1", cudaSetValidDevices(devices, 1));
  Say("valid_2", cudaSetValidDevices(devices, 2));
  Say("valid_null", cudaSetValidDevices(nullptr, 1));
  Say("valid_neg", cudaSetValidDevices(devices, -1));
  for (int type = 0; type <= 5; ++type) {
    other = -77;
    Say(F("affinity%d", type), cuDeviceGetExecAffinitySupport(&other, static_cast<CUexecAffinityType>(type), 0));
    Say(F("affinity%d_is", type), other);
  }
  int version = 7;
  Say("runtime", cudaRuntimeGetVersion(&version));
  Say("runtime_is", version);
  Say("driver", cudaDriverGetVersion(&version));
  Say("driver_is", version);
  Say("runtime_null", cudaRuntimeGetVersion(nullptr));
  Say("driver_null", cudaDriverGetVersion(nullptr));
  Say("drvdriver_null", cuDriverGetVersion(nullptr));
  Say("flushrdma", cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice,
                                                      cudaFlushGPUDirectRDMAWritesToOwner));
  Say("drvflushrdma", cuFlushGPUDirectRDMAWrites(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                                 CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER));
  Say("resetl2", cudaCtxResetPersistingL2Cache());
  Say("profstart", cudaProfilerStart());
  Say("profstop", cudaProfilerStop());
}

void HostAtomics() {
  for (int operation = 0; operation <= 20; ++operation) {
    unsigned rt = 77, drv = 77, p2p = 77;
    const auto rt_operation = static_cast<cudaAtomicOperation>(operation);
    const auto drv_operation = static_cast<CUatomicOperation>(operation);
    Say(F("rt%d", operation), cudaDeviceGetHostAtomicCapabilities(&rt, &rt_operation, 1, 0));
    Say(F("rt%d_is", operation), rt);
    Say(F("drv%d", operation), cuDeviceGetHostAtomicCapabilities(&drv, &drv_operation, 1, 0));
    Say(F("drv%d_is", operation), drv);
    Say(F("p2p%d", operation), cudaDeviceGetP2PAtomicCapabilities(&p2p, &rt_operation, 1, 0, 0));
  }
  unsigned rt = 77;
  const auto add = static_cast<cudaAtomicOperation>(0);
  Say("count0", cudaDeviceGetHostAtomicCapabilities(&rt, &add, 0, 0));
  Say("null", cudaDeviceGetHostAtomicCapabilities(nullptr, &add, 1, 0));
  Say("nullop", cudaDeviceGetHostAtomicCapabilities(&rt, nullptr, 1, 0));
  Say("device1", cudaDeviceGetHostAtomicCapabilities(&rt, &add, 1, 1));
}

void LinearWidth() {
  for (auto kind : {cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat,
                    cudaChannelFormatKindNone}) {
    for (int bits : {8, 16, 32, 64}) {
      for (int channels : {1, 2, 3, 4}) {
        cudaChannelFormatDesc desc{bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0,
                                   kind};
        size_t width = 77;
        const cudaError_t error = cudaDeviceGetTexture1DLinearMaxWidth(&width, &desc, 0);
        Say(F("%d_%dx%d", kind, channels, bits), F("%d %zu", error, width));
      }
    }
  }
}

void Flags() {
  unsigned flags = 77;
  Say("start", cudaGetDeviceFlags(&flags));
  Say("start_is", flags);
  for (unsigned set : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 16u, 17u, 24u, 32u, 64u, 128u, 256u}) {
    Say(F("set%u", set), cudaSetDeviceFlags(set));
    Say(F("set%u_get", set), cudaGetDeviceFlags(&flags));
    Say(F("set%u_is", set), flags);
    int active = 7;
    Say(F("drvset%u", set), cuDevicePrimaryCtxSetFlags(0, set));
    Say(F("drvset%u_state", set), cuDevicePrimaryCtxGetState(0, &flags, &active));
    Say(F("drvset%u_flags", set), flags);
    Say(F("drvset%u_active", set), active);
    Say(F("init%u", set), cudaInitDevice(0, set, cudaInitDeviceFlagsAreValid));
  }
  Say("init_flags2", cudaInitDevice(0, 0, 2));
  Start();
  Say("after", cudaGetDeviceFlags(&flags));
  Say("after_is", flags);
  Say("get_null", cudaGetDeviceFlags(nullptr));
}

void CacheConfig() {
  Start();
  for (int config : {-1, 0, 1, 2, 3, 4}) {
    cudaFuncCache rt{};
    CUfunc_cache drv{};
    Say(F("rt%d", config), cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)));
    Say(F("rt%d_get", config), cudaDeviceGetCacheConfig(&rt));
    Say(F("rt%d_is", config), static_cast<int>(rt));
    Say(F("drv%d", config), cuCtxSetCacheConfig(static_cast<CUfunc_cache>(config)));
    Say(F("drv%d_get", config), cuCtxGetCacheConfig(&drv));
    Say(F("drv%d_is", config), static_cast<int>(drv));
    cudaSharedMemConfig banks{};
    Say(F("banks%d", config), cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(config)));
    Say(F("banks%d_get", config), cudaDeviceGetSharedMemConfig(&banks));
    Say(F("banks%d_is", config), static_cast<int>(banks));
    CUsharedconfig drvbanks{};
    Say(F("drvbanks%d", config), cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(config)));
    Say(F("drvbanks%d_get", config), cuCtxGetSharedMemConfig(&drvbanks));
    Say(F("drvbanks%d_is", config), static_cast<int>(drvbanks));
  }
}

}  // namespace

void AddCases(Cases& cases) {
  cases("properties", [] { cuInit(0), Properties(); });
  cases("attributes", Attributes);
  cases("arguments", [] { Start(), Arguments(); });
  cases("hostatomics", HostAtomics);
  cases("linearwidth", [] { Start(), LinearWidth(); });
  cases("flags", [] { cuInit(0), Flags(); });
  cases("cacheconfig", CacheConfig);
}
