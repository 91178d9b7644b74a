// Integer, logic and shift instructions against wide arithmetic, lane by lane on random and extreme values.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/isa/isa_test_support.h"

namespace lockstep::vgpu {
namespace {

using Wide = __int128;

struct IntegerType {
  std::string name;
  int bits;
  bool is_signed;
};
const std::vector<IntegerType> kTypes = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                                         {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};

uint64_t MaskOf(int bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

Wide Value(uint64_t bits, const IntegerType& type) {
  bits &= MaskOf(type.bits);
  const bool negative = type.is_signed && (bits >> (type.bits - 1)) & 1;
  return negative ? static_cast<Wide>(bits) - (Wide{1} << type.bits) : static_cast<Wide>(bits);
}

// Values where mistakes hide, mixed with random ones.
class Values {
 public:
  uint64_t Next(int bits) {
    switch (random_() % 8) {
      case 0:
        return 0;
      case 1:
        return random_() % 4;
      case 2:
        return MaskOf(bits) - random_() % 4;
      case 3:
        return (uint64_t{1} << (bits - 1)) - 2 + random_() % 4;
      case 4:
        return uint64_t{1} << random_() % static_cast<unsigned>(bits);
      default:
        return random_();
    }
  }

 private:
  std::mt19937_64 random_{7};
};

using Operation = std::function<Wide(Wide a, Wide b, Wide c, const IntegerType& type)>;

// Runs text.type on many values and compares the result's low bits with the operation's.
void Check(const std::string& text, const IntegerType& type, int result_bits, const Operation& operation) {
  LaneMachine machine(text + "." + type.name);
  ASSERT_TRUE(machine.supported()) << text << "." << type.name;
  Values values;
  for (int round = 0; round < 40; ++round) {
    uint64_t inputs[3][kWarpSize] = {};
    for (size_t k = 0; k < machine.sources(); ++k) {
      const bool wide_addend = k == 2 && result_bits > type.bits;
      for (int lane = 0; lane < kWarpSize; ++lane) {
        inputs[k][lane] = values.Next(wide_addend ? result_bits : type.bits);
        machine.SetSource(k, lane, inputs[k][lane]);
      }
    }
    machine.Run();
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const IntegerType addend{"", result_bits, type.is_signed};
      const Wide expected =
          operation(Value(inputs[0][lane], type), Value(inputs[1][lane], type), Value(inputs[2][lane], addend), type);
      const uint64_t mask = MaskOf(result_bits);
      ASSERT_EQ(machine.Destination(0, lane) & mask, static_cast<uint64_t>(expected) & mask)
          << text << "." << type.name << std::hex << " " << inputs[0][lane] << " " << inputs[1][lane] << " "
          << inputs[2][lane];
    }
  }
}

TEST(IntegerTest, AddsAndMultiplies) {
  for (const IntegerType& type : kTypes) {
    Check("add", type, type.bits, [](Wide a, Wide b, Wide, auto&) { return a + b; });
    Check("sub", type, type.bits, [](Wide a, Wide b, Wide, auto&) { return a - b; });
    Check("mul.lo", type, type.bits, [](Wide a, Wide b, Wide, auto&) {
      return static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
    });
    Check("mad.lo", type, type.bits, [](Wide a, Wide b, Wide c, auto&) {
      return static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b) +
                               static_cast<unsigned __int128>(c));
    });
    const auto high = [](Wide a, Wide b, Wide, const IntegerType& t) {
      return t.is_signed
                 ? (a * b) >> t.bits
                 : static_cast<Wide>((static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)) >> t.bits);
    };
    Check("mul.hi", type, type.bits, high);
    Check("mad.hi", type, type.bits,
          [&](Wide a, Wide b, Wide c, const IntegerType& t) { return high(a, b, 0, t) + c; });
    if (type.bits == 64) continue;
    Check("mul.wide", type, 2 * type.bits, [](Wide a, Wide b, Wide, auto&) { return a * b; });
    Check("mad.wide", type, 2 * type.bits, [](Wide a, Wide b, Wide c, auto&) { return a * b + c; });
  }
}

TEST(IntegerTest, Saturates) {
  const auto clamp = [](Wide x) { return std::clamp<Wide>(x, INT32_MIN, INT32_MAX); };
  const IntegerType type = kTypes[3];
  Check("add.sat", type, 32, [&](Wide a, Wide b, Wide, auto&) { return clamp(a + b); });
  Check("sub.sat", type, 32, [&](Wide a, Wide b, Wide, auto&) { return clamp(a - b); });
  Check("mad.hi.sat", type, 32, [&](Wide a, Wide b, Wide c, auto&) { return clamp(((a * b) >> 32) + c); });
}

