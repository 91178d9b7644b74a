// Loops of a directed graph.
#pragma once

#include <vector>

#include "vgpu/analysis/dominators.h"

namespace lockstep::vgpu {

// For each node: whether some way of one edge or more leads from it back to it. O(nodes + edges).
std::vector<bool> NodesInLoops(const Adjacency& successors);

// The natural loops as seen from node 0, by node whether it lies in them: one a header, to which an edge leads from a
// node that it dominates. Of a graph with very many, some.
std::vector<std::vector<bool>> NaturalLoops(const Adjacency& successors, const Adjacency& predecessors);

}  // namespace lockstep::vgpu
