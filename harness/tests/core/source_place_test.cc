// Tests whether a kernel's source lines show that it is the student's own, or a library's.
#include "vgpu/core/source_place.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/device_support.h"
#include "tests/support/ptx_testing.h"

namespace lockstep::vgpu {
namespace source_place_test {

// For a kernel with one store; `lines` are the .loc directives before its first instruction, and before the others.
bool IsOwn(const std::string& first, const std::string& others,
           const std::string& header = "/usr/local/cuda/include/cub/agent/agent_for.cuh") {
  TestDevice device(std::string(ptx::kHeader) + ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<2>;\n" + first +
                    "\nld.param.u64 %rd1, [p];\n" + others +
                    "\nst.global.u32 [%rd1], 1;\nret;\n}\n.file 1 \"/home/ada/sum.cu\"\n"
                    ".file 2 \"" +
                    header + "\"\n");
  const auto place = device.Make(std::vector<int>(1), "d_out");
  EXPECT_EQ(device.Launch("k", {{1}, {1}}, place).error, LaunchError::kNone);
  return device->launches().front().is_own;
}

TEST(SourcePlaceTest, AKernelIsItsFirstLines) {
  EXPECT_TRUE(IsOwn(".loc 1 8 0", ".loc 1 9 3"));
  EXPECT_FALSE(IsOwn(".loc 2 75 0", ".loc 2 77 3"));
  // A header's function inlined into one's own kernel, and the other way round.
  EXPECT_TRUE(IsOwn(".loc 1 8 0", ".loc 2 77 3, function_name name, inlined_at 1 9 3"));
  EXPECT_FALSE(IsOwn(".loc 2 75 0", ".loc 1 12 3, function_name name, inlined_at 2 77 3"));
  EXPECT_TRUE(IsOwn(".loc 2 77 3, function_name name, inlined_at 1 9 3", ".loc 2 78 3"));
  // A functor's loop, of which nvcc does not say where it was inlined.
  EXPECT_FALSE(IsOwn(".loc 2 75 0", ".loc 1 14 5"));
}

TEST(SourcePlaceTest, AToolkitIsKnownByItsFolders) {
  for (const char* header :
       {"/usr/local/cuda-13.0/targets/x86_64-linux/include/cccl/cub/agent/agent_for.cuh",
        "/home/ada/.venv/lib/python3.11/site-packages/nvidia/cu13/include/cuda_fp16.hpp",
        "/opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/12.4/include/thrust/for_each.h",
        "/home/ada/miniconda/envs/gpu/targets/x86_64-linux/include/cuda_bf16.hpp", "/usr/include/cub/cub.cuh",
        "/usr/include/c++/12/bits/stl_algobase.h", "/home/ada/cccl/libcudacxx/include/cuda/std/array"}) {
    EXPECT_FALSE(IsOwn(".loc 2 75 0", ".loc 2 77 3", header)) << header;
  }
  for (const char* header :
       {"/home/ada/cuda-course/include/scan.cuh", "/home/ada/nvidia_labs/include/kernels.cuh",
        "/home/ada/include/cuda/scan.cuh", "/home/ada/cudalab/lab1/include/reduce.cuh", "/home/ada/cuda/scan.cuh"}) {
    EXPECT_TRUE(IsOwn(".loc 2 75 0", ".loc 2 77 3", header)) << header;
  }
}

TEST(SourcePlaceTest, AKernelWithoutLinesIsOnesOwn) {
  EXPECT_TRUE(IsOwn("", ""));
  EXPECT_TRUE(IsOwn(".loc 2 0 0", ".loc 2 0 0")) << "line 0 is none";
}

}  // namespace source_place_test
}  // namespace lockstep::vgpu
