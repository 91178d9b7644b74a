// Finds uses of values that shuffles read from absent lanes, on random kernels of one warp. The definition keeps every
// value of every lane, with a mark of whether it is defined.
//
// Kernels shuffle among some lanes, add, multiply, choose, branch by lane and by value, loop, call, pack two words into
// one, go through shared and local memory, and let lanes exit. Stores and loads by an index are where values are used.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace definedness_random_test {

constexpr int kRegisters = 6, kWides = 2, kSharedWords = 64, kLocalWords = 4;

enum class Op {
  kAdd,
  kMultiply,
  kAnd,
  kOr,
  kSelectByLane,   // to = lane in `lanes` ? a : b
  kSelectByValue,  // to = a < number ? a : b
  kShuffle,        // kind: up, down, bfly, idx; number: offset; width; in two groups where `lanes` is not 0
  kPack,           // wide = {a, b}
  kUnpack,         // to, b = wide
  kMoveWide,
  kStoreShared,  // s[t + number] = a
  kAddShared,    // s[(t & 3) + number] += a
  kLoadShared,
  kStoreLocal,
  kLoadLocal,
  kCall,
  kLookUp,   // to = in[a & 31]
  kOut,      // by lanes
  kIfLanes,  // body
  kIfLess,   // a < number: body, which only uses registers
  kTwice,    // body
  kExit,     // lanes
};

struct Statement {
  Op op = Op::kAdd;
  int to = 0, a = 0, b = 0, kind = 0;
  uint32_t number = 0, width = 32;
  LaneMask lanes = 0, mask = 0;  // mask: of lanes that come here
  std::vector<Statement> body;
  int line = 0;  // of the use
};

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  std::vector<Statement> Kernel(LaneMask all) {
    LaneMask active = all;
    std::vector<Statement> kernel = Body(active, 14, 0);
    for (int k = 0; k < 3 && active != 0; ++k) kernel.push_back(Out(active));
    return kernel;
  }

 private:
  uint32_t Pick(uint32_t n) { return random_() % n; }
  int Register() { return static_cast<int>(Pick(kRegisters)); }
  // 16 neighbours, the lowest lanes, the highest, or any.
  LaneMask Lanes() {
    switch (Pick(4)) {
      case 0:
        return 0xffffu << Pick(17);
      case 1:
        return (2u << Pick(31)) - 1;
      case 2:
        return ~((2u << Pick(31)) - 1);
      default:
        return static_cast<LaneMask>(random_());
    }
  }
  Statement Out(LaneMask active) {
    Statement s;
    s.op = Op::kOut;
    s.a = Register();
    s.lanes = Pick(4) == 0 ? kFullMask : Pick(2) == 0 ? 1u << Pick(32) : Lanes();
    s.mask = active;
    return s;
  }
  Statement Pure() {
    static constexpr Op kPure[] = {Op::kAdd,          Op::kAdd,           Op::kMultiply, Op::kAnd,    Op::kOr,
                                   Op::kSelectByLane, Op::kSelectByValue, Op::kPack,     Op::kUnpack, Op::kMoveWide};
    Statement s;
    s.op = kPure[Pick(std::size(kPure))];
    s.to = s.op == Op::kPack || s.op == Op::kMoveWide ? static_cast<int>(Pick(kWides)) : Register();
    s.a = s.op == Op::kUnpack || s.op == Op::kMoveWide ? static_cast<int>(Pick(kWides)) : Register();
    do {
      s.b = Register();
    } while (s.op == Op::kUnpack && s.b == s.to);
    s.lanes = Lanes();
    s.number = Pick(40);
    return s;
  }

  std::vector<Statement> Body(LaneMask& active, int length, int depth) {
    std::vector<Statement> body;
    while (length-- > 0 && active != 0) {
      const uint32_t choice = Pick(30);
      Statement s;
      s.to = Register();
      s.a = Register();
      s.b = Register();
      s.lanes = Lanes();
      s.mask = active;
      s.number = Pick(32);
      if (choice < 9) {
        s = Pure();
      } else if (choice < 16) {
        s.op = Op::kShuffle;
        s.kind = static_cast<int>(Pick(4));
        s.width = Pick(3) == 0 ? 16 : 32;
        if (Pick(2) == 0) s.number = 1u << Pick(5);
        if (Pick(4) != 0) s.lanes = 0;
      } else if (choice < 22) {
        static constexpr Op kMemory[] = {Op::kStoreShared, Op::kLoadShared, Op::kAddShared,
                                         Op::kStoreLocal,  Op::kLoadLocal,  Op::kCall};
        s.op = kMemory[choice - 16];
        if (s.op == Op::kStoreLocal || s.op == Op::kLoadLocal) s.number %= kLocalWords;
      } else if (choice < 24) {
        s = Out(active);
      } else if (choice == 24) {
        s.op = Op::kLookUp;
      } else if (choice == 25 && depth < 2) {
        s.op = Op::kTwice;
        s.body = Body(active, 4, depth + 1);
      } else if (choice == 26) {
        s.op = Op::kIfLess;
        for (uint32_t k = Pick(3); k < 3; ++k) s.body.push_back(Pure());
      } else if (choice == 27 && Pick(3) == 0) {
        s.op = Op::kExit;
        active &= ~s.lanes;
      } else if (depth < 3) {
        s.op = Op::kIfLanes;
        const LaneMask before = active & s.lanes;
        LaneMask inner = before;
        s.body = Body(inner, 5, depth + 1);
        active &= ~(before & ~inner);
      } else {
        s = Pure();
      }
      body.push_back(std::move(s));
    }
    return body;
  }

  std::mt19937 random_;
};

