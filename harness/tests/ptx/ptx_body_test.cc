#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include "tests/support/ptx_testing.h"
#include "vgpu/ptx/body.h"

namespace lockstep::vgpu::ptx {
namespace ptx_body_test {

std::vector<std::string> Words(std::initializer_list<const char*> words) { return {words.begin(), words.end()}; }

TEST(PtxBodyTest, ReadsOpcodesModifiersAndGuards) {
  const Function function = ParseBody(R"(
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<5>;
    @!%p1 ld.global.nc.L2::128B.v4.f32 {%f1, %f2, _, %f4}, [%rd1+16];
    setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p0;
    shfl.sync.down.b32 %r3 | _, %r4, 1, 31, -1;
    st.shared::cta.u32 [%r1], %r2;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];
    ret;
  )");
  const Instruction& load = function.body.at(0);
  EXPECT_EQ(load.opcode, "ld");
  EXPECT_EQ(load.modifiers, Words({"global", "nc", "L2::128B", "v4", "f32"}));
  ASSERT_TRUE(load.guard);
  EXPECT_EQ(load.guard->name, "%p1");
  EXPECT_TRUE(load.guard->negated);
  const auto& elements = std::get<VectorRef>(load.operands.at(0).value).elements;
  ASSERT_EQ(elements.size(), 4u);
  EXPECT_EQ(Register(elements[1]).name, "%f2");
  EXPECT_TRUE(std::holds_alternative<SinkRef>(elements[2].value));
  EXPECT_EQ(Address(load.operands.at(1)).base_register, "%rd1");
  EXPECT_EQ(Address(load.operands.at(1)).offset, 16);
  const Instruction& compare = function.body.at(1);
  EXPECT_EQ(Register(compare.operands.at(0)).name, "%p1");
  EXPECT_EQ(Register(compare.operands.at(0).second.at(0)).name, "%p2");
  EXPECT_TRUE(Register(compare.operands.at(3)).negated);
  const Instruction& shuffle = function.body.at(2);
  EXPECT_TRUE(std::holds_alternative<SinkRef>(shuffle.operands.at(0).second.at(0).value));
  EXPECT_EQ(Integer(shuffle.operands.at(4)), -1);
  EXPECT_EQ(function.body.at(3).modifiers, Words({"shared::cta", "u32"}));
  const Instruction& bulk = function.body.at(4);
  EXPECT_EQ(bulk.modifiers.back(), "mbarrier::complete_tx::bytes");
  EXPECT_EQ(std::get<VectorRef>(bulk.operands.at(1).second.at(0).value).elements.size(), 2u);
  EXPECT_EQ(function.body.at(5).opcode, "ret");
  EXPECT_EQ(function.body.at(5).ptx_line, 13);
}

TEST(PtxBodyTest, ReadsImmediates) {
  const Function function = ParseBody(R"(
    .reg .b32 %r<2>; .reg .f32 %f<2>; .reg .f64 %fd<2>; .reg .b64 %rd<2>;
    mov.u32 %r1, 0x7fffffff;
    mov.u32 %r1, 0b1101U;
    mov.u32 %r1, 017;
    mov.u64 %rd1, 18446744073709551615;
    mov.u32 %r1, -(3 + 4) * 2 << 1 | 1;
    mov.u32 %r1, WARP_SZ - 1;
    mov.u32 %r1, 5 > 3 ? 10 : 20;
    mov.u32 %r1, !0 + ~0;
    mov.s64 %rd1, (.s64)7 / -2;
    mov.s64 %rd1, (.s64)0x8000000000000000 / -1;
    mov.s64 %rd1, -9 >> 1;
    mov.s64 %rd1, -9 >> 100;
    mov.f32 %f1, 0f3F800000;
    mov.f32 %f1, -0F3f800000;
    mov.f64 %fd1, 0d3FF0000000000000;
    mov.f64 %fd1, 2.5e1;
    mov.f64 %fd1, 0.125;
  )");
  const auto integer = [&](size_t k) { return Integer(function.body.at(k).operands.at(1)); };
  const auto real = [&](size_t k) { return std::get<FloatImmediate>(function.body.at(k).operands.at(1).value); };
  EXPECT_EQ(integer(0), 0x7fffffff);
  EXPECT_EQ(integer(1), 13);
  EXPECT_TRUE(std::get<IntegerImmediate>(function.body[1].operands[1].value).is_unsigned);
  EXPECT_EQ(integer(2), 15);
  EXPECT_EQ(integer(3), -1);
  EXPECT_TRUE(std::get<IntegerImmediate>(function.body[3].operands[1].value).is_unsigned);
  EXPECT_EQ(integer(4), (-(3 + 4) * 2 * 2) | 1);
  EXPECT_EQ(integer(5), 31);
  EXPECT_EQ(integer(6), 10);
  EXPECT_EQ(integer(7), 0);
  EXPECT_EQ(integer(8), -3);
  EXPECT_EQ(integer(9), INT64_MIN);
  EXPECT_EQ(integer(10), -5);
  EXPECT_EQ(integer(11), -1);
  EXPECT_FALSE(real(12).is_double);
  EXPECT_EQ(real(12).bits, 0x3f800000u);
  EXPECT_EQ(real(13).bits, 0xbf800000u);
  EXPECT_TRUE(real(14).is_double);
  EXPECT_EQ(real(14).bits, 0x3ff0000000000000u);
  EXPECT_EQ(real(15).bits, 0x4039000000000000u);
  EXPECT_EQ(real(16).bits, 0x3fc0000000000000u);
}

TEST(PtxBodyTest, RefusesBadConstants) {
  const std::string declare = ".reg .b32 %r<2>; mov.u32 %r1, ";
  EXPECT_EQ(BodyError(declare + "1/0;"), "PTX line 6: division by zero in a constant expression");
  EXPECT_EQ(BodyError(declare + "0f3F80;"), "PTX line 6: a float constant needs 8 hexadecimal digits");
  EXPECT_EQ(BodyError(declare + "99999999999999999999;"), "PTX line 6: the integer constant needs more than 64 bits");
  EXPECT_EQ(BodyError(declare + "0x;"), "PTX line 6: malformed integer constant");
  EXPECT_EQ(BodyError(declare + "12abc;"), "PTX line 6: malformed number");
  EXPECT_EQ(BodyError(declare + "1.0 + 2;"), "PTX line 6: this operator is not supported on float constants");
  EXPECT_NE(BodyError(declare + std::string(100000, '(')), "");
  EXPECT_NE(BodyError(declare + std::string(100000, '-')), "");
}

TEST(PtxBodyTest, ReadsAddresses) {
  const Function function = ParseBody(R"(
    .reg .b32 %r<3>; .reg .b64 %rd<3>; .shared .b32 s[4];
    ld.u32 %r1, [%rd1];
    ld.u32 %r1, [%rd1+-4];
    ld.u32 %r1, [%rd1-4+2*8];
    ld.shared.u32 %r1, [s+4];
    ld.param.u32 %r1, [n];
    ld.global.u32 %r1, [4096];
    ld.shared.u32 %r1, [s+%r2+8];
    ld.global.u32 %r1, [outside];
    mov.u64 %rd1, outside+24;
  )");
  const auto address = [&](size_t k) { return Address(function.body.at(k).operands.at(1)); };
  EXPECT_EQ(address(0).base_register, "%rd1");
  EXPECT_EQ(address(1).offset, -4);
  EXPECT_EQ(address(2).offset, 12);
  EXPECT_EQ(address(3).base_symbol, "s");
  EXPECT_EQ(address(3).offset, 4);
  EXPECT_EQ(address(4).base_symbol, "n");
  EXPECT_EQ(address(5).offset, 4096);
  EXPECT_TRUE(address(5).base_symbol.empty() && address(5).base_register.empty());
  EXPECT_EQ(address(6).base_symbol, "s");
  EXPECT_EQ(address(6).base_register, "%r2");
  EXPECT_EQ(address(7).base_symbol, "outside");
  EXPECT_EQ(Symbol(function.body.at(8).operands.at(1)).offset, 24);
}

TEST(PtxBodyTest, TellsNamesApart) {
  const Function function = ParseBody(R"(
    .reg .b32 x, %r<3>;
    mov.u32 x, %tid.x;
    mov.u32 x, %laneid;
    mov.u32 x, %r2;
    mov.u32 x, %r3;
    mov.u32 x, a;
    mov.u32 x, somewhere;
  )");
  const auto source = [&](size_t k) { return function.body.at(k).operands.at(1).value; };
  EXPECT_EQ(Register(function.body.at(0).operands.at(0)).name, "x");
  EXPECT_EQ(std::get<SpecialRef>(source(0)).name, "%tid.x");
  EXPECT_EQ(std::get<SpecialRef>(source(1)).name, "%laneid");
  EXPECT_EQ(std::get<RegisterRef>(source(2)).name, "%r2");
  EXPECT_EQ(std::get<SpecialRef>(source(3)).name, "%r3");  // beyond the range: no register, whatever else it may be
  EXPECT_EQ(std::get<SymbolRef>(source(4)).name, "a");
  EXPECT_EQ(std::get<SymbolRef>(source(5)).name, "somewhere");
}

TEST(PtxBodyTest, ReadsCalls) {
  const Function function = ParseBody(R"(
    .reg .b32 %r<4>; .reg .b64 %rd<3>;
    call f;
    call.uni f, (%r1, 3);
    {
      .param .b32 param0;
      .param .b32 retval0;
      call.uni (retval0), f, (param0);
    }
    {
      .param .b32 param0;
      prototype_1 : .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[24]);
      call (%r1), %rd1, (param0), prototype_1;
    }
    table: .calltargets f, g;
    call %rd1, (), table;
  )");
  const auto call = [&](size_t k) -> const Instruction::CallInfo& { return *function.body.at(k).call; };
  EXPECT_EQ(Symbol(call(0).target).name, "f");
  EXPECT_EQ(call(1).arguments.size(), 2u);
  EXPECT_EQ(function.body.at(1).modifiers, Words({"uni"}));
  EXPECT_EQ(Symbol(call(2).arguments.at(0)).name, "param0@1");
  EXPECT_EQ(Symbol(call(2).returns.at(0)).name, "retval0@1");
  EXPECT_EQ(Symbol(call(3).arguments.at(0)).name, "param0@2");
  EXPECT_EQ(Register(call(3).target).name, "%rd1");
  ASSERT_EQ(function.prototypes.size(), 1u);
  EXPECT_EQ(call(3).prototype_or_table, function.prototypes[0].name);
  EXPECT_EQ(function.prototypes[0].parameters.at(1).TotalBytes(), 24u);
  EXPECT_EQ(function.tables.at(0).targets, (std::vector<std::string>{"f", "g"}));
  EXPECT_EQ(call(4).prototype_or_table, "table");
  std::set<std::string> names;
  for (const Variable& variable : function.variables) EXPECT_TRUE(names.insert(variable.name).second);
  EXPECT_EQ(names.size(), 3u);
}

