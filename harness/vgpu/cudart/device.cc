// Devices: listing them, choosing the current one, waiting for it, resetting it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>

#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart {

namespace {

// A limit's initial value, and how set values are adjusted: minimum, maximum, and a step to round up to. Recorded on a
// Hopper (harness/dev/conformance). The virtual GPU's own stack and heap grow as needed.
struct LimitRule {
  cudaLimit limit;
  size_t start, least, most, step;
  bool cut;  // values beyond the maximum are clamped, not errors
};
constexpr size_t kMebi = 1 << 20;
constexpr LimitRule kLimits[] = {
    {cudaLimitStackSize, 1024, 0, kMebi / 2 - 576, 16, false},
    {cudaLimitPrintfFifoSize, 8650752, kMebi / 2, 2048 * kMebi, 256, true},
    {cudaLimitMallocHeapSize, 8 * kMebi, 4 * kMebi, SIZE_MAX, 65536, true},
    {cudaLimitDevRuntimePendingLaunchCount, 2048, 32, 599186, 1, true},
    {cudaLimitMaxL2FetchGranularity, 64, 0, 128, 1, false},
};
// Read-only limits: CU_LIMIT_SHMEM_SIZE and CU_LIMIT_CIG_ENABLED.
constexpr int kSharedSize = 7, kCigEnabled = 8;
// Known but unsupported: the depth of cudaDeviceSynchronize in kernels, and CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED.
constexpr int kCigFallback = 9;
// The L2 cache for persisting accesses is a number of tenths of its maximum, initially three.
constexpr size_t kTenths = 10, kTenthsAtStart = 3;

LimitRule RuleOf(Runtime& r, cudaLimit limit) {
  Require(limit >= cudaLimitStackSize && limit <= kCigFallback, cudaErrorInvalidValue);
  for (const LimitRule& each : kLimits) {
    if (each.limit == limit) return each;
  }
  Require(limit == cudaLimitPersistingL2CacheSize, cudaErrorUnsupportedLimit);
  const auto most = static_cast<size_t>(AttributeOf(r, cudaDevAttrMaxPersistingL2CacheSize));
  return {limit, most / kTenths * kTenthsAtStart, 0, most, std::max<size_t>(most / kTenths, 1), false};
}

// The current context's limits that were set.
std::map<cudaLimit, size_t>& SetLimits() {
  static auto& set = *new std::map<const void*, std::map<cudaLimit, size_t>>;
  return set[OwnContext()];
}

}  // namespace

size_t GetLimit(Runtime& r, cudaLimit limit) {
  if (static_cast<int>(limit) == kSharedSize) return static_cast<size_t>(r.profile().shared_per_block_optin);
  if (static_cast<int>(limit) == kCigEnabled) return 0;
  const LimitRule known = RuleOf(r, limit);
  const auto set = SetLimits().find(limit);
  return set != SetLimits().end() ? set->second : known.start;
}

void SetLimit(Runtime& r, cudaLimit limit, size_t value) {
  r.RequireContext();
  const int number = limit;
  Require(number != kSharedSize && number != kCigEnabled, cudaErrorNotPermitted);
  const LimitRule known = RuleOf(r, limit);
  Require(known.cut || value <= known.most, cudaErrorInvalidValue);
  const size_t now = GetLimit(r, limit);
  size_t rounded = known.step == 1 ? value : RoundedUp(value, known.step);
  // If the stack's memory stays the same, the requested number is kept.
  if (limit == cudaLimitStackSize && rounded == RoundedUp(now, known.step)) rounded = value;
  // The largest size_t overflows.
  const bool wraps = known.step > 1 && value > SIZE_MAX - known.step;
  const size_t set = wraps ? 0 : std::clamp(rounded, known.least, std::max(known.most, known.least));
  if (limit == cudaLimitMallocHeapSize) Require(r.backend().ResizeKernelHeap(set), cudaErrorInvalidValue);
  SetLimits()[limit] = set;
}

void ForgetLimits() { SetLimits().clear(); }

void ResetDevice(Runtime& r) {
  r.Reset();
  ResetPools(r.device());
  ForgetAllocations();
  ResetGraphMemory(r.device());
  ResetArrays(r.device());
}

bool& WasReset() {
  static bool was_reset = false;
  return was_reset;
}
unsigned& DeviceFlags() {
  static unsigned flags = 0;
  return flags;
}

cudaFuncCache& CacheConfig() {
  static cudaFuncCache config = cudaFuncCachePreferNone;
  return config;
}

bool AreDeviceFlags(unsigned flags) {
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  return (flags & ~cudaDeviceMask) == 0 && (schedule & (schedule - 1)) == 0;
}

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

