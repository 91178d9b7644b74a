#include "vgpu/analysis/dominators.h"

#include <numeric>

namespace lockstep::vgpu {
namespace {

// Nodes are numbered in depth-first preorder; everything below uses these numbers.
class LengauerTarjan {
 public:
  LengauerTarjan(const Adjacency& successors, const Adjacency& predecessors, int root)
      : predecessors_(predecessors), number_(successors.nodes(), -1) {
    Number(successors, root);
  }

  std::vector<int> Run() {
    const int count = static_cast<int>(node_.size());
    semi_.resize(count);
    std::iota(semi_.begin(), semi_.end(), 0);
    label_ = semi_;
    ancestor_.assign(count, -1);
    std::vector<int> dominator(count, 0);
    std::vector<std::vector<int>> bucket(count);
    for (int w = count - 1; w > 0; --w) {
      for (const int predecessor : predecessors_[node_[w]]) {
        const int v = number_[predecessor];
        if (v >= 0) semi_[w] = std::min(semi_[w], semi_[Evaluate(v)]);
      }
      bucket[semi_[w]].push_back(w);
      ancestor_[w] = parent_[w];
      for (const int v : bucket[parent_[w]]) {
        const int u = Evaluate(v);
        dominator[v] = semi_[u] < semi_[v] ? u : parent_[w];
      }
      bucket[parent_[w]].clear();
    }
    std::vector<int> result(number_.size(), -1);
    for (int w = 1; w < count; ++w) {
      if (dominator[w] != semi_[w]) dominator[w] = dominator[dominator[w]];
      result[node_[w]] = node_[dominator[w]];
    }
    return result;
  }

 private:
  void Number(const Adjacency& successors, int root) {
    struct Frame {
      int node;
      size_t next;
    };
    std::vector<Frame> stack;
    const auto visit = [&](int node, int parent) {
      number_[node] = static_cast<int>(node_.size());
      node_.push_back(node);
      parent_.push_back(parent);
      stack.push_back({node, 0});
    };
    visit(root, 0);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const std::span<const int> targets = successors[frame.node];
      if (frame.next == targets.size()) {
        stack.pop_back();
        continue;
      }
      const int target = targets[frame.next++];
      if (number_[target] < 0) visit(target, number_[frame.node]);
    }
  }

  // The node with the smallest semidominator on the path from v up to its tree's root, excluding the root.
  int Evaluate(int v) {
    if (ancestor_[v] < 0) return v;
    path_.clear();
    for (int u = v; ancestor_[ancestor_[u]] >= 0; u = ancestor_[u]) path_.push_back(u);
    while (!path_.empty()) {
      const int u = path_.back();
      path_.pop_back();
      const int above = ancestor_[u];
      if (semi_[label_[above]] < semi_[label_[u]]) label_[u] = label_[above];
      ancestor_[u] = ancestor_[above];
    }
    return label_[v];
  }

  const Adjacency& predecessors_;
  std::vector<int> number_;  // by node; -1 if unreachable from the root
  std::vector<int> node_, parent_, semi_, label_, ancestor_, path_;
};

}  // namespace

Adjacency::Adjacency(int nodes, const std::vector<Edge>& edges, bool reversed) : first_(nodes + 1, 0) {
  for (const auto& [from, to] : edges) ++first_[(reversed ? to : from) + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  targets_.resize(edges.size());
  std::vector<int> next(first_.begin(), first_.end() - 1);
  for (const auto& [from, to] : edges) targets_[next[reversed ? to : from]++] = reversed ? from : to;
}

std::vector<int> ImmediateDominators(const Adjacency& successors, const Adjacency& predecessors, int root) {
  return LengauerTarjan(successors, predecessors, root).Run();
}

}  // namespace lockstep::vgpu
