#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "vgpu/analysis/analysis_work.h"
#include "vgpu/analysis/loops.h"
#include "vgpu/analysis/plans.h"
#include "vgpu/analysis/value_flow.h"

// Theory of operation. An instruction is *pure* if it only computes registers from registers. Any other instruction
// uses what it reads: stores, branches, addresses, their guards, calls, exchanges between lanes. A pure instruction may
// ignore an operand: selp the one not chosen, `and` and `or` the one that the other masks, a guarded instruction all of
// them.
//
// A value is *sure* at a point, in a set of registers, if every path from there reaches a use before the value is
// overwritten, ignored or lost. This is found by walking forward with the set of registers that must hold the value. A
// value held by both choices of a selp stays sure, and so does a sum in a loop. Paths that end the launch by a trap do
// not count.
//
// A value also counts as sure if arithmetic in a loop computes it from the load (or from a copy of it), the loop has
// been left, and it may be read afterwards: for example, a sum that is stored under an if after the loop. Compilers
// move loads and arithmetic out of loops, never into them, so the source program computes that sum, whatever happens to
// it. This does not hold for a plain copy that leaves the loop: it may be a load hoisted above a condition that also
// guards its use after the loop.
//
// Loads whose results are all sure need no plan. For other loads, the registers that the value may reach are found
// (flow-insensitively), up to where it is sure. Each of these gets a slot, and each instruction that mentions one gets
// a step. A slot is emptied where its register dies: after the last reader, or on an edge after which no path reads it.
namespace lockstep::vgpu {
namespace {

using namespace value_use;
using Shows = UsePlan::Shows;

constexpr size_t kMostHolders = 8;  // registers that are known to hold a value
constexpr int kMostSteps = 8192;    // per walk; beyond it, nothing is sure
constexpr int64_t kMostStepsOfFunction = int64_t{1} << 23;
constexpr uint64_t kStepsOfKeptWord = 32, kStepsAWriter = 64;

class SureValues {
 public:
  SureValues(const Uses& uses, const ControlFlowGraph& graph, const Adjacency& successors,
             const Adjacency& predecessors)
      : uses_(uses),
        graph_(graph),
        successors_(successors),
        loops_(NaturalLoops(successors, predecessors)),
        leaves_(static_cast<size_t>(graph.nodes)) {
    for (const auto* list : {&graph.returns, &graph.exits}) {
      for (const int node : *list) leaves_[static_cast<size_t>(node)] = true;
    }
  }

  // Whether the value that instruction `k` writes to a register is used on every path.
  bool Behind(size_t k, int reg) {
    LookThrough(graph_.block_of[k]);
    const auto [known, fresh] = known_.try_emplace({k, reg}, false);
    if (fresh) known->second = Walk(k, {{reg, Makes(k)}});
    return known->second;
  }

 private:
  struct Holder {
    int reg;
    bool made;  // by arithmetic
    auto operator<=>(const Holder&) const = default;
  };
  using Holders = std::vector<Holder>;  // sorted
  enum class Way : uint8_t { kUsed, kLost, kOn };

  // Finds, from a block's end to its beginning, values that are sure because of what reads them there: walks begin only
  // where values leave the block. So a sum in an unrolled loop, a chain of thousands of additions, takes one walk.
  void LookThrough(size_t block) {
    if (looked_through_.empty()) looked_through_.resize(graph_.blocks.size());
    if (looked_through_[block]) return;
    looked_through_[block] = true;
    const size_t first = graph_.blocks[block].first, last = graph_.blocks[block].last;
    // Registers that hold what comes from loads of this block: who wrote them, and whether arithmetic made it.
    struct Last {
      size_t writer;
      bool made;
    };
    std::unordered_map<int, Last> from_loads;
    for (size_t k = first; k <= last; ++k) {
      bool derived = uses_.kind(k) == Kind::kLoad, all_made = true;
      if (uses_.pure(k)) {
        const auto note = [&](int reg) {
          const auto found = from_loads.find(reg);
          derived |= found != from_loads.end();
          all_made &= found != from_loads.end() && found->second.made;
        };
        uses_.ForReads(k, note);
        if (uses_.guard(k) >= 0) note(uses_.guard(k));
      }
      const bool made = uses_.pure(k) && (Makes(k) || all_made);
      uses_.ForWrites(k, [&](int reg) {
        from_loads.erase(reg);
        if (derived) from_loads.emplace(reg, Last{k, made});
      });
    }
    if (from_loads.empty()) return;
    std::unordered_set<int> sure;
    const LiveRegisters::Bits live = Live().Out(block);
    for (const auto& [reg, at] : from_loads) {
      if (LiveRegisters::Get(live, static_cast<size_t>(reg)) && Walk(at.writer, {{reg, at.made}})) sure.insert(reg);
    }
    for (size_t k = last + 1; k-- > first;) {
      const Kind kind = uses_.kind(k);
      const int guard = uses_.guard(k);
      bool result_sure = false;
      uses_.ForWrites(k, [&](int reg) {
        if (!sure.contains(reg)) return;
        result_sure = true;
        known_[{k, reg}] = true;
      });
      uses_.ForWrites(k, [&](int reg) { sure.erase(reg); });
      const bool pure = uses_.pure(k);
      if (pure ? !result_sure : kind == Kind::kEnd) continue;
      if (guard >= 0) {
        sure.insert(guard);
      } else if (kind == Kind::kSelect || kind == Kind::kCompare) {
        if (const int chooser = uses_.Operand(k, 3); chooser >= 0) sure.insert(chooser);
      } else if (kind != Kind::kBitwise) {
        uses_.ForReads(k, [&](int reg) { sure.insert(reg); });
      }
    }
  }

