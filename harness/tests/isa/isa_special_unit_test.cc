// The special function unit against an H100: recorded sums over 131,072 operands of each approximating instruction, and,
// with LOCKSTEP_ALL_OPERANDS=1, over all 2^32. A sum has a term for each operand, which depends on the operand and on
// all bits of the result.
//
// isa_special_unit.h100.txt: a line for each form, with both sums.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/isa/isa_test_support.h"

namespace lockstep::vgpu {
namespace isa_special_unit_test {

constexpr uint32_t Mixed(uint32_t h) {
  h *= 0x85ebca6bu;
  h ^= h >> 15;
  h *= 0xc2b2ae35u;
  return h ^ h >> 13;
}

constexpr uint32_t kGolden = 0x9e3779b1;

// The operands with number i: a 32-bit operand is i itself, in f64 it is the upper half.
struct Operands {
  uint64_t a, b;
};
Operands OperandsOf(const std::string& form, uint32_t i) {
  const uint32_t first = Mixed(i ^ 0x1234567u), second = Mixed(i + 0x9876543u);
  if (form.starts_with("div")) return {first, second};
  if (form == "rsqrt.approx.f64") return {uint64_t{first} << 32 | second, 0};
  return {form.ends_with("f64") ? uint64_t{i} << 32 : i, 0};
}

uint32_t Word(const std::string& form, uint64_t result) {
  if (!form.ends_with("f64")) return static_cast<uint32_t>(result);
  const auto low = static_cast<uint32_t>(result);
  return static_cast<uint32_t>(result >> 32) ^ (form.find("ftz") == std::string::npos ? low * kGolden : low);
}

// The sum over the operands with numbers stride * k. Rows are filled directly, as this runs 10^11 times.
uint64_t Sum(const std::string& form, uint64_t count, uint32_t stride) {
  LaneMachine machine(form);
  EXPECT_TRUE(machine.supported()) << form;
  if (!machine.supported()) return 0;
  const bool wide = form.ends_with("f64"), two = form.starts_with("div");
  const auto row = [&](int k) { return machine.warp().base[0] + machine.insn().row[k]; };
  uint64_t sum = 0;
  for (uint64_t at = 0; at < count; at += kWarpSize) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const Operands operands = OperandsOf(form, static_cast<uint32_t>(at + static_cast<uint64_t>(lane)) * stride);
      std::memcpy(row(1) + lane * (wide ? 8 : 4), &operands.a, wide ? 8 : 4);
      if (two) std::memcpy(row(2) + lane * 4, &operands.b, 4);
    }
    machine.Run();
    for (int lane = 0; lane < kWarpSize; ++lane) {
      uint64_t result = 0;
      std::memcpy(&result, row(0) + lane * (wide ? 8 : 4), wide ? 8 : 4);
      const uint32_t i = static_cast<uint32_t>(at + static_cast<uint64_t>(lane)) * stride;
      sum += Mixed(Word(form, result) ^ i * kGolden);
    }
  }
  return sum;
}

struct Recorded {
  std::string form;
  uint64_t sampled, all;
};
std::vector<Recorded> ReadRecorded() {
  std::ifstream file(LOCKSTEP_SOURCE_DIR "/harness/tests/isa/isa_special_unit.h100.txt");
  std::vector<Recorded> rows;
  Recorded row;
  while (file >> row.form >> std::hex >> row.sampled >> row.all) rows.push_back(row);
  return rows;
}

TEST(SpecialUnitTest, GivesAnH100sResults) {
  const std::vector<Recorded> rows = ReadRecorded();
  EXPECT_EQ(rows.size(), 26u);
  for (const Recorded& row : rows) EXPECT_EQ(Sum(row.form, 1 << 17, 32771), row.sampled) << row.form;
}

TEST(SpecialUnitTest, GivesAnH100sResultsForAllOperands) {
  if (std::getenv("LOCKSTEP_ALL_OPERANDS") == nullptr) GTEST_SKIP() << "takes over an hour: LOCKSTEP_ALL_OPERANDS=1";
  for (const Recorded& row : ReadRecorded()) EXPECT_EQ(Sum(row.form, uint64_t{1} << 32, 1), row.all) << row.form;
}

// The checksum differs if one result differs in its last bit.
TEST(SpecialUnitTest, OneBitChangesASum) {
  const uint32_t i = 12345, result = 0x3f8ca0b1;
  EXPECT_NE(Mixed(result ^ i * kGolden), Mixed((result ^ 1) ^ i * kGolden));
  EXPECT_NE(Sum("rcp.approx.ftz.f32", 1 << 10, 32771), Sum("rcp.rn.ftz.f32", 1 << 10, 32771));
}

}  // namespace isa_special_unit_test
}  // namespace lockstep::vgpu
