// Random kernels for speculation_random_test: what they do, as statements, and their text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace lockstep::vgpu::speculation {

inline constexpr uint32_t kThreads = 64;
// Words of shared memory. From kRacy on: other threads store to them. From kUnwritten on: never written. From kKnown
// on: each thread writes its own before it reads it.
inline constexpr uint32_t kRacy = 0, kUnwritten = 64, kKnown = 128, kSharedWords = 192;
inline constexpr uint32_t kWritten = 128, kGlobalWords = 256;  // of the input; the rest is never written
inline constexpr uint32_t kOutWords = 16;                      // per thread
// Registers: those below kClean come from no load, those below kKnowns have known values, the rest may hold anything.
inline constexpr int kClean = 3, kKnowns = 8, kRegisters = 12;
inline constexpr int kCleanPredicates = 2, kPredicates = 6;

enum class Op {
  kMove,
  kArithmetic,
  kBitwise,
  kSelect,
  kCompare,
  kCombine,
  kLoad,
  kStore,
  kOut,
  kIf,
  kLoop,
  kBarrier,
  kShuffle,
  kCall,
  kExit
};
enum class Index { kConstant, kThread, kRegister };

struct Statement {
  Op op;
  int kind = 0;  // of arithmetic, of a comparison
  int to = 0, a = 0, b = 0;
  int predicate = 0, guard = -1;
  bool negated = false, guard_negated = false, global = false;
  int combined = -1;  // the predicate with which a comparison's result is combined; -1: none
  Index index = Index::kConstant;
  uint32_t base = 0, stride = 0;
  std::vector<int> elements;  // of a load; -1: the sink
  std::vector<Statement> body, other;
  int line = 0;
};

