// Random CUDA C++ programs (docs/records/cosim.md): the virtual GPU gives what g++ gives for the same functions. They
// are made and compiled when the tests are built.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "dev/cosim/cuda/kernel_maker.h"
#include "tests/support/shell.h"
#include "tests/support/source_files.h"

namespace lockstep::cosim::cuda {
namespace cosim_cuda_test {

const std::string kFolder = LOCKSTEP_BUILD_DIR "/tests/cosim_cuda/";

Output RunProgram(const std::string& flags, const std::string& program) {
  return Execute(LOCKSTEP_BUILD_DIR "/bin/vgpu-run --color=never " + flags + " " + kFolder + program + " 2>&1");
}
int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(CosimCuda, OptimisedProgramsGiveTheHostsResultsWithoutAFinding) {
  const Output output = RunProgram("--check", "optimised");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_EQ(Count(output.text, " same\n"), 20) << output.text;
  EXPECT_NE(output.text.find("Findings\n  none"), std::string::npos) << output.text;
}

// Without the check for uninitialised reads: unoptimised code copies a struct with the bytes between its members.
TEST(CosimCuda, ProgramsForTheDebuggerGiveTheHostsResults) {
  const Output output = RunProgram("--check=races,sync,leaks,api", "for_debugger");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_EQ(Count(output.text, " same\n"), 3) << output.text;
  EXPECT_NE(output.text.find("Findings\n  none"), std::string::npos) << output.text;
}

// Changes the lowest bit of every byte of the integer inputs.
TEST(CosimCuda, AWrongInputShows) {
  const Output output = RunProgram("", "optimised --spoil");
  EXPECT_EQ(output.status, 1) << output.text;
  EXPECT_GE(Count(output.text, " DIFFERS\n"), 15) << output.text;
}

// Is a wrong instruction detected? The PTX is stored uncompressed in the program; the host's side is unchanged.
class CosimCudaWrong : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(CosimCudaWrong, IsFound) {  // in turn
  const std::string from = std::string(GetParam().first) + " ", to = std::string(GetParam().second) + " ";
  ASSERT_EQ(from.size(), to.size());
  std::string program = tests::ReadText(kFolder + "optimised");
  int swapped = 0;
  for (size_t at = program.find(from); at != std::string::npos; at = program.find(from, at + 1), ++swapped)
    program.replace(at, from.size(), to);
  EXPECT_GT(swapped, 0);
  const std::string path = testing::TempDir() + "/" + GetParam().second;
  std::ofstream(path, std::ios::binary) << program;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  const Output output = Execute(LOCKSTEP_BUILD_DIR "/bin/vgpu-run " + path + " 2>&1");
  std::filesystem::remove(path);
  EXPECT_EQ(output.status, 1) << output.text;
  EXPECT_GT(Count(output.text, " DIFFERS\n"), 0) << swapped << " places: " << output.text;
}

INSTANTIATE_TEST_SUITE_P(Instructions, CosimCudaWrong,
                         testing::Values(std::pair{"shr.s32", "shr.u32"}, std::pair{"min.s32", "min.u32"},
                                         std::pair{"mul.hi.u64", "mul.hi.s64"}, std::pair{"fma.rn.f32", "fma.rz.f32"},
                                         std::pair{"cvt.rzi.s32.f32", "cvt.rni.s32.f32"},
                                         std::pair{"ld.local.u8", "ld.local.s8"}),
                         [](const auto& info) {
                           std::string name = info.param.second;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(CosimCuda, ASeedAlwaysMakesTheSameProgram) {
  EXPECT_EQ(MakeFile(0, 20), tests::ReadText(kFolder + "optimised.cu"));
  EXPECT_NE(MakeFile(7, 1), MakeFile(8, 1));
}

TEST(CosimCuda, EverythingIsMade) {
  const std::string text = MakeFile(0, 300);
  for (const char* const word : {"i128(",
                                 "Div(",
                                 "Rem(",
                                 "Shl(",
                                 "Rotate(",
                                 "Root(",
                                 "Fused(",
                                 "Remainder(",
                                 " : 3;",
                                 "switch (",
                                 "case ",
                                 "default:",
                                 "break;",
                                 "continue;",
                                 "while (",
                                 "do {",
                                 "#pragma unroll",
                                 "depth - 1",
                                 "_call(",
                                 "virtual",
                                 "template <typename T, int N>",
                                 "const auto l",
                                 "memcpy(",
                                 "__constant__",
                                 "__device__",
                                 "float4",
                                 "uchar4",
                                 "short2",
                                 "Dp4a(",
                                 "BytePerm(",
                                 "Vadd4(",
                                 "__shfl_sync",
                                 "__shfl_up_sync",
                                 "__shfl_down_sync",
                                 "__shfl_xor_sync",
                                 "__ballot_sync",
                                 "__any_sync",
                                 "__all_sync",
                                 "__reduce_add_sync(mask",
                                 "__match_any_sync",
                                 "__syncthreads_count",
                                 "AtomicAdd(&totals",
                                 "AtomicXor(&sh",
                                 "stride /= 2",
                                 "round < ",
                                 "const Input* in",
                                 "__noinline__",
                                 "? &"})
    EXPECT_NE(text.find(word), std::string::npos) << word;
}

}  // namespace cosim_cuda_test
}  // namespace lockstep::cosim::cuda
