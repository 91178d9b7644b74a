// Asynchronous copies, mbarriers and clusters, on small PTX kernels.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace isa_async_test {

// A kernel k(in, out): %rd1 and %rd2 hold the pointers, %r1 the thread's number, %rd3 and %rd4 its own 4-byte elements.
std::string Kernel(const std::string& body, const std::string& before = "") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + before +
         R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .b128 %q<4>; .reg .pred %p<8>; .reg .f32 %f<16>;
  .shared .align 16 .b8 s[4096];
  .shared .align 8 .b64 bar;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd5, %r1, 4;
  add.u64 %rd3, %rd1, %rd5;
  add.u64 %rd4, %rd2, %rd5;
  mov.u32 %r2, s;
  shl.b32 %r3, %r1, 2;
  add.u32 %r3, %r3, %r2;
)" + body +
         "\n ret;\n}\n";
}

std::vector<uint32_t> Numbers(size_t n) {
  std::vector<uint32_t> values(n);
  std::iota(values.begin(), values.end(), 100u);
  return values;
}

struct Outcome {
  LaunchError error;
  std::vector<uint32_t> out;
  std::string findings;
  Counters counters;
};

Outcome RunKernel(const std::string& ptx, uint32_t threads = 32, Dim3 grid = {1}, Dim3 cluster = {0, 0, 0}) {
  DeviceOptions options;
  options.checkers = CheckerSet::All();
  options.instruction_budget = 100000;
  TestDevice device(ptx, options);
  const auto in = device.Make(Numbers(1024)), out = device.Make(std::vector<uint32_t>(1024));
  std::vector<uint8_t> parameters(16);
  std::memcpy(&parameters[0], &in.address, 8);
  std::memcpy(&parameters[8], &out.address, 8);
  LaunchSpec spec;
  spec.module = device.module();
  spec.kernel = "k";
  spec.grid = grid;
  spec.block = {threads};
  spec.cluster = cluster;
  spec.parameters = parameters;
  Outcome outcome;
  outcome.error = device->Launch(spec).error;
  if (outcome.error == LaunchError::kNone) outcome.out = device.Get(out);
  for (const Finding& finding : device->findings().findings()) outcome.findings += Format(finding) + "\n";
  for (const LaunchRecord& record : device->launches()) outcome.counters += record.counters;
  return outcome;
}

void ExpectClean(const Outcome& outcome) {
  EXPECT_EQ(outcome.error, LaunchError::kNone);
  EXPECT_EQ(outcome.findings, "");
}

TEST(IsaAsyncTest, CopiesArriveWhenTheyAreWaitedFor) {
  for (const char* wait : {"cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"}) {
    const Outcome outcome = RunKernel(Kernel(std::string("cp.async.ca.shared.global [%r3], [%rd3], 4;") + wait +
                                             "ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd4], %r5;"));
    ExpectClean(outcome);
    ASSERT_FALSE(outcome.out.empty());
    EXPECT_EQ(outcome.out[31], 131u);
  }
}

TEST(IsaAsyncTest, ACopyThatNobodyWaitsForHasNotHappened) {
  const Outcome outcome = RunKernel(Kernel(R"(
      mov.u32 %r4, 7; st.shared.u32 [%r3], %r4;
      cp.async.ca.shared.global [%r3], [%rd3], 4;
      cp.async.commit_group;
      cp.async.ca.shared.global [%r3+1024], [%rd3+4], 4;
      cp.async.commit_group;
      cp.async.wait_group 2;
      ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd4], %r5;
      cp.async.wait_group 1;
      ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd4+1024], %r5;
      cp.async.wait_group 0;
      ld.shared.u32 %r5, [%r3+1024]; st.global.u32 [%rd4+2048], %r5;)"));
  ASSERT_EQ(outcome.error, LaunchError::kNone) << outcome.findings;
  EXPECT_EQ(outcome.out[3], 7u);
  EXPECT_EQ(outcome.out[256 + 3], 103u);
  EXPECT_EQ(outcome.out[512 + 3], 104u);
}

