// In turn (dev/unit_tests.sh): CUDA programs, compiled by nvcc and run on the virtual GPU. programs/NAME.h200.txt is
// what NAME.cu printed on an H200: the runtime replacement must say the same, error by error.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/needs.h"
#include "tests/support/recorded.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

const std::string kPrograms = std::string(LOCKSTEP_SOURCE_DIR) + "/harness/tests/cudart/programs/";
const std::string kVgpuRun = std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run";
const std::string kPtx = "-gencode arch=compute_80,code=compute_80";

class CudartTest : public testing::Test {
 protected:
  std::string Compile(const std::string& source, const std::string& flags) const {
    const std::string program = folder_ + "program";
    const Output output = Execute(std::string(LOCKSTEP_NVCC) + " -std=c++17 -lineinfo " + flags + " " + source +
                                  " -o " + program + " 2>&1");
    EXPECT_EQ(output.status, 0) << output.text;
    return program;
  }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + name) << text;
    return folder_ + name;
  }

 private:
  const TemporaryFolder temporary_;

 protected:
  const std::string& folder_ = temporary_.path();
};

TEST_F(CudartTest, AnEventsTimeIsThereOnceTheHostHasWaited) {
  const std::string program = Compile(kPrograms + "event_times.cu", "-cudart shared " + kPtx);
  std::string expected;
  for (const char* nothing : {"nothing", "the first event", "asking twice"}) {
    expected += std::string(nothing) + ": cudaErrorNotReady, cudaErrorNotReady\n";
  }
  for (const char* wait : {"the second event", "asking for the second event", "asking for the stream", "the stream",
                           "the device", "a copy", "a copy in the stream"}) {
    expected += std::string(wait) + ": cudaErrorNotReady, cudaSuccess\n";
  }
  // An H200 (driver 580.159.04) prints these lines, too.
  for (const char* call : {"an event", "a wait"}) expected += std::string(call) + ": one after the other\n";
  for (const char* call : {"an event in another stream", "a fill of 0 bytes"}) {
    expected += std::string(call) + ": side by side\n";
  }
  const std::string text = Execute(kVgpuRun + " " + program + " 2>/dev/null").text;
  EXPECT_TRUE(text.starts_with(expected + "cudaSuccess\n")) << text;
  // Counting begins with the first event, so the times equal those of a run that counts everything.
  EXPECT_EQ(text, Execute(kVgpuRun + " --counters=/dev/null " + program + " 2>/dev/null").text);
}

TEST_F(CudartTest, ArraysTexturesAndSurfacesAreAsOnAnH100) {  // in turn
  const std::string flags = "-cudart shared -Wno-deprecated-declarations " + kPtx;
  const std::string folder = kPrograms + "textures/";
  for (const std::string name : {"arrays", "surfaces"}) {
    const std::string program = Compile(folder + name + ".cu", flags);
    EXPECT_EQ(Execute(kVgpuRun + " --check " + program + " 2>/dev/null").text,
              ReadRecorded(folder + name + ".h100.txt"));
  }
  // A line without values is a texture that is refused by name.
  const std::string program = Compile(folder + "textures.cu", flags);
  std::istringstream made(Execute(kVgpuRun + " --threads=2 " + program + " 2>/dev/null").text);
  std::istringstream recorded(ReadRecorded(folder + "textures.h100.txt"));
  int equal = 0, refused = 0;
  for (std::string line, expected; std::getline(recorded, expected) && std::getline(made, line);) {
    if (line.ends_with(':')) {
      EXPECT_TRUE(expected.starts_with(line)) << line;
      ++refused;
    } else {
      EXPECT_EQ(line, expected);
      ++equal;
    }
  }
  EXPECT_EQ(equal, 447);
  EXPECT_EQ(refused, 40);
}

const std::string kDriver = " -L" LOCKSTEP_BUILD_DIR "/lib -Xlinker -l:libcuda.so.1";

