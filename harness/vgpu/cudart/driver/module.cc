// Modules, libraries, kernels and their launches.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string>
#include <type_traits>

#include "vgpu/cudart/binary/ptx_check.h"
#include "vgpu/cudart/driver/driver.h"
#include "vgpu/cudart/jit_options.h"

namespace lockstep::vgpu::cudart::driver {

namespace {

cudaLibrary_t LibraryOf(const void* handle) { return reinterpret_cast<cudaLibrary_t>(const_cast<void*>(handle)); }

// A module must load completely; an error in its text is returned and logged.
cudaError_t LoadNow(cudaLibrary_t library) {
  const cudaError_t error = Api("cuModuleLoadData", [&](Runtime& r) {
    Module* const module = r.ModuleOf(library);
    module->of_driver = true;
    module->context = OwnContext();
    r.Load(*module);
  });
  if (error != cudaSuccess) cudaLibraryUnload(library);
  return error;
}

// Loads a library through one of the runtime's functions.
template <typename Handle, typename From>
cudaError_t LoadBy(decltype(cudaLibraryLoadData) load, Handle* handle, const From* from) {
  if (handle == nullptr || from == nullptr) return cudaErrorInvalidValue;
  cudaLibrary_t library = nullptr;
  cudaError_t error = load(&library, from, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (error == cudaSuccess && std::is_same_v<Handle, CUmodule>) error = LoadNow(library);
  if (error == cudaSuccess) *handle = reinterpret_cast<Handle>(library);
  return error;
}
template <typename Handle>
cudaError_t Load(Handle* handle, const void* image) {
  return LoadBy(cudaLibraryLoadData, handle, image);
}
template <typename Handle>
cudaError_t LoadFile(Handle* handle, const char* path) {
  if (path != nullptr && *path == 0) return cudaErrorInvalidValue;
  return LoadBy([](cudaLibrary_t* library, const void* file,
                   auto... rest) { return cudaLibraryLoadFromFile(library, static_cast<const char*>(file), rest...); },
                handle, path);
}

// Loads an image with options. If load() finds its text wrong, the error log gets what the assembler says of it.
template <typename Body>
cudaError_t LoadLogged(const void* image, unsigned count, CUjit_option* options, void** values, Body load) {
  std::vector<void*> asked(values, values == nullptr ? values : values + count);
  ClearLogs(count, options, values);
  cudaError_t wrong = cudaSuccess;
  const cudaError_t error = load(wrong);
  const bool of_text =
      wrong == cudaErrorInvalidPtx || wrong == cudaErrorUnsupportedPtxVersion || wrong == cudaErrorInvalidKernelImage;
  if (!of_text || asked.empty()) return error;
  FillErrorLog(count, options, asked.data(), CheckPtx(static_cast<const char*>(image), ProfileHere()).log);
  for (unsigned k = 0; k < count; ++k) {
    if (options[k] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) values[k] = asked[k];
  }
  return error;
}

template <typename Handle>
cudaError_t GetKernel(Handle* kernel, const void* library, const char* name) {
  if (kernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
  cudaKernel_t found = nullptr;
  const cudaError_t error = cudaLibraryGetKernel(&found, LibraryOf(library), name);
  if (error == cudaSuccess) *kernel = reinterpret_cast<Handle>(found);
  return error;
}

cudaError_t GetGlobal(CUdeviceptr* address, size_t* bytes, const void* library, const char* name) {
  if (name == nullptr || (address == nullptr && bytes == nullptr)) return cudaErrorInvalidValue;
  void* found = nullptr;
  const cudaError_t error = cudaLibraryGetGlobal(&found, bytes, LibraryOf(library), name);
  if (error == cudaSuccess && address != nullptr) *address = reinterpret_cast<CUdeviceptr>(found);
  return error;
}

cudaError_t NameOf(const char** name, const void* kernel) {
  return kernel == nullptr ? cudaErrorInvalidValue : cudaFuncGetName(name, kernel);
}

cudaError_t Attribute(int* value, CUfunction_attribute attribute, const void* kernel) {
  if (value == nullptr) return cudaErrorInvalidValue;
  cudaFuncAttributes all;
  const cudaError_t error = cudaFuncGetAttributes(&all, kernel);
  if (error != cudaSuccess) return error;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return *value = all.maxThreadsPerBlock, cudaSuccess;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return *value = static_cast<int>(all.sharedSizeBytes), cudaSuccess;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      return *value = static_cast<int>(all.constSizeBytes), cudaSuccess;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return *value = static_cast<int>(all.localSizeBytes), cudaSuccess;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return *value = all.numRegs, cudaSuccess;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return *value = all.ptxVersion, cudaSuccess;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return *value = all.binaryVersion, cudaSuccess;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return *value = all.cacheModeCA, cudaSuccess;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return *value = all.maxDynamicSharedSizeBytes, cudaSuccess;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return *value = all.preferredShmemCarveout, cudaSuccess;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      return *value = all.clusterDimMustBeSet, cudaSuccess;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return *value = all.requiredClusterWidth, cudaSuccess;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return *value = all.requiredClusterHeight, cudaSuccess;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return *value = all.requiredClusterDepth, cudaSuccess;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return *value = all.nonPortableClusterSizeAllowed != 0 ? 1 : 0, cudaSuccess;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return *value = all.clusterSchedulingPolicyPreference, cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

// The module of a kernel. A CUmodule and a CUlibrary have the same representation.
template <typename Handle>
cudaError_t ModuleOf(Handle* handle, const void* kernel) {
  if (handle == nullptr || kernel == nullptr) return cudaErrorInvalidValue;
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex());
  try {
    *handle = reinterpret_cast<Handle>(r.KernelOf(kernel).module);
  } catch (const ApiError& error) {
    return error.code;
  }
  return cudaSuccess;
}

// Whether a launch fails because the function's context is not the stream's, or has ended.
bool IsElsewhere(CUfunction function, CUstream stream) {
  if (function == nullptr || (!IsMade(stream) && IsGone(function))) return function != nullptr;
  bool is_elsewhere = false;
  Api("cuLaunchKernel", Faults::kNone, [&](Runtime& r) {
    const Module& module = *r.KernelOf(function).module;
    const Stream& in = r.timeline().StreamOf(r.device(), stream);
    is_elsewhere = module.of_driver && module.context != in.context.value_or(OwnContext());
  });
  return is_elsewhere;
}

// The parameters' addresses, from a buffer with all parameters in the kernel's layout (the `extra` argument).
struct Arguments {
  std::vector<char> values;
  std::vector<void*> pointers;
  cudaError_t error = cudaSuccess;

  Arguments(const void* kernel, void** extra) {
    char* buffer = nullptr;
    size_t bytes = 0;
    bool sized = false;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
      if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
        buffer = static_cast<char*>(extra[1]);
      } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) {
        bytes = *static_cast<size_t*>(extra[1]);
        sized = true;
      } else {
        error = cudaErrorInvalidValue;
        return;
      }
    }
    size_t offset = 0, size = 0, whole = 0;
    if (buffer != nullptr && !sized) error = cudaErrorInvalidValue;
    for (size_t k = 0; cudaFuncGetParamInfo(kernel, k, &offset, &size) == cudaSuccess; ++k) {
      whole = offset + size;
      pointers.push_back(reinterpret_cast<void*>(offset));
    }
    // Missing bytes at the end of a short buffer are undefined for the kernel; an overlong one is an error.
    if ((buffer == nullptr || bytes == 0) && whole > 0) error = cudaErrorInvalidValue;
    if (bytes > whole) error = cudaErrorLaunchOutOfResources;
    if (error != cudaSuccess) return;
    values.resize(whole);
    if (whole > 0) std::memcpy(values.data(), buffer, std::min(bytes, whole));
    for (void*& pointer : pointers) pointer = values.data() + reinterpret_cast<size_t>(pointer);
  }
};

// Resident blocks per multiprocessor for a kernel and a block size.
cudaError_t Resident(int* blocks, const void* kernel, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared);
}