TEST(IntegerTest, DividesWithoutTraps) {
  for (const IntegerType& type : kTypes) {
    Check("div", type, type.bits, [](Wide a, Wide b, Wide, auto&) { return b == 0 ? -1 : a / b; });
    Check("rem", type, type.bits, [](Wide a, Wide b, Wide, auto&) { return b == 0 ? -1 : a % b; });
  }
}

// The 32-bit quotient goes through f64: the places where a rounding error would show.
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

TEST(IntegerTest, OrdersAndMagnitudes) {
  for (const IntegerType& type : kTypes) {
    Check("min", type, type.bits, [](Wide a, Wide b, Wide, auto&) { return std::min(a, b); });
    Check("max", type, type.bits, [](Wide a, Wide b, Wide, auto&) { return std::max(a, b); });
    Check("sad", type, type.bits, [](Wide a, Wide b, Wide c, auto&) { return c + (a < b ? b - a : a - b); });
    if (!type.is_signed) continue;
    Check("abs", type, type.bits, [](Wide a, Wide, Wide, auto&) { return a < 0 ? -a : a; });
    Check("neg", type, type.bits, [](Wide a, Wide, Wide, auto&) { return -a; });
  }
}

TEST(IntegerTest, ShiftsByAnyAmount) {
  Values values;
  for (const IntegerType& type : kTypes) {
    LaneMachine right("shr." + type.name);
    LaneMachine left("shl.b" + std::to_string(type.bits));
    for (uint32_t amount = 0; amount < 80; ++amount) {
      const uint64_t a = values.Next(type.bits) & MaskOf(type.bits);
      for (LaneMachine* machine : {&left, &right}) {
        machine->SetSourceInAllLanes(0, a);
        machine->SetSourceInAllLanes(1, amount);
        machine->Run();
      }
      const Wide value = Value(a, type);
      EXPECT_EQ(right.Destination(0, 5), static_cast<uint64_t>(value >> amount) & MaskOf(type.bits));
      EXPECT_EQ(
          left.Destination(0, 5),
          amount >= 64 ? 0 : static_cast<uint64_t>(static_cast<unsigned __int128>(a) << amount) & MaskOf(type.bits));
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

TEST(IntegerTest, Lop3CombinesWithAPredicate) {
  for (const bool both : {false, true}) {
    LaneMachine machine(both ? "lop3.and.b32" : "lop3.or.b32");
    ASSERT_EQ(machine.sources(), 5u);
    for (int lane = 0; lane < kWarpSize; ++lane) {
      machine.SetSource(0, lane, lane & 1);
      machine.SetSource(1, lane, 1);
      machine.SetSource(2, lane, 0);
      machine.SetSource(3, lane, 0xc0);  // a & b
      machine.SetSource(4, lane, (lane >> 1) & 1);
    }
    machine.NegateSource(4);
    machine.Run();
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const bool set = lane & 1, q = !((lane >> 1) & 1);
      EXPECT_EQ(machine.Destination(0, lane), static_cast<uint64_t>(set));
      EXPECT_EQ(machine.Destination(1, lane), static_cast<uint64_t>(both ? set && q : set || q));
    }
  }
}

TEST(IntegerTest, BitFieldsFollowTheirDefinition) {
  std::mt19937 random(11);
  for (const int bits : {32, 64}) {
    const std::string width = std::to_string(bits);
    LaneMachine extract("bfe.s" + width), insert("bfi.b" + width);
    for (int round = 0; round < 100; ++round) {
      uint64_t a[kWarpSize], b[kWarpSize];
      uint32_t position[kWarpSize], length[kWarpSize];
      for (int lane = 0; lane < kWarpSize; ++lane) {
        a[lane] = (uint64_t{random()} << 32 | random()) & MaskOf(bits);
        b[lane] = (uint64_t{random()} << 32 | random()) & MaskOf(bits);
        position[lane] = random() % 80;
        length[lane] = random() % 80 + (lane == 7 ? 256 : 0);
        extract.SetSource(0, lane, a[lane]);
        extract.SetSource(1, lane, position[lane]);
        extract.SetSource(2, lane, length[lane]);
        insert.SetSource(0, lane, a[lane]);
        insert.SetSource(1, lane, b[lane]);
        insert.SetSource(2, lane, position[lane]);
        insert.SetSource(3, lane, length[lane]);
      }
      extract.Run();
      insert.Run();
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const uint32_t range = bits == 32 ? 255 : ~0u;  // the 64-bit forms look at all of the operand
        const int p = static_cast<int>(position[lane] & range), n = static_cast<int>(length[lane] & range);
        const auto bit = [](uint64_t x, int at) { return (x >> at) & 1; };
        const uint64_t sign = n == 0 ? 0 : bit(a[lane], std::min(p + n - 1, bits - 1));
        uint64_t extracted = 0, inserted = b[lane];
        for (int i = 0; i < bits; ++i) {
          extracted |= (i < n && p + i < bits ? bit(a[lane], p + i) : sign) << i;
          if (i < n && p + i < bits) {
            inserted = (inserted & ~(uint64_t{1} << (p + i))) | bit(a[lane], i) << (p + i);
          }
        }
        ASSERT_EQ(extract.Destination(0, lane), extracted) << std::hex << a[lane] << std::dec << " " << p << " " << n;
        ASSERT_EQ(insert.Destination(0, lane), inserted) << std::hex << a[lane] << std::dec << " " << p << " " << n;
      }
    }
  }
}

// 128-bit arithmetic from 32-bit pieces with the carry of each lane.
TEST(IntegerTest, CarriesChainLaneByLane) {
  std::mt19937 random(5);
  for (const bool subtract : {false, true}) {
    const std::string op = subtract ? "sub" : "add";
    LaneMachine first(op + ".cc.u32"), middle(op + "c.cc.u32"), last(op + "c.u32");
    uint32_t a[3][kWarpSize], b[3][kWarpSize];
    LaneMachine* steps[] = {&first, &middle, &last};
    for (int k = 0; k < 3; ++k) {
      for (int lane = 0; lane < kWarpSize; ++lane) {
        a[k][lane] = lane % 3 == 0 ? 0xffffffffu : lane % 3 == 1 ? 0 : static_cast<uint32_t>(random());
        b[k][lane] = lane % 5 == 0 ? 0 : lane % 5 == 1 ? 0xffffffffu : static_cast<uint32_t>(random());
        steps[k]->SetSource(0, lane, a[k][lane]);
        steps[k]->SetSource(1, lane, b[k][lane]);
      }
      if (k > 0) steps[k]->warp().carry = steps[k - 1]->warp().carry;
      steps[k]->Run();
    }
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const auto join = [&](uint32_t x[3][kWarpSize]) {
        return static_cast<unsigned __int128>(x[2][lane]) << 64 | static_cast<unsigned __int128>(x[1][lane]) << 32 |
               x[0][lane];
      };
      const unsigned __int128 expected = subtract ? join(a) - join(b) : join(a) + join(b);
      for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(steps[k]->Destination(0, lane), static_cast<uint32_t>(expected >> (32 * k))) << op << lane;
      }
    }
  }
}

