// vgpu-run --debug: recorded sessions, typed into standard input.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

constexpr char kSource[] = R"(#include <cstdio>
__device__ __noinline__ float twice(float x) { return x + x; }
__global__ void fill(float* d_out, int n) {
  __shared__ float tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i;
  __syncthreads();
  if (threadIdx.x % 2 == 1) tile[threadIdx.x] = twice(tile[threadIdx.x]);
  __syncthreads();
  d_out[i] = tile[threadIdx.x];
}
int main(int count, char**) {
  float* d_out;
  cudaMalloc(&d_out, 512);
  std::puts("begins");
  fill<<<2, 64>>>(d_out, 128);
  if (count > 1) fill<<<3, 64>>>(d_out, 128);
  cudaDeviceSynchronize();
  std::puts("ends");
}
)";

class DebuggerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    std::ofstream(folder_->path() + "fill.cu") << kSource;
    const Output output = Execute(std::string(LOCKSTEP_NVCC) +
                                  " -std=c++17 -lineinfo -cudart shared -gencode arch=compute_80,code=compute_80 " +
                                  folder_->path() + "fill.cu -o " + folder_->path() + "fill 2>&1");
    EXPECT_EQ(output.status, 0) << output.text;
  }
  static void TearDownTestSuite() { delete folder_; }

  // What a session of these commands shows; `quit` ends it.
  static std::string Session(const std::string& commands, const std::string& arguments = "") {
    std::ofstream(folder_->path() + "commands") << commands << "\nquit\n";
    return Execute(std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run --debug " + folder_->path() + "fill" + arguments +
                   " 2>&1 < " + folder_->path() + "commands")
        .text;
  }
  // The same between the echoes of the last command and of `quit`.
  static std::string Answer(const std::string& before, const std::string& command, const std::string& arguments = "") {
    const std::string all = Session(before + "\n" + command, arguments);
    const std::string echo = "(vgpu) " + command + "\n";
    const size_t at = all.rfind(echo);
    EXPECT_NE(at, std::string::npos) << all;
    const size_t end = all.rfind("(vgpu) quit");
    return at == std::string::npos ? "" : all.substr(at + echo.size(), end - at - echo.size());
  }
  static bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  static TemporaryFolder* folder_;
};
TemporaryFolder* DebuggerTest::folder_ = nullptr;

constexpr char kToLine10[] = "break fill.cu:10 block (1,0,0) thread (33,0,0)\ncontinue";

TEST_F(DebuggerTest, StopsAtTheFirstInstructionAndAtALineOfAThread) {
  EXPECT_TRUE(Has(Session(""), "launch 1, fill<<<2,64>>>\nfill.cu:3   fill   block (0,0,0), warp 0 "));
  const std::string stop = Answer("break fill.cu:10 block (1,0,0) thread (33,0,0)", "continue");
  EXPECT_TRUE(Has(stop, "breakpoint 1\nfill.cu:10   fill   block (1,0,0), warp 1 (threads (32,0,0) to (63,0,0))\n"))
      << stop;
  EXPECT_TRUE(Has(stop, "=>   10    d_out[i] = tile[threadIdx.x];\n")) << stop;
  EXPECT_TRUE(Has(Answer("break fill", "continue", " twice"), "launch 2, fill<<<3,64>>>\nbreakpoint 1\n"));
}

TEST_F(DebuggerTest, ShowsValues) {
  EXPECT_EQ(Answer(kToLine10, "print tile[33]"), "tile[33] = 194\n");
  EXPECT_EQ(Answer(kToLine10, "print tile[0]@4"), "tile[0]@4 = 64, 130, 66, 134\n");
  EXPECT_EQ(Answer(kToLine10, "print d_out[3]"), "d_out[3] = 6\n");  // block 0 has ended
  EXPECT_EQ(Answer(kToLine10, "print/x d_out[3]"), "d_out[3] = 0x40c00000\n");
  EXPECT_EQ(Answer(kToLine10, "print n"), "n = 128\n");
  EXPECT_EQ(Answer(kToLine10, "print tile"), "tile = 64, 130, 66, 134, 68, 138, 70, 142, …\n");
  EXPECT_EQ(Answer(kToLine10, "print blockIdx"), "blockIdx = (1,0,0)\n");
  EXPECT_TRUE(Has(Answer(kToLine10, "print threadIdx"), "threadIdx.x = 32 .. 63 step 1\n"));
  EXPECT_EQ(Answer(kToLine10, "print threadIdx thread (35,0,0)").substr(0, 16), "threadIdx.x = 35");
  EXPECT_TRUE(Has(Answer(kToLine10, "info registers"), "=> "));
  EXPECT_TRUE(Has(Answer(kToLine10, "print nothing[1]"), "no array nothing here; there are: d_out n tile"));
  EXPECT_TRUE(Has(Answer(kToLine10, "print tile[64]"), "tile has 64 elements of 4 bytes"));
}

