// PTX as people write it: each statement was accepted by ptxas of CUDA 13.0, and gives the value that the PTX ISA says.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/device_support.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {
namespace language_test {

struct Case {
  std::string body;  // leaves its result in %r0
  uint32_t expected;
  std::string declarations = "";
};

// A module with one kernel, k. Each case is loaded as a module by itself, as declarations may repeat.
std::string ModuleOf(const Case& c) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + c.declarations +
         "\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %d<4>;\n"
         ".reg .pred %p<4>; .reg .b16 %h<9>;\nld.param.u64 %rd0, [p];\n" +
         c.body + "\nst.global.u32 [%rd0], %r0;\nret;\n}\n";
}

void ExpectValues(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    TestDevice device(ModuleOf(c));
    const auto out = device.Make(std::vector<uint32_t>{1, 2, 3, 4});
    device.Run("k", {{1}, {1}}, out);
    EXPECT_EQ(device.Get(out)[0], c.expected) << c.body;
  }
}

TEST(LanguageTest, VectorRegisters) {
  ExpectValues({
      {".reg .v4 .u32 v; ld.global.v4.u32 v, [%rd0]; mad.lo.u32 %r0, v.x, 1000, v.w;", 1004},
      {".reg .v4 .u32 v; ld.global.v4.u32 v, [%rd0]; mad.lo.u32 %r0, v.g, 1000, v.b; add.u32 %r0, %r0, v.a;", 2007},
      {".reg .v2 .u32 v; mov.u32 v.y, 7; mov.u32 v.x, 5; st.global.v2.u32 [%rd0+8], v;\n"
       "ld.global.u32 %r0, [%rd0+12];",
       7},
      {".reg .v2 .b32 v; mov.b64 v, 0x500000007; mov.b64 %rd1, v; shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %r1, %rd1;\n"
       "shl.b32 %r0, v.x, 4; add.u32 %r0, %r0, %r1;",
       0x75},
      {".reg .v4 .f32 u, v; mov.v4.f32 u, {1.0, 2.0, 3.0, 4.0}; mov.v4.f32 v, u; add.f32 v.x, v.y, v.w;\n"
       "cvt.rzi.u32.f32 %r0, v.r;",
       6},
      // Elements change places: all are read before one is written.
      {"mov.u32 %r1, 3; mov.u32 %r2, 5; mov.v2.u32 {%r1, %r2}, {%r2, %r1}; mad.lo.u32 %r0, %r1, 10, %r2;", 53},
      {".reg .v2 .u16 v<3>; mov.u16 v2.x, 9; mov.u16 v0.y, v2.x; cvt.u32.u16 %r0, v0.y;", 9},
      {".reg .v2 .u32 v; mov.u32 v.x, 1; { .reg .v2 .u32 v; mov.u32 v.x, 2; } mov.u32 %r0, v.x;", 1},
      {".reg .v4 .u32 v; mov.v4.u32 v, %ntid; mad.lo.u32 %r0, v.x, 10, v.w;", 10},
      {".reg .v2 .u32 v; mov.v2.u32 {v.y, v.x}, {4, 6}; atom.global.add.u32 v.x, [%rd0], v.y; mov.u32 %r0, v.x;", 1},
  });
}

