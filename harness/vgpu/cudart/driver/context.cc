// Contexts.
#include <cuda_profiler_api.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "vgpu/cudart/driver/driver.h"
#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/pointer.h"

namespace lockstep::vgpu::cudart::driver {

namespace {

bool initialized = false;

struct Contexts {
  std::mutex mutex;
  std::set<std::unique_ptr<Context>> made;
  std::map<int, std::pair<Context, int>> primary;  // by device, with its retain count
};
// Never destroyed, like all global state here: destructors of the program's static objects may still call the API.
Contexts& All() {
  static auto& contexts = *new Contexts;
  return contexts;
}

std::vector<Context*>& Stack() {
  thread_local std::vector<Context*> stack;
  return stack;
}

Context* PrimaryOf(int device) {
  Contexts& all = All();
  const std::lock_guard lock(all.mutex);
  auto& [context, retained] = all.primary[device];
  context.device = device;
  context.primary = true;
  return &context;
}

bool IsContext(const Context* context) {
  Contexts& all = All();
  const std::lock_guard lock(all.mutex);
  for (const auto& one : all.made) {
    if (one.get() == context) return true;
  }
  for (const auto& [device, one] : all.primary) {
    if (&one.first == context) return true;
  }
  return false;
}

Context* Of(CUcontext context) { return reinterpret_cast<Context*>(context); }
CUcontext Handle(Context* context) { return reinterpret_cast<CUcontext>(context); }

// The top of the stack follows cudaSetDevice, which makes another device's primary context current.
void Select(Context* context) {
  if (context != nullptr) cudaSetDevice(context->device);
}

cudaError_t Destroyed(CUcontext context) {
  if (context == nullptr) return cudaErrorInvalidValue;
  return IsContext(Of(context)) ? cudaSuccess : cudaErrorContextIsDestroyed;
}

std::vector<Context*>& StackToChange();
bool IsThere(const Context& context);

// The error of a query about a context that is null or has ended.
cudaError_t Gone(CUcontext context) {
  if (context == nullptr) return cudaErrorDeviceUninitialized;
  return IsContext(Of(context)) && IsThere(*Of(context)) ? cudaSuccess : cudaErrorContextIsDestroyed;
}

CUresult Create(const char* function, CUcontext* context, unsigned flags, CUdevice device) {
  return Drive(function, Needs::kInit, [&] {
    if (context == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = CheckDevice(device); error != cudaSuccess) return error;
    if (!AreDeviceFlags(flags)) return cudaErrorInvalidValue;
    // A request for user-triggered core dumps is stored as one for dumps on faults.
    if ((flags & CU_CTX_USER_COREDUMP_ENABLE) != 0) flags ^= CU_CTX_USER_COREDUMP_ENABLE | CU_CTX_COREDUMP_ENABLE;
    const bool has_context = CurrentContext() != nullptr;
    const cudaError_t fault = has_context ? Api(function, Faults::kReports, [](Runtime&) {}) : cudaSuccess;
    if (fault != cudaSuccess && fault != cudaErrorDevicesUnavailable) return fault;
    if (runtime().earlier_fault() != cudaSuccess) return runtime().earlier_fault();
    auto made = std::make_unique<Context>(Context{device, flags, false});
    StackToChange().push_back(made.get());
    *context = Handle(made.get());
    Contexts& all = All();
    const std::lock_guard lock(all.mutex);
    all.made.insert(std::move(made));
    return cudaSetDevice(device);
  });
}

// Calls a runtime function for a device other than the current one.
template <typename Body>
cudaError_t OnDevice(CUdevice device, Body body) {
  if (const cudaError_t error = CheckDevice(device); error != cudaSuccess) return error;
  int before = 0;
  cudaGetDevice(&before);
  if (const cudaError_t error = cudaSetDevice(device); error != cudaSuccess) return error;
  const cudaError_t error = body();
  cudaSetDevice(before);
  return error;
}

// Runs a body that a capture forbids while the context is the current one.
template <typename Body>
CUresult DriveIn(const char* function, CUcontext context, Body body) {
  return Drive(function, Needs::kInit, [&] {
    if (const cudaError_t gone = Gone(context); gone != cudaSuccess) return gone;
    if (const cudaError_t error = SpoilByCallOf(function); error != cudaSuccess) return error;
    StackToChange().push_back(Of(context));
    const cudaError_t error = OnDevice(Of(context)->device, body);
    Stack().pop_back();
    return error;
  });
}

// Forgets what a primary context held besides device memory: the modules loaded into it, and pinned memory.
void ForgetContents(Runtime& r) {
  r.RemoveDriversModules(nullptr);
  std::erase_if(r.host_ranges(), [](const auto& range) {
    if (range.second.context != nullptr) return false;
    ForgetNotes(range.first);
    return true;
  });
}

// Ends a context that the program made, and with it what it holds.
void End(const Context& context) {
  OnDevice(context.device, [&] {
    return Api("cuCtxDestroy", Faults::kNone, [&](Runtime& r) {
      if (r.faulted()) return;
      r.beside().WaitFor(r, r.beside().On(r.device()));
      EndArrays(r, &context);
      EndAllocations(r, &context);
      EndHostRanges(r, &context);
      r.RemoveDriversModules(&context);
      r.timeline().End(&context);
    });
  });
}

// Called when the last use of a primary context ends: resets its device.
void EndLastUse(Runtime& r, int device) {
  OnDevice(device, [&] {
    return Api("cudaDeviceReset", Faults::kNone, [&](Runtime&) {
      ForgetContents(r);
      ResetDevice(r);
    });
  });
}

}  // namespace

Context* CurrentContext() {
  int device = 0;
  {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex());
    device = r.device();
  }
  std::vector<Context*>& stack = Stack();
  if (std::exchange(PrimaryWasSet(), false) && !stack.empty()) stack.back() = PrimaryOf(device);
  if (!stack.empty() && (stack.back() == nullptr || stack.back()->device == device)) return stack.back();
  return !stack.empty() || RuntimeInUseHere() ? PrimaryOf(device) : nullptr;
}