  // Whether it is arithmetic, or a select between a register and a result computed from it (a conditional sum).
  bool Makes(size_t k) {
    if (!uses_.pure(k)) return false;
    if (uses_.kind(k) == Kind::kSelect) return Sums(k, 1, 2) || Sums(k, 2, 1);
    const InsnClass insn_class = uses_.opcode(k).insn_class;
    return insn_class != InsnClass::kMove && insn_class != InsnClass::kConvert;
  }
  bool Sums(size_t k, size_t sum, size_t old) {
    const int to = uses_.Operand(k, sum), from = uses_.Operand(k, old);
    if (to < 0 || from < 0) return false;
    FindWriters();
    AnalysisWork::Spend(kStepsAWriter *
                        (writers_[static_cast<size_t>(to)].size() + writers_[static_cast<size_t>(from)].size()));
    bool all = !writers_[static_cast<size_t>(to)].empty();
    for (const size_t writer : writers_[static_cast<size_t>(to)]) {
      bool reads = false;
      uses_.ForReads(writer, [&](int reg) { reads |= reg == from; });
      all &= reads && uses_.kind(writer) == Kind::kPure && Makes(writer);
    }
    for (const size_t writer : writers_[static_cast<size_t>(from)]) all &= uses_.kind(writer) != Kind::kLoad;
    return all;
  }
  void FindWriters() {
    if (!writers_.empty()) return;
    writers_.resize(static_cast<size_t>(uses_.registers()));
    for (size_t k = 0; k < graph_.block_of.size(); ++k) {
      uses_.ForWrites(k, [&](int reg) { writers_[static_cast<size_t>(reg)].push_back(k); });
    }
  }
  bool LeavesLoop(int from, int to) const {
    return std::any_of(around_.begin(), around_.end(), [&](const std::vector<bool>* loop) {
      return (*loop)[static_cast<size_t>(from)] && !(*loop)[static_cast<size_t>(to)];
    });
  }
  LiveRegisters& Live() {
    if (!live_) {
      std::vector<uint32_t> index(static_cast<size_t>(uses_.registers()));
      std::iota(index.begin(), index.end(), 0u);
      const size_t count = index.size();
      live_.emplace(uses_, graph_, successors_, std::move(index), count);
    }
    return *live_;
  }
  // Whether an arithmetic result may be read later.
  bool CarriesOut(int node, const Holders& held) {
    return Live().exact() && std::any_of(held.begin(), held.end(), [&](const Holder& holder) {
             return holder.made && live_->In(static_cast<size_t>(node), holder.reg);
           });
  }

  bool Walk(size_t k, Holders holders) {
    around_.clear();
    AnalysisWork::Spend(loops_.size());
    for (const std::vector<bool>& loop : loops_) {
      if (loop[graph_.block_of[k]]) around_.push_back(&loop);
    }
    visited_.clear();
    todo_.clear();
    int steps = 0;
    if (!GoOn(k, std::move(holders))) return false;
    while (!todo_.empty()) {
      auto [at, held] = std::move(todo_.back());
      todo_.pop_back();
      const size_t last = graph_.blocks[graph_.block_of[at]].last;
      Way way = Way::kOn;
      for (;; ++at) {
        if (++steps > kMostSteps || ++steps_ > kMostStepsOfFunction) return false;
        way = Step(at, held);
        if (way != Way::kOn || at == last) break;
      }
      if (way == Way::kLost || (way == Way::kOn && !GoOn(last, std::move(held)))) return false;
    }
    return true;
  }

