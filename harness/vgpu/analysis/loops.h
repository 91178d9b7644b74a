// Loops of a directed graph.
#pragma once

#include <vector>

#include "vgpu/analysis/dominators.h"

namespace lockstep::vgpu {

// For each node: whether a path of at least one edge leads back to it. O(nodes + edges).
std::vector<bool> NodesInLoops(const Adjacency& successors);

// The natural loops as seen from node 0; for each loop, whether each node is in it. A loop has one header, which
// dominates the source of an edge to it. In a graph with very many loops, only some are returned.
std::vector<std::vector<bool>> NaturalLoops(const Adjacency& successors, const Adjacency& predecessors);

}  // namespace lockstep::vgpu
