// Known results for arithmetic opcodes that the random kernels don't cover, and modifiers that must be refused.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "dev/cosim/forms.h"
#include "tests/isa/isa_test_support.h"
#include "tests/isa/video_cases.h"

namespace lockstep::vgpu {
namespace isa_table_test {

uint64_t F(float x) { return Bits(x); }
uint64_t D(double x) { return Bits(x); }
uint64_t Pair(float low, float high) { return Bits(low) | uint64_t{Bits(high)} << 32; }
constexpr uint64_t kNan32 = 0x7fffffff;

struct Case {
  std::string text;
  std::vector<uint64_t> sources;
  uint64_t expected;
  std::vector<int> bytes = {};
};

// Cases that the random kernels (dev/cosim) do not contain: approximations, divisors of zero, NaNs with their bits,
// values of several registers.
std::vector<Case> AllCases() {
  return {
      {"mad24.hi.sat.s32", {0x00800000, 0x00800000, 0x7fffffff}, 0x7fffffff},
      {"max.relu.s16x2", {0xffff0001, 0xfffe0002}, 0x00000002},
      {"bfind.s32", {0xffffffff}, 0xffffffff},
      {"vabsdiff2.u32.u32.u32.add", {0x00010005, 0xffff0003, 100}, 0x10064},
      {"vabsdiff.u32.s32.s32", {0x80000000, 0x7fffffff}, 0xffffffff},
      {"div.s32", {5, 0}, 0xffffffff},  // by zero, as an H200
      {"div.s64", {5, 0}, 0xffffffffffffffff},
      {"rem.s16", {5, 0}, 0xffff},
      {"rem.u16", {5, 0}, 0xffff},
      {"mad.rn.f32", {F(2.0f), F(3.0f), F(4.0f)}, F(10.0f)},
      {"max.f32", {0xffffffff, 0xffffffff}, kNan32},
      // Halves of a pair: 1 + 2^-30, and -1 - 2^-30.
      {"add.rz.f32x2", {Pair(1.0f, -1.0f), Pair(0x1p-30f, -0x1p-30f)}, Pair(1.0f, -1.0f)},
      {"add.rp.f32x2", {Pair(1.0f, -1.0f), Pair(0x1p-30f, -0x1p-30f)}, Pair(0x1.000002p0f, -1.0f)},
      {"sub.rm.f32x2", {Pair(1.0f, -1.0f), Pair(-0x1p-30f, 0x1p-30f)}, Pair(1.0f, -0x1.000002p0f)},
      {"mul.rp.f32x2", {Pair(0x1p-149f, -0x1p-149f), Pair(0.5f, 0.5f)}, Pair(0x1p-149f, -0.0f)},
      {"mul.rp.ftz.f32x2", {Pair(0x1p-100f, -0x1p-149f), Pair(0x1p-30f, 1.0f)}, Pair(0.0f, -0.0f)},
      {"fma.rm.f32x2", {Pair(3.0f, 1.0f), Pair(2.0f, 1.0f), Pair(-0x1p-30f, 0x1p-30f)}, Pair(0x1.7ffffep2f, 1.0f)},
      {"div.approx.f32", {F(6.0f), F(3.0f)}, F(2.0f)},
      {"div.approx.ftz.f32", {F(1.0f), F(0x1.8p126f)}, F(0.0f)},
      {"div.full.f32", {F(0x1p127f), F(0x1p127f)}, F(1.0f)},
      {"rcp.approx.ftz.f32", {F(-0.0f)}, F(-INFINITY)},
      {"rcp.approx.ftz.f64", {D(2.0)}, D(0.5)},
      {"sqrt.approx.f32", {F(9.0f)}, F(3.0f)},
      {"rsqrt.approx.f32", {F(4.0f)}, F(0.5f)},
      {"rsqrt.approx.f32", {F(-0.0f)}, F(-INFINITY)},
      {"rsqrt.approx.f64", {D(16.0)}, D(0.25)},
      {"rsqrt.approx.ftz.f64", {D(16.0)}, D(0.25)},
      {"sin.approx.f32", {F(0.0f)}, F(0.0f)},
      {"cos.approx.ftz.f32", {F(0.0f)}, F(1.0f)},
      {"cos.approx.f32", {F(INFINITY)}, kNan32},
      {"lg2.approx.f32", {F(8.0f)}, F(3.0f)},
      {"lg2.approx.ftz.f32", {1}, F(-INFINITY)},
      {"ex2.approx.f32", {F(-3.0f)}, F(0.125f)},
      {"ex2.approx.ftz.f32", {F(-130.0f)}, F(0.0f)},
      {"ex2.approx.f16", {0x4000}, 0x4400},
      {"ex2.approx.ftz.bf16", {0x4000}, 0x4080},
      {"tanh.approx.f32", {F(INFINITY)}, F(1.0f)},
      {"tanh.approx.bf16x2", {0x7f800000}, 0x3f800000},
      {"max.xorsign.abs.bf16", {0xbf80, 0x4000}, 0xc000},
      {"mov.b64", {0x11111111, 0x22222222}, 0x2222222211111111, {8, 4, 4}},
      {"mov.b32", {0x1111, 0x2222}, 0x22221111, {4, 2, 2}},
      {"mov.b64", {1, 2, 3, 4}, 0x0004000300020001, {8, 2, 2, 2, 2}},
      {"mov.b64", {0x2222222211111111}, 0x11111111, {4, 4, 8}},
      {"mov.b32", {0x22221111}, 0x1111, {2, 2, 4}},
      {"mov.b64", {0x0004000300020001}, 1, {2, 2, 2, 2, 8}},
      {"cvt.s32.s8", {0x12345680}, 0xffffff80, {4, 4}},
      {"cvt.u32.s8", {0x80}, 0xffffff80, {4, 2}},
      {"cvt.rn.f16x2.f32", {F(1.0f), F(2.0f)}, 0x3c004000, {4, 4, 4}},
      {"cvt.rn.bf16x2.f32", {F(1.0f), F(2.0f)}, 0x3f804000, {4, 4, 4}},
      {"cvt.rn.satfinite.e4m3x2.f32", {F(1000.0f), F(1.0f)}, 0x7e38, {2, 4, 4}},
      {"cvt.pack.sat.u16.s32", {0x12345, 0xffffffff}, 0xffff0000, {4, 4, 4}},
      {"cvt.pack.sat.s8.s32.b32", {200, 0xffffff00, 0xabcd}, 0xabcd7f80, {4, 4, 4, 4}},
      {"set.eq.f16x2.f16x2", {0x3c004000, 0x3c003c00}, 0x3c000000},
      {"set.eq.u32.f16x2", {0x3c004000, 0x3c003c00}, 0xffff0000},
      {"cvt.rna.satfinite.tf32.f32", {0x7fc00000}, 0x7fbfe000},
      {"cvt.rp.ftz.f16.f32", {1}, 1},
      {"div.rn.f64", {0xfff8000000001234, 0x7ff0000000000001}, 0xfff8000000001234},
      {"div.rz.f64", {0xfff8000000001234, 0x7ff0000000000001}, 0xfff8000000001234},
      {"fma.rn.f64", {0, 0x7fffffffffffffff, 0xfff8000000001234}, 0x7fffffffffffffff},
      {"fma.rz.f64", {0x7fffffffffffffff, 0, 0xfff8000000001234}, 0xfff8000000001234},
  };
}

TEST(IsaTableTest, KnownResults) {
  for (const Case& c : AllCases()) {
    const uint64_t result = Evaluate(c.text, c.sources, c.bytes);
    std::string sources;
    for (const uint64_t source : c.sources) sources += " " + testing::PrintToString(source);
    EXPECT_EQ(result, c.expected) << std::hex << c.text << sources << ": " << result << " instead of " << c.expected;
  }
}

// A source predicate may be negated, which the corpus does only in votes.
TEST(IsaTableTest, NegatedPredicates) {
  for (const char* text : {"setp.eq.and.s32", "setp.eq.and.f16", "setp.eq.and.f16x2", "set.eq.and.u32.s32",
                           "set.eq.and.f16x2.f16x2", "lop3.and.b32"}) {
    LaneMachine machine(text);
    const size_t last = machine.sources() - 1;
    for (size_t k = 0; k < last; ++k) machine.SetSourceInAllLanes(k, k == 3 ? 0x80 : 1);  // equal; of lop3: a & b & c
    for (int lane = 0; lane < kWarpSize; ++lane) machine.SetSource(last, lane, lane & 1);
    machine.NegateSource(last);
    machine.Run();
    const size_t told = std::string_view(text).starts_with("lop3") ? 1 : 0;
    for (int lane = 0; lane < kWarpSize; ++lane)
      EXPECT_EQ(machine.Destination(told, lane) != 0, (lane & 1) == 0) << text;
  }
}

// Opcodes whose tests need lanes that differ are in isa_warp_test.cc.
TEST(IsaTableTest, EveryArithmeticOpcodeHasACase) {
  const std::set<std::string_view> kOnDevice = {"cvta", "isspacep", "mapa", "getctarank", "mbarrier.pending_count"};
  std::set<std::string> tested = {"shfl",   "vote",   "match", "redux", "activemask", "elect",
                                  "mov.v2", "mov.v4", "addc",  "subc",  "madc"};  // the last three: isa_integer_test.cc
  const auto test = [&](const std::string& text) { tested.insert(text.substr(0, text.find('.'))); };
  for (const Case& c : AllCases()) test(c.text);
  for (const auto& group : cosim::Forms()) {  // a GPU's results: cosim_test.cc
    for (const cosim::Form& form : group) test(form.name);
  }
  for (const std::string& form : VideoForms()) test(form);  // isa_video_test.cc
  const std::set<InsnClass> arithmetic = {InsnClass::kInteger,         InsnClass::kFloat32,  InsnClass::kFloat64,
                                          InsnClass::kFloat16,         InsnClass::kConvert,  InsnClass::kMove,
                                          InsnClass::kSpecialFunction, InsnClass::kPredicate};
  for (const Opcode* opcode : AllOpcodes()) {
    // Conversions of addresses, and what works on a launched kernel's memory, are in the device tests.
    if (kOnDevice.contains(opcode->name)) continue;
    if (!arithmetic.contains(opcode->insn_class)) continue;
    EXPECT_TRUE(tested.contains(std::string(opcode->name)))
        << "the row \"" << opcode->name
        << "\" has no known result: neither a case here nor a form of dev/cosim/forms.cc or video_cases.h";
  }
}

// A row without traits is treated as the worst case; this test names it.
TEST(IsaTableTest, EveryRowSaysItsTraits) {
  for (const Opcode* opcode : AllOpcodes()) {
    if (!opcode->refusal.empty()) continue;
    const std::string row = "the row \"" + std::string(opcode->name) + "\" ";
    const int orders = opcode->traits.Count(kOrders);
    if (opcode->pure()) {
      EXPECT_EQ(orders, 0) << row << "has a class of arithmetic, whose order never matters, and says when it matters";
      EXPECT_FALSE(opcode->Has(kLoads | kStores | kAtomic | kAsynchronous | kBarrier | kFence | kPolls))
          << row
          << "has a class of arithmetic, and traits of an instruction that does more: " << TraitsText(opcode->traits);
      continue;
    }
    EXPECT_EQ(orders, 1) << row << "must say when the order of blocks matters, by one of the first four traits in "
                         << "core/opcode_traits.h; it has: " << TraitsText(opcode->traits);
    const bool gathers = opcode->insn_class == InsnClass::kWarpSync || opcode->Has(kWholeWarp);
    const bool shares = opcode->Has(kExchangesLanes) || opcode->name == "activemask" || opcode->name == "bar.warp.sync";
    EXPECT_EQ(gathers, shares) << row << "has the class of warp-synchronous instructions or the trait "
                               << "kExchangesLanes, but not both";
    EXPECT_EQ(opcode->insn_class == InsnClass::kFence, opcode->Has(kFence))
        << row << "has the class of fences or the trait kFence, but not both";
    EXPECT_EQ(opcode->insn_class == InsnClass::kStore, opcode->Has(kStores))
        << row << "has the class of stores or the trait kStores, but not both";
    if (opcode->insn_class == InsnClass::kLoad) {
      EXPECT_TRUE(opcode->Has(kLoads | kAsynchronous))
          << row << "has the class of loads, and no trait of what it loads";
    }
    if (opcode->insn_class == InsnClass::kAtomic) {
      EXPECT_TRUE(opcode->Has(kAtomic | kPolls)) << row << "has the class of atomics, and neither kAtomic nor kPolls";
    }
  }
}

TEST(IsaTableTest, RefusesWhatTheInstructionSetDoesNotHave) {
  for (const char* text : {"add.f32.f32",
                           "add.sat.u32",
                           "add.sat.f64",
                           "add.ftz.f64",
                           "add.rn.s32",
                           "add.pred",
                           "add",
                           "mul.s32",
                           "mul.wide.u64",
                           "mad.f32",
                           "fma.f32",
                           "fma.rn.s32",
                           "div.f32",
                           "div.approx.f64",
                           "rem.f32",
                           "abs.u32",
                           "neg.u32",
                           "min.relu.u32",
                           "and.u32",
                           "and.f32",
                           "not.s32",
                           "shl.s32",
                           "shl.u32",
                           "shf.l.b32",
                           "shf.clamp.b32",
                           "lop3.b64",
                           "prmt.b64",
                           "setp.lt.b32",
                           "setp.lo.s32",
                           "setp.equ.s32",
                           "setp.s32",
                           "set.lt.s32",
                           "set.lt.u64.s32",
                           "selp.pred",
                           "slct.u32.u32",
                           "cvt.f32.s32",
                           "cvt.s32.f32",
                           "cvt.f32.f64",
                           "cvt.rn.f64.f32",
                           "cvt.rn.s32.f32",
                           "cvt.u32",
                           "cvt.rn.e4m3x2.f32",
                           "cvt.rzi.f32.s32",
                           "sin.f32",
                           "sin.approx.f64",
                           "sqrt.f32",
                           "rsqrt.rn.f32",
                           "rcp.approx.f64",
                           "ex2.approx.f64",
                           "mov.u8",
                           "popc.u32",
                           "bfind.u16",
                           "vote.all.b32",
                           "match.any.b32",
                           "redux.add.s32",
                           "redux.sync.add.b32",
                           "shfl.b32",
                           "shfl.sync.bfly.b64",
                           "add.f16.sat.foo",
                           "dp4a.u32",
                           "dp2a.u32.u32",
                           "szext.u32",
                           "bmsk.b32"}) {
    EXPECT_FALSE(Supported(text)) << text;
  }
}

TEST(IsaTableTest, ClassesFollowTheUnitThatExecutes) {
  const auto class_of = [](std::string_view text) { return LaneMachine(text).insn().insn_class; };
  EXPECT_EQ(class_of("add.s32"), InsnClass::kInteger);
  EXPECT_EQ(class_of("add.f32"), InsnClass::kFloat32);
  EXPECT_EQ(class_of("add.f64"), InsnClass::kFloat64);
  EXPECT_EQ(class_of("add.f16x2"), InsnClass::kFloat16);
  EXPECT_EQ(class_of("div.rn.f32"), InsnClass::kSpecialFunction);
  EXPECT_EQ(class_of("div.rn.f64"), InsnClass::kFloat64);
  EXPECT_EQ(class_of("div.s32"), InsnClass::kInteger);
  EXPECT_EQ(class_of("setp.lt.f64"), InsnClass::kPredicate);
  EXPECT_EQ(class_of("and.pred"), InsnClass::kPredicate);
  EXPECT_EQ(class_of("mov.b32"), InsnClass::kMove);
  EXPECT_EQ(class_of("cvt.u64.u32"), InsnClass::kConvert);
  EXPECT_EQ(class_of("shfl.sync.bfly.b32"), InsnClass::kWarpSync);
}

}  // namespace isa_table_test
}  // namespace lockstep::vgpu