class Writer {
 public:
  std::string Write(std::vector<Statement>& kernel) {
    Line(".version 9.0");
    Line(".target sm_90a");
    Line(".address_size 64");
    Line(".func (.param .b32 r) f(.param .b32 x) {");
    Line(".reg .b32 %a, %b; .reg .pred %p;");
    Line("ld.param.b32 %a, [x]; add.u32 %b, %a, 3; setp.lt.u32 %p, %a, 7; selp.b32 %a, 14, %b, %p;");
    Line("st.param.b32 [r], %a; ret; }");
    Line(".visible .entry k(.param .u64 in, .param .u64 out) {");
    Line(".shared .align 4 .b8 s[256]; .local .align 4 .b8 l[16];");
    Line(".reg .b32 %r<6>, %t, %x<4>; .reg .b64 %d<2>, %i, %o, %e; .reg .pred %p<4>;");
    Line("ld.param.u64 %i, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;");
    for (int r = 0; r < kRegisters; ++r) {
      Line("mad.lo.u32 " + R(r) + ", %t, " + std::to_string(2 * r + 1) + ", " + std::to_string(r) + ";");
    }
    Line("mov.u64 %d0, 0; mov.u64 %d1, 0;");
    // All memory is written.
    for (int k = 0; k < kLocalWords; ++k) Line("st.local.u32 [l+" + std::to_string(4 * k) + "], %t;");
    for (int k = 0; k < kSharedWords; ++k) Line("st.shared.u32 [s+" + std::to_string(4 * k) + "], 9;");
    Body(kernel);
    Line("ret; }");
    return text_.str();
  }

 private:
  void Line(const std::string& line) {
    ++line_;
    text_ << line << "\n";
  }
  static std::string R(int r) { return "%r" + std::to_string(r); }
  static std::string D(int d) { return "%d" + std::to_string(d); }
  static std::string N(uint32_t n) { return std::to_string(n); }

  // %p0 in these lanes.
  void InLanes(LaneMask lanes) {
    Line("mov.u32 %x0, " + N(lanes) + "; shr.u32 %x0, %x0, %t; and.b32 %x0, %x0, 1; setp.ne.u32 %p0, %x0, 0;");
  }
  void SharedAddress(const std::string& index) {
    Line("add.u32 %x0, %t, " + index + "; and.b32 %x0, %x0, 63; shl.b32 %x0, %x0, 2; mov.u32 %x1, s;" +
         " add.u32 %x0, %x0, %x1;");
  }
  void Body(std::vector<Statement>& body) {
    for (Statement& s : body) One(s);
  }
  void If(const std::string& condition, std::vector<Statement>& body) {
    const std::string label = "E" + std::to_string(++labels_);
    Line("@!" + condition + " bra " + label + ";");
    Body(body);
    Line(label + ":");
  }

