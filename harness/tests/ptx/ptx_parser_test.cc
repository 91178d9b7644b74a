#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/ptx_testing.h"
#include "tests/support/source_files.h"
#include "vgpu/ptx/parser.h"

namespace lockstep::vgpu::ptx {
namespace ptx_parser_test {

TEST(PtxParserTest, ReadsTheHeader) {
  const Module module = ParseModule("");
  EXPECT_EQ(module.version_major, 9);
  EXPECT_EQ(module.version_minor, 0);
  EXPECT_EQ(module.target, "sm_90a");
  EXPECT_EQ(module.target_sm, 90);
  EXPECT_EQ(Parse(".version 7.8 .target sm_100f, debug .address_size 64").target_sm, 100);
}

TEST(PtxParserTest, ReadsNullTerminatedText) {
  const std::string text = std::string(kHeader) + std::string(3, '\0');
  EXPECT_EQ(Parse(text).target_sm, 90);
}

TEST(PtxParserTest, RefusesABadHeader) {
  EXPECT_EQ(ErrorOf(""), "PTX line 1: expected .version, not the end of the text");
  EXPECT_EQ(ErrorOf("int main() {}"), "PTX line 1: expected .version, not \"int\"");
  EXPECT_EQ(ErrorOf(".version 9.0\n.address_size 32"), "PTX line 2: only 64-bit addresses are supported");
  EXPECT_EQ(ErrorOf(".version 9.0\n.target sm_x"), "PTX line 2: unknown target \"sm_x\"");
  EXPECT_EQ(ErrorOf(".version 9.0\n"), "PTX line 2: the text has no .target");
}

const Variable& VariableNamed(const std::vector<Variable>& variables, const std::string& name) {
  for (const Variable& variable : variables) {
    if (variable.name == name) return variable;
  }
  throw std::out_of_range(name);
}

TEST(PtxParserTest, ReadsModuleVariables) {
  const Module module = ParseModule(R"(
    .visible .global .align 8 .b8 bytes[5] = {1, 0xff, 0b101, 017};
    .extern .shared .align 16 .b8 dynamic[];
    .global .u32 a, b = 7;
    .const .f32 f = 1.5;
    .const .f64 g[] = {0f3F800000, 0d4000000000000000, -2};
    .weak .global .attribute(.managed) .u64 m = 1;
    .global .v4 .f32 v[2] = {{1.0, 2.0, 3.0, 4.0}, {5.0}};
    .global .u16 grid[2][3] = {{1, 2}, {3}};
    .common .global .s8 c;
  )");
  const Variable& bytes = VariableNamed(module.variables, "bytes");
  EXPECT_TRUE(bytes.is_visible);
  EXPECT_EQ(bytes.alignment, 8u);
  EXPECT_EQ(bytes.TotalBytes(), 5u);
  EXPECT_EQ(bytes.bytes, (std::vector<uint8_t>{1, 255, 5, 15}));
  const Variable& dynamic = VariableNamed(module.variables, "dynamic");
  EXPECT_TRUE(dynamic.is_extern);
  EXPECT_EQ(dynamic.space, Space::kShared);
  EXPECT_EQ(dynamic.dimensions, (std::vector<uint64_t>{0}));
  EXPECT_EQ(dynamic.TotalBytes(), 0u);
  EXPECT_TRUE(VariableNamed(module.variables, "a").bytes.empty());
  EXPECT_EQ(VariableNamed(module.variables, "b").bytes, (std::vector<uint8_t>{7, 0, 0, 0}));
  EXPECT_EQ(VariableNamed(module.variables, "f").bytes, (std::vector<uint8_t>{0, 0, 0xc0, 0x3f}));
  const Variable& g = VariableNamed(module.variables, "g");
  EXPECT_EQ(g.dimensions, (std::vector<uint64_t>{3}));
  EXPECT_EQ(g.bytes,
            (std::vector<uint8_t>{0, 0, 0x80, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0xc0}));
  EXPECT_TRUE(VariableNamed(module.variables, "m").is_managed);
  EXPECT_TRUE(VariableNamed(module.variables, "m").is_weak);
  const Variable& v = VariableNamed(module.variables, "v");
  EXPECT_EQ(v.ElementBytes(), 16u);
  EXPECT_EQ(v.TotalBytes(), 32u);
  EXPECT_EQ(v.bytes.size(), 20u);
  EXPECT_EQ(VariableNamed(module.variables, "grid").bytes, (std::vector<uint8_t>{1, 0, 2, 0, 0, 0, 3, 0}));
  EXPECT_TRUE(VariableNamed(module.variables, "c").is_common);
}

TEST(PtxParserTest, ReadsAddressesInInitialisers) {
  const Module module = ParseModule(R"(
    .global .u64 table[4] = {generic(target)+8, target-4, 3, f};
    .global .b8 parts[2] = {0xFF(target), 0xFF00(generic(target)+1)};
  )");
  const Variable& table = module.variables.at(0);
  ASSERT_EQ(table.relocations.size(), 3u);
  EXPECT_EQ(table.relocations[0].symbol, "target");
  EXPECT_TRUE(table.relocations[0].generic);
  EXPECT_EQ(table.relocations[0].addend, 8);
  EXPECT_EQ(table.relocations[0].size, 8);
  EXPECT_EQ(table.relocations[0].mask, ~uint64_t{0});
  EXPECT_FALSE(table.relocations[1].generic);
  EXPECT_EQ(table.relocations[1].addend, -4);
  EXPECT_EQ(table.relocations[2].offset, 24u);
  EXPECT_EQ(table.bytes.at(16), 3);
  const Variable& parts = module.variables.at(1);
  ASSERT_EQ(parts.relocations.size(), 2u);
  EXPECT_EQ(parts.relocations[0].mask, 0xffu);
  EXPECT_EQ(parts.relocations[1].mask, 0xff00u);
  EXPECT_EQ(parts.relocations[1].offset, 1u);
  EXPECT_EQ(parts.relocations[1].addend, 1);
}

TEST(PtxParserTest, MergesDeclarationsWithDefinitions) {
  const Module module = ParseModule(R"(
    .extern .global .u32 x;
    .global .u32 x = 5;
    .extern .global .u32 x;
    .func f(.param .b32 p);
    .func f(.param .b32 p) { ret; }
    .func f(.param .b32 p);
  )");
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_FALSE(module.variables[0].is_extern);
  ASSERT_EQ(module.functions.size(), 1u);
  EXPECT_TRUE(module.functions[0].has_body);
}

TEST(PtxParserTest, ReadsFunctionHeaders) {
  const Module module = ParseModule(R"(
    .extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
    .weak .func (.param .align 4 .b8 r[136]) g(.param .align 8 .b8 s[24], .reg .f32 %f) .noreturn { ret; }
    .visible .entry k(.param .u64 .ptr .global .align 4 p, .param .align 16 .b8 q[32])
    .maxntid 256, 2
    .reqntid 128, 1, 1
    .minnctapersm 2
    .maxnreg 64
    .reqnctapercluster 2, 1, 1
    .explicitcluster
    { ret; }
  )");
  const Function& vprintf_function = module.functions.at(0);
  EXPECT_TRUE(vprintf_function.is_extern);
  EXPECT_FALSE(vprintf_function.has_body);
  EXPECT_EQ(vprintf_function.returns.size(), 1u);
  EXPECT_EQ(vprintf_function.parameters.at(1).name, "b");
  const Function& g = module.functions.at(1);
  EXPECT_TRUE(g.is_weak && g.noreturn && g.has_body);
  EXPECT_EQ(g.returns.at(0).TotalBytes(), 136u);
  EXPECT_EQ(g.parameters.at(0).alignment, 8u);
  EXPECT_EQ(g.parameters.at(1).space, Space::kReg);
  EXPECT_EQ(g.parameters.at(1).count, 0);
  const Function& k = module.functions.at(2);
  EXPECT_TRUE(k.is_entry && k.is_visible);
  EXPECT_EQ(k.parameters.at(0).type, Type::kU64);
  EXPECT_EQ(k.parameters.at(0).alignment, 0u);  // 4 is the alignment of what it points to
  EXPECT_EQ(k.parameters.at(1).TotalBytes(), 32u);
  EXPECT_EQ(std::vector<int>(k.maxntid, k.maxntid + 3), (std::vector<int>{256, 2, 1}));
  EXPECT_EQ(k.reqntid[0], 128);
  EXPECT_EQ(k.minnctapersm, 2);
  EXPECT_EQ(k.maxnreg, 64);
  EXPECT_EQ(k.reqnctapercluster[0], 2);
  EXPECT_TRUE(k.explicit_cluster);
}

TEST(PtxParserTest, FollowsSourceLocations) {
  const Module module = ParseModule(R"(
    .entry k() {
      ret;
      .loc 1 10 3
      ret;
      .loc 2 20 5, function_name $L__info_string0, inlined_at 1 10 3
      ret;
      .loc 3 30 7, function_name $L__info_string1+4, inlined_at 2 20 5
      ret;
      .loc 1 0 3
      ret;
    }
    .entry other() { ret; }
    .file 1 "a dir/reduction.cu"
    .file 3 "x.h", 123, 456
    .section .debug_str { $L__info_string0: .b8 95,90,78 }
  )");
  EXPECT_EQ(module.files, (std::vector<std::string>{"", "a dir/reduction.cu", "", "x.h"}));
  const std::vector<Instruction>& body = module.functions.at(0).body;
  EXPECT_EQ(body.at(0).location.file, -1);
  EXPECT_EQ(body.at(1).location.file, 1);
  EXPECT_EQ(body.at(1).location.line, 10);
  EXPECT_EQ(body.at(1).inlined_at.file, -1);
  EXPECT_EQ(body.at(2).location.line, 20);
  EXPECT_EQ(body.at(2).inlined_at.line, 10);
  EXPECT_EQ(body.at(3).location.file, 3);
  EXPECT_EQ(body.at(3).inlined_at.file, 1);  // the outermost caller
  EXPECT_EQ(body.at(3).inlined_at.line, 10);
  EXPECT_EQ(body.at(4).location.line, 0);
  EXPECT_EQ(module.functions.at(1).body.at(0).location.file, -1);
}

TEST(PtxParserTest, ReplacesAliases) {
  const Module module = ParseModule(R"(
    .func real() { ret; }
    .func other();
    .alias other, real;
    .global .u64 p = other;
    .entry k() { call other; ret; }
  )");
  ASSERT_EQ(module.functions.size(), 2u);
  EXPECT_EQ(Symbol(module.functions[1].body[0].call->target).name, "real");
  EXPECT_EQ(module.variables.at(0).relocations.at(0).symbol, "real");
}

TEST(PtxParserTest, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(ErrorOf(std::string(kHeader) + ".tex .u64 t;"), "PTX line 4: the directive .tex is not supported here");
  EXPECT_EQ(BodyError(".reg .v4 .f64 v;"), "PTX line 6: a vector register has at most 4 elements and 16 bytes");
  EXPECT_EQ(BodyError(".reg .v2 .pred v;"), "PTX line 6: a vector of predicates");
  EXPECT_EQ(BodyError(".reg .v2 .f32 v; mov.f32 v.x, v.z;"), "PTX line 6: \"v\" has no element .z");
  EXPECT_EQ(BodyError(".reg .v2 .f32 v; @v bra L;"), "PTX line 6: \"v\" is no declared register");
  EXPECT_EQ(BodyError(".reg .b32 r; mov.b32 {r.b0}, r;"), "PTX line 6: a part of \"r\" as an operand is not supported");
  EXPECT_EQ(BodyError(".reg .b32 r; .shared .b32 s[4]; ld.shared.b32 r, s[r];"),
            "PTX line 6: an element is chosen by a constant; \"r\" is none");
  EXPECT_EQ(BodyError(".reg .b32 r; ld.shared.b32 r, s[1];"), "PTX line 6: \"s\" is no array of one dimension");
  EXPECT_EQ(BodyError("@nothing bra L;"), "PTX line 6: \"nothing\" is no declared register");
  EXPECT_EQ(BodyError("ld.u32 _, [%nothing];"), "PTX line 6: an address needs a register, a variable or a constant");
  EXPECT_EQ(BodyError("mov.u32 +;"), "PTX line 6: expected a number, not \";\"");
}

TEST(PtxParserTest, BoundsHostileText) {
  const std::string header = kHeader;
  EXPECT_NE(ErrorOf(header + ".global .b8 x[999999999999999999];"), "");
  EXPECT_NE(ErrorOf(header + ".global .b8 x[1000000][1000000][1000000];"), "");
  EXPECT_NE(ErrorOf(header + ".global .b8 x[2][1000000000000] = {{1}, {2}};"), "");
  EXPECT_NE(ErrorOf(header + ".global .align 3 .b8 x;"), "");
  EXPECT_NE(ErrorOf(header + ".global .align 2147483648 .b8 x;"), "");
  EXPECT_NE(ErrorOf(header + ".global .b8 x[1] = {1, 2};"), "");
  EXPECT_NE(ErrorOf(header + ".file 4000000000 \"x\""), "");
  EXPECT_NE(BodyError(".reg .b32 %r<4000000000>;"), "");
  EXPECT_NE(BodyError(std::string(100000, '{')), "");
  EXPECT_NE(ErrorOf(header + ".entry k() {"), "");
  EXPECT_NE(ErrorOf(header + ".section .debug_str { .b8 1"), "");
  EXPECT_NE(ErrorOf(header + ".file 1 \"open"), "");
  EXPECT_EQ(BodyError("\x01\xff"), "PTX line 6: expected a statement, not \"?\"");
}

// Text of every length that a valid one is cut to is either taken or refused, never read beyond its end.
TEST(PtxParserTest, SurvivesCutText) {
  const std::string text = std::string(kHeader) + R"(
    .global .u64 t[2] = {generic(t)+8, 0xFF};
    .entry k(.param .u64 a) .maxntid 1, 2, 3 {
      .reg .pred %p<2>; .reg .b32 %r<4>;
      .loc 1 2 3, function_name f, inlined_at 1 2 3
      @!%p1 ld.global.v2.u32 {%r1, _}, [a+4]; /* c */
      { call (%r1), k, (1.5, 0f3F800000); }
    }
    .file 1 "name"
  )";
  size_t taken = 0;
  for (size_t length = 0; length <= text.size(); ++length) {
    const std::string cut = text.substr(0, length);
    taken += ErrorOf(std::string(cut.begin(), cut.end())).empty();
  }
  EXPECT_GT(taken, 0u);
  EXPECT_EQ(ErrorOf(text), "");
}

// Every name in a body refers to something.
class WellFormed {
 public:
  explicit WellFormed(const Module& module) {
    for (const Variable& variable : module.variables) global_.insert(variable.name);
    for (const Function& function : module.functions) global_.insert(function.name);
    for (const Function& function : module.functions) Check(function);
  }
  size_t instructions = 0, branches = 0;

