#include "vgpu/cudart/report/own_libraries.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace lockstep::vgpu::cudart {

namespace {

// The canonical folder of a file, with links resolved; "" if there is none.
std::string FolderOf(std::string_view file) {
  std::error_code error;
  const auto folder = std::filesystem::canonical(std::filesystem::path(file).parent_path(), error);
  return error ? "" : folder.string();
}

const std::string& OwnFolder() {
  static const auto& own = *new std::string([] {
    Dl_info info;
    return ::dladdr(reinterpret_cast<void*>(&IsInRuntimeFolder), &info) != 0 ? FolderOf(info.dli_fname) : "";
  }());
  return own;
}

bool IsLibrary(std::string_view file) { return file.find(".so") != std::string_view::npos && !OwnFolder().empty(); }

}  // namespace

bool IsInRuntimeFolder(std::string_view file) { return IsLibrary(file) && FolderOf(file) == OwnFolder(); }

bool IsForSubmissions(std::string_view file) {
  return IsLibrary(file) && FolderOf(file) == OwnFolder() + "/submission";
}

}  // namespace lockstep::vgpu::cudart