TEST_F(DebuggerTest, StepsByLineOverCallsAndOut) {
  const std::string at_8 = "break 8\ncontinue\ndelete 1";  // behind a barrier the last warp goes on first
  EXPECT_TRUE(Has(Answer(at_8, "next"), "fill.cu:9 ")) << Answer(at_8, "next");
  const std::string inside = Answer(at_8, "step");
  EXPECT_TRUE(Has(inside, "fill.cu:2   fill   block (0,0,0), warp 1")) << inside;
  EXPECT_TRUE(Has(inside, "16 of 32 threads: lanes aaaaaaaa")) << inside;
  EXPECT_EQ(Answer(at_8 + "\nstep", "backtrace"), "  fill.cu:2  twice(float)\n  fill.cu:8  fill\n");
  EXPECT_TRUE(Has(Answer(at_8 + "\nstep", "finish"), "fill.cu:8 "));
}

TEST_F(DebuggerTest, GoesBackToTheLastWriteOfAValue) {
  const std::string watched = std::string(kToLine10) + "\ndelete 1\nwatch tile[33]\nreverse-continue";
  const std::string all = Session(watched + "\nprint tile[33]\ndelete 2\ncontinue");
  EXPECT_TRUE(Has(all, "fill.cu:8   fill   block (1,0,0), warp 1")) << all;
  EXPECT_TRUE(Has(all, "tile[33] = 97\n")) << all;
  EXPECT_EQ(all.find("begins"), all.rfind("begins")) << all;  // what the program prints is printed once
  EXPECT_TRUE(Has(all, "\nends")) << all;
  EXPECT_TRUE(Has(Answer(watched, "reverse-continue"), "fill.cu:6   fill   block (1,0,0), warp 1"));
  EXPECT_TRUE(
      Has(Answer(std::string(kToLine10) + "\ndelete 1", "reverse-step"), "fill.cu:9   fill   block (1,0,0), warp 1"));
  EXPECT_TRUE(Has(Answer("", "reverse-continue"), "the first instruction of all: there is nothing before it"));
}

TEST_F(DebuggerTest, ShowsWhereEachWarpStands) {
  const std::string warps = Answer("break 7 thread (32,0,0)\ncontinue", "info warps");
  EXPECT_TRUE(Has(warps, "   block (0,0,0) warp 0  lanes ffffffff  fill.cu:7             waits at barrier 0\n"))
      << warps;
  EXPECT_TRUE(Has(warps, "=> block (0,0,0) warp 1  lanes ffffffff  fill.cu:7             runs\n")) << warps;
}

TEST_F(DebuggerTest, StopsAtAFault) {
  const std::string fault = Answer("", "continue", " twice");
  EXPECT_TRUE(Has(fault, "the kernel ends here:\n  BOUNDS  fill<<<3,64>>>\n")) << fault;
  EXPECT_TRUE(Has(fault, "fill.cu:10   fill   block (2,0,0), warp 0")) << fault;
}

TEST_F(DebuggerTest, SaysWhatToType) {
  EXPECT_EQ(Answer("", "jump 7"), "no command jump; type help\n");
  EXPECT_TRUE(Has(Answer("", "break"), "break 41, break copy.cu:41 or break KERNEL"));
  EXPECT_TRUE(Has(Answer("", "print tile[0] block (9,9,9)"), "no such thread runs now; info warps shows which do"));
  EXPECT_TRUE(Has(Answer("", "help"), "reverse-continue"));
  EXPECT_TRUE(Has(Execute(std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run --debug --trace=0,0 x 2>&1").text,
                  "--debug and --trace each follow the instructions"));
}

}  // namespace
}  // namespace lockstep