cudaError_t BestBlock(int* grid, int* block, const void* kernel, CUoccupancyB2DSize shared_of, size_t shared,
                      int most) {
  if (grid == nullptr || block == nullptr) return cudaErrorInvalidValue;
  int ordinal = 0, units = 0;
  cudaFuncAttributes attributes;
  if (const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel); error != cudaSuccess) return error;
  cudaGetDevice(&ordinal);
  cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, ordinal);
  if (most < 0) return cudaErrorInvalidValue;
  const int limit = most > 0 ? std::min(most, attributes.maxThreadsPerBlock) : attributes.maxThreadsPerBlock;
  int best = 0;
  *grid = *block = 0;
  for (int rounded = (limit + 31) / 32 * 32; rounded > 0; rounded -= 32) {
    const int threads = std::min(rounded, limit);
    int blocks = 0;
    const cudaError_t error = Resident(&blocks, kernel, threads, shared_of != nullptr ? shared_of(threads) : shared);
    if (error != cudaSuccess) return error;
    if (threads * blocks <= best) continue;
    best = threads * blocks;
    *block = threads;
    *grid = blocks * units;
  }
  return cudaSuccess;
}

cudaLaunchConfig_t Runtimes(const CUlaunchConfig& config) {
  cudaLaunchConfig_t same{};
  same.gridDim = dim3(config.gridDimX, config.gridDimY, config.gridDimZ);
  same.blockDim = dim3(config.blockDimX, config.blockDimY, config.blockDimZ);
  same.dynamicSmemBytes = config.sharedMemBytes;
  same.stream = config.hStream;
  same.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs);
  same.numAttrs = config.numAttrs;
  return same;
}

}  // namespace

