// Libraries of host code that bring kernels of their own, or the driver: their kernels are machine code, which the
// virtual GPU can't run, and their calls go past the runtime that it replaces. A program that uses one is refused by
// name, since it would otherwise go on with buffers that nobody filled.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::vgpu {

struct HostLibrary {
  std::string_view stem;    // what the file's name begins with
  std::string_view name;    // as people call it
  std::string_view symbol;  // a function that a program has in it where it was linked statically; "": there is no such
};

// nvrtc is none of them: it only compiles. The runtime and its device side (libcudart, libcudadevrt) are replaced.
inline constexpr HostLibrary kHostLibraries[] = {
    {"libcublasLt.", "cuBLASLt", "cublasLtCreate"},
    {"libcublas.", "cuBLAS", "cublasCreate_v2"},
    {"libnvblas.", "NVBLAS", ""},
    {"libcufft.", "cuFFT", "cufftCreate"},
    {"libcufftw.", "cuFFTW", ""},
    {"libcurand.", "cuRAND's host API", "curandCreateGenerator"},
    {"libcusparse.", "cuSPARSE", "cusparseCreate"},
    {"libcusparseLt.", "cuSPARSELt", "cusparseLtInit"},
    {"libcusolver.", "cuSOLVER", "cusolverDnCreate"},
    {"libcusolverMg.", "cuSOLVERMg", "cusolverMgCreate"},
    {"libnpp", "NPP", "nppGetLibVersion"},
    {"libcudnn", "cuDNN", "cudnnCreate"},
    {"libcutensor", "cuTENSOR", "cutensorCreate"},
    {"libnvjpeg.", "nvJPEG", "nvjpegCreateSimple"},
    {"libnccl.", "NCCL", "ncclCommInitAll"},
    {"libnvinfer", "TensorRT", ""},
    {"libcuda.so", "the CUDA driver API", ""},
};

// The library that a file is, by its path; nullptr: none of them.
inline const HostLibrary* FindHostLibrary(std::string_view path) {
  const std::string_view file = path.substr(path.find_last_of('/') + 1);
  if (file.find(".so") == std::string_view::npos) return nullptr;
  for (const HostLibrary& library : kHostLibraries) {
    if (file.substr(0, library.stem.size()) == library.stem) return &library;
  }
  return nullptr;
}

// The library whose function a program has defined in itself; nullptr: none.
inline const HostLibrary* FindHostLibraryOfSymbol(std::string_view symbol) {
  for (const HostLibrary& library : kHostLibraries) {
    if (!library.symbol.empty() && library.symbol == symbol) return &library;
  }
  return nullptr;
}

// evidence: where it was found, "libcublas.so.13".
inline std::string RefusalOf(const HostLibrary& library, std::string_view evidence) {
  std::string text = "uses " + std::string(library.name) + " (" + std::string(evidence) + "), ";
  return text + (library.stem == "libcuda.so"
                     ? "which the virtual GPU has not: use the runtime API instead (cudaMalloc, kernel<<<...>>>, "
                       "cudaLibraryLoadData), or run the program on a GPU"
                     : "whose kernels are machine code that the virtual GPU can't run: write the kernel yourself or "
                       "take Thrust or CUB, which are headers, or run the program on a GPU");
}

}  // namespace lockstep::vgpu
