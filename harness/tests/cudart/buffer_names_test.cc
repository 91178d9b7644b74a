// Messages of faults, and of failed frees and copies, name the buffer however it was allocated, even if it was freed.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/nvcc.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

class BufferNamesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    CompileProgram(LOCKSTEP_SOURCE_DIR "/harness/tests/cudart/programs/buffer_names.cu", Program(), "-g");
  }
  static std::string Program() {
    static const TemporaryFolder folder;
    return folder.path() + "program";
  }

  static std::string Output(const std::string& kind) {
    return Execute(std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run --check --color=never " + Program() + " " + kind +
                   " 2>&1")
        .text;
  }
  static void ExpectPart(const std::string& output, const std::string& part) {
    EXPECT_NE(output.find(part), std::string::npos) << part << "\n" << output;
  }
};

TEST_F(BufferNamesTest, ABufferOfAnyKindIsNamed) {
  ExpectPart(Output("malloc"), "just past the end of cudaMalloc #1 (64 bytes, offset 64)");
  ExpectPart(Output("async"), "just past the end of cudaMallocAsync #1 (64 bytes, offset 64)");
  ExpectPart(Output("managed"), "just past the end of cudaMallocManaged #1 (64 bytes, offset 64)");
  ExpectPart(Output("pinned"), "just past the end of cudaHostAlloc #1 (64 bytes, offset 64)");
  ExpectPart(Output("symbol"), "just past the end of symbol (64 bytes, offset 64)");
  ExpectPart(Output("host"), "which is in no allocation");
}

TEST_F(BufferNamesTest, SoIsOneThatHasBeenFreed) {
  for (const auto& [kind, name] : {std::pair{"freed_malloc", "cudaMalloc #1"},
                                   {"freed_async", "cudaMallocAsync #1"},
                                   {"freed_managed", "cudaMallocManaged #1"},
                                   {"freed_pinned", "cudaHostAlloc #1"},
                                   {"freed_heap", "malloc in a kernel"}}) {
    const std::string output = Output(kind);
    ExpectPart(output, "in " + std::string(name) + " (freed) (64 bytes, offset 12)");
    ExpectPart(output, "free it after the last kernel that uses it");
    ExpectPart(output, "cudaErrorIllegalAddress");
  }
  ExpectPart(Output("freed_malloc"), "cudaMalloc #1 (freed) was allocated at buffer_names.cu:21");
}

// An index that runs from one buffer into a freed one is attributed to the first.
TEST_F(BufferNamesTest, AFreedNeighbourIsNotBlamed) {
  const std::string output = Output("astray");
  ExpectPart(output, "past the end of cudaMalloc #1 (64 bytes");
  EXPECT_EQ(output.find("(freed)"), std::string::npos) << output;
}

TEST_F(BufferNamesTest, FreesAndCopiesThatGoWrongAreReported) {
  const std::string twice = Output("twice");
  ExpectPart(twice, "cudaSuccess cudaErrorInvalidValue");
  ExpectPart(twice, "API  cudaFree failed with cudaErrorInvalidValue");
  ExpectPart(twice, "buffer_names.cu:51");
  const std::string middle = Output("middle");
  ExpectPart(middle, "API  cudaFree failed with cudaErrorInvalidValue");
  ExpectPart(middle, "LEAK  cudaMalloc #1");
  ExpectPart(Output("direction"), "API  cudaMemcpy failed with cudaErrorInvalidValue");
}

}  // namespace
}  // namespace lockstep
