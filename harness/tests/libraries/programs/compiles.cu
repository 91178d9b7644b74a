// Compiles a kernel for a real architecture while it runs, links it with a second part, and launches it.
// compiles.h100.txt is what it printed on an H100 with the argument 255, built with nvcc -arch=sm_90 compiles.cu
// -lnvrtc -lnvJitLink -lcuda.
#include <cuda.h>
#include <nvJitLink.h>
#include <nvrtc.h>

#include <cstdio>
#include <string>
#include <vector>

static const char kFirst[] =
    "extern __device__ int triple(int);\n"
    "extern \"C\" __global__ void fill(int* to, int n) {\n"
    "  int k = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (k <= n) to[k] = triple(k);\n"  // one too far
    "}\n";
static const char kSecond[] = "__device__ int triple(int k) { return 3 * k; }\n";

static std::vector<char> Compiled(const char* source, const char* name, const char* architecture) {
  nvrtcProgram program;
  const char* options[] = {architecture, "-rdc=true"};
  std::printf("create %d\n", nvrtcCreateProgram(&program, source, name, 0, nullptr, nullptr));
  std::printf("compile %d\n", nvrtcCompileProgram(program, 2, options));
  size_t bytes = 0;
  std::printf("size %d\n", nvrtcGetCUBINSize(program, &bytes));
  std::vector<char> image(bytes);
  std::printf("image %d\n", nvrtcGetCUBIN(program, image.data()));
  nvrtcDestroyProgram(&program);
  return image;
}

int main(int count, char** arguments) {
  const int n = count > 1 ? std::stoi(arguments[1]) : 255;
  const std::vector<char> parts[] = {Compiled(kFirst, "first.cu", "-arch=sm_90"),
                                     Compiled(kSecond, "second.cu", "--gpu-architecture=sm_90")};
  nvJitLinkHandle link;
  const char* options[] = {"-arch=sm_90"};
  std::printf("link %d\n", nvJitLinkCreate(&link, 1, options));
  for (const std::vector<char>& part : parts) {
    std::printf("add %d\n", nvJitLinkAddData(link, NVJITLINK_INPUT_CUBIN, part.data(), part.size(), "part"));
  }
  size_t bytes = 0;
  std::printf("complete %d\n", nvJitLinkComplete(link));
  std::printf("size %d\n", nvJitLinkGetLinkedCubinSize(link, &bytes));
  std::vector<char> image(bytes);
  std::printf("linked %d\n", nvJitLinkGetLinkedCubin(link, image.data()));
  std::printf("destroy %d\n", nvJitLinkDestroy(&link));
  nvJitLinkHandle none;
  const char* wrong[] = {"-no-such-option", "-arch=sm_90"};
  std::printf("no architecture %d\n", nvJitLinkCreate(&none, 0, nullptr));
  std::printf("no such option %d\n", nvJitLinkCreate(&none, 2, wrong));
  cudaFree(nullptr);
  CUmodule module;
  CUfunction fill;
  std::printf("load %d\n", cuModuleLoadData(&module, image.data()));
  std::printf("function %d\n", cuModuleGetFunction(&fill, module, "fill"));
  int* to;
  cudaMalloc(&to, 256 * sizeof(int));
  int size = n;
  void* values[] = {&to, &size};
  std::printf("launch %d\n", cuLaunchKernel(fill, 2, 1, 1, 256, 1, 1, 0, nullptr, values, nullptr));
  int last = 0;
  const cudaError_t copied = cudaMemcpy(&last, to + 255, sizeof last, cudaMemcpyDeviceToHost);
  std::printf("%s %d\n", cudaGetErrorName(copied), last);
}