TEST(IsaAsyncTest, ForgettingToWaitIsFound) {
  const Outcome outcome = RunKernel(Kernel(R"(cp.async.ca.shared.global [%r3], [%rd3], 4;
      ld.shared.u32 %r5, [%r3]; st.global.u32 [%rd4], %r5;)"));
  EXPECT_NE(outcome.findings.find("UNINIT"), std::string::npos) << outcome.findings;
}

TEST(IsaAsyncTest, WhatTheSourceDoesNotFillIsZero) {
  const Outcome outcome = RunKernel(Kernel(R"(
      shl.b32 %r4, %r1, 4; add.u32 %r4, %r4, %r2; mul.wide.u32 %rd6, %r1, 16; add.u64 %rd7, %rd1, %rd6;
      add.u64 %rd8, %rd2, %rd6;
      mov.u32 %r6, 6;
      cp.async.cg.shared.global.L2::128B [%r4], [%rd7], 16, %r6;
      cp.async.wait_all;
      ld.shared.v4.u32 {%r8, %r9, %r10, %r11}, [%r4];
      st.global.v4.u32 [%rd8], {%r8, %r9, %r10, %r11};)"));
  ExpectClean(outcome);
  ASSERT_EQ(outcome.error, LaunchError::kNone);
  EXPECT_EQ(outcome.out[4], 104u);
  EXPECT_EQ(outcome.out[5], 105u);  // only its lower half was read; the upper one is zero anyway
  EXPECT_EQ(outcome.out[6], 0u);
}

TEST(IsaAsyncTest, FaultsOfACopyAreFound) {
  Outcome outcome = RunKernel(Kernel("cp.async.ca.shared.global [%r3], [%rd3+1048576], 4;"));
  EXPECT_EQ(outcome.error, LaunchError::kIllegalAddress);
  outcome = RunKernel(Kernel("cp.async.ca.shared.global [%r3+8192], [%rd3], 4;"));
  EXPECT_EQ(outcome.error, LaunchError::kIllegalAddress);
  outcome = RunKernel(Kernel("cp.async.ca.shared.global [%r3], [%rd3], 8;"));
  EXPECT_EQ(outcome.error, LaunchError::kMisalignedAddress);
  outcome = RunKernel(Kernel("cp.async.ca.shared.global [%r3], [%rd3], 12;"));
  EXPECT_EQ(outcome.error, LaunchError::kUnsupported);
}

// Two warps: what each thread writes, a thread of the other warp reads after the barrier.
constexpr const char* kInit = R"(
      setp.eq.u32 %p1, %r1, 0;
      @%p1 mbarrier.init.shared.b64 [bar], 64;
      bar.sync 0;
      add.u32 %r6, %r1, 1000; st.shared.u32 [%r3], %r6;)";
constexpr const char* kReadOther = R"(
      xor.b32 %r7, %r1, 32; shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r2;
      ld.shared.u32 %r5, [%r7]; st.global.u32 [%rd4], %r5;)";

void ExpectExchange(const std::string& barrier) {
  const Outcome outcome = RunKernel(Kernel(kInit + barrier + kReadOther), 64);
  ExpectClean(outcome);
  ASSERT_EQ(outcome.error, LaunchError::kNone) << barrier;
  EXPECT_EQ(outcome.out[0], 1032u);
  EXPECT_EQ(outcome.out[63], 1031u);
  // The two warps' bar.sync and their two arrivals: an arrival at a barrier in shared memory counts like bar.sync.
  // Waits are not counted.
  EXPECT_EQ(outcome.counters.barriers, 4u) << barrier;
}

