// Loads and stores of every shape: values against a plain loop, counters against memory/coalescing.h.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "tests/support/device_support.h"
#include "vgpu/memory/coalescing.h"

namespace lockstep::vgpu {
namespace engine_memory_test {

struct Width {
  const char* type;  // of the access
  const char* reg;   // of the registers
  int bytes;
  int elements;
  const char* vector;
};
constexpr Width kWidths[] = {
    {"u8", ".b16", 1, 1, ""},     {"u16", ".b16", 2, 1, ""},    {"u32", ".b32", 4, 1, ""},
    {"u64", ".b64", 8, 1, ""},    {"u32", ".b32", 4, 2, ".v2"}, {"u32", ".b32", 4, 4, ".v4"},
    {"u64", ".b64", 8, 2, ".v2"}, {"u8", ".b32", 1, 4, ".v4"},  {"u16", ".b16", 2, 2, ".v2"},
    {"b8", ".b64", 1, 1, ""},
};

std::string Elements(const Width& w) {
  std::string text;
  for (int k = 0; k < w.elements; ++k) text += (k == 0 ? "%v" : ", %v") + std::to_string(k);
  return w.elements == 1 ? text : "{" + text + "}";
}

// k(offsets, mask, memory, seen): each lane loads at memory + offsets[lane] into seen[lane]; lanes outside the mask do
// nothing. In shared memory the kernel copies `memory` there first. s(...) stores instead.
std::string Program(const Width& w, bool shared, bool generic, bool stores) {
  std::string space = generic ? "" : shared ? ".shared" : ".global";
  const std::string access_type = std::string(w.vector) + "." + w.type;
  const int stride = w.bytes * w.elements;
  std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 box[4096];
.visible .entry k(.param .u64 offsets, .param .u32 lanes, .param .u64 memory, .param .u64 seen) {
  .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<4>; .reg .b32 %b<3>;
  .reg )" + std::string(w.reg) +
                    R"( %v<4>;
  ld.param.u64 %rd1, [offsets];
  ld.param.u32 %r1, [lanes];
  ld.param.u64 %rd2, [memory];
  ld.param.u64 %rd3, [seen];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd4, %r2, 4;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.u32 %r3, [%rd5];
  shr.u32 %r4, %r1, %r2;
  and.b32 %r5, %r4, 1;
  setp.eq.u32 %p1, %r5, 0;
  mul.wide.u32 %rd6, %r2, )" +
                    std::to_string(stride) + R"(;
  add.s64 %rd7, %rd3, %rd6;
)";
  if (shared) {
    ptx += R"(
  mov.u32 %r6, 0;
COPY:
  shl.b32 %r7, %r6, 7;
  mul.wide.u32 %rd9, %r2, 4;
  cvt.u64.u32 %rd10, %r7;
  add.s64 %rd9, %rd9, %rd10;
  add.s64 %rd11, %rd2, %rd9;
  ld.global.u32 %r8, [%rd11];
  cvt.u32.u64 %r9, %rd9;
  mov.u32 %r10, box;
  add.u32 %r9, %r9, %r10;
  st.shared.u32 [%r9], %r8;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, 32;
  @%p2 bra COPY;
  bar.sync 0;
)";
    if (generic) {
      ptx +=
          "  mov.u64 %rd12, box;\n  cvta.shared.u64 %rd12, %rd12;\n  cvt.u64.u32 %rd13, %r3;\n"
          "  add.s64 %rd12, %rd12, %rd13;\n";
    } else {
      ptx += "  mov.u32 %b1, box;\n  add.u32 %b2, %b1, %r3;\n";
    }
  } else {
    ptx += "  cvt.u64.u32 %rd13, %r3;\n  add.s64 %rd12, %rd2, %rd13;\n";
  }
  const std::string at = shared && !generic ? "[%b2]" : "[%rd12]";
  ptx += "  @%p1 bra DONE;\n.loc 1 1 1\n";
  if (stores) {
    ptx += ".loc 1 3 1\n  ld.global" + access_type + " " + Elements(w) + ", [%rd7];\n.loc 1 2 1\n";
    ptx += "  st" + space + access_type + " " + at + ", " + Elements(w) + ";\n";
  } else {
    ptx += ".loc 1 2 1\n  ld" + space + access_type + " " + Elements(w) + ", " + at + ";\n.loc 1 3 1\n";
    ptx += "  st.global" + access_type + " [%rd7], " + Elements(w) + ";\n";
  }
  ptx += "DONE:\n.loc 1 4 1\n";
  if (shared && stores) {  // copies the box back, for the test to read
    ptx += R"(
  bar.sync 0;
  mov.u32 %r6, 0;
BACK:
  shl.b32 %r7, %r6, 7;
  mul.wide.u32 %rd9, %r2, 4;
  cvt.u64.u32 %rd10, %r7;
  add.s64 %rd9, %rd9, %rd10;
  add.s64 %rd11, %rd2, %rd9;
  cvt.u32.u64 %r9, %rd9;
  mov.u32 %r10, box;
  add.u32 %r9, %r9, %r10;
  ld.shared.u32 %r8, [%r9];
  st.global.u32 [%rd11], %r8;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, 32;
  @%p2 bra BACK;
)";
  }
  return ptx + "  ret;\n}\n.file 1 \"k.cu\"\n";
}

