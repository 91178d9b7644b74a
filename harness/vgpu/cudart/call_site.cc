#include "vgpu/cudart/call_site.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <unwind.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#ifdef LOCKSTEP_HAS_LIBBACKTRACE
// GCC's libbacktrace reads symbols and DWARF; distributions install the library without its header.
extern "C" {
struct backtrace_state;
using backtrace_error_callback = void (*)(void* data, const char* message, int error);
using backtrace_full_callback = int (*)(void* data, uintptr_t pc, const char* file, int line, const char* function);
using backtrace_syminfo_callback = void (*)(void* data, uintptr_t pc, const char* name, uintptr_t value,
                                            uintptr_t bytes);
backtrace_state* backtrace_create_state(const char* program, int threaded, backtrace_error_callback, void* data);
int backtrace_pcinfo(backtrace_state*, uintptr_t pc, backtrace_full_callback, backtrace_error_callback, void* data);
int backtrace_syminfo(backtrace_state*, uintptr_t pc, backtrace_syminfo_callback, backtrace_error_callback, void* data);
}
#endif

namespace lockstep::vgpu::cudart {

namespace {

constexpr size_t kMaxFrames = 24;
constexpr size_t kMaxName = 120;

// Return addresses, innermost first; 0 beyond the last.
using Frames = std::array<uintptr_t, kMaxFrames>;

struct Walk {
  Frames frames = {};
  size_t count = 0;
};

_Unwind_Reason_Code Step(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  walk.frames[walk.count++] = _Unwind_GetIP(context);
  return walk.count < kMaxFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

const void* ObjectOf(uintptr_t pc) {
  Dl_info info;
  return ::dladdr(reinterpret_cast<void*>(pc), &info) != 0 ? info.dli_fbase : nullptr;
}

// The typed wrappers of cuda_runtime.h, cudaMalloc<float> and the like.
bool IsCudaHeader(std::string_view file) {
  const std::string_view name = file.substr(file.find_last_of('/') + 1);
  return name.substr(0, 12) == "cuda_runtime" || name.substr(0, 12) == "host_runtime";
}

std::string Demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                         &std::free);
  std::string function = status == 0 ? text.get() : name;
  function = function.substr(0, function.find('('));
  // A template's name begins with its type of result.
  if (const size_t space = function.find(' '); space < function.find('<')) function.erase(0, space + 1);
  return function;
}

// What is known about one return address.
struct Place {
  std::string file, function;
  int line = 0;
  bool header = false;  // of a frame that was inlined too
};

std::string& KernelBeingLaunched() {
  static thread_local std::string kernel;
  return kernel;
}

// nvcc makes a host function of a kernel's name, which calls a stub, which launches it. Neither is the program's.
bool IsOfLaunch(const std::string& function) {
  return function.rfind("__device_stub_", 0) == 0 || function.rfind("__cudaLaunch", 0) == 0 ||
         function.rfind("__wrapper__device_stub_", 0) == 0 || (!function.empty() && function == KernelBeingLaunched());
}

#ifdef LOCKSTEP_HAS_LIBBACKTRACE

void IgnoreError(void*, const char*, int) {}

// Called for each function inlined at the address, innermost first, and for the one that holds it.
int TakeLine(void* data, uintptr_t, const char* file, int line, const char* function) {
  auto& place = *static_cast<Place*>(data);
  if (file == nullptr || IsCudaHeader(file)) return 0;
  std::string name = function != nullptr ? Demangled(function) : "";
  if (IsOfLaunch(name)) return 0;
  place.file = file;
  place.line = line;
  if (function != nullptr) place.function = std::move(name);
  return 1;
}

void TakeName(void* data, uintptr_t, const char* name, uintptr_t, uintptr_t) {
  if (name != nullptr) static_cast<Place*>(data)->function = Demangled(name);
}

Place PlaceOf(uintptr_t return_address) {
  static backtrace_state* const state = backtrace_create_state(nullptr, 1, IgnoreError, nullptr);
  Place place;
  if (state == nullptr) return place;
  const uintptr_t pc = return_address - 1;  // within the call
  backtrace_pcinfo(state, pc, TakeLine, IgnoreError, &place);
  if (place.file.empty()) backtrace_syminfo(state, pc, TakeName, IgnoreError, &place);
  return place;
}

#else

Place PlaceOf(uintptr_t return_address) {
  Place place;
  Dl_info info;
  if (::dladdr(reinterpret_cast<void*>(return_address - 1), &info) != 0 && info.dli_sname != nullptr) {
    place.function = Demangled(info.dli_sname);
  }
  return place;
}

#endif

std::string Resolve(const Frames& frames) {
  const void* const self = ObjectOf(reinterpret_cast<uintptr_t>(&CallSite));
  for (const uintptr_t frame : frames) {
    if (frame == 0) break;
    if (ObjectOf(frame) == self) continue;
    const Place place = PlaceOf(frame);
    if (!place.file.empty()) return place.file + ":" + std::to_string(place.line);
    // Without lines, the wrappers are known by their names.
    if (place.function.empty() || place.function.rfind("cuda", 0) == 0 || IsOfLaunch(place.function)) continue;
    return place.function.substr(0, kMaxName) + "()";
  }
  return "";
}

}  // namespace

LaunchedKernel::LaunchedKernel(const std::string& name) { KernelBeingLaunched() = name; }
LaunchedKernel::~LaunchedKernel() { KernelBeingLaunched().clear(); }

std::string CallSite() {
  Walk walk;
  _Unwind_Backtrace(Step, &walk);
  static std::mutex mutex;
  static std::map<Frames, std::string> known;
  const std::lock_guard lock(mutex);
  const auto [site, is_new] = known.try_emplace(walk.frames);
  if (is_new) site->second = Resolve(walk.frames);
  return site->second;
}

}  // namespace lockstep::vgpu::cudart
