// vgpu-run --debug: recorded sessions, typed into standard input.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/nvcc.h"
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
    Compile("fill", kSource);
  }
  static void Compile(const std::string& name, const char* source) {
    std::ofstream(folder_->path() + name + ".cu") << source;
    CompileProgram(folder_->path() + name + ".cu", folder_->path() + name);
  }
  static void TearDownTestSuite() { delete folder_; }

  // What a session of these commands shows; `quit` ends it.
  static std::string Session(const std::string& commands, const std::string& arguments = "",
                             const std::string& flags = "", const std::string& program = "fill") {
    std::ofstream(folder_->path() + "commands") << commands << "\nquit\n";
    return Execute(std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run --debug " + flags + folder_->path() + program +
                   arguments + " 2>&1 < " + folder_->path() + "commands")
        .text;
  }
  // The part of such a session between the echoes of the last command and of `quit`.
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

// The barrier is missing: thread 32 reads what thread 31 writes, in the warp before.
constexpr char kRacing[] = R"(__global__ void shift(int* d_out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = threadIdx.x;
  d_out[threadIdx.x] = tile[(threadIdx.x + 63) % 64];
}
int main() {
  int* d_out;
  cudaMalloc(&d_out, 256);
  shift<<<1, 64>>>(d_out);
  shift<<<1, 64>>>(d_out);
  cudaFree(d_out);
}
)";

TEST_F(DebuggerTest, StopsAtWhatACheckFinds) {
  Compile("racing", kRacing);
  const std::string stop =
      "a check has found:\n  RACE  shift<<<1,64>>>\n  shared memory, read after write, tile[31], 4 bytes\n";
  const std::string all = Session("continue\ncontinue\ncontinue\nreverse-continue", "", "--check ", "racing");
  const size_t first = all.find(stop), second = all.find(stop, first + 1);
  ASSERT_NE(second, std::string::npos) << all;
  EXPECT_TRUE(Has(all.substr(first, 400), "thread (32,0,0)  racing.cu:4  read\n")) << all;
  EXPECT_TRUE(Has(all.substr(first), "\nracing.cu:3   shift   block (0,0,0), warp 0 ")) << all;
  EXPECT_LT(all.find("launch 2, shift"), second) << all;
  EXPECT_TRUE(Has(all.substr(all.find("(vgpu) reverse-continue")), "racing.cu:3   shift   block (0,0,0), warp 0 "))
      << all;
  EXPECT_FALSE(Has(Session("continue", "", "", "racing"), "a check has found")) << "without --check";
}

TEST_F(DebuggerTest, ShowsValues) {
  EXPECT_EQ(Answer(kToLine10, "print tile[33]"), "tile[33] = 194\n");
  EXPECT_EQ(Answer(kToLine10, "print tile[0]@4"), "tile[0]@4 = 64, 130, 66, 134\n");
  EXPECT_EQ(Answer(kToLine10, "print d_out[3]"), "d_out[3] = 6\n");  // block 0 has ended
  EXPECT_EQ(Answer(kToLine10, "print/x d_out[3]"), "d_out[3] = 0x40c00000\n");
  EXPECT_EQ(Answer(kToLine10, "print/x 126 - n"), "126 - n = 0xfffffffe\n");
  EXPECT_EQ(Answer(kToLine10, "print n"), "n = 128\n");
  EXPECT_EQ(Answer(kToLine10, "print tile"), "tile = 64, 130, 66, 134, 68, 138, 70, 142, …\n");
  EXPECT_EQ(Answer(kToLine10, "print blockIdx"), "blockIdx = (1,0,0)\n");
  EXPECT_TRUE(Has(Answer(kToLine10, "print threadIdx"), "threadIdx.x = 32 .. 63 step 1\n"));
  EXPECT_EQ(Answer(kToLine10, "print threadIdx thread (35,0,0)").substr(0, 16), "threadIdx.x = 35");
  EXPECT_TRUE(Has(Answer(kToLine10, "info registers"), "=> "));
  EXPECT_TRUE(Has(Answer(kToLine10, "print nothing[1]"), "there is no nothing here; there are: d_out n tile"));
  EXPECT_TRUE(Has(Answer(kToLine10, "print tile[64]"), "tile has 64 elements"));
}