TEST(LanguageTest, FunctionsWithRegisters) {
  const std::string next = ".func (.reg .u32 r) next (.reg .u32 a) { add.u32 r, a, 1; ret; }\n";
  ExpectValues({
      {"mov.u32 %r1, 41; call (%r0), next, (%r1);", 42, next},
      {"call (%r0), next, (7);", 8, next},
      {"call.uni (%r0), next, (2+3*4);", 15, next},
      {"call (%f1), twice, (1.5); cvt.rzi.u32.f32 %r0, %f1;", 3,
       ".func (.reg .f32 r) twice (.reg .f32 a) { add.f32 r, a, a; ret; }\n"},
      {"call (%d1), twice, (0d4004000000000000); cvt.rzi.u32.f64 %r0, %d1;", 5,
       ".func (.reg .f64 r) twice (.reg .f64 a) { add.f64 r, a, a; ret; }\n"},
      {"call (%r1, %r2), both, (30, %rd0); sub.u32 %r0, %r1, %r2;", 29,
       ".func (.reg .u32 a, .reg .u32 b) both (.reg .u32 c, .reg .u64 d) { mov.u32 a, c; ld.global.u32 b, [d]; ret; }"},
      {".reg .v4 .u32 v; ld.global.v4.u32 v, [%rd0]; call (%r0), sum, (v);", 10,
       ".func (.reg .u32 r) sum (.reg .v4 .u32 a) { add.u32 r, a.x, a.y; add.u32 r, r, a.z; add.u32 r, r, a.w; ret; }"},
      {"mov.u32 %r1, 4; call (%r0, %p1), is_four, (%r1); @%p1 add.u32 %r0, %r0, 10;", 15,
       ".func (.reg .u32 r, .reg .pred p) is_four (.reg .u32 a) { add.u32 r, a, 1; setp.eq.u32 p, a, 4; ret; }"},
      {"setp.eq.u32 %p1, 1, 1; call (%r0), chosen, (%p1);", 7,
       ".func (.reg .u32 r) chosen (.reg .pred p) { selp.u32 r, 7, 8, p; ret; }"},
      {".reg .v2 .u32 v; call (v), pair, (); mad.lo.u32 %r0, v.x, 10, v.y;", 34,
       ".func (.reg .v2 .u32 r) pair () { mov.u32 r.x, 3; mov.u32 r.y, 4; ret; }"},
      {"mov.u64 %rd1, next; P: .callprototype (.reg .u32 _) _ (.reg .u32 _); call (%r0), %rd1, (5), P;", 6, next},
      {"mov.u64 %rd1, next; P: .callprototype (.reg .u32 _) _ (.reg .u32 _) .abi_preserve 4;\n"
       "call (%r0), %rd1, (6), P;",
       7, next},
      {"mov.u64 %rd1, next; T: .calltargets next; call (%r0), %rd1, (9), T;", 10, next},
      {"call (%r0), f;", 5, ".func (.reg .u32 r) f () .abi_preserve 8 { mov.u32 r, 5; ret; }"},
  });
}

TEST(LanguageTest, ConstantExpressions) {
  ExpectValues({

      {"mov.u32 %r0, 3+4*2-(6/4);", 10},
      {"mov.u32 %r0, 7 % 4 << 2;", 12},
      {"mov.u32 %r0, 5>3 ? 10 : 20;", 10},
      {"mov.u32 %r0, 0 ? 2 : 3 ? 4 : 5;", 4},
      {"mov.u32 %r0, (WARP_SZ == 32) ? 0b101 : 0x77;", 5},
      {"mov.u32 %r0, 010 + 0X10 + 1U;", 25},
      {"mov.u32 %r0, !0 + ~(-6);", 6},
      {"mov.u32 %r0, 1 || 0 && 0;", 1},
      {"mov.f32 %f1, 1.5+2.0*0.25; mov.b32 %r0, %f1;", 0x40000000},
      {"mov.f32 %f1, -(7.0/2.0); mov.b32 %r0, %f1;", 0xc0600000},
      {"mov.f64 %d1, 1.5-2.25; cvt.rn.f32.f64 %f1, %d1; mov.b32 %r0, %f1;", 0xbf400000},
      {"mov.u32 %r0, 1.5 > 1.0;", 1},
      {"mov.u32 %r0, 1.5 == 1.25;", 0},
      {"mov.f32 %f1, 0F3f800000; fma.rn.f32 %f1, %f1, 2.0, -1e-1; mov.b32 %r0, %f1;", 0x3ff33333},
      {"mov.u64 %rd1, (.s64)0xffffffffffffffff; cvt.u32.u64 %r0, %rd1;", 0xffffffff},
      {"shl.b32 %r0, 3, 1+1;", 12},
      {"ld.global.u32 %r0, [%rd0+4*3];", 4},
      {"add.u64 %rd0, %rd0, 8; ld.global.u32 %r0, [%rd0+-8]; sub.u64 %rd0, %rd0, 8;", 1},
  });
}

