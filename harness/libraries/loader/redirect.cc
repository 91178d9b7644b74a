// liblockstep-redirect.so, an auditor of the dynamic linker (rtld-audit(7)): when the program, or a library that it
// loads, looks up a library, and this folder has one of the same name, this folder's is loaded. LD_LIBRARY_PATH can't
// do that: an RPATH, or a full path, with which Python packages load libraries, takes precedence.
//
// The auditor is loaded into a separate namespace with its own C library, and uses nothing else.
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "libraries/loader/static_runtime.h"
#include "vgpu/core/processor_folder.h"

namespace {

constexpr size_t kPathBytes = 4096;

// The folder of this library, with a slash at its end.
const char* Folder() {
  static char folder[kPathBytes];
  if (folder[0] == 0) {
    Dl_info own;
    if (::dladdr(reinterpret_cast<void*>(&Folder), &own) == 0 || std::strlen(own.dli_fname) >= sizeof folder) return "";
    std::strcpy(folder, own.dli_fname);
    char* const slash = std::strrchr(folder, '/');
    if (slash == nullptr) return folder[0] = 0, "";
    slash[1] = 0;
  }
  return folder;
}

// The linker identifies an object by this cookie, which at first points to the object's own description.
bool IsOurs(const uintptr_t* cookie) {
  const auto* const object = reinterpret_cast<const link_map*>(*cookie);
  const char* const folder = Folder();
  return object != nullptr && object->l_name != nullptr && folder[0] != 0 &&
         std::strncmp(object->l_name, folder, std::strlen(folder)) == 0;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) unsigned la_version(unsigned version) {
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

// Called with each name that is looked up and each path that is tried. Libraries in this folder can load NVIDIA's.
__attribute__((visibility("default"))) char* la_objsearch(const char* name, uintptr_t* cookie, unsigned) {
  static thread_local char path[kPathBytes];
  const char* const slash = std::strrchr(name, '/');
  const char* const file = slash != nullptr ? slash + 1 : name;
  char* const same = const_cast<char*>(name);
  if (std::strncmp(file, "lib", 3) != 0 || IsOurs(cookie)) return same;
  for (const char* const part : {lockstep::ProcessorFolder(), ""}) {
    if (std::snprintf(path, sizeof path, "%s%s%s", Folder(), part, file) >= static_cast<int>(sizeof path)) return same;
    if (::access(path, R_OK) == 0) return path;
  }
  return same;
}

// Notes only objects in the program's namespace, not this library and its C library.
__attribute__((visibility("default"))) unsigned la_objopen(link_map* object, Lmid_t space, uintptr_t*) {
  if (space == LM_ID_BASE) lockstep::libraries::NoteObject(object);
  return 0;
}

__attribute__((visibility("default"))) void la_activity(uintptr_t*, unsigned activity) {
  if (activity == LA_ACT_CONSISTENT) lockstep::libraries::RedirectCopies();
}

}  // extern "C"
