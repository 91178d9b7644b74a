// Refuses programs that have loaded a library with its own machine code (host_libraries.h): when the program
// starts, and at the first API call after it has loaded another library.
#include "vgpu/core/host_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>

#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

namespace {

constexpr int kCantRunStatus = 126;

int TakeLoads(dl_phdr_info* info, size_t, void* loads) {
  *static_cast<unsigned long long*>(loads) = info->dlpi_adds;
  return 1;
}

// This library has a second name, libcuda.so.1.
bool IsThisLibrary(const dl_phdr_info& info) {
  Dl_info own;
  return ::dladdr(reinterpret_cast<void*>(&TakeLoads), &own) != 0 &&
         reinterpret_cast<ElfW(Addr)>(own.dli_fbase) == info.dlpi_addr;
}

int RefuseOne(dl_phdr_info* info, size_t, void*) {
  const HostLibrary* const library = FindHostLibrary(info->dlpi_name);
  if (library == nullptr || IsThisLibrary(*info)) return 0;
  const std::string_view path = info->dlpi_name;
  Say("this program " + RefusalOf(*library, path.substr(path.find_last_of('/') + 1)));
  std::_Exit(kCantRunStatus);
}

__attribute__((constructor)) void RefuseAtStart() { RefuseHostLibraries(); }

}  // namespace

void RefuseHostLibraries() {
  // The loader counts what it has loaded, so that nearly every call is done with one look.
  static unsigned long long seen = 0;
  unsigned long long loads = 0;
  dl_iterate_phdr(TakeLoads, &loads);
  if (loads == seen) return;
  seen = loads;
  dl_iterate_phdr(RefuseOne, nullptr);
}

}  // namespace lockstep::vgpu::cudart
