// One table of known results with an entry for every arithmetic opcode, and the modifiers that must be refused.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/isa/isa_test_support.h"

namespace lockstep::vgpu {
namespace {

uint64_t F(float x) { return Bits(x); }
uint64_t D(double x) { return Bits(x); }
constexpr uint64_t kNan32 = 0x7fffffff;
constexpr uint64_t kNan64 = 0xfff8000000000000;

struct Case {
  std::string text;
  std::vector<uint64_t> sources;
  uint64_t expected;
  std::vector<int> bytes = {};
};

std::vector<Case> IntegerCases() {
  return {
      {"add.u32", {0xffffffff, 2}, 1},
      {"add.s16", {0x7fff, 1}, 0x8000},
      {"add.u64", {0xffffffffffffffff, 3}, 2},
      {"add.sat.s32", {0x7fffffff, 1}, 0x7fffffff},
      {"add.sat.s32", {0x80000000, 0xffffffff}, 0x80000000},
      {"add.u16x2", {0xffff0001, 0x00020003}, 0x00010004},
      {"sub.u32", {1, 2}, 0xffffffff},
      {"sub.sat.s32", {0x80000000, 1}, 0x80000000},
      {"mul.lo.s32", {0xfffffffd, 7}, 0xffffffeb},
      {"mul.lo.u16", {0xffff, 0xffff}, 1},
      {"mul.hi.u32", {0x80000000, 6}, 3},
      {"mul.hi.s32", {0x80000000, 6}, 0xfffffffd},
      {"mul.hi.u64", {0x8000000000000000, 6}, 3},
      {"mul.hi.s64", {0x8000000000000000, 6}, 0xfffffffffffffffd},
      {"mul.wide.s32", {0xffffffff, 5}, 0xfffffffffffffffb},
      {"mul.wide.u32", {0xffffffff, 0xffffffff}, 0xfffffffe00000001},
      {"mul.wide.s16", {0x8000, 0x8000}, 0x40000000},
      {"mad.lo.s32", {3, 4, 5}, 17},
      {"mad.hi.u32", {0x80000000, 6, 10}, 13},
      {"mad.hi.sat.s32", {0x7fffffff, 0x7fffffff, 0x7fffffff}, 0x7fffffff},
      {"mad.wide.u32", {0xffffffff, 2, 0x100000000}, 0x2fffffffe},
      {"mad.wide.s16", {0xffff, 2, 1}, 0xffffffff},
      {"mul24.lo.u32", {0xff000002, 3}, 6},
      {"mul24.hi.s32", {0x00800000, 0x00800000}, 0x40000000},
      {"mad24.lo.s32", {0xffffff, 3, 10}, 7},
      {"mad24.hi.sat.s32", {0x00800000, 0x00800000, 0x7fffffff}, 0x7fffffff},
      {"sad.s32", {0xfffffffe, 5, 100}, 107},
      {"sad.u32", {5, 0xfffffffe, 1}, 0xfffffffa},
      {"div.u32", {100, 7}, 14},
      {"div.s32", {0xffffff9c, 7}, 0xfffffff2},
      {"div.s32", {0x80000000, 0xffffffff}, 0x80000000},
      {"div.u64", {0xffffffffffffffff, 16}, 0x0fffffffffffffff},
      {"div.s64", {0x8000000000000000, 0xffffffffffffffff}, 0x8000000000000000},
      {"rem.u32", {100, 7}, 2},
      {"rem.s32", {0xffffff9c, 7}, 0xfffffffe},
      {"rem.s64", {0x8000000000000000, 0xffffffffffffffff}, 0},
      {"abs.s32", {0xfffffffb}, 5},
      {"abs.s32", {0x80000000}, 0x80000000},
      {"neg.s16", {1}, 0xffff},
      {"neg.s64", {1}, 0xffffffffffffffff},
      {"min.s32", {0xffffffff, 1}, 0xffffffff},
      {"min.u32", {0xffffffff, 1}, 1},
      {"min.s16x2", {0xffff0001, 0x00010002}, 0xffff0001},
      {"min.relu.s32", {0xffffffff, 1}, 0},
      {"max.s64", {0xffffffffffffffff, 1}, 1},
      {"max.u16x2", {0xffff0001, 0x00010002}, 0xffff0002},
      {"max.relu.s16x2", {0xffff0001, 0xfffe0002}, 0x00000002},
      {"popc.b32", {0xf0f00001}, 9},
      {"popc.b64", {0xffffffffffffffff}, 64},
      {"clz.b32", {0}, 32},
      {"clz.b64", {1}, 63},
      {"bfind.u32", {0x00010000}, 16},
      {"bfind.u32", {0}, 0xffffffff},
      {"bfind.s32", {0xfffffff0}, 3},
      {"bfind.s32", {0xffffffff}, 0xffffffff},
      {"bfind.shiftamt.u32", {0x00010000}, 15},
      {"bfind.shiftamt.s64", {0}, 0xffffffff},
      {"fns.b32", {0xaaaaaaaa, 3, 0}, 3},
      {"fns.b32", {0xaaaaaaaa, 3, 2}, 5},
      {"fns.b32", {0xaaaaaaaa, 3, 0xffffffff}, 3},
      {"fns.b32", {0xaaaaaaaa, 3, 0xfffffffe}, 1},
      {"fns.b32", {0x00000001, 3, 0}, 0xffffffff},
      {"brev.b32", {0x00000001}, 0x80000000},
      {"brev.b64", {0x8000000000000010}, 0x0800000000000001},
      {"bfe.u32", {0x12345678, 8, 12}, 0x456},
      {"bfe.s32", {0x00000f00, 8, 4}, 0xffffffff},
      {"bfe.u32", {0x12345678, 8, 0}, 0},
      {"bfe.s32", {0x80000000, 40, 4}, 0xffffffff},
      {"bfe.s32", {0x80000000, 28, 40}, 0xfffffff8},
      {"bfe.s32", {0x80000000, 40, 0}, 0},
      {"bfe.u64", {0x123456789abcdef0, 32, 16}, 0x5678},
      {"bfi.b32", {0xff, 0x12345678, 8, 4}, 0x12345f78},
      {"bfi.b32", {0xff, 0x12345678, 33, 4}, 0x12345678},
      {"bfi.b32", {0xff, 0x12345678, 28, 40}, 0xf2345678},
      {"bfi.b64", {0xabc, 0, 60, 64}, 0xc000000000000000},
      {"bmsk.clamp.b32", {4, 8}, 0x00000ff0},
      {"bmsk.clamp.b32", {40, 8}, 0},
      {"bmsk.wrap.b32", {36, 8}, 0x00000ff0},
      {"szext.clamp.s32", {0x000000f0, 8}, 0xfffffff0},
      {"szext.wrap.u32", {0x123456f0, 40}, 0xf0},
      {"szext.clamp.s32", {0x123456f0, 40}, 0x123456f0},
      {"prmt.b32", {0x33221100, 0x77665544, 0x7531}, 0x77553311},
      {"prmt.b32", {0x80000000, 0, 0x000b}, 0x000000ff},
      {"prmt.f4e.b32", {0x33221100, 0x77665544, 1}, 0x44332211},
      {"prmt.b4e.b32", {0x33221100, 0x77665544, 1}, 0x66770011},
      {"prmt.rc8.b32", {0x33221100, 0, 2}, 0x22222222},
      {"prmt.ecl.b32", {0x33221100, 0, 2}, 0x33222222},
      {"prmt.ecr.b32", {0x33221100, 0, 2}, 0x22221100},
      {"prmt.rc16.b32", {0x33221100, 0, 1}, 0x33223322},
      {"dp4a.s32.s32", {0xff020304, 0x01010101, 10}, 18},
      {"dp4a.u32.s32", {0xff000000, 0xff000000, 0}, 0xffffff01},
      {"dp2a.lo.s32.u32", {0xffff0002, 0x05060708, 1}, 10},
      {"dp2a.hi.u32.u32", {0x00010002, 0x05060708, 1}, 18},
      {"vadd2.u32.u32.u32", {0xffff0001, 0x00020003, 9}, 0x00010004},
      {"vadd4.s32.s32.s32.sat", {0x7f80017f, 0x01ff0280, 0}, 0x7f8003ff},
      {"vsub2.s32.s32.s32.add", {0x00050001, 0x00020003, 10}, 11},
      {"vsub4.u32.u32.u32.sat", {0x05010203, 0x02030201, 0}, 0x03000002},
      {"vavrg2.s32.s32.s32", {0x0003fffd, 0x0002fffe, 0}, 0x0003fffd},
      {"vavrg4.u32.u32.u32", {0xff000105, 0xff010205, 0}, 0xff010205},
      {"vabsdiff2.u32.u32.u32.add", {0x00010005, 0xffff0003, 100}, 0x10064},
      {"vabsdiff4.u32.u32.u32", {0xff000102, 0x00ff0301, 7}, 0xffff0201},
      {"vabsdiff4.u32.u32.u32.add", {0xff000102, 0x00ff0301, 7}, 520},
      {"vset2.s32.u32.lt", {0x8000ffff, 0x00017fff, 0xffffffff}, 0x00010001},
      {"vset4.u32.u32.ge.add", {0x80ff0102, 0x017f0201, 7}, 10},
      {"vadd.s32.u32.s32.sat", {0x7fffffff, 0x7fffffff}, 0x7fffffff},
      {"vadd.u32.u32.u32", {0xffffffff, 2}, 1},
      {"vadd.u32.u32.u32.sat.add", {0xffffffff, 2, 3}, 2, {4, 4, 4, 4}},
      {"vsub.s32.u32.u32.add", {1, 3, 5}, 3, {4, 4, 4, 4}},
      {"vsub.u32.u32.u32.sat", {1, 3}, 0},
      {"vabsdiff.u32.s32.s32", {0x80000000, 0x7fffffff}, 0xffffffff},
      {"vmin.s32.u32.s32", {1, 0xffffffff}, 0xffffffff},
      {"vmax.u32.u32.u32.add", {1, 2, 3}, 5, {4, 4, 4, 4}},
      {"vset.s32.u32.lt", {0xffffffff, 0}, 1},
      {"vset.u32.u32.ne.add", {1, 2, 9}, 10, {4, 4, 4, 4}},
      {"vshl.u32.u32.u32.clamp", {1, 40}, 0},
      {"vshl.u32.u32.u32.wrap", {1, 40}, 0x100},
      {"vshr.s32.s32.u32.clamp", {0x80000000, 40}, 0xffffffff},
      {"vmad.u32.u32.u32", {0x10000, 0x10000, 5}, 5},
      {"vmad.s32.s32.s32.sat", {0x10000, 0x10000, 5}, 0x7fffffff},
      {"vmad.s32.s32.s32.shr7", {0xffffff00, 3, 0}, 0xfffffffa},
      {"vmad.s32.s32.s32.po.shr15", {0x4000, 2, 0x7fff}, 2},
      {"vmin2.s32.s32.s32", {0x8000ffff, 0x00017fff, 0}, 0x8000ffff},
      {"vmin4.u32.u32.u32", {0x80ff0102, 0x017f0201, 0}, 0x017f0101},
      {"vmax2.u32.u32.u32", {0x8000ffff, 0x00017fff, 0}, 0x8000ffff},
      {"vmax4.s32.s32.s32", {0x80ff0102, 0x017f0201, 0}, 0x017f0202},
      {"and.b32", {0xff00ff00, 0x0ff00ff0}, 0x0f000f00},
      {"or.b16", {0xf0, 0x0f}, 0xff},
      {"xor.b64", {0xffffffff00000000, 0xffffffffffffffff}, 0x00000000ffffffff},
      {"and.pred", {1, 0}, 0},
      {"or.pred", {1, 0}, 1},
      {"xor.pred", {1, 1}, 0},
      {"not.pred", {0}, 1},
      {"not.b16", {0x00ff}, 0xff00},
      {"cnot.b32", {0}, 1},
      {"cnot.b64", {7}, 0},
      {"lop3.b32", {0xf0f0f0f0, 0xcccccccc, 0xaaaaaaaa, 0x96}, 0x96969696},
      {"lop3.or.b32", {1, 1, 1, 0x80, 0}, 1},
      {"shl.b32", {1, 31}, 0x80000000},
      {"shl.b32", {1, 32}, 0},
      {"shl.b16", {0xffff, 8}, 0xff00},
      {"shl.b64", {1, 63}, 0x8000000000000000},
      {"shr.u32", {0x80000000, 31}, 1},
      {"shr.u32", {0x80000000, 32}, 0},
      {"shr.s32", {0x80000000, 100}, 0xffffffff},
      {"shr.s16", {0x8000, 15}, 0xffff},
      {"shr.b64", {0x8000000000000000, 4}, 0x0800000000000000},
      {"shf.l.clamp.b32", {0x80000000, 0x1, 1}, 3},
      {"shf.l.clamp.b32", {0x12345678, 0x9abcdef0, 40}, 0x12345678},
      {"shf.r.wrap.b32", {0x80000000, 0x1, 33}, 0xc0000000},
      {"shf.r.clamp.b32", {0x12345678, 0x9abcdef0, 32}, 0x9abcdef0},
      {"addc.u32", {1, 2}, 3},
      {"subc.cc.s32", {1, 2}, 0xfffffffe},
      {"madc.lo.u32", {2, 3, 4}, 10},
      {"madc.hi.cc.u64", {0x8000000000000000, 2, 4}, 5},
  };
}

std::vector<Case> FloatCases() {
  return {
      {"add.f32", {F(1.0f), F(0x1p-30f)}, F(1.0f)},
      {"add.rp.f32", {F(1.0f), F(0x1p-30f)}, F(0x1.000002p0f)},
      {"add.rm.f32", {F(1.0f), F(-1.0f)}, F(-0.0f)},
      {"add.rz.f64", {D(1.0), D(-0x1p-80)}, D(0x1.fffffffffffffp-1)},
      {"add.ftz.f32", {F(0x1p-127f), F(0x1p-127f)}, F(0.0f)},
      {"add.sat.f32", {F(3.0f), F(-1.0f)}, F(1.0f)},
      {"add.sat.f32", {kNan32, F(-1.0f)}, F(0.0f)},
      {"add.f64", {D(0.1), D(0.2)}, D(0.1 + 0.2)},
      {"add.f32", {0xffc12345, F(1.0f)}, kNan32},
      {"sub.f32", {F(INFINITY), F(INFINITY)}, kNan32},
      {"sub.f64", {D(INFINITY), D(INFINITY)}, kNan64},
      {"mul.f32", {F(3.0f), F(-0.5f)}, F(-1.5f)},
      {"mul.rm.f32", {F(-0x1p-100f), F(0x1p-100f)}, F(-0x1p-149f)},
      {"mul.rz.f32", {F(0x1p100f), F(0x1p100f)}, F(0x1.fffffep127f)},
      {"mul.rp.f64", {D(-0x1p1000), D(0x1p1000)}, D(-0x1.fffffffffffffp1023)},
      {"fma.rn.f32", {F(0x1.000002p0f), F(0x1.000002p0f), F(-0x1.000004p0f)}, F(0x1p-46f)},
      {"fma.rn.ftz.sat.f32", {F(2.0f), F(3.0f), F(4.0f)}, F(1.0f)},
      {"fma.rp.f64", {D(1.0), D(1.0), D(0x1p-90)}, D(0x1.0000000000001p0)},
      {"mad.rn.f32", {F(2.0f), F(3.0f), F(4.0f)}, F(10.0f)},
      {"abs.f32", {F(-0.0f)}, F(0.0f)},
      {"abs.ftz.f32", {0x80000001}, F(0.0f)},
      {"neg.f64", {D(2.0)}, D(-2.0)},
      {"neg.ftz.f32", {0x00000001}, F(-0.0f)},
      {"min.f32", {F(0.0f), F(-0.0f)}, F(-0.0f)},
      {"min.f32", {kNan32, F(3.0f)}, F(3.0f)},
      {"min.NaN.f32", {kNan32, F(3.0f)}, kNan32},
      {"min.xorsign.abs.f32", {F(-3.0f), F(2.0f)}, F(-2.0f)},
      {"min.f32", {F(3.0f), F(2.0f), F(1.0f)}, F(1.0f), {4, 4, 4, 4}},
      {"max.f32", {F(-0.0f), F(0.0f)}, F(0.0f)},
      {"max.f32", {0xffffffff, 0xffffffff}, kNan32},
      {"max.f64", {D(NAN), D(-1.0)}, D(-1.0)},
      {"max.ftz.f32", {0x80000001, F(-1.0f)}, F(-0.0f)},
      {"copysign.f32", {F(-1.0f), F(3.0f)}, F(-3.0f)},
      {"copysign.f64", {D(1.0), D(-3.0)}, D(3.0)},
      {"testp.finite.f32", {F(INFINITY)}, 0},
      {"testp.infinite.f64", {D(-INFINITY)}, 1},
      {"testp.number.f32", {kNan32}, 0},
      {"testp.notanumber.f32", {kNan32}, 1},
      {"testp.normal.f32", {1}, 0},
      {"testp.normal.f64", {0}, 1},
      {"testp.subnormal.f32", {1}, 1},
      {"div.rn.f32", {F(1.0f), F(3.0f)}, F(1.0f / 3.0f)},
      {"div.rp.f32", {F(1.0f), F(3.0f)}, 0x3eaaaaab},
      {"div.rz.f32", {F(1.0f), F(3.0f)}, 0x3eaaaaaa},
      {"div.rn.f64", {D(1.0), D(0.0)}, D(INFINITY)},
      {"div.approx.f32", {F(6.0f), F(3.0f)}, F(2.0f)},
      {"div.approx.ftz.f32", {F(1.0f), F(0x1.8p126f)}, F(0.0f)},
      {"div.full.f32", {F(0x1p127f), F(0x1p127f)}, F(1.0f)},
      {"rcp.rn.f32", {F(4.0f)}, F(0.25f)},
      {"rcp.approx.ftz.f32", {F(-0.0f)}, F(-INFINITY)},
      {"rcp.rz.f64", {D(3.0)}, 0x3fd5555555555555},
      {"rcp.approx.ftz.f64", {D(2.0)}, D(0.5)},
      {"sqrt.rn.f32", {F(2.0f)}, 0x3fb504f3},
      {"sqrt.rp.f32", {F(2.0f)}, 0x3fb504f4},
      {"sqrt.rn.f64", {D(-1.0)}, kNan64},
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
      {"add.f16", {0x3c00, 0x3c00}, 0x4000},
      {"add.f16x2", {0x3c004000, 0x3c003c00}, 0x40004200},
      {"sub.bf16", {0x3f80, 0x3f80}, 0},
      {"mul.sat.f16", {0x4000, 0x4000}, 0x3c00},
      {"fma.rn.f16", {0x3c00, 0x3c00, 0x3c00}, 0x4000},
      {"fma.rn.relu.bf16x2", {0xbf803f80, 0x3f803f80, 0}, 0x00003f80},
      {"neg.f16x2", {0x3c00bc00}, 0xbc003c00},
      {"abs.bf16", {0xbf80}, 0x3f80},
      {"min.NaN.f16", {0x7e00, 0x3c00}, 0x7fff},
      {"max.f16x2", {0x7e003c00, 0x3c004000}, 0x3c004000},
      {"max.xorsign.abs.bf16", {0xbf80, 0x4000}, 0xc000},
  };
}

std::vector<Case> MoveAndCompareCases() {
  return {
      {"mov.u32", {0xdeadbeef}, 0xdeadbeef},
      {"mov.pred", {1}, 1},
      {"mov.f64", {D(1.5)}, D(1.5)},
      {"mov.b64", {0x11111111, 0x22222222}, 0x2222222211111111, {8, 4, 4}},
      {"mov.b32", {0x1111, 0x2222}, 0x22221111, {4, 2, 2}},
      {"mov.b64", {1, 2, 3, 4}, 0x0004000300020001, {8, 2, 2, 2, 2}},
      {"mov.b64", {0x2222222211111111}, 0x11111111, {4, 4, 8}},
      {"mov.b32", {0x22221111}, 0x1111, {2, 2, 4}},
      {"mov.b64", {0x0004000300020001}, 1, {2, 2, 2, 2, 8}},
      {"setp.lt.s32", {0xffffffff, 0}, 1},
      {"setp.lo.u32", {0xffffffff, 0}, 0},
      {"setp.hs.u64", {5, 5}, 1},
      {"setp.ne.b16", {1, 2}, 1},
      {"setp.eq.f32", {F(0.0f), F(-0.0f)}, 1},
      {"setp.lt.ftz.f32", {0, 1}, 0},
      {"setp.gtu.f64", {D(NAN), D(1)}, 1},
      {"setp.ne.f32", {kNan32, F(1)}, 0},
      {"setp.nan.f32", {kNan32, F(1)}, 1},
      {"setp.eq.and.s32", {1, 1, 0}, 0},
      {"setp.eq.xor.s32", {1, 1, 1}, 0},
      {"setp.ne.or.s32", {1, 1, 1}, 1},
      {"setp.lt.f16", {0xbc00, 0x3c00}, 1},
      {"setp.gt.bf16x2", {0x40003f80, 0x3f803f80}, 0},
      {"set.lt.u32.s32", {1, 2}, 0xffffffff},
      {"set.lt.f32.f32", {F(1), F(2)}, F(1.0f)},
      {"set.ge.and.s32.u64", {3, 2, 0}, 0},
      {"set.eq.f16x2.f16x2", {0x3c004000, 0x3c003c00}, 0x3c000000},
      {"set.equ.bf16.bf16", {0x7fff, 0}, 0x3f80},
      {"selp.b32", {1, 2, 1}, 1},
      {"selp.f64", {1, 2, 0}, 2},
      {"slct.u32.s32", {1, 2, 0xffffffff}, 2},
      {"slct.f64.f32", {1, 2, F(-0.0f)}, 1},
      {"slct.ftz.s16.f32", {1, 2, 0x80000001}, 1},
      {"cvt.u32.u16", {0xffff}, 0xffff},
      {"cvt.s32.s8", {0x80}, 0xffffff80},
      {"cvt.s32.s8", {0x12345680}, 0xffffff80, {4, 4}},
      {"cvt.u8.u32", {0x1234}, 0x34},
      {"cvt.u32.s8", {0x80}, 0xffffff80, {4, 2}},
      {"cvt.s64.s32", {0x80000000}, 0xffffffff80000000},
      {"cvt.sat.u8.s32", {0xffffffff}, 0},
      {"cvt.sat.s16.s32", {0x00012345}, 0x7fff},
      {"cvt.rn.f32.s32", {0x7fffffff}, F(0x1p31f)},
      {"cvt.rz.f32.u32", {0xffffffff}, F(0x1.fffffep31f)},
      {"cvt.rn.f64.u64", {0xffffffffffffffff}, D(0x1p64)},
      {"cvt.rzi.s32.f32", {F(-1.9f)}, 0xffffffff},
      {"cvt.rni.s32.f32", {F(2.5f)}, 2},
      {"cvt.rmi.s32.f64", {D(-1.5)}, 0xfffffffe},
      {"cvt.rpi.u32.f32", {F(-5.0f)}, 0},
      {"cvt.rzi.u32.f32", {F(0x1p40f)}, 0xffffffff},
      {"cvt.rzi.s32.f32", {kNan32}, 0},
      {"cvt.rpi.ftz.s32.f32", {1}, 0},
      {"cvt.rpi.s32.f32", {1}, 1},
      {"cvt.rni.f32.f32", {F(0.5f)}, F(0.0f)},
      {"cvt.rpi.f64.f64", {D(-0.5)}, D(-0.0)},
      {"cvt.sat.f32.f32", {F(2.0f)}, F(1.0f)},
      {"cvt.rn.f32.f64", {D(0.1)}, F(0.1f)},
      {"cvt.rp.f32.f64", {D(1e-60)}, 1},
      {"cvt.f64.f32", {F(0.1f)}, D(0.1f)},
      {"cvt.ftz.f64.f32", {1}, D(0.0)},
      {"cvt.rn.f16.f32", {F(65520.0f)}, 0x7c00},
      {"cvt.rz.f16.f32", {F(65520.0f)}, 0x7bff},
      {"cvt.f32.f16", {0x0001}, F(0x1p-24f)},
      {"cvt.rn.bf16.f32", {0x3f808000}, 0x3f80},
      {"cvt.rn.relu.bf16.f32", {F(-1.0f)}, 0},
      {"cvt.rn.f16x2.f32", {F(1.0f), F(2.0f)}, 0x3c004000, {4, 4, 4}},
      {"cvt.rn.bf16x2.f32", {F(1.0f), F(2.0f)}, 0x3f804000, {4, 4, 4}},
      {"cvt.rna.tf32.f32", {0x3f801000}, 0x3f802000},
      {"cvt.rn.tf32.f32", {0x7fc00000}, 0x7fffe000},
      {"cvt.rna.satfinite.tf32.f32", {0x7fc00000}, 0x7fbfe000},
      {"cvt.rp.ftz.f16.f32", {1}, 1},
      {"mul.ftz.f32", {0x3f7fffff, 0x00800000}, 0},
      {"mul.f32", {0x3f7fffff, 0x00800000}, 0x00800000},
      {"fma.rn.ftz.f32", {0x80800000, 0x3f7fffff, 0x00400000}, 0x80000000},
      {"div.rn.ftz.f32", {0x00ffffff, 0xc0000000}, 0x80000000},
      {"mul.ftz.f16", {0x3bff, 0x0400}, 0},
      {"mul.f16", {0x3bff, 0x0400}, 0x0400},
      {"fma.rn.ftz.f16", {0x8400, 0x8400, 0x8400}, 0x8400},  // 2^-28 - 2^-14
      {"fma.rn.ftz.f16x2", {0x03ff8400, 0x04008400, 0x04008400}, 0x04008400},
      {"div.rn.f64", {0xfff8000000001234, 0x7ff0000000000001}, 0xfff8000000001234},
      {"div.rz.f64", {0xfff8000000001234, 0x7ff0000000000001}, 0xfff8000000001234},
      {"fma.rn.f64", {0, 0x7fffffffffffffff, 0xfff8000000001234}, 0x7fffffffffffffff},
      {"fma.rz.f64", {0x7fffffffffffffff, 0, 0xfff8000000001234}, 0xfff8000000001234},
      {"cvt.rn.satfinite.e4m3x2.f32", {F(1000.0f), F(1.0f)}, 0x7e38, {2, 4, 4}},
      {"cvt.rn.f16x2.e5m2x2", {0x3c40}, 0x3c004000},
      {"cvt.pack.sat.u16.s32", {0x12345, 0xffffffff}, 0xffff0000, {4, 4, 4}},
      {"cvt.pack.sat.s8.s32.b32", {200, 0xffffff00, 0xabcd}, 0xabcd7f80, {4, 4, 4, 4}},
  };
}

std::vector<Case> AllCases() {
  std::vector<Case> all = IntegerCases();
  for (auto more : {FloatCases(), MoveAndCompareCases()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(IsaTableTest, KnownResults) {
  for (const Case& c : AllCases()) {
    const uint64_t result = Evaluate(c.text, c.sources, c.bytes);
    std::string sources;
    for (const uint64_t source : c.sources) sources += " " + testing::PrintToString(source);
    EXPECT_EQ(result, c.expected) << std::hex << c.text << sources << ": " << result << " instead of " << c.expected;
  }
}

// Opcodes whose tests need lanes that differ are in isa_warp_test.cc.
TEST(IsaTableTest, EveryArithmeticOpcodeHasACase) {
  const std::set<std::string_view> kOnDevice = {"cvta", "isspacep", "mapa", "getctarank", "mbarrier.pending_count"};
  std::set<std::string> tested = {"shfl", "vote", "match", "redux", "activemask", "elect", "mov.v2", "mov.v4"};
  for (const Case& c : AllCases()) tested.insert(c.text.substr(0, c.text.find('.')));
  const std::set<InsnClass> arithmetic = {InsnClass::kInteger,         InsnClass::kFloat32,  InsnClass::kFloat64,
                                          InsnClass::kFloat16,         InsnClass::kConvert,  InsnClass::kMove,
                                          InsnClass::kSpecialFunction, InsnClass::kPredicate};
  for (const Opcode* opcode : AllOpcodes()) {
    // Conversions of addresses, and what works on a launched kernel's memory, are in the device tests.
    if (kOnDevice.contains(opcode->name)) continue;
    if (!arithmetic.contains(opcode->insn_class)) continue;
    EXPECT_TRUE(tested.contains(std::string(opcode->name)))
        << "the row \"" << opcode->name << "\" has no known result among the cases of isa_table_test.cc";
  }
}

// A row that forgets its traits is taken for the worst, and named here.
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

}  // namespace
}  // namespace lockstep::vgpu
