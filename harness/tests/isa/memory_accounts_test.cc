// Every instruction that reads or writes memory costs something: where a submission's traffic is measured, a path that
// no counter sees would be free. The opcodes come from the table, so a new one fails here until it has an account.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/support/device_support.h"
#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {
namespace memory_accounts_test {

// An opcode's accesses, each run alone by one warp: %rd1 is the lane's word of global memory and %rd2 the array,
// %rd3 a lane's own word of shared memory and %r3 the same with 32 bits, %rd4 a constant of the lane's own.
const std::map<std::string, std::vector<std::string>>& Accesses() {
  static const std::map<std::string, std::vector<std::string>> all = {
      {"ld",
       {"ld.global.u32 %r1, [%rd1];", "ld.u32 %r1, [%rd1];", "ld.global.nc.u32 %r1, [%rd1];",
        "ld.volatile.global.u32 %r1, [%rd1];", "ld.const.u32 %r1, [%rd4];", "ld.const.v2.u32 {%r1, %r2}, [%rd5];",
        "ld.const.u8 %r1, [%rd4];", "ld.shared.u32 %r1, [%r3];", "ld.local.u32 %r1, [mine];"}},
      {"ldu", {"ldu.global.u32 %r1, [%rd1];"}},
      {"st",
       {"st.global.u32 [%rd1], %r1;", "st.u32 [%rd1], %r1;", "st.shared.u32 [%r3], %r1;", "st.local.u32 [mine], %r1;"}},
      {"atom",
       {"atom.global.add.u32 %r1, [%rd1], 0;", "atom.global.exch.b32 %r1, [%rd1], 1;",
        "atom.shared.add.u32 %r1, [%r3], 0;", "atom.global.cas.b32 %r1, [%rd1], 0, 0;"}},
      {"red", {"red.global.add.u32 [%rd1], 0;", "red.shared.add.u32 [%r3], 0;"}},
      {"cp.async", {"cp.async.ca.shared.global [%r3], [%rd1], 4;"}},
      {"ldmatrix.sync.aligned", {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [box];"}},
      {"stmatrix.sync.aligned", {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [box], {%r1};"}},
      {"wmma.load.a.sync.aligned",
       {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%rd2], %r4;"}},
      {"wmma.load.b.sync.aligned",
       {"wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, [%rd2], %r4;"}},
      {"wmma.load.c.sync.aligned",
       {"wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%f0, %f1, %f2, %f3}, [%rd2], %r4;"}},
      {"wmma.store.d.sync.aligned",
       {"wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%rd2], {%f0, %f1, %f2, %f3}, %r4;"}},
      {"cp.async.bulk",
       {"setp.eq.u32 %p1, %r5, 0; @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [box], [%rd2], 128, [bar];",
        "setp.eq.u32 %p1, %r5, 0; @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [box], 128;"}},
      {"cp.reduce.async.bulk",
       {"setp.eq.u32 %p1, %r5, 0; @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [box], 128;"}},
  };
  return all;
}

// Opcodes without an entry above, and why.
const std::map<std::string, std::string>& Elsewhere() {
  static const std::map<std::string, std::string> all = {
      {"cp.async.bulk.tensor",
       "rows of a tile are counted as bulk copies are: CountBulk in isa/memory/memory_tensor.cc"},
      {"cp.reduce.async.bulk.tensor", "likewise, by IssueBulkStore"},
      {"st.async",
       "in clusters only: each lane's values are counted as a bulk copy to shared memory is, by IssueBulkLoad"},
      {"tex", "by handle: submissions get no handles, as the worker has no request that makes one"},
      {"tex.level", "likewise"},
      {"tex.grad", "likewise"},
      {"tld4", "likewise"},
      {"suld.b", "likewise"},
      {"sust.b", "likewise"},
      {"cp.async.commit_group", "moves nothing"},
      {"cp.async.wait_group", "moves nothing"},
      {"cp.async.wait_all", "moves nothing"},
      {"cp.async.mbarrier.arrive", "moves nothing"},
      {"cp.async.bulk.commit_group", "moves nothing"},
      {"cp.async.bulk.wait_group", "moves nothing"},
  };
  return all;
}

std::string KernelOf(const std::string& access) {
  return R"(.version 8.6
.target sm_90
.address_size 64
.const .align 16 .b32 table[256];
.shared .align 128 .b8 box[4096];
.shared .align 8 .b64 bar;
.visible .entry k(.param .u64 memory) {
  .reg .b32 %r<8>; .reg .b32 %f<8>; .reg .b64 %rd<8>; .reg .pred %p<2>;
  .local .align 4 .b32 mine;
  ld.param.u64 %rd2, [memory];
  mov.u32 %r5, %tid.x;
  mov.u32 %r1, 1;
  mov.u32 %r4, 16;
  mul.wide.u32 %rd0, %r5, 4;
  add.s64 %rd1, %rd2, %rd0;
  mov.u32 %r3, box;
  mad.lo.u32 %r3, %r5, 4, %r3;
  mov.u64 %rd4, table;
  add.s64 %rd5, %rd4, %rd0;
  add.s64 %rd5, %rd5, %rd0;
  add.s64 %rd4, %rd4, %rd0;
  )" + access +
         "\n  ret;\n}\n";
}

uint64_t CostOf(const std::string& access) {
  TestDevice device(KernelOf(access));
  const Buffer<int> memory = device.Make(std::vector<int>(4096, 1));
  const LaunchRecord& record = device.Run("k", {{1}, {32}}, memory);
  const Counters& c = record.counters;
  return c.global_load_sectors + c.global_store_sectors + c.atomic_sectors + c.const_replays + c.shared_wavefronts +
         c.local_sectors;
}

TEST(MemoryAccountsTest, EveryAccessCostsSomething) {
  EXPECT_EQ(CostOf(""), 0u) << "the kernel without an access is not free";
  for (const auto& [opcode, accesses] : Accesses()) {
    for (const std::string& access : accesses) EXPECT_GT(CostOf(access), 0u) << access << " moves data for free";
  }
}

TEST(MemoryAccountsTest, EveryMemoryOpcodeHasAnAccount) {
  std::set<std::string> known;
  for (const Opcode* opcode : AllOpcodes()) {
    const std::string name(opcode->name);
    known.insert(name);
    if (!opcode->refusal.empty() || name.starts_with("mbarrier.")) continue;  // an mbarrier is a word of shared memory
    const bool moves = (!opcode->Has(kFence) && opcode->Has(kAsynchronous)) ||
                       opcode->Has(kLoads | kStores | kAtomic) || opcode->insn_class == InsnClass::kLoad ||
                       opcode->insn_class == InsnClass::kStore || opcode->insn_class == InsnClass::kAtomic;
    if (!moves) continue;
    EXPECT_TRUE(Accesses().contains(name) != Elsewhere().contains(name))
        << name << " reads or writes memory: add an access of it to this file, and see that it is counted";
  }
  for (const auto& [name, accesses] : Accesses()) EXPECT_TRUE(known.contains(name)) << name;
  for (const auto& [name, why] : Elsewhere()) EXPECT_TRUE(known.contains(name)) << name;
}

// Lanes that read the same constant share a pass; each other address takes one more.
TEST(MemoryAccountsTest, ConstantsCostAPassForEachAddress) {
  EXPECT_EQ(CostOf("ld.const.u32 %r1, [table];"), 0u);
  EXPECT_EQ(CostOf("ld.const.u32 %r1, [%rd4];"), 31u);
  EXPECT_EQ(CostOf("and.b64 %rd4, %rd4, -8; ld.const.u32 %r1, [%rd4];"), 15u);
}

TEST(MemoryAccountsTest, ConstantMemoryIsItsOwn) {
  TestDevice device(KernelOf("ld.const.u32 %r1, [%rd1];"));
  const Buffer<int> memory = device.Make(std::vector<int>(64, 1), "d_in");
  EXPECT_NE(device.Launch("k", {{1}, {32}}, memory).error, LaunchError::kNone);
  ASSERT_EQ(device->findings().findings().size(), 1u);
  const Finding& finding = device->findings().findings().front();
  EXPECT_EQ(finding.kind, FindingKind::kInvalidAddress);
  EXPECT_NE(Format(finding).find("load from this buffer with ld.global"), std::string::npos) << Format(finding);
}

TEST(MemoryAccountsTest, ConstantMemoryHas64Kilobytes) {
  const auto module = [](int bytes) {
    return ".version 8.0\n.target sm_80\n.address_size 64\n.const .align 4 .b8 a[1024];\n.const .align 4 .b8 b[" +
           std::to_string(bytes - 1024) + "];\n";
  };
  EXPECT_NO_THROW(TestDevice device(module(64 << 10)));
  try {
    TestDevice device(module((64 << 10) + 4));
    FAIL() << "more constants than the hardware has were taken";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("too much global constant data (65540 bytes, 65536 max)"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace memory_accounts_test
}  // namespace lockstep::vgpu
