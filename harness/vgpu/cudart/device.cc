// Devices: listing them, choosing the current one, waiting for it, resetting it.
#include <algorithm>
#include <cstdio>

#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart {

// The virtual GPU's own stack and heap grow as needed.
size_t& LimitOf(cudaLimit limit) {
  static size_t stack = 1024, printf_fifo = 8 << 20, heap = 8 << 20, fetch = 64, persisting = 0, pending = 2048;
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
    case cudaLimitDevRuntimePendingLaunchCount:
      return pending;
    default:
      throw ApiError{cudaErrorUnsupportedLimit};
  }
}

namespace {

unsigned& DeviceFlags() {
  static unsigned flags = cudaDeviceMapHost;
  return flags;
}

}  // namespace

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return Api("cudaGetDeviceCount", Faults::kNone, [&](Runtime& r) {
    Require(count != nullptr, cudaErrorInvalidValue);
    *count = r.device_count();
  });
}

cudaError_t cudaSetDevice(int device) {
  return Api("cudaSetDevice", Faults::kNone, [&](Runtime& r) { r.SetDevice(device); });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return Api("cudaInitDevice", [&](Runtime& r) { r.RequireDevice(device); });
}

cudaError_t cudaGetDevice(int* device) {
  return Api("cudaGetDevice", Faults::kNone, [&](Runtime& r) {
    Require(device != nullptr, cudaErrorInvalidValue);
    *device = r.device();
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
    r.RequireDevice(device);
    FillProperties(r, device, properties);
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return Api("cudaDeviceGetAttribute", Faults::kNone, [&](Runtime& r) {
    Require(value != nullptr, cudaErrorInvalidValue);
    r.RequireDevice(device);
    *value = AttributeOf(r, attribute);
  });
}

cudaError_t cudaDeviceSynchronize() {
  return Api("cudaDeviceSynchronize", [](Runtime& r) { r.WaitForDevice(); });
}

cudaError_t cudaDeviceReset() {
  return Api("cudaDeviceReset", Faults::kNone, [](Runtime& r) {
    r.Reset();
    ResetPools(r.device());
    ResetArrays(r.device());
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return Api("cudaDeviceSetLimit", [&](Runtime&) {
    constexpr size_t kFewestPending = 32;
    LimitOf(limit) = limit == cudaLimitDevRuntimePendingLaunchCount ? std::max(value, kFewestPending) : value;
  });
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

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) {
  return Api("cudaDeviceSetSharedMemConfig", [](Runtime&) {});
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return Api("cudaDeviceGetSharedMemConfig", [&](Runtime&) {
    Require(config != nullptr, cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return Api("cudaFuncSetSharedMemConfig", [&](Runtime& r) { r.KernelOf(function); });
}

// A description only: what it is for is refused.
cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return Api("cudaDeviceGetStreamPriorityRange", [&](Runtime&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return Api("cudaDeviceCanAccessPeer", [&](Runtime& r) {
    Require(can != nullptr, cudaErrorInvalidValue);
    r.RequireDevice(device);
    r.RequireDevice(peer);
    *can = 0;
  });
}

// No device reaches another's memory.
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return Api("cudaDeviceEnablePeerAccess", [&](Runtime& r) {
    Require(flags == 0, cudaErrorInvalidValue);
    r.RequireDevice(peer);
    throw ApiError{cudaErrorPeerAccessUnsupported};
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return Api("cudaDeviceDisablePeerAccess", [&](Runtime& r) {
    r.RequireDevice(peer);
    throw ApiError{cudaErrorPeerAccessNotEnabled};
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer) {
  return Api("cudaDeviceGetP2PAttribute", [&](Runtime& r) {
    Require(value != nullptr, cudaErrorInvalidValue);
    r.RequireDevice(device);
    r.RequireDevice(peer);
    Require(device != peer, cudaErrorInvalidDevice);
    Require(attribute >= cudaDevP2PAttrPerformanceRank && attribute <= cudaDevP2PAttrCudaArrayAccessSupported,
            cudaErrorInvalidValue);
    *value = 0;
  });
}

// Devices sit on imaginary buses, one each: 0000:01:00.0 is device 1.
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  return Api("cudaDeviceGetPCIBusId", [&](Runtime& r) {
    Require(id != nullptr && length > 0, cudaErrorInvalidValue);
    r.RequireDevice(device);
    std::snprintf(id, static_cast<size_t>(length), "0000:%02X:00.0", static_cast<unsigned>(device));
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return Api("cudaDeviceGetByPCIBusId", [&](Runtime& r) {
    Require(device != nullptr && id != nullptr, cudaErrorInvalidValue);
    unsigned domain = 0, bus = 0, slot = 0;
    const bool with_domain = std::sscanf(id, "%x:%x:%x", &domain, &bus, &slot) == 3;
    Require(with_domain || std::sscanf(id, "%x:%x", &bus, &slot) == 2, cudaErrorInvalidValue);
    Require(domain == 0 && slot == 0 && bus < static_cast<unsigned>(r.device_count()), cudaErrorInvalidDevice);
    *device = static_cast<int>(bus);
  });
}

// The first of a program's choice that there is.
cudaError_t cudaSetValidDevices(int* devices, int count) {
  return Api("cudaSetValidDevices", [&](Runtime& r) {
    Require(count == 0 || devices != nullptr, cudaErrorInvalidValue);
    for (int i = 0; i < count; ++i) r.RequireDevice(devices[i]);
  });
}

// The model keeps no lines in L2.
cudaError_t cudaCtxResetPersistingL2Cache() {
  return Api("cudaCtxResetPersistingL2Cache", [](Runtime&) {});
}

cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned* capabilities, const cudaAtomicOperation* operations,
                                                unsigned count, int device) {
  return Api("cudaDeviceGetHostAtomicCapabilities", [&](Runtime& r) {
    Require(capabilities != nullptr && operations != nullptr, cudaErrorInvalidValue);
    r.RequireDevice(device);
    std::fill_n(capabilities, count, 0u);
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
