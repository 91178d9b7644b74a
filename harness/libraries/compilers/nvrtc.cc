// libnvrtc.so.13 for the virtual GPU: a wrapper of NVIDIA's own, which compiles. A program that asks for machine code
// (-arch=sm_90) gets PTX, also from nvrtcGetCUBIN; the virtual GPU's loader accepts it. Line numbers are always
// requested, so that findings can show source lines.
#include <dlfcn.h>
#include <nvrtc.h>

#include <algorithm>
#include <mutex>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "libraries/compilers/nvrtc_forwards.h"
#include "libraries/real_library.h"

namespace lockstep::libraries {

void* RealNvrtc(const char* function) {
  static void* const library = OpenRealLibrary("libnvrtc.so.13");
  return library == nullptr ? nullptr : ::dlsym(library, function);
}

namespace {

template <typename... Arguments>
nvrtcResult Real(const char* function, Arguments... arguments) {
  const auto real = reinterpret_cast<nvrtcResult (*)(Arguments...)>(RealNvrtc(function));
  return real == nullptr ? NVRTC_ERROR_BUILTIN_OPERATION_FAILURE : real(arguments...);
}

// Programs compiled for a real architecture (sm_90), which may ask for machine code.
struct ForMachine {
  std::mutex mutex;
  std::unordered_set<nvrtcProgram> programs;

  bool Has(nvrtcProgram program) {
    const std::lock_guard lock(mutex);
    return programs.count(program) != 0;
  }
  void Put(nvrtcProgram program, bool is) {
    const std::lock_guard lock(mutex);
    is ? static_cast<void>(programs.insert(program)) : static_cast<void>(programs.erase(program));
  }
};
ForMachine& Compiled() {
  static auto& compiled = *new ForMachine;
  return compiled;
}

bool IsArchitecture(std::string_view option) { return option == "-arch" || option == "--gpu-architecture"; }

// Whether the options have "-arch=sm_90", or "sm_90" after "-arch".
bool AreForMachine(int count, const char* const* options) {
  bool value_follows = false;
  for (int k = 0; k < count; ++k) {
    const std::string_view text = options[k];
    const size_t separator = std::min(text.find_first_of("= "), text.size());
    const size_t value = value_follows ? 0 : std::min(separator + 1, text.size());
    if ((value_follows || IsArchitecture(text.substr(0, separator))) && text.substr(value).starts_with("sm_"))
      return true;
    value_follows = IsArchitecture(text);
  }
  return false;
}

}  // namespace

}  // namespace lockstep::libraries

using namespace lockstep::libraries;

extern "C" {

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* given) {
  if (count < 0 || (count > 0 && given == nullptr)) return NVRTC_ERROR_INVALID_INPUT;
  constexpr std::string_view kLines[] = {"-G", "--device-debug", "-lineinfo", "--generate-line-info"};
  std::vector<const char*> options(given, given + count);
  // First, because an -arch at the end would take it as its value.
  if (std::ranges::find_first_of(options, kLines) == options.end()) options.insert(options.begin(), "-lineinfo");
  nvrtcResult result = Real("nvrtcCompileProgram", program, static_cast<int>(options.size()), options.data());
  // Again as asked: in the assembler's errors are numbers of lines.
  if (result == NVRTC_ERROR_COMPILATION) result = Real("nvrtcCompileProgram", program, count, given);
  Compiled().Put(program, result == NVRTC_SUCCESS && AreForMachine(count, given));
  return result;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) {
  return Real(Compiled().Has(program) ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize", program, bytes);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image) {
  return Real(Compiled().Has(program) ? "nvrtcGetPTX" : "nvrtcGetCUBIN", program, image);
}

const char* nvrtcGetErrorString(nvrtcResult result) {
  const auto real = reinterpret_cast<decltype(&nvrtcGetErrorString)>(RealNvrtc("nvrtcGetErrorString"));
  return real == nullptr ? "NVRTC is not installed" : real(result);
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (program != nullptr) Compiled().Put(*program, false);
  return Real("nvrtcDestroyProgram", program);
}

}  // extern "C"