TEST_F(CudartTest, CallsOfTheDriverReturnWhatAnH200Returned) {  // in turn
  const std::string expected = ReadRecorded(kPrograms + "driver.h200.txt");
  std::string program = Compile(kPrograms + "driver.cu", "-cudart shared " + kPtx + kDriver);
  EXPECT_EQ(Execute(kVgpuRun + " --device=h200 " + program + " 2>/dev/null").text, expected);
  const Output checked = Execute(kVgpuRun + " --device=h200 --check --threads=2 " + program + " 2>&1 >/dev/null");
  EXPECT_NE(checked.text.find("BOUNDS  store<<<1,1>>>"), std::string::npos) << checked.text;
  // It can't be seen whether a program looks at a driver function's error, so such errors are not reported.
  EXPECT_EQ(checked.text.find("API  cu"), std::string::npos) << checked.text;
  for (const std::string name : {"driver_graphs", "driver_arrays", "driver_old"}) {
    program = Compile(kPrograms + name + ".cu", "-cudart shared -Wno-deprecated-declarations " + kPtx + kDriver);
    EXPECT_EQ(Execute(kVgpuRun + " " + program + " 2>/dev/null").text, ReadRecorded(kPrograms + name + ".h100.txt"));
  }
  program = Compile(kPrograms + "driver_nodes.cu", "-cudart shared " + kPtx + kDriver);
  EXPECT_EQ(Execute(kVgpuRun + " " + program + " 2>&1").text, "ok\n");
  program = Compile(kPrograms + "driver.cu", "-cudart shared --default-stream per-thread " + kPtx + kDriver);
  EXPECT_EQ(Execute(kVgpuRun + " --device=h200 " + program + " 2>/dev/null").text, expected);
}

TEST_F(CudartTest, MessagesNameTheDriversFunctions) {
  const std::string program = Compile(Write("leaks.cu", R"(
#include <cuda.h>
int main() {
  CUdevice device;
  CUcontext context;
  CUdeviceptr pointer;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuCtxCreate(&context, nullptr, 0, device);
  cuMemAlloc(&pointer, 400);
}
)"),
                                      "-cudart shared " + kPtx + kDriver);
  const Output output = Execute(kVgpuRun + " --check " + program + " 2>&1");
  EXPECT_NE(output.text.find("LEAK  cuMemAlloc #1: 400 bytes were never freed"), std::string::npos) << output.text;
}

