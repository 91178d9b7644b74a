// Dominators of a directed graph (Lengauer and Tarjan 1979, with path compression): O(m log n) whatever the graph.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lockstep::vgpu {

// Edges by their source, in compressed rows.
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

// For each node its immediate dominator as seen from the root; -1 for the root and for nodes that it does not reach.
// `predecessors` is the same graph reversed.
std::vector<int> ImmediateDominators(const Adjacency& successors, const Adjacency& predecessors, int root);

}  // namespace lockstep::vgpu
