// The CUDA runtime replacement: its shared core.
//
// Theory of operation. nvcc's host code registers each fat binary, kernel and variable before main (registration.cc);
// nothing is loaded until it is used, so a program that never calls CUDA costs nothing. Every API function is one call
// of Api(): it takes the one lock, handles the error state, runs the function's own body, and turns exceptions from the
// body into an error code. Device work goes to a Backend, which is a virtual GPU in this process or, in a worker, the
// judge's at the other end of a socket.
//
// Errors, as documented: a call's own error is returned and remembered by thread until cudaGetLastError takes it. A
// kernel's fault appears after the launch has returned: the next call that may report errors of earlier launches
// returns it, and from then on every call that needs the device fails with it ("sticky"), because the context is lost.
// cudaDeviceReset does not help then: the device stays unavailable until the process is started again.
//
// Device work is done at the call if possible (side_by_side.h). Streams and events have times on a modelled clock
// (timeline.h), so cudaEventElapsedTime gives the modelled time, the same in every run. Data copied to page-locked host
// memory appears there once the host has waited for it (host_transfers.h).
//
// There may be several devices (LOCKSTEP_DEVICES), all of one kind; each thread has a current one. Modules are loaded
// on each device that uses them. Memory belongs to one device, which the pointer identifies, so copies work between any
// two; but a kernel reaches only its own device's memory (no peer access).
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/cudart/backend.h"
#include "vgpu/cudart/host_calls.h"
#include "vgpu/cudart/host_transfers.h"
#include "vgpu/cudart/mapped_memory.h"
#include "vgpu/cudart/side_by_side.h"
#include "vgpu/cudart/timeline.h"

namespace lockstep::vgpu::cudart {

// Leaves an API function with this code.
struct ApiError {
  cudaError_t code;
};

inline void Require(bool condition, cudaError_t otherwise) {
  if (!condition) throw ApiError{otherwise};
}

// The context made current in this thread by the driver API, unless it is the primary one (driver/context.cc).
const void* OwnContext();

// A fat binary or PTX text, loaded when first used.
struct Module {
  std::vector<Image> images;            // one, or one for each separately compiled object
  std::vector<uint8_t> owned;           // the data of an image, if the program may free its own copy
  std::map<int, ModuleHandle> handles;  // by device
  cudaError_t error = cudaSuccess;      // why it can't be loaded
  bool image_gone = false;              // the shared object that held it was unloaded
  bool of_driver = false;               // a CUmodule; only these may be passed to cuModuleUnload
  const void* context = nullptr;        // a CUmodule's context, if cuCtxCreate made it
};

struct Kernel {
  Module* module = nullptr;
  std::string name;                  // mangled
  std::unique_ptr<KernelInfo> info;  // filled in by the first lookup
  int max_dynamic_shared = -1;       // cudaFuncAttributeMaxDynamicSharedMemorySize; -1: not set
  int preferred_carveout = -1;
  cudaFuncCache cache = cudaFuncCachePreferNone;
  dim3 required_cluster{0, 0, 0};  // as set, if none was compiled in
  int cluster_scheduling = 0, non_portable_cluster = 0;
  std::optional<unsigned> given_in;  // value of contexts_ended_ when the driver API returned its CUfunction
};

struct Symbol {
  Module* module = nullptr;
  std::string name;
  uint64_t bytes = 0;
  std::map<int, VariableInfo> info;  // by device
  void** managed_slot = nullptr;     // where host code stores the address of a __managed__ variable
};

struct LaunchConfiguration {
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
};

// How a call reacts to the fault of an earlier launch.
enum class Faults : uint8_t {
  kReports,  // most calls: they may return errors of earlier asynchronous launches
  kIgnores,  // calls that only enqueue work, or query the runtime's own state: they return before the fault is noticed
  kNone,     // calls that work even if the context is lost
};

class Runtime {
 public:
  int device_count();
  void RequireDevice(int device) { Require(device >= 0 && device < device_count(), cudaErrorInvalidDevice); }
  // This thread's current device.
  int device() const;
  void SetDevice(int device);
  Backend& backend() { return backend(device()); }
  Backend& backend(int device);
  // Calls f for each device that has been used.
  template <typename F>
  void ForEachBackend(F f) {
    for (auto& [ordinal, context] : contexts_) {
      if (context.backend != nullptr) f(*context.backend);
    }
  }
  // The device whose memory holds the address.
  std::optional<int> DeviceHolding(uint64_t address);
  Timeline& timeline() { return timeline_; }
  HostTransfers& transfers() { return transfers_; }
  MappedMemory& mapped() { return mapped_; }
  ConcurrentWork& beside() { return beside_; }
  HostCalls& host_calls() { return host_calls_; }
  // The program has released the primary context that the runtime uses: the next call recreates it.
  void ReleasePrimary();
  // A check that the runtime makes before it asks the driver: its error is returned even if the context is lost.
  void RequireAtSight(bool condition, cudaError_t otherwise) {
    at_sight_ |= !condition;
    Require(condition, otherwise);
  }
  // Fails if the context is lost. Called before a result that the driver would give.
  void RequireContext() const { Require(lost_ == cudaSuccess, lost_); }
  // Called for a size of 0: lets the call succeed in a lost context, if it is one that doesn't check the context then.
  // After a sticky fault only cudaMemcpy checks; on an unavailable device, all but the Symbol functions do.
  void NothingToDo();
  // The call creates no primary context, unlike others of its function.
  void NeedNoContext();
  // For a call that allocates or frees nothing: the trace omits it, so that its allocations and frees match.
  void LeaveOutOfTrace() { carried_ = true; }
  // The host may have waited for work: delivers its results now rather than at the end of the API function.
  void Arrive();
  // Throws ApiError; also for the legacy stream while a stream that synchronises with it is captured.
  Stream& StreamOf(cudaStream_t stream);
  // The same, but fails if the stream is in an invalidated capture.
  Stream& StreamToUse(cudaStream_t stream);
  // A stream that may receive work: one of the current device's.
  Stream& StreamForWork(cudaStream_t stream);
  const DeviceProfile& profile() { return backend().profile(); }
  // The origin of a backend request made for the running API function.
  Origin origin();
  // The same with the program's call site, even if its actions are not traced.
  Origin OriginWithCallSite();
  const char* function() const { return function_; }
  // The events that the current call is about, for the trace.
  void About(cudaEvent_t event, cudaEvent_t end = nullptr) {
    events_ = {reinterpret_cast<uint64_t>(event), reinterpret_cast<uint64_t>(end)};
  }
  // Set the API function and the device on whose behalf queued work runs. Both return the previous value.
  const char* ExchangeFunction(const char* function) { return std::exchange(function_, function); }
  static int ExchangeDevice(int device);

