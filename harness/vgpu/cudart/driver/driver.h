// The CUDA driver API (libcuda.so.1), on top of the runtime API in this library.
//
// Theory of operation. libcuda.so.1 in the build tree is another name of libcudart.so.13, so that a program that uses
// both has one device, one set of streams and one clock. Handles are shared: a CUstream is a cudaStream_t, a CUmodule
// and a CUlibrary a cudaLibrary_t, a CUfunction and a CUkernel a cudaKernel_t, a CUdeviceptr an address. A driver
// function is one call of Drive(): it checks what the driver checks first (cuInit, a current context), calls the
// runtime, and turns its error into the driver's. The numbers of most errors are the same in both. Messages name the
// driver's function. The runtime's last error stays as it was.
//
// A context owns its streams, events, modules and memory, which end with it; all contexts of a device share its address
// space. An event is recorded, a function launched only in a stream of the same one. Submissions can't use the driver API.
#pragma once

#include <cuda.h>

#include <type_traits>

#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart::driver {

enum class Needs : uint8_t {
  kNothing,
  kInit,     // cuInit was called
  kContext,  // and this thread has a current context
};

// What CUcontext points to.
struct Context {
  int device = 0;
  unsigned flags = 0;
  bool primary = false;
  bool has_flags = false;  // of a primary context: flags were set for the context, not for the device
  bool was_reset = false;  // a primary context that was reset after it was last retained
  int attached = 0;        // count of cuCtxAttach
};

// This thread's context: the one made current by the driver API, or the device's primary one if the runtime API is in
// use. May be nullptr.
Context* CurrentContext();
// The handle of a context of this device that is as from OwnContext().
CUcontext HandleOf(const void* context, int device);
// Whether the program created the stream: then it has a context of its own, and none needs to be current.
inline bool IsMade(CUstream stream) {
  return stream != nullptr && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD;
}
cudaError_t CheckDevice(CUdevice device);  // whether the device exists
Needs NeedsOf(CUstream stream);
// Whether the function's module was unloaded, or its context has ended.
bool IsGone(CUfunction function);
// The error of a call whose needs are not met, or in a lost context; CUDA_SUCCESS: it may proceed.
CUresult Ready(const char* function, Needs needs);
CUresult ResultOf(cudaError_t error);
// Refuses a driver function by its symbol: prints a message, and fails.
int RefuseDriverCall(const char* symbol);

// The body returns cudaError_t.
template <typename Body>
CUresult Drive(const char* function, Needs needs, Body body) {
  if (const CUresult result = Ready(function, needs); result != CUDA_SUCCESS) return result;
  const char* const outer = std::exchange(CalledAs(), function);
  const cudaError_t last = LastError();
  const cudaError_t error = body();
  LastError() = last;
  CalledAs() = outer;
  // A device that was reset after a fault has lost this context too.
  if (needs != Needs::kNothing && error == cudaErrorDevicesUnavailable) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return ResultOf(error);
}

template <typename Body>
CUresult Drive(const char* function, Body body) {
  return Drive(function, Needs::kContext, body);
}

// For a function that reports a fault of the context before it checks its arguments.
template <typename Body>
CUresult DriveUnlessFaulted(const char* function, Needs needs, Body body) {
  return Drive(function, needs, [&] {
    const bool has_context = CurrentContext() != nullptr;
    const cudaError_t fault = has_context ? Api(function, Faults::kReports, [](Runtime&) {}) : cudaSuccess;
    return fault != cudaSuccess ? fault : body();
  });
}
template <typename Body>
CUresult DriveUnlessFaulted(const char* function, Body body) {
  return DriveUnlessFaulted(function, Needs::kContext, body);
}

// Whether work may be added to the stream: not to the legacy one while a stream that synchronises with it is captured,
// nor after a failed capture.
cudaError_t Usable(CUstream stream);

// For a function that checks its handle before anything else.
template <typename Handle, typename Body>
CUresult DriveHandle(const char* function, Handle handle, Body body) {
  return handle == nullptr ? CUDA_ERROR_INVALID_HANDLE : Drive(function, body);
}

// Converts a driver function's argument to the runtime's type. Handles, enumerators and structures differ only in their
// type's name.
template <typename To, typename From>
To As(From from) {
  if constexpr (std::is_convertible_v<From, To>) {
    return from;
  } else if constexpr (std::is_enum_v<To>) {
    return static_cast<To>(from);
  } else {
    static_assert(sizeof(To) == sizeof(From));
    return reinterpret_cast<To>(from);
  }
}

// For a driver function that does the same as a runtime function.
template <typename... Taken, typename... Given>
CUresult Pass(const char* function, cudaError_t (*runtime)(Taken...), Given... given) {
  return Drive(function, [&] { return runtime(As<Taken>(given)...); });
}
template <typename... Taken, typename... Given>
CUresult PassOnInit(const char* function, cudaError_t (*runtime)(Taken...), Given... given) {
  return Drive(function, Needs::kInit, [&] { return runtime(As<Taken>(given)...); });
}

// The same for a function whose first argument is a stream.
template <typename... Taken, typename... Given>
CUresult PassOnStream(const char* function, cudaError_t (*runtime)(cudaStream_t, Taken...), CUstream stream,
                      Given... given) {
  return Drive(function, NeedsOf(stream), [&] { return runtime(stream, As<Taken>(given)...); });
}

// Defines such functions: Pass or another of these, both names, and the types of the parameters.
#define LOCKSTEP_FORWARD1(how, name, runtime, A) \
  CUresult name(A a) { return how(#name, runtime, a); }
#define LOCKSTEP_FORWARD2(how, name, runtime, A, B) \
  CUresult name(A a, B b) { return how(#name, runtime, a, b); }
#define LOCKSTEP_FORWARD3(how, name, runtime, A, B, C) \
  CUresult name(A a, B b, C c) { return how(#name, runtime, a, b, c); }
#define LOCKSTEP_FORWARD4(how, name, runtime, A, B, C, D) \
  CUresult name(A a, B b, C c, D d) { return how(#name, runtime, a, b, c, d); }
#define LOCKSTEP_FORWARD5(how, name, runtime, A, B, C, D, E) \
  CUresult name(A a, B b, C c, D d, E e) { return how(#name, runtime, a, b, c, d, e); }

// The cudaMemcpyKind of a copy between memory of these types.
cudaMemcpyKind KindOf(CUmemorytype to, CUmemorytype from);

inline void* Pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// Clears the logs in a compiler's or linker's options: messages about a module go to standard error.
void ClearLogs(unsigned count, CUjit_option* options, void** values);

// Writes a message of the assembler or linker to the error log in such options, truncated to its size.
void FillErrorLog(unsigned count, CUjit_option* options, void** values, const std::string& log);
// The current device's profile.
const DeviceProfile& ProfileHere();

// The texture reference of a module's variable; nullptr if it was destroyed. For variable nullptr: a new reference.
CUtexref ReferenceAt(void* variable);

// Prints that a form of a driver function is missing.
cudaError_t Missing(const char* what);

}  // namespace lockstep::vgpu::cudart::driver
