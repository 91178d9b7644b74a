// libnvJitLink.so.13 for the virtual GPU. NVIDIA's links its inputs to machine code; this one collects them as PTX,
// which is linked when it is loaded. LTO-IR is linked by NVIDIA's own library, which can give PTX for that.
#include <dlfcn.h>
#define NVJITLINK_NO_INLINE  // the header's functions call those of this version of the toolkit, which are aliases
#include <cuda.h>
#include <nvJitLink.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/real_library.h"
#include "vgpu/cudart/binary/fatbin.h"
#include "vgpu/cudart/binary/linked_image.h"
#include "vgpu/cudart/binary/ptx_check.h"
#include "vgpu/ptx/parser.h"

namespace lockstep::libraries {

namespace {

constexpr char kFile[] = "libnvJitLink.so.13";
constexpr int kDefaultSm = 90;
constexpr size_t kMostHeader = 300;  // bytes of PTX in which its compiler is named

template <typename... Arguments>
nvJitLinkResult Real(const char* function, Arguments... arguments) {
  static void* const library = FindRealLibrary(kFile);
  const auto real =
      library == nullptr ? nullptr : reinterpret_cast<nvJitLinkResult (*)(Arguments...)>(::dlsym(library, function));
  if (real == nullptr) {
    OpenRealLibrary(kFile);
    return NVJITLINK_ERROR_INTERNAL;
  }
  return real(arguments...);
}

struct Linker {
  std::vector<std::string> options;
  int sm = kDefaultSm;
  bool lto = false;
  nvJitLinkHandle real = nullptr;  // for LTO-IR
  std::vector<std::string> texts;
  std::vector<uint8_t> image;  // filled when linking is complete
  std::string errors;

