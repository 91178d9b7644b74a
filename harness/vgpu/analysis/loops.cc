#include "vgpu/analysis/loops.h"

#include <algorithm>

#include "vgpu/analysis/analysis_work.h"

namespace lockstep::vgpu {
namespace {

constexpr int kUnseen = -1;

// Strongly connected components (Tarjan 1972), with an explicit stack, since generated code can be one long chain. A
// node is on a cycle if its component has another node, or if it has an edge to itself.
class LoopFinder {
 public:
  explicit LoopFinder(const Adjacency& successors)
      : successors_(successors),
        order_(successors.nodes(), kUnseen),
        lowest_(successors.nodes()),
        is_open_(successors.nodes(), false),
        in_loop_(successors.nodes(), false) {}

  std::vector<bool> Run() {
    for (int node = 0; node < successors_.nodes(); ++node) {
      if (order_[node] == kUnseen) Walk(node);
    }
    return std::move(in_loop_);
  }

 private:
  struct Step {
    int node;
    size_t next;  // of the node's successors
  };

  void Walk(int root) {
    Enter(root);
    while (!way_.empty()) {
      Step& step = way_.back();
      const std::span<const int> next = successors_[step.node];
      if (step.next < next.size()) {
        const int to = next[step.next++];
        if (to == step.node) in_loop_[to] = true;
        if (order_[to] == kUnseen) {
          Enter(to);
        } else if (is_open_[to]) {
          lowest_[step.node] = std::min(lowest_[step.node], order_[to]);
        }
        continue;
      }
      const int node = step.node;
      way_.pop_back();
      if (!way_.empty()) lowest_[way_.back().node] = std::min(lowest_[way_.back().node], lowest_[node]);
      if (lowest_[node] == order_[node]) Close(node);
    }
  }

  void Enter(int node) {
    order_[node] = lowest_[node] = entered_++;
    is_open_[node] = true;
    open_.push_back(node);
    way_.push_back({node, 0});
  }

  // Pops a whole component, which starts at `node`, off the stack.
  void Close(int node) {
    const bool is_alone = open_.back() == node;
    for (bool is_last = false; !is_last; open_.pop_back()) {
      const int member = open_.back();
      is_open_[member] = false;
      if (!is_alone) in_loop_[member] = true;
      is_last = member == node;
    }
  }

  const Adjacency& successors_;
  std::vector<int> order_, lowest_;  // by node: when it was entered; the earliest open node that it reaches
  std::vector<bool> is_open_, in_loop_;
  std::vector<int> open_;
  std::vector<Step> way_;
  int entered_ = 0;
};

// Whether a node dominates another, in a few steps: its interval of the tree's preorder holds the other's.
class DominatorTree {
 public:
  explicit DominatorTree(const std::vector<int>& dominator)
      : begin_(dominator.size(), kUnseen), end_(dominator.size()) {
    const int nodes = static_cast<int>(dominator.size());
    std::vector<Adjacency::Edge> edges;
    for (int node = 0; node < nodes; ++node) {
      if (dominator[static_cast<size_t>(node)] >= 0) edges.emplace_back(dominator[static_cast<size_t>(node)], node);
    }
    const Adjacency children(nodes, edges);
    int entered = 0;
    std::vector<int> way;
    for (int root = 0; root < nodes; ++root) {
      if (dominator[static_cast<size_t>(root)] < 0) way.push_back(root);
      while (!way.empty()) {
        const int node = way.back();
        if (begin_[static_cast<size_t>(node)] == kUnseen) {
          begin_[static_cast<size_t>(node)] = entered++;
          for (const int child : children[node]) way.push_back(child);
        } else {
          end_[static_cast<size_t>(node)] = entered;
          way.pop_back();
        }
      }
    }
  }

  bool Dominates(int above, int node) const {
    const int place = begin_[static_cast<size_t>(node)];
    return begin_[static_cast<size_t>(above)] <= place && place < end_[static_cast<size_t>(above)];
  }

 private:
  std::vector<int> begin_, end_;  // by node
};

}  // namespace

std::vector<bool> NodesInLoops(const Adjacency& successors) { return LoopFinder(successors).Run(); }

std::vector<std::vector<bool>> NaturalLoops(const Adjacency& successors, const Adjacency& predecessors) {
  constexpr size_t kMostBits = size_t{1} << 26;
  const int nodes = successors.nodes();
  std::vector<std::vector<bool>> loops;
  if (nodes == 0) return loops;
  const DominatorTree tree(ImmediateDominators(successors, predecessors, 0));
  for (int header = 0; header < nodes; ++header) {
    std::vector<bool> holds;
    std::vector<int> todo;
    const auto add = [&](int node) {
      if (holds[static_cast<size_t>(node)]) return;
      holds[static_cast<size_t>(node)] = true;
      todo.push_back(node);
    };
    for (const int latch : predecessors[header]) {
      if (!tree.Dominates(header, latch)) continue;
      if (holds.empty()) {
        if (loops.size() * static_cast<size_t>(nodes) > kMostBits) return loops;
        holds.resize(static_cast<size_t>(nodes));
        holds[static_cast<size_t>(header)] = true;
      }
      add(latch);
    }
    while (!todo.empty()) {
      const int node = todo.back();
      todo.pop_back();
      AnalysisWork::Spend(1 + predecessors[node].size());
      for (const int before : predecessors[node]) add(before);
    }
    if (!holds.empty()) loops.push_back(std::move(holds));
  }
  return loops;
}

}  // namespace lockstep::vgpu
