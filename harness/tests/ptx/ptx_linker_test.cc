// Links several PTX modules to one, and runs the result.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/device_support.h"
#include "tests/support/ptx_testing.h"
#include "vgpu/core/program.h"
#include "vgpu/ptx/linker.h"

namespace lockstep::vgpu {
namespace ptx_linker_test {

using ptx::kHeader;

ptx::Module Link(const std::vector<std::string>& bodies) {
  std::vector<ptx::Module> modules;
  for (const std::string& body : bodies) modules.push_back(ptx::Parse(kHeader + body));
  return ptx::LinkModules(std::move(modules));
}
std::string LinkError(const std::vector<std::string>& bodies) {
  try {
    Link(bodies);
  } catch (const ptx::PtxError& error) {
    return error.what();
  }
  return "";
}
bool Says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

constexpr const char* kCaller = R"(
.extern .global .align 4 .u32 factor;
.extern .func (.param .b32 r) scaled (.param .b32 x);
.global .align 4 .u32 own = 5;
.visible .entry run(.param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.global.u32 %r1, [own];
  { .param .b32 p; .param .b32 v; st.param.b32 [p], %r1; call.uni (v), scaled, (p); ld.param.b32 %r2, [v]; }
  ld.global.u32 %r3, [factor];
  st.global.u32 [%rd1], %r2;
  st.global.u32 [%rd1+4], %r3;
  ret;
})";
constexpr const char* kCallee = R"(
.visible .global .align 4 .u32 factor = 7;
.global .align 4 .u32 own = 1000;
.visible .func (.param .b32 r) scaled (.param .b32 x) {
  .reg .b32 %r<8>;
  ld.param.b32 %r1, [x];
  ld.global.u32 %r2, [factor];
  ld.global.u32 %r3, [own];
  mad.lo.u32 %r4, %r1, %r2, %r3;
  st.param.b32 [r], %r4;
  ret;
})";

TEST(PtxLinkerTest, RunsAFunctionAndReadsAVariableOfAnotherModule) {
  // With the caller first and last: declarations may come before or after definitions.
  for (const bool caller_first : {true, false}) {
    TestDevice device(std::string(kHeader) + ".visible .entry nothing() { ret; }");
    const std::string caller = std::string(kHeader) + kCaller, callee = std::string(kHeader) + kCallee;
    const std::array<std::string_view, 2> texts = {caller_first ? caller : callee, caller_first ? callee : caller};
    const ModuleHandle module = device->LoadModule(texts);
    const auto out = device.Make(std::vector<uint32_t>(2));
    LaunchSpec spec;
    spec.module = module;
    spec.kernel = "run";
    std::vector<uint8_t> parameters(8);
    std::memcpy(parameters.data(), &out.address, 8);
    spec.parameters = parameters;
    EXPECT_EQ(device->Launch(spec).error, LaunchError::kNone);
    EXPECT_EQ(device.Get(out), (std::vector<uint32_t>{5 * 7 + 1000, 7}));
    EXPECT_EQ(device->FindVariable(module, "factor")->bytes, 4u);
  }
}

TEST(PtxLinkerTest, NamesOfTheirOwnStayApart) {
  const ptx::Module module = Link({".global .u32 x = 1; .func f() { ret; } .visible .entry a() { call f; ret; }",
                                   ".global .u64 x = 2; .func f() { exit; } .visible .entry b() { call f; ret; }"});
  ASSERT_EQ(module.variables.size(), 2u);
  EXPECT_EQ(module.variables[0].name, "x");
  EXPECT_EQ(module.variables[1].name, "x#2");
  ASSERT_EQ(module.functions.size(), 4u);
  EXPECT_EQ(ptx::Symbol(module.functions[1].body.at(0).call->target).name, "f");
  EXPECT_EQ(ptx::Symbol(module.functions[3].body.at(0).call->target).name, "f#2");
}

TEST(PtxLinkerTest, AFunctionsOwnNamesHideThoseOfTheModule) {
  const ptx::Module module =
      Link({".global .u32 x;",
            ".global .u32 x; .visible .entry a() { .reg .b64 %rd1; .shared .u32 x; mov.u64 %rd1, x; ret; }"});
  EXPECT_EQ(ptx::Symbol(module.functions.at(0).body.at(0).operands.at(1)).name, "x");
}

TEST(PtxLinkerTest, WeakAndCommonDefinitionsGiveWay) {
  const std::string weak = ".weak .func f() { ret; }", strong = ".visible .func f() { exit; }";
  for (const auto& order : {std::vector{weak, strong}, std::vector{strong, weak}}) {
    EXPECT_EQ(Link(order).functions.at(0).body.at(0).opcode, "exit");
  }
  EXPECT_EQ(Link({weak, ".weak .func f() { exit; }"}).functions.at(0).body.at(0).opcode, "ret");
  EXPECT_EQ(Link({".common .global .b8 c[4];", ".common .global .b8 c[16];"}).variables.at(0).TotalBytes(), 16u);
  EXPECT_EQ(Link({".weak .global .u32 v = 1;", ".visible .global .u32 v = 2;"}).variables.at(0).bytes.at(0), 2);
}

TEST(PtxLinkerTest, DynamicSharedMemoryIsOneArray) {
  const ptx::Module module = Link({".extern .shared .align 4 .b8 s[];", ".extern .shared .align 16 .b8 s[];"});
  ASSERT_EQ(module.variables.size(), 1u);
  EXPECT_EQ(module.variables[0].alignment, 16u);
}

TEST(PtxLinkerTest, AnAliasOfAnotherModuleIsItsFunction) {
  const ptx::Module module = Link({".extern .func g(); .visible .entry a() { call g; ret; }",
                                   ".visible .func f() { ret; } .visible .func g(); .alias g, f;"});
  EXPECT_EQ(ptx::Symbol(module.functions.at(0).body.at(0).call->target).name, "f");
}