inline constexpr const char* kArithmetic[] = {"add.u32", "sub.u32", "xor.b32", "min.u32", "max.s32", "mul.lo.u32"};
inline uint32_t Compute(int kind, uint32_t a, uint32_t b) {
  switch (kind) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a ^ b;
    case 3:
      return std::min(a, b);
    case 4:
      return static_cast<uint32_t>(std::max(static_cast<int32_t>(a), static_cast<int32_t>(b)));
    default:
      return a * b;
  }
}

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  std::vector<Statement> Kernel() {
    std::vector<Statement> all;
    const int phases = 1 + Pick(3);
    for (int phase = 0; phase < phases; ++phase) {
      if (phase > 0) all.push_back({.op = Op::kBarrier});
      std::vector<Statement> part = Some(6 + Pick(14), 0);
      all.insert(all.end(), part.begin(), part.end());
      if (Pick(6) == 0) {
        Statement s{.op = Op::kShuffle};
        s.a = Pick(kRegisters);
        s.to = kKnowns + Pick(kRegisters - kKnowns);
        all.push_back(s);
      }
    }
    if (Pick(3) == 0) {
      Statement s{.op = Op::kExit};
      Guard(s, kPredicates);
      s.guard = Pick(kPredicates);
      all.push_back(s);
    }
    for (int k = Pick(4); k >= 0; --k) all.push_back(Out());
    return all;
  }

 private:
  int Pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  void Guard(Statement& s, int predicates) {
    if (Pick(5) != 0) return;
    s.guard = Pick(predicates);
    s.guard_negated = Pick(2) != 0;
  }
  // A register from which `to` may be computed: one of its class or of a class before it.
  int Source(int to) { return Pick(to < kClean ? kClean : to < kKnowns ? kKnowns : kRegisters); }
  int KnownSource(int to) { return Pick(to < kClean ? kClean : kKnowns); }
  int PredicatesFor(int to) { return to < kClean ? kCleanPredicates : kPredicates; }

  Statement Out() {
    Statement s{.op = Op::kOut};
    s.a = Pick(kRegisters);
    s.base = static_cast<uint32_t>(Pick(kOutWords));
    Guard(s, kPredicates);
    return s;
  }

  std::vector<Statement> Some(int count, int depth) {
    std::vector<Statement> all;
    for (int k = 0; k < count; ++k) all.push_back(One(depth));
    return all;
  }

  Statement One(int depth) {
    const int what = Pick(32);
    Statement s{};
    s.to = Pick(4) == 0 ? Pick(kRegisters) : kClean + Pick(kRegisters - kClean);
    if (what < 7) {
      s.op = Op::kSelect;
      s.a = Source(s.to);
      s.b = Source(s.to);
      s.predicate = Pick(PredicatesFor(s.to));
      Guard(s, PredicatesFor(s.to));
    } else if (what < 11) {
      s.op = Op::kArithmetic;
      s.kind = Pick(6);
      s.a = Source(s.to);
      s.b = Source(s.to);
      Guard(s, PredicatesFor(s.to));
    } else if (what < 12) {
      s.op = Op::kMove;
      s.a = Source(s.to);
      Guard(s, PredicatesFor(s.to));
    } else if (what < 13) {
      s.op = Op::kBitwise;
      s.kind = Pick(2);
      if (s.to >= kKnowns) s.to = kClean;
      s.a = KnownSource(s.to);
      s.b = KnownSource(s.to);
    } else if (what < 16) {
      s.op = Op::kCompare;
      s.to = Pick(kPredicates);
      s.a = Pick(s.to < kCleanPredicates ? kClean : kKnowns);
      s.b = Pick(s.to < kCleanPredicates ? kClean : kKnowns);
      if (Pick(5) == 0) s.combined = Pick(s.to < kCleanPredicates ? kCleanPredicates : kPredicates);
      s.kind = Pick(2);
      s.negated = Pick(2) != 0;
      Guard(s, s.to < kCleanPredicates ? kCleanPredicates : kPredicates);
    } else if (what < 18) {
      s.op = Op::kCombine;
      s.kind = Pick(2);
      s.to = kCleanPredicates + Pick(kPredicates - kCleanPredicates);
      s.a = Pick(kPredicates);
      s.b = Pick(3) == 0 ? Pick(kPredicates) : Pick(kCleanPredicates);
      s.negated = Pick(2) != 0;
    } else if (what < 25) {
      Load(s);
    } else if (what < 26) {
      s.op = Op::kStore;
      Place(s, kRacy, 64, 1, true);
      Guard(s, kPredicates);
    } else if (what < 27) {
      s = Out();
    } else if (what < 28) {
      s.op = Op::kCall;
      s.a = KnownSource(kClean);
      s.to = kClean + Pick(kKnowns - kClean);
    } else if (depth < 3 && what < 31) {
      s.op = Op::kIf;
      s.predicate = Pick(kPredicates);
      s.body = Some(1 + Pick(5), depth + 1);
      if (Pick(2) == 0) s.other = Some(1 + Pick(4), depth + 1);
    } else if (depth < 2) {
      s.op = Op::kLoop;
      s.index = static_cast<Index>(Pick(3));
      s.a = Pick(kKnowns);
      s.body = Some(1 + Pick(6), depth + 1);
    } else {
      Load(s);
    }
    return s;
  }

  void Place(Statement& s, uint32_t base, int words, int width, bool clean) {
    s.index = static_cast<Index>(Pick(clean ? 2 : 3));
    const int at = Pick(words / width) * width;
    s.base = base + static_cast<uint32_t>(s.index == Index::kConstant ? at : 0);
    s.stride = static_cast<uint32_t>(at);
    s.a = s.index == Index::kRegister ? Pick(kKnowns) : 0;
  }
  void Load(Statement& s) {
    s.op = Op::kLoad;
    const int widths[] = {1, 1, 1, 2, 4};
    const int width = widths[Pick(5)];
    const bool racy = Pick(2) == 0;
    s.global = !racy && Pick(2) == 0;
    if (racy) {
      Place(s, kRacy, 64, width, false);
    } else if (s.global) {
      Place(s, Pick(3) == 0 ? kWritten : 0, 128, width, false);
    } else {
      Place(s, Pick(3) == 0 ? kUnwritten : kKnown, 64, width, false);
    }
    const int first = racy ? kKnowns : kClean;
    std::set<int> taken;
    for (int k = 0; k < width; ++k) {
      const int to = first + Pick(kRegisters - first);
      s.elements.push_back(Pick(6) == 0 || !taken.insert(to).second ? -1 : to);
    }
    if (width == 1 && s.elements[0] < 0) s.elements[0] = kRegisters - 1;
    Guard(s, kPredicates);
  }

  std::mt19937 random_;
};

