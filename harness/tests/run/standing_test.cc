// A kernel that never ends shows where its threads are: vgpu-run without --debug.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/nvcc.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

// Lines that threads are to stand at are marked. `interrupt`: a thread of the host does what Ctrl-C does, once the kernel
// runs.
constexpr char kSource[] = R"(#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
__global__ void branch(int* d) {
  if (threadIdx.x < 16) {
    __syncthreads();  // in the branch
  }
  __syncwarp();  // after it
  d[threadIdx.x] = 1;
}
__global__ void early(int* d) {
  if (threadIdx.x >= 32) return;
  asm volatile("bar.sync 1, 64;" ::: "memory");  // for two warps
  d[threadIdx.x] = 1;
}
__global__ void lock(int* d) {
  while (atomicCAS(d, 0, 1) != 0) {  // the lock
  }
  __syncwarp();  // with the lock
  atomicExch(d, 0);
}
__global__ void last(volatile int* d) {
  __shared__ int room[12000];
  room[threadIdx.x] = 0;
  if (blockIdx.x == gridDim.x - 1) *d = 1 + room[0];
  while (*d == 0) {  // the flag
  }
}
__global__ void endless(volatile int* d) {
  *d = 1;
  if (threadIdx.x >= 32) return;
  unsigned n = threadIdx.x;
  while (n < 100) {
    n = n % 64;  // never above 63
    d[1] = n;
  }
}
int main(int, char** argv) {
  const std::string name = argv[1];
  volatile int* d;
  cudaHostAlloc((void**)&d, 4096, cudaHostAllocMapped);
  d[0] = 0;
  if (name == "branch") branch<<<3, 32>>>((int*)d + 8);
  if (name == "early") early<<<3, 64>>>((int*)d + 8);
  if (name == "lock") lock<<<1, 32>>>((int*)d + 8);
  if (name == "last") last<<<2000, 32>>>(d + 8);
  if (name == "endless") endless<<<5, 64>>>(d + 8);
  if (name == "interrupt") {
    std::thread([d] {
      while (*d == 0) std::this_thread::yield();
      kill(getpid(), SIGINT);
    }).detach();
    endless<<<5, 64>>>(d);
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("error %d\n", error);
}
)";

class StandingTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    std::ofstream(folder_->path() + "stuck.cu") << kSource;
    CompileProgram(folder_->path() + "stuck.cu", folder_->path() + "stuck");
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string Run(const std::string& kernel, const std::string& flags = "") {
    return Execute("sh -c '" LOCKSTEP_BUILD_DIR "/bin/vgpu-run --color=never --budget=3000000 " + flags + " " +
                   folder_->path() + "stuck " + kernel + "; echo status $?' 2>&1")
        .text;
  }
  // "stuck.cu:7" for the line that has this remark.
  static std::string At(const std::string& remark) {
    std::istringstream source(kSource);
    int number = 1;
    for (std::string line; std::getline(source, line); ++number) {
      if (line.find("// " + remark) != std::string::npos) return "stuck.cu:" + std::to_string(number);
    }
    return "no such line";
  }
  // Exactly these lines are printed under the label "threads".
  static void Expect(const std::string& text, const std::vector<std::string>& lines) {
    std::string listing = "  threads ";
    for (const std::string& line : lines) listing += (&line == lines.data() ? "" : "          ") + line + "\n";
    const size_t at = text.find(listing);
    ASSERT_NE(at, std::string::npos) << text << "\nlacks\n" << listing;
    EXPECT_NE(text.compare(at + listing.size(), 10, std::string(10, ' ')), 0) << text;
  }
  static inline TemporaryFolder* folder_ = nullptr;
};

TEST_F(StandingTest, ABarrierInABranch) {
  for (const char* flags : {"", "--check"}) {
    Expect(Run("branch", flags),
           {"16 of 32 at the barrier in " + At("in the branch") + " (warp 0 lanes 0-15)",
            "16 of 32 at " + At("after it") + ", waiting for the rest of the warp (warp 0 lanes 16-31)"});
  }
}

TEST_F(StandingTest, AReturnBeforeABarrier) {
  for (const char* flags : {"", "--check", "--threads=1"}) {
    Expect(Run("early", flags),
           {"32 of 64 at barrier 1 in " + At("for two warps") + " (warp 0)", "32 of 64 ended (warp 1)"});
  }
}

TEST_F(StandingTest, ALockOfLanesOfOneWarp) {
  Expect(Run("lock"), {"1 of 32 at " + At("with the lock") + ", waiting for lanes of the warp there (warp 0 lane 0)",
                       "31 of 32 at " + At("the lock") + " (warp 0 lanes 1-31)"});
}

TEST_F(StandingTest, ABlockThatWaitsForOneThatNeverBegins) {
  Expect(Run("last"), {"16896 of 16896 at " + At("the flag"), "blocks: 528 of 2000 run, 1472 have not begun"});
}

TEST_F(StandingTest, ALoopWithoutAnEnd) {
  const std::string text = Run("endless");
  EXPECT_NE(text.find(" of 128 at "), std::string::npos) << text;
  EXPECT_NE(text.find(" 64 of 128 ended (each block: warp 1)\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" blocks: 2 of 5 run, 3 have not begun\n"), std::string::npos) << text;
  EXPECT_EQ(Run("endless"), text);
}

TEST_F(StandingTest, AnInterruptedKernelIsToldAndTheProgramEnds) {
  for (const char* flags : {"--budget=0", "--budget=0 --check", "--budget=0 --profile", "--budget=0 --threads=1"}) {
    const std::string text = Run("interrupt", flags);
    EXPECT_NE(text.find("TIMEOUT  endless<<<5,64>>>\n  interrupted while this kernel ran\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find(" ended ("), std::string::npos) << text;
    EXPECT_NE(text.find("status " + std::to_string(128 + SIGINT) + "\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("error "), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace lockstep