  void One(Statement& s) {
    static const char* const kModes[] = {"up", "down", "bfly", "idx"};
    switch (s.op) {
      case Op::kAdd:
        return Line("add.u32 " + R(s.to) + ", " + R(s.a) + ", " + R(s.b) + ";");
      case Op::kMultiply:
        return Line("mul.lo.u32 " + R(s.to) + ", " + R(s.a) + ", " + R(s.b) + ";");
      case Op::kAnd:
        return Line("and.b32 " + R(s.to) + ", " + R(s.a) + ", " + R(s.b) + ";");
      case Op::kOr:
        return Line("or.b32 " + R(s.to) + ", " + R(s.a) + ", " + R(s.b) + ";");
      case Op::kSelectByLane:
        InLanes(s.lanes);
        return Line("selp.b32 " + R(s.to) + ", " + R(s.a) + ", " + R(s.b) + ", %p0;");
      case Op::kSelectByValue:
        Line("setp.lt.u32 %p1, " + R(s.a) + ", " + N(s.number) + ";");
        return Line("selp.b32 " + R(s.to) + ", " + R(s.a) + ", " + R(s.b) + ", %p1;");
      case Op::kShuffle: {
        std::string mask = N(s.mask);
        if (s.lanes != 0) {
          InLanes(s.lanes);
          Line("selp.b32 %x2, " + N(s.mask & s.lanes) + ", " + N(s.mask & ~s.lanes) + ", %p0;");
          mask = "%x2";
        }
        const uint32_t clamp = (32 - s.width) << 8 | (s.kind == 0 ? 0 : 31);
        return Line(std::string("shfl.sync.") + kModes[s.kind] + ".b32 " + R(s.to) + ", " + R(s.a) + ", " +
                    N(s.number & 31) + ", " + N(clamp) + ", " + mask + ";");
      }
      case Op::kPack:
        return Line("mov.b64 " + D(s.to) + ", {" + R(s.a) + ", " + R(s.b) + "};");
      case Op::kUnpack:
        return Line("mov.b64 {" + R(s.to) + ", " + R(s.b) + "}, " + D(s.a) + ";");
      case Op::kMoveWide:
        return Line("shl.b64 " + D(s.to) + ", " + D(s.a) + ", 32;");
      case Op::kStoreShared:
        SharedAddress(N(s.number));
        return Line("st.shared.u32 [%x0], " + R(s.a) + ";");
      case Op::kLoadShared:
        SharedAddress(N(s.number));
        return Line("ld.shared.u32 " + R(s.to) + ", [%x0];");
      case Op::kAddShared:
        Line("and.b32 %x0, %t, 3; add.u32 %x0, %x0, " + N(s.number) + "; shl.b32 %x0, %x0, 2; mov.u32 %x1, s;" +
             " add.u32 %x0, %x0, %x1;");
        return Line("red.shared.add.u32 [%x0], " + R(s.a) + ";");
      case Op::kStoreLocal:
        return Line("st.local.u32 [l+" + N(4 * s.number) + "], " + R(s.a) + ";");
      case Op::kLoadLocal:
        return Line("ld.local.u32 " + R(s.to) + ", [l+" + N(4 * s.number) + "];");
      case Op::kCall:
        return Line("{ .param .b32 x0; .param .b32 o0; st.param.b32 [x0], " + R(s.a) +
                    "; call.uni (o0), f, (x0); ld.param.b32 " + R(s.to) + ", [o0]; }");
      case Op::kLookUp:
        Line("and.b32 %x0, " + R(s.a) + ", 31; mul.wide.u32 %e, %x0, 4; add.u64 %e, %e, %i;");
        Line("ld.global.u32 " + R(s.to) + ", [%e];");
        s.line = line_;
        return;
      case Op::kOut:
        InLanes(s.lanes);
        Line("mul.wide.u32 %e, %t, 4; add.u64 %e, %e, %o;");
        Line("@%p0 st.global.u32 [%e], " + R(s.a) + ";");
        s.line = line_;
        return;
      case Op::kIfLanes:
        InLanes(s.lanes);
        return If("%p0", s.body);
      case Op::kIfLess:
        Line("setp.lt.u32 %p1, " + R(s.a) + ", " + N(s.number) + ";");
        return If("%p1", s.body);
      case Op::kTwice: {
        const std::string n = "%n" + std::to_string(++labels_), label = "L" + std::to_string(labels_);
        Line(".reg .b32 " + n + "; mov.u32 " + n + ", 0;");
        Line(label + ":");
        Body(s.body);
        Line("add.u32 " + n + ", " + n + ", 1; setp.lt.u32 %p2, " + n + ", 2;");
        return Line("@%p2 bra " + label + ";");
      }
      case Op::kExit:
        InLanes(s.lanes);
        return Line("@%p0 exit;");
    }
  }

  std::ostringstream text_;
  int line_ = 0, labels_ = 0;
};