TEST(PtxBodyTest, GivesEveryScopeItsOwnNames) {
  const Function function = ParseBody(R"(
    .reg .b32 q, %r<30>;
    {
      .reg .b32 q; .reg .b64 %r<20>;
      bra L;
      mov.u32 q, 1;
      { .reg .b32 %r2; mov.u32 %r2, %r1; mov.u32 %r25, 0; bra L; }
      L: mov.u32 q, 2;
    }
    { bra L; L: mov.u32 q, 3; }
    bra M;
    M: ret;
  )");
  EXPECT_EQ(Symbol(function.body.at(0).operands.at(0)).name, "L@1");
  EXPECT_EQ(Register(function.body.at(1).operands.at(0)).name, "q@1");
  EXPECT_EQ(Register(function.body.at(2).operands.at(0)).name, "%r2@2");
  EXPECT_EQ(Register(function.body.at(2).operands.at(1)).name, "%r@1.1");
  EXPECT_EQ(Register(function.body.at(3).operands.at(0)).name, "%r25");  // only the outermost range is long enough
  EXPECT_EQ(Symbol(function.body.at(4).operands.at(0)).name, "L@1");
  EXPECT_EQ(Symbol(function.body.at(6).operands.at(0)).name, "L@3");
  EXPECT_EQ(Register(function.body.at(7).operands.at(0)).name, "q");
  EXPECT_EQ(Symbol(function.body.at(8).operands.at(0)).name, "M");
  std::vector<std::pair<std::string, size_t>> labels;
  for (const Label& label : function.labels) labels.emplace_back(label.name, label.instruction);
  EXPECT_EQ(labels, (std::vector<std::pair<std::string, size_t>>{{"L@1", 5}, {"L@3", 7}, {"M", 9}}));
  std::vector<std::string> registers;
  for (const Variable& variable : function.registers) registers.push_back(variable.name);
  EXPECT_EQ(registers, (std::vector<std::string>{"q", "%r", "q@1", "%r@1.", "%r2@2"}));
}

