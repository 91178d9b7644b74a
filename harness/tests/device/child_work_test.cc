// Launches from kernels, made by PTX on a device: what submissions may not do, and hostile PTX.
// tests/cudart/device_launches_test.cc runs whole programs.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/device_support.h"
#include "vgpu/exec/runtime_answers.h"

namespace lockstep::vgpu {
namespace child_work_test {

constexpr const char* kHead = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 result) __cudaCDP2GetParameterBufferV2 (
  .param .b64 kernel, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared);
.extern .func (.param .b32 result) __cudaCDP2LaunchDeviceV2 (.param .b64 buffer, .param .b64 stream);
.extern .func (.param .b32 result) __cudaCDP2MemcpyAsync (
  .param .b64 to, .param .b64 from, .param .b64 bytes, .param .b32 kind, .param .b64 stream);
.func helper() { ret; }
.visible .entry child(.param .u64 to_) {
  .reg .b64 %to;
  .reg .b32 %one;
  ld.param.u64 %to, [to_];
  mov.u32 %one, 1;
  red.global.add.u32 [%to], %one;
  ret;
}
)";

// A kernel that launches what `target` names, with blocks of `threads`, by way of stream `stream`; it adds the launch's
// error, times 100, to its word.
std::string Launching(const std::string& target, int threads, const std::string& stream = "0") {
  return std::string(kHead) + R"(
.visible .entry parent(.param .u64 to_) {
  .reg .b64 %to, %kernel, %buffer;
  .reg .b32 %error;
  .reg .pred %none;
  ld.param.u64 %to, [to_];
  mov.u64 %kernel, )" +
         target + R"(;
  {
    .param .b64 kernel;
    .param .align 4 .b8 grid[12];
    .param .align 4 .b8 block[12];
    .param .b32 shared;
    .param .b64 result;
    st.param.b64 [kernel], %kernel;
    st.param.b32 [grid], 2;
    st.param.b32 [grid+4], 1;
    st.param.b32 [grid+8], 1;
    st.param.b32 [block], )" +
         std::to_string(threads) + R"(;
    st.param.b32 [block+4], 1;
    st.param.b32 [block+8], 1;
    st.param.b32 [shared], 0;
    call.uni (result), __cudaCDP2GetParameterBufferV2, (kernel, grid, block, shared);
    ld.param.b64 %buffer, [result];
  }
  st.u64 [%buffer], %to;
  {
    .param .b64 buffer;
    .param .b64 stream;
    .param .b32 result;
    st.param.b64 [buffer], %buffer;
    st.param.b64 [stream], )" +
         stream + R"(;
    call.uni (result), __cudaCDP2LaunchDeviceV2, (buffer, stream);
    ld.param.b32 %error, [result];
  }
  mul.lo.u32 %error, %error, 100;
  red.global.add.u32 [%to], %error;
  ret;
}
)";
}

DeviceOptions WithRuntime() {
  DeviceOptions options;
  RuntimeAnswers answers;
  answers.most_dynamic_shared = [](ModuleHandle, const KernelInfo&) { return uint64_t{48} << 10; };
  answers.most_pending = [] { return uint64_t{2048}; };
  options.answers = std::make_shared<RuntimeAnswers>(answers);
  return options;
}

// The result that `parent` leaves in its word, and the first finding's text.
std::string ResultOf(const std::string& ptx, DeviceOptions options) {
  TestDevice device(ptx, std::move(options));
  const Buffer<uint32_t> word = device.Make(std::vector<uint32_t>{0});
  device.Launch("parent", {{1}, {1}}, word);
  std::string text = std::to_string(device.Get(word)[0]);
  if (!device->findings().findings().empty()) text += "\n" + Format(device->findings().findings().front());
  return text;
}

TEST(ChildWorkTest, AChildRunsWhenItsParentHasEnded) {
  EXPECT_EQ(ResultOf(Launching("child", 32), WithRuntime()), "64");
}

