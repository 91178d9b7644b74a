// Which reads observers are notified of, against the definition, on random kernels. The definition runs each thread by
// itself, and keeps for each value the set of words it was computed from, and each choice that was made.
//
// Kernels load from shared and global memory, singly and as vectors, mix the values, choose among them by predicates
// that may come from loads too, branch, loop, call and store. What is loaded from memory that others store to may have
// any value; so registers are of three classes: no choice depends on those of the third.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/exec/speculation_kernels.h"
#include "tests/support/device_support.h"
#include "vgpu/core/program.h"
#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {
namespace speculation_random_test {

using namespace speculation;

// What a thread does, in order: line, whether it stores, word (global ones from 1 << 20 on). Barriers have line 0.
struct Step {
  int line;
  bool stores;
  uint32_t word;
  auto operator<=>(const Step&) const = default;
};
using Trace = std::vector<Step>;

// One thread by the definition, which leaves two cases open; `most` takes the larger answer. If both operands of an
// `and` or `or` come from loads and each decides the result alone, `most` counts both, else none counts. A value that
// was computed in a loop and is in a register at its end counts there with `most`, else where it is used.
class Thread {
 public:
  Thread(uint32_t index, bool most) : index_(index), most_(most) {
    for (int r = 0; r < kRegisters; ++r) {
      registers_[r].value = index * static_cast<uint32_t>(2 * r + 1) + static_cast<uint32_t>(r);
    }
    for (int p = 0; p < kPredicates; ++p) predicates_[p].value = index < static_cast<uint32_t>(9 * p + 1);
  }

  Trace Run(const std::vector<Statement>& kernel) {
    Note({0, false, 0});
    Body(kernel);
    Trace used;
    for (size_t k = 0; k < trace_.size(); ++k) {
      if (used_.contains(static_cast<int>(k))) used.push_back(trace_[k]);
    }
    return used;
  }
  int reads() const { return reads_; }

 private:
  struct Value {
    uint32_t value = 0;
    std::set<int> from;  // places in the trace
    std::set<int> made;  // those of them with which something has been computed in a loop
  };

  void Note(const Step& step) {
    used_.insert(static_cast<int>(trace_.size()));
    trace_.push_back(step);
  }
  int NoteRead(const Step& step) {
    ++reads_;
    trace_.push_back(step);
    return static_cast<int>(trace_.size()) - 1;
  }
  void Use(const Value& value) { used_.insert(value.from.begin(), value.from.end()); }
  static void Join(Value& into, const Value& value) {
    into.from.insert(value.from.begin(), value.from.end());
    into.made.insert(value.made.begin(), value.made.end());
  }
  void Compute(Value& value) const {
    if (loops_ > 0) value.made = value.from;
  }
  void LeaveLoop() {
    --loops_;
    if (!most_) return;
    for (const Value& value : registers_) used_.insert(value.made.begin(), value.made.end());
    for (const Value& value : predicates_) used_.insert(value.made.begin(), value.made.end());
  }

  bool Passes(const Statement& s) const { return s.guard < 0 || (predicates_[s.guard].value != 0) != s.guard_negated; }
  // A pure instruction's result.
  void Put(const Statement& s, Value& to, Value value) {
    if (s.guard >= 0) {
      if (!Passes(s)) value = to;
      Value guard = predicates_[s.guard];
      Compute(guard);
      Join(value, guard);
    }
    to = std::move(value);
  }
  // and, or. a_decides: a alone determines the result.
  Value Decide(uint32_t result, const Value& a, bool a_decides, const Value& b, bool b_decides) const {
    Value value{result, {}, {}};
    if (a_decides != b_decides) {
      Join(value, a_decides ? a : b);
    } else if (!a_decides || (most_ && !a.from.empty() && !b.from.empty())) {
      Join(value, a);
      Join(value, b);
    }
    Compute(value);
    return value;
  }

  void Body(const std::vector<Statement>& body) {
    for (const Statement& s : body) {
      if (exited_) return;
      One(s);
    }
  }