 private:
  void Check(const Function& function) {
    std::set<std::string> registers, symbols = global_, labels;
    for (const Variable& variable : function.registers) {
      if (variable.count == 0) {
        EXPECT_TRUE(registers.insert(variable.name).second) << variable.name;
      }
      for (int k = 0; k < variable.count; ++k) {
        EXPECT_TRUE(registers.insert(variable.name + std::to_string(k)).second) << variable.name << k;
      }
    }
    for (const auto* list : {&function.parameters, &function.returns, &function.variables}) {
      for (const Variable& variable : *list) symbols.insert(variable.name);
    }
    for (const Label& label : function.labels) {
      EXPECT_TRUE(labels.insert(label.name).second);
      EXPECT_LE(label.instruction, function.body.size());
    }
    for (const Instruction& instruction : function.body) {
      ++instructions;
      if (instruction.opcode == "bra") {
        ++branches;
        EXPECT_TRUE(labels.contains(Symbol(instruction.operands.at(0)).name));
        continue;
      }
      for (const Operand& operand : instruction.operands) Check(operand, registers, symbols);
      if (!instruction.call) continue;
      Check(instruction.call->target, registers, symbols);
      for (const Operand& operand : instruction.call->returns) Check(operand, registers, symbols);
      for (const Operand& operand : instruction.call->arguments) Check(operand, registers, symbols);
    }
  }