struct Word {
  uint32_t value = 0;
  bool undefined = false;
};
using Row = std::array<Word, kWarpSize>;

class Warp {
 public:
  explicit Warp(LaneMask all) : alive_(all) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      for (uint32_t r = 0; r < kRegisters; ++r) registers_[r][lane] = {lane * (2 * r + 1) + r};
      for (Row& word : local_) word[lane] = {lane};
    }
    shared_.fill({9});
  }

  void Run(const std::vector<Statement>& body, LaneMask active) {
    for (const Statement& s : body) One(s, active & alive_);
  }
  const std::set<int>& lines() const { return lines_; }
  int undefined() const { return undefined_; }

 private:
  Word& Register(int r, uint32_t lane) { return registers_[static_cast<size_t>(r)][lane]; }
  Word& Half(int wide, size_t half, uint32_t lane) { return wides_[static_cast<size_t>(wide)][half][lane]; }
  // Values are undefined in lanes that have branched on an undefined condition.
  void Put(Word& to, Word from, uint32_t lane) {
    from.undefined |= (astray_ >> lane & 1) != 0;
    to = from;
  }

  static Word Hides(uint32_t value, const Word& a, const Word& b, uint32_t hiding) {
    const bool hidden =
        (!a.undefined && a.value == hiding) || (!b.undefined && b.value == hiding) || (!a.undefined && !b.undefined);
    return {value, !hidden};
  }

  void One(const Statement& s, LaneMask active) {
    const Row before = registers_[static_cast<size_t>(s.a) % kRegisters];
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((active >> lane & 1) != 0) OneLane(s, lane, active, before);
    }
    switch (s.op) {
      case Op::kIfLanes:
        return Run(s.body, active & s.lanes);
      case Op::kTwice:
        Run(s.body, active);
        return Run(s.body, active);
      case Op::kExit:
        alive_ &= ~(active & s.lanes);
        return;
      case Op::kIfLess: {
        LaneMask less = 0, astray = 0;
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
          less |= static_cast<LaneMask>(before[lane].value < s.number) << lane;
          astray |= static_cast<LaneMask>(before[lane].undefined) << lane;
        }
        astray_ = astray & active;
        Run(s.body, active & less);
        for (const Statement& inner : s.body) Forget(inner, active & astray);
        astray_ = 0;
        return;
      }
      default:
        return;
    }
  }

  // What this statement, which only uses registers, writes becomes undefined in these lanes.
  void Forget(const Statement& s, LaneMask lanes) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      if (s.op == Op::kPack || s.op == Op::kMoveWide) {
        for (const size_t half : {0u, 1u}) Half(s.to, half, lane).undefined = true;
      } else {
        Register(s.to, lane).undefined = true;
        if (s.op == Op::kUnpack) Register(s.b, lane).undefined = true;
      }
    }
  }

  void OneLane(const Statement& s, uint32_t lane, LaneMask active, const Row& before) {
    const LaneMask bit = LaneMask{1} << lane;
    const Word a = before[lane], b = Register(s.b, lane);
    Word& to = Register(s.to, lane);
    const bool in_lanes = (s.lanes & bit) != 0;
    switch (s.op) {
      case Op::kAdd:
        return Put(to, {a.value + b.value, a.undefined || b.undefined}, lane);
      case Op::kMultiply:
        return Put(to, Hides(a.value * b.value, a, b, 0), lane);
      case Op::kAnd:
        return Put(to, Hides(a.value & b.value, a, b, 0), lane);
      case Op::kOr:
        return Put(to, Hides(a.value | b.value, a, b, ~0u), lane);
      case Op::kSelectByLane:
        return Put(to, in_lanes ? a : b, lane);
      case Op::kSelectByValue: {
        Word chosen = a.value < s.number ? a : b;
        chosen.undefined |= a.undefined;
        return Put(to, chosen, lane);
      }
      case Op::kShuffle:
        return Put(to, Shuffled(s, lane, active, before), lane);
      case Op::kPack:
        Put(Half(s.to, 0, lane), a, lane);
        return Put(Half(s.to, 1, lane), b, lane);
      case Op::kUnpack:
        Put(to, Half(s.a, 0, lane), lane);
        return Put(Register(s.b, lane), Half(s.a, 1, lane), lane);
      case Op::kMoveWide:
        Put(Half(s.to, 1, lane), Half(s.a, 0, lane), lane);
        return Put(Half(s.to, 0, lane), {}, lane);
      case Op::kStoreShared:
        shared_[(lane + s.number) % kSharedWords] = a;
        return;
      case Op::kAddShared: {
        Word& word = shared_[(lane & 3) + s.number];
        word = {word.value + a.value, word.undefined || a.undefined};
        return;
      }
      case Op::kLoadShared:
        to = shared_[(lane + s.number) % kSharedWords];
        return;
      case Op::kStoreLocal:
        local_[s.number][lane] = a;
        return;
      case Op::kLoadLocal:
        to = local_[s.number][lane];
        return;
      case Op::kCall:
        to = {a.value < 7 ? 14 : a.value + 3, a.undefined};
        return;
      case Op::kLookUp:
        if (a.undefined) Use(s);
        to = {(a.value & 31) * 5 + 1};
        return;
      case Op::kOut:
        if (in_lanes && a.undefined) Use(s);
        return;
      default:
        return;
    }
  }

  Word Shuffled(const Statement& s, uint32_t lane, LaneMask active, const Row& before) {
    const uint32_t first = lane / s.width * s.width, last = first + s.width - 1;
    const uint32_t by = s.number & 31;
    uint32_t from = lane;
    switch (s.kind) {
      case 0:
        if (lane >= first + by) from = lane - by;
        break;
      case 1:
        if (lane + by <= last) from = lane + by;
        break;
      case 2:
        if ((lane ^ by) <= last) from = lane ^ by;
        break;
      default:
        from = first + by % s.width;
    }
    LaneMask members = s.mask;
    if (s.lanes != 0) members &= (s.lanes >> lane & 1) != 0 ? s.lanes : ~s.lanes;
    if ((active >> from & 1) == 0) return ++undefined_, Word{0, true};
    if (from != lane && (members >> from & 1) == 0) return ++undefined_, Word{before[from].value, true};
    return before[from];
  }

  void Use(const Statement& s) { lines_.insert(s.line); }

  LaneMask alive_, astray_ = 0;
  std::array<Row, kRegisters> registers_;
  std::array<std::array<Row, 2>, kWides> wides_{};
  std::array<Row, kLocalWords> local_;
  std::array<Word, kSharedWords> shared_;
  std::set<int> lines_;
  int undefined_ = 0;
};