  void One(const Statement& s) {
    switch (s.op) {
      case Op::kMove:
        Put(s, registers_[s.to], registers_[s.a]);
        break;
      case Op::kArithmetic: {
        Value value{speculation::Compute(s.kind, registers_[s.a].value, registers_[s.b].value), {}, {}};
        Join(value, registers_[s.a]);
        Join(value, registers_[s.b]);
        Compute(value);
        Put(s, registers_[s.to], std::move(value));
        break;
      }
      case Op::kBitwise: {
        const Value &a = registers_[s.a], &b = registers_[s.b];
        const uint32_t decides = s.kind == 0 ? 0 : ~0u;
        registers_[s.to] =
            Decide(s.kind == 0 ? a.value & b.value : a.value | b.value, a, a.value == decides, b, b.value == decides);
        break;
      }
      case Op::kSelect: {
        Value value = predicates_[s.predicate].value != 0 ? registers_[s.a] : registers_[s.b];
        Join(value, predicates_[s.predicate]);
        Compute(value);
        Put(s, registers_[s.to], std::move(value));
        break;
      }
      case Op::kCompare: {
        const bool less = registers_[s.a].value < registers_[s.b].value;
        Value compared{less, {}, {}};
        Join(compared, registers_[s.a]);
        Join(compared, registers_[s.b]);
        if (s.combined >= 0) {
          Value with = predicates_[s.combined];
          if (s.negated) with.value = with.value == 0;
          const bool decides = (with.value != 0) == (s.kind != 0);
          const bool result = s.kind == 0 ? less && with.value != 0 : less || with.value != 0;
          // The tracker looks only at the predicate.
          Value value{result, {}, {}};
          if (!decides || most_) Join(value, with);
          if (!decides || (most_ && !with.from.empty())) Join(value, compared);
          compared = value;
        }
        Compute(compared);
        Put(s, predicates_[s.to], std::move(compared));
        break;
      }
      case Op::kCombine: {
        const Value &a = predicates_[s.a], &b = predicates_[s.b];
        const bool x = a.value != 0, y = b.value != 0, decides = s.kind != 0;
        predicates_[s.to] = Decide(s.kind == 0 ? x && y : x || y, a, x == decides, b, y == decides);
        break;
      }
      case Op::kLoad:
        Load(s);
        break;
      case Op::kStore:
        if (s.guard >= 0) Use(predicates_[s.guard]);
        if (Passes(s)) Note({s.line, true, Word(s, 1)});
        break;
      case Op::kOut:
        if (s.guard >= 0) Use(predicates_[s.guard]);
        if (!Passes(s)) break;
        Use(registers_[s.a]);
        break;
      case Op::kIf:
        Use(predicates_[s.predicate]);
        Body(predicates_[s.predicate].value != 0 ? s.body : s.other);
        break;
      case Op::kLoop: {
        uint32_t turns = s.index == Index::kConstant ? 2
                         : s.index == Index::kThread ? index_ & 3
                                                     : registers_[s.a].value & 3;
        const Value count = s.index == Index::kRegister ? registers_[s.a] : Value{};
        ++loops_;
        for (++turns; turns > 0 && !exited_; --turns) {
          Body(s.body);
          Use(count);
        }
        if (!exited_) LeaveLoop();
        break;
      }
      case Op::kBarrier:
        Note({0, false, 0});
        break;
      case Op::kShuffle:
        Use(registers_[s.a]);
        registers_[s.to] = {};
        break;
      case Op::kCall: {
        Use(registers_[s.a]);
        const uint32_t x = registers_[s.a].value;
        const int read = NoteRead({kLineOfCallee, false, kKnown + 2});
        if (x < 7) used_.insert(read);
        registers_[s.to] = {x < 7 ? 14 : x, {}, {}};
        break;
      }
      case Op::kExit:
        Use(predicates_[s.guard]);
        exited_ = Passes(s);
        break;
    }
  }

  uint32_t Word(const Statement& s, uint32_t width) const {
    if (s.index == Index::kConstant) return s.base;
    const uint32_t from = s.index == Index::kThread ? index_ : registers_[s.a].value;
    return s.base + ((from + s.stride) & (s.global ? 127u : 63u) & ~(width - 1));
  }
  static uint32_t Stored(bool global, uint32_t word) {
    if (global) return word < kWritten ? word * 5 + 1 : 0;
    return word < speculation::kUnwritten ? 0 : word < kKnown ? 0xcbcbcbcb : (word - kKnown) * 7;
  }
  void Load(const Statement& s) {
    if (s.guard >= 0) Use(predicates_[s.guard]);
    if (!Passes(s)) return;
    const uint32_t width = static_cast<uint32_t>(s.elements.size()), first = Word(s, width);
    if (s.index == Index::kRegister) Use(registers_[s.a]);
    for (uint32_t k = 0; k < width; ++k) {
      const uint32_t word = first + k;
      const int read = NoteRead({s.line, false, s.global ? word + (1u << 20) : word});
      if (s.elements[k] >= 0) registers_[s.elements[k]] = {Stored(s.global, word), {read}, {}};
    }
  }