  // Registration. Modules live as long as the process, unless unloaded.
  Module* AddModule();
  void RemoveModule(Module* module);
  // A context of the current device ends, as from OwnContext(), and with it functions and modules of the driver API.
  void RemoveDriversModules(const void* context);
  void GiveFunction(const void* function) { KernelOf(function).given_in = contexts_ended_; }
  bool IsFunctionGone(const void* function) {
    const std::optional<unsigned> given_in = KernelOf(function).given_in;
    return given_in && *given_in != contexts_ended_;
  }
  // The library or module of a handle. Throws ApiError.
  Module* ModuleOf(const void* handle);
  // The shared object that registered the module was unloaded: other objects may reuse the addresses of its kernels
  // and variables.
  void ForgetImage(Module* module);
  Kernel* AddKernel(Module* module, const void* host, std::string name);
  void AddSymbol(Module* module, const void* host, Symbol symbol);
  void InitManaged(Module* module);

  // A registered host function, or a handle from cudaGetKernel and the like. Throws ApiError.
  Kernel& KernelOf(const void* function);
  // The program's identifier of the kernel: its host function, or else its handle.
  const void* HostFunctionOf(const Kernel& kernel) const;
  const KernelInfo& InfoOf(Kernel& kernel);
  const VariableInfo& VariableOf(const void* symbol);
  const VariableInfo& VariableOf(Symbol& symbol);
  ModuleHandle Load(Module& module);
  Kernel* FindKernel(Module* module, const std::string& name);
  // The limit for a kernel that is launched by a kernel of the same module.
  uint64_t MostDynamicShared(int device, ModuleHandle module, const KernelInfo& info);

