// Refuses programs that have loaded a library with its own machine code (host_libraries.h): when the program
// starts, and at the first API call after it has loaded another library.
#include "vgpu/cudart/libraries/host_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include "vgpu/cudart/report/own_libraries.h"
#include "vgpu/cudart/runtime.h"

#ifdef LOCKSTEP_HAS_LIBBACKTRACE
// The C library's own function: the build renames it for report/call_site.cc, which hides objects from libbacktrace.
extern "C" int __real_dl_iterate_phdr(int (*callback)(dl_phdr_info* info, size_t bytes, void* data), void* data);
#define LOCKSTEP_ITERATE_OBJECTS __real_dl_iterate_phdr
#else
#define LOCKSTEP_ITERATE_OBJECTS dl_iterate_phdr
#endif

namespace lockstep::vgpu::cudart {

namespace {

constexpr int kCantRunStatus = 126;

int TakeLoads(dl_phdr_info* info, size_t, void* loads) {
  *static_cast<unsigned long long*>(loads) = info->dlpi_adds;
  return 1;
}

// Whether the object is this library (also named libcuda.so.1) or one of our replacements of NVIDIA's libraries. Those
// next to this library compute on a device in this process, so submissions can't use them and have their own.
bool IsOwn(const dl_phdr_info& info) {
  Dl_info own;
  const bool is_this = ::dladdr(reinterpret_cast<void*>(&TakeLoads), &own) != 0 &&
                       reinterpret_cast<ElfW(Addr)>(own.dli_fbase) == info.dlpi_addr;
  return is_this || IsForSubmissions(info.dlpi_name) || (!HasJudge() && IsInRuntimeFolder(info.dlpi_name));
}

int RefuseOne(dl_phdr_info* info, size_t, void*) {
  const HostLibrary* const library = FindHostLibrary(info->dlpi_name);
  const std::string_view path = info->dlpi_name;
  const bool is_kept = path.find("/./") != std::string_view::npos;  // opened by our replacement (real_library.cc)
  if (library == nullptr || is_kept || IsOwn(*info)) return 0;
  HostLibrary refused = *library;
  if (HasJudge()) refused.package = "";  // no replacement would help
  Say("this program " + RefusalOf(refused, path.substr(path.find_last_of('/') + 1)));
  std::_Exit(kCantRunStatus);
}

__attribute__((constructor)) void RefuseAtStart() { RefuseHostLibraries(); }

}  // namespace

void RefuseHostLibraries() {
  // The loader counts loaded objects, so nearly every call needs only this comparison.
  static unsigned long long seen = 0;
  unsigned long long loads = 0;
  LOCKSTEP_ITERATE_OBJECTS(TakeLoads, &loads);
  if (loads == seen) return;
  seen = loads;
  LOCKSTEP_ITERATE_OBJECTS(RefuseOne, nullptr);
}

}  // namespace lockstep::vgpu::cudart
