// libnvrtc.so.13 for the virtual GPU: a wrapper of NVIDIA's own, which compiles. A program that asks for machine code
// (-arch=sm_90) gets PTX (compute_90), also from nvrtcGetCUBIN; the virtual GPU's loader accepts it. Line numbers are
// always requested, so that findings can show source lines.
#include <dlfcn.h>
#include <nvrtc.h>

#include <mutex>
#include <string>
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

struct Options {
  std::vector<std::string> texts;
  bool for_machine = false;  // -arch=sm_90
};

bool IsArchitecture(std::string_view option) { return option == "-arch" || option == "--gpu-architecture"; }

// Replaces "-arch=sm_90a", or "sm_90a" after "-arch", by "…compute_90a".
Options Translate(int count, const char* const* given) {
  constexpr std::string_view kReal = "sm_", kVirtual = "compute_";
  Options options;
  bool has_lines = false, value_follows = false;
  for (int k = 0; k < count; ++k) {
    std::string text = given[k];
    const size_t separator = std::min(text.find_first_of("= "), text.size());
    const size_t value = value_follows ? 0 : separator + 1;
    if ((value_follows || IsArchitecture(text.substr(0, separator))) && value < text.size() &&
        text.compare(value, kReal.size(), kReal) == 0) {
      text.replace(value, kReal.size(), kVirtual);
      options.for_machine = true;
    }
    value_follows = IsArchitecture(text);
    has_lines |= text == "-G" || text == "--device-debug" || text == "-lineinfo" || text == "--generate-line-info";
    options.texts.push_back(std::move(text));
  }
  if (!has_lines) options.texts.insert(options.texts.begin(), "-lineinfo");  // the last may expect a value
  return options;
}

}  // namespace

}  // namespace lockstep::libraries

using namespace lockstep::libraries;

extern "C" {

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* given) {
  if (count < 0 || (count > 0 && given == nullptr)) return NVRTC_ERROR_INVALID_INPUT;
  const Options options = Translate(count, given);
  std::vector<const char*> texts;
  for (const std::string& text : options.texts) texts.push_back(text.c_str());
  Compiled().Put(program, options.for_machine);
  return Real("nvrtcCompileProgram", program, static_cast<int>(texts.size()),
              const_cast<const char* const*>(texts.data()));
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) {
  const bool of_ptx = Compiled().Has(program);
  const nvrtcResult result = Real(of_ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize", program, bytes);
  if (of_ptx && result == NVRTC_SUCCESS && *bytes == 1) *bytes = 0;  // only a terminator: it did not compile
  return result;
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