  // Control leaves instruction k. False: the value is lost on some path.
  bool GoOn(size_t k, Holders held) {
    const size_t block = graph_.block_of[k];
    if (k != graph_.blocks[block].last) {
      todo_.emplace_back(k + 1, std::move(held));
      return true;
    }
    const auto follow = [&](int from, const auto& self) -> bool {
      if (leaves_[static_cast<size_t>(from)]) return false;
      for (const int next : successors_[from]) {
        if (LeavesLoop(from, next) && CarriesOut(next, held)) continue;
        if (graph_.IsTable(next)) {
          if (!self(next, self)) return false;
        } else if (const size_t first = graph_.blocks[static_cast<size_t>(next)].first;
                   visited_.emplace(first, held).second) {
          todo_.emplace_back(first, held);
        }
      }
      return true;
    };
    return follow(static_cast<int>(block), follow);
  }

  Way Step(size_t k, Holders& held) {
    const auto find = [&](int reg) {
      return std::find_if(held.begin(), held.end(), [&](const Holder& holder) { return holder.reg == reg; });
    };
    const auto holds = [&](int reg) { return reg >= 0 && find(reg) != held.end(); };
    const auto made = [&](int reg) { return holds(reg) && find(reg)->made; };
    const Kind kind = uses_.kind(k);
    if (kind == Kind::kEnd) return Way::kUsed;
    const int guard = uses_.guard(k);
    const bool pure = uses_.pure(k);
    bool flows = false;
    if (kind == Kind::kSelect) {
      flows = holds(uses_.Operand(k, 3)) || (holds(uses_.Operand(k, 1)) && holds(uses_.Operand(k, 2)));
    } else if (kind == Kind::kBitwise) {
      flows = holds(uses_.Operand(k, 1)) && holds(uses_.Operand(k, 2));
    } else if (kind == Kind::kCompare) {
      flows = holds(uses_.Operand(k, 3));
    } else {
      uses_.ForReads(k, [&](int reg) { flows |= holds(reg); });
    }
    if (!pure && (holds(guard) || (flows && guard < 0))) return Way::kUsed;
    flows &= pure;
    const bool either = pure && holds(guard);  // the result reveals the guard's value
    // Whether the result comes from arithmetic.
    bool makes = false;
    if (kind == Kind::kSelect) {
      makes = holds(uses_.Operand(k, 3)) || (made(uses_.Operand(k, 1)) && made(uses_.Operand(k, 2)));
    } else if (flows && Makes(k)) {
      makes = true;
    } else if (flows) {
      uses_.ForReads(k, [&](int reg) { makes |= made(reg); });
    }
    Holders gained;
    if (either || (flows && guard < 0)) uses_.ForWrites(k, [&](int reg) { gained.push_back({reg, makes}); });
    std::erase_if(held, [&](const Holder& holder) {
      bool written = false;
      uses_.ForWrites(k, [&](int result) { written |= result == holder.reg; });
      return written && (guard < 0 || (!flows && !either));
    });
    for (const Holder& holder : gained) {
      if (holds(holder.reg)) {
        find(holder.reg)->made &= holder.made;
        continue;
      }
      // If there is no room, the result replaces an operand: along a chain the operand is dead by then.
      if (held.size() >= kMostHolders) {
        uses_.ForReads(k, [&](int reg) {
          if (held.size() >= kMostHolders && holds(reg)) held.erase(find(reg));
        });
      }
      if (held.size() < kMostHolders) held.push_back(holder);
    }
    std::sort(held.begin(), held.end());
    return held.empty() ? Way::kLost : Way::kOn;
  }

