#include "judge/model/api_text.h"

#include <gtest/gtest.h>

#include "tests/judge/api_calls.h"

namespace lockstep::judge {
namespace api_text_test {

using worker::ApiCall;
using worker::ApiKind;

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

}  // namespace api_text_test
}  // namespace lockstep::judge
