#include "vgpu/cudart/report/call_site.h"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "vgpu/core/symbol_name.h"
#include "vgpu/core/toolkit_path.h"
#include "vgpu/cudart/report/own_libraries.h"

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
// The function by which libbacktrace enumerates the process's objects: the linker (--wrap) redirects its calls to
// __wrap_…, and the C library's function is __real_….
using PhdrCallback = int (*)(dl_phdr_info* info, size_t bytes, void* data);
int __real_dl_iterate_phdr(PhdrCallback callback, void* data);
int __wrap_dl_iterate_phdr(PhdrCallback callback, void* data);
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

bool StartsWithAny(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.substr(0, beginning.size()) == beginning; });
}

// Whether the object is this library, one of our replacements of NVIDIA's, or a system library (libc starts threads,
// libstdc++ runs callbacks).
bool IsForeignObject(const void* base, std::string_view file) {
  static const void* const self = [] {
    Dl_info own;
    return ::dladdr(reinterpret_cast<void*>(&CallSite), &own) != 0 ? own.dli_fbase : nullptr;
  }();
  return base == self || IsInRuntimeFolder(file) || IsForSubmissions(file) ||
         StartsWithAny(file, {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"});
}

bool IsForeignObject(uintptr_t pc) {
  Dl_info info;
  return ::dladdr(reinterpret_cast<void*>(pc), &info) != 0 && IsForeignObject(info.dli_fbase, info.dli_fname);
}

// The toolkit's header folder with links resolved: the folder, or single headers in it, may be links.
const std::string& ToolkitFolder() {
  static const auto& folder = *new std::string([] {
    std::error_code error;
    const auto header = std::filesystem::canonical(LOCKSTEP_CUDA_INCLUDE "/cuda_runtime.h", error);
    return error ? LOCKSTEP_CUDA_INCLUDE "/" : header.parent_path().string() + "/";
  }());
  return folder;
}

// Typed wrappers and libraries in the toolkit's headers (cudaMalloc<float>, cudaLaunchKernelEx, CUB, Thrust), and
// std::function and the like in the system's, call on behalf of the program.
bool IsForeignSource(const char* file) {
  namespace fs = std::filesystem;
  static const auto& toolkit = *new std::string(fs::path(LOCKSTEP_CUDA_INCLUDE).lexically_normal().string() + "/");
  const std::string lexical = fs::path(file).lexically_normal();
  if (StartsWithAny(lexical, {"/usr/include/", "/usr/lib/", toolkit, ToolkitFolder()})) return true;
  // nvcc names its headers by a path from its own folder.
  return IsToolkitPath(lexical) || StartsWithAny(std::string_view(lexical).substr(lexical.find_last_of('/') + 1),
                                                 {"cuda_runtime", "host_runtime"});
}

std::string FunctionName(const char* symbol) {
  std::string function = Demangled(symbol).value_or(symbol);
  // A static kernel is in a namespace added by nvcc, its host function isn't.
  constexpr std::string_view kAnonymous = "(anonymous namespace)::", kInternal = "_INTERNAL_";
  for (size_t at; (at = function.find(kAnonymous)) != std::string::npos;) function.erase(at, kAnonymous.size());
  for (size_t at; (at = function.find(kInternal)) != std::string::npos;) {
    const size_t end = function.find("::", at);
    function.erase(at, end == std::string::npos ? end : end + 2 - at);
  }
  function = function.substr(0, function.find('('));
  // A template's name starts with its return type.
  if (const size_t space = function.find(' '); space < function.find('<')) function.erase(0, space + 1);
  return function;
}

// Information about one return address.
struct Place {
  std::string file, function;
  int line = 0;
  bool foreign = false;  // source lines are known, but none is in the program's sources
};

std::string& KernelBeingLaunched() {
  static thread_local std::string kernel;
  return kernel;
}

// nvcc generates a host function with the kernel's name, which calls a stub, which launches it. Neither is a call site.
bool IsOfLaunch(const std::string& function) {
  return StartsWithAny(function, {"__device_stub_", "__cudaLaunch", "__wrapper__device_stub_"}) ||
         (!function.empty() && function == FunctionName(KernelBeingLaunched().c_str()));
}

#ifdef LOCKSTEP_HAS_LIBBACKTRACE

void IgnoreError(void*, const char*, int) {}

// Called for each function inlined at the address, innermost first, then for the enclosing one.
int TakeLine(void* data, uintptr_t, const char* file, int line, const char* function) {
  auto& place = *static_cast<Place*>(data);
  if (file == nullptr) return 0;
  std::string name = function != nullptr ? FunctionName(function) : "";
  if (IsForeignSource(file) || IsOfLaunch(name)) {
    place.foreign = true;
    return 0;
  }
  place.file = file;
  place.line = line;
  if (function != nullptr) place.function = std::move(name);
  return 1;
}

backtrace_state* State() {
  static backtrace_state* const state = backtrace_create_state(nullptr, 1, IgnoreError, nullptr);
  return state;
}

void TakeName(void* data, uintptr_t, const char* name, uintptr_t, uintptr_t) {
  if (name != nullptr) static_cast<Place*>(data)->function = FunctionName(name);
}

Place PlaceOf(uintptr_t return_address) {
  backtrace_state* const state = State();
  Place place;
  if (state == nullptr) return place;
  const uintptr_t pc = return_address - 1;  // inside the call instruction
  backtrace_pcinfo(state, pc, TakeLine, IgnoreError, &place);
  if (place.file.empty() && !place.foreign) backtrace_syminfo(state, pc, TakeName, IgnoreError, &place);
  return place;
}

// Searches for a frame in the program's own code, and writes it into `text`.
struct CrashWalk {
  std::span<char> text;
  size_t size = 0, frames = 0;
};

// Like IsForeignSource for headers of the toolkit and the system, but compares names only, so as not to allocate.
bool IsForeignName(std::string_view file) {
  return StartsWithAny(file, {"/usr/include/", "/usr/lib/", LOCKSTEP_CUDA_INCLUDE "/", ToolkitFolder()}) ||
         IsToolkitPath(file) || file.find("/../include/") != std::string_view::npos || file.ends_with(".stub.c") ||
         StartsWithAny(file.substr(file.find_last_of('/') + 1), {"cuda_runtime", "host_runtime"});
}

int TakeCrashLine(void* data, uintptr_t, const char* file, int line, const char*) {
  auto& walk = *static_cast<CrashWalk*>(data);
  if (file == nullptr || line <= 0 || IsForeignName(file)) return 0;
  const int size = std::snprintf(walk.text.data(), walk.text.size(), "%s:%d", file, line);
  if (size > 0) walk.size = std::min(static_cast<size_t>(size), walk.text.size() - 1);
  return 1;
}

_Unwind_Reason_Code StepOfCrash(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<CrashWalk*>(data);
  // The interrupted frame has an instruction's own address; the others have return addresses.
  int is_own = 0;
  const uintptr_t pc = _Unwind_GetIPInfo(context, &is_own) - (is_own != 0 ? 0 : 1);
  if (!IsForeignObject(pc)) backtrace_pcinfo(State(), pc, TakeCrashLine, IgnoreError, &walk);
  return walk.size > 0 || ++walk.frames > 10 * kMaxFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

#else

Place PlaceOf(uintptr_t return_address) {
  Place place;
  Dl_info info;
  if (::dladdr(reinterpret_cast<void*>(return_address - 1), &info) != 0 && info.dli_sname != nullptr) {
    place.function = FunctionName(info.dli_sname);
  }
  return place;
}

#endif

std::string Resolve(const Frames& frames) {
  for (const uintptr_t frame : frames) {
    if (frame == 0) break;
    if (IsForeignObject(frame)) continue;
    const Place place = PlaceOf(frame);
    if (!place.file.empty()) return place.file + ":" + std::to_string(place.line);
    // Without line information, nvcc's stubs and wrappers are recognised by name.
    if (place.function.empty() || IsOfLaunch(place.function)) continue;
    if (StartsWithAny(place.function, {"cuda", "std::", "cub::", "thrust::", "cooperative_groups::"})) continue;
    return place.function.substr(0, kMaxName) + "()";
  }
  return "";
}

}  // namespace

#ifdef LOCKSTEP_HAS_LIBBACKTRACE
// At its first use libbacktrace reads the debug information of every object reported to it. That of the C and C++
// libraries, if installed, takes ten times as long as a program's own, and contains no call sites.
extern "C" int __wrap_dl_iterate_phdr(PhdrCallback callback, void* data) {
  struct Filter {
    PhdrCallback callback;
    void* data;
  } filter{callback, data};
  return __real_dl_iterate_phdr(
      [](dl_phdr_info* info, size_t bytes, void* passed) {
        const auto& to = *static_cast<const Filter*>(passed);
        const auto* base = reinterpret_cast<const void*>(info->dlpi_addr);
        return IsForeignObject(base, info->dlpi_name) ? 0 : to.callback(info, bytes, to.data);
      },
      &filter);
}
#endif

std::string_view CrashSite(std::span<char> text) {
#ifdef LOCKSTEP_HAS_LIBBACKTRACE
  CrashWalk walk{text};
  _Unwind_Backtrace(StepOfCrash, &walk);
  return {text.data(), walk.size};
#else
  return {text.data(), 0};
#endif
}

void PrepareCrashSite() { ToolkitFolder(); }

void NoteLaunchedKernel(const std::string& mangled) { KernelBeingLaunched() = mangled; }

std::string CallSite() {
  if (InPython()) {
    if (std::string site = PythonSite(); !site.empty()) return site;
  }
  Walk walk;
  _Unwind_Backtrace(Step, &walk);
  static std::mutex mutex;
  static auto& known = *new std::map<Frames, std::string>;
  const std::lock_guard lock(mutex);
  const auto [site, is_new] = known.try_emplace(walk.frames);
  if (is_new) site->second = Resolve(walk.frames);
  // Python may free memory when a function has ended and no Python line is current: then the worker's frame is found.
  if (InPython() && site->second.starts_with("lockstep::")) return "";
  return site->second;
}

}  // namespace lockstep::vgpu::cudart