TEST_F(DebuggerTest, ComputesWhatEachThreadHas) {
  const std::pair<const char*, const char*> cases[] = {
      {"tile[threadIdx.x - 32]", "64, 130, 66, 134, 68, 138"},  // odd ones are doubled
      {"blockIdx.x * blockDim.x + threadIdx.x", "96 .. 127 step 1"},
      {"(tile[3] + 1) / 2", "67.5"},
      {"7 / 2 * 2 - -1", "7"},
      {"n >> 1 & 0x60 | 1", "65"},
      {"n - (unsigned)129", "4294967295"},
      {"(long)2147483647 + 1", "2147483648"},
      {"2147483647 + 1", "-2147483648"},
      {"(unsigned char)300 + 0.5", "44.5"},
      {"(int)-2.75", "-2"},
      {"threadIdx.x < 40 && tile[threadIdx.x + 24] > 0", "1 x8, 0 x24"},  // past the array: not asked for
      {"!n || ~n == -129", "1"},
      {"*d_out == d_out[1] - 2", "1"},
      {"d_out + 3 - d_out", "3"},
      {"*(d_out + threadIdx.x - 31) == 2 * (threadIdx.x - 31)", "1"},
      {"((unsigned*)d_out)[1]", "1073741824"},
      {"threadIdx.x % (threadIdx.x - 40)", "(in 31 of 32 threads)"},
      {"tile[threadIdx.x]", "(in 32 of 32 threads)"},
  };
  std::string commands = kToLine10;
  for (const auto& [expression, value] : cases) commands += std::string("\nprint ") + expression;
  const std::string all = Session(commands);
  for (const auto& [expression, value] : cases) {
    const size_t at = all.find(std::string("\n") + expression + " = ");
    const std::string line = at == std::string::npos ? all : all.substr(at + 1, all.find('\n', at + 1) - at - 1);
    EXPECT_EQ(Has(line, value), std::string(value) != "(in 32 of 32 threads)") << expression << ": " << line;
  }
  const std::pair<const char*, const char*> refused[] = {
      {"n = 3", "nothing can be changed here"},
      {"min(n, 3)", "no function can be called here: min"},
      {"n +", "expected"},
      {"n n", "expected an operator"},
      {"tile + 1", "an array is no number"},
      {"tile[1.5]", "an index is an integer"},
      {"d_out[1] % 2", "not supported on float"},
      {"d_out * 2", "a pointer takes + and -"},
      {"n / (n - 128)", "this divides by 0"},
      {"d_out[1000000]", "no memory there"},
      {"((((((((((((((((((((((((((((((((((((((((((((((((((((1", "nested"}};
  for (const auto& [expression, why] : refused) {
    const std::string said = Answer(kToLine10, std::string("print ") + expression);
    EXPECT_TRUE(Has(said, why)) << expression << ": " << said;
  }
  EXPECT_TRUE(Has(Answer(kToLine10, "watch tile[threadIdx.x]"), "watch takes an element"));
}

TEST_F(DebuggerTest, StepsByLineOverCallsAndOut) {
  const std::string at_8 = "break 8\ncontinue\ndelete 1";  // after a barrier the last warp goes on first
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

TEST_F(DebuggerTest, ALineWithoutCodeIsTheNextThatHasSome) {
  EXPECT_EQ(Answer("", "break 4"), "breakpoint 1: line 5, as line 4 has no code\n");
  EXPECT_TRUE(Has(Answer("break 4", "continue"), "breakpoint 1\nfill.cu:5 "));
}

TEST_F(DebuggerTest, SaysWhatWasNeverReached) {
  const std::string all =
      Session("break 99\nbreak 10 block (1,0,0) thread (63,0,0)\ncontinue\nwatch d_out[0]\ncontinue\ncontinue");
  EXPECT_TRUE(Has(all, "the program has ended\nbreakpoint 1 was never reached: break 99\n")) << all;
  EXPECT_TRUE(Has(all, "watchpoint 3: nothing wrote d_out[0]\n")) << all;
  EXPECT_FALSE(Has(all, "breakpoint 2 was never")) << all;
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

// Built with -G: variables of every kind, each a function of its thread.
constexpr char kVariables[] = R"(struct Pair { int x; float y; };
struct Node { Pair pair; Node* next; };
enum Color { kRed, kGreen = 7 };
__device__ int twice(int value) { int doubled = value * 2; return doubled; }
__global__ void fill(const int* in, int n, Node given, long long* out) {
  unsigned char small = threadIdx.x + 200;
  short low = -3 - threadIdx.x;
  bool odd = threadIdx.x % 2;
  Color color = odd ? kGreen : kRed;
  unsigned long long wide = (1ull << 40) + threadIdx.x;
  double half = threadIdx.x / 2.0;
  float table[2][3] = {{1, 2, 3}, {4, 5, threadIdx.x + 0.5f}};
  Pair pair{static_cast<int>(threadIdx.x), 2.5f};
  Node node{pair, &given};
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const int* place = in + i;
    int small = twice(*place);
    pair.x += small;
  }
  Pair* last = &node.pair;
  out[threadIdx.x] = small + low + odd + color + wide + half + table[1][2] + pair.x + last->x + node.next->pair.x;
}
int main() {
  int values[40], *in;
  for (int k = 0; k < 40; ++k) values[k] = 10 * k;
  long long* out;
  cudaMalloc(&in, sizeof values);
  cudaMalloc(&out, 32 * sizeof *out);
  cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
  fill<<<1, 32>>>(in, 40, Node{{8, 0.25f}, nullptr}, out);
  cudaDeviceSynchronize();
}
)";