  ~Linker() {
    if (real != nullptr) Real("nvJitLinkDestroy", &real);
  }
  nvJitLinkResult Fail(nvJitLinkResult result, const std::string& sentence) {
    errors += "error: " + sentence + "\n";
    return result;
  }
};

Linker* Of(nvJitLinkHandle handle) { return reinterpret_cast<Linker*>(handle); }

nvJitLinkResult TakeOptions(Linker& linker) {
  constexpr std::string_view kArchitecture = "-arch=";
  bool has_architecture = false;
  for (const std::string& option : linker.options) {
    if (option.rfind('-', 0) != 0) return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
    linker.lto |= option == "-lto" || option == "-dlto";
    if (option.rfind(kArchitecture, 0) != 0) continue;
    has_architecture = true;
    const size_t digits = option.find('_');
    if (digits == std::string::npos) return NVJITLINK_ERROR_UNRECOGNIZED_ARCH;
    linker.sm = std::atoi(option.c_str() + digits + 1);
  }
  return has_architecture ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_MISSING_ARCH;
}

nvJitLinkResult CreateReal(const std::vector<std::string>& options, nvJitLinkHandle* real) {
  std::vector<const char*> texts;
  for (const std::string& option : options) texts.push_back(option.c_str());
  return Real("nvJitLinkCreate", real, static_cast<uint32_t>(texts.size()), texts.data());
}

nvJitLinkResult AddLtoIr(Linker& linker, const void* data, size_t bytes, const char* name) {
  if (!linker.lto) return linker.Fail(NVJITLINK_ERROR_LTO_NOT_ENABLED, "LTO-IR needs the option -lto");
  if (linker.real == nullptr) {
    std::vector<std::string> options = linker.options;
    options.emplace_back("-ptx");
    const nvJitLinkResult result = CreateReal(options, &linker.real);
    if (result != NVJITLINK_SUCCESS) return result;
  }
  return Real("nvJitLinkAddData", linker.real, NVJITLINK_INPUT_LTOIR, data, bytes, name);
}

bool IsText(const char* data, size_t bytes) {
  return std::all_of(data, data + std::min<size_t>(bytes, 64), [](unsigned char c) { return c < 0x80 && c != 0; });
}

nvJitLinkResult AddPtx(Linker& linker, const void* data, size_t bytes, const char* name) {
  using namespace vgpu::cudart;
  const std::span image(static_cast<const uint8_t*>(data), bytes);
  try {
    if (bytes > sizeof(uint64_t) && IsLinkedImage(data)) {
      for (std::string& text : TextsOfLinkedImage(image)) linker.texts.push_back(std::move(text));
    } else if (IsText(static_cast<const char*>(data), bytes)) {
      std::string text(static_cast<const char*>(data), ::strnlen(static_cast<const char*>(data), bytes));
      constexpr std::string_view kTarget = ".target sm_";
      const size_t at = text.find(kTarget);
      if (at != std::string::npos && std::atoi(text.c_str() + at + kTarget.size()) > linker.sm)
        return linker.Fail(NVJITLINK_ERROR_PTX_COMPILE, "the PTX is for a newer architecture than the link");
      linker.texts.push_back(std::move(text));
    } else {
      linker.texts.push_back(ExtractPtx(image, linker.sm));
    }
  } catch (const std::runtime_error& error) {
    return linker.Fail(NVJITLINK_ERROR_INVALID_INPUT,
                       std::string(name != nullptr ? name : "input") + ": " + error.what());
  }
  return NVJITLINK_SUCCESS;
}

// Whether it is the toolkit's device runtime, whose functions the virtual GPU itself provides.
bool IsDeviceRuntime(const char* name) {
  return name != nullptr && std::string_view(name).find("cudadevrt") != std::string_view::npos;
}

nvJitLinkResult Add(Linker& linker, nvJitLinkInputType type, const void* data, size_t bytes, const char* name) {
  if (data == nullptr || bytes == 0) return NVJITLINK_ERROR_NULL_INPUT;
  if (IsDeviceRuntime(name)) return NVJITLINK_SUCCESS;
  const auto* const text = static_cast<const char*>(data);
  const std::string_view begin(text, std::min(bytes, ::strnlen(text, kMostHeader)));
  // Our wrappers give PTX instead of machine code; it names its compiler, NVVM. Hand-written PTX counts only as PTX.
  const bool is_ptx = IsText(text, bytes) && begin.find(".version") != std::string_view::npos;
  const bool is_written = is_ptx && begin.find("NVVM") == std::string_view::npos;
  if (is_written && type != NVJITLINK_INPUT_PTX && type != NVJITLINK_INPUT_ANY) {
    return linker.Fail(NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, "the input is PTX, but its type says otherwise");
  }
  if (type == NVJITLINK_INPUT_PTX &&
      std::string_view(text, ::strnlen(text, bytes)).find(".version") == std::string::npos)
    return linker.Fail(NVJITLINK_ERROR_INCORRECT_INPUT_TYPE, "the input is not PTX, although its type says so");
  if (is_ptx) {
    vgpu::DeviceProfile profile;
    profile.cc_major = linker.sm / 10, profile.cc_minor = linker.sm % 10;
    const auto verdict = vgpu::cudart::CheckPtx({text, ::strnlen(text, bytes)}, profile, true);
    if (verdict.error != cudaSuccess) return linker.Fail(NVJITLINK_ERROR_PTX_COMPILE, verdict.log);
  }
  switch (type) {
    case NVJITLINK_INPUT_LTOIR:
      return AddLtoIr(linker, data, bytes, name);
    case NVJITLINK_INPUT_PTX:
    case NVJITLINK_INPUT_CUBIN:
    case NVJITLINK_INPUT_FATBIN:
    case NVJITLINK_INPUT_ANY:
      return AddPtx(linker, data, bytes, name);
    default:
      return linker.Fail(NVJITLINK_ERROR_UNRECOGNIZED_INPUT, "the virtual GPU links PTX, fat binaries and LTO-IR only");
  }
}

nvJitLinkResult TakeLtoResult(Linker& linker) {
  if (linker.real == nullptr) return NVJITLINK_SUCCESS;
  size_t bytes = 0;
  nvJitLinkResult result = Real("nvJitLinkComplete", linker.real);
  if (result == NVJITLINK_SUCCESS) result = Real("nvJitLinkGetLinkedPtxSize", linker.real, &bytes);
  std::string ptx(bytes, '\0');
  if (result == NVJITLINK_SUCCESS) result = Real("nvJitLinkGetLinkedPtx", linker.real, ptx.data());
  if (result != NVJITLINK_SUCCESS) {
    size_t log_bytes = 0;
    Real("nvJitLinkGetErrorLogSize", linker.real, &log_bytes);
    std::string log(log_bytes, '\0');
    Real("nvJitLinkGetErrorLog", linker.real, log.data());
    linker.errors += log.c_str();
    return result;
  }
  linker.texts.emplace_back(ptx.c_str());
  return NVJITLINK_SUCCESS;
}

// A function or variable that a text declares and none defines; empty if there is none. Functions of the device itself
// need no definition. A text that can't be parsed is reported when it is loaded.
std::string Unresolved(const std::vector<std::string>& texts) {
  std::set<std::string> wanted, defined;
  const auto take = [&](bool is_extern, const std::string& name) { (is_extern ? wanted : defined).insert(name); };
  try {
    for (const std::string& text : texts) {
      const vgpu::ptx::Module module = vgpu::ptx::Parse(text);
      for (const auto& variable : module.variables) {
        if (variable.space != vgpu::ptx::Space::kShared) take(variable.is_extern, variable.name);
      }
      for (const auto& function : module.functions) take(!function.has_body, function.name);
    }
  } catch (const std::runtime_error&) {
    return "";
  }
  const auto is_missing = [&](const std::string& name) {
    const bool is_known =
        name.starts_with("cuda") || name.starts_with("__") || name == "vprintf" || name == "malloc" || name == "free";
    return !is_known && defined.count(name) == 0;
  };
  const auto found = std::find_if(wanted.begin(), wanted.end(), is_missing);
  return found == wanted.end() ? std::string() : *found;
}

nvJitLinkResult Give(const void* from, size_t bytes, char* to) {
  if (to == nullptr) return NVJITLINK_ERROR_NULL_INPUT;
  std::memcpy(to, from, bytes);
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult GiveSize(size_t bytes, size_t* to) {
  if (to == nullptr) return NVJITLINK_ERROR_NULL_INPUT;
  *to = bytes;
  return NVJITLINK_SUCCESS;
}

// The result of nvJitLinkGetLinkedPtx: only link-time optimisation has one.
const std::string* LinkedPtx(const Linker& linker) {
  return linker.real != nullptr && linker.texts.size() == 1 ? &linker.texts[0] : nullptr;
}

}  // namespace

}  // namespace lockstep::libraries

using namespace lockstep::libraries;

extern "C" {

nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle* handle, uint32_t count, const char** options) {
  if (handle == nullptr || options == nullptr) return NVJITLINK_ERROR_NULL_INPUT;
  auto linker = std::make_unique<Linker>();
  linker->options.assign(options, options + count);
  // If NVIDIA's library is installed, it checks the options.
  if (FindRealLibrary(kFile) != nullptr) {
    nvJitLinkHandle tried = nullptr;
    const nvJitLinkResult result = CreateReal(linker->options, &tried);
    if (result != NVJITLINK_SUCCESS) return result;
    Real("nvJitLinkDestroy", &tried);
  }
  if (const nvJitLinkResult result = TakeOptions(*linker); result != NVJITLINK_SUCCESS) return result;
  *handle = reinterpret_cast<nvJitLinkHandle>(linker.release());
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle* handle) {
  if (handle == nullptr || *handle == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  delete Of(*handle);
  *handle = nullptr;
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType type, const void* data, size_t bytes,
                                 const char* name) {
  if (handle == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  return Add(*Of(handle), type, data, bytes, name);
}

nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType type, const char* path) {
  if (handle == nullptr || path == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  std::ifstream file(path, std::ios::binary);
  if (!file.good()) return Of(handle)->Fail(NVJITLINK_ERROR_INVALID_INPUT, std::string(path) + ": can't be read");
  const std::string data{std::istreambuf_iterator<char>(file), {}};
  return Add(*Of(handle), type, data.data(), data.size(), path);
}

nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle) {
  if (handle == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  Linker& linker = *Of(handle);
  if (const nvJitLinkResult result = TakeLtoResult(linker); result != NVJITLINK_SUCCESS) return result;
  if (linker.lto && linker.real == nullptr)
    return linker.Fail(NVJITLINK_ERROR_NVVM_COMPILE, "-lto was given, but no input has LTO-IR");
  // Inputs that were refused have already returned an error. Like NVIDIA's, a link without inputs succeeds.
  if (linker.texts.empty()) linker.texts = {".version 8.0\n.target sm_50\n.address_size 64\n"};
  linker.image = lockstep::vgpu::cudart::MakeLinkedImage(linker.texts);
  // The program can get the image even if this fails.
  if (const std::string name = Unresolved(linker.texts); !name.empty())
    return linker.Fail(NVJITLINK_ERROR_INTERNAL, "Undefined reference to '" + name + "'");
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t* bytes) {
  if (handle == nullptr || (Of(handle)->image.empty() && Of(handle)->errors.empty()))
    return NVJITLINK_ERROR_INVALID_INPUT;
  if (Of(handle)->lto && Of(handle)->image.empty()) return NVJITLINK_ERROR_INTERNAL;
  return GiveSize(Of(handle)->image.size(), bytes);
}

nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void* image) {
  if (handle == nullptr || Of(handle)->image.empty()) return NVJITLINK_ERROR_INVALID_INPUT;
  return Give(Of(handle)->image.data(), Of(handle)->image.size(), static_cast<char*>(image));
}

nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t* bytes) {
  if (handle == nullptr || LinkedPtx(*Of(handle)) == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  return GiveSize(LinkedPtx(*Of(handle))->size() + 1, bytes);
}

nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char* ptx) {
  if (handle == nullptr || LinkedPtx(*Of(handle)) == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  return Give(LinkedPtx(*Of(handle))->c_str(), LinkedPtx(*Of(handle))->size() + 1, ptx);
}

nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t* bytes) {
  if (handle == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  return GiveSize(Of(handle)->errors.empty() ? 0 : Of(handle)->errors.size() + 1, bytes);
}

nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char* log) {
  if (handle == nullptr) return NVJITLINK_ERROR_INVALID_INPUT;
  return Give(Of(handle)->errors.c_str(), Of(handle)->errors.size() + 1, log);
}

// There are no messages other than errors.
nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t* bytes) {
  return handle == nullptr ? NVJITLINK_ERROR_INVALID_INPUT : GiveSize(1, bytes);
}

nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char* log) {
  return handle == nullptr ? NVJITLINK_ERROR_INVALID_INPUT : Give("", 1, log);
}

nvJitLinkResult nvJitLinkVersion(unsigned* major, unsigned* minor) {
  if (major == nullptr || minor == nullptr) return NVJITLINK_ERROR_NULL_INPUT;
  *major = CUDA_VERSION / 1000;
  *minor = CUDA_VERSION % 1000 / 10;
  return NVJITLINK_SUCCESS;
}

}  // extern "C"