TEST(DefinednessRandomTest, UsesAreThoseOfTheDefinition) {
  const char* set = std::getenv("LOCKSTEP_RANDOM_PROGRAMS");
  const uint32_t programs = set == nullptr ? 1000 : static_cast<uint32_t>(std::atoi(set));
  int with_undefined = 0, accused = 0;
  for (uint32_t seed = 1; seed <= programs; ++seed) {
    const uint32_t threads = seed % 3 == 0 ? 20 : kWarpSize;
    const LaneMask all = threads == kWarpSize ? kFullMask : (LaneMask{1} << threads) - 1;
    std::vector<Statement> kernel = Generator(seed).Kernel(all);
    const std::string ptx = Writer().Write(kernel);
    Warp warp(all);
    warp.Run(kernel, all);

    DeviceOptions options;
    options.checkers.Add("sync");
    // The checkers that follow loads share this code, so every other run has all of them on.
    if (seed % 2 == 0) options.checkers = CheckerSet::All();
    TestDevice device(ptx, options);
    std::vector<uint32_t> in(kWarpSize);
    for (uint32_t k = 0; k < kWarpSize; ++k) in[k] = k * 5 + 1;
    ASSERT_EQ(
        device.Launch("k", {{1}, {threads}}, device.Make(in), device.Make(std::vector<uint32_t>(kWarpSize))).error,
        LaunchError::kNone)
        << "seed " << seed << "\n"
        << ptx;
    std::set<int> lines;
    for (const Finding& finding : device->findings().findings()) {
      if (finding.kind == FindingKind::kUndefinedShuffle) lines.insert(finding.first.ptx_line);
    }
    ASSERT_EQ(lines, warp.lines()) << "seed " << seed << "\n" << ptx;
    with_undefined += warp.undefined() > 0;
    accused += !lines.empty();
  }
  // The test shows something only if many kernels have undefined values, and many use them.
  EXPECT_GT(with_undefined, static_cast<int>(programs / 2));
  EXPECT_GT(accused, static_cast<int>(programs / 8));
  EXPECT_GT(with_undefined - accused, static_cast<int>(programs / 8));
  std::printf("%u kernels, %d with undefined values, %d of these use one\n", programs, with_undefined, accused);
}

}  // namespace definedness_random_test
}  // namespace lockstep::vgpu
