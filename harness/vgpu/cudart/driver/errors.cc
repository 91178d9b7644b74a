// The driver API's errors, and how it finds its own functions.
#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

// The versions of CUDA that brought a function's forms. The last form has the symbol with the highest suffix: that of
// cuCtxGetDevice are cuCtxGetDevice (2000) and cuCtxGetDevice_v2 (13000).
const std::map<std::string_view, std::vector<int>>& Versions() {
  static const auto* const versions = [] {
    auto* all = new std::map<std::string_view, std::vector<int>>;
#define LOCKSTEP_VERSION(name, version) (*all)[#name].push_back(version);
#include "driver_versions.inc"
#undef LOCKSTEP_VERSION
    for (auto& [name, one] : *all) std::sort(one.begin(), one.end());
    return all;
  }();
  return *versions;
}

constexpr int kHighestSuffix = 9;
std::string WithSuffix(const std::string& name, int number) {
  return number <= 1 ? name : name + "_v" + std::to_string(number);
}

void* Own(const std::string& name) {
  static void* const self = [] {
    Dl_info info;
    return ::dladdr(reinterpret_cast<void*>(&Own), &info) != 0 ? ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD)
                                                               : nullptr;
  }();
  return self == nullptr ? nullptr : ::dlsym(self, name.c_str());
}

void* Find(const std::string& name, int version) {
  int highest = kHighestSuffix;
  while (highest > 0 && Own(WithSuffix(name, highest)) == nullptr) --highest;
  const auto known = Versions().find(name);
  if (highest == 0 || known == Versions().end()) return Own(name);
  const std::vector<int>& since = known->second;
  const auto newer = std::upper_bound(since.begin(), since.end(), version);
  if (newer == since.begin()) return nullptr;
  return Own(WithSuffix(name, highest - static_cast<int>(since.end() - newer)));
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

// Private tables of NVIDIA's, which its own libraries ask for and can do without.
CUresult cuGetExportTable(const void**, const CUuuid*) { return CUDA_ERROR_INVALID_VALUE; }

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
    *status = result == CUDA_SUCCESS                           ? CU_GET_PROC_ADDRESS_SUCCESS
              : name != nullptr && Versions().count(name) != 0 ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                                               : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (result == CUDA_ERROR_NOT_FOUND) return CUDA_SUCCESS;  // the status says it
  }
  return result;
}

}  // extern "C"
