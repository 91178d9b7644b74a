// Malicious PTX: it may be refused or stopped, but it can't reach the host's memory, hang it, or use it up. Each test
// states what must happen to a text, and limits time and memory of the whole process. The sanitizers' build runs the
// same tests, and finds bad accesses within the process.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "tests/support/device_support.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {
namespace hostile_ptx_test {

constexpr char kHead[] = ".version 8.5\n.target sm_90\n.address_size 64\n";
constexpr uint64_t kBudget = 300'000;
constexpr double kMostSeconds = 200;  // of CPU time; a quarter of that is usual on a slow machine
constexpr long kMostKilobytes = 4L << 20;

std::string Repeat(std::string_view text, size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (size_t k = 0; k < times; ++k) all += text;
  return all;
}

// Numbered copies: "@" in the text stands for the number.
std::string Numbered(std::string_view text, size_t times) {
  std::string all;
  for (size_t k = 0; k < times; ++k) {
    for (const char c : text) {
      if (c == '@') {
        all += std::to_string(k);
      } else {
        all += c;
      }
    }
  }
  return all;
}

std::string Kernel(const std::string& body, const std::string& before = "") {
  return kHead + before +
         ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<4>; .reg .f32 %f<4>;\n"
         "ld.param.u64 %rd1, [p];\n" +
         body + "\nret;\n}\n";
}

bool IsOfAnAddress(LaunchError error) {  // kIllegalInstruction: far outside of shared memory, as on an H100
  return error == LaunchError::kIllegalAddress || error == LaunchError::kMisalignedAddress ||
         error == LaunchError::kIllegalInstruction;
}

class HostilePtxTest : public testing::Test {
 protected:
  void TearDown() override {
    rusage usage;
    ASSERT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
    EXPECT_LT(usage.ru_maxrss, kMostKilobytes);
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    EXPECT_LT(seconds(usage.ru_utime) + seconds(usage.ru_stime), kMostSeconds);
  }

  struct Launched {
    LaunchError error = LaunchError::kNone;
    std::string message;  // of the parser, or the findings
    size_t printed = 0;
    bool parsed = false;
    uint64_t launched = 0;
  };

  struct How {
    Dim3 grid{1, 1, 1}, block{32, 1, 1};
    Dim3 cluster{0, 0, 0};
    bool cooperative = false;
    uint64_t parameter = 0;
    uint64_t budget = kBudget;
  };

  // Loads the text and launches its kernel k with every checker on.
  static Launched Run(const std::string& text, const How& how) {
    DeviceOptions options;
    options.checkers = CheckerSet::All();
    options.instruction_budget = how.budget;
    options.memory_bytes = uint64_t{256} << 20;
    Launched launched;
    options.print = [&](std::string_view printed) { launched.printed += printed.size(); };
    Device device(*FindProfile("h200"), options);
    try {
      LaunchSpec spec;
      spec.module = device.LoadModule(text);
      launched.parsed = true;
      spec.kernel = "k";
      const KernelInfo* kernel = device.FindKernel(spec.module, spec.kernel);
      if (kernel == nullptr) return launched;
      std::vector<uint8_t> parameters(kernel->parameter_bytes);
      const uint64_t buffer = device.Allocate(4096, "buffer");
      const uint64_t value = how.parameter != 0 ? how.parameter : buffer;
      if (parameters.size() >= sizeof value) std::memcpy(parameters.data(), &value, sizeof value);
      spec.parameters = parameters;
      spec.grid = how.grid;
      spec.block = how.block;
      spec.cluster = how.cluster;
      spec.cooperative = how.cooperative;
      launched.error = device.Launch(spec).error;
      launched.launched = device.launches().size();
      for (const Finding& finding : device.findings().findings()) launched.message += Format(finding);
    } catch (const ptx::PtxError& error) {
      launched.message = error.what();
    }
    return launched;
  }
  static Launched Run(const std::string& text) { return Run(text, How()); }