TEST(IntegerTest, MultiplyAddCarries) {
  // (2^64 - 1)^2 + 2^64 - 1 = 2^128 - 2^64: the low half carries into the high one.
  LaneMachine low("mad.lo.cc.u64"), high("madc.hi.u64");
  for (LaneMachine* step : {&low, &high}) {
    step->SetSourceInAllLanes(0, ~uint64_t{0});
    step->SetSourceInAllLanes(1, ~uint64_t{0});
    step->SetSourceInAllLanes(2, step == &low ? ~uint64_t{0} : 0);
  }
  low.Run();
  EXPECT_EQ(low.warp().carry, kFullMask);
  high.warp().carry = low.warp().carry;
  high.Run();
  EXPECT_EQ(low.Destination(0, 3), 0u);
  EXPECT_EQ(high.Destination(0, 3), ~uint64_t{0});
}

// A chain of any of these instructions, in any order, against one adder of twice the width: a subtraction adds the
// complement, its carry is that of a + ~b + 1, and nothing ever turns the carry round.
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

TEST(IntegerTest, ADestinationMayBeASource) {
  LaneMachine machine("mad.lo.s32");
  for (int lane = 0; lane < kWarpSize; ++lane) {
    for (size_t k = 0; k < 3; ++k) machine.SetSource(k, lane, static_cast<uint64_t>(lane) + k);
  }
  machine.Alias(0, 2);
  machine.Run(0x0000ffff);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const uint64_t n = static_cast<uint64_t>(lane);
    EXPECT_EQ(machine.Destination(0, lane), lane < 16 ? n * (n + 1) + n + 2 : n + 2);
  }
}

}  // namespace
}  // namespace lockstep::vgpu