  const Uses& uses_;
  const ControlFlowGraph& graph_;
  const Adjacency& successors_;
  const std::vector<std::vector<bool>> loops_;    // by node
  std::optional<LiveRegisters> live_;             // of all registers
  std::vector<std::vector<size_t>> writers_;      // by register
  std::vector<const std::vector<bool>*> around_;  // loops that the walk began in
  std::vector<bool> leaves_;                      // by node: threads may end there, or return
  std::set<std::pair<size_t, Holders>> visited_;
  std::vector<std::pair<size_t, Holders>> todo_;
  std::map<std::pair<size_t, int>, bool> known_;
  std::vector<bool> looked_through_;  // by block
  int64_t steps_ = 0;
};

class UsePlanner {
 public:
  UsePlanner(const FunctionOpcodes& opcodes, const ControlFlowGraph& graph, const std::vector<uint32_t>& pc,
             std::shared_ptr<UsePlan>& plan)
      : opcodes_(opcodes),
        graph_(graph),
        pc_(pc),
        plan_(plan),
        uses_(opcodes),
        sure_(uses_, graph, successors_, predecessors_),
        slot_(static_cast<size_t>(uses_.registers()), UsePlan::kNoSlot) {}

  void Plan() {
    const size_t n = opcodes_.size();
    std::vector<size_t> loads;
    for (size_t k = 0; k < n; ++k) {
      if (uses_.kind(k) == Kind::kLoad && MayBeLost(k)) loads.push_back(k);
    }
    if (loads.empty()) return;
    FindReaders();
    for (const size_t k : loads) {
      reads_.insert(k);
      for (const int reg : Elements(k)) {
        if (reg >= 0 && !sure_.Behind(k, reg)) Follow(reg);
      }
    }
    while (!fresh_.empty()) {
      const int reg = fresh_.back();
      fresh_.pop_back();
      for (const size_t k : readers_[static_cast<size_t>(reg)]) {
        if (!uses_.pure(k)) continue;
        uses_.ForWrites(k, [&](int result) {
          if (!sure_.Behind(k, result)) Follow(result);
        });
      }
    }
    FindLive();
    if (plan_ == nullptr) plan_ = std::make_shared<UsePlan>();
    plan_->slots = static_cast<uint32_t>(first_slot_ + followed_.size());
    for (size_t k = 0; k < n; ++k) AddStep(k);
  }

 private:
  // The register of each element of a load; -1: the sink.
  std::vector<int> Elements(size_t k) const {
    const ptx::Operand& results = uses_.instruction(k).operands[0];
    const auto* vector = std::get_if<ptx::VectorRef>(&results.value);
    if (vector == nullptr) return {uses_.Operand(results)};
    std::vector<int> elements;
    for (const ptx::Operand& element : vector->elements) elements.push_back(uses_.Operand(element));
    return elements;
  }
  bool MayBeLost(size_t k) {
    const std::vector<int> elements = Elements(k);
    return elements.size() <= UsePlan::kMostElements &&
           std::any_of(elements.begin(), elements.end(), [&](int reg) { return reg < 0 || !sure_.Behind(k, reg); });
  }

  void FindReaders() {
    readers_.resize(static_cast<size_t>(uses_.registers()));
    for (size_t k = 0; k < opcodes_.size(); ++k) {
      uses_.ForReads(k, [&](int reg) { readers_[static_cast<size_t>(reg)].push_back(k); });
      if (uses_.guard(k) >= 0) readers_[static_cast<size_t>(uses_.guard(k))].push_back(k);
    }
  }
  uint32_t SlotOf(int reg) const { return reg < 0 ? UsePlan::kNoSlot : slot_[static_cast<size_t>(reg)]; }
  void Follow(int reg) {
    if (SlotOf(reg) != UsePlan::kNoSlot) return;
    slot_[static_cast<size_t>(reg)] = static_cast<uint32_t>(first_slot_ + followed_.size());
    followed_.push_back(reg);
    fresh_.push_back(reg);
  }

  using Bits = LiveRegisters::Bits;
  size_t IndexOf(int reg) const { return slot_[static_cast<size_t>(reg)] - first_slot_; }
  void FindLive() {
    std::vector<uint32_t> index(slot_.size(), LiveRegisters::kNoIndex);
    for (size_t k = 0; k < followed_.size(); ++k) index[static_cast<size_t>(followed_[k])] = static_cast<uint32_t>(k);
    live_.emplace(uses_, graph_, successors_, std::move(index), followed_.size());
  }
  const Bits& LiveBehind(size_t k) {
    const size_t block = graph_.block_of[k];
    if (block != live_block_) {
      live_block_ = block;
      const size_t first = graph_.blocks[block].first, last = graph_.blocks[block].last;
      // Words of memory kept for a block.
      AnalysisWork::Spend(kStepsOfKeptWord * (last - first + 1) * ((followed_.size() + 63) / 64));
      live_behind_.resize(last - first + 1);
      Bits live = live_->Out(block);
      for (size_t at = last + 1; at-- > first;) {
        live_behind_[at - first] = live;
        live_->StepBack(at, live);
      }
      died_ = Bits(live.size());
      for (const int before : predecessors_[static_cast<int>(block)]) {
        const Bits out = live_->Out(static_cast<size_t>(before));
        for (size_t w = 0; w < out.size(); ++w) died_[w] |= out[w] & ~live[w];
      }
    }
    return live_behind_[k - graph_.blocks[block].first];
  }

