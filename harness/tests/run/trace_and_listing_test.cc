// vgpu-run --trace and --disassemble on programs that nvcc compiled, and their messages for mistyped arguments.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

const std::string kVgpuRun = std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run ";
const std::string kPtx = " -gencode arch=compute_80,code=compute_80 ";

constexpr char kSource[] = R"(__device__ __noinline__ float twice(float x) { return x + x; }
template <int kStep>
__global__ void scale(float* p, int n) {
  __shared__ float tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i * 0.5f;
  __syncthreads();
  if (threadIdx.x % 2 == 1) p[i] = twice(tile[threadIdx.x - kStep]);
}
__global__ void exchange(float* p) {
  float v = threadIdx.x;
  if (threadIdx.x & 1) {
    v = __shfl_sync(~0u, v + 1, 3);
  } else {
    v = __shfl_sync(~0u, v * 2, 4);
  }
  p[threadIdx.x] = v;
}
int main() {
  float* p;
  cudaMalloc(&p, 4096);
  scale<1><<<dim3(2, 2), 40>>>(p, 100);
  exchange<<<1, 32>>>(p);
  return cudaDeviceSynchronize();
}
)";

// Compiled once for all.
class VgpuRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    std::ofstream(folder_->path() + "scale.cu") << kSource;
    Compile("-cudart shared", "scale");
    Compile("-cudart shared -rdc=true", "linked");
    Compile("-c", "scale.o");
    Compile("-c -rdc=true", "linked.o");
    const std::string ptx = std::string(LOCKSTEP_NVCC) + " -ptx -lineinfo -arch=compute_80 ";
    EXPECT_EQ(Execute(ptx + Path("scale.cu") + " -o " + Path("scale.ptx") + " 2>&1").text, "");
  }
  static void TearDownTestSuite() { delete folder_; }
  static void Compile(const std::string& flags, const std::string& to) {
    const Output output = Execute(std::string(LOCKSTEP_NVCC) + " -std=c++17 -lineinfo " + flags + kPtx +
                                  Path("scale.cu") + " -o " + Path(to) + " 2>&1");
    EXPECT_EQ(output.status, 0) << output.text;
  }
  static std::string Path(const std::string& name) { return folder_->path() + name; }
  static Output Run(const std::string& flags, const std::string& program = "scale") {
    return Execute(kVgpuRun + flags + " " + Path(program) + " 2>&1");
  }
  static void ExpectHas(const Output& output, const std::string& text) {
    EXPECT_NE(output.text.find(text), std::string::npos) << "no  " << text << "  in\n" << output.text;
  }
  static void ExpectRefused(const std::string& flags, const std::string& sentence) {
    const Output output = Run(flags);
    EXPECT_EQ(output.status, 2);
    EXPECT_EQ(output.text, "vgpu-run: " + sentence + "\n");
  }

 private:
  static inline TemporaryFolder* folder_ = nullptr;
};

TEST_F(VgpuRun, TracesAddressesAndValues) {
  const Output output = Run("--trace=3,0");
  ExpectHas(output, "TRACE  launch 1, scale<1><<<(2,2),40>>>, block (1,1,0), warp 0: threads (0,0,0) to (31,0,0)\n");
  ExpectHas(output, "= 40 .. 71 step 1\n");                      // i, by mad
  ExpectHas(output, "= 20 .. 35.5 step 0.5\n");                  // i * 0.5f
  ExpectHas(output, "at tile + 0 .. 124 step 4  %");             // the store, and what it stores
  ExpectHas(output, "aaaaaaaa  ld.shared");                      // odd lanes alone
  ExpectHas(output, "at tile + 0 .. 120 step 8  %");             // their left neighbours
  ExpectHas(output, "at cudaMalloc #1 + 164 .. 284 step 8  %");  // p[41], p[43] …
  ExpectHas(output, "= 40 .. 70 step 2\n");                      // twice()
  ExpectHas(output, "TRACE  launch 2, exchange<<<1,32>>> has no block 3: 0 is the only one\n");
}

TEST_F(VgpuRun, TracesAWarpThatIsNotFull) {
  const Output output = Run("--trace=0,1 --trace-kernel=scale");
  ExpectHas(output, "warp 1: threads (32,0,0) to (39,0,0)\n");
  ExpectHas(output, "  000000ff  ");
  ExpectHas(output, "= 32 .. 39 step 1\n");
  EXPECT_EQ(output.text.find("exchange"), std::string::npos);
}

TEST_F(VgpuRun, TracesResultsThatLanesWaitFor) {
  const Output output = Run("--trace=0,0 --trace-kernel=exchange");
  ExpectHas(output, "  (waits)\n");
  ExpectHas(output, "aaaaaaaa  what it waited for at ");
  ExpectHas(output, "55555555  what it waited for at ");
  ExpectHas(output, "at cudaMalloc #1 + 0 .. 124 step 4  %");
  ExpectHas(output, "= 8, 4, 8, 4, ");  // 4 * 2 from lane 4, and 3 + 1 from lane 3
}

TEST_F(VgpuRun, TracesARange) {
  const Output all = Run("--trace=0,0 --trace-kernel=scale");
  const Output some = Run("--trace=0,0,3,4 --trace-kernel=scale");
  const auto line = [](const std::string& text, int number) {
    const size_t at = text.find("\n     " + std::to_string(number) + "  ") + 1;
    return text.substr(at, text.find('\n', at) - at);
  };
  const size_t head = all.text.find('\n') + 1;
  const size_t end = some.text.find("       the warp has ");
  ASSERT_NE(end, std::string::npos) << some.text;
  EXPECT_EQ(some.text.substr(0, end), all.text.substr(0, head) + line(all.text, 3) + "\n" + line(all.text, 4) + "\n");
  ExpectHas(some, "instructions: --trace=0,0,5 shows what comes next\n");
  ExpectHas(Run("--trace=0,0,900"), "instructions, before the first one asked for\n");
}