TEST(IsaAsyncTest, AnMbarrierOrdersTheThreadsThatMeetThere) {
  ExpectExchange(R"(mbarrier.arrive.shared.b64 %rd6, [bar];
    wait: mbarrier.test_wait.shared.b64 %p2, [bar], %rd6; @!%p2 bra wait;)");
  ExpectExchange(R"(mbarrier.arrive.release.cta.shared::cta.b64 _, [bar];
    wait: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [bar], 0; @!%p2 bra wait;)");
  ExpectExchange(R"(cvta.shared.u64 %rd7, %rd8; mov.u64 %rd9, bar; cvta.shared.u64 %rd9, %rd9;
    mbarrier.arrive.b64 %rd6, [%rd9];
    wait: mbarrier.try_wait.b64 %p2, [%rd9], %rd6, 100; @!%p2 bra wait;)");
  // Half of the threads arrive for two each.
  ExpectExchange(R"(and.b32 %r8, %r1, 1; setp.eq.u32 %p3, %r8, 0; bar.warp.sync 0xffffffff;
    @%p3 mbarrier.arrive.shared.b64 %rd6, [bar], 2;
    wait: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra wait;)");
}

TEST(IsaAsyncTest, WithoutTheWaitIsARace) {
  const Outcome outcome =
      RunKernel(Kernel(std::string(kInit) + "mbarrier.arrive.shared.b64 %rd6, [bar];" + kReadOther), 64);
  EXPECT_NE(outcome.findings.find("RACE"), std::string::npos) << outcome.findings;
}

TEST(IsaAsyncTest, PhasesTurnAndDroppedThreadsAreNotExpected) {
  const Outcome outcome = RunKernel(Kernel(R"(
      setp.eq.u32 %p1, %r1, 0;
      @!%p1 bra end;
      mbarrier.init.shared.b64 [bar], 3;
      mbarrier.arrive.shared.b64 %rd6, [bar];
      mbarrier.pending_count.b64 %r4, %rd6; st.global.u32 [%rd2], %r4;
      mbarrier.arrive_drop.shared.b64 %rd6, [bar];
      mbarrier.arrive.shared.b64 %rd7, [bar];
      mbarrier.test_wait.shared.b64 %p2, [bar], %rd7; selp.u32 %r4, 1, 0, %p2; st.global.u32 [%rd2+4], %r4;
      mbarrier.arrive.shared.b64 %rd8, [bar];
      mbarrier.pending_count.b64 %r4, %rd8; st.global.u32 [%rd2+8], %r4;
      mbarrier.test_wait.shared.b64 %p2, [bar], %rd8; selp.u32 %r4, 1, 0, %p2; st.global.u32 [%rd2+12], %r4;
      mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 64;
      mbarrier.arrive.shared.b64 %rd8, [bar];
      mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1; selp.u32 %r4, 1, 0, %p2; st.global.u32 [%rd2+16], %r4;
      mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 64;
      mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1; selp.u32 %r4, 1, 0, %p2; st.global.u32 [%rd2+20], %r4;
      mbarrier.inval.shared.b64 [bar];
      end:)"));
  ExpectClean(outcome);
  ASSERT_EQ(outcome.error, LaunchError::kNone);
  EXPECT_EQ(std::vector(outcome.out.begin(), outcome.out.begin() + 6), (std::vector<uint32_t>{3, 1, 2, 0, 0, 1}));
}

TEST(IsaAsyncTest, MisuseOfAnMbarrierStopsTheKernel) {
  EXPECT_EQ(RunKernel(Kernel("mbarrier.init.shared.b64 [bar], 0;"), 1).error, LaunchError::kTrap);
  EXPECT_EQ(RunKernel(Kernel("mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.shared.b64 %rd6, [bar], 2;"), 1).error,
            LaunchError::kTrap);
  EXPECT_EQ(RunKernel(Kernel("mbarrier.init.shared.b64 [bar+4], 1;"), 1).error, LaunchError::kMisalignedAddress);
  EXPECT_EQ(RunKernel(Kernel("mbarrier.init.shared.b64 [bar+8192], 1;"), 1).error, LaunchError::kIllegalAddress);
  EXPECT_EQ(RunKernel(Kernel("mbarrier.arrive.noComplete.shared.b32 %r4, [bar], 2;"), 1).error,
            LaunchError::kUnsupported);
}

TEST(IsaAsyncTest, CopiesArriveAtAnMbarrier) {
  const Outcome outcome = RunKernel(Kernel(R"(
      setp.eq.u32 %p1, %r1, 0;
      @%p1 mbarrier.init.shared.b64 [bar], 64;
      bar.sync 0;
      cp.async.ca.shared.global [%r3], [%rd3], 4;
      cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
      wait: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra wait;)" +
                                           std::string(kReadOther)),
                                    64);
  ExpectClean(outcome);
  ASSERT_EQ(outcome.error, LaunchError::kNone);
  EXPECT_EQ(outcome.out[0], 132u);
}