  // Host memory that the runtime allocated or registered: base → bytes.
  struct HostRange {
    uint64_t bytes;
    unsigned flags;
    enum class Kind : uint8_t { kAllocated, kRegistered, kOnDevice } kind;
    int device = 0;                      // kOnDevice: the device that owns it
    const void* context = OwnContext();  // the context that is current when it is made; nullptr: the primary one
  };
  std::map<uintptr_t, HostRange>& host_ranges() { return host_ranges_; }
  bool IsPinned(const void* address) const;
  // The range that contains the address, with its base.
  std::optional<std::pair<uintptr_t, HostRange>> HostRangeHolding(const void* address) const;
  // Managed memory: base → bytes, owning device, and the program's advice (managed.cc).
  struct ManagedAdvice {
    bool read_mostly = false;
    cudaMemLocation preferred = {}, prefetched = {};
    std::vector<int> accessed_by = {};  // devices, and cudaCpuDeviceId
  };
  struct ManagedRange {
    uint64_t bytes = 0;
    int device = 0;
    std::map<uint64_t, ManagedAdvice> advice = {{0, {}}};  // by first address; each holds until the next
  };
  std::map<uint64_t, ManagedRange>& managed() { return managed_; }
  bool IsManaged(uint64_t address) const;
  // Memory accessible by both host and device: managed or mapped.
  bool IsShared(uint64_t address) const;

  // Sets the fault of the last launch on the current device.
  void SetPending(cudaError_t fault) { context().pending = fault; }
  bool faulted() { return context().pending != cudaSuccess || context().sticky != cudaSuccess; }
  // The fault of a primary context that was released since.
  cudaError_t earlier_fault() { return context().fault; }
  // The host waits for all work of the current device. seen: as in Timeline::SynchronizeDevice.
  void WaitForDevice(bool seen = true);
  // Called after a wait: throws the pending fault of a launch that was suspended, and makes it sticky.
  void RequireNoFault();
  // Resets the current device.
  void Reset();

  // Active while this thread runs a stream's host function, which may not call CUDA.
  class InHostFunction {
   public:
    InHostFunction() : outer_(std::exchange(is_in_, true)) {}
    ~InHostFunction() { is_in_ = outer_; }
    InHostFunction(const InHostFunction&) = delete;
    InHostFunction& operator=(const InHostFunction&) = delete;
    static bool is_in() { return is_in_; }

   private:
    const bool outer_;
    static inline thread_local bool is_in_ = false;
  };
  std::recursive_mutex& mutex() { return mutex_; }
  // Releases the lock, held once, while the program's code runs on behalf of an API function.
  class Unlocked {
   public:
    explicit Unlocked(Runtime& r) : r_(r), function_(r.function_), carried_(r.carried_) { r_.mutex_.unlock(); }
    ~Unlocked() {
      r_.mutex_.lock();
      r_.function_ = function_;
      r_.carried_ = carried_;
    }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

   private:
    Runtime& r_;
    const char* function_;
    bool carried_;
  };

 private:
  unsigned contexts_ended_ = 0;
  template <typename Body>
  friend cudaError_t Api(const char* function, Faults faults, Body body);
  // frame: the API function's stack frame.
  cudaError_t Enter(const char* function, Faults faults, const void* frame);
  cudaError_t Leave(cudaError_t error);
  static cudaError_t Handle();  // the exception in flight

  // A device and the errors of its work.
  struct Context {
    std::unique_ptr<Backend> backend;
    cudaError_t pending = cudaSuccess, sticky = cudaSuccess;
    bool was_released = false;        // the program released the primary context after a fault
    cudaError_t fault = cudaSuccess;  // that fault
  };
  Context& context() { return contexts_[device()]; }

