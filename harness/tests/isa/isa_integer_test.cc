// Integer arithmetic that the random kernels of cosim_test.cc leave untested: quotients next to integers, divisors that
// all lanes share, every truth table, every chain of carries.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "tests/isa/isa_test_support.h"

namespace lockstep::vgpu {
namespace isa_integer_test {

// The 32-bit quotient is computed in f64: values for which a rounding error would show.
TEST(IntegerTest, QuotientsNextToIntegersAreExact) {
  LaneMachine div("div.u32");
  LaneMachine rem("rem.u32");
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    uint32_t a[kWarpSize], b[kWarpSize];
    for (int lane = 0; lane < kWarpSize; ++lane) {
      b[lane] = std::max<uint32_t>(1, static_cast<uint32_t>(random()) >> (random() % 32));
      const uint64_t multiple = uint64_t{b[lane]} * ((uint64_t{1} << 32) / b[lane] - random() % 3);
      a[lane] = static_cast<uint32_t>(std::min<uint64_t>(multiple, 0xffffffff)) - (lane & 1);
      div.SetSource(0, lane, a[lane]);
      div.SetSource(1, lane, b[lane]);
      rem.SetSource(0, lane, a[lane]);
      rem.SetSource(1, lane, b[lane]);
    }
    div.Run();
    rem.Run();
    for (int lane = 0; lane < kWarpSize; ++lane) {
      ASSERT_EQ(div.Destination(0, lane), a[lane] / b[lane]) << a[lane] << " / " << b[lane];
      ASSERT_EQ(rem.Destination(0, lane), a[lane] % b[lane]) << a[lane] << " % " << b[lane];
    }
  }
}

TEST(IntegerTest, UniformDivisorsOfEveryKind) {
  for (const uint64_t divisor :
       {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{64}, uint64_t{3}, uint64_t{0x80000000}}) {
    LaneMachine div("div.u64");
    LaneMachine rem("rem.u32");
    for (int lane = 0; lane < kWarpSize; ++lane) {
      div.SetSource(0, lane, 0xfffffffffffffff0u + static_cast<unsigned>(lane));
      div.SetSource(1, lane, divisor);
      rem.SetSource(0, lane, 0xfffffff0u + static_cast<unsigned>(lane) * 7);
      rem.SetSource(1, lane, divisor);
    }
    div.Run();
    rem.Run();
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const uint64_t a = 0xfffffffffffffff0u + static_cast<unsigned>(lane);
      EXPECT_EQ(div.Destination(0, lane), divisor == 0 ? ~uint64_t{0} : a / divisor);
      const uint32_t c = 0xfffffff0u + static_cast<unsigned>(lane) * 7;
      EXPECT_EQ(rem.Destination(0, lane), divisor == 0 ? ~uint32_t{0} : c % static_cast<uint32_t>(divisor));
    }
  }
}

TEST(IntegerTest, Lop3DoesEveryTruthTable) {
  for (uint32_t table = 0; table < 256; ++table) {
    LaneMachine machine("lop3.b32");
    std::mt19937 random(table);
    uint32_t in[3][kWarpSize];
    for (int lane = 0; lane < kWarpSize; ++lane) {
      for (size_t k = 0; k < 3; ++k) machine.SetSource(k, lane, in[k][lane] = random());
      machine.SetSource(3, lane, table);
    }
    machine.Run();
    for (int lane = 0; lane < kWarpSize; ++lane) {
      uint32_t expected = 0;
      for (int bit = 0; bit < 32; ++bit) {
        const auto at = [&](int k) { return (in[k][lane] >> bit) & 1; };
        expected |= ((table >> (4 * at(0) + 2 * at(1) + at(2))) & 1) << bit;
      }
      ASSERT_EQ(machine.Destination(0, lane), expected) << table;
    }
  }
}

