// Linking: PTX and fat binaries to one module. Nothing is compiled; the parts are linked when the module is loaded.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/cudart/binary/fatbin_load.h"
#include "vgpu/cudart/binary/linked_image.h"
#include "vgpu/cudart/binary/ptx_check.h"
#include "vgpu/cudart/driver/driver.h"
#include "vgpu/cudart/jit_options.h"
#include "vgpu/decode/decoder_internal.h"
#include "vgpu/ptx/parser.h"

namespace lockstep::vgpu::cudart::driver {

namespace {

struct Link {
  std::vector<std::string> texts, names;  // of the added inputs
  std::vector<uint8_t> image;             // the result of cuLinkComplete
  cudaError_t error = cudaSuccess;        // once set, all further calls return it
  bool completed = false;                 // cuLinkComplete was called: nothing can be added
  char* log = nullptr;                    // the error log; its size is `room`
  size_t room = 0;
};

Link* LinkOf(CUlinkState state) { return reinterpret_cast<Link*>(state); }

void Log(Link& link, const std::string& text) {
  if (link.log == nullptr || link.room == 0) return;
  const size_t told = std::min(text.size(), link.room - 1);
  std::memcpy(link.log, text.data(), told);
  link.log[told] = 0;
}

// Whether the image is a fat binary, PTX, or the result of our linker, which contains PTX.
bool IsProgram(const Image& image) {
  constexpr uint32_t kFatbinMagic = 0xBA55ED50;
  uint32_t magic = 0;
  if (image.size() >= sizeof magic) std::memcpy(&magic, image.data(), sizeof magic);
  const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
  return magic == kFatbinMagic || text.find(".version") != std::string_view::npos ||
         (image.size() > sizeof(uint64_t) && IsLinkedImage(image.data()));
}

// The functions and variables that a text defines for other texts, and those it needs. `apart`: gets kernels and
// variables, whose duplicate definitions give another error.
void Names(const std::string& text, std::set<std::string>& defined, std::set<std::string>& wanted,
           std::set<std::string>* apart = nullptr) {
  const ptx::Module module = ptx::Parse(text);
  for (const ptx::Variable& variable : module.variables) {
    if (variable.is_extern) wanted.insert(variable.name);
    if (!variable.is_extern && variable.is_visible && !variable.is_weak)
      (apart != nullptr ? *apart : defined).insert(variable.name);
  }
  for (const ptx::Function& function : module.functions) {
    if (apart != nullptr && function.is_entry) apart->insert(function.name);
    if (function.is_extern) wanted.insert(function.name);
    if (function.has_body && function.is_visible && !function.is_weak) defined.insert(function.name);
  }
}

// As the driver's linker answers: its errors have another code once the assembler has failed in the process.
cudaError_t LinkError() { return AnyPtxWasInvalid() ? cudaErrorUnknown : cudaErrorInvalidSource; }

// A linker wants the names of variables and their number together.
cudaError_t CheckLinkOptions(unsigned count, const CUjit_option* options, void* const* values) {
  const bool has_names = IsGiven(count, options, CU_JIT_REFERENCED_VARIABLE_NAMES);
  if (has_names != IsGiven(count, options, CU_JIT_REFERENCED_VARIABLE_COUNT)) return cudaErrorInvalidValue;
  return CheckOptions(ProfileHere(), count, options, values);
}

cudaError_t Add(Link& link, CUjitInputType type, const void* data, size_t bytes, const char* name) {
  if (data == nullptr || bytes == 0 || type < CU_JIT_INPUT_CUBIN || type > CU_JIT_INPUT_NVVM) {
    return cudaErrorInvalidValue;
  }
  const auto* const begin = static_cast<const uint8_t*>(data);
  if (type == CU_JIT_INPUT_PTX) bytes = ::strnlen(static_cast<const char*>(data), bytes);
  const Image image(begin, bytes);
  const bool is_program = IsProgram(image);
  if (link.completed) return cudaErrorInvalidValue;
  // What was linked can't be linked again.
  const bool is_linked = bytes > sizeof(uint64_t) && IsLinkedImage(begin);
  if (type == CU_JIT_INPUT_CUBIN && is_linked) return link.error = cudaErrorNoKernelImageForDevice;
  if (type == CU_JIT_INPUT_NVVM) return link.error = cudaErrorJitCompilerNotFound;
  if (type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY) {
    constexpr std::string_view kElf =
                                   "\x7f"
                                   "ELF",
                               kArchive = "!<arch>";
    const std::string_view text(static_cast<const char*>(data), bytes);
    if (!text.starts_with(kElf) && !text.starts_with(kArchive)) return cudaErrorUnknown;
    return Missing("cuLinkAddData with object files and libraries");
  }
  // Instead of machine code our compiler produces PTX whose header contains "NVVM"; a program's own text lacks it.
  const std::string_view start(static_cast<const char*>(data), std::min<size_t>(bytes, 200));
  const bool by_hand = start.find(".version") != std::string_view::npos && start.find("NVVM") == std::string_view::npos;
  if (type == CU_JIT_INPUT_CUBIN && (!is_program || by_hand)) return link.error = cudaErrorInvalidKernelImage;
  if (type == CU_JIT_INPUT_FATBINARY && !is_program) return cudaErrorInvalidKernelImage;
  if (type == CU_JIT_INPUT_PTX) {
    const PtxVerdict verdict = CheckPtx({reinterpret_cast<const char*>(begin), bytes}, ProfileHere(), true);
    if (verdict.error != cudaSuccess) {
      Log(link, verdict.log);
      return verdict.error;
    }
  }
  if (link.error != cudaSuccess) return link.error;
  try {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex());
    std::set<std::string> before, wanted, apart;
    for (const std::string& text : link.texts) Names(text, before, wanted, &apart);
    for (std::string& text : PtxOf({&image, 1}, r.profile())) {
      std::set<std::string> own, own_apart;
      Names(text, own, wanted, &own_apart);
      const auto is_there = [&](const std::string& name) { return apart.count(name) != 0; };
      if (std::any_of(own_apart.begin(), own_apart.end(), is_there)) return link.error = LinkError();
      for (const std::string& function : own) {
        if (before.count(function) == 0) continue;
        Log(link, "error   : Multiple definition of '" + function + "' in '" + name + "', first defined in '" +
                      link.names[0] + "'");
        return link.error = LinkError();
      }
      link.texts.push_back(std::move(text));
      link.names.emplace_back(name);
    }
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
    if (state == nullptr || (count > 0 && (options == nullptr || values == nullptr))) return cudaErrorInvalidValue;
    if (CheckLinkOptions(count, options, values) == cudaErrorInvalidValue) return cudaErrorInvalidValue;
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

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t bytes, const char* name,
                       unsigned count, CUjit_option* options, void** values) {
  return Drive("cuLinkAddData", [&] {
    if (state == nullptr) return cudaErrorInvalidResourceHandle;
    const cudaError_t wrong = CheckLinkOptions(count, options, values);
    if (wrong != cudaSuccess) return wrong;
    // An input has no target of its own.
    if (IsGiven(count, options, CU_JIT_TARGET_FROM_CUCONTEXT)) return cudaErrorInvalidValue;
    return Add(*LinkOf(state), type, data, bytes, name != nullptr ? name : "<unnamed>");
  });
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned, CUjit_option*, void**) {
  return Drive("cuLinkAddFile", [&] {
    if (state == nullptr || path == nullptr) return cudaErrorInvalidResourceHandle;
    std::ifstream file(path, std::ios::binary);
    if (!file.good()) return cudaErrorFileNotFound;
    const std::string data{std::istreambuf_iterator<char>(file), {}};
    return Add(*LinkOf(state), type, data.data(), data.size(), path);
  });
}

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  return Drive("cuLinkComplete", [&] {
    if (state == nullptr) return cudaErrorInvalidResourceHandle;
    if (image == nullptr) return cudaErrorInvalidValue;
    Link& link = *LinkOf(state);
    if (link.error != cudaSuccess) return link.error;
    if (!link.image.empty()) return cudaErrorInvalidResourceHandle;
    link.completed = true;
    std::set<std::string> defined;
    for (const std::string& text : link.texts) {
      std::set<std::string> none;
      Names(text, defined, none);
    }
    for (size_t k = 0; k < link.texts.size(); ++k) {
      std::set<std::string> wanted, own;
      Names(link.texts[k], own, wanted);
      for (const std::string& function : wanted) {
        if (defined.count(function) != 0 || lockstep::vgpu::FindBuiltin(function) != lockstep::vgpu::Builtin::kNone)
          continue;
        Log(link, "error   : Undefined reference to '" + function + "' in '" + link.names[k] + "'");
        return link.error = LinkError();
      }
    }
    // An empty program is a module too.
    if (link.texts.empty()) link.texts = {".version 8.0\n.target sm_50\n.address_size 64\n"};
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
