// virtual: REJECTED libraries1_sum
// Loads its kernel as PTX text that claims to be from a line of CUB's; but the judge knows which kernels nvcc made.
#include <cub/device/device_reduce.cuh>

#include "libraries.h"

static const char kText[] = R"(.version 8.0
.target sm_80
.address_size 64
.file 1 "/usr/local/cuda/include/cub/device/device_reduce.cuh"
.visible .entry sum(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred p; .reg .b32 i, t, b, v; .reg .b64 a, o;
  .loc 1 100 1
  mov.u32 i, %ctaid.x; mov.u32 b, %ntid.x; mov.u32 t, %tid.x; mad.lo.u32 i, i, b, t;
  ld.param.u32 v, [n]; setp.ge.u32 p, i, v; @p ret;
  ld.param.u64 a, [in]; mad.wide.u32 a, i, 4, a; ld.global.u32 v, [a];
  ld.param.u64 o, [out]; red.global.add.u32 [o], v; ret;
})";

int libraries1_sum(const int* d_in, unsigned n) {
  int sum = 0, *d_sum;
  cudaMalloc(&d_sum, sizeof sum);
  cudaMemset(d_sum, 0, sizeof sum);
  cudaLibrary_t library;
  cudaKernel_t kernel;
  cudaLibraryLoadData(&library, kText, nullptr, nullptr, 0, nullptr, nullptr, 0);
  cudaLibraryGetKernel(&kernel, library, "sum");
  void* arguments[] = {&d_in, &d_sum, &n};
  if (n > 0) cudaLaunchKernel(kernel, (n + 255) / 256, 256, arguments, 0, nullptr);
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  cudaLibraryUnload(library);
  cudaFree(d_sum);
  return sum;
}
float libraries2_norm(const float*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries4_transpose(const float*, float*, unsigned, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
