// Linking: PTX and fat binaries to one module. Nothing is compiled; the parts are linked when the module is loaded.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "vgpu/cudart/binary/fatbin_load.h"
#include "vgpu/cudart/binary/linked_image.h"
#include "vgpu/cudart/binary/ptx_check.h"
#include "vgpu/cudart/driver/driver.h"

namespace lockstep::vgpu::cudart::driver {

namespace {

struct Link {
  std::vector<std::string> texts;
  std::vector<uint8_t> image;  // once it is complete
  char* log = nullptr;         // of errors, with so much room
  size_t room = 0;
};

Link* LinkOf(CUlinkState state) { return reinterpret_cast<Link*>(state); }

// A cubin is accepted where a linker or compiler of the virtual GPU made it: then it is PTX.
cudaError_t Add(Link& link, CUjitInputType type, const void* data, size_t bytes) {
  const auto* const begin = static_cast<const uint8_t*>(data);
  if (type == CU_JIT_INPUT_PTX) bytes = ::strnlen(static_cast<const char*>(data), bytes);
  if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_CUBIN && type != CU_JIT_INPUT_FATBINARY) {
    return Missing("cuLinkAddData of anything but PTX and fat binaries");
  }
  const Image image(begin, bytes);
  if (type == CU_JIT_INPUT_PTX) {
    const PtxVerdict verdict = CheckPtx({reinterpret_cast<const char*>(begin), bytes}, ProfileHere(), true);
    if (verdict.error != cudaSuccess) {
      if (link.log != nullptr && link.room > 0) {
        const size_t told = std::min(verdict.log.size(), link.room - 1);
        std::memcpy(link.log, verdict.log.data(), told);
        link.log[told] = 0;
      }
      return verdict.error;
    }
  }
  try {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex());
    for (std::string& text : PtxOf({&image, 1}, r.profile())) link.texts.push_back(std::move(text));
  } catch (const std::runtime_error& error) {
    Say(CalledAs() + std::string(": ") + error.what());
    return cudaErrorNoKernelImageForDevice;
  }
  return cudaSuccess;
}

}  // namespace

void ClearLogs(unsigned count, CUjit_option* options, void** values) {
  for (unsigned k = 0; k < count && options != nullptr && values != nullptr; ++k) {
    const bool is_buffer = options[k] == CU_JIT_INFO_LOG_BUFFER || options[k] == CU_JIT_ERROR_LOG_BUFFER;
    const bool is_size =
        options[k] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES || options[k] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
    if (is_buffer && values[k] != nullptr) *static_cast<char*>(values[k]) = 0;
    if (is_size) values[k] = nullptr;
  }
}

void FillErrorLog(unsigned count, CUjit_option* options, void** values, const std::string& log) {
  char* buffer = nullptr;
  size_t room = 0;
  void** size = nullptr;
  for (unsigned k = 0; k < count && options != nullptr && values != nullptr; ++k) {
    if (options[k] == CU_JIT_ERROR_LOG_BUFFER) buffer = static_cast<char*>(values[k]);
    if (options[k] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) room = reinterpret_cast<size_t>(*(size = &values[k]));
  }
  if (buffer == nullptr || room == 0) return;
  const size_t told = std::min(log.size(), room - 1);
  std::memcpy(buffer, log.data(), told);
  buffer[told] = 0;
  *size = reinterpret_cast<void*>(told > 0 ? told + 1 : 0);
}

const DeviceProfile& ProfileHere() {
  Runtime& r = runtime();
  const std::lock_guard lock(r.mutex());
  return r.profile();
}

}  // namespace lockstep::vgpu::cudart::driver

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return Drive("cuLinkCreate", [&] {
    if (state == nullptr) return cudaErrorInvalidValue;
    auto* const link = new Link;
    for (unsigned k = 0; k < count && options != nullptr && values != nullptr; ++k) {
      if (options[k] == CU_JIT_ERROR_LOG_BUFFER) link->log = static_cast<char*>(values[k]);
      if (options[k] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) link->room = reinterpret_cast<size_t>(values[k]);
    }
    ClearLogs(count, options, values);
    *state = reinterpret_cast<CUlinkState>(link);
    return cudaSuccess;
  });
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t bytes, const char*, unsigned,
                       CUjit_option*, void**) {
  return Drive("cuLinkAddData", [&] {
    if (state == nullptr || data == nullptr) return cudaErrorInvalidResourceHandle;
    return Add(*LinkOf(state), type, data, bytes);
  });
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned, CUjit_option*, void**) {
  return Drive("cuLinkAddFile", [&] {
    if (state == nullptr || path == nullptr) return cudaErrorInvalidResourceHandle;
    std::ifstream file(path, std::ios::binary);
    if (!file.good()) return cudaErrorFileNotFound;
    const std::string data{std::istreambuf_iterator<char>(file), {}};
    return Add(*LinkOf(state), type, data.data(), data.size());
  });
}

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  return Drive("cuLinkComplete", [&] {
    if (state == nullptr || image == nullptr) return cudaErrorInvalidResourceHandle;
    Link& link = *LinkOf(state);
    if (link.texts.empty()) return cudaErrorInvalidValue;
    link.image = MakeLinkedImage(link.texts);
    *image = link.image.data();
    if (bytes != nullptr) *bytes = link.image.size();
    return cudaSuccess;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return Drive("cuLinkDestroy", [&] {
    if (state == nullptr) return cudaErrorInvalidResourceHandle;
    delete LinkOf(state);
    return cudaSuccess;
  });
}

}  // extern "C"
