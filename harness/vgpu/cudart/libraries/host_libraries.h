// Host libraries that contain GPU kernels or call the driver. Their kernels are machine code, which the virtual GPU
// cannot run, and their calls bypass the replaced runtime. For some we have a replacement (harness/libraries). A
// program that loads NVIDIA's own is stopped, with the library's name; otherwise it would continue with uninitialized
// buffers.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::vgpu {

struct HostLibrary {
  std::string_view stem;    // prefix of the file name
  std::string_view name;    // display name
  std::string_view symbol;  // a function that reveals static linking; "" if there is none
  // The Debian package required to build our replacement; "" if none is needed, or there is no replacement.
  std::string_view package = "";
};

// nvrtc is not listed: it only compiles. The runtime and its device side (libcudart, libcudadevrt) are replaced.
inline constexpr HostLibrary kHostLibraries[] = {
    {"libcublasLt.", "cuBLASLt", "cublasLtCreate", "libopenblas-dev"},
    {"libcublas.", "cuBLAS", "cublasCreate_v2", "libopenblas-dev"},
    {"libnvblas.", "NVBLAS", ""},
    {"libcufft.", "cuFFT", "cufftCreate", "libeigen3-dev"},
    {"libcufftw.", "cuFFTW", ""},
    {"libcurand.", "cuRAND's host API", "curandCreateGenerator"},
    {"libcusparse.", "cuSPARSE", "cusparseCreate"},
    {"libcusparseLt.", "cuSPARSELt", "cusparseLtInit"},
    {"libcusolver.", "cuSOLVER", "cusolverDnCreate", "libopenblas-dev"},
    {"libcusolverMg.", "cuSOLVERMg", "cusolverMgCreate"},
    {"libnpp", "NPP", "nppGetLibVersion"},
    {"libcudnn", "cuDNN", "cudnnCreate"},
    {"libcutensor", "cuTENSOR", "cutensorCreate"},
    {"libnvjpeg.", "nvJPEG", "nvjpegCreateSimple"},
    {"libnccl.", "NCCL", "ncclCommInitAll"},
    {"libnvinfer", "TensorRT", ""},
    {"libcuda.so", "the CUDA driver API", ""},
};

// The library with this file name; nullptr if it is none of them.
inline const HostLibrary* FindHostLibrary(std::string_view path) {
  const std::string_view file = path.substr(path.find_last_of('/') + 1);
  if (file.find(".so") == std::string_view::npos) return nullptr;
  for (const HostLibrary& library : kHostLibraries) {
    if (file.substr(0, library.stem.size()) == library.stem) return &library;
  }
  return nullptr;
}

// The library that defines this symbol; nullptr if it is none of them.
inline const HostLibrary* FindHostLibraryOfSymbol(std::string_view symbol) {
  for (const HostLibrary& library : kHostLibraries) {
    if (!library.symbol.empty() && library.symbol == symbol) return &library;
  }
  return nullptr;
}

// The message about a program that uses the library. evidence: the file that shows it, such as "libcublas.so.13".
inline std::string RefusalOf(const HostLibrary& library, std::string_view evidence) {
  std::string text = "uses ";
  text.append(library.name).append(" (").append(evidence).append("), ");
  if (library.stem == "libcuda.so") {
    return text +
           "NVIDIA's driver, which needs a GPU: start the program with vgpu-run, whose libcuda.so.1 comes first, and "
           "take the driver's folder out of its RPATH";
  }
  if (library.package.empty()) {
    return text +
           "whose kernels are machine code that the virtual GPU can't run: write the kernel yourself, use Thrust or "
           "CUB (both header-only), or run the program on a GPU";
  }
  if (evidence.find(".so") == std::string_view::npos) {
    return text + "whose kernels are machine code: link the shared library, for which the virtual GPU has a stand-in";
  }
  text += "for which this build has no stand-in: with CUDA 13, install ";
  return text.append(library.package).append(", run cmake on the build folder and type make build");
}

}  // namespace lockstep::vgpu