  std::recursive_mutex mutex_;
  std::map<int, Context> contexts_;
  Timeline timeline_;
  HostTransfers transfers_;
  MappedMemory mapped_;
  ConcurrentWork beside_;
  HostCalls host_calls_;
  uint64_t arrived_ = 0;  // the clocks' waits() at the last arrival
  const char* function_ = "";
  std::array<uint64_t, 2> events_ = {};
  bool carried_ = false;            // the call reached the backend, so it is already in the trace
  cudaError_t lost_ = cudaSuccess;  // the error by which the context that this call needs was lost
  bool at_sight_ = false;           // the call's error is in its arguments
  bool made_current_ = false;       // this call created the primary context
  std::set<std::unique_ptr<Module>> modules_;
  std::map<const void*, std::unique_ptr<Kernel>> kernels_;  // by host function, or by their own address
  std::map<const void*, Symbol> symbols_;
  std::map<uintptr_t, HostRange> host_ranges_;
  std::map<uint64_t, ManagedRange> managed_;
};

Runtime& runtime();

// A function's result through a pointer.
template <typename T>
void Set(T* to, const T& value) {
  Require(to != nullptr, cudaErrorInvalidValue);
  runtime().RequireContext();
  *to = value;
}

// This thread's error, until cudaGetLastError takes it.
cudaError_t& LastError();
// The driver API function that this thread is in, for messages; nullptr if none.
const char*& CalledAs();
// Whether the program itself has called the runtime API, so that the device's primary context is in use. Here: in this
// thread, so that the context is current in it.
bool RuntimeInUse();
bool RuntimeInUseHere();
// Whether the program has called any runtime function that initializes the driver.
bool RuntimeStarted();
// Whether cudaSetDevice has made the primary context current in this thread since the driver API last looked.
bool& PrimaryWasSet();
// The device was reset: its primary context is recreated when it is retained or used.
void EndPrimary(int device);
// The flags of the device, and so of its primary context.
void SetPrimaryFlags(int device, unsigned flags);
// The flags of the current context, or of the primary one, or if there is neither, of the device.
unsigned CurrentFlags();
// UsePrimary: the primary context is now in use, though not current. LeavePrimary: it is not current in this thread.
void UsePrimary();
void LeavePrimary();

// Prints "lockstep: " and the sentence to standard error; repeated sentences only once, unless there is a judge.
void Say(std::string_view sentence);
// At the end: prints repeated sentences again, with their counts.
void LogSuppressedCount();

// The wrapper of every API function: see the theory of operation. The body returns nothing and throws ApiError.
template <typename Body>
[[gnu::always_inline]] inline cudaError_t Api(const char* function, Faults faults, Body body) {
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex());
  cudaError_t error = r.Enter(function, faults, __builtin_frame_address(0));
  if (error == cudaSuccess) {
    try {
      body(r);
    } catch (...) {
      error = Runtime::Handle();
    }
  }
  return r.Leave(error);
}

template <typename Body>
[[gnu::always_inline]] inline cudaError_t Api(const char* function, Body body) {
  return Api(function, Faults::kReports, body);
}

// During stream capture (capture.cc): a call that might wait for captured work, or interfere with it, invalidates the
// captures that forbid it; they fail when they end. cudaSuccess: it is allowed.
cudaError_t SpoilByUnsafeCall();
// The same for a function by name; some functions are never unsafe.
cudaError_t SpoilByCallOf(std::string_view function);
// For a call that uses the legacy stream; `spoils`: invalidates the captures, instead of only failing the call.
cudaError_t SpoilByLegacyStream(bool spoils);
inline void RequireSafeInCapture() { Require(SpoilByUnsafeCall() == cudaSuccess, cudaErrorStreamCaptureUnsupported); }

// Ends the process with a message if it has loaded an unsupported library (cudart/libraries/host_libraries.cc). Call
// with the runtime's lock.
void RefuseHostLibraries();

// " (shift.cu:17)": the program's call site of the running call, for messages; or "".
std::string AtCallSite();
// Whether the device is in a judge, reached through a socket.
bool HasJudge();

// For missing features, "textures": prints a message and fails with cudaErrorNotSupported.
[[noreturn]] void NotSupported(const std::string& what);

}  // namespace lockstep::vgpu::cudart

// The variant of an API function in which a null stream means the calling thread's (nvcc --default-stream per-thread):
// a function with the same signature that jumps to the other, because its parameters can't be named here.
namespace lockstep::vgpu::cudart {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // deprecated functions have a variant too
template <auto kFunction>
struct PerThread;
template <typename Result, typename... Arguments, Result (*kFunction)(Arguments...)>
struct PerThread<kFunction> {
  static Result Call(Arguments... arguments) {
    struct Scope {
      const bool outer = std::exchange(NullIsOfThread(), true);
      ~Scope() { NullIsOfThread() = outer; }
    } const scope;
    return kFunction(arguments...);
  }
};
#pragma GCC diagnostic pop
}  // namespace lockstep::vgpu::cudart
#if defined(__aarch64__)
#define LOCKSTEP_JUMP(to) "adrp x16, " to "\n ldr x16, [x16, :lo12:" to "]\n br x16"
#else
#define LOCKSTEP_JUMP(to) "jmp *" to "(%rip)"
#endif
#define LOCKSTEP_PER_THREAD(function, suffix)                                                                       \
  extern "C" __attribute__((visibility("hidden"), used)) decltype(&function) const of_##function##suffix =          \
      &lockstep::vgpu::cudart::PerThread<&function>::Call;                                                          \
  asm(".pushsection .text\n.globl " #function #suffix "\n.type " #function #suffix ",%function\n" #function #suffix \
      ":\n " LOCKSTEP_JUMP("of_" #function #suffix) "\n.size " #function #suffix ",.-" #function #suffix            \
                                                    "\n.popsection");
