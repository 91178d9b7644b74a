// Programs that compile while they run: NVRTC and nvJitLink give PTX here, as does nvcc if a program calls it; findings
// name a Python script's lines.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/recorded.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace compilers_test {

const std::string kVgpuRun = std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run";
const std::string kLibraries = std::string(LOCKSTEP_BUILD_DIR) + "/lib";

class CompilersTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + name) << text;
    return folder_ + name;
  }
  // Whether the build made the library, for which it needs a header of the toolkit.
  static bool Has(const std::string& library) { return std::filesystem::exists(kLibraries + "/" + library); }

 private:
  const TemporaryFolder temporary_;

 protected:
  const std::string& folder_ = temporary_.path();
};

TEST_F(CompilersTest, AKernelForARealArchitectureIsCompiledLinkedAndRun) {
  if (!Has("libnvrtc.so.13") || !Has("libnvJitLink.so.13")) GTEST_SKIP() << "the toolkit has no NVRTC or nvJitLink";
  const std::string program = folder_ + "program";
  const Output built = Execute(std::string(LOCKSTEP_NVCC) +
                               " -std=c++17 " LOCKSTEP_SOURCE_DIR "/harness/tests/libraries/programs/compiles.cu -o " +
                               program + " -lnvrtc -lnvJitLink -L" + kLibraries + " -Xlinker -l:libcuda.so.1 2>&1");
  ASSERT_EQ(built.status, 0) << built.text;
  const Output output = Execute(kVgpuRun + " " + program + " 255 2>&1");
  EXPECT_EQ(output.text, ReadRecorded(LOCKSTEP_SOURCE_DIR "/harness/tests/libraries/programs/compiles.h100.txt"));
  // NVRTC adds the source lines although the program did not ask for them.
  const Output fault = Execute(kVgpuRun + " " + program + " 256 2>&1");
  EXPECT_NE(fault.text.find("BOUNDS  fill<<<2,256>>>"), std::string::npos) << fault.text;
  EXPECT_NE(fault.text.find("first.cu:4  write"), std::string::npos) << fault.text;
}

// Python's cuda-bindings opens NVRTC by its path. The dynamic linker then knows our library by NVIDIA's path, too.
TEST_F(CompilersTest, NvrtcOpenedByItsOwnPathStillFindsNvidias) {
  if (!Has("libnvrtc.so.13")) GTEST_SKIP() << "the toolkit has no NVRTC";
  namespace fs = std::filesystem;
  const fs::path toolkit = fs::path(LOCKSTEP_NVCC).parent_path().parent_path();
  std::error_code missing;
  const fs::path real = fs::canonical(toolkit / "lib64" / "libnvrtc.so.13", missing);
  if (missing) GTEST_SKIP() << "the toolkit has no NVRTC";
  const std::string script =
      Write("open.py",
            "import ctypes\n"
            "nvrtc = ctypes.CDLL('" +
                real.string() +
                "')\n"
                "count = ctypes.c_int()\n"
                "print(nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)), count.value > 0)\n");
  const Output output = Execute("env CUDA_HOME=" + toolkit.string() + " " + kVgpuRun + " python3 " + script + " 2>&1");
  EXPECT_EQ(output.text, "0 True\n");
}

TEST_F(CompilersTest, NvccGivesPtxToAProgramThatAsksForMachineCode) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "nvcc crashes with g++'s AddressSanitizer, with which all that vgpu-run loads is built";
#endif
  const std::string source = Write("part.cu", "extern \"C\" __global__ void put(int* to) { *to = 7; }\n");
  const std::string script = Write("compile.py",
                                   "import subprocess, sys\n"
                                   "subprocess.run(['nvcc', '--cubin', '-arch', 'sm_90', '" +
                                       source + "', '-o', '" + folder_ +
                                       "part.cubin'], check=True)\n"
                                       "print(open('" +
                                       folder_ + "part.cubin').read())\n");
  const std::string folder = std::filesystem::path(LOCKSTEP_NVCC).parent_path();
  const Output output = Execute("env PATH=$PATH:" + folder + " " + kVgpuRun + " python3 " + script + " 2>&1");
  EXPECT_NE(output.text.find(".visible .entry put("), std::string::npos) << output.text;
  EXPECT_NE(output.text.find(".target sm_90"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("part.cu\""), std::string::npos) << "no line numbers: " << output.text;
  // CuPy calls nvcc by the variable NVCC, with both architectures in one flag.
  const Output other = Execute("env PATH=$PATH:" + folder + " " + kVgpuRun + " bash -c 'cd " + folder_ +
                               " && $NVCC -gencode=arch=compute_80,code=sm_80 --cubin part.cu && cat part.cubin' 2>&1");
  EXPECT_NE(other.text.find(".target sm_80"), std::string::npos) << other.text;
}

// The script uses the C interface, as Python packages do, and loads the driver by a full path that does not exist.
TEST_F(CompilersTest, FindingsNameThePythonScriptsLine) {
  const std::string script = Write("store.py", R"(import ctypes
cuda = ctypes.CDLL('/no/such/folder/libcuda.so.1')
PTX = b'''
.version 8.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 to) {
  .reg .b64 %a;
  ld.param.u64 %a, [to];
  st.global.b32 [%a+16], 5;
  ret;
}
'''
context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
memory = ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuMemAlloc_v2(ctypes.byref(memory), 16)
cuda.cuModuleLoadData(ctypes.byref(module), PTX)
cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b'store')
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, arguments, None)
print(cuda.cuCtxSynchronize())
)");
  const Output output = Execute(kVgpuRun + " --check python3 " + script + " 2>&1");
  EXPECT_NE(output.text.find("BOUNDS  store<<<1,1>>>"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("buffer  cuMemAlloc #1 was allocated at store.py:19"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("\n700\n"), std::string::npos) << output.text;
  EXPECT_EQ(output.text.find("LEAK"), std::string::npos) << output.text;
}

// NVIDIA's cuda-bindings test that every result has a name and a text.
TEST_F(CompilersTest, TheDriverNamesEachOfItsResults) {
  const std::string script = Write("results.py", R"(import ctypes
cuda = ctypes.CDLL('libcuda.so.1')
text = ctypes.c_char_p()
def of(function, result):
    return text.value.decode() if function(result, ctypes.byref(text)) == 0 else None
print(sum(of(cuda.cuGetErrorName, k) is not None for k in range(1001)) >= 76)
for k in (0, 206, 700, 996):
    print(of(cuda.cuGetErrorName, k), '|', of(cuda.cuGetErrorString, k))
cuda.cuInit(0)
print(cuda.cuKernelGetName(ctypes.byref(text), None), cuda.cuFuncGetName(ctypes.byref(text), None))
)");
  const Output output = Execute(kVgpuRun + " python3 " + script + " 2>&1");
  EXPECT_EQ(output.text,
            "True\nCUDA_SUCCESS | no error\nCUDA_ERROR_UNMAP_FAILED | unmapping of buffer object failed\n"
            "CUDA_ERROR_ILLEGAL_ADDRESS | an illegal memory access was encountered\nNone | None\n1 1\n");
}

}  // namespace compilers_test
}  // namespace lockstep