// A chain of any of these instructions, in any order, against one adder of twice the width: a subtraction adds the
// complement, its carry is that of a + ~b + 1, and no instruction inverts the carry.
template <typename T, typename Wide>
void CheckRandomCarryChains(const std::string& type, uint64_t seed) {
  struct Step {
    std::string name;
    bool subtract, multiply, high, in, out;
  };
  std::vector<Step> steps;
  for (const bool in : {false, true}) {
    for (const bool out : {false, true}) {
      if (!in && !out) continue;
      const std::string carry = std::string(in ? "c" : "") + (out ? ".cc" : "");
      steps.push_back({"add" + carry + type, false, false, false, in, out});
      steps.push_back({"sub" + carry + type, true, false, false, in, out});
      for (const bool high : {false, true}) {
        const std::string name = std::string(in ? "madc" : "mad") + (high ? ".hi" : ".lo") + (out ? ".cc" : "");
        steps.push_back({name + type, false, true, high, in, out});
      }
    }
  }
  constexpr int kBits = 8 * sizeof(T);
  std::mt19937_64 random(seed);
  const auto value = [&] {
    const uint64_t kind = random() % 4;
    return static_cast<T>(kind == 0 ? 0 : kind == 1 ? ~uint64_t{0} : random() >> (random() % kBits));
  };
  LaneMask carry = 0;
  std::vector<int> met(steps.size() * steps.size());
  size_t last = 0;
  for (int k = 0; k < 6000; ++k) {
    const size_t which = random() % steps.size();
    const Step& step = steps[which];
    ++met[last * steps.size() + which];
    last = which;
    LaneMachine machine(step.name);
    ASSERT_TRUE(machine.supported()) << step.name;
    machine.warp().carry = carry;
    std::array<std::array<T, 3>, kWarpSize> sources;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      for (size_t s = 0; s < machine.sources(); ++s) {
        sources[lane][s] = value();
        machine.SetSource(s, lane, sources[lane][s]);
      }
    }
    machine.Run();
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const auto& [a, b, c] = sources[lane];
      T left = a, right = b;
      if (step.multiply) {
        const bool is_signed = type[1] == 's';
        const Wide product = is_signed ? static_cast<Wide>(static_cast<std::make_signed_t<T>>(a)) *
                                             static_cast<Wide>(static_cast<std::make_signed_t<T>>(b))
                                       : static_cast<Wide>(a) * static_cast<Wide>(b);
        left = static_cast<T>(step.high ? product >> kBits : product);
        right = c;
      }
      if (step.subtract) right = static_cast<T>(~right);
      const bool in = step.in ? ((carry >> lane) & 1) != 0 : step.subtract;
      const Wide sum = static_cast<Wide>(left) + right + (in ? 1 : 0);
      ASSERT_EQ(machine.Destination(0, lane), static_cast<T>(sum)) << step.name << " lane " << lane;
      const bool out = step.out ? (sum >> kBits) != 0 : ((carry >> lane) & 1) != 0;
      ASSERT_EQ((machine.warp().carry >> lane) & 1, LaneMask{out}) << step.name << " lane " << lane;
    }
    carry = machine.warp().carry;
  }
  EXPECT_EQ(std::count(met.begin(), met.end(), 0), 0) << "each follows each other one";
}

TEST(IntegerTest, CarryChainsInAnyMixAreOneAdders) {
  CheckRandomCarryChains<uint32_t, uint64_t>(".u32", 1);
  CheckRandomCarryChains<uint32_t, uint64_t>(".s32", 2);
  CheckRandomCarryChains<uint64_t, unsigned __int128>(".u64", 3);
  CheckRandomCarryChains<uint64_t, unsigned __int128>(".s64", 4);
}

TEST(IntegerTest, CarriesOfInactiveLanesStay) {
  LaneMachine machine("add.cc.u32");
  machine.SetSourceInAllLanes(0, 0xffffffff);
  machine.SetSourceInAllLanes(1, 1);
  machine.warp().carry = 0xf0;
  machine.Run(0xf);
  EXPECT_EQ(machine.warp().carry, 0xffu);
}

}  // namespace isa_integer_test
}  // namespace lockstep::vgpu
