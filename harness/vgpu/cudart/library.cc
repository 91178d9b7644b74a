// Libraries: device code that the program loads itself, as a fat binary or as PTX text.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "vgpu/cudart/binary/fatbin.h"
#include "vgpu/cudart/binary/fatbin_load.h"
#include "vgpu/cudart/binary/linked_image.h"
#include "vgpu/cudart/binary/ptx_check.h"
#include "vgpu/cudart/jit_options.h"
#include "vgpu/cudart/runtime.h"
#include "vgpu/ptx/parser.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr uint32_t kFatbinMagic = 0xBA55ED50;

// The length of an image: a fat binary and a linked image have it in their header, PTX text ends with a NUL.
uint64_t BytesOfImage(const void* code) {
  if (const size_t text = ::strnlen(static_cast<const char*>(code), sizeof(uint64_t)); text < sizeof(uint64_t)) {
    uint32_t magic;
    std::memcpy(&magic, code, sizeof magic);
    return magic == kFatbinMagic ? FatbinBytes(code) : text;
  }
  return IsLinkedImage(code) ? LinkedImageBytes(code) : std::strlen(static_cast<const char*>(code));
}

std::vector<uint8_t> ImageAt(const void* code) {
  const auto* bytes = static_cast<const uint8_t*>(code);
  return {bytes, bytes + BytesOfImage(code)};
}

// Whether the image is PTX text, which a driver compiles only when a symbol is requested. Others are loaded at once.
bool IsText(const std::vector<uint8_t>& image) {
  uint32_t magic = 0;
  if (image.size() >= sizeof magic) std::memcpy(&magic, image.data(), sizeof magic);
  return magic != kFatbinMagic && !(image.size() > sizeof(uint64_t) && IsLinkedImage(image.data()));
}

cudaLibrary_t LoadLibrary(Runtime& r, std::vector<uint8_t> image) {
  Module* const module = r.AddModule();
  module->owned = std::move(image);
  module->images = {module->owned};
  if (IsText(module->owned) && !HasJudge()) {
    module->error =
        CheckPtx({reinterpret_cast<const char*>(module->owned.data()), module->owned.size()}, r.profile()).error;
    return reinterpret_cast<cudaLibrary_t>(module);
  }
  try {
    r.Load(*module);
  } catch (...) {
    r.RemoveModule(module);
    throw;
  }
  return reinterpret_cast<cudaLibrary_t>(module);
}

// The names of a library's kernels, in the order of its text.
std::vector<std::string> KernelNames(Runtime& r, const Module& module) {
  std::vector<std::string> names;
  if (module.error != cudaSuccess) return names;
  for (const std::string& text : PtxOf(module.images, r.profile())) {
    const ptx::Module parsed = ptx::Parse(text);
    for (const ptx::Function& function : parsed.functions) {
      if (function.is_entry) names.push_back(function.name);
    }
  }
  return names;
}

}  // namespace

}  // namespace lockstep::vgpu::cudart

using namespace lockstep::vgpu::cudart;

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* options, void** values,
                                unsigned count, cudaLibraryOption*, void**, unsigned) {
  return Api("cudaLibraryLoadData", [&](Runtime& r) {
    Require(library != nullptr && code != nullptr, cudaErrorInvalidValue);
    // An error in the target option appears only when a kernel is requested.
    const cudaError_t wrong = CheckOptions(r.profile(), count, reinterpret_cast<const CUjit_option*>(options), values);
    Require(wrong != cudaErrorInvalidValue, cudaErrorInvalidValue);
    *library = LoadLibrary(r, ImageAt(code));
    if (wrong != cudaSuccess) r.ModuleOf(*library)->error = wrong;
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, cudaJitOption*, void**, unsigned,
                                    cudaLibraryOption*, void**, unsigned) {
  return Api("cudaLibraryLoadFromFile", [&](Runtime& r) {
    Require(library != nullptr && path != nullptr, cudaErrorInvalidValue);
    Require(*path != '\0', cudaErrorInvalidValue);
    std::error_code ignored;
    Require(!std::filesystem::is_directory(path, ignored), cudaErrorMemoryAllocation);  // a directory has a bogus size
    std::ifstream file(path, std::ios::binary);
    Require(file.good(), cudaErrorFileNotFound);
    *library = LoadLibrary(r, {std::istreambuf_iterator<char>(file), {}});
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return Api("cudaLibraryUnload", [&](Runtime& r) { r.RemoveModule(r.ModuleOf(library)); });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return Api("cudaLibraryGetKernel", [&](Runtime& r) {
    Require(kernel != nullptr && name != nullptr, cudaErrorInvalidValue);
    try {
      *kernel = reinterpret_cast<cudaKernel_t>(r.FindKernel(r.ModuleOf(library), name));
    } catch (const ApiError& error) {
      throw ApiError{error.code == cudaErrorInvalidDeviceFunction ? cudaErrorSymbolNotFound : error.code};
    }
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return Api("cudaLibraryGetKernelCount", [&](Runtime& r) {
    Require(count != nullptr, cudaErrorInvalidValue);
    *count = static_cast<unsigned>(KernelNames(r, *r.ModuleOf(library)).size());
  });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned most, cudaLibrary_t library) {
  return Api("cudaLibraryEnumerateKernels", [&](Runtime& r) {
    Require(kernels != nullptr, cudaErrorInvalidValue);
    Module* const module = r.ModuleOf(library);
    const std::vector<std::string> names = KernelNames(r, *module);
    for (size_t k = 0; k < std::min<size_t>(most, names.size()); ++k) {
      kernels[k] = reinterpret_cast<cudaKernel_t>(r.FindKernel(module, names[k]));
    }
  });
}

cudaError_t cudaLibraryGetGlobal(void** address, size_t* bytes, cudaLibrary_t library, const char* name) {
  return Api("cudaLibraryGetGlobal", [&](Runtime& r) {
    Require((address != nullptr || bytes != nullptr) && name != nullptr && *name != '\0', cudaErrorInvalidValue);
    Module* const module = r.ModuleOf(library);
    const auto variable = r.backend().FindVariable(r.Load(*module), name);
    if (!variable) {
      // The name of a kernel gives another error than an unknown name.
      Require(!r.backend().FindKernel(r.Load(*module), name), cudaErrorInvalidValue);
      throw ApiError{cudaErrorSymbolNotFound};
    }
    Require(!variable->texture, cudaErrorInvalidValue);
    if (address != nullptr) *address = reinterpret_cast<void*>(variable->address);
    if (bytes != nullptr) *bytes = variable->bytes;
  });
}

cudaError_t cudaLibraryGetManaged(void** address, size_t* bytes, cudaLibrary_t library, const char* name) {
  return Api("cudaLibraryGetManaged", [&](Runtime& r) {
    Require(name != nullptr && *name != '\0', cudaErrorInvalidValue);
    const auto variable = r.backend().FindVariable(r.Load(*r.ModuleOf(library)), name);
    Require(variable && variable->managed, cudaErrorSymbolNotFound);
    if (address != nullptr) *address = reinterpret_cast<void*>(variable->address);
    if (bytes != nullptr) *bytes = variable->bytes;
  });
}

// A library loaded from PTX has no functions that both host and device may call.
cudaError_t cudaLibraryGetUnifiedFunction(void**, cudaLibrary_t library, const char*) {
  return Api("cudaLibraryGetUnifiedFunction", [&](Runtime& r) {
    r.ModuleOf(library);
    throw ApiError{cudaErrorInvalidValue};
  });
}

}  // extern "C"
