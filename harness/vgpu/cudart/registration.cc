// Functions called by nvcc's host code: registration before main, and for kernel<<<…>>>(…) pushing and popping its
// launch configuration.
#include <vector>

#include "vgpu/cudart/binary/fatbin.h"
#include "vgpu/cudart/report/api_failure.h"
#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart {

namespace {

// What the argument of __cudaRegisterFatBinary points to.
struct FatbinWrapper {
  uint32_t magic, version;
  const void* data;
  const void* linked;  // version 2 (nvcc -rdc=true): the objects' fat binaries, a null-terminated list
};
constexpr uint32_t kWrapperMagic = 0x466243B1;
constexpr uint32_t kLinkedVersion = 2;

std::vector<LaunchConfiguration>& Configurations() {
  static thread_local std::vector<LaunchConfiguration> stack;
  return stack;
}

Module* ModuleOf(void** handle) { return reinterpret_cast<Module*>(handle); }

}  // namespace

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper_address) {
  const auto* wrapper = static_cast<const FatbinWrapper*>(wrapper_address);
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex());
  Module* module = r.AddModule();
  const auto image = [](const void* data) { return Image(static_cast<const uint8_t*>(data), FatbinBytes(data)); };
  if (wrapper->magic != kWrapperMagic || wrapper->version > kLinkedVersion) {
    Say("this program has device code in a form that the virtual GPU does not know");
    module->error = cudaErrorNoKernelImageForDevice;
  } else if (wrapper->version == kLinkedVersion) {
    // nvcc's linked result is machine code; the objects' own PTX is linked again.
    for (auto* each = static_cast<const void* const*>(wrapper->linked); *each != nullptr; ++each) {
      module->images.push_back(image(*each));
    }
  } else {
    module->images = {image(wrapper->data)};
  }
  return reinterpret_cast<void**>(module);
}

void __cudaRegisterFatBinaryEnd(void**) {}

// Called when the process ends, which needs no action, or when a shared object is unloaded.
void __cudaUnregisterFatBinary(void** handle) {
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex());
  // The loaded module stays, because the program may still hold handles of its kernels.
  if (Module* module = ModuleOf(handle); module != nullptr) r.ForgetImage(module);
}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex());
  r.AddKernel(ModuleOf(handle), host, name);
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes, int, int) {
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex());
  Symbol symbol;
  symbol.name = name;
  symbol.bytes = bytes;
  r.AddSymbol(ModuleOf(handle), host, std::move(symbol));
}

void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, size_t bytes, int, int) {
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex());
  Symbol symbol;
  symbol.name = name;
  symbol.bytes = bytes;
  symbol.managed_slot = host;
  r.AddSymbol(ModuleOf(handle), host, std::move(symbol));
}

// Called before host code uses a managed variable.
char __cudaInitModule(void** handle) {
  Api("__cudaInitModule", Faults::kIgnores, [&](Runtime& r) { r.InitManaged(ModuleOf(handle)); });
  return 1;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  Configurations().push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  auto& configurations = Configurations();
  if (configurations.empty()) return LastError() = cudaErrorMissingConfiguration;
  const LaunchConfiguration configuration = configurations.back();
  configurations.pop_back();
  *grid = configuration.grid;
  *block = configuration.block;
  *shared = configuration.shared;
  *static_cast<cudaStream_t*>(stream) = configuration.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* host) {
  return Api("__cudaGetKernel", Faults::kIgnores,
             [&](Runtime& r) { *handle = reinterpret_cast<cudaKernel_t>(&r.KernelOf(host)); });
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream) {
  const cudaError_t error = Api("cudaLaunchKernel", Faults::kIgnores, [&](Runtime& r) {
    Launch(r, kernel, {grid, block, shared, stream}, arguments, false);
  });
  if (error != cudaSuccess) {
    const std::lock_guard lock(runtime().mutex());
    NoteUnreturned(error);
  }
  return error;
}
LOCKSTEP_PER_THREAD(__cudaLaunchKernel, _ptsz)

}  // extern "C"