// Writes the kernel's text, and sets the statements' lines.
class Writer {
 public:
  std::string Write(std::vector<Statement>& kernel) {
    text_ << ".version 9.0\n.target sm_90a\n.address_size 64\n"
             ".shared .align 16 .b32 s["
          << kSharedWords
          << "];\n"
             ".func (.param .b32 o) f(.param .b32 x) {\n.reg .u32 %a<4>;\n.reg .pred %p;\nld.param.b32 %a0, [x];\n";
    line_ = 8;
    Line("ld.shared.u32 %a1, [s+" + std::to_string(4 * (kKnown + 2)) + "];");
    Line("setp.lt.u32 %p, %a0, 7;");
    Line("selp.b32 %a2, %a1, %a0, %p;");
    Line("st.param.b32 [o], %a2;");
    Line("ret;");
    Line("}");
    Line(".visible .entry k(.param .u64 in, .param .u64 out) {");
    Line(".reg .u32 %r<16>, %n<8>, %a<4>;");
    Line(".reg .u64 %d<8>;");
    Line(".reg .pred %p<8>, %l<8>;");
    Line("ld.param.u64 %d0, [in];");
    Line("ld.param.u64 %d1, [out];");
    Line("mov.u32 %a0, %tid.x;");
    Line("mad.lo.u32 %a1, %a0, 64, 0;");
    Line("mul.wide.u32 %d2, %a1, 1;");
    Line("add.u64 %d1, %d1, %d2;");
    Line("shl.b32 %a1, %a0, 2;");
    Line("mov.u32 %a2, s;");
    Line("add.u32 %a1, %a1, %a2;");
    Line("mul.lo.u32 %a2, %a0, 7;");
    Line("st.shared.u32 [%a1+" + std::to_string(4 * kKnown) + "], %a2;");
    Line("st.shared.u32 [%a1+" + std::to_string(4 * kRacy) + "], 0;");
    for (int r = 0; r < kRegisters; ++r)
      Line("mad.lo.u32 %r" + std::to_string(r) + ", %a0, " + std::to_string(2 * r + 1) + ", " + std::to_string(r) +
           ";");
    for (int p = 0; p < kPredicates; ++p)
      Line("setp.lt.u32 %p" + std::to_string(p) + ", %a0, " + std::to_string(9 * p + 1) + ";");
    Line("bar.sync 0;");
    Body(kernel, 0);
    Line("ret;");
    Line("}");
    return text_.str();
  }

 private:
  void Line(const std::string& text) {
    text_ << text << "\n";
    ++line_;
  }
  static std::string R(int r) { return r < 0 ? "_" : "%r" + std::to_string(r); }
  static std::string P(int p, bool negated = false) { return (negated ? "!%p" : "%p") + std::to_string(p); }
  static std::string Guard(const Statement& s) {
    return s.guard < 0 ? "" : (s.guard_negated ? "@!%p" : "@%p") + std::to_string(s.guard) + " ";
  }

  // Puts the address into %a3 or %d3.
  void Address(const Statement& s, int width) {
    const uint32_t mask = (s.global ? 127u : 63u) & ~static_cast<uint32_t>(width - 1);
    if (s.index == Index::kConstant) {
      Line("mov.u32 %a3, 0;");
    } else {
      Line("add.u32 %a3, " + (s.index == Index::kThread ? "%a0" : R(s.a)) + ", " + std::to_string(s.stride) + ";");
      Line("and.b32 %a3, %a3, " + std::to_string(mask) + ";");
    }
    Line("mad.lo.u32 %a3, %a3, 4, " + std::to_string(4 * s.base) + ";");
    if (s.global) {
      Line("cvt.u64.u32 %d3, %a3;");
      Line("add.u64 %d3, %d3, %d0;");
    } else {
      Line("mov.u32 %a2, s;");
      Line("add.u32 %a3, %a3, %a2;");
    }
  }

  void Body(std::vector<Statement>& body, int depth) {
    for (Statement& s : body) One(s, depth);
  }