namespace {

// The stack, to be changed. If it is empty and the runtime has made a context current, that becomes its first entry.
std::vector<Context*>& StackToChange() {
  Context* const current = CurrentContext();
  std::vector<Context*>& stack = Stack();
  if (stack.empty() && current != nullptr) stack.push_back(current);
  return stack;
}

bool IsThere(const Context& context) {
  return !context.primary || (All().primary[context.device].second > 0 && !context.was_reset) || RuntimeInUse();
}

// The device also stores flags for core dumps, which its primary context does not tell.
constexpr unsigned kToldFlags = CU_CTX_SCHED_MASK | CU_CTX_LMEM_RESIZE_TO_MAX | CU_CTX_SYNC_MEMOPS;

// A primary context has the device's flags until others are set for it.
unsigned FlagsOf(const Context& context) {
  if (!context.primary) return context.flags;
  if (!IsThere(context)) return 0;
  return (context.has_flags ? context.flags : DeviceFlags() & kToldFlags) | CU_CTX_MAP_HOST;
}

}  // namespace

CUcontext HandleOf(const void* context, int device) {
  const bool is_own = context != nullptr && static_cast<const Context*>(context)->device == device;
  return is_own ? reinterpret_cast<CUcontext>(const_cast<void*>(context)) : Handle(PrimaryOf(device));
}

Needs NeedsOf(CUstream stream) {
  return IsMade(stream) && CurrentContext() == nullptr ? Needs::kInit : Needs::kContext;
}