bool IsUnloaded(CUmodule module) {
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex());
  try {
    r.ModuleOf(module);
    return false;
  } catch (const ApiError&) {
    return true;
  }
}

bool IsGone(CUfunction function) {
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex());
  try {
    return r.IsFunctionGone(function);
  } catch (const ApiError&) {
    return true;
  }
}

}  // namespace lockstep::vgpu::cudart::driver

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

// ---- Modules and libraries ----

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return Drive("cuModuleLoadData", [&] { return Load(module, image); });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
  return Drive("cuModuleLoadDataEx", [&] {
    if (const cudaError_t wrong = CheckOptions(ProfileHere(), count, options, values); wrong != cudaSuccess)
      return wrong;
    return LoadLogged(image, count, options, values, [&](cudaError_t& wrong) { return wrong = Load(module, image); });
  });
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return Drive("cuModuleLoadFatBinary", [&] { return Load(module, image); });
}

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return Drive("cuModuleLoad", [&] { return LoadFile(module, path); });
}

CUresult cuModuleUnload(CUmodule module) {
  return Drive("cuModuleUnload", Needs::kInit, [&] {
    return Api("cuModuleUnload", [&](Runtime& r) {
      Module* const unloaded = r.ModuleOf(module);
      Require(unloaded->of_driver, cudaErrorNotPermitted);
      r.RemoveModule(unloaded);
    });
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return Drive("cuModuleGetFunction", module != nullptr && IsUnloaded(module) ? Needs::kInit : Needs::kContext, [&] {
    if (module == nullptr) return cudaErrorInvalidResourceHandle;
    if (name != nullptr && *name == '\0') return cudaErrorInvalidValue;
    return GetKernel(function, module, name);
  });
}

CUresult cuModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return Drive("cuModuleGetGlobal", Needs::kInit, [&] {
    const cudaError_t error =
        module == nullptr ? cudaErrorInvalidResourceHandle : GetGlobal(address, bytes, module, name);
    if (error != cudaSuccess && bytes != nullptr) *bytes = 0;
    return error;
  });
}

CUresult cuModuleGetTexRef(CUtexref* reference, CUmodule module, const char* name) {
  return Drive("cuModuleGetTexRef", [&] {
    if (module == nullptr) return cudaErrorInvalidResourceHandle;
    if (reference == nullptr || name == nullptr || *name == '\0') return cudaErrorInvalidValue;
    uint64_t variable = 0;
    const cudaError_t error = Api("cuModuleGetTexRef", [&](Runtime& r) {
      const auto found = r.backend().FindVariable(r.Load(*r.ModuleOf(module)), name);
      Require(found && found->texture, cudaErrorSymbolNotFound);
      variable = found->address;
    });
    if (error != cudaSuccess) return error;
    *reference = ReferenceAt(Pointer(variable));
    return *reference == nullptr ? cudaErrorSymbolNotFound : cudaSuccess;
  });
}
// Surface references were removed in CUDA 12.
CUresult cuModuleGetSurfRef(CUsurfref* reference, CUmodule module, const char* name) {
  return Drive("cuModuleGetSurfRef", [&] {
    if (module == nullptr) return cudaErrorInvalidResourceHandle;
    if (reference == nullptr || name == nullptr || *name == '\0') return cudaErrorInvalidValue;
    return cudaErrorSymbolNotFound;
  });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return Drive("cuModuleGetFunctionCount", [&] { return cudaLibraryGetKernelCount(count, LibraryOf(module)); });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned most, CUmodule module) {
  return Drive("cuModuleEnumerateFunctions", [&] {
    return cudaLibraryEnumerateKernels(reinterpret_cast<cudaKernel_t*>(functions), most, LibraryOf(module));
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return Drive("cuModuleGetLoadingMode", Needs::kInit, [&] {
    if (mode == nullptr) return cudaErrorInvalidValue;
    *mode = CU_MODULE_LAZY_LOADING;
    return cudaSuccess;
  });
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options, void** values, unsigned count,
                           CUlibraryOption* own, void**, unsigned own_count) {
  return Drive("cuLibraryLoadData", Needs::kInit, [&] {
    if (own_count > 0 && (own == nullptr || std::any_of(own, own + own_count, [](CUlibraryOption option) {
                            return option < 0 || option >= CU_LIBRARY_NUM_OPTIONS;
                          })))
      return cudaErrorInvalidValue;
    // Its text is compiled when a symbol is requested.
    return LoadLogged(image, count, options, values, [&](cudaError_t& wrong) {
      const cudaError_t error = cudaLibraryLoadData(As<cudaLibrary_t*>(library), image, As<cudaJitOption*>(options),
                                                    values, count, nullptr, nullptr, 0);
      Runtime& r = runtime();
      const std::lock_guard lock(r.mutex());
      if (error == cudaSuccess) wrong = r.ModuleOf(*library)->error;
      return error;
    });
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options, void** values,
                               unsigned count, CUlibraryOption*, void**, unsigned) {
  return Drive("cuLibraryLoadFromFile", Needs::kInit, [&] {
    ClearLogs(count, options, values);
    return LoadFile(library, path);
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return Drive("cuLibraryUnload", Needs::kInit, [&] { return cudaLibraryUnload(LibraryOf(library)); });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return Drive("cuLibraryGetKernel", Needs::kInit, [&] { return GetKernel(kernel, library, name); });
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return Drive("cuLibraryGetKernelCount", Needs::kInit,
               [&] { return cudaLibraryGetKernelCount(count, LibraryOf(library)); });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned most, CUlibrary library) {
  return Drive("cuLibraryEnumerateKernels", Needs::kInit, [&] {
    return cudaLibraryEnumerateKernels(reinterpret_cast<cudaKernel_t*>(kernels), most, LibraryOf(library));
  });
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return Drive("cuLibraryGetModule", [&] {
    if (library == nullptr) return cudaErrorInvalidResourceHandle;
    if (module == nullptr) return cudaErrorInvalidValue;
    return Api("cuLibraryGetModule", [&](Runtime& r) {
      r.Load(*r.ModuleOf(library));
      *module = reinterpret_cast<CUmodule>(library);
    });
  });
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name) {
  return Drive("cuLibraryGetManaged", [&] {
    return cudaLibraryGetManaged(reinterpret_cast<void**>(address), bytes, LibraryOf(library), name);
  });
}

CUresult cuLibraryGetUnifiedFunction(void** function, CUlibrary library, const char* name) {
  return Drive("cuLibraryGetUnifiedFunction",
               [&] { return cudaLibraryGetUnifiedFunction(function, LibraryOf(library), name); });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name) {
  return Drive("cuLibraryGetGlobal", [&] { return GetGlobal(address, bytes, library, name); });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return Drive("cuKernelGetFunction", [&] {
    if (kernel == nullptr) return cudaErrorInvalidResourceHandle;
    if (function == nullptr) return cudaErrorInvalidValue;
    *function = reinterpret_cast<CUfunction>(kernel);
    return cudaSuccess;
  });
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return Drive("cuKernelGetName", Needs::kInit, [&] { return NameOf(name, kernel); });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return Drive("cuKernelGetParamInfo", Needs::kInit, [&] {
    return kernel == nullptr ? cudaErrorInvalidValue : cudaFuncGetParamInfo(kernel, index, offset, bytes);
  });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return Drive("cuKernelGetAttribute", Needs::kInit,
               [&] { return device != 0 ? cudaErrorInvalidDevice : Attribute(value, attribute, kernel); });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return Drive("cuKernelSetAttribute", Needs::kInit, [&] {
    if (device != 0) return cudaErrorInvalidDevice;
    if (kernel == nullptr) return cudaErrorInvalidResourceHandle;
    return cudaFuncSetAttribute(kernel, static_cast<cudaFuncAttribute>(attribute), value);
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return Drive("cuKernelGetLibrary", Needs::kInit,
               [&] { return kernel == nullptr ? cudaErrorInvalidResourceHandle : ModuleOf(library, kernel); });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  return DriveUnlessFaulted("cuFuncGetModule", Needs::kInit, [&] {
    if (function != nullptr && IsGone(function)) return cudaErrorInvalidResourceHandle;
    return ModuleOf(module, function);
  });
}

// A function is loaded as soon as it has a handle.
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
  return Drive("cuFuncIsLoaded", [&] {
    CUmodule module = nullptr;
    if (state == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = ModuleOf(&module, function);
    if (error == cudaSuccess) *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return error;
  });
}

CUresult cuFuncLoad(CUfunction function) {
  return Drive("cuFuncLoad", [&] {
    CUmodule module = nullptr;
    return ModuleOf(&module, function);
  });
}

// ---- Launches ----

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void** parameters,
                        void** extra) {
  return Drive("cuLaunchKernel", NeedsOf(stream), [&] {
    if (const cudaError_t error = Usable(stream); error != cudaSuccess) return error;
    if (function == nullptr || IsElsewhere(function, stream)) return cudaErrorInvalidResourceHandle;
    const dim3 grid(grid_x, grid_y, grid_z), block(block_x, block_y, block_z);
    if (extra == nullptr) return cudaLaunchKernel(function, grid, block, parameters, shared, stream);
    if (parameters != nullptr) return cudaErrorInvalidValue;
    Arguments arguments(function, extra);
    if (arguments.error != cudaSuccess) return arguments.error;
    return cudaLaunchKernel(function, grid, block, arguments.pointers.data(), shared, stream);
  });
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                   CUstream stream, void** parameters) {
  return Drive("cuLaunchCooperativeKernel", NeedsOf(stream), [&] {
    if (IsElsewhere(function, stream)) return cudaErrorInvalidResourceHandle;
    return cudaLaunchCooperativeKernel(function, dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z),
                                       parameters, shared, stream);
  });
}

// CUDA wants each launch of the list on a different device. Only a list of one launch is supported.
CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* list, unsigned count, unsigned flags) {
  if (list == nullptr || count != 1 || flags > 3) return CUDA_ERROR_INVALID_VALUE;
  if (!IsMade(list->hStream)) return CUDA_ERROR_INVALID_HANDLE;
  return cuLaunchCooperativeKernel(list->function, list->gridDimX, list->gridDimY, list->gridDimZ, list->blockDimX,
                                   list->blockDimY, list->blockDimZ, list->sharedMemBytes, list->hStream,
                                   list->kernelParams);
}

// Attributes have the same layout in both APIs.
static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  return Drive("cuLaunchKernelEx", [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t same = Runtimes(*config);
    if (extra == nullptr) return cudaLaunchKernelExC(&same, function, parameters);
    Arguments arguments(function, extra);
    if (arguments.error != cudaSuccess) return arguments.error;
    return cudaLaunchKernelExC(&same, function, arguments.pointers.data());
  });
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return Drive("cuLaunchHostFunc", NeedsOf(stream), [&] { return cudaLaunchHostFunc(stream, function, data); });
}

// ---- Functions ----

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return DriveHandle("cuFuncGetAttribute", function, [&] { return Attribute(value, attribute, function); });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return DriveHandle("cuFuncSetAttribute", function,
                     [&] { return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value); });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  return Drive("cuKernelSetCacheConfig", Needs::kInit, [&] {
    return device != 0 ? cudaErrorInvalidDevice : cudaFuncSetCacheConfig(kernel, static_cast<cudaFuncCache>(config));
  });
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  return Drive("cuFuncSetCacheConfig", Needs::kInit, [&] {
    if (function != nullptr && IsGone(function)) return cudaErrorInvalidResourceHandle;
    return cudaFuncSetCacheConfig(function, static_cast<cudaFuncCache>(config));
  });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return Drive("cuFuncGetName", Needs::kInit, [&] { return NameOf(name, function); });
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  return Drive("cuFuncGetParamInfo", Needs::kInit,
               [&] { return cudaFuncGetParamInfo(function, index, offset, bytes); });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
  return DriveHandle("cuOccupancyMaxActiveClusters", function, [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t same = Runtimes(*config);
    return cudaOccupancyMaxActiveClusters(clusters, function, &same);
  });
}
CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function, const CUlaunchConfig* config) {
  return DriveHandle("cuOccupancyMaxPotentialClusterSize", function, [&] {
    if (config == nullptr) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t same = Runtimes(*config);
    return cudaOccupancyMaxPotentialClusterSize(size, function, &same);
  });
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks, int threads) {
  return DriveHandle("cuOccupancyAvailableDynamicSMemPerBlock", function,
                     [&] { return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads); });
}
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return DriveUnlessFaulted("cuFuncSetSharedMemConfig", [&] {
    if (IsGone(function)) return cudaErrorInvalidResourceHandle;
    const bool is_known = config >= 0 && config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
    return is_known ? cudaSuccess : cudaErrorInvalidValue;
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads, size_t shared) {
  return Drive("cuOccupancyMaxActiveBlocksPerMultiprocessor",
               [&] { return Resident(blocks, function, threads, shared); });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int threads,
                                                              size_t shared, unsigned flags) {
  return Drive("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, flags);
  });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function, CUoccupancyB2DSize shared_of,
                                          size_t shared, int most) {
  return Drive("cuOccupancyMaxPotentialBlockSize",
               [&] { return BestBlock(grid, block, function, shared_of, shared, most); });
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, size_t shared, int most,
                                                   unsigned flags) {
  return Drive("cuOccupancyMaxPotentialBlockSizeWithFlags", [&] {
    if (flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) return cudaErrorInvalidValue;
    return BestBlock(grid, block, function, shared_of, shared, most);
  });
}

}  // extern "C"