  void One(Statement& s, int depth) {
    const std::string guard = Guard(s);
    switch (s.op) {
      case Op::kMove:
        Line(guard + "mov.b32 " + R(s.to) + ", " + R(s.a) + ";");
        break;
      case Op::kArithmetic:
        Line(guard + kArithmetic[s.kind] + " " + R(s.to) + ", " + R(s.a) + ", " + R(s.b) + ";");
        break;
      case Op::kBitwise:
        Line((s.kind == 0 ? "and.b32 " : "or.b32 ") + R(s.to) + ", " + R(s.a) + ", " + R(s.b) + ";");
        break;
      case Op::kSelect:
        Line(guard + "selp.b32 " + R(s.to) + ", " + R(s.a) + ", " + R(s.b) + ", " + P(s.predicate) + ";");
        break;
      case Op::kCompare:
        Line(guard + "setp.lt" +
             (s.combined < 0 ? ""
              : s.kind == 0  ? ".and"
                             : ".or") +
             ".u32 " + P(s.to) + ", " + R(s.a) + ", " + R(s.b) +
             (s.combined < 0 ? "" : ", " + P(s.combined, s.negated)) + ";");
        break;
      case Op::kCombine:
        Line((s.kind == 0 ? "and.pred " : "or.pred ") + P(s.to) + ", " + P(s.a) + ", " + P(s.b, false) + ";");
        break;
      case Op::kLoad: {
        const size_t width = s.elements.size();
        Address(s, static_cast<int>(width));
        std::string to = R(s.elements[0]);
        for (size_t k = 1; k < width; ++k) to += ", " + R(s.elements[k]);
        if (width > 1) to = "{" + to + "}";
        Line(guard + (s.global ? "ld.global" : "ld.shared") + (width > 1 ? ".v" + std::to_string(width) : "") +
             ".u32 " + to + ", [" + (s.global ? "%d3" : "%a3") + "];");
        s.line = line_;
        break;
      }
      case Op::kStore:
        Address(s, 1);
        Line("mad.lo.u32 %a2, %a0, 1024, " + std::to_string(line_) + ";");
        Line(guard + "st.shared.u32 [%a3], %a2;");
        s.line = line_;
        break;
      case Op::kOut:
        Line(guard + "st.global.u32 [%d1+" + std::to_string(4 * s.base) + "], " + R(s.a) + ";");
        s.line = line_;
        break;
      case Op::kIf: {
        const std::string label = std::to_string(++labels_);
        Line("@!" + P(s.predicate) + " bra E" + label + ";");
        Body(s.body, depth);
        if (!s.other.empty()) Line("bra F" + label + ";");
        Line("E" + label + ":");
        Body(s.other, depth);
        if (!s.other.empty()) Line("F" + label + ":");
        break;
      }
      case Op::kLoop: {
        const std::string label = std::to_string(++labels_), n = "%n" + std::to_string(depth),
                          l = "%l" + std::to_string(depth);
        Line("and.b32 " + n + ", " +
             (s.index == Index::kConstant ? "2"
              : s.index == Index::kThread ? "%a0"
                                          : R(s.a)) +
             ", 3;");
        Line("L" + label + ":");
        Body(s.body, depth + 1);
        Line("setp.ne.u32 " + l + ", " + n + ", 0;");
        Line("sub.u32 " + n + ", " + n + ", 1;");
        Line("@" + l + " bra L" + label + ";");
        break;
      }
      case Op::kBarrier:
        Line("bar.sync 0;");
        break;
      case Op::kShuffle:
        Line("shfl.sync.bfly.b32 " + R(s.to) + ", " + R(s.a) + ", 1, 31, -1;");
        break;
      case Op::kCall:
        Line("{ .param .b32 x0; .param .b32 o0; st.param.b32 [x0], " + R(s.a) +
             "; call.uni (o0), f, (x0); ld.param.b32 " + R(s.to) + ", [o0]; }");
        break;
      case Op::kExit:
        Line(guard + "exit;");
        break;
    }
  }

  std::ostringstream text_;
  int line_ = 0, labels_ = 0;
};

inline constexpr int kLineOfCallee = 9;

}  // namespace lockstep::vgpu::speculation