TEST_F(VgpuRun, TracesTheSameBesideCheckersAndOnThreads) {
  const std::string plain = Run("--trace=2,1 --trace-kernel=scale").text;
  EXPECT_EQ(Run("--threads=3 --trace=2,1 --trace-kernel=scale").text, plain);
  const std::string checked = Run("--check=races,init,sync --color=never --trace=2,1 --trace-kernel=scale").text;
  EXPECT_EQ(checked.substr(0, plain.size()), plain);
}

TEST_F(VgpuRun, ATraceThatCannotBeIsRefused) {
  const std::string form = ": type --trace=BLOCK,WARP or --trace=BLOCK,WARP,FROM,TO, as in --trace=0,3,1,200";
  ExpectRefused("--trace=0", "--trace: it takes two to four numbers, not 1" + form);
  ExpectRefused("--trace=1,2,3,4,5", "--trace: it takes two to four numbers, not 5" + form);
  ExpectRefused("--trace=x,2", "--trace: \"x\" is not a number" + form);
  ExpectRefused("--trace=1,-2", "--trace: \"-2\" is not a number" + form);
  ExpectRefused("--trace=1,", "--trace: \"\" is not a number" + form);
  ExpectRefused("--trace", "--trace: \"\" is not a number" + form);
  ExpectRefused("--trace=99999999999999999999,0", "--trace: \"99999999999999999999\" is not a number" + form);
  ExpectRefused("--trace=0,32", "--trace: there is no warp 32: a block has 32 at most, from 0 to 31");
  ExpectRefused("--trace=0,0,0", "--trace: FROM is 0: a warp's instructions count from 1");
  ExpectRefused("--trace=0,0,9,8", "--trace: TO is 8, less than FROM, which is 9");
  ExpectRefused("--trace-kernel=scale", "--trace-kernel says where --trace=BLOCK,WARP looks: give both");
}

TEST_F(VgpuRun, AWarpThatALaunchLacksIsNamed) {
  const Output output = Run("--trace=0,2");
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.text,
            "TRACE  launch 1, scale<1><<<(2,2),40>>> has no warp 2: they are 0 to 1\n"
            "TRACE  launch 2, exchange<<<1,32>>> has no warp 2: 0 is the only one\n");
  ExpectHas(Run("--trace=0,0 --trace-kernel=scales"),
            "there was no launch of scales to trace; kernels launched: exchange, scale<1>\n");
}

TEST_F(VgpuRun, DisassemblesAlikeWhateverHoldsTheKernels) {
  const Output program = Run("--disassemble");
  EXPECT_EQ(program.status, 0);
  for (const char* file : {"scale.o", "linked", "linked.o", "scale.ptx"}) {
    EXPECT_EQ(Run("--disassemble", file).text, program.text) << file;
  }
}

TEST_F(VgpuRun, DisassemblyNamesWhatAnInstructionIs) {
  const Output output = Run("--disassemble=scale");
  ExpectHas(output, "scale<1>  (_Z5scaleILi1EEvPfi)\n");
  ExpectHas(output, " 256 bytes of shared memory per block, 0 of local memory per thread, 12 of parameters;");
  ExpectHas(output, "     0  scale.cu:3                ld.param.u64 %");
  ExpectHas(output, "store, shared");
  ExpectHas(output, "store, global");
  ExpectHas(output, "barrier  [");
  ExpectHas(output, "branch, to ");
  ExpectHas(output, ", ways meet at ");
  ExpectHas(output, "  -- lanes that went different ways meet\n");
  ExpectHas(output, "call.uni (");
  ExpectHas(output, "function _Z5twicef\n");
  EXPECT_EQ(output.text.find("exchange"), std::string::npos);
  ExpectHas(Run("--disassemble=exchange"), "  lanes see each other's registers\n");
  ExpectHas(Run("--disassemble=exchange"), "warp sync, gathers the lanes of its mask");
}

TEST_F(VgpuRun, WhatCannotBeDisassembledIsSaid) {
  const auto refused = [](const std::string& flags, const std::string& file, const std::string& sentence) {
    const Output output = Run(flags, file);
    EXPECT_EQ(output.status, 126);
    EXPECT_EQ(output.text, "vgpu-run: " + Path(file) + sentence + "\n");
  };
  refused("--disassemble=shrink", "scale", " has no kernel shrink; it has: exchange, scale<1>");
  std::ofstream(Path("text.txt")) << "no PTX";
  EXPECT_EQ(Run("--disassemble", "text.txt").status, 126);
  Execute("g++ -x c++ -c -o " + Path("plain.o") + " /dev/null");
  refused("--disassemble", "plain.o", ": it holds no device code");
  // nvcc makes the cubin only if the toolkit's assembler is installed.
  const std::string cubin = std::string(LOCKSTEP_NVCC) + " -cubin -arch=sm_80 ";
  if (Execute(cubin + Path("scale.cu") + " -o " + Path("scale.cubin") + " 2>&1").status == 0) {
    refused("--disassemble", "scale.cubin",
            ": it is a cubin: machine code, which the virtual GPU can't run. Give it PTX: nvcc -ptx");
  }
  EXPECT_EQ(Run("--disassemble", "absent").status, 127);
}

}  // namespace
}  // namespace lockstep