// The values that ptxas of CUDA 13.0 and 13.5 gave to constants when it was run.
TEST(LanguageTest, ConstantsAsPtxasReadsThem) {
  const std::string low = "cvt.u32.u64 %r0, %rd1;", high = "shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %r0, %rd1;";
  ExpectValues({
      // 0f… is the low word of a double; 0d… is rounded to a float.
      {"mov.f64 %d1, 0f3FC00000; mov.b64 %rd1, %d1; " + low, 0x3fc00000},
      {"mov.f64 %d1, 0f3FC00000; mov.b64 %rd1, %d1; " + high, 0},
      {"ld.const.u64 %rd1, [c]; " + low, 0x3fc00000, ".const .f64 c = 0f3FC00000;"},
      {"ld.const.u64 %rd1, [c]; " + high, 0, ".const .f64 c = 0f3FC00000;"},
      {"mov.f32 %f1, 0d3FF8000000000000; mov.b32 %r0, %f1;", 0x3fc00000},
      {"mov.u64 %rd1, 1 << 64; " + low, 1},
      {"mov.u64 %rd1, 1 << 65; " + low, 2},
      {"mov.u64 %rd1, 8 >> 64; " + low, 8},
      {"mov.s64 %rd1, -8 >> 65; " + low, static_cast<uint32_t>(-4)},
      {"mov.u64 %rd1, 1 << -1; " + high, 0x80000000},
      {"mov.f32 %f1, .5; mov.b32 %r0, %f1;", 0x3f000000},
      {"mov.f32 %f1, -.25; mov.b32 %r0, %f1;", 0xbe800000},
      {"mov.f32 %f1, (.5+.25)*2.; mov.b32 %r0, %f1;", 0x3fc00000},
      {"ld.const.f32 %f1, [c]; mov.b32 %r0, %f1;", 0x3f000000, ".const .f32 c = .5;"},
      {"mov.u32 %r0, 0x1FFFFFFFF;", 0xffffffff},
      {"mov.u32 %r1, 1; shl.b32 %r0, %r1, 0x100000001;", 2},
      {"mov.u32 %r1, 0xf0; mov.u32 %r2, 0xcc; mov.u32 %r3, 0xaa; lop3.b32 %r0, %r1, %r2, %r3, 0x1C0;", 0xc0},
  });
}

TEST(LanguageTest, LineMarkers) {
  ExpectValues({
      {"# 100 \"a.cu\"\nmov.u32 %r0, 5;\n#line 7 \"b.cu\"\n  # 3", 5},
      {"mov.u32 %r0, 6;\n#line 8", 6, "# 1 \"top.cu\" 2\n"},
  });
  EXPECT_THROW(TestDevice(ModuleOf({"#define X 1\nmov.u32 %r0, 5;", 0})), ptx::PtxError);
  EXPECT_THROW(TestDevice(ModuleOf({"mov.u32 %r0, 5; # 10 \"a.cu\"", 0})), ptx::PtxError);
}

// Modifiers in other orders than the PTX ISA's, all of which ptxas takes.
TEST(LanguageTest, OrderOfModifiers) {
  ExpectValues({
      {"ld.u32.global %r0, [%rd0+4];", 2},
      {"ld.global.volatile.u32 %r0, [%rd0+4];", 2},
      {"ld.u32.volatile.global %r0, [%rd0+8];", 3},
      {"atom.add.global.u32 %r0, [%rd0], 5;", 1},
      {"st.u32.global [%rd0+4], 9; ld.global.u32 %r0, [%rd0+4];", 9},
      {"mov.f32 %f1, 1.5; add.f32.ftz.rn %f2, %f1, %f1; mov.b32 %r0, %f2;", 0x40400000},
      {"mov.f32 %f1, 1.5; cvt.u32.f32.rzi %r0, %f1;", 1},
      {"mov.u32 %r1, 7; shfl.idx.sync.b32 %r0, %r1, 0, 31, 1;", 7},
      {"mov.u32 %r1, 7; setp.u32.gt %p1, %r1, 3; selp.u32 %r0, 1, 0, %p1;", 1},
      {"mov.u32 %r1, 7; mul.u32.lo %r0, %r1, 3;", 21},
      {"mov.u32 %r1, 7; mad.u32.lo %r0, %r1, 3, 1;", 22},
  });
}