TEST_F(CudartTest, WhatTheDriverApiLacksIsRefusedByName) {
  const std::string program = Compile(Write("array.cu", R"(
#include <cuda.h>
#include <cstdio>
int main() {
  CUdevice device;
  CUcontext context;
  cuInit(0);
  cuDeviceGet(&device, 0);
  cuCtxCreate(&context, nullptr, 0, device);
  std::printf("%d\n", cuWaitExternalSemaphoresAsync(nullptr, nullptr, 0, nullptr));
}
)"),
                                      "-cudart shared -Wno-deprecated-declarations " + kPtx + kDriver);
  const Output output = Execute(kVgpuRun + " " + program + " 2>&1");
  EXPECT_NE(output.text.find("801\n"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("the virtual GPU does not support cuWaitExternalSemaphoresAsync\n"), std::string::npos)
      << output.text;
}

const std::string kFor90 = "-cudart shared -lineinfo -gencode arch=compute_90,code=compute_90 ";

TEST_F(CudartTest, BulkCopiesAndTilesAreAsOnAnH100) {  // in turn
  const std::string program = Compile(kPrograms + "bulk_copies.cu", kFor90);
  const std::string expected = ReadRecorded(kPrograms + "bulk_copies.h100.txt");
  EXPECT_EQ(Execute(kVgpuRun + " " + program + " 2>/dev/null").text, expected);
  EXPECT_EQ(Execute(kVgpuRun + " --check --threads=3 " + program + " 2>/dev/null").text, expected);
  for (const char* fault : {"2", "3", "8", "9"}) {
    EXPECT_EQ(Execute(kVgpuRun + " " + program + " " + fault + " 2>/dev/null").text,
              std::string("fault ") + fault + ": cudaErrorMisalignedAddress\n");
  }
  EXPECT_EQ(Execute(kVgpuRun + " " + program + " 6 2>/dev/null").text, "fault 6: cudaErrorIllegalAddress\n");
}

TEST_F(CudartTest, ALecturesBulkCopiesRunAndTheirMistakesAreFound) {  // in turn
  const std::string program = Compile(kPrograms + "tensor_tiles.cu", "-Wno-deprecated-declarations " + kFor90);
  const std::string right = "array: 0 wrong\nmatrix: 0 wrong\n";
  EXPECT_EQ(Execute(kVgpuRun + " " + program + " 2>&1").text, right);
  const Output checked = Execute(kVgpuRun + " --check --threads=2 " + program + " 2>&1");
  EXPECT_TRUE(checked.text.starts_with(right)) << checked.text;
  EXPECT_NE(checked.text.find("Findings\n  none"), std::string::npos) << checked.text;
  for (const char* mistake : {"1", "2"}) {
    const Output output = Execute(kVgpuRun + " --check " + program + " " + mistake + " 2>&1");
    EXPECT_NE(output.text.find("RACE  AddOne<<<8,128>>>"), std::string::npos) << output.text;
    EXPECT_NE(output.text.find("RACE  AddOneToTiles<<<"), std::string::npos) << output.text;
  }
}

TEST_F(CudartTest, FeaturesWorkAsOnAnH200) {  // in turn
  const std::string program = Compile(kPrograms + "features.cu", "-cudart shared " + kPtx);
  const std::string expected = ReadRecorded(kPrograms + "features.h200.txt");
  EXPECT_EQ(Execute(kVgpuRun + " --device=h200 " + program + " 2>/dev/null").text, expected);
  EXPECT_EQ(Execute(kVgpuRun + " --device=h200 --threads=3 --check " + program + " 2>/dev/null").text, expected);
}

TEST_F(CudartTest, TheHostSeesWhatCopiesBringWhenItDidOnAnH200) {  // in turn
  const std::string program = Compile(kPrograms + "host_copies.cu", "-cudart shared " + kPtx);
  const std::string expected = ReadRecorded(kPrograms + "host_copies.h200.txt"), arguments = " " + program + " 1000";
  EXPECT_EQ(Execute(kVgpuRun + " --device=h200" + arguments).text, expected);
  EXPECT_EQ(Execute(kVgpuRun + " --device=h200 --check=races" + arguments + " 2>/dev/null").text, expected);
}

TEST_F(CudartTest, CubsDeviceWideAlgorithmsAreRightAndClean) {  // in turn
  const std::string program = Compile(kPrograms + "cub.cu", "-cudart shared " + kPtx);
  const Output output =
      Execute(kVgpuRun + " --check=races,init,sync,api --color=never --threads=2 " + program + " 2>&1");
  EXPECT_EQ(output.text, "reduce 1\nscan 1\nsort 1\nhistogram 1\ncudaSuccess\n\nFindings\n  none\n");
}

constexpr char kSmallProgram[] = R"(
#include <cstdio>
__global__ void fill(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = i;
}
int main() {
  int* p;
  cudaMalloc(&p, 4000);
  fill<<<8, 128>>>(p, 1000);
  std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  return cudaDeviceSynchronize();
}
)";

