// Dominators of a directed graph (Lengauer and Tarjan 1979, with path compression), in O(m log n) for any graph.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace lockstep::vgpu {

// Edges by source node, in compressed sparse rows.
class Adjacency {
 public:
  using Edge = std::pair<int, int>;  // from, to
  Adjacency(int nodes, const std::vector<Edge>& edges, bool reversed = false);
  std::span<const int> operator[](int node) const {
    return {targets_.data() + first_[node], static_cast<size_t>(first_[node + 1] - first_[node])};
  }
  int nodes() const { return static_cast<int>(first_.size()) - 1; }

 private:
  std::vector<int> first_, targets_;
};

// Each node's immediate dominator; -1 for the root and for unreachable nodes.
// `predecessors` is the same graph reversed.
std::vector<int> ImmediateDominators(const Adjacency& successors, const Adjacency& predecessors, int root);

}  // namespace lockstep::vgpu