TEST(PtxLinkerTest, FilesAndPlacesMoveAlong) {
  const std::string body =
      " .visible .entry K() { .loc 1 10 1\n bar.sync 0; .loc 2 20 1, function_name f, inlined_at 1 11 3\n ret; }";
  std::string second = body;
  second.replace(second.find('K'), 1, "L");
  const ptx::Module module = Link({".file 1 \"a.cu\"\n.file 2 \"common.h\"\n.visible .entry K() { ret; }",
                                   ".file 1 \"common.h\"\n.file 2 \"b.cu\"\n" + second});
  const ptx::Function& f = module.functions.at(1);
  EXPECT_EQ(module.files.at(static_cast<size_t>(f.body.at(0).location.file)), "common.h");
  EXPECT_EQ(module.files.at(static_cast<size_t>(f.body.at(1).location.file)), "b.cu");
  EXPECT_EQ(module.files.at(static_cast<size_t>(f.inline_sites.at(0).location.file)), "common.h");
}

TEST(PtxLinkerTest, RefusesWhatDoesNotFitByName) {
  EXPECT_TRUE(
      Says(LinkError({".visible .func f() { ret; }", ".visible .func f() { ret; }"}), "\"f\" is defined in two"));
  EXPECT_TRUE(Says(LinkError({".visible .global .u32 v;", ".visible .global .u32 v;"}), "\"v\" is defined in two"));
  EXPECT_TRUE(
      Says(LinkError({".visible .global .u32 v;", ".extern .global .u64 v;"}), "\"v\" is declared with different"));
  EXPECT_TRUE(
      Says(LinkError({".visible .global .u32 v;", ".extern .const .u32 v;"}), "\"v\" is declared in two state"));
  EXPECT_TRUE(Says(LinkError({".visible .global .u32 v;", ".extern .func v();"}), "\"v\" is a variable"));
  EXPECT_TRUE(Says(LinkError({".visible .entry f() { ret; }", ".extern .func f();"}), "as a kernel and as a function"));
}

TEST(PtxLinkerTest, AFunctionThatNoModuleHasIsNamedWhenItIsCalled) {
  TestDevice device(std::string(kHeader) + ".extern .func gone();\n.visible .entry k() { call gone; ret; }");
  EXPECT_EQ(device.Launch("k", {{1}, {32}}).error, LaunchError::kUnsupported);
  EXPECT_TRUE(Says(Format(device->findings().findings().at(0)), "function gone is not in the module"));
}

TEST(PtxLinkerTest, APlaceKnowsTheCallsThatItWasInlinedBy) {
  const ptx::Function f = ptx::ParseBody(R"(
      .loc 1 10 3
      bar.sync 0;
      .loc 2 20 5, function_name g, inlined_at 1 10 3
      bar.sync 0;
      .loc 3 30 7, function_name h, inlined_at 2 20 5
      bar.sync 0;
      .loc 1 11 1
      ret;)");
  EXPECT_EQ(f.body.at(0).inline_site, -1);
  ASSERT_GE(f.body.at(2).inline_site, 0);
  const ptx::InlineSite& inner = f.inline_sites.at(static_cast<size_t>(f.body.at(2).inline_site));
  EXPECT_EQ(inner.location.line, 20);
  const ptx::InlineSite& outer = f.inline_sites.at(static_cast<size_t>(inner.caller));
  EXPECT_EQ(outer.location.line, 10);
  EXPECT_EQ(outer.caller, -1);
  EXPECT_EQ(f.body.at(3).inline_site, -1);

  Program program;
  program.inline_sites = f.inline_sites;
  InsnInfo info;
  info.location = f.body.at(2).location;
  info.inline_site = f.body.at(2).inline_site;
  program.info.push_back(info);
  const std::vector<ptx::SourceLocation> chain = program.InlineChain(0);
  ASSERT_EQ(chain.size(), 3u);
  EXPECT_EQ(chain[0].line, 30);
  EXPECT_EQ(chain[1].line, 20);
  EXPECT_EQ(chain[2].line, 10);
}

TEST(PtxLinkerTest, CountersAreOfTheLineThatCalledTheToolkit) {
  TestDevice device(std::string(kHeader) + R"(
      .file 1 "/home/student/scan.cu"
      .file 2 "/opt/cuda-13/include/cooperative_groups.h"
      .file 3 "/home/student/include/own.h"
      .visible .entry k() {
        .loc 1 10 3
        bar.sync 0;
        .loc 2 200 5, function_name g, inlined_at 1 11 3
        bar.sync 0;
        .loc 2 300 7, function_name h, inlined_at 2 200 5
        bar.sync 0;
        .loc 3 40 7, function_name own, inlined_at 1 12 5
        bar.sync 0;
        .loc 2 300 7, function_name h, inlined_at 3 41 5
        bar.sync 0;
        .loc 2 400 7
        bar.sync 0;
        ret;
      })");
  const LaunchRecord& record = device.Run("k", {{1}, {32}});
  std::vector<std::string> places;
  for (const LineCounters& line : record.lines) {
    if (line.counters.barriers == 0) continue;
    places.push_back(line.file.substr(line.file.rfind('/') + 1) + ":" + std::to_string(line.line) + " " +
                     std::to_string(line.counters.barriers));
  }
  // A student's own header is the student's; code that nothing was inlined into stays where it is.
  EXPECT_EQ(places, (std::vector<std::string>{"own.h:40 1", "own.h:41 1", "scan.cu:10 1", "scan.cu:11 2",
                                              "cooperative_groups.h:400 1"}));
}

}  // namespace ptx_linker_test
}  // namespace lockstep::vgpu