TEST_F(CudartTest, MachineCodeAloneIsRefusedWithTheFlagThatMendsIt) {
  const std::string program =
      Compile(Write("small.cu", kSmallProgram), "-cudart shared -gencode arch=compute_80,code=sm_80");
  const Output output = Execute(kVgpuRun + " " + program + " 2>&1");
  EXPECT_NE(output.text.find("cudaErrorNoKernelImageForDevice"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("-gencode"), std::string::npos) << output.text;
}

TEST_F(CudartTest, AProgramsCopyOfTheRuntimeIsRedirected) {
  const std::string shared = Compile(Write("small.cu", kSmallProgram), "-cudart shared " + kPtx);
  const std::string expected = Execute(kVgpuRun + " " + shared + " 2>&1").text;
  const std::string program = Compile(Write("small.cu", kSmallProgram), "");  // as nvcc builds unless told otherwise
  EXPECT_EQ(Execute(kVgpuRun + " " + program + " 2>&1").text, expected);
  EXPECT_NE(Execute(kVgpuRun + " --check=leaks --color=never " + program + " 2>&1").text.find("LEAK  cudaMalloc #1"),
            std::string::npos);
}

TEST_F(CudartTest, AStrippedCopyOfTheRuntimeIsRefusedWithTheFlagThatHelps) {
  const std::string program = Compile(Write("small.cu", kSmallProgram), kPtx + " -Xlinker -s");
  const Output output = Execute(kVgpuRun + " " + program + " 2>&1");
  EXPECT_EQ(output.status, 126);
  EXPECT_EQ(output.text,
            "vgpu-run: " + program +
                " holds its own copy of the CUDA runtime, and was stripped, so that its functions can't be "
                "found. Build it again without -s, or with the flag  -cudart shared\n");
}

TEST_F(CudartTest, ReportsCountersAndLeaks) {
  const std::string program = Compile(Write("small.cu", kSmallProgram), "-cudart shared " + kPtx);
  const Output output =
      Execute(kVgpuRun + " --check=leaks --profile=lines --color=never " + program + " 2>&1 >/dev/null");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_NE(output.text.find("LEAK  cudaMalloc #1: 4,000 bytes were never freed"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("fill by source line"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("small.cu:5"), std::string::npos) << output.text;
  EXPECT_EQ(output.text.find('\033'), std::string::npos);
}

TEST_F(CudartTest, AFunctionThatIsAbsentFailsAtLinkWithItsName) {
  const std::string source = Write("absent.cc",
                                   "extern \"C\" int cudaBindNothing(void**, unsigned);\n"
                                   "int main() { void* g; return cudaBindNothing(&g, 0); }\n");
  const Output output =
      Execute("g++ " + source + " -o " + folder_ + "absent " + LOCKSTEP_BUILD_DIR + "/lib/libcudart.so.13 2>&1");
  EXPECT_NE(output.status, 0);
  EXPECT_NE(output.text.find("undefined reference to `cudaBindNothing'"), std::string::npos) << output.text;
}

TEST_F(CudartTest, SymbolsCarryTheRuntimesVersionAndNothingElseIsExported) {
  const Output output = Execute(std::string("nm -D --defined-only ") + LOCKSTEP_BUILD_DIR + "/lib/libcudart.so.13");
  EXPECT_NE(output.text.find(" cudaMalloc@@libcudart.so.13\n"), std::string::npos);
  EXPECT_NE(output.text.find(" __cudaLaunchKernel_ptsz@@libcudart.so.13\n"), std::string::npos);
  std::istringstream lines(output.text);
  for (std::string address, kind, symbol; lines >> address >> kind >> symbol;) {
    const bool drivers = symbol.rfind("cu", 0) == 0 && std::isupper(static_cast<unsigned char>(symbol[2])) != 0;
    // Only these two libc functions are exported too, with a single @: no program is linked against them (at_death.cc).
    if (symbol == "_exit@GLIBC_2.2.5" || symbol == "_Exit@GLIBC_2.2.5") continue;
    EXPECT_TRUE(symbol.rfind("lockstep_", 0) == 0 || symbol.rfind("cuda", 0) == 0 || symbol.rfind("__cuda", 0) == 0 ||
                drivers || kind == "A")
        << symbol;
  }
}

TEST_F(CudartTest, LoadsPtxTextAsALibrary) {
  const std::string source = Write("library.cu", R"(
#include <cstdio>
const char* ptx = ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 seen;\n"
    ".visible .entry set(.param .u32 value) {\n  .reg .b32 %r<2>;\n  ld.param.u32 %r1, [value];\n"
    "  st.global.u32 [seen], %r1;\n  ret;\n}\n";
int main() {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  std::printf("%s ", cudaGetErrorName(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0)));
  std::printf("%s ", cudaGetErrorName(cudaLibraryGetKernel(&kernel, library, "absent")));
  std::printf("%s ", cudaGetErrorName(cudaLibraryGetKernel(&kernel, library, "set")));
  unsigned count = 0;
  cudaLibraryGetKernelCount(&count, library);
  cudaKernel_t kernels[2] = {};
  cudaLibraryEnumerateKernels(kernels, 2, library);
  std::printf("%u %d %d ", count, kernels[0] == kernel, kernels[1] == nullptr);
  int value = 42, back = 0;
  void* arguments[] = {&value};
  cudaLaunchKernel((const void*)kernel, dim3(1), dim3(1), arguments, 0, nullptr);
  void* address;
  size_t bytes;
  std::printf("%s ", cudaGetErrorName(cudaLibraryGetGlobal(&address, &bytes, library, "seen")));
  cudaMemcpy(&back, address, sizeof back, cudaMemcpyDeviceToHost);
  std::printf("%zu %d %s\n", bytes, back, cudaGetErrorName(cudaLibraryUnload(library)));
}
)");
  const std::string program = Compile(source, "-cudart shared " + kPtx);
  EXPECT_EQ(Execute(kVgpuRun + " " + program).text,
            "cudaSuccess cudaErrorSymbolNotFound cudaSuccess 1 1 1 cudaSuccess 4 42 cudaSuccess\n");
}

constexpr char kCarelessProgram[] = R"(
#include <cstdio>
__global__ void add_one(int* p) { ++p[threadIdx.x]; }
int main() {
  int *first, *second, count, back[4] = {};
  cudaGetDeviceCount(&count);
  cudaMalloc(&first, 128);
  cudaMemset(first, 0, 128);
  if (count > 1) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaSetDevice(1);
    cudaMalloc(&second, 128);
    cudaMemcpyPeer(second, 1, first, 0, 128);
    add_one<<<1, 32>>>(second);
    cudaMemcpy(first, second, 128, cudaMemcpyDefault);
    cudaMemcpy(back, first, sizeof back, cudaMemcpyDefault);
    add_one<<<1, 32, 0, stream>>>(second);
    std::printf("%d %s ", back[3], cudaGetErrorName(cudaGetLastError()));
    add_one<<<1, 32>>>(first);
    std::printf("%s ", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaSetDevice(0);
    std::printf("%s ", cudaGetErrorName(cudaDeviceSynchronize()));
    std::printf("%s\n", cudaGetErrorName(cudaSetDevice(2)));
    return 0;
  }
  cudaArray_t array;
  cudaChannelFormatDesc format = {8, 8, 8, 8, cudaChannelFormatKindUnsignedBlockCompressed1};
  std::printf("%s\n", cudaGetErrorName(cudaMalloc3DArray(&array, &format, cudaExtent{4, 4, 0}, 0)));
  cudaGetLastError();
  cudaMemcpy(first, back, 1000, cudaMemcpyHostToDevice);
  cudaMemcpyToSymbol("first", back, 4);
}
)";

TEST_F(CudartTest, NamesTheLinesOfLeaksAndOfErrorsThatNobodyTook) {
  const std::string program = Compile(Write("careless.cu", kCarelessProgram), "-g -cudart shared " + kPtx);
  const Output output = Execute(kVgpuRun + " --check=leaks,api --color=never " + program + " 2>&1");
  EXPECT_NE(output.text.find("cudaErrorNotSupported\n"), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("lockstep: cudaMalloc3DArray ("), std::string::npos) << output.text;
  EXPECT_NE(output.text.find("the virtual GPU does not support a compressed format of channels\n"), std::string::npos)
      << output.text;
  const bool has_lines = output.text.find("main()") == std::string::npos;  // where GCC has its libbacktrace
  const auto at = [&](const std::string& line) { return has_lines ? folder_ + "careless.cu:" + line : "main()"; };
  EXPECT_NE(output.text.find("LEAK  cudaMalloc #1: 128 bytes were never freed, allocated at " + at("7") + "\n"),
            std::string::npos)
      << output.text;
  EXPECT_NE(output.text.find("API  cudaMemcpy failed with cudaErrorInvalidValue (invalid argument) at " + at("31") +
                             ", and nothing checked it\n"),
            std::string::npos)
      << output.text;
  EXPECT_NE(output.text.find("(invalid device symbol) at " + at("32") +
                             ", and nothing checked it\n  hint    the variable itself is the argument"),
            std::string::npos)
      << output.text;
  EXPECT_EQ(output.text.find("API  cudaMallocArray"), std::string::npos) << output.text;

  // Several devices: copies between them; a stream, an address and an error belong to one.
  EXPECT_EQ(Execute(kVgpuRun + " --devices=2 " + program + " 2>/dev/null").text,
            "1 cudaErrorInvalidResourceHandle cudaErrorIllegalAddress cudaSuccess cudaErrorInvalidDevice\n");
}

// However a call is made, the reported line is the program's, not one of the toolkit's, the system's, or the kernel's.
constexpr const char* kCallingProgram = R"(
#include <functional>
#include <thread>
__global__ void Fill(int* p) { *p = 1; }
template <typename T> __global__ void FillAny(T* p) { *p = 1; }
static __global__ void Stat(int* p) { *p = 1; }  // "Stat" could be read as a mangled type
namespace { __global__ void Hidden(int* p) { *p = 1; } }
__device__ int symbol;
static void Call(int way, int* p) {
  void* arguments[] = {&p};
  cudaLaunchConfig_t launch{};
  launch.gridDim = 1;
  launch.blockDim = 4096;
  cudaStream_t none = reinterpret_cast<cudaStream_t>(64);
  if (way == 0) Fill<<<1, 4096>>>(p);                             // way 0
  if (way == 1) FillAny<int><<<1, 4096>>>(p);                     // way 1
  if (way == 2) Stat<<<1, 4096>>>(p);                             // way 2
  if (way == 3) Hidden<<<1, 4096>>>(p);                           // way 3
  if (way == 4) cudaLaunchKernelEx(&launch, Fill, p);             // way 4
  if (way == 5) cudaLaunchKernel(Fill, 1, 4096, arguments);       // way 5
  if (way == 6) cudaLaunchCooperativeKernel(Fill, 1, 4096, arguments);  // way 6
  if (way == 7) std::function<void()>([&] { Fill<<<1, 4096>>>(p); })();  // way 7
  if (way == 8) Fill<<<1, 1, 1 << 20>>>(p);                       // way 8
  if (way == 9) Fill<<<1, 1, 0, none>>>(p);                       // way 9
  if (way == 10) std::bind(cudaFree, p + 1)();                    // way 10
  if (way == 11) cudaMemcpyToSymbol(symbol, p, 64);               // way 11
  if (way == 12) std::thread([&] { Fill<<<1, 4096>>>(p); }).join();      // way 12
}
int main(int, char** words) {
  int* p;
  cudaMalloc(&p, 4096);
  Call(atoi(words[1]), p);
}
)";