  void Check(const Operand& operand, const std::set<std::string>& registers, const std::set<std::string>& symbols) {
    if (const auto* reg = std::get_if<RegisterRef>(&operand.value)) {
      EXPECT_TRUE(registers.contains(reg->name)) << reg->name;
    } else if (const auto* symbol = std::get_if<SymbolRef>(&operand.value)) {
      EXPECT_TRUE(symbols.contains(symbol->name)) << symbol->name;
    } else if (const auto* address = std::get_if<AddressRef>(&operand.value)) {
      EXPECT_TRUE(address->base_register.empty() || registers.contains(address->base_register));
      EXPECT_TRUE(address->base_symbol.empty() || symbols.contains(address->base_symbol));
    } else if (const auto* vector = std::get_if<VectorRef>(&operand.value)) {
      for (const Operand& element : vector->elements) Check(element, registers, symbols);
    }
  }

  std::set<std::string> global_;
};

TEST(PtxParserTest, ReadsWhatNvccWrites) {
  const Module module = Parse(tests::ReadText(LOCKSTEP_BUILD_DIR "/ptx/ptx_parser.ptx"));
  const WellFormed checked(module);
  EXPECT_GT(checked.instructions, 200u);
  EXPECT_GT(checked.branches, 10u);
  const auto kernel = std::find_if(module.functions.begin(), module.functions.end(), [](const Function& function) {
    return function.name == "_Z17everything_kernelILi3EEvPii5Large";
  });
  ASSERT_NE(kernel, module.functions.end());
  EXPECT_TRUE(kernel->is_entry);
  EXPECT_EQ(kernel->maxntid[0], 256);
  EXPECT_EQ(kernel->minnctapersm, 2);
  EXPECT_EQ(kernel->parameters.at(2).TotalBytes(), 84u);
  EXPECT_EQ(VariableNamed(module.variables, "second_number").relocations.at(0).addend, 4);
  EXPECT_EQ(VariableNamed(module.variables, "coefficients").bytes.size(), 16u);
  EXPECT_TRUE(std::any_of(module.files.begin(), module.files.end(),
                          [](const std::string& name) { return name.ends_with("ptx_parser.cu"); }));
  EXPECT_TRUE(std::any_of(kernel->body.begin(), kernel->body.end(), [&](const Instruction& instruction) {
    return instruction.opcode == "bar" && instruction.location.line == 40;
  })) << "__syncthreads() stands on line 40 of ptx_parser.cu";
}

}  // namespace ptx_parser_test
}  // namespace lockstep::vgpu::ptx