CUresult Ready(const char* function, Needs needs) {
  if (HasJudge()) {
    Say(std::string(function) +
        ": submissions can't use the driver API; use the runtime API (cudaMalloc, kernel<<<>>>)");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (needs != Needs::kNothing && !initialized && !RuntimeStarted()) return CUDA_ERROR_NOT_INITIALIZED;
  if (needs != Needs::kContext) return CUDA_SUCCESS;
  const Context* const current = CurrentContext();
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return IsThere(*current) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

}  // namespace lockstep::vgpu::cudart::driver

unsigned lockstep::vgpu::cudart::CurrentFlags() {
  if (const void* const own = OwnContext(); own != nullptr) return static_cast<const driver::Context*>(own)->flags;
  const driver::Context* const primary = driver::PrimaryOf(runtime().device());
  return driver::IsThere(*primary) ? driver::FlagsOf(*primary)
                                   : (DeviceFlags() & driver::kToldFlags) | (WasReset() ? 0 : cudaDeviceMapHost);
}

void lockstep::vgpu::cudart::SetPrimaryFlags(int device, unsigned flags) {
  DeviceFlags() = flags;
  driver::PrimaryOf(device)->has_flags = false;
}

void lockstep::vgpu::cudart::EndPrimary(int device) { driver::PrimaryOf(device)->was_reset = true; }

const void* lockstep::vgpu::cudart::OwnContext() {
  const std::vector<driver::Context*>& stack = driver::Stack();
  if (PrimaryWasSet() || stack.empty() || stack.back() == nullptr || stack.back()->primary) return nullptr;
  return stack.back();
}

// Old programs still call these.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

CUresult cuInit(unsigned flags) {
  return Drive("cuInit", Needs::kNothing, [&] {
    int count = 0;
    if (flags != 0) return cudaErrorInvalidValue;
    initialized = true;
    return cudaGetDeviceCount(&count);
  });
}

CUresult cuDriverGetVersion(int* version) {
  return Drive("cuDriverGetVersion", Needs::kNothing, [&] { return cudaDriverGetVersion(version); });
}

// ---- Primary contexts ----

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return Drive("cuDevicePrimaryCtxRetain", Needs::kInit, [&] {
    if (context == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = CheckDevice(device); error != cudaSuccess) return error;
    *context = Handle(PrimaryOf(device));
    PrimaryOf(device)->was_reset = false;
    ++All().primary[device].second;
    return cudaSuccess;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return Drive("cuDevicePrimaryCtxRelease", Needs::kInit, [&] {
    if (const cudaError_t error = CheckDevice(device); error != cudaSuccess) return error;
    PrimaryOf(device);
    int& retained = All().primary[device].second;
    // The runtime itself also retains it once.
    if (retained == 0 && !RuntimeInUse()) return cudaErrorDeviceUninitialized;
    if (retained > 0) {
      --retained;
    } else {
      Runtime& r = runtime();
      const std::lock_guard lock(r.mutex());
      r.ReleasePrimary();
    }
    if (retained == 0 && !RuntimeInUse()) {
      if (Runtime& r = runtime(); !r.faulted()) EndLastUse(r, device);
      SetPrimaryFlags(device, 0);
      ForgetLimits();
    }
    return cudaSuccess;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return Drive("cuDevicePrimaryCtxGetState", Needs::kInit, [&] {
    if (flags == nullptr || active == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = CheckDevice(device); error != cudaSuccess) return error;
    *flags = DeviceFlags();
    *active = IsThere(*PrimaryOf(device)) ? 1 : 0;
    return cudaSuccess;
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return Drive("cuDevicePrimaryCtxSetFlags", Needs::kInit, [&] {
    if (const cudaError_t error = CheckDevice(device); error != cudaSuccess) return error;
    if (!AreDeviceFlags(flags) || (flags & CU_CTX_MAP_HOST) != 0) return cudaErrorInvalidValue;
    SetPrimaryFlags(device, flags);
    return cudaSuccess;
  });
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return Drive("cuDevicePrimaryCtxReset", Needs::kInit, [&] {
    return OnDevice(device, [] {
      Api("cuDevicePrimaryCtxReset", Faults::kNone, [](Runtime& r) { ForgetContents(r); });
      return cudaDeviceReset();
    });
  });
}

// ---- Contexts ----

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return Create("cuCtxCreate", context, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned flags, CUdevice device) {
  return Create("cuCtxCreate", context, flags, device);
}

CUresult cuCtxDestroy(CUcontext context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Drive("cuCtxDestroy", Needs::kInit, [&] {
    if (!IsContext(Of(context)) || Of(context)->primary) return cudaErrorDeviceUninitialized;
    std::vector<Context*>& stack = Stack();
    if (!stack.empty() && stack.back() == Of(context)) stack.pop_back();
    End(*Of(context));
    Contexts& all = All();
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.made, [&](const auto& one) { return one.get() == Of(context); });
    return cudaSuccess;
  });
}

CUresult cuCtxPushCurrent(CUcontext context) {
  return Drive("cuCtxPushCurrent", Needs::kInit, [&] {
    if (const cudaError_t error = Destroyed(context); error != cudaSuccess) return error;
    StackToChange().push_back(Of(context));
    Select(Of(context));
    return cudaSuccess;
  });
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  return Drive("cuCtxPopCurrent", Needs::kInit, [&] {
    std::vector<Context*>& stack = StackToChange();
    if (stack.empty()) return cudaErrorDeviceUninitialized;
    if (context != nullptr) *context = Handle(stack.back());
    stack.pop_back();
    stack.empty() ? LeavePrimary() : Select(stack.back());
    return cudaSuccess;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return Drive("cuCtxSetCurrent", Needs::kInit, [&] {
    std::vector<Context*>& stack = StackToChange();
    if (context != nullptr) {
      if (const cudaError_t error = Destroyed(context); error != cudaSuccess) return error;
    }
    if (!stack.empty()) stack.pop_back();
    if (context == nullptr && stack.empty()) {
      LeavePrimary();
      return cudaSuccess;
    }
    if (context != nullptr) stack.push_back(Of(context));
    Select(stack.back());
    return cudaSuccess;
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return Drive("cuCtxGetCurrent", Needs::kInit, [&] {
    if (context == nullptr) return cudaErrorInvalidValue;
    *context = Handle(CurrentContext());
    return cudaSuccess;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return Drive("cuCtxGetDevice", Needs::kInit, [&] {
    if (CurrentContext() == nullptr) return cudaErrorDeviceUninitialized;
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = CurrentContext()->device;
    return cudaSuccess;
  });
}

// For a context parameter, nullptr means the current one.
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  if (context == nullptr) return cuCtxGetDevice(device);
  return Drive("cuCtxGetDevice", Needs::kInit, [&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = Destroyed(context);
    if (error == cudaSuccess) *device = Of(context)->device;
    return error;
  });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return Drive("cuCtxGetFlags", Needs::kInit, [&] {
    const Context* const current = CurrentContext();
    if (current == nullptr) return cudaErrorDeviceUninitialized;
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = FlagsOf(*current);
    return cudaSuccess;
  });
}

CUresult cuCtxSetFlags(unsigned flags) {
  return Drive("cuCtxSetFlags", [&] {
    if (!AreDeviceFlags(flags)) return cudaErrorInvalidValue;
    // Only flags that change later work need the device.
    if ((flags & CU_CTX_SYNC_MEMOPS) != 0) {
      const cudaError_t fault = Api("cuCtxSetFlags", Faults::kReports, [](Runtime&) {});
      if (fault != cudaSuccess) return fault;
    }
    CurrentContext()->flags = flags & kToldFlags;
    CurrentContext()->has_flags = true;
    return cudaSuccess;
  });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return DriveUnlessFaulted("cuCtxGetId", Needs::kInit, [&] {
    const Context* const one = context != nullptr ? Of(context) : CurrentContext();
    if (one == nullptr) return cudaErrorDeviceUninitialized;
    if (id == nullptr) return cudaErrorInvalidValue;
    if (!IsContext(one) || !IsThere(*one)) return cudaErrorContextIsDestroyed;
    *id = reinterpret_cast<uintptr_t>(one);
    return cudaSuccess;
  });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  return DriveUnlessFaulted("cuCtxGetApiVersion", Needs::kInit, [&] {
    if (context == nullptr && CurrentContext() == nullptr) return cudaErrorDeviceUninitialized;
    if (version == nullptr) return cudaErrorInvalidValue;
    if (context == nullptr && !IsThere(*CurrentContext())) return cudaErrorContextIsDestroyed;
    if (context != nullptr && Gone(context) != cudaSuccess) return cudaErrorDeviceUninitialized;
    *version = 3020;
    return cudaSuccess;
  });
}

CUresult cuCtxSynchronize() { return Pass("cuCtxSynchronize", cudaDeviceSynchronize); }

CUresult cuCtxSynchronize_v2(CUcontext context) {
  if (context == nullptr) return cuCtxSynchronize();
  return Drive("cuCtxSynchronize", Needs::kInit, [&] {
    const cudaError_t error = Destroyed(context);
    return error != cudaSuccess ? error : OnDevice(Of(context)->device, [] { return cudaDeviceSynchronize(); });
  });
}

LOCKSTEP_FORWARD2(Pass, cuCtxGetLimit, cudaDeviceGetLimit, size_t*, CUlimit)

LOCKSTEP_FORWARD2(Pass, cuCtxSetLimit, cudaDeviceSetLimit, CUlimit, size_t)

LOCKSTEP_FORWARD2(Pass, cuCtxGetStreamPriorityRange, cudaDeviceGetStreamPriorityRange, int*, int*)

LOCKSTEP_FORWARD1(Pass, cuCtxSetCacheConfig, cudaDeviceSetCacheConfig, CUfunc_cache)

LOCKSTEP_FORWARD1(Pass, cuCtxGetCacheConfig, cudaDeviceGetCacheConfig, CUfunc_cache*)

CUresult cuCtxResetPersistingL2Cache() { return Pass("cuCtxResetPersistingL2Cache", cudaCtxResetPersistingL2Cache); }

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return Drive("cuCtxEnablePeerAccess", [&] {
    const cudaError_t error = Gone(peer);
    return error != cudaSuccess ? error : cudaDeviceEnablePeerAccess(Of(peer)->device, flags);
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return Drive("cuCtxDisablePeerAccess", [&] {
    const cudaError_t error = Gone(peer);
    return error != cudaSuccess ? error : cudaDeviceDisablePeerAccess(Of(peer)->device);
  });
}

// From before primary contexts: counts uses of the current context; cuCtxDetach after the last use destroys it.
CUresult cuCtxAttach(CUcontext* context, unsigned flags) {
  return Drive("cuCtxAttach", [&] {
    if (context == nullptr || flags != 0) return cudaErrorInvalidValue;
    ++CurrentContext()->attached;
    *context = Handle(CurrentContext());
    return cudaSuccess;
  });
}

CUresult cuCtxDetach(CUcontext context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Context* const current = CurrentContext();
  if (Of(context) != current || (current->attached == 0 && !current->primary)) return cuCtxDestroy(context);
  if (current->attached == 0) return IsThere(*current) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  --current->attached;
  return CUDA_SUCCESS;
}

LOCKSTEP_FORWARD1(Pass, cuCtxGetSharedMemConfig, cudaDeviceGetSharedMemConfig, CUsharedconfig*)

LOCKSTEP_FORWARD1(Pass, cuCtxSetSharedMemConfig, cudaDeviceSetSharedMemConfig, CUsharedconfig)

CUresult cuProfilerStart() { return Pass("cuProfilerStart", cudaProfilerStart); }
CUresult cuProfilerStop() { return Pass("cuProfilerStop", cudaProfilerStop); }

CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
  return DriveIn("cuCtxRecordEvent", context, [&] { return cudaEventRecord(event, nullptr); });
}
CUresult cuCtxWaitEvent(CUcontext context, CUevent event) {
  return DriveIn("cuCtxWaitEvent", context, [&] { return cudaStreamWaitEvent(nullptr, event, 0); });
}
CUresult cuCtxGetExecAffinity(CUexecAffinityParam* affinity, CUexecAffinityType type) {
  return DriveUnlessFaulted("cuCtxGetExecAffinity", [&] {
    if (affinity == nullptr) return cudaErrorInvalidValue;
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) return cudaErrorUnsupportedExecAffinity;
    *affinity = {type, {{static_cast<unsigned>(ProfileHere().sm_count)}}};
    return cudaSuccess;
  });
}

}  // extern "C"