TEST_F(CudartTest, TheLineOfAFailedCallIsTheProgramsHoweverItIsMade) {
  const std::string source = Write("calls.cu", kCallingProgram);
  const std::string program = Compile(source, "-g -cudart shared " + kPtx);
  std::vector<int> lines;  // of each way
  std::istringstream text(kCallingProgram);
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.find("// way ") != std::string::npos) lines.push_back(number);
  }
  ASSERT_EQ(lines.size(), 13u);
  for (size_t way = 0; way < lines.size(); ++way) {
    const std::string output =
        Execute(kVgpuRun + " --check=api --color=never " + program + " " + std::to_string(way) + " 2>&1").text;
    const size_t from = output.find("API  ");
    ASSERT_NE(from, std::string::npos) << way << output;
    const std::string finding = output.substr(from, output.find('\n', from) - from);
    if (finding.find("main()") != std::string::npos) {
      LOCKSTEP_SKIP_BUT_IN_CI("no line is known: build with libbacktrace, which comes with Debian's and Ubuntu's g++");
    }
    EXPECT_NE(finding.find(") at " + source + ":" + std::to_string(lines[way]) + ","), std::string::npos) << finding;
  }
}

TEST_F(CudartTest, AFailedAssertionIsNoErrorThatNobodyTook) {
  const std::string program = Compile(Write("asserts.cu", R"(
#include <cassert>
__global__ void fails() { assert(threadIdx.x < 4); }
int main() {
  fails<<<1, 8>>>();
  return cudaDeviceSynchronize() == cudaErrorAssert ? 0 : 1;
}
)"),
                                      "-cudart shared " + kPtx);
  const Output output = Execute(kVgpuRun + " --check=api --color=never " + program + " 2>&1");
  EXPECT_EQ(output.status, 0);
  EXPECT_NE(output.text.find("assertion `threadIdx.x < 4` failed"), std::string::npos) << output.text;
  EXPECT_EQ(output.text.find("API  "), std::string::npos) << output.text;
}