  void AddStep(size_t k) {
    UsePlan::Step step;
    const Bits& live = LiveBehind(k);
    step.pure = uses_.pure(k);
    step.reads = reads_.contains(k);
    step.guard = SlotOf(uses_.guard(k));
    AddSources(k, step);
    bool concerns = step.reads || step.guard != UsePlan::kNoSlot || !step.sources.empty();
    const auto is_live = [&](int reg) { return LiveRegisters::Get(live, IndexOf(reg)); };
    if (step.reads) {
      for (const int reg : Elements(k)) {
        UsePlan::Result& result = step.results.emplace_back();
        result.unread = reg < 0 || readers_[static_cast<size_t>(reg)].empty();
        if (reg < 0) continue;
        result.sure = sure_.Behind(k, reg);
        result.slot = SlotOf(reg);
      }
    } else {
      uses_.ForWrites(k, [&](int reg) {
        const bool sure = step.pure && concerns && sure_.Behind(k, reg);
        if (sure || SlotOf(reg) != UsePlan::kNoSlot) step.results.push_back({SlotOf(reg), sure});
      });
    }
    concerns |= !step.results.empty();
    std::set<uint32_t> dead;
    const auto mention = [&](int reg) {
      if (SlotOf(reg) != UsePlan::kNoSlot && !is_live(reg)) dead.insert(SlotOf(reg));
    };
    uses_.ForReads(k, mention);
    uses_.ForWrites(k, mention);
    mention(uses_.guard(k));
    step.after.assign(dead.begin(), dead.end());
    if (k == graph_.blocks[graph_.block_of[k]].first) {
      AnalysisWork::Spend(followed_.size());
      for (size_t index = 0; index < followed_.size(); ++index) {
        if (LiveRegisters::Get(died_, index)) step.before.push_back(static_cast<uint32_t>(first_slot_ + index));
      }
    }
    if (!concerns && step.before.empty()) return;
    plan_->step_of.resize(std::max<size_t>(plan_->step_of.size(), pc_[k] + 1));
    plan_->steps.push_back(std::move(step));
    plan_->step_of[pc_[k]] = static_cast<uint32_t>(plan_->steps.size());
  }

  void AddSources(size_t k, UsePlan::Step& step) const {
    ForSources(uses_, k, [&](int reg, Shows shows, int row, int bytes, int decider, int own) {
      if (SlotOf(reg) == UsePlan::kNoSlot) return;
      step.sources.push_back({SlotOf(reg), shows, static_cast<uint8_t>(row), static_cast<uint8_t>(bytes),
                              SlotOf(decider), static_cast<uint8_t>(own)});
    });
  }

  const FunctionOpcodes& opcodes_;
  const ControlFlowGraph& graph_;
  const std::vector<uint32_t>& pc_;
  std::shared_ptr<UsePlan>& plan_;
  const Uses uses_;
  const Adjacency successors_{graph_.nodes, graph_.edges}, predecessors_{graph_.nodes, graph_.edges, true};
  SureValues sure_;
  const size_t first_slot_ = plan_ == nullptr ? 0 : plan_->slots;
  std::vector<uint32_t> slot_;  // by register
  std::vector<int> followed_, fresh_;
  std::set<size_t> reads_;  // loads some of whose results are not sure
  std::vector<std::vector<size_t>> readers_;
  std::optional<LiveRegisters> live_;  // of the registers in followed_
  size_t live_block_ = SIZE_MAX;
  std::vector<Bits> live_behind_;  // by instruction of that block
  Bits died_;                      // live at the end of a predecessor, dead in that block
};

}  // namespace

void PlanUses(const FunctionOpcodes& opcodes, const ControlFlowGraph& graph, const std::vector<uint32_t>& pc,
              std::shared_ptr<UsePlan>& plan) {
  if (AnyMayBeUnused(opcodes)) UsePlanner(opcodes, graph, pc, plan).Plan();
}

}  // namespace lockstep::vgpu