TEST(ChildWorkTest, WhereNoRuntimeAnswersKernelsMayNotLaunchKernels) {
  const std::string text = ResultOf(Launching("child", 32), {});
  EXPECT_EQ(text.substr(0, text.find("\n  at")),
            "0\nUNSUPPORTED  parent<<<1,1>>>\n"
            "  cudaGetParameterBufferV2 in a kernel: kernels of submissions don't launch kernels");
}

TEST(ChildWorkTest, ErrorsOfLaunchesAreTheThreads) {
  EXPECT_EQ(ResultOf(Launching("child", 1025), WithRuntime()), "900");
  EXPECT_EQ(ResultOf(Launching("child", 0), WithRuntime()), "900");
  EXPECT_EQ(ResultOf(Launching("child", 1, "4"), WithRuntime()), "2");
  EXPECT_EQ(ResultOf(Launching("child", 1, "77"), WithRuntime()), "100");
}

TEST(ChildWorkTest, OnlyKernelsAreLaunched) {
  for (const char* target : {"helper", "0", "4096", "-1"}) {
    const std::string text = ResultOf(Launching(target, 1), WithRuntime());
    EXPECT_NE(text.find("launches a function pointer, but no kernel is at that address"), std::string::npos) << text;
  }
}

TEST(ChildWorkTest, AKernelIsNotCalled) {
  const std::string ptx = std::string(kHead) + R"(
.visible .entry parent(.param .u64 to_) {
  .param .b64 to;
  call.uni child, (to);
  ret;
}
)";
  const std::string text = ResultOf(ptx, WithRuntime());
  EXPECT_NE(text.find("a call of a kernel, child"), std::string::npos) << text;
}

TEST(ChildWorkTest, CallsWithTooFewArgumentsGetZeros) {
  const std::string ptx = std::string(kHead) + R"(
.visible .entry parent(.param .u64 to_) {
  .reg .b32 %error;
  .reg .b64 %to;
  ld.param.u64 %to, [to_];
  {
    .param .b32 result;
    call.uni (result), __cudaCDP2LaunchDeviceV2, ();
    ld.param.b32 %error, [result];
  }
  red.global.add.u32 [%to], %error;
  ret;
}
)";
  EXPECT_EQ(ResultOf(ptx, WithRuntime()), "1");
}

TEST(ChildWorkTest, ACopyOutsideOfBuffersIsAFault) {
  const auto copy = [](const std::string& bytes, const std::string& from) {
    return std::string(kHead) + R"(
.visible .entry parent(.param .u64 to_) {
  .reg .b64 %to;
  ld.param.u64 %to, [to_];
  .param .b64 to;
  .param .b64 from;
  .param .b64 bytes;
  .param .b32 kind;
  .param .b64 stream;
  .param .b32 result;
  st.param.b64 [to], %to;
  st.param.b64 [from], )" +
           from + R"(;
  st.param.b64 [bytes], )" +
           bytes + R"(;
  st.param.b32 [kind], 4;
  st.param.b64 [stream], 3;
  call.uni (result), __cudaCDP2MemcpyAsync, (to, from, bytes, kind, stream);
  ret;
}
)";
  };
  EXPECT_EQ(ResultOf(copy("4", "%to"), WithRuntime()), "0");
  const std::string past = ResultOf(copy("8", "%to"), WithRuntime());
  EXPECT_NE(past.find("the last 4 of them past the end of buffer"), std::string::npos) << past;
  EXPECT_NE(past.find("cudaMemcpyAsync in a kernel"), std::string::npos) << past;
  EXPECT_NE(past.find("from    parent, which launched it"), std::string::npos) << past;
  const std::string null = ResultOf(copy("4", "0"), WithRuntime());
  EXPECT_NE(null.find("a null pointer"), std::string::npos) << null;
}

}  // namespace child_work_test
}  // namespace lockstep::vgpu
