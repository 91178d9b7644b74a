// Handles for other processes. Opening one is refused. Using one in this process gives the same error as on a GPU.
#include <unistd.h>

#include <cstring>

#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/pointer.h"
#include "vgpu/cudart/work.h"

using namespace lockstep::vgpu::cudart;

namespace {

// A handle's contents: a marker, and the process.
struct Shared {
  char mark[8] = "vgpuipc";
  pid_t process = ::getpid();
};
template <typename Handle>
void Mark(Handle* handle) {
  std::memset(handle, 0, sizeof *handle);
  const Shared shared;
  std::memcpy(handle, &shared, sizeof shared);
}
// Always throws: `own` for a handle of this process, `wrong` for an invalid one; another process's is not supported.
template <typename Handle>
[[noreturn]] void RefuseToOpen(const Handle& handle, cudaError_t own, cudaError_t wrong) {
  Shared shared;
  const Shared here;
  std::memcpy(static_cast<void*>(&shared), &handle, sizeof shared);
  Require(std::memcmp(shared.mark, here.mark, sizeof here.mark) == 0, wrong);
  Require(shared.process != here.process, own);
  NotSupported("memory or an event of another process");
}

}  // namespace

extern "C" {

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return Api("cudaIpcGetEventHandle", [&](Runtime& r) {
    Require(event != nullptr, cudaErrorInvalidValue);
    Require((r.timeline().EventOf(event).flags & cudaEventInterprocess) != 0, cudaErrorInvalidResourceHandle);
    Require(handle != nullptr, cudaErrorInvalidValue);
    Mark(handle);
  });
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return Api("cudaIpcOpenEventHandle", [&](Runtime&) {
    Require(event != nullptr, cudaErrorInvalidValue);
    RefuseToOpen(handle, cudaErrorDeviceUninitialized, cudaErrorMapBufferObjectFailed);
  });
}
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned flags) {
  return Api("cudaIpcOpenMemHandle", [&](Runtime&) {
    Require(pointer != nullptr && flags == cudaIpcMemLazyEnablePeerAccess, cudaErrorInvalidValue);
    RefuseToOpen(handle, cudaErrorDeviceUninitialized, cudaErrorInvalidValue);
  });
}
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return Api("cudaIpcGetMemHandle", [&](Runtime& r) {
    const auto memory = MemoryAt(r, pointer);
    Require(handle != nullptr && memory && memory->of_malloc, cudaErrorInvalidValue);
    Mark(handle);
  });
}
cudaError_t cudaIpcCloseMemHandle(void*) {
  return Api("cudaIpcCloseMemHandle", [](Runtime&) { throw ApiError{cudaErrorInvalidValue}; });
}

cudaError_t cudaDeviceGetNvSciSyncAttributes(void* list, int device, int flags) {
  return Api("cudaDeviceGetNvSciSyncAttributes", [&](Runtime& r) {
    constexpr int kSignals = 1, kWaits = 2;
    Require(list != nullptr, cudaErrorInvalidResourceHandle);
    r.RequireDevice(device);
    throw ApiError{flags == kSignals || flags == kWaits ? cudaErrorNotSupported : cudaErrorInvalidValue};
  });
}

// The error log is empty, because errors go to standard error.
cudaError_t cudaLogsCurrent(cudaLogIterator* position, unsigned) {
  return Api("cudaLogsCurrent", [&](Runtime&) {
    Require(position != nullptr, cudaErrorInvalidValue);
    *position = 0;
  });
}
cudaError_t cudaLogsDumpToMemory(cudaLogIterator* position, char* buffer, size_t* bytes, unsigned flags) {
  return Api("cudaLogsDumpToMemory", [&](Runtime&) {
    constexpr size_t kLeast = 64;  // smallest buffer for the whole log
    Require(buffer != nullptr && bytes != nullptr && (position != nullptr || (*bytes >= kLeast && flags == 0)),
            cudaErrorInvalidValue);
    if (*bytes > 0) buffer[0] = 0;
    *bytes = 0;
  });
}
cudaError_t cudaLogsDumpToFile(cudaLogIterator*, const char* path, unsigned) {
  return Api("cudaLogsDumpToFile", [&](Runtime&) { Require(path != nullptr, cudaErrorInvalidValue); });
}
// Only makes a handle: the callback is never called.
cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callback, void*, cudaLogsCallbackHandle* handle) {
  return Api("cudaLogsRegisterCallback", [&](Runtime&) {
    Require(callback != nullptr && handle != nullptr, cudaErrorInvalidValue);
    *handle = reinterpret_cast<cudaLogsCallbackHandle>(handle);
  });
}
cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle handle) {
  return Api("cudaLogsUnregisterCallback", [&](Runtime&) { Require(handle != nullptr, cudaErrorInvalidValue); });
}
cudaError_t cudaDeviceRegisterAsyncNotification(int device, cudaAsyncCallback callback, void*,
                                                cudaAsyncCallbackHandle_t* handle) {
  return Api("cudaDeviceRegisterAsyncNotification", [&](Runtime& r) {
    r.RequireDevice(device);
    Require(callback != nullptr && handle != nullptr, cudaErrorInvalidValue);
    *handle = reinterpret_cast<cudaAsyncCallbackHandle_t>(handle);
  });
}
cudaError_t cudaDeviceUnregisterAsyncNotification(int device, cudaAsyncCallbackHandle_t handle) {
  return Api("cudaDeviceUnregisterAsyncNotification", [&](Runtime& r) {
    r.RequireDevice(device);
    Require(handle != nullptr, cudaErrorInvalidValue);
  });
}

// Always fails, because no pool can be exported here.
cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData*, void*) {
  return Api("cudaMemPoolExportPointer", [](Runtime&) { throw ApiError{cudaErrorInvalidValue}; });
}
cudaError_t cudaMemPoolImportPointer(void**, cudaMemPool_t, cudaMemPoolPtrExportData*) {
  return Api("cudaMemPoolImportPointer", [](Runtime&) { throw ApiError{cudaErrorInvalidValue}; });
}
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t*, void*, cudaMemAllocationHandleType, unsigned) {
  return Api("cudaMemPoolImportFromShareableHandle", [](Runtime&) { throw ApiError{cudaErrorInvalidValue}; });
}

}  // extern "C"
