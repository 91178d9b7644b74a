#include "vgpu/analysis/liveness.h"

#include <algorithm>
#include <bit>
#include <functional>

// Theory of operation. Most registers of compiled code live within one block. Only "crossing" registers, which some
// block reads before it writes them, take part in the data-flow equations, as bit sets per block:
//   in(b) = reads(b) ∪ (out(b) \ writes(b)),  out(b) = ∪ in(successors of b)
// iterated backwards until nothing changes. Then one backward walk through each block counts the live registers at each
// instruction.
namespace lockstep::vgpu {
namespace {

using Word = uint64_t;
constexpr size_t kWordBits = 64;
constexpr uint64_t kMostBits = uint64_t{1} << 29;       // bits of in(b), for all blocks b together
constexpr uint64_t kMostWordSteps = uint64_t{1} << 29;  // words that the iteration may visit

class LivenessSolver {
 public:
  LivenessSolver(const ptx::Function& function, const ControlFlowGraph& graph, const RegisterUses& uses)
      : function_(function),
        graph_(graph),
        uses_(uses),
        nodes_(static_cast<size_t>(graph.nodes)),
        successors_(graph.nodes, graph.edges),
        predecessors_(graph.nodes, graph.edges, true) {}

  Liveness Solve() {
    result_.interval.resize(uses_.registers.name.size());
    if (function_.body.empty()) return std::move(result_);
    NumberCrossing();
    words_ = (crossing_.size() + kWordBits - 1) / kWordBits;
    const bool solved = nodes_ * words_ * kWordBits <= kMostBits && Iterate();
    if (!solved) LiveEverywhere();
    CoverMentions();
    CoverBlocks();
    result_.live_at_entry =
        in_.empty() ? !crossing_.empty() : std::any_of(in_.begin(), in_.begin() + words_, std::identity());
    CountPressure();
    return std::move(result_);
  }

 private:
  template <typename F>
  void ForUses(size_t instruction, F f) const {
    for (size_t k = uses_.first[instruction]; k < uses_.first[instruction + 1]; ++k) f(uses_.uses[k]);
  }

  // Whether a write at this instruction replaces the register's old value completely.
  bool Kills(size_t instruction, const RegisterUse& use) const {
    return use.writes && !use.reads && !function_.body[instruction].guard;
  }

  void NumberCrossing() {
    crossing_index_.assign(result_.interval.size(), -1);
    std::vector<size_t> killed_in(result_.interval.size(), SIZE_MAX);
    for (size_t block = 0; block < graph_.blocks.size(); ++block) {
      for (size_t k = graph_.blocks[block].first; k <= graph_.blocks[block].last; ++k) {
        ForUses(k, [&](const RegisterUse& use) {
          if (!Kills(k, use) && killed_in[use.reg] != block) Cross(use.reg);
        });
        ForUses(k, [&](const RegisterUse& use) {
          if (Kills(k, use)) killed_in[use.reg] = block;
        });
      }
    }
    for (size_t reg = 0; reg < result_.interval.size(); ++reg) {
      if (uses_.registers.of_interface[reg]) Cross(static_cast<int>(reg));
    }
  }

  void Cross(int reg) {
    if (crossing_index_[reg] >= 0) return;
    crossing_index_[reg] = static_cast<int>(crossing_.size());
    crossing_.push_back(reg);
  }

  // How many 32-bit registers a register needs.
  uint32_t WeightOf(int reg) const {
    const ptx::Type type = uses_.registers.type[reg];
    if (type == ptx::Type::kPred) return 0;
    return std::max(1u, static_cast<uint32_t>(ptx::SizeOf(type)) / 4);
  }

  Word* Row(std::vector<Word>& set, size_t node) { return set.data() + node * words_; }