// The program prints the line that CUDA prints, in addition to our message.
TEST_F(CudartTest, AFailedAssertionIsPrintedAsCudaDoes) {
  const std::string program = Compile(Write("asserts_too.cu", R"(
#include <cassert>
__global__ void fails(int n) { assert(threadIdx.x < 4 || n == 0); }
int main() {
  fails<<<1, dim3(8, 2)>>>(3);
  return cudaDeviceSynchronize() == cudaErrorAssert ? 0 : 1;
}
)"),
                                      "-cudart shared " + kPtx);
  const Output output = Execute(kVgpuRun + " " + program + " 2>&1");
  EXPECT_EQ(output.status, 0);
  EXPECT_NE(output.text.find("asserts_too.cu:3: void fails(int): block: [0,0,0], thread: [4,0,0] Assertion "
                             "`threadIdx.x < 4 || n == 0` failed.\n"),
            std::string::npos)
      << output.text;
}

TEST_F(CudartTest, LeaksBeforeAResetAndLaunchesThatNobodyAskedAboutAreFindings) {
  const std::string program = Compile(Write("resets.cu", R"(
__global__ void fill(int* p) { p[threadIdx.x] = 1; }
int main(int arguments, char**) {
  int *kept, *freed;
  cudaMalloc(&kept, 400);
  cudaMalloc(&freed, 800);
  if (arguments == 1) fill<<<1, 2000>>>(kept);
  cudaFree(freed);
  cudaDeviceReset();
  return 3;
}
)"),
                                      "-g -cudart shared " + kPtx);
  Output output = Execute(kVgpuRun + " --check=leaks,api --color=never " + program + " 2>&1");
  EXPECT_EQ(output.status, 3);
  EXPECT_NE(output.text.find("LEAK  cudaMalloc #1: 400 bytes were not freed before its context ended"),
            std::string::npos)
      << output.text;
  EXPECT_EQ(output.text.find("LEAK  cudaMalloc #2"), std::string::npos) << output.text;
  // This is reported although the program ends with its own status, because <<<>>> returns no error to look at.
  EXPECT_NE(output.text.find("API  cudaLaunchKernel failed with cudaErrorInvalidValue"), std::string::npos)
      << output.text;
  output = Execute(kVgpuRun + " --check=api --color=never " + program + " without 2>&1");
  EXPECT_EQ(output.text.find("API  "), std::string::npos) << output.text;
}