// Element offsets by lane, in units of the access.
std::vector<uint32_t> Shape(int kind, int bytes, std::mt19937& random) {
  const uint32_t unit = static_cast<uint32_t>(bytes), limit = 4096 / unit;
  std::vector<uint32_t> offsets(kWarpSize);
  const uint32_t base = random() % (limit / 2), other = random() % (limit / 2), stride = random() % 5;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    uint32_t k = 0;
    switch (kind) {
      case 0:
        k = base + lane;
        break;  // unit stride
      case 1:
        k = base;
        break;  // uniform
      case 2:
        k = base + lane * stride;
        break;  // constant stride
      case 3:
        k = (lane < 16 ? base : other) + lane % 16;
        break;  // unit by halves
      case 4:
        k = lane < 16 ? base : other;
        break;  // uniform by halves
      case 5:
        k = lane < 16 ? base : other + lane % 16;
        break;  // one of each
      case 6:
        k = base + (31 - lane);
        break;  // backward
      case 7:
        k = random() % limit;
        break;  // anything
      default:
        k = base + random() % 8;
        break;  // crowded
    }
    offsets[lane] = k % limit * unit;
  }
  return offsets;
}

void CheckAccess(const Width& w, bool shared, bool generic, bool stores) {
  std::mt19937 random(static_cast<unsigned>(w.bytes * 100 + w.elements));
  const int bytes = w.bytes * w.elements;
  TestDevice device(Program(w, shared, generic, stores));
  std::vector<uint8_t> memory(4096);
  for (auto& b : memory) b = static_cast<uint8_t>(random());
  const auto d_memory = device.Make(memory);
  std::vector<uint8_t> seen(static_cast<size_t>(32 * bytes));
  for (auto& b : seen) b = static_cast<uint8_t>(random());
  for (int round = 0; round < 60; ++round) {
    const std::vector<uint32_t> offsets = Shape(round % 9, bytes, random);
    const uint32_t mask = round < 27 ? kFullMask : round < 40 ? (1u << (random() % 31 + 1)) - 1 : random() | 1;
    const auto d_offsets = device.Make(offsets);
    const auto d_seen = device.Make(seen);
    ASSERT_TRUE(device->Write(d_memory.address, memory.data(), 4096));
    const LaunchRecord& record = device.Run("k", {{1}, {32}}, d_offsets, mask, d_memory, d_seen);
    ASSERT_FALSE(::testing::Test::HasFailure()) << w.type << w.vector << " round " << round;

    std::vector<uint8_t> expected_seen = seen, expected_memory = memory;
    uint64_t address[kWarpSize];
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
      address[lane] = (shared ? 0 : d_memory.address) + offsets[lane];
      if (((mask >> lane) & 1) == 0) continue;
      uint8_t* from = stores ? &seen[lane * static_cast<size_t>(bytes)] : &memory[offsets[lane]];
      uint8_t* to = stores ? &expected_memory[offsets[lane]] : &expected_seen[lane * static_cast<size_t>(bytes)];
      std::memcpy(to, from, static_cast<size_t>(bytes));
    }
    EXPECT_EQ(device.Get(d_seen), expected_seen) << w.type << w.vector << " round " << round;
    if (stores) {
      EXPECT_EQ(device.Get(d_memory), expected_memory) << w.type << w.vector << " round " << round;
    }

    Counters line;
    for (const LineCounters& l : record.lines) {
      if (l.line == 2) line = l.counters;
    }
    if (shared) {
      const Wavefronts wavefronts =
          CountWavefronts(address, mask, bytes, stores ? AccessKind::kStore : AccessKind::kLoad);
      EXPECT_EQ(line.shared_wavefronts, wavefronts.actual) << w.type << w.vector << " round " << round;
      EXPECT_EQ(line.shared_wavefronts_ideal, wavefronts.ideal) << w.type << w.vector << " round " << round;
      EXPECT_EQ(stores ? line.shared_store_requests : line.shared_load_requests, 1u);
    } else {
      const uint32_t sectors = CountSectors(address, mask, bytes);
      EXPECT_EQ(stores ? line.global_store_sectors : line.global_load_sectors, sectors)
          << w.type << w.vector << " round " << round;
      EXPECT_EQ(stores ? line.global_store_sectors_ideal : line.global_load_sectors_ideal,
                IdealSectors(mask, bytes, sectors));
      EXPECT_EQ(stores ? line.global_store_bytes : line.global_load_bytes,
                static_cast<uint64_t>(std::popcount(mask) * bytes));
      EXPECT_EQ(line.strict_coalescing_bytes, StrictCoalescingBytes(address, mask, bytes))
          << w.type << w.vector << " round " << round;
    }
    device->Free(d_offsets.address);
    device->Free(d_seen.address);
  }
}

TEST(EngineMemoryTest, LoadsFromGlobalMemory) {
  for (const Width& w : kWidths) CheckAccess(w, false, false, false);
}
TEST(EngineMemoryTest, StoresToGlobalMemory) {
  for (const Width& w : kWidths) CheckAccess(w, false, false, true);
}
TEST(EngineMemoryTest, LoadsFromSharedMemory) {
  for (const Width& w : kWidths) CheckAccess(w, true, false, false);
}
TEST(EngineMemoryTest, StoresToSharedMemory) {
  for (const Width& w : kWidths) CheckAccess(w, true, false, true);
}
TEST(EngineMemoryTest, GenericAddressesCountAsTheirSpace) {
  for (const Width& w : kWidths) {
    CheckAccess(w, true, true, false);
    CheckAccess(w, false, true, false);
    CheckAccess(w, false, true, true);
  }
}

}  // namespace engine_memory_test
}  // namespace lockstep::vgpu