  // False: it takes too long.
  bool Iterate() {
    in_.assign(nodes_ * words_, 0);
    std::vector<Word> kept(nodes_ * words_, ~Word{0});  // the complement of what a block writes
    const auto touch = [&](std::vector<Word>& set, size_t block, int reg, bool value) {
      const int index = crossing_index_[reg];
      if (index < 0) return;
      Word& word = Row(set, block)[index / kWordBits];
      const Word bit = Word{1} << (index % kWordBits);
      word = value ? word | bit : word & ~bit;
    };
    for (size_t block = 0; block < graph_.blocks.size(); ++block) {
      for (size_t k = graph_.blocks[block].last + 1; k-- > graph_.blocks[block].first;) {
        ForUses(k, [&](const RegisterUse& use) {
          if (!Kills(k, use)) return;
          touch(kept, block, use.reg, false);
          touch(in_, block, use.reg, false);
        });
        ForUses(k, [&](const RegisterUse& use) {
          if (use.reads) touch(in_, block, use.reg, true);
        });
      }
    }
    uint64_t steps = 0;
    std::vector<Word> out(words_);
    std::vector<bool> pending(nodes_, true);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t node = nodes_; node-- > 0;) {
        if (!pending[node]) continue;
        pending[node] = false;
        steps += words_ * (1 + successors_[static_cast<int>(node)].size());
        if (steps > kMostWordSteps) return false;
        LiveOut(node, &out);
        const Word* keep = Row(kept, node);
        Word* in = Row(in_, node);
        bool grew = false;
        for (size_t w = 0; w < words_; ++w) {
          const Word updated = in[w] | (out[w] & keep[w]);
          grew |= updated != in[w];
          in[w] = updated;
        }
        if (!grew) continue;
        changed = true;
        for (const int predecessor : predecessors_[static_cast<int>(node)]) pending[predecessor] = true;
      }
    }
    return true;
  }

  void LiveOut(size_t node, std::vector<Word>* out) const {
    std::fill(out->begin(), out->end(), 0);
    for (const int next : successors_[static_cast<int>(node)]) {
      const Word* in = in_.data() + static_cast<size_t>(next) * words_;
      for (size_t w = 0; w < words_; ++w) (*out)[w] |= in[w];
    }
  }

  // The safe answer: every crossing register is live everywhere.
  void LiveEverywhere() {
    in_.clear();
    for (const int reg : crossing_) result_.interval[reg] = {0, function_.body.size() - 1};
  }

  void Extend(int reg, size_t instruction) {
    LiveInterval& interval = result_.interval[reg];
    interval.first = std::min(interval.first, instruction);
    interval.last = std::max(interval.last, instruction);
  }

  void CoverMentions() {
    for (size_t k = 0; k < function_.body.size(); ++k) {
      ForUses(k, [&](const RegisterUse& use) { Extend(use.reg, k); });
    }
    for (size_t reg = 0; reg < result_.interval.size(); ++reg) {
      if (uses_.registers.of_interface[reg]) result_.interval[reg] = {0, function_.body.size() - 1};
    }
  }

  // Extends the intervals of crossing registers to the starts of blocks where they are live, and then to the ends. Each
  // pass handles a register once, at its first block in the pass's direction.
  void CoverBlocks() {
    if (in_.empty()) return;
    std::vector<Word> seen(words_, 0), out(words_);
    const auto cover = [&](const Word* live, size_t instruction) {
      for (size_t w = 0; w < words_; ++w) {
        for (Word fresh = live[w] & ~seen[w]; fresh != 0; fresh &= fresh - 1) {
          Extend(crossing_[w * kWordBits + static_cast<size_t>(std::countr_zero(fresh))], instruction);
        }
        seen[w] |= live[w];
      }
    };
    for (size_t block = 0; block < graph_.blocks.size(); ++block) {
      cover(Row(in_, block), graph_.blocks[block].first);
    }
    std::fill(seen.begin(), seen.end(), 0);
    for (size_t block = graph_.blocks.size(); block-- > 0;) {
      LiveOut(block, &out);
      cover(out.data(), graph_.blocks[block].last);
    }
  }

