// Handles for other processes. No other process can open one; that is refused.
#include <cstring>

#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/pointer.h"
#include "vgpu/cudart/work.h"

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return Api("cudaIpcGetEventHandle", [&](Runtime& r) {
    Require(event != nullptr, cudaErrorInvalidValue);
    Require((r.timeline().EventOf(event).flags & cudaEventInterprocess) != 0, cudaErrorInvalidResourceHandle);
    Require(handle != nullptr, cudaErrorInvalidValue);
    std::memset(handle, 0, sizeof *handle);
  });
}
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return Api("cudaIpcGetMemHandle", [&](Runtime& r) {
    const auto memory = MemoryAt(r, pointer);
    Require(handle != nullptr && memory && memory->of_malloc, cudaErrorInvalidValue);
    std::memset(handle, 0, sizeof *handle);
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

// The log of errors is empty; they are on standard error.
cudaError_t cudaLogsCurrent(cudaLogIterator* position, unsigned) {
  return Api("cudaLogsCurrent", [&](Runtime&) {
    Require(position != nullptr, cudaErrorInvalidValue);
    *position = 0;
  });
}
cudaError_t cudaLogsDumpToMemory(cudaLogIterator*, char* buffer, size_t* bytes, unsigned flags) {
  return Api("cudaLogsDumpToMemory", [&](Runtime&) {
    constexpr size_t kLeast = 64;
    Require(buffer != nullptr && bytes != nullptr && *bytes >= kLeast && flags == 0, cudaErrorInvalidValue);
    buffer[0] = 0;
    *bytes = 0;
  });
}

// Of pools, none here is made to be shared.
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
