// What --check says of a program's host side, and what it must not say (cudart/programs/host_checks.cu); and programs
// that load a library again after they have unloaded it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "tests/support/nvcc.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

const std::string kRun = LOCKSTEP_BUILD_DIR "/bin/vgpu-run --color=never ";

class HostChecksTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    CompileProgram(LOCKSTEP_SOURCE_DIR "/harness/tests/cudart/programs/host_checks.cu", folder_->path() + "host_checks",
                   "-g");
  }
  static void TearDownTestSuite() { folder_.reset(); }
  static std::string Check(const std::string& program) {
    return Execute(kRun + "--check " + folder_->path() + "host_checks " + program + " 2>&1").text;
  }
  static bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  static inline std::unique_ptr<TemporaryFolder> folder_;
};

TEST_F(HostChecksTest, CopiesOfWhatNothingHasWrittenAreFound) {
  for (const auto& [program, bytes, offset] : {std::tuple{"GridRoundedDown", "928 bytes", "3072 bytes"},
                                               {"LastElementLeft", "4 bytes", "3996 bytes"},
                                               {"NeverLaunched", "4000 bytes", "+ 0 bytes"}}) {
    const std::string text = Check(program);
    EXPECT_TRUE(Has(text, "\nUNINIT")) << program << text;
    EXPECT_TRUE(Has(text, bytes)) << program << text;
    EXPECT_TRUE(Has(text, offset)) << program << text;
    EXPECT_TRUE(Has(text, "cudaMemcpy copies it to the host")) << program << text;
    EXPECT_TRUE(Has(text, "host_checks.cu:")) << program << text;
  }
  for (const char* program : {"GridRoundedUp", "OnlyWhatIsThere", "Padding"}) {
    const std::string text = Check(program);
    EXPECT_TRUE(Has(text, "Findings\n  none")) << program << text;
  }
}

TEST_F(HostChecksTest, AnExchangeReadsOnlyIfItsResultIsUsed) {
  EXPECT_TRUE(Has(Check("ExchangeThatReads"), "\nUNINIT  Take")) << Check("ExchangeThatReads");
  EXPECT_TRUE(Has(Check("ExchangeThatOnlyWrites"), "Findings\n  none")) << Check("ExchangeThatOnlyWrites");
}

TEST_F(HostChecksTest, AFaultIsNoLeak) {
  const std::string text = Check("FreedAfterAFault");
  EXPECT_TRUE(Has(text, "BOUNDS  Step")) << text;
  EXPECT_FALSE(Has(text, "LEAK")) << text;
}

TEST_F(HostChecksTest, AnArrayThatTheCompilerSplitsHasItsNameInTheSource) {
  const std::string text = Check("SmallArray");
  EXPECT_TRUE(Has(text, "RACE  Total")) << text;
  EXPECT_TRUE(Has(text, " sum[0], 4 bytes")) << text;
}

TEST_F(HostChecksTest, AStaticKernelOfSeveralObjectsHasItsNameInTheSource) {
  const std::string source = folder_->path() + "static_kernel.cu";
  std::ofstream(source) << "static __device__ int late[64];\n"
                           "static __global__ void Fill(int n) { late[threadIdx.x + n] = 1; }\n"
                           "int main() { Fill<<<1, 64>>>(1); cudaDeviceSynchronize(); }\n";
  CompileProgram(source, folder_->path() + "static_kernel", "-g -rdc=true");
  const std::string text = Execute(kRun + "--check --profile " + folder_->path() + "static_kernel 2>&1").text;
  EXPECT_TRUE(Has(text, "BOUNDS  Fill<<<1,64>>>")) << text;
  EXPECT_TRUE(Has(text, "\nFill ") || Has(text, "\n  Fill ")) << text;
  EXPECT_TRUE(Has(text, " late (256 bytes")) << text;
  EXPECT_FALSE(Has(text, "__nv_static")) << text;
}

// Two libraries in turn under one name: each load brings its own kernel, and variables with their initial values.
TEST_F(HostChecksTest, ALibraryThatIsLoadedAgainIsANewOne) {
  const std::string& folder = folder_->path();
  std::ofstream(folder + "library.cu") << R"(
__device__ int calls = VERSION * 10;
__managed__ int seen;
__global__ void Call() { seen = VERSION * 1000 + ++calls; }
extern "C" int Run() {
  Call<<<1, 1>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? seen : -1;
})";
  std::ofstream(folder + "host.cu") << R"(
#include <dlfcn.h>
#include <cstdio>
#include <string>
__global__ void Nothing() {}
int main(int, char** argv) {
  Nothing<<<1, 1>>>();
  for (int round = 0; round < 4; ++round) {
    const std::string name = "current.so";
    remove((argv[1] + name).c_str());
    if (std::rename((argv[1] + std::to_string(round) + ".so").c_str(), (argv[1] + name).c_str()) != 0) return 1;
    void* library = dlopen((argv[1] + name).c_str(), RTLD_NOW);
    if (library == nullptr) return 2;
    printf("%d ", reinterpret_cast<int (*)()>(dlsym(library, "Run"))());
    dlclose(library);
  }
})";
  for (const int version : {1, 2}) {
    const std::string first = folder + std::to_string(version - 1) + ".so";
    CompileProgram(folder + "library.cu", first, "-g -Xcompiler -fPIC -shared -DVERSION=" + std::to_string(version));
    std::filesystem::copy_file(first, folder + std::to_string(version + 1) + ".so");
  }
  CompileProgram(folder + "host.cu -ldl", folder + "host", "-g");
  EXPECT_EQ(Execute(kRun + folder + "host " + folder + " 2>&1").text, "1011 2021 1011 2021 ");
}

// The refusal is reported once; the end of the output says how often it occurred.
TEST_F(HostChecksTest, ARefusedCallIsSaidOnce) {
  const std::string& folder = folder_->path();
  std::ofstream(folder + "refused.cu") << R"(
int main() {
  cudaArray_t array;
  cudaChannelFormatDesc format = {8, 8, 8, 8, cudaChannelFormatKindUnsignedBlockCompressed1};
  for (int call = 0; call < 1000; ++call) cudaMalloc3DArray(&array, &format, {64, 64, 0});
})";
  CompileProgram(folder + "refused.cu", folder + "refused", "-g");
  const std::string text = Execute(kRun + folder + "refused 2>&1").text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  EXPECT_TRUE(Has(text, "cudaMalloc3DArray")) << text;
  EXPECT_TRUE(Has(text, "(1000 times)")) << text;
}

}  // namespace
}  // namespace lockstep
