#include "libraries/real_library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::libraries {

namespace {

namespace fs = std::filesystem;

fs::path OwnFolder() {
  Dl_info own;
  if (::dladdr(reinterpret_cast<void*>(&OpenRealLibrary), &own) == 0) return {};
  std::error_code error;
  return fs::canonical(own.dli_fname, error).parent_path();
}

void AddPathList(std::vector<fs::path>& folders, const char* list) {
  std::string_view rest = list != nullptr ? list : "";
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    if (colon > 0) folders.emplace_back(rest.substr(0, colon));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
}

int AddPackages(dl_phdr_info* info, size_t, void* found) {
  constexpr std::string_view kPackages = "/site-packages/";
  const std::string_view path = info->dlpi_name;
  if (const size_t at = path.find(kPackages); at != std::string_view::npos) {
    static_cast<std::set<std::string>*>(found)->emplace(path.substr(0, at + kPackages.size()));
  }
  return 0;
}

// NVIDIA's Python packages have their libraries in site-packages/nvidia/PACKAGE/lib.
void AddPythonPackages(std::vector<fs::path>& folders) {
  std::set<std::string> packages;
  ::dl_iterate_phdr(AddPackages, &packages);
  std::error_code error;
  for (const std::string& one : packages) {
    for (const auto& entry : fs::directory_iterator(fs::path(one) / "nvidia", error)) {
      folders.push_back(entry.path() / "lib");
    }
  }
}

std::vector<fs::path> Folders() {
  std::vector<fs::path> folders;
  AddPathList(folders, std::getenv("LD_LIBRARY_PATH"));
  AddPythonPackages(folders);
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"}) {
    const char* const root = std::getenv(name);
    if (root == nullptr) continue;
    folders.push_back(fs::path(root) / "lib64");
    folders.push_back(fs::path(root) / "lib");
  }
  for (const char* folder :
       {"/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"}) {
    folders.emplace_back(folder);
  }
  return folders;
}

}  // namespace

void* FindRealLibrary(const char* file) {
  const fs::path own = OwnFolder();
  for (const fs::path& folder : Folders()) {
    std::error_code error;
    const fs::path candidate = fs::canonical(folder / file, error);
    if (error || candidate.parent_path() == own) continue;
    // '/./' makes it a path that no program has opened. For the plain path, the dynamic linker may return our own
    // library, which our LD_AUDIT module gave to a program that opened it.
    const fs::path name = candidate.parent_path() / "." / candidate.filename();
    if (void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

void* OpenRealLibrary(const char* file) {
  void* const library = FindRealLibrary(file);
  if (library == nullptr) {
    std::fprintf(
        stderr,
        "lockstep: %s is not on this machine; it is part of the CUDA toolkit, and of NVIDIA's Python packages: "
        "pip install nvidia-cuda-nvrtc nvidia-nvjitlink\n",
        file);
  }
  return library;
}

}  // namespace lockstep::libraries