  const uint32_t index_;
  const bool most_;
  Value registers_[kRegisters], predicates_[kPredicates];
  Trace trace_;
  std::set<int> used_;
  int reads_ = 0, loops_ = 0;
  bool exited_ = false;
};

// Records what an observer that wants used reads is notified of.
class Recorder : public Observer {
 public:
  Recorder(std::vector<Trace>& traces, uint64_t& input, bool& follows)
      : traces_(traces), input_(input), follows_(follows) {}
  void OnLaunchBegin(const LaunchInfo& info) override {
    program_ = info.program;
    follows_ = program_->uses != nullptr;
  }
  bool WantsUsedReads() const override { return true; }
  void OnMemory(const MemoryAccess& event) override {
    const int line = program_->info[event.pc].ptx_line;
    const bool stores = event.kind == AccessKind::kStore;
    if (stores && (!begun_ || event.space == MemorySpace::kGlobal)) return;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((event.mask >> lane & 1) == 0) continue;
      uint64_t address = event.address[lane];
      const uint32_t base = event.space == MemorySpace::kGlobal ? 1u << 20 : 0;
      if (base != 0) address -= input_;
      for (uint32_t at = 0; at < event.bytes; at += 4) {
        traces_[event.thread_base + lane].push_back({line, stores, base + static_cast<uint32_t>(address + at) / 4});
      }
    }
  }
  void OnBarrierComplete(uint32_t, uint32_t, uint64_t) override {
    begun_ = true;
    for (Trace& trace : traces_) trace.push_back({0, false, 0});
  }

 private:
  std::vector<Trace>& traces_;
  uint64_t& input_;
  bool& follows_;
  const Program* program_ = nullptr;
  bool begun_ = false;  // memory has been prepared
};

