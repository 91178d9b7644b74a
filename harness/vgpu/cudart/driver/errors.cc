// The driver API's errors, and how it finds its own functions.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
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
#define LOCKSTEP_RESULT(result) {result, #result}
constexpr ResultName kResults[] = {
#include "driver_results.inc"
};
#undef LOCKSTEP_RESULT

const char* NameOf(CUresult result) {
  for (const ResultName& one : kResults) {
    if (one.result == result) return one.name;
  }
  return nullptr;
}

// The text of a CUresult without a cudaError_t: its name in words, "map failed".
const char* InWords(const char* name) {
  constexpr std::string_view kPrefix = "CUDA_ERROR_";
  static std::mutex mutex;
  static auto& texts = *new std::map<std::string_view, std::string>;
  const std::lock_guard lock(mutex);
  std::string& text = texts[name];
  if (text.empty()) {
    text = std::string_view(name).substr(kPrefix.size());
    for (char& c : text) c = c == '_' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return text.c_str();
}

// For each function, the CUDA versions that introduced its forms, in ascending order of suffixes: cuCtxGetDevice has
// 2000 (cuCtxGetDevice) and 13000 (cuCtxGetDevice_v2).
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

// Replaces forms that only programs for an earlier CUDA version use.
int RefuseOldForm() { return RefuseDriverCall("the form that a driver function had in an earlier CUDA version"); }

// The form that a function (`name`: without suffix) had in this CUDA version; nullptr if it did not exist then.
// per_thread: its variant in which a null stream is the calling thread's, if it has one.
void* Find(const std::string& name, int version, bool per_thread) {
  constexpr int kFirstSuffixed = 3020, kFirst = 2000, kMajor = 1000;
  const auto known = Versions().find(name);
  if (known == Versions().end()) return nullptr;
  std::vector<int> since = known->second;
  int highest = kHighestSuffix;
  while (highest > 1 && Own(WithSuffix(name, highest)) == nullptr) --highest;
  // If there are more forms than recorded versions, the version of the first one is missing: estimate it.
  if (highest > static_cast<int>(since.size())) {
    since.insert(since.begin(), since[0] == kFirstSuffixed ? kFirst : since[0] / kMajor * kMajor);
  }
  const auto newer = std::upper_bound(since.begin(), since.end(), version);
  if (newer == since.begin()) return nullptr;
  const std::string own = WithSuffix(name, highest - static_cast<int>(since.end() - newer));
  for (const char* variant : {"_ptsz", "_ptds"}) {
    if (void* const found = per_thread ? Own(own + variant) : nullptr; found != nullptr) return found;
  }
  void* const form = Own(own);
  return form != nullptr ? form : reinterpret_cast<void*>(&RefuseOldForm);
}

bool MayAsk(int version, cuuint64_t flags) {
  constexpr cuuint64_t kKnown = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  return version <= CUDA_VERSION && (flags & ~kKnown) == 0;
}

// Names, once, the file that contains the caller, unless it is a library (lib…).
void NameCopyWithoutSymbols(const void* caller) {
  static std::atomic<bool> said = false;
  Dl_info info;
  if (::dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return;
  const std::string_view path = info.dli_fname;
  if (path.substr(path.find_last_of('/') + 1).rfind("lib", 0) == 0 || said.exchange(true)) return;
  std::fprintf(
      stderr,
      "lockstep: %s holds a copy of NVIDIA's CUDA runtime without symbols, which the virtual GPU can't replace: calls "
      "of the runtime fail, those of the driver API work\n",
      info.dli_fname);
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
      return static_cast<CUresult>(error);  // same number in both APIs
  }
}

cudaError_t Missing(const char* what) {
  return Api(what, [&](Runtime&) { NotSupported(what); });
}

int RefuseDriverCall(const char* symbol) {
  // The name that programs call: without version suffix and stream variant.
  std::string name(symbol);
  for (const char* mark : {"_pt", "_v"}) name.resize(std::min(name.find(mark), name.size()));
  static std::mutex mutex;
  static auto& names = *new std::set<std::string>;  // kept for messages at the end of the process
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
  const char* const name = NameOf(error);
  *text = nullptr;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto same = static_cast<cudaError_t>(error);
  const bool known = std::string_view(cudaGetErrorName(same)).rfind("cuda", 0) == 0;
  *text = known ? cudaGetErrorString(same) : InWords(name);
  if (error == CUDA_ERROR_KEY_ROTATION) *text = "an error happened during the key rotation sequence";
  return CUDA_SUCCESS;
}

// NVIDIA's private tables, which its own libraries request but can do without. A statically linked runtime can't; one
// with symbols would have been redirected (libraries/loader).
CUresult cuGetExportTable(const void**, const CUuuid*) {
  NameCopyWithoutSymbols(__builtin_return_address(0));
  return CUDA_ERROR_INVALID_VALUE;
}

#undef cuGetProcAddress
CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags) {
  if (name == nullptr || function == nullptr || !MayAsk(version, flags)) return CUDA_ERROR_INVALID_VALUE;
  *function = Find(name, version, (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0);
  return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  if (!MayAsk(version, flags)) return CUDA_ERROR_INVALID_VALUE;
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