TEST(PtxBodyTest, RefusesNamesThatClash) {
  const auto clash = [](const std::string& declarations) { return BodyError(declarations); };
  EXPECT_EQ(clash(".reg .b32 a; .reg .b64 a;"), "PTX line 6: \"a\" is declared twice");
  EXPECT_NE(clash(".reg .b32 r<5>; .reg .b64 r3;"), "");
  EXPECT_NE(clash(".reg .b64 r3; .reg .b32 r<5>;"), "");
  EXPECT_EQ(clash(".reg .b64 r5; .reg .b32 r<5>;"), "");
  EXPECT_NE(clash(".reg .b32 r<50>; .reg .b64 r1<5>;"), "");
  EXPECT_NE(clash(".reg .b32 r1<5>; .reg .b64 r<50>;"), "");
  EXPECT_EQ(clash(".reg .b32 r1<5>; .reg .b64 r<10>;"), "");
  EXPECT_EQ(clash(".reg .b32 r007; .reg .b64 r<10>;"), "");
  EXPECT_NE(clash("L: ret; L: ret;"), "");
  EXPECT_NE(clash(".reg .b32 L; L: ret;"), "");
  EXPECT_EQ(clash("{ L: ret; } bra L;"), "PTX line 6: the label \"L\" is not visible here");
}

TEST(PtxBodyTest, ReadsBranchTables) {
  const Function function = ParseBody(R"(
    .reg .b32 %r<2>;
    $L_brx_0: .branchtargets $L1, $L2, $L1;
    brx.idx %r1, $L_brx_0;
    $L1: ret;
    $L2: ret;
  )");
  ASSERT_EQ(function.tables.size(), 1u);
  EXPECT_EQ(function.tables[0].targets, (std::vector<std::string>{"$L1", "$L2", "$L1"}));
  EXPECT_EQ(Symbol(function.body.at(0).operands.at(1)).name, "$L_brx_0");
  EXPECT_EQ(function.labels.size(), 2u);
}

TEST(PtxBodyTest, SkipsCommentsAndPragmas) {
  const Function function = ParseBody(R"(
    // a comment { with braces
    /* one of
       several lines */ .pragma "nounroll", "other";
    ret /* here too */ ; // done
  )");
  EXPECT_EQ(function.body.at(0).ptx_line, 10);
  EXPECT_EQ(ErrorOf(std::string(kHeader) + "/* open"), "PTX line 4: a comment is not closed");
}

}  // namespace ptx_body_test
}  // namespace lockstep::vgpu::ptx