// More dynamic shared memory than 48 KiB without the opt-in: such a launch would fail, so no block is resident.
TEST_F(CudartTest, OccupancyKnowsTheLimitOfDynamicSharedMemory) {
  const std::string program = Compile(Write("occupies.cu", R"(
#include <cstdio>
__global__ void k(int* p) { extern __shared__ int s[]; p[threadIdx.x] = s[threadIdx.x]; }
int blocks(size_t bytes) {
  int n = -1;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k, 128, bytes);
  return n;
}
int main() {
  std::printf("%d %d %d\n", blocks(48 << 10), blocks((48 << 10) + 1), blocks(100 << 10));
  cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10);
  std::printf("%d %d %d\n", blocks(48 << 10), blocks(100 << 10), blocks((100 << 10) + 1));
}
)"),
                                      "-cudart shared " + kPtx);
  EXPECT_EQ(Execute(kVgpuRun + " " + program).text, "4 0 0\n4 2 0\n");
}

TEST_F(CudartTest, AnotherDriverThatTheProgramsRpathNamesIsNotTaken) {
  const Output made = Execute(
      "echo 'int cuDriverGetVersion(int* v) { *v = 1; return 0; }' | gcc -shared -fPIC "
      "-Wl,-soname,libcuda.so.1 -o " +
      folder_ + "libcuda.so.1 -x c - 2>&1");
  ASSERT_EQ(made.status, 0) << made.text;
  const std::string program = Compile(Write("drives.cu", R"(
#include <cuda.h>
#include <cstdio>
int main() {
  int version = 0;
  cuDriverGetVersion(&version);
  std::printf("%d\n", version);
}
)"),
                                      "-cudart shared " + kPtx + " -Xlinker " + folder_ +
                                          "libcuda.so.1 -Xlinker --disable-new-dtags -Xlinker -rpath=" + folder_);
  EXPECT_EQ(Execute(kVgpuRun + " " + program + " 2>&1").text, "13000\n");
}

