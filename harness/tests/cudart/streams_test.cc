// Programs that use streams, each in a right and a wrong form (cudart/programs/streams.cu), under vgpu-run --check.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/support/nvcc.h"
#include "tests/support/recorded.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

const std::string kVgpuRun = std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run";

class StreamsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    CompileProgram(LOCKSTEP_SOURCE_DIR "/harness/tests/cudart/programs/streams.cu", Program(), "-g");
  }
  static void TearDownTestSuite() { folder_.reset(); }
  static std::string Program() { return folder_->path() + "streams"; }
  static Output Run(const std::string& options, const std::string& arguments) {
    return Execute(kVgpuRun + " " + options + " " + Program() + " " + arguments + " 2>&1");
  }
  static inline std::unique_ptr<TemporaryFolder> folder_;
};

bool Races(const Output& output) { return output.text.find("\nRACE") != std::string::npos; }

TEST_F(StreamsTest, OnlyTheWrongFormOfEachPairRaces) {
  std::istringstream names(Execute(kVgpuRun + " " + Program() + " list").text);
  size_t pairs = 0;
  for (std::string name; names >> name; ++pairs) {
    const Output right = Run("--check=races", name + " right"), wrong = Run("--check=races", name + " wrong");
    EXPECT_EQ(right.status, 0) << name << right.text;
    EXPECT_FALSE(Races(right)) << name << right.text;
    EXPECT_TRUE(Races(wrong)) << name << wrong.text;
  }
  EXPECT_GE(pairs, 53u);
}

TEST_F(StreamsTest, DefaultStreamsOfTwoDevicesAreOrderedByACopyThatIsNotAsynchronous) {
  for (const char* form : {"right", "wrong"}) {
    const Output output = Run("--devices=2 --check=races", std::string("peer ") + form);
    EXPECT_EQ(Races(output), form == std::string("wrong")) << output.text;
  }
}

TEST_F(StreamsTest, AHostFunctionMayNotCallCuda) {
  const Output output = Run("", "calls_within");
  EXPECT_EQ(output.text,
            "cudaErrorNotPermitted\ncudaErrorNotPermitted\ncudaErrorNotPermitted\ncudaErrorNotPermitted\n");
}

TEST_F(StreamsTest, WhatAHostFunctionStoresIsSeenBehindAWait) {
  const std::string seen = "another stream: 0, waited: 1, by itself: 2, behind it: 3\n\nFindings\n  none\n";
  EXPECT_EQ(Run("--check=races", "sees").text, seen);
}

TEST_F(StreamsTest, AMessageNamesBothOperationsTheirStreamsAndLines) {
  const Output kernels = Run("--check=races", "Producer wrong");
  for (const char* part : {"global memory, read after write", "Fill in stream 1, launched at streams.cu:",
                           "Add in stream 2, launched at streams.cu:", "cudaStreamWaitEvent"}) {
    EXPECT_NE(kernels.text.find(part), std::string::npos) << part << kernels.text;
  }
  const Output defaults = Run("--check=races", "MemsetBesideNonBlocking wrong");
  for (const char* part : {"cudaMemset in the default stream", "cudaStreamNonBlocking"}) {
    EXPECT_NE(defaults.text.find(part), std::string::npos) << part << defaults.text;
  }
  const Output constants = Run("--check=races", "ConstantChangedTooEarly wrong");
  for (const char* part :
       {"constant memory, write after read, table[0], 4 bytes", "ScaleByTable in stream 4, launched at",
        "cudaMemcpyToSymbol in the default stream", "cudaStreamNonBlocking"}) {
    EXPECT_NE(constants.text.find(part), std::string::npos) << part << constants.text;
  }
}

TEST_F(StreamsTest, FindingsAreTheSameOnAnyNumberOfThreads) {
  for (const char* name : {"Producer", "ForkAndJoin", "ChunksThatOverlap", "SameFlag", "ConstantBeside"}) {
    const std::string arguments = std::string(name) + " wrong";
    EXPECT_EQ(Run("--check=races --threads=1", arguments).text, Run("--check=races --threads=4", arguments).text);
  }
}

TEST_F(StreamsTest, ACopyToPageLockedMemoryArrivesWhenTheHostHasWaited) {
  const std::string expected =
      "copied, not waited: not arrived\nwaited for another stream: not arrived\nwaited: arrived\n"
      "filled, not waited: not arrived\nread by the next kernel: arrived\nto pageable memory: arrived\n";
  EXPECT_EQ(Run("", "arrival").text, expected);
  EXPECT_EQ(Run("--check=races", "arrival").text.substr(0, expected.size()), expected);
}

TEST_F(StreamsTest, ATimelineHasEachOperationInItsStream) {
  const std::string file = folder_->path() + "timeline.json";
  Run("--timeline=" + file, "arrival");
  std::ifstream stream(file);
  const nlohmann::json trace = nlohmann::json::parse(stream);
  std::map<std::string, int> found;
  std::map<int, double> ends;  // by stream
  for (const nlohmann::json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++found[event["cat"]];
    double& end = ends[event["tid"]];
    EXPECT_GE(event["ts"].get<double>() + 0.001, end) << event;  // times are rounded to a nanosecond
    end = event["ts"].get<double>() + event["dur"].get<double>();
  }
  EXPECT_GE(found["copy"], 2);
  EXPECT_GE(found["kernel"], 1);
  EXPECT_GE(found["fill"], 1);
  EXPECT_GE(ends.size(), 2u);
}

TEST_F(StreamsTest, APageHasTheKernelsTheirLinesAndWhatWasFound) {
  const std::string file = folder_->path() + "page.html";
  Run("--check=races --page=" + file, "ConstantChangedTooEarly wrong");
  const std::string page = ReadRecorded(file), mark = R"(id="data">)";
  const size_t begin = page.find(mark) + mark.size(), end = page.find("</script>", begin);
  const nlohmann::json data = nlohmann::json::parse(page.substr(begin, end - begin));
  ASSERT_FALSE(data["kernels"].empty());
  ASSERT_FALSE(data["kernels"][0]["lines"].empty());
  EXPECT_GT(data["kernels"][0]["lines"][0]["counters"]["warp_instructions"], 0);
  EXPECT_TRUE(std::any_of(data["files"].begin(), data["files"].end(), [](const nlohmann::json& source) {
    return source["text"].get<std::string>().find("__global__") != std::string::npos;
  }));
  ASSERT_EQ(data["findings"].size(), 1u);
  EXPECT_EQ(data["findings"][0]["heading"], "RACE");
  EXPECT_EQ(data["findings"][0]["missing"], "streams");
}

TEST_F(StreamsTest, KernelsReachRegisteredMemory) {
  EXPECT_EQ(Run("", "registered").text,
            "within: 500\nnot waited: -7\nwaited: 107 -600\nread by the kernel: -6\nchanged by the host: 108 4001\n");
}

}  // namespace
}  // namespace lockstep
