// What is counted and said of a call's trace of runtime API calls.
#include <gtest/gtest.h>

#include "judge/model/api_counts.h"
#include "judge/model/api_text.h"

namespace lockstep::judge {
namespace api_calls_test {

using worker::ApiCall;
using worker::ApiKind;
using worker::MemoryUse;

ApiCall Make(ApiKind kind, const char* function, uint64_t bytes = 0, bool failed = false) {
  ApiCall call;
  call.kind = kind;
  call.function = function;
  call.bytes = bytes;
  call.failed = failed;
  return call;
}

TEST(ApiCountsTest, CountsEachKindOfCall) {
  const std::vector<ApiCall> trace = {Make(ApiKind::kAllocate, "cudaMalloc", 400),
                                      Make(ApiKind::kAllocate, "cudaMalloc", 400),
                                      Make(ApiKind::kOther, "cudaMallocHost"),
                                      Make(ApiKind::kHostToDevice, "cudaMemcpy", 400),
                                      Make(ApiKind::kDeviceToDevice, "cudaMemcpy", 300),
                                      Make(ApiKind::kDeviceToHost, "cudaMemcpy", 200),
                                      Make(ApiKind::kDeviceToHost, "cudaMemcpyAsync", 100),
                                      Make(ApiKind::kFill, "cudaMemset", 8),
                                      Make(ApiKind::kLaunch, "cudaLaunchKernel"),
                                      Make(ApiKind::kOther, "cudaStreamCreate"),
                                      Make(ApiKind::kFree, "cudaFree")};
  ApiCounts expected;
  expected.allocations = 2;
  expected.pinned_allocations = 1;
  expected.copies_to_device = 1;
  expected.bytes_to_device = 400;
  expected.copies_on_device = 1;
  expected.bytes_on_device = 300;
  expected.copies_to_host = 2;
  expected.bytes_to_host = 300;
  expected.fills = 1;
  expected.frees = 1;
  expected.leaked_allocations = 1;
  MemoryUse use;
  use.bytes_to_device = 400;
  use.bytes_on_device = 300;
  use.bytes_to_host = 300;
  EXPECT_EQ(CountApi(trace, use), expected);
}

// Memory that a device reset finds was not freed by the program.
TEST(ApiCountsTest, AResetDoesNotHideLeaks) {
  std::vector<ApiCall> trace = {Make(ApiKind::kAllocate, "cudaMalloc", 400),
                                Make(ApiKind::kAllocate, "cudaMalloc", 800), Make(ApiKind::kFree, "cudaFree"),
                                Make(ApiKind::kReset, "cudaDeviceReset"), Make(ApiKind::kAllocate, "cudaMalloc", 400)};
  for (size_t k = 0; k < trace.size(); ++k) trace[k].address = k;
  trace[2].address = 1;
  EXPECT_EQ(CountApi(trace, {}).leaked_allocations, 2u);
  trace.insert(trace.begin() + 3, Make(ApiKind::kFree, "cudaFree"));
  trace[3].address = 0;
  EXPECT_EQ(CountApi(trace, {}).leaked_allocations, 1u);
}

TEST(ApiCountsTest, KnowsTheFirstAllocationThatIsHeld) {
  std::vector<ApiCall> trace = {Make(ApiKind::kAllocate, "cudaMalloc", 4), Make(ApiKind::kAllocate, "cudaMalloc", 8),
                                Make(ApiKind::kFree, "cudaFree")};
  trace[0].address = trace[2].address = 256;
  trace[1].address = 512;
  ASSERT_NE(FirstHeld(trace), nullptr);
  EXPECT_EQ(FirstHeld(trace)->bytes, 8u);
  trace.push_back(Make(ApiKind::kFree, "cudaFree"));
  trace[3].address = 512;
  EXPECT_EQ(FirstHeld(trace), nullptr);
}

TEST(ApiCountsTest, CallsThatFailedCountOnlyAsFailed) {
  const std::vector<ApiCall> trace = {Make(ApiKind::kAllocate, "cudaMalloc", 400, true),
                                      Make(ApiKind::kOther, "cudaMallocHost", 0, true),
                                      Make(ApiKind::kDeviceToHost, "cudaMemcpy", 4, true)};
  ApiCounts expected;
  expected.failed_calls = 3;
  EXPECT_EQ(CountApi(trace, {}), expected);
}

TEST(ApiCountsTest, EachHasANameOfItsOwn) {
  EXPECT_EQ(AllApiCounts().size(), sizeof(ApiCounts) / sizeof(uint64_t));
  ApiCounts counts;
  uint64_t value = 0;
  for (const ApiCountInfo& info : AllApiCounts()) counts.*info.field = ++value;
  for (const ApiCountInfo& info : AllApiCounts())
    EXPECT_EQ(counts.*info.field, uint64_t(&info - &AllApiCounts()[0] + 1));
}

std::vector<std::string> Rendered(const std::vector<vgpu::MessageLine>& lines) {
  std::vector<std::string> texts;
  for (const vgpu::MessageLine& line : lines) texts.push_back(line.Rendered());
  return texts;
}

TEST(ApiTextTest, ListsWhatMovedAllocatedOrFailed) {
  const std::vector<ApiCall> trace = {
      Make(ApiKind::kAllocate, "cudaMalloc", 4000),          Make(ApiKind::kOther, "cudaStreamCreate"),
      Make(ApiKind::kHostToDevice, "cudaMemcpyAsync", 4000), Make(ApiKind::kOther, "cudaMallocHost"),
      Make(ApiKind::kOther, "cudaEventCreate", 0, true),     Make(ApiKind::kDeviceToHost, "cudaMemcpy", 4000, true)};
  const std::vector<std::string> also = {"cudaMallocHost"};
  EXPECT_EQ(Rendered(CallLines(trace, also)),
            (std::vector<std::string>{"calls   1  cudaMalloc  4,000 bytes",
                                      "        2  cudaMemcpyAsync  4,000 bytes  host to device",
                                      "        3  cudaMallocHost", "        4  cudaEventCreate  failed",
                                      "        5  cudaMemcpy  4,000 bytes  device to host  failed"}));
}

TEST(ApiTextTest, EndsALongList) {
  const std::vector<ApiCall> trace(1000, Make(ApiKind::kFree, "cudaFree"));
  const std::vector<std::string> lines = Rendered(CallLines(trace, {}, 2));
  EXPECT_EQ(lines, (std::vector<std::string>{"calls   1  cudaFree", "        2  cudaFree", "        and 998 more"}));
  EXPECT_EQ(Rendered(CallLines({})), std::vector<std::string>{"calls   none that allocates, copies or launches"});
}

TEST(ApiTextTest, LeavesWhatIsNotBegunAlone) {
  std::vector<Problem> problems(2);
  problems[0].unfinished = true;
  AddCalls(problems, {});
  EXPECT_TRUE(problems[0].evidence.empty());
  EXPECT_EQ(problems[1].evidence.size(), 1u);
}

}  // namespace api_calls_test
}  // namespace lockstep::judge
