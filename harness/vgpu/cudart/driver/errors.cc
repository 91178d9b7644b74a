// The driver API's errors, and how it finds its own functions.
#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <string>

#include "vgpu/cudart/driver/driver.h"

namespace lockstep::vgpu::cudart::driver {

namespace {

struct ResultName {
  CUresult result;
  const char* name;
};
#define LOCKSTEP_RESULT(result) \
  { result, #result }
constexpr ResultName kResults[] = {
    LOCKSTEP_RESULT(CUDA_SUCCESS),
    LOCKSTEP_RESULT(CUDA_ERROR_INVALID_VALUE),
    LOCKSTEP_RESULT(CUDA_ERROR_OUT_OF_MEMORY),
    LOCKSTEP_RESULT(CUDA_ERROR_NOT_INITIALIZED),
    LOCKSTEP_RESULT(CUDA_ERROR_DEINITIALIZED),
    LOCKSTEP_RESULT(CUDA_ERROR_DEVICE_UNAVAILABLE),
    LOCKSTEP_RESULT(CUDA_ERROR_NO_DEVICE),
    LOCKSTEP_RESULT(CUDA_ERROR_INVALID_DEVICE),
    LOCKSTEP_RESULT(CUDA_ERROR_INVALID_IMAGE),
    LOCKSTEP_RESULT(CUDA_ERROR_INVALID_CONTEXT),
    LOCKSTEP_RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU),
    LOCKSTEP_RESULT(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED),
    LOCKSTEP_RESULT(CUDA_ERROR_INVALID_PTX),
    LOCKSTEP_RESULT(CUDA_ERROR_UNSUPPORTED_PTX_VERSION),
    LOCKSTEP_RESULT(CUDA_ERROR_INVALID_SOURCE),
    LOCKSTEP_RESULT(CUDA_ERROR_FILE_NOT_FOUND),
    LOCKSTEP_RESULT(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND),
    LOCKSTEP_RESULT(CUDA_ERROR_OPERATING_SYSTEM),
    LOCKSTEP_RESULT(CUDA_ERROR_INVALID_HANDLE),
    LOCKSTEP_RESULT(CUDA_ERROR_ILLEGAL_STATE),
    LOCKSTEP_RESULT(CUDA_ERROR_NOT_FOUND),
    LOCKSTEP_RESULT(CUDA_ERROR_NOT_READY),
    LOCKSTEP_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS),
    LOCKSTEP_RESULT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
    LOCKSTEP_RESULT(CUDA_ERROR_LAUNCH_TIMEOUT),
    LOCKSTEP_RESULT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED),
    LOCKSTEP_RESULT(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED),
    LOCKSTEP_RESULT(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE),
    LOCKSTEP_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED),
    LOCKSTEP_RESULT(CUDA_ERROR_ASSERT),
    LOCKSTEP_RESULT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
    LOCKSTEP_RESULT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED),
    LOCKSTEP_RESULT(CUDA_ERROR_HARDWARE_STACK_ERROR),
    LOCKSTEP_RESULT(CUDA_ERROR_ILLEGAL_INSTRUCTION),
    LOCKSTEP_RESULT(CUDA_ERROR_MISALIGNED_ADDRESS),
    LOCKSTEP_RESULT(CUDA_ERROR_INVALID_ADDRESS_SPACE),
    LOCKSTEP_RESULT(CUDA_ERROR_INVALID_PC),
    LOCKSTEP_RESULT(CUDA_ERROR_LAUNCH_FAILED),
    LOCKSTEP_RESULT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE),
    LOCKSTEP_RESULT(CUDA_ERROR_NOT_PERMITTED),
    LOCKSTEP_RESULT(CUDA_ERROR_NOT_SUPPORTED),
    LOCKSTEP_RESULT(CUDA_ERROR_SYSTEM_NOT_READY),
    LOCKSTEP_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED),
    LOCKSTEP_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED),
    LOCKSTEP_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED),
    LOCKSTEP_RESULT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT),
    LOCKSTEP_RESULT(CUDA_ERROR_CAPTURED_EVENT),
    LOCKSTEP_RESULT(CUDA_ERROR_TIMEOUT),
    LOCKSTEP_RESULT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE),
    LOCKSTEP_RESULT(CUDA_ERROR_INVALID_CLUSTER_SIZE),
    LOCKSTEP_RESULT(CUDA_ERROR_UNKNOWN),
};
#undef LOCKSTEP_RESULT

const char* NameOf(CUresult result) {
  for (const ResultName& one : kResults) {
    if (one.result == result) return one.name;
  }
  return nullptr;
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

int RefuseDriverCall(const char* symbol) {
  // As programs call it: without the version and the stream's variant.
  std::string name(symbol);
  for (const char* mark : {"_pt", "_v"}) name.resize(std::min(name.find(mark), name.size()));
  static std::mutex mutex;
  static std::set<std::string> names;  // messages at the end of the process name it too
  const char* const function = [&] {
    const std::lock_guard lock(mutex);
    return names.insert(name).first->c_str();
  }();
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