TEST(IsaAsyncTest, BlocksOfAClusterReachEachOthersMemory) {
  // Each block's thread t reads the word of thread t in the next block of its cluster.
  const std::string body = R"(
      mov.u32 %r10, %cluster_ctarank; mov.u32 %r11, %cluster_nctarank; mov.u32 %r12, %ctaid.x;
      shl.b32 %r13, %r12, 8; or.b32 %r13, %r13, %r1; st.shared.u32 [%r3], %r13;
      barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
      add.u32 %r14, %r10, 1; rem.u32 %r14, %r14, %r11;
      mapa.shared::cluster.u32 %r15, %r3, %r14;
      ld.shared::cluster.u32 %r16, [%r15];
      getctarank.shared::cluster.u32 %r17, %r15; shl.b32 %r17, %r17, 16; or.b32 %r16, %r16, %r17;
      barrier.cluster.arrive; barrier.cluster.wait;
      shl.b32 %r18, %r12, 5; add.u32 %r18, %r18, %r1; mul.wide.u32 %rd6, %r18, 4; add.u64 %rd7, %rd2, %rd6;
      st.global.u32 [%rd7], %r16;)";
  const Outcome outcome = RunKernel(Kernel(body), 32, {8}, {4, 1, 1});
  ExpectClean(outcome);
  ASSERT_EQ(outcome.error, LaunchError::kNone);
  for (uint32_t block = 0; block < 8; ++block) {
    const uint32_t rank = (block % 4 + 1) % 4, from = block / 4 * 4 + rank;
    for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(outcome.out[block * 32 + t], rank << 16 | from << 8 | t);
  }
}

TEST(IsaAsyncTest, GenericAddressesAndAtomicsReachTheCluster) {
  const std::string body = R"(
      mov.u32 %r4, 0; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r2], %r4;
      barrier.cluster.arrive; barrier.cluster.wait;
      mov.u64 %rd10, s; cvta.shared.u64 %rd10, %rd10;
      mapa.u64 %rd11, %rd10, 0;
      isspacep.shared::cluster %p2, %rd11; isspacep.shared::cta %p3, %rd11; mov.u32 %r20, %cluster_ctarank;
      atom.add.u32 %r5, [%rd11], 1;
      mapa.shared::cluster.u32 %r6, %r2, 0;
      red.shared::cluster.add.u32 [%r6], 1;
      barrier.cluster.arrive; barrier.cluster.wait;
      ld.u32 %r7, [%rd11];
      selp.u32 %r8, 1, 0, %p2; selp.u32 %r9, 2, 0, %p3; or.b32 %r8, %r8, %r9;
      barrier.cluster.arrive; barrier.cluster.wait;
      mov.u32 %r12, %ctaid.x; mul.wide.u32 %rd6, %r12, 8; add.u64 %rd7, %rd2, %rd6;
      @%p1 st.global.v2.u32 [%rd7], {%r7, %r8};)";
  const Outcome outcome = RunKernel(Kernel(body), 32, {2}, {2, 1, 1});
  EXPECT_EQ(outcome.error, LaunchError::kNone) << outcome.findings;
  ASSERT_EQ(outcome.error, LaunchError::kNone);
  EXPECT_EQ(std::vector(outcome.out.begin(), outcome.out.begin() + 4), (std::vector<uint32_t>{128, 3, 128, 1}));
}