cudaError_t cudaInitDevice(int device, unsigned flags, unsigned how) {
  return Api("cudaInitDevice", Faults::kNone, [&](Runtime& r) {
    r.RequireDevice(device);
    Require((how & cudaInitDeviceFlagsAreValid) == 0 || AreDeviceFlags(flags), cudaErrorInvalidValue);
    UsePrimary();
  });
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
  return Api("cudaSetDeviceFlags", [&](Runtime& r) {
    Require(AreDeviceFlags(flags), cudaErrorInvalidValue);
    Require(OwnContext() == nullptr, cudaErrorIncompatibleDriverContext);
    SetPrimaryFlags(r.device(), flags & ~cudaDeviceMapHost);
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return Api("cudaGetDeviceFlags", Faults::kNone, [&](Runtime&) {
    Require(flags != nullptr, cudaErrorInvalidValue);
    *flags = CurrentFlags();
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
  return Api("cudaDeviceSynchronize", [](Runtime& r) {
    r.WaitForDevice();
    ReleasePools(nullptr);
  });
}

cudaError_t cudaDeviceReset() {
  return Api("cudaDeviceReset", Faults::kNone, [](Runtime& r) {
    ResetDevice(r);
    WasReset() = true;
    EndPrimary(r.device());
    DeviceFlags() = 0;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return Api("cudaDeviceSetLimit", [&](Runtime& r) { SetLimit(r, limit, value); });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return Api("cudaDeviceGetLimit", [&](Runtime& r) {
    Require(value != nullptr, cudaErrorInvalidValue);
    r.RequireContext();
    *value = GetLimit(r, limit);
  });
}

// The preferences don't affect the model.
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return Api("cudaDeviceSetCacheConfig", [&](Runtime&) {
    Require(config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual, cudaErrorInvalidValue);
    CacheConfig() = config;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return Api("cudaDeviceGetCacheConfig", [&](Runtime&) {
    Require(config != nullptr, cudaErrorInvalidValue);
    *config = CacheConfig();
  });
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return Api("cudaDeviceSetSharedMemConfig", [&](Runtime&) {
    Require(config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte, cudaErrorInvalidValue);
  });
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return Api("cudaDeviceGetSharedMemConfig", [&](Runtime&) {
    Require(config != nullptr, cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig config) {
  return Api("cudaFuncSetSharedMemConfig", [&](Runtime& r) {
    r.KernelOf(function);
    Require(config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte, cudaErrorInvalidValue);
  });
}

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

// No device can access another's memory.
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return Api("cudaDeviceEnablePeerAccess", [&](Runtime& r) {
    r.RequireDevice(peer);
    Require(flags == 0, cudaErrorInvalidValue);
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

// Each device has an imaginary bus of its own: 0000:01:00.0 is device 0.
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  return Api("cudaDeviceGetPCIBusId", Faults::kNone, [&](Runtime& r) {
    constexpr int kLength = sizeof "0000:00:00.0";
    Require(id != nullptr, cudaErrorInvalidValue);
    r.RequireDevice(device);
    // As much as fits is written even on failure.
    if (length > 0)
      std::snprintf(id, static_cast<size_t>(length), "0000:%02X:00.0", static_cast<unsigned>(PciBusOf(device)));
    Require(length >= kLength, cudaErrorInvalidValue);
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return Api("cudaDeviceGetByPCIBusId", [&](Runtime& r) {
    Require(device != nullptr && id != nullptr, cudaErrorInvalidValue);
    unsigned domain = 0, bus = 0, slot = 0;
    // "domain:bus:device", or without a domain "bus:device.function".
    const bool with_domain = std::sscanf(id, "%x:%x:%x", &domain, &bus, &slot) == 3;
    unsigned function = 0;
    Require(with_domain || std::sscanf(id, "%x:%x.%x", &bus, &slot, &function) == 3, cudaErrorInvalidValue);
    const int found = static_cast<int>(bus) - PciBusOf(0);
    Require(domain == 0 && slot == 0 && found >= 0 && found < r.device_count(), cudaErrorInvalidDevice);
    *device = found;
  });
}

// The list is only checked: the current device does not change.
cudaError_t cudaSetValidDevices(int* devices, int count) {
  return Api("cudaSetValidDevices", [&](Runtime& r) {
    Require(count >= 0 && count <= r.device_count() && (count == 0 || devices != nullptr), cudaErrorInvalidValue);
    for (int i = 0; i < count; ++i) r.RequireDevice(devices[i]);
    LeavePrimary();  // the thread has no context until it needs one
  });
}

// There is nothing to flush, because no other device writes to this memory.
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget,
                                               cudaFlushGPUDirectRDMAWritesScope scope) {
  return Api("cudaDeviceFlushGPUDirectRDMAWrites", [&](Runtime&) {
    Require(scope == cudaFlushGPUDirectRDMAWritesToOwner || scope == cudaFlushGPUDirectRDMAWritesToAllDevices,
            cudaErrorInvalidValue);
  });
}

// There is nothing to reset: the model has no persisting L2 lines.
cudaError_t cudaCtxResetPersistingL2Cache() {
  return Api("cudaCtxResetPersistingL2Cache", [](Runtime&) {});
}

cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned* capabilities, const cudaAtomicOperation* operations,
                                                unsigned count, int device) {
  return Api("cudaDeviceGetHostAtomicCapabilities", [&](Runtime& r) {
    Require(capabilities != nullptr && operations != nullptr && count > 0, cudaErrorInvalidValue);
    r.RequireDevice(device);
    std::fill_n(capabilities, count, 0u);
    const auto is_operation = [](cudaAtomicOperation operation) {
      return operation >= cudaAtomicOperationIntegerAdd && operation <= cudaAtomicOperationFloatMax;
    };
    Require(std::all_of(operations, operations + count, is_operation), cudaErrorInvalidValue);
  });
}

// No device can access another's memory, and asking about itself is invalid.
cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned* capabilities, const cudaAtomicOperation* operations,
                                               unsigned count, int device, int peer) {
  return Api("cudaDeviceGetP2PAtomicCapabilities", [&](Runtime& r) {
    Require(capabilities != nullptr && operations != nullptr && count > 0, cudaErrorInvalidValue);
    r.RequireDevice(device);
    r.RequireDevice(peer);
    Require(device != peer, cudaErrorInvalidDevice);
    NotSupported("atomic operations on another device's memory");
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