  // Walks backwards through a block. A crossing register is live if its bit is set, another one if the walk has met it
  // in this block.
  class Walk {
   public:
    explicit Walk(const LivenessSolver& solver)
        : solver_(solver), bits_(solver.words_), met_in_(solver.result_.interval.size(), SIZE_MAX) {
      for (const uint32_t weight : {1u, 2u, 4u}) {
        std::vector<Word>& mask = masks_.emplace_back(solver.words_);
        for (size_t k = 0; k < solver.crossing_.size(); ++k) {
          if (solver.WeightOf(solver.crossing_[k]) == weight) mask[k / kWordBits] |= Word{1} << (k % kWordBits);
        }
      }
    }

    void Start(size_t block) {
      block_ = block;
      solver_.LiveOut(block, &bits_);
      weight_ = 0;
      for (size_t m = 0; m < masks_.size(); ++m) {
        for (size_t w = 0; w < bits_.size(); ++w) {
          weight_ += static_cast<uint32_t>(std::popcount(bits_[w] & masks_[m][w])) << m;
        }
      }
    }

    // Returns whether it was live.
    bool Set(int reg, bool live) {
      const int index = solver_.crossing_index_[reg];
      bool was = met_in_[reg] == block_;
      if (index >= 0) {
        Word& word = bits_[index / kWordBits];
        const Word bit = Word{1} << (index % kWordBits);
        was = (word & bit) != 0;
        word = live ? word | bit : word & ~bit;
      } else {
        met_in_[reg] = live ? block_ : SIZE_MAX;
      }
      if (live && !was) weight_ += solver_.WeightOf(reg);
      if (!live && was) weight_ -= solver_.WeightOf(reg);
      return was;
    }

    uint32_t weight() const { return weight_; }

   private:
    const LivenessSolver& solver_;
    std::vector<Word> bits_;
    std::vector<size_t> met_in_;
    std::vector<std::vector<Word>> masks_;  // the crossing registers of weight 1, 2, 4
    size_t block_ = 0;
    uint32_t weight_ = 0;
  };

  void CountPressure() {
    if (in_.empty() && !crossing_.empty()) {
      CountPressureByIntervals();
      return;
    }
    Walk walk(*this);
    std::vector<int> unread;
    const auto count = [&] { result_.pressure = std::max(result_.pressure, walk.weight()); };
    for (size_t block = 0; block < graph_.blocks.size(); ++block) {
      walk.Start(block);
      count();
      for (size_t k = graph_.blocks[block].last + 1; k-- > graph_.blocks[block].first;) {
        // A result occupies a register at its instruction even if it is never read.
        unread.clear();
        ForUses(k, [&](const RegisterUse& use) {
          if (use.writes && !walk.Set(use.reg, true)) unread.push_back(use.reg);
        });
        count();
        for (const int reg : unread) walk.Set(reg, false);
        ForUses(k, [&](const RegisterUse& use) {
          if (Kills(k, use)) walk.Set(use.reg, false);
        });
        ForUses(k, [&](const RegisterUse& use) {
          if (use.reads) walk.Set(use.reg, true);
        });
        count();
      }
    }
  }

  void CountPressureByIntervals() {
    std::vector<int64_t> change(function_.body.size() + 1, 0);
    for (size_t reg = 0; reg < result_.interval.size(); ++reg) {
      change[result_.interval[reg].first] += WeightOf(static_cast<int>(reg));
      change[result_.interval[reg].last + 1] -= WeightOf(static_cast<int>(reg));
    }
    int64_t live = 0;
    for (const int64_t difference : change) {
      live += difference;
      result_.pressure = std::max(result_.pressure, static_cast<uint32_t>(std::min<int64_t>(live, UINT32_MAX)));
    }
  }

  const ptx::Function& function_;
  const ControlFlowGraph& graph_;
  const RegisterUses& uses_;
  const size_t nodes_;
  const Adjacency successors_, predecessors_;
  std::vector<int> crossing_;        // registers, by their bit
  std::vector<int> crossing_index_;  // the reverse, -1 for the others
  size_t words_ = 0;
  std::vector<Word> in_;  // by node; empty when the equations were not solved
  Liveness result_;
};

}  // namespace

Liveness FindLiveness(const ptx::Function& function, const ControlFlowGraph& graph, const RegisterUses& uses) {
  return LivenessSolver(function, graph, uses).Solve();
}

}  // namespace lockstep::vgpu