// Words of one vector are reported in any order.
Trace Sorted(const Trace& trace) {
  Trace sorted = trace;
  for (size_t begin = 0, end; begin < sorted.size(); begin = end) {
    for (end = begin + 1; end < sorted.size() && sorted[end].line == sorted[begin].line && sorted[begin].line != 0;
         ++end) {
    }
    std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(begin), sorted.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return sorted;
}

struct Expected {
  bool race = false, uninitialised = false;
};

Expected Judge(const std::vector<Trace>& traces) {
  Expected expected;
  // By barriers passed and word: the threads that read and that store.
  std::map<std::pair<int, uint32_t>, std::pair<std::set<uint32_t>, std::set<uint32_t>>> uses;
  for (uint32_t thread = 0; thread < traces.size(); ++thread) {
    int phase = 0;
    for (const Step& step : traces[thread]) {
      if (step.line == 0) {
        ++phase;
        continue;
      }
      auto& [reads, stores] = uses[{phase, step.word}];
      (step.stores ? stores : reads).insert(thread);
      expected.uninitialised |= !step.stores && (step.word >= (1u << 20) + kWritten ||
                                                 (step.word >= speculation::kUnwritten && step.word < kKnown));
    }
  }
  for (const auto& [place, use] : uses) {
    const auto& [reads, stores] = use;
    if (stores.empty()) continue;
    std::set<uint32_t> all = reads;
    all.insert(stores.begin(), stores.end());
    expected.race |= all.size() > 1;
  }
  return expected;
}

struct Totals {
  int followed = 0, exact = 0, races = 0, uninitialised = 0;
  int64_t reads = 0, used = 0;
};

// The kernel's findings; traces: the recorder's, if there is one.
struct Outcome {
  std::vector<Finding> findings;
  bool follows = false;
};
Outcome Run(const std::string& ptx, std::vector<Trace>* traces) {
  DeviceOptions options;
  options.checkers = {"races", "init"};
  TestDevice device(ptx, options);
  uint64_t input = 0;
  Outcome outcome;
  if (traces != nullptr) device->AddObserver(std::make_unique<Recorder>(*traces, input, outcome.follows));
  std::vector<uint32_t> words(kWritten);
  for (uint32_t k = 0; k < kWritten; ++k) words[k] = k * 5 + 1;
  input = device->Allocate(4 * kGlobalWords, "in");
  EXPECT_TRUE(device->Write(input, words.data(), 4 * kWritten));
  const auto out = device.Make(std::vector<uint32_t>(kThreads * kOutWords), "out");
  EXPECT_EQ(device.Launch("k", {{1}, {kThreads}}, input, out).error, LaunchError::kNone) << ptx;
  outcome.findings = device->findings().findings();
  return outcome;
}

std::string TextOf(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += Format(finding) + "\n";
  return text;
}

void Compare(uint32_t seed, Totals& totals) {
  std::vector<Statement> kernel = Generator(seed).Kernel();
  const std::string ptx = Writer().Write(kernel);
  std::vector<Trace> told(kThreads), least(kThreads), most(kThreads);
  const auto [findings, follows] = Run(ptx, &told);
  // Without the recorder the engine reports several accesses at once.
  ASSERT_EQ(TextOf(Run(ptx, nullptr).findings), TextOf(findings)) << "seed " << seed << "\n" << ptx;

  int reads = 0;
  for (uint32_t t = 0; t < kThreads; ++t) {
    Thread thread(t, true);
    most[t] = Sorted(thread.Run(kernel));
    least[t] = Sorted(Thread(t, false).Run(kernel));
    reads += thread.reads();
    told[t] = Sorted(told[t]);
    totals.used +=
        std::count_if(told[t].begin(), told[t].end(), [](const Step& step) { return !step.stores && step.line != 0; });
  }
  totals.followed += follows;
  totals.reads += reads;
  const bool exact = least == most;
  totals.exact += exact;
  for (uint32_t t = 0; t < kThreads; ++t) {
    if (exact) {
      ASSERT_EQ(told[t], most[t]) << "seed " << seed << " thread " << t << "\n" << ptx;
      continue;
    }
    std::multiset<Step> rest(told[t].begin(), told[t].end());
    for (const Step& step : least[t]) {
      const auto found = rest.find(step);
      ASSERT_NE(found, rest.end()) << "seed " << seed << " thread " << t << " line " << step.line << "\n" << ptx;
      rest.erase(found);
    }
    rest = {most[t].begin(), most[t].end()};
    for (const Step& step : told[t]) {
      const auto found = rest.find(step);
      ASSERT_NE(found, rest.end()) << "seed " << seed << " thread " << t << " line " << step.line << "\n" << ptx;
      rest.erase(found);
    }
  }
  const Expected expected = Judge(exact ? most : told);
  Expected found;
  for (const Finding& finding : findings) {
    found.race |= finding.kind == FindingKind::kRace;
    found.uninitialised |= finding.kind == FindingKind::kUninitialized;
  }
  EXPECT_EQ(found.race, expected.race) << "seed " << seed << "\n" << ptx;
  EXPECT_EQ(found.uninitialised, expected.uninitialised) << "seed " << seed << "\n" << ptx;
  totals.races += expected.race;
  totals.uninitialised += expected.uninitialised;
}

// LOCKSTEP_PROGRAMS sets the number of programs.
TEST(SpeculationRandomTest, ObserversAreToldOfReadsThatAreUsed) {
  const char* number = std::getenv("LOCKSTEP_PROGRAMS");
  const int programs = number == nullptr ? 200 : std::atoi(number);
  Totals totals;
  for (int seed = 1; seed <= programs && !HasFailure(); ++seed) Compare(static_cast<uint32_t>(seed), totals);
  if (HasFailure()) return;
  std::printf(
      "%d programs, %d with reads to follow, %d of them all exact; %lld reads, %lld used; %d with a race, %d "
      "with an uninitialised read\n",
      programs, totals.followed, totals.exact, static_cast<long long>(totals.reads),
      static_cast<long long>(totals.used), totals.races, totals.uninitialised);
  EXPECT_GT(totals.followed, programs / 2);
  EXPECT_GT(totals.exact, programs / 2);
  EXPECT_LT(totals.used, totals.reads * 9 / 10);
  EXPECT_GT(totals.races, programs / 20);
  EXPECT_LT(totals.races, programs * 19 / 20);
  EXPECT_GT(totals.uninitialised, programs / 20);
  EXPECT_LT(totals.uninitialised, programs * 19 / 20);
}

}  // namespace speculation_random_test
}  // namespace lockstep::vgpu
