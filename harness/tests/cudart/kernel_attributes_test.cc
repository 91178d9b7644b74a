// The attributes that a program reads of a kernel agree with what its launches do.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

// Numba launches blocks of as many threads as the attribute says.
TEST(KernelAttributesTest, TheMostThreadsOfABlockAreThoseWhoseRegistersFit) {
  const TemporaryFolder folder;
  const std::string source = folder.path() + "many.cu";
  std::ofstream(source) << R"(
#include <cstdio>
__global__ void many(double* x, int n) {
  double v[48];
#pragma unroll
  for (int k = 0; k < 48; ++k) v[k] = x[k * n];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 48; ++k) x[k * n] = v[47 - k] * v[(k + 5) % 48];
}
int main() {
  double* x = nullptr;
  cudaMalloc(&x, 48 * sizeof(double));
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, many);
  const int most = attributes.maxThreadsPerBlock;
  std::printf("%d %d %d\n", attributes.numRegs > 64, most < 1024, most % 32);
  many<<<1, most>>>(x, 1);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  many<<<1, 1024>>>(x, 1);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
}
)";
  const std::string program = folder.path() + "many";
  const Output built = Execute(std::string(LOCKSTEP_NVCC) + " " + source + " -o " + program + " 2>&1");
  ASSERT_EQ(built.status, 0) << built.text;
  EXPECT_EQ(Execute(std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run " + program + " 2>/dev/null").text,
            "1 1 0\ncudaSuccess\ncudaErrorLaunchOutOfResources\n");
}

}  // namespace
}  // namespace lockstep