TEST(IsaAsyncTest, AClusterThatDoesNotExistIsFound) {
  const std::string far = "mapa.shared::cluster.u32 %r5, %r2, 3; st.shared::cluster.u32 [%r5], %r1;";
  EXPECT_EQ(RunKernel(Kernel(far), 32, {2}, {2, 1, 1}).error, LaunchError::kIllegalAddress);
  EXPECT_EQ(RunKernel(Kernel(far), 32, {2}).error, LaunchError::kIllegalAddress);
}

TEST(IsaAsyncTest, AMisfitOfClusterAndGridHasItsOwnError) {
  const auto error = [](Dim3 grid, Dim3 cluster, const std::string& attributes = "") {
    std::string ptx = Kernel("");
    ptx.insert(ptx.find("{", ptx.find(".entry")), attributes);
    return RunKernel(ptx, 32, grid, cluster).error;
  };
  for (const Dim3& cluster : {Dim3{2, 1, 1}, Dim3{1, 2, 1}, Dim3{32, 1, 1}, Dim3{3, 0, 0}, Dim3{0, 1, 1}}) {
    EXPECT_EQ(error({3}, cluster), LaunchError::kInvalidClusterSize);
  }
  EXPECT_EQ(error({32}, {32, 1, 1}), LaunchError::kInvalidClusterSize);
  EXPECT_EQ(error({4}, {0, 0, 0}, ".reqnctapercluster 2\n"), LaunchError::kNone);
  EXPECT_EQ(error({4}, {2, 1, 1}, ".reqnctapercluster 2\n"), LaunchError::kNone);
  EXPECT_EQ(error({4}, {1, 1, 1}, ".reqnctapercluster 2\n"), LaunchError::kInvalidClusterSize);
  EXPECT_EQ(error({4}, {4, 1, 1}, ".reqnctapercluster 2\n"), LaunchError::kInvalidClusterSize);
  EXPECT_EQ(error({3}, {0, 0, 0}, ".reqnctapercluster 2\n"), LaunchError::kInvalidClusterSize);
}

TEST(IsaAsyncTest, AKernelMayAskForItsCluster) {
  std::string ptx = Kernel(R"(mov.u32 %r4, %cluster_nctaid.x; mov.pred %p1, %is_explicit_cluster;
      selp.u32 %r5, 1, 0, %p1; st.global.v2.u32 [%rd2], {%r4, %r5};)");
  ptx.replace(ptx.find(" {"), 2, " .explicitcluster .reqnctapercluster 2, 1, 1 {");
  const Outcome outcome = RunKernel(ptx, 1, {4});
  ASSERT_EQ(outcome.error, LaunchError::kNone) << outcome.findings;
  EXPECT_EQ(outcome.out[0], 2u);
  EXPECT_EQ(outcome.out[1], 1u);
}

TEST(IsaAsyncTest, ABlockAloneIsAClusterOfOne) {
  const Outcome outcome = RunKernel(Kernel(std::string("add.u32 %r6, %r1, 1000; st.shared.u32 [%r3], %r6;") +
                                           "barrier.cluster.arrive; barrier.cluster.wait;" + kReadOther),
                                    64, {2});
  EXPECT_EQ(outcome.error, LaunchError::kNone) << outcome.findings;
  ASSERT_FALSE(outcome.out.empty());
  EXPECT_EQ(outcome.out[0], 1032u);
}

}  // namespace isa_async_test
}  // namespace lockstep::vgpu
