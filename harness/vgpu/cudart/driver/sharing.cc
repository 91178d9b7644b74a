// Interfaces to other processes, debuggers and logs: handles of memory and events, core dumps, the error log.
#include <cstring>

#include "vgpu/cudart/driver/driver.h"
#include "vgpu/cudart/memory.h"
#include "vgpu/cudart/pointer.h"

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

// The handle is made, but no other process can open it.
CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return Pass("cuIpcGetEventHandle", cudaIpcGetEventHandle, reinterpret_cast<cudaIpcEventHandle_t*>(handle), event);
}
CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  return Pass("cuIpcGetMemHandle", cudaIpcGetMemHandle, reinterpret_cast<cudaIpcMemHandle_t*>(handle),
              Pointer(pointer));
}
CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return Drive("cuIpcOpenEventHandle", [&] {
    cudaIpcEventHandle_t same;
    std::memcpy(&same, &handle, sizeof same);
    return cudaIpcOpenEventHandle(event, same);
  });
}
CUresult cuIpcOpenMemHandle(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned flags) {
  return Drive("cuIpcOpenMemHandle", [&] {
    cudaIpcMemHandle_t same;
    std::memcpy(&same, &handle, sizeof same);
    return cudaIpcOpenMemHandle(reinterpret_cast<void**>(pointer), same, flags);
  });
}
CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) {
  return Pass("cuIpcCloseMemHandle", cudaIpcCloseMemHandle, Pointer(pointer));
}

CUresult cuMemGetHandleForAddressRange(void* handle, CUdeviceptr address, size_t bytes, CUmemRangeHandleType type,
                                       unsigned long long) {
  return Drive("cuMemGetHandleForAddressRange", [&] {
    constexpr size_t kPage = 4096;
    const auto memory = MemoryAt(runtime(), Pointer(address));
    const bool is_range = memory && memory->of_malloc && address % kPage == 0 && bytes % kPage == 0 && bytes > 0;
    if (handle == nullptr || !is_range || type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD) return cudaErrorInvalidValue;
    return Missing("memory as a DMA buffer");
  });
}

// The driver keeps an error log; here it is empty, because errors go to standard error.
CUresult cuLogsCurrent(CUlogIterator* position, unsigned) {
  if (position == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *position = 0;
  return CUDA_SUCCESS;
}
CUresult cuLogsDumpToMemory(CUlogIterator* position, char* buffer, size_t* bytes, unsigned) {
  constexpr size_t kLeast = 64;  // smallest buffer for the whole log
  if (buffer == nullptr || bytes == nullptr || (position == nullptr && *bytes < kLeast))
    return CUDA_ERROR_INVALID_VALUE;
  if (*bytes > 0) buffer[0] = 0;
  *bytes = 0;
  return CUDA_SUCCESS;
}
CUresult cuLogsDumpToFile(CUlogIterator*, const char* path, unsigned) {
  return path == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuLogsRegisterCallback(CUlogsCallback callback, void* data, CUlogsCallbackHandle* handle) {
  return ResultOf(cudaLogsRegisterCallback(reinterpret_cast<cudaLogsCallback_t>(callback), data,
                                           reinterpret_cast<cudaLogsCallbackHandle*>(handle)));
}
CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return handle == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// The virtual GPU writes no core dumps: all switches read as off, and the file name as empty.
static bool IsSwitch(CUcoredumpSettings attribute) {
  return attribute >= CU_COREDUMP_ENABLE_ON_EXCEPTION && attribute <= CU_COREDUMP_LIGHTWEIGHT;
}
static cudaError_t TellOfDump(CUcoredumpSettings attribute, void* value, const size_t* bytes) {
  if (value == nullptr || bytes == nullptr) return cudaErrorInvalidValue;
  if (attribute == CU_COREDUMP_FILE) {
    if (*bytes > 0) *static_cast<char*>(value) = 0;
    return cudaSuccess;
  }
  if (attribute == CU_COREDUMP_GENERATION_FLAGS && *bytes == sizeof(unsigned)) {
    return *static_cast<unsigned*>(value) = 0, cudaSuccess;
  }
  if (!IsSwitch(attribute) || *bytes != sizeof(bool)) return cudaErrorInvalidValue;
  return *static_cast<bool*>(value) = false, cudaSuccess;
}
CUresult cuCoredumpGetAttribute(CUcoredumpSettings attribute, void* value, size_t* bytes) {
  return Drive("cuCoredumpGetAttribute", [&] { return TellOfDump(attribute, value, bytes); });
}
CUresult cuCoredumpSetAttribute(CUcoredumpSettings attribute, void* value, size_t* bytes) {
  return Drive("cuCoredumpSetAttribute", [&] {
    const bool fits = value != nullptr && bytes != nullptr && IsSwitch(attribute) && *bytes == sizeof(bool);
    if (!fits) return cudaErrorInvalidValue;
    return *static_cast<bool*>(value) ? (Say("cuCoredumpSetAttribute: no core dumps are written"), cudaSuccess)
                                      : cudaSuccess;
  });
}
CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings attribute, void* value, size_t* bytes) {
  return Drive("cuCoredumpGetAttributeGlobal", Needs::kInit, [&] { return TellOfDump(attribute, value, bytes); });
}

}  // extern "C"