TEST_F(CudartTest, HostLibrariesAreRefusedByName) {  // in turn
  // Empty libraries with these names, so that the test needs neither the toolkit's libraries nor a GPU.
  for (const char* name : {"libcudnn.so.9", "libnppial.so.13"}) {
    const Output made = Execute("echo 'int lockstep_stub() { return 0; }' | gcc -shared -fPIC -Wl,-soname," +
                                std::string(name) + " -o " + folder_ + name + " -x c - 2>&1");
    ASSERT_EQ(made.status, 0) << made.text;
  }
  const std::string use =
      "extern \"C\" int lockstep_stub();\n__global__ void k() {}\n"
      "int main() { k<<<1, 1>>>(); return lockstep_stub(); }\n";
  const std::string run = "env LD_LIBRARY_PATH=" + folder_ + " " + kVgpuRun + " ";
  const std::string flags = "-cudart shared " + kPtx + " -Xlinker ";
  std::string program = Compile(Write("multiplies.cu", use), flags + folder_ + "libcudnn.so.9");
  Output output = Execute(run + program + " 2>&1");
  EXPECT_EQ(output.status, 126);
  EXPECT_EQ(output.text,
            "vgpu-run: " + program +
                " uses cuDNN (libcudnn.so.9), whose kernels are machine code that the virtual GPU can't "
                "run: write the kernel yourself, use Thrust or CUB (both header-only), or run the program on a GPU\n");
  // A library loaded while the program runs is refused at the next call.
  program = Compile(Write("loads.cu", R"(
#include <dlfcn.h>
#include <cstdio>
int main(int, char** argv) {
  int* p;
  cudaMalloc(&p, 4);
  std::printf("loaded %d\n", dlopen(argv[1], RTLD_NOW) != nullptr);
  std::fflush(stdout);
  cudaFree(p);
  std::printf("went on\n");
}
)"),
                    "-cudart shared " + kPtx);
  output = Execute(kVgpuRun + " " + program + " " + folder_ + "libnppial.so.13 2>&1");
  EXPECT_EQ(output.status, 126);
  EXPECT_EQ(output.text.find("loaded 1\nlockstep: this program uses NPP (libnppial.so.13), "), 0u) << output.text;
  EXPECT_EQ(output.text.find("went on"), std::string::npos) << output.text;

  // A library that is linked statically is recognised by its functions.
  program = Compile(Write("holds.cu",
                          "extern \"C\" int cublasCreate_v2(void**) { return 0; }\n__global__ void k() {}\n"
                          "int main() { k<<<1, 1>>>(); }\n"),
                    "-cudart shared " + kPtx);
  output = Execute(kVgpuRun + " " + program + " 2>&1");
  EXPECT_EQ(output.status, 126);
  EXPECT_NE(output.text.find("uses cuBLAS (cublasCreate_v2)"), std::string::npos) << output.text;
}

TEST_F(CudartTest, LinksSeparatelyCompiledObjects) {
  Write("scale.cu", "__device__ int factor = 3;\n__device__ int scaled(int x) { return factor * x; }\n");
  const std::string source = Write("linked.cu", R"(
#include <cstdio>
extern __device__ int factor;
extern __device__ int scaled(int x);
__global__ void scale(int* p) { p[threadIdx.x] = scaled(static_cast<int>(threadIdx.x)) + factor; }
int main() {
  int *d, back[4];
  cudaMalloc(&d, sizeof back);
  scale<<<1, 4>>>(d);
  std::printf("%s ", cudaGetErrorName(cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost)));
  std::printf("%d %d %d\n", back[0], back[1], back[3]);
}
)");
  const std::string program = Compile(source + " " + folder_ + "scale.cu", "-rdc=true -cudart shared " + kPtx);
  EXPECT_EQ(Execute(kVgpuRun + " " + program + " 2>&1").text, "cudaSuccess 3 6 12\n");
}

TEST_F(CudartTest, TheLauncherExplainsItsMistakes) {
  const std::string run = kVgpuRun + " ";
  EXPECT_EQ(Execute(run + "--chek true 2>&1").text, "vgpu-run: unknown flag --chek; type vgpu-run --help\n");
  EXPECT_EQ(Execute(run + "--threads=many true 2>&1").text,
            "vgpu-run: --threads needs a number; type vgpu-run --help\n");
  EXPECT_EQ(Execute(run + "./no_such_program 2>&1").status, 127);
  EXPECT_EQ(Execute(run + "--device=none true 2>&1").status, 2);
  EXPECT_NE(Execute(run + "--device=help").text.find("h200"), std::string::npos);
  EXPECT_EQ(Execute(run + "--help").status, 0);
  EXPECT_EQ(Execute(run + "2>/dev/null").status, 2);
  EXPECT_EQ(Execute(run + "sh -c 'exit 7'").status, 7);
}

}  // namespace
}  // namespace lockstep
