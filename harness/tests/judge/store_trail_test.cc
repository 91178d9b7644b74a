// Who stored a wrong element: kernels whose lines, threads and elements are known.
#include "judge/run/store_trail.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "judge/device/buffer.h"
#include "vgpu/device/device.h"

namespace lockstep::judge {
namespace store_trail_test {

// Line 2 loads in[2 * i], line 3 stores it to shared memory at i, line 4 loads what thread i ^ 1 has stored, line 5
// stores that to out[i].
constexpr const char* kSwapped = R"(.version 8.0
.target sm_80
.address_size 64
.file 1 "swap.cu"
.visible .entry swapped(.param .u64 in, .param .u64 out) {
.shared .align 4 .b8 s[32]; .reg .b32 %r<8>; .reg .b64 %d<8>;
ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 8; add.u64 %d3, %d1, %d3;
.loc 1 2 1
ld.global.u32 %r2, [%d3]; mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4;
.loc 1 3 1
st.shared.u32 [%r5], %r2;
.loc 1 4 1
bar.sync 0; xor.b32 %r4, %r4, 4; add.u32 %r5, %r3, %r4; ld.shared.u32 %r2, [%r5];
mul.wide.u32 %d4, %r1, 4; add.u64 %d4, %d2, %d4;
.loc 1 5 1
st.global.u32 [%d4], %r2; ret;
}
)";

class VirtualRunner : public Runner {
 public:
  VirtualRunner() : device_(MakeVgpuJudgeDevice("h200", {}, 0)) {
    module_ = device_->virtual_device()->LoadModule(kSwapped);
  }
  JudgeDevice& device() override { return *device_; }
  CallReport Call(const std::string& launcher, std::span<const worker::Argument> arguments) override {
    vgpu::LaunchSpec spec;
    std::vector<uint8_t> parameters;
    spec.module = module_;
    spec.kernel = launcher;
    spec.block = {4, 1, 1};
    for (const worker::Argument& argument : arguments) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(&argument.bits);
      parameters.insert(parameters.end(), bytes, bytes + sizeof argument.bits);
    }
    spec.parameters = parameters;
    device_->virtual_device()->Launch(spec);
    return {};
  }

 private:
  std::unique_ptr<JudgeDevice> device_;
  vgpu::ModuleHandle module_;
};

TEST(StoreTrailTest, NamesThreadsLinesAndElements) {
  VirtualRunner runner;
  DeviceArray<int32_t> in(runner.device(), 8, "d_in"), out(runner.device(), 4, "d_out");
  in.Fill(std::vector<int32_t>{10, 11, 12, 13, 14, 15, 16, 17});
  const NamedBuffer input{"d_in", in.address(), 32, 4}, result{"d_out", out.address(), 16, 4};
  const std::vector<worker::Argument> arguments = {in.argument(), out.argument()};
  const auto trail = [&](uint64_t element, uint8_t found) {
    const uint8_t bytes[] = {found, 0, 0, 0};
    return TrailOf(runner, "swapped", arguments, input, result, element, bytes);
  };
  EXPECT_EQ(
      trail(3, 14),
      "d_out[3] was stored by block (0,0,0) thread (3,0,0) at swap.cu:5, from shared memory, which thread (2,0,0) "
      "had stored at swap.cu:3 after it read d_in[4] at swap.cu:2");
  EXPECT_EQ(trail(0, 14), "") << "another value than the first call's";
}

}  // namespace store_trail_test
}  // namespace lockstep::judge