TEST(LanguageTest, RemaindersByZero) {
  ExpectValues({
      {"mov.u32 %r1, 7; mov.u32 %r2, 0; rem.u32 %r0, %r1, %r2;", 0xffffffff},
      {"mov.s32 %r1, -7; mov.s32 %r2, 0; rem.s32 %r0, %r1, %r2;", 0xffffffff},
      {"mov.s32 %r1, -7; mov.s32 %r2, 0; div.s32 %r0, %r1, %r2;", 0xffffffff},
      {"mov.s64 %rd1, -7; mov.s64 %rd2, 0; rem.s64 %rd1, %rd1, %rd2; cvt.u32.u64 %r0, %rd1;", 0xffffffff},
      {"mov.s64 %rd1, 9; mov.s64 %rd2, 0; div.u64 %rd1, %rd1, %rd2; shr.u64 %rd1, %rd1, 32; cvt.u32.u64 %r0, %rd1;",
       0xffffffff},
  });
}

// Text that is not PTX is refused when loaded; PTX that the virtual GPU lacks is refused when a thread executes it.
TEST(LanguageTest, RefusesWhatIsNoInstruction) {
  const auto error = [](const std::string& body, const std::string& declarations = "") {
    try {
      TestDevice device(ModuleOf({body, 0, declarations}));
    } catch (const ptx::PtxError& thrown) {
      return std::string(thrown.what());
    }
    return std::string();
  };
  EXPECT_EQ(error("rett;"), "PTX line 10: no instruction is named \"rett\"");
  EXPECT_EQ(error("add.s33 %r0, %r1, %r2;"), "PTX line 10: no type is named \".s33\"");
  EXPECT_EQ(error("", ".func f() { .reg .u32 a; movv.u32 a, 1; }"), "PTX line 4: no instruction is named \"movv\"");
  EXPECT_EQ(error("tcgen05.fence::before_thread_sync;"), "");
  const auto refused = [](const std::string& head) {
    try {
      TestDevice device(head + "\n.address_size 64\n.visible .entry k() { ret; }\n");
    } catch (const ptx::PtxError& thrown) {
      return std::string(thrown.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused(".version 99.0\n.target sm_90"), "PTX line 1: \"99.0\" is a newer PTX than 9.x");
  EXPECT_EQ(refused(".version 9.0\n.target sm_999"), "PTX line 2: unknown target \"sm_999\"");
  EXPECT_EQ(refused(".version 9.5\n.target sm_90a"), "");
}

TEST(LanguageTest, ElementsOfArrays) {
  ExpectValues({
      {"ld.global.u32 %r0, x[2];", 30, ".global .u32 x[3] = {10, 20, 30};"},
      {"mov.u64 %rd1, x[1+1]; ld.global.u16 %r0, [%rd1];", 7, ".global .u16 x[3] = {5, 6, 7};"},
      {".shared .v2 .u32 s[4]; st.shared.v2.u32 s[3], {4, 9}; ld.shared.u32 %r0, [s+28];", 9},
      {".local .u32 l[4]; mov.u32 %r1, 8; st.local.u32 l[1], %r1; ld.local.u32 %r0, [l+4];", 8},
      {"ld.const.f32 %f1, c[1]; cvt.rzi.u32.f32 %r0, %f1;", 3, ".const .f32 c[2] = {1.5, 1+1 == 2 ? 3.5 : 0.5};"},
  });
}

TEST(LanguageTest, Declarations) {
  ExpectValues({
      {"ld.global.u64 %rd1, [q+8]; ld.u32 %r0, [%rd1];", 3,
       ".global .u32 a[4] = {1, 2, 3}; .global .u64 q[2] = {generic(a), generic(a)+8};"},
      {"ld.global.u32 %r0, [b+20];", 6, ".global .u32 b[2][3] = {{1, 2, 3}, {4, 5, 6}};"},
      {"ld.global.v2.u32 {%r1, %r0}, [v+8];", 4, ".global .v2 .u32 v[2] = {{1, 2}, {3, 4}};"},
      {"ld.global.u8 %r1, [m+7]; mov.u64 %rd1, a; shr.u64 %rd1, %rd1, 56; cvt.u32.u64 %r2, %rd1; sub.u32 %r0, %r1, "
       "%r2;",
       0,
       ".global .u32 a; .global .u8 m[8] = {0xFF(a), 0xFF00(a), 0xFF0000(a), 0xFF000000(a), 0xFF00000000(a),\n"
       "0xFF0000000000(a), 0xFF000000000000(a), 0xFF00000000000000(a)};"},
      {"{ .reg .u32 a; mov.u32 a, 1; { .reg .u32 a; mov.u32 a, 2; L1: } mov.u32 %r0, a; bra L2; L2: }", 1},
      {"mov.u32 %r1, 2; brx.idx %r1, T; T: .branchtargets A<3>; A0: mov.u32 %r0, 5; bra E; A1: mov.u32 %r0, 6; bra E;\n"
       "A2: mov.u32 %r0, 7; E:",
       7},
      {"setp.eq.u32 %p1|%p2, 1, 2; @!%p1 mov.u32 %r0, 3; @%p2 add.u32 %r0, %r0, 1;", 4},
      {"mov.b64 {_, %r0}, 0x500000006;", 5},
      {"call (%r0), g;", 6, ".func (.reg .u32 r) f () { mov.u32 r, 6; ret; }\n.func (.reg .u32 r) g ();\n.alias g, f;"},
      {"ld.global.u32 %r0, [w];", 4,
       ".weak .global .align 8 .u32 w = 4; .common .global .u32 c[4]; .pragma \"nounroll\";"},
      {"pmevent.mask 3; createpolicy.cvt.L2.b64 %rd1, 1;\n"
       "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd1, [%rd0], 64, 128; mov.u32 %r0, 2;",
       2},
      {"st.shared.u32 [s], 5; ld.u32 %r0, [s];", 5, ".shared .u32 s;"},
      {".reg .u32 add; mov.u32 add, 4; add.u32 %r0, add, add;", 8},
  });
}

TEST(LanguageTest, WhatIsNotSupportedSaysWhy) {
  const std::pair<const char*, const char*> cases[] = {
      {"add.u32 %r0, %r1.b0, %r2;", "of an operand, b0"},
      {"sub.u32 %r0, %r1, -%r2;", "of an operand, -"},
      {"vadd.u32.u32.u32 %r0, %r1.b5, %r2;", "not supported with these modifiers"},
      {"mov.u32 %r0, %nothing;", "special register %nothing"},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r0], %r1, [%r2];",
       "shared memory without a cluster"},
      {"call (%r0), %rd1, (1.5), P; P: .callprototype (.reg .u32 _) _ (.reg .f32 _);",
       "a float literal as an argument"},
  };
  for (const auto& [body, why] : cases) {
    TestDevice device(ModuleOf({body, 0}));
    const auto out = device.Make(std::vector<uint32_t>(4));
    device.Launch("k", {{1}, {1}}, out);
    ASSERT_FALSE(device->findings().findings().empty()) << body;
    const std::string text = Format(device->findings().findings().front());
    EXPECT_NE(text.find(why), std::string::npos) << body << "\n" << text;
  }
}

}  // namespace language_test
}  // namespace lockstep::vgpu