  static LaunchError ErrorOf(const std::string& text) { return Run(text).error; }
  static LaunchError ErrorOf(const std::string& text, const How& how) { return Run(text, how).error; }
  static void ExpectRefused(const std::string& text) {
    const Launched launched = Run(text);
    EXPECT_FALSE(launched.parsed);
    EXPECT_NE(launched.message, "");
    EXPECT_LT(launched.message.size(), 2000u);
  }
};

// --- the host's memory

TEST_F(HostilePtxTest, NoInstructionReachesTheHostsMemory) {
  std::vector<uint64_t> secret(64, 0x5ec4e7);
  How how;
  how.parameter = reinterpret_cast<uint64_t>(secret.data());
  for (const char* body : {
           "ld.global.u64 %rd2, [%rd1];",
           "ld.u64 %rd2, [%rd1];",
           "ld.volatile.u64 %rd2, [%rd1];",
           "ld.global.nc.v2.u64 {%rd2, %rd3}, [%rd1];",
           "ld.relaxed.gpu.u64 %rd2, [%rd1];",
           "ldu.global.u64 %rd2, [%rd1];",
           "ld.const.u64 %rd2, [%rd1];",
           "ld.local.u64 %rd2, [%rd1];",
           "ld.shared.u64 %rd2, [%rd1];",
           "st.global.u64 [%rd1], %rd1;",
           "st.u64 [%rd1], %rd1;",
           "st.shared.u64 [%rd1], %rd1;",
           "st.local.u64 [%rd1], %rd1;",
           "st.release.sys.u64 [%rd1], %rd1;",
           "atom.global.add.u64 %rd2, [%rd1], 1;",
           "atom.cas.b64 %rd2, [%rd1], 0, 1;",
           ".reg .b128 %q; mov.b128 %q, {%rd1, %rd1}; atom.exch.b128 %q, [%rd1], %q;",
           "red.add.u64 [%rd1], 1;",
           ".shared .align 16 .b8 s[64]; mov.u32 %r1, s; cp.async.ca.shared.global [%r1], [%rd1], 16; "
           "cp.async.wait_all;",
           "mbarrier.init.b64 [%rd1], 1;",
           "prefetch.global.L2 [%rd1]; ld.u8 %r1, [%rd1+3];",
           "cvta.to.shared.u64 %rd2, %rd1; st.shared.u32 [%rd2], 1;",
           "cvta.shared.u64 %rd2, %rd1; st.u32 [%rd2], 1;",
           "cvta.local.u64 %rd2, %rd1; st.u32 [%rd2], 1;",
           "mov.b64 %rd2, 0; st.u64 [%rd2], 1;",
           "mov.b64 %rd2, -8; st.u64 [%rd2], 1;",
           "mov.b64 %rd2, 0x7fffffffffffffff; ld.v4.u32 {%r1, %r2, %r3, %r4}, [%rd2];",
       }) {
    const LaunchError error = ErrorOf(Kernel(body), how);
    EXPECT_TRUE(IsOfAnAddress(error)) << body << " " << static_cast<int>(error);
  }
  EXPECT_EQ(secret, std::vector<uint64_t>(64, 0x5ec4e7));
}

TEST_F(HostilePtxTest, NoOffsetLeavesSharedLocalOrParameterSpace) {
  const std::string declared = ".shared .align 16 .b8 s[64]; .local .align 16 .b8 l[64];\n";
  for (const char* body : {
           "ld.shared.u32 %r1, [s+64];",
           "st.shared.u32 [s+-4], 1;",
           "st.shared.u32 [s+2147483644], 1;",
           "st.shared.v4.u32 [s+56], {%r1, %r1, %r1, %r1};",
           "mov.u32 %r1, 0xfffffff0; st.shared.u32 [%r1], 1;",
           "mov.u32 %r1, 0xfffffff0; st.shared.u32 [%r1+16], 1; st.shared.u32 [%r1], 1;",
           "atom.shared.add.u32 %r1, [s+4096], 1;",
           "ld.local.u32 %r1, [l+64];",
           "st.local.u32 [l+-4], 1;",
           "st.local.u32 [l+1073741824], 1;",
           "mov.u64 %rd2, 0xfffffffffffffff0; st.local.u32 [%rd2], 1;",
           "ld.param.u32 %r1, [p+4096];",
           "ld.param.u32 %r1, [p+-64];",
           "ld.param.u32 %r1, [p+1099511627776];",
       }) {
    const LaunchError error = ErrorOf(Kernel(declared + body));
    EXPECT_TRUE(IsOfAnAddress(error)) << body << " " << static_cast<int>(error);
  }
}

TEST_F(HostilePtxTest, TheRuntimesFunctionsReadAndFreeNoHostMemory) {
  const std::string secret = "a secret of the host";
  How how;
  how.parameter = reinterpret_cast<uint64_t>(secret.data());
  const std::string externs =
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".extern .func free(.param .b64 a);\n";
  const std::string print =
      "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd1; st.param.b64 [b], %rd1;\n"
      "call.uni (r), vprintf, (a, b); }";
  EXPECT_EQ(Run(Kernel(print, externs), how).printed, 0u);
  // A format string in the device's memory whose %s refers to a string of the host.
  const std::string string_of_host =
      ".local .align 8 .b8 l[8]; st.local.u64 [l], %rd1; mov.u64 %rd3, l; cvta.local.u64 %rd3, %rd3;\n"
      "mov.u64 %rd2, format; cvta.global.u64 %rd2, %rd2;\n"
      "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd2; st.param.b64 [b], %rd3;\n"
      "call.uni (r), vprintf, (a, b); }";
  how.block = {1, 1, 1};
  EXPECT_EQ(Run(Kernel(string_of_host, externs + ".global .align 1 .b8 format[4] = {60, 37, 115, 0};\n"), how).printed,
            1u);
  EXPECT_EQ(ErrorOf(Kernel("{ .param .b64 a; st.param.b64 [a], %rd1; call.uni free, (a); }", externs), how),
            LaunchError::kIllegalAddress);
}

TEST_F(HostilePtxTest, ACallToAnyAddressIsStopped) {
  for (const char* target : {"mov.u64 %rd2, %rd1;", "mov.u64 %rd2, 0;", "mov.u64 %rd2, f; add.u64 %rd2, %rd2, 8;"}) {
    EXPECT_EQ(
        ErrorOf(Kernel(std::string(target) + " P: .callprototype _ (); call %rd2, (), P;", ".func f() { ret; }\n")),
        LaunchError::kIllegalAddress)
        << target;
  }
}

TEST_F(HostilePtxTest, ABranchTableTakesNoIndexBeyondItsEnd) {
  for (const char* index : {"2", "0xffffffff", "0x80000000"}) {
    const LaunchError error = ErrorOf(Kernel("mov.u32 %r1, " + std::string(index) +
                                             ";\nT: .branchtargets A, B;\nbrx.idx %r1, T;\nA: mov.u32 %r2, 1;\nB:"));
    EXPECT_NE(error, LaunchError::kNone) << index;
  }
}

// --- sizes

TEST_F(HostilePtxTest, DeclarationsOfAnySizeAreRefusedOrStopped) {
  for (const char* declaration : {
           ".global .b8 x[4611686018427387904];",
           ".global .b8 x[18446744073709551615];",
           ".global .b64 x[4294967296][4294967296];",
           ".global .b8 x[1099511627776];",
           ".const .b8 x[1099511627776];",
           ".global .align 4294967296 .b8 x[4];",
           ".global .align 3 .b8 x[4];",
       }) {
    ExpectRefused(kHead + std::string(declaration));
  }
  for (const char* declaration :
       {".shared .b8 x[1073741824];", ".local .b8 x[1073741824];", ".param .b8 x[1073741824];",
        ".shared .b8 x[300000];", ".local .b8 x[524288]; .local .b8 y[524288];"}) {
    const Launched launched = Run(Kernel(std::string(declaration) + " mov.u64 %rd2, x; mov.u64 %rd3, y;"));
    EXPECT_TRUE(!launched.parsed || launched.error != LaunchError::kNone) << declaration;
  }
  const Launched parameter = Run(kHead + std::string(".visible .entry k(.param .b8 p[1073741824]) { ret; }"));
  EXPECT_TRUE(!parameter.parsed || parameter.error != LaunchError::kNone);
}

TEST_F(HostilePtxTest, NothingIsNoTrouble) {
  EXPECT_FALSE(Run("").parsed);
  EXPECT_FALSE(Run(std::string(1000, '\0')).parsed);
  EXPECT_TRUE(Run(kHead).parsed);
  EXPECT_EQ(ErrorOf(kHead + std::string(".visible .entry k() {}")), LaunchError::kNone);
  EXPECT_EQ(ErrorOf(kHead + std::string(".visible .entry k() { L: M: }")), LaunchError::kNone);
  EXPECT_EQ(ErrorOf(kHead + std::string(".visible .entry k() { T: .branchtargets L; L: }")), LaunchError::kNone);
  for (const char* body :
       {".shared .b8 s[0]; st.shared.u8 [s], 1;", ".local .b8 l[0]; st.local.u8 [l], 1;", "mov.b64 %rd2, {};",
        "ld.global.v2.u32 {}, [%rd1];", "brx.idx %r1, T; T: .branchtargets ;", ".reg .b32 %q<0>;"}) {
    const Launched launched = Run(Kernel(body));
    EXPECT_TRUE(!launched.parsed || launched.error != LaunchError::kNone) << body;
  }
}

TEST_F(HostilePtxTest, RegistersWithoutNumber) {
  // Registers that are declared and not used do no harm, however many there are.
  EXPECT_EQ(ErrorOf(Kernel(Numbered(".reg .b32 %q@_<4194304>;\n", 1000) + "mov.u32 %q7_4194303, 1;")),
            LaunchError::kNone);
  ExpectRefused(Kernel(".reg .b32 %q<4294967296>;"));
  ExpectRefused(Kernel(".reg .b32 %q<18446744073709551615>;"));
  // All these registers are alive at once.
  EXPECT_EQ(ErrorOf(Kernel(".reg .b64 %q<40000>;\n" + Numbered("ld.global.u64 %q@, [%rd1];\n", 40000) +
                           Numbered("st.global.u64 [%rd1], %q@;\n", 40000))),
            LaunchError::kUnsupported);
}

TEST_F(HostilePtxTest, OperandsWithoutEnd) {
  for (const std::string& body :
       {"ld.global.v4.u32 {" + Repeat("%r1, ", 100000) + "%r1}, [%rd1];",
        "mov.b64 %rd2, {" + Repeat("%r1, ", 100000) + "%r1};", "add.s32 %r1" + Repeat(", %r2", 100000) + ";",
        "add" + Repeat(".s32", 100000) + " %r1, %r2, %r3;",
        "call (" + Repeat("%r1, ", 100000) + "%r1), f, (" + Repeat("%r1, ", 100000) + "%r1);"}) {
    const Launched launched = Run(Kernel(body, ".func f() { ret; }\n"));
    EXPECT_TRUE(!launched.parsed || launched.error == LaunchError::kUnsupported) << body.substr(0, 60);
    EXPECT_LT(launched.message.size(), 2000u) << body.substr(0, 60);
  }
}

TEST_F(HostilePtxTest, NestingWithoutEnd) {
  constexpr size_t kDeep = 1000000;
  ExpectRefused(Kernel(Repeat("{", kDeep)));
  ExpectRefused(Kernel("mov.u32 %r1, " + Repeat("(", kDeep) + ";"));
  ExpectRefused(Kernel("mov.u32 %r1, " + Repeat("-", kDeep) + "1;"));
  ExpectRefused(Kernel("mov.u32 %r1, " + Repeat("1?", kDeep) + ";"));
  ExpectRefused(Kernel("mov.b64 %rd2, " + Repeat("{", kDeep) + ";"));
  ExpectRefused(Kernel("ld.u32 %r1, " + Repeat("[", kDeep) + ";"));
  ExpectRefused(kHead + (".global .b32 x[4] = " + Repeat("{", kDeep)));
  ExpectRefused(kHead + (".global .b64 x = " + Repeat("generic(", kDeep)));
  ExpectRefused(kHead + (".global .b32 x" + Repeat("[1]", kDeep) + ";"));
  ExpectRefused(kHead + Repeat(".func f(", kDeep));
}

TEST_F(HostilePtxTest, WordsWithoutEnd) {
  const std::string name(5 << 20, 'a');
  for (const std::string& body : {"mov.u32 %r1, " + name + ";", name + " %r1, %r2;", "add.s32." + name + " %r1, %r2;",
                                  "call " + name + ";", "mov.u32 %r1, 0x" + std::string(5 << 20, '1') + ";"}) {
    const Launched launched = Run(Kernel(body));
    EXPECT_TRUE(!launched.parsed || launched.error == LaunchError::kUnsupported) << body.substr(0, 60);
    EXPECT_LT(launched.message.size(), 2000u) << body.substr(0, 60);
  }
  ExpectRefused(kHead + (".file 1 \"" + name));
  ExpectRefused(kHead + ("/* " + name));
  ExpectRefused(kHead + (".section .debug { " + name));
  ExpectRefused(kHead + (".file 99999999999 \"x\"\n" + Kernel("")));
}

// --- time

TEST_F(HostilePtxTest, LoopsEndWithTheBudget) {
  How how;
  how.block = {64, 1, 1};
  for (const char* body : {
           "L: bra L;",
           "L: bra.uni L;",
           "mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra B; A: bra A; B: bra B;",
           "L: bar.sync 0; bra L;",
           "L: bar.warp.sync -1; bra L;",
           "L: nanosleep.u32 4000000000; bra L;",
           "L: ld.volatile.global.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, 77; @%p1 bra L;",
           "L: atom.global.cas.b32 %r1, [%rd1], 1, 2; setp.ne.u32 %p1, %r1, 77; @%p1 bra L;",
           "L: mov.u64 %rd2, %clock64; setp.ne.u64 %p1, %rd2, 0; @%p1 bra L;",
           "L: mov.u64 %rd2, %globaltimer; setp.ne.u64 %p1, %rd2, 0; @%p1 bra L;",
           "L: call f; bra L;",
           "L: vote.sync.any.pred %p1, %p1, -1; bra L;",
           "T: .branchtargets L; L: mov.u32 %r1, 0; brx.idx %r1, T;",
       }) {
    EXPECT_EQ(ErrorOf(Kernel(body, ".func f() { ret; }\n"), how), LaunchError::kTimeout) << body;
  }
}

TEST_F(HostilePtxTest, WhatWaitsForNobodyIsStopped) {
  How how;
  how.block = {64, 1, 1};
  how.budget = 0;  // unlimited: something else stops these
  const std::string half = "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 40; ";
  EXPECT_EQ(ErrorOf(Kernel(half + "@%p1 bra L; bar.sync 1, 64; L: bar.sync 2, 64;"), how), LaunchError::kTimeout);
  EXPECT_EQ(ErrorOf(Kernel("bar.sync 3, 96;"), how), LaunchError::kTimeout);
}

TEST_F(HostilePtxTest, RecursionEndsWithTheStack) {
  EXPECT_EQ(ErrorOf(Kernel("call f;", ".func f() { call f; ret; }\n")), LaunchError::kStackOverflow);
  EXPECT_EQ(ErrorOf(Kernel("call f;", ".func g();\n.func f() { call g; ret; }\n.func g() { call f; ret; }\n")),
            LaunchError::kStackOverflow);
  EXPECT_EQ(
      ErrorOf(Kernel("mov.u64 %rd2, f; P: .callprototype _ (); call %rd2, (), P;",
                     ".func f() { .reg .b64 %q; mov.u64 %q, f; P: .callprototype _ (); call %q, (), P; ret; }\n")),
      LaunchError::kStackOverflow);
  How block;
  block.block = {1024, 1, 1};
  // Wide frames: by parameters, and by registers.
  EXPECT_EQ(ErrorOf(Kernel("call f;", ".func f() { .param .b8 a[524000]; call f; ret; }\n"), block),
            LaunchError::kStackOverflow);
  EXPECT_EQ(ErrorOf(Kernel("call f;", ".func f() { .reg .b64 %q<100>;\n" + Numbered("mov.b64 %q@, @;\n", 100) +
                                          "call f;\n" + Numbered("st.global.b64 [%q@], %q@;\n", 100) + "ret; }\n")),
            LaunchError::kStackOverflow);
  // A chain of functions, each with a wide frame, and no recursion.
  std::string chain = ".func f0() { ret; }\n";
  for (int k = 1; k < 300; ++k) {
    const std::string n = std::to_string(k);
    chain += ".func f" + n + "() { .param .b8 a[100000]; call f" + std::to_string(k - 1) + "; ret; }\n";
  }
  EXPECT_EQ(ErrorOf(Kernel("call f299;", chain), block), LaunchError::kStackOverflow);
  EXPECT_FALSE(Run(Kernel("call a;", ".alias a, b; .alias b, a;\n")).parsed);
}

TEST_F(HostilePtxTest, GridsOfAnySizeAreRefusedOrEndWithTheBudget) {
  const std::string empty = Kernel("");
  How how;
  for (const Dim3& grid : {Dim3{0, 1, 1}, Dim3{0xffffffff, 1, 1}, Dim3{0x7fffffff, 65535, 65535}, Dim3{1, 65536, 1}}) {
    how.grid = grid;
    EXPECT_EQ(ErrorOf(empty, how), LaunchError::kInvalidConfiguration);
  }
  how.grid = {0x7fffffff, 1, 1};
  EXPECT_EQ(ErrorOf(empty, how), LaunchError::kTimeout);
  how.cooperative = true;
  EXPECT_EQ(ErrorOf(empty, how), LaunchError::kCooperativeTooLarge);
  how = {};
  for (const Dim3& block : {Dim3{0, 1, 1}, Dim3{1025, 1, 1}, Dim3{0xffffffff, 0xffffffff, 1}, Dim3{32, 32, 2}}) {
    how.block = block;
    EXPECT_EQ(ErrorOf(empty, how), LaunchError::kInvalidConfiguration);
  }
  how = {};
  for (const Dim3& cluster : {Dim3{0xffffffff, 0xffffffff, 0xffffffff}, Dim3{65536, 65536, 1}, Dim3{2, 1, 1}}) {
    how.cluster = cluster;
    EXPECT_EQ(ErrorOf(empty, how), LaunchError::kInvalidClusterSize);
  }
}

TEST_F(HostilePtxTest, ManyLabelsAndTangledFlowAreReadInTime) {
  constexpr size_t kMany = 100000;
  EXPECT_EQ(ErrorOf(Kernel(Numbered("L@:\n", kMany))), LaunchError::kNone);
  EXPECT_EQ(ErrorOf(Kernel(Numbered("bra L@; L@:\n", 20000))), LaunchError::kNone);
  std::string targets = "T: .branchtargets L0";
  for (size_t k = 1; k < kMany; ++k) targets += ", L" + std::to_string(k);
  EXPECT_EQ(ErrorOf(Kernel("mov.u32 %r1, 99999;\n" + targets + ";\nbrx.idx %r1, T;\n" + Numbered("L@:\n", kMany))),
            LaunchError::kNone);
  // Each block of code may be followed by each of a few others, forward and back: loops with many entries.
  std::string tangled = "setp.ne.u32 %p1, %r1, %r1;\n";
  constexpr size_t kBlocks = 3000;
  for (size_t k = 0; k < kBlocks; ++k) {
    tangled += "L" + std::to_string(k) + ":\n@%p1 bra L" + std::to_string(k * 7919 % kBlocks) + ";\n@%p1 bra L" +
               std::to_string(k * 104729 % kBlocks) + ";\n";
  }
  EXPECT_EQ(ErrorOf(Kernel("mov.u32 %r1, 0;\n" + tangled)), LaunchError::kNone);
  // Loops within loops.
  std::string nested, ends;
  for (size_t k = 0; k < 2000; ++k) {
    nested += "A" + std::to_string(k) + ":\n";
    ends = "@%p1 bra A" + std::to_string(k) + ";\n" + ends;
  }
  const std::string never = "mov.u32 %r1, 0; setp.ne.u32 %p1, %r1, %r1;\n";
  EXPECT_EQ(ErrorOf(Kernel(never + nested + ends)), LaunchError::kNone);
  EXPECT_EQ(ErrorOf(Kernel(never + "Z:\n" + Repeat("@%p1 bra Z;\n", 60'000))), LaunchError::kNone);
}

TEST_F(HostilePtxTest, ManyRegistersAliveOverManyBlocksAreAllottedInTime) {
  std::string body = ".reg .b32 %q<3000>;\n" + Numbered("mov.u32 %q@, @;\n", 3000);
  body += "setp.ne.u32 %p1, %q1, 1;\n" + Numbered("@%p1 bra L@; add.u32 %q@, %q@, 1; L@:\n", 3000);
  body += "@%p1 bra L0;\n";
  body += Numbered("st.global.u32 [%rd1], %q@;\n", 3000);
  EXPECT_EQ(ErrorOf(Kernel(body)), LaunchError::kNone);
}

// --- memory

// Each text would take minutes if the time of analyses grew with the square of the text's length, as it once did.
TEST_F(HostilePtxTest, AnalysisHasABound) {  // in turn
  const std::string load = "ld.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 7;\n";
  const std::string texts[] = {
      // A value that many stores pass on.
      Kernel("ld.volatile.global.u32 %r2, [%rd1];\n" + Repeat("st.shared.u32 [%r1], %r2;\n", 40'000),
             ".shared .b32 s[64];\n"),
      // Compare-and-swaps that may each test the guess of any load.
      Kernel(Repeat(load, 12'000) + Repeat("atom.global.cas.b32 %r4, [%rd1], %r2, %r4;\n", 12'000)),
      // Selects whose operands have many writers.
      Kernel(load + Repeat("selp.b32 %r4, %r5, %r4, %p1; add.u32 %r5, %r4, 1;\n", 40'000) +
             "st.global.u32 [%rd1], %r4;"),
      // Branches by one table of many targets.
      Kernel("T: .branchtargets " + Numbered("L@, ", 3000) + "E;\n" + Repeat("brx.idx %r1, T;\n", 30'000) +
             Numbered("L@: add.u32 %r1, %r1, 1;\n", 3000) + "E:"),
  };
  for (const std::string& text : texts) {
    const Launched launched = Run(text);
    EXPECT_EQ(launched.error, LaunchError::kUnsupported) << text.substr(0, 300);
    EXPECT_NE(launched.message.find("too large to be analysed"), std::string::npos) << launched.message;
  }
}

TEST_F(HostilePtxTest, OutputHasABound) {
  const std::string text =
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".global .align 1 .b8 format[9] = {37, 52, 48, 57, 54, 100, 10, 0};\n";  // %4096d
  const std::string body =
      ".local .align 8 .b8 l[8]; mov.u64 %rd3, l; cvta.local.u64 %rd3, %rd3; st.local.u64 [l], %rd1;\n"
      "mov.u64 %rd2, format; cvta.global.u64 %rd2, %rd2;\n"
      "L: { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd2; st.param.b64 [b], %rd3;\n"
      "call.uni (r), vprintf, (a, b); }\n";
  How how;
  how.budget = 200'000;
  const Launched loop = Run(Kernel(body + "bra L;", text), how);
  EXPECT_EQ(loop.error, LaunchError::kTimeout);
  EXPECT_LT(loop.printed, 2u << 20);
  // Many blocks that all print and then wait for each other.
  how.grid = {4000, 1, 1};
  how.budget = 2'000'000;
  const Launched many = Run(Kernel("mov.u32 %r5, 0;\n" + body +
                                       "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 10; @%p1 bra L;\n"
                                       "M: ld.volatile.global.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, 77; @%p1 bra M;",
                                   text),
                            how);
  EXPECT_EQ(many.error, LaunchError::kTimeout);
}

TEST_F(HostilePtxTest, TheKernelsHeapHasABound) {
  const std::string text = ".extern .func (.param .b64 r) malloc(.param .b64 n);\n";
  for (const char* bytes : {"1", "1000000", "67108864", "0xffffffffffffffff"}) {
    EXPECT_EQ(ErrorOf(Kernel("L: { .param .b64 n; .param .b64 r; mov.u64 %rd2, " + std::string(bytes) +
                                 "; st.param.b64 [n], %rd2; call.uni (r), malloc, (n); ld.param.b64 %rd3, [r]; }\n"
                                 "bra L;",
                             text),
                      {.budget = 20'000}),
              LaunchError::kTimeout)
        << bytes;
  }
}

TEST_F(HostilePtxTest, BlocksThatMustAllBeThereHaveABound) {
  const std::string wide =
      Kernel(".local .align 4 .b8 l[524000]; st.local.u32 [l], 1; barrier.cluster.arrive; barrier.cluster.wait;");
  How how;
  how.block = {1024, 1, 1};
  how.grid = how.cluster = {16, 1, 1};
  EXPECT_EQ(ErrorOf(wide, how), LaunchError::kTooManyResources);
  how.cluster = {0, 0, 0};
  how.grid = {132, 1, 1};
  how.cooperative = true;
  EXPECT_EQ(ErrorOf(wide, how), LaunchError::kCooperativeTooLarge);
}

TEST_F(HostilePtxTest, AccessesWithoutSynchronisationAreForgottenInTime) {
  How how;
  how.block = {1024, 1, 1};
  how.grid = {4, 1, 1};
  how.budget = 4'000'000;
  // In the race checker's log each round's store counts as another instruction.
  EXPECT_EQ(ErrorOf(Kernel(".shared .align 4 .b8 s[4096]; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; mov.u32 %r2, s;\n"
                           "add.u32 %r1, %r1, %r2; L: st.shared.u32 [%r1], %r2; bar.warp.sync -1; bra L;"),
                    how),
            LaunchError::kTimeout);
}

}  // namespace hostile_ptx_test
}  // namespace lockstep::vgpu