TEST_F(DebuggerTest, ShowsTheVariablesOfTheSource) {
  const std::string program = folder_->path() + "variables";
  std::ofstream(program + ".cu") << kVariables;
  const Output built =
      Execute(std::string(LOCKSTEP_NVCC) + " -std=c++17 -G -cudart shared -gencode arch=compute_80,code=compute_80 " +
              program + ".cu -o " + program + " 2>&1");
  ASSERT_EQ(built.status, 0) << built.text;
  const auto session = [&](const std::string& commands) {
    std::ofstream(program + ".txt") << commands << "\nquit\n";
    return Execute(std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run --debug " + program + " 2>&1 < " + program + ".txt")
        .text;
  };
  const std::string all = session(
      "break 18\ncontinue\ninfo locals\nprint place[1]\nprint *place\nprint small\nprint given.pair.y\nprint n\n"
      "print table[1]\nprint node.next->pair.x\nprint i thread (3,0,0)\nprint last\ncontinue\nprint i\nprint place[64]\n"
      "print table[2]\nprint n.x\nprint n[0]\nprint place[i]\nbreak 21\ncontinue\nprint last->x\nprint i\nprint small");
  for (const char* line : {"\nsmall = 0 .. 620 step 20\n",
                           "\nlow = -3 .. -34 step -1\n",
                           "\nodd = 0, 1, 0, 1, ",
                           "\ncolor = 0, 7, 0, 7, ",
                           "\nwide = 1099511627776 .. 1099511627807 step 1\n",
                           "\nhalf = 0 .. 15.5 step 0.5\n",
                           "\ntable[0][2] = 3\n",
                           "\ntable[1][2] = 0.5 .. 31.5 step 1\n",
                           "\npair.x = 0 .. 31 step 1\n",
                           "\nnode.pair.y = 2.5\n",
                           "\ni = 0 .. 31 step 1\n",
                           "\nlast = not set yet\n",
                           "\nplace[1] = 10 .. 320 step 10\n",
                           "\n*place = 0 .. 310 step 10\n",
                           "\ngiven.pair.y = 0.25\n",
                           "\nn = 40\n",
                           "\nnode.next->pair.x = 8\n",
                           "\ni = 3\n",
                           "\ni = 32 .. 39 step 1\n",
                           "\nno memory there\n",
                           "\ntable has 2 elements\n",
                           "\nthere is no member x in n.x\n",
                           "\nn is no array and no pointer\n",
                           "\nlast->x = 0 .. 31 step 1\n",
                           "\nthere is no i here; there are:",
                           "\nsmall = 200 .. 231 step 1\n"}) {
    EXPECT_TRUE(Has(all, line)) << line << all;
  }
  // In a function of the source, which has its own variables.
  const std::string inside = session("break 4\ncontinue\nstepi\nstepi\nstepi\ninfo locals\nbacktrace");
  EXPECT_TRUE(Has(inside, "value = 0 .. 310 step 10\n")) << inside;
  EXPECT_TRUE(Has(inside, "  variables.cu:4  twice(int)\n")) << inside;
  EXPECT_FALSE(Has(inside, "pair.x =")) << inside;
  EXPECT_TRUE(Has(Answer("", "info locals"), "build with nvcc -G"));
}

// In a toolkit function that -G does not inline.
constexpr char kAtomic[] = R"(__global__ void add(int* total) {
  __shared__ int tile[4][8];
  const int t = threadIdx.x;
  tile[t / 8][t % 8] = t;
  __syncthreads();
  atomicAdd(total + (t == 4 ? 1 << 20 : 0), tile[t / 8][t % 8]);
}
int main() {
  int* total;
  cudaMalloc(&total, 4);
  add<<<1, 32>>>(total);
  cudaDeviceSynchronize();
}
)";

TEST_F(DebuggerTest, ShowsTheLineThatCallsTheToolkit) {
  const std::string program = folder_->path() + "atomic";
  std::ofstream(program + ".cu") << kAtomic;
  std::ofstream(program + ".txt") << "break 6\ncontinue\nprint tile[2]\nprint tile[1][t % 8] * 2\ncontinue\nquit\n";
  const std::string all =
      Execute(std::string(LOCKSTEP_NVCC) + " -G -cudart shared -gencode arch=compute_80,code=compute_80 " + program +
              ".cu -o " + program + " 2>&1 && " + LOCKSTEP_BUILD_DIR + "/bin/vgpu-run --debug " + program + " 2>&1 < " +
              program + ".txt")
          .text;
  EXPECT_TRUE(Has(all, "\ntile[2] = 16, 17, 18, 19, 20, 21, 22, 23\n")) << all;  // its rows are known by -G
  EXPECT_TRUE(Has(all, "\ntile[1][t % 8] * 2 = 16 .. 30 step 2, 16 .. 30 step 2")) << all;
  const std::string stop = all.substr(std::min(all.find("the kernel ends here"), all.size()));
  EXPECT_TRUE(Has(stop, "\natomic.cu:6 (in the toolkit's headers)   add   block (0,0,0)")) << all;
  EXPECT_TRUE(Has(stop, "=>    6    atomicAdd(")) << all;
}

}  // namespace
}  // namespace lockstep
