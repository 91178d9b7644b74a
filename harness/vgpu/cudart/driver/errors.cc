// The driver API's errors, and how it finds its own functions.
#include <dlfcn.h>

#include <string>

#include "vgpu/cudart/driver/driver.h"

namespace lockstep::vgpu::cudart::driver {

namespace {

#define LOCKSTEP_RESULTS(X)                                                                                            \
  X(SUCCESS)                                                                                                           \
  X(ERROR_INVALID_VALUE) X(ERROR_OUT_OF_MEMORY) X(ERROR_NOT_INITIALIZED) X(ERROR_DEINITIALIZED)                        \
      X(ERROR_DEVICE_UNAVAILABLE) X(ERROR_NO_DEVICE) X(ERROR_INVALID_DEVICE) X(ERROR_INVALID_IMAGE)                    \
          X(ERROR_INVALID_CONTEXT) X(ERROR_NO_BINARY_FOR_GPU) X(ERROR_PEER_ACCESS_UNSUPPORTED) X(ERROR_INVALID_PTX)    \
              X(ERROR_UNSUPPORTED_PTX_VERSION) X(ERROR_INVALID_SOURCE) X(ERROR_FILE_NOT_FOUND)                         \
                  X(ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND) X(ERROR_OPERATING_SYSTEM) X(ERROR_INVALID_HANDLE) X(         \
                      ERROR_ILLEGAL_STATE) X(ERROR_NOT_FOUND) X(ERROR_NOT_READY) X(ERROR_ILLEGAL_ADDRESS)              \
                      X(ERROR_LAUNCH_OUT_OF_RESOURCES) X(ERROR_LAUNCH_TIMEOUT) X(ERROR_PEER_ACCESS_ALREADY_ENABLED) X( \
                          ERROR_PEER_ACCESS_NOT_ENABLED) X(ERROR_PRIMARY_CONTEXT_ACTIVE) X(ERROR_CONTEXT_IS_DESTROYED) \
                          X(ERROR_ASSERT) X(ERROR_HOST_MEMORY_ALREADY_REGISTERED) X(ERROR_HOST_MEMORY_NOT_REGISTERED)  \
                              X(ERROR_HARDWARE_STACK_ERROR) X(ERROR_ILLEGAL_INSTRUCTION) X(ERROR_MISALIGNED_ADDRESS)   \
                                  X(ERROR_INVALID_ADDRESS_SPACE) X(ERROR_INVALID_PC) X(ERROR_LAUNCH_FAILED)            \
                                      X(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE) X(ERROR_NOT_PERMITTED)                     \
                                          X(ERROR_NOT_SUPPORTED) X(ERROR_SYSTEM_NOT_READY)                             \
                                              X(ERROR_STREAM_CAPTURE_UNSUPPORTED) X(ERROR_STREAM_CAPTURE_INVALIDATED)  \
                                                  X(ERROR_STREAM_CAPTURE_UNJOINED) X(ERROR_STREAM_CAPTURE_IMPLICIT)    \
                                                      X(ERROR_CAPTURED_EVENT) X(ERROR_TIMEOUT)                         \
                                                          X(ERROR_GRAPH_EXEC_UPDATE_FAILURE)                           \
                                                              X(ERROR_INVALID_CLUSTER_SIZE) X(ERROR_UNKNOWN)

const char* NameOf(CUresult result) {
  switch (result) {
#define LOCKSTEP_NAME(name) \
  case CUDA_##name:         \
    return "CUDA_" #name;
    LOCKSTEP_RESULTS(LOCKSTEP_NAME)
#undef LOCKSTEP_NAME
    default:
      return nullptr;
  }
}

// From which version of CUDA on a name means another function; else it means the one with the highest number.
struct Versioned {
  const char* name;
  int since;
  const char* suffix;
};
constexpr Versioned kVersioned[] = {
    {"cuCtxCreate", 13000, "_v4"},      {"cuCtxCreate", 12050, "_v4"},       {"cuCtxCreate", 3020, "_v2"},
    {"cuGetProcAddress", 12000, "_v2"}, {"cuGetProcAddress", 11030, ""},     {"cuEventElapsedTime", 12080, "_v2"},
    {"cuEventElapsedTime", 2000, ""},   {"cuDeviceGetUuid", 11040, "_v2"},   {"cuDeviceGetUuid", 9020, ""},
    {"cuMemAdvise", 12020, "_v2"},      {"cuMemPrefetchAsync", 12020, "_v2"}};

void* Own(const std::string& name) {
  static void* const self = [] {
    Dl_info info;
    return ::dladdr(reinterpret_cast<void*>(&Own), &info) != 0 ? ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                                                               : nullptr;
  }();
  return self == nullptr ? nullptr : ::dlsym(self, name.c_str());
}

void* Find(const std::string& name, int version) {
  bool known = false;
  for (const Versioned& one : kVersioned) {
    if (name != one.name) continue;
    known = true;
    if (version >= one.since) return Own(name + one.suffix);
  }
  if (known) return nullptr;
  for (const char* suffix : {"_v3", "_v2", ""}) {
    if (void* found = Own(name + suffix)) return found;
  }
  return nullptr;
}

}  // namespace

CUresult ResultOf(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorMissingConfiguration:
      return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
      return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_INVALID_HANDLE;
    default:
      return static_cast<CUresult>(error);  // the same numbers
  }
}

cudaError_t Missing(const char* what) {
  return Api(what, [&](Runtime&) { NotSupported(what); });
}

int RefuseDriverCall(const char* function) {
  return Drive(function, Needs::kNothing, [&] { return Missing(function); });
}

}  // namespace lockstep::vgpu::cudart::driver

using namespace lockstep::vgpu::cudart::driver;

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = NameOf(error);
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = NameOf(error) == nullptr ? nullptr : cudaGetErrorString(static_cast<cudaError_t>(error));
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

#undef cuGetProcAddress
CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t) {
  if (name == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *function = Find(name, version);
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  const CUresult result = cuGetProcAddress(name, function, version, flags);
  if (status != nullptr) {
    *status = result == CUDA_SUCCESS ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (result == CUDA_ERROR_NOT_FOUND) return CUDA_SUCCESS;  // the status says it
  }
  return result;
}

}  // extern "C"
