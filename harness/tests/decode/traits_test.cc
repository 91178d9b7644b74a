// Tests that the traits in the opcode table's rows reach the decoded program.
#include <gtest/gtest.h>

#include <string>

#include "vgpu/decode/decoder.h"
#include "vgpu/ptx/parser.h"

namespace lockstep::vgpu {
namespace traits_test {

TEST(TraitsTest, ReachTheProgram) {
  const auto program = [](const std::string& text) {
    const ptx::Module module = ptx::Parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .b64 %d<4>; .reg .b32 %r<4>; .reg .pred %p<2>;\n" +
        text + "\nret;\n}");
    ModuleImage image;
    image.syntax = &module;
    return DecodeKernel(image, module.functions.at(0));
  };
  EXPECT_FALSE(program("ld.global.u32 %r0, [%d0];")->order_sensitive);
  EXPECT_TRUE(program("ld.volatile.global.u32 %r0, [%d0];")->order_sensitive);
  EXPECT_FALSE(program("ld.volatile.shared.u32 %r0, [%r1];")->order_sensitive);
  EXPECT_TRUE(program("st.release.gpu.global.u32 [%d0], %r0;")->order_sensitive);
  EXPECT_TRUE(program("membar.gl;")->order_sensitive);
  EXPECT_FALSE(program("membar.cta;")->order_sensitive);
  EXPECT_FALSE(program("red.global.add.u32 [%d0], %r0;")->order_sensitive);
  EXPECT_TRUE(program("red.global.add.f32 [%d0], %r0;")->order_sensitive);
  EXPECT_TRUE(program("red.global.add.u32 [%d0], %r0; red.global.max.u32 [%d0], %r0;")->order_sensitive);
  EXPECT_FALSE(program("atom.global.add.u32 %r1, [%d0], %r0;")->order_sensitive);
  EXPECT_TRUE(program("atom.global.add.u32 %r1, [%d0], %r0; st.global.u32 [%d1], %r1;")->order_sensitive);
  EXPECT_FALSE(program("mov.u32 %r1, %r0;")->lanes_exchange);
  EXPECT_TRUE(program("shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;")->lanes_exchange);
  EXPECT_FALSE(program("L: ld.global.u32 %r1, [%d0]; setp.eq.u32 %p0, %r1, 0; @%p0 bra L;")->may_wait);
  EXPECT_TRUE(program("L: ld.acquire.gpu.global.u32 %r1, [%d0]; setp.eq.u32 %p0, %r1, 0; @%p0 bra L;")->may_wait);
  EXPECT_FALSE(program("cp.async.wait_all;")->copies_async);
  EXPECT_TRUE(program("cp.async.ca.shared.global [%r0], [%d0], 4;")->copies_async);
  EXPECT_TRUE(program("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r0], %r1, [%r2];")->copies_async);
  EXPECT_FALSE(program("mbarrier.init.shared.b64 [%r0], 32;")->memory_barriers);
  EXPECT_TRUE(program("mbarrier.arrive.shared.b64 %d1, [%r0];")->memory_barriers);
}

}  // namespace traits_test
}  // namespace lockstep::vgpu
