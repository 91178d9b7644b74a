#include "vgpu/decode/flow.h"

#include "vgpu/analysis/control_flow_graph.h"
#include "vgpu/analysis/loops.h"

// Theory of operation. Lanes that diverge at a branch reconverge at its immediate post-dominator: the first instruction
// that every path from the branch to the function's end passes. Threads that end earlier (exit, trap, a kernel's early
// return) never arrive and are not waited for, so paths that only lead there do not count: an assertion in one arm of
// an if does not keep the other lanes apart until the kernel's end. In a kernel the text's last ret is the end and
// every other one an exit; in a function every ret leads to one common end.
//
// Post-dominators are the dominators of the reversed graph, starting from the end. Parts of the graph that do not reach
// the end (a kernel that leaves by exit, an arm that traps) are analysed a second time with every exit as an end.
namespace lockstep::vgpu {
namespace {

class FlowAnalysis {
 public:
  explicit FlowAnalysis(const FunctionOpcodes& opcodes)
      : function_(opcodes.function()),
        graph_(std::make_shared<const ControlFlowGraph>(BuildControlFlowGraph(opcodes))),
        end_(graph_->nodes) {}

  Flow Run() {
    const size_t size = function_.body.size();
    flow_.graph = graph_;
    flow_.reconvergence.assign(size, kNoInstruction);
    flow_.is_reconvergence_point.assign(size + 1, false);
    flow_.is_leader.assign(size, false);
    if (size == 0) return std::move(flow_);
    for (const ControlFlowGraph::Block& block : graph_->blocks) flow_.is_leader[block.first] = true;
    const std::vector<bool> in_loop = NodesInLoops(Adjacency(graph_->nodes, graph_->edges));
    flow_.in_loop.resize(size);
    for (size_t k = 0; k < size; ++k) flow_.in_loop[k] = in_loop[graph_->block_of[k]];

    done_.assign(graph_->blocks.size(), false);
    std::vector<int> ends;
    if (!function_.is_entry) {
      ends = graph_->returns;
    } else {
      for (const auto* list : {&graph_->returns, &graph_->exits, &graph_->traps}) {
        if (!list->empty()) {
          ends = {list->back()};
          break;
        }
      }
    }
    Analyze(ends);
    ends = graph_->returns;
    ends.insert(ends.end(), graph_->exits.begin(), graph_->exits.end());
    ends.insert(ends.end(), graph_->traps.begin(), graph_->traps.end());
    Analyze(ends);
    return std::move(flow_);
  }

 private:
  // Finds the reconvergence points of blocks that reach one of the ends and have none yet.
  void Analyze(const std::vector<int>& ends) {
    std::vector<Adjacency::Edge> edges = graph_->edges;
    for (const int node : ends) edges.emplace_back(node, end_);
    const Adjacency successors(graph_->nodes + 1, edges), predecessors(graph_->nodes + 1, edges, true);
    const std::vector<int> meeting = ImmediateDominators(predecessors, successors, end_);
    const auto lives = [&](int node) { return node == end_ || meeting[node] >= 0; };
    const auto ways = [&](int node) {
      int count = 0;
      for (const int next : successors[node]) count += lives(next);
      return count;
    };
    for (size_t block = 0; block < graph_->blocks.size(); ++block) {
      if (done_[block] || !lives(static_cast<int>(block))) continue;
      done_[block] = true;
      int node = static_cast<int>(block);
      if (ways(node) == 1 && graph_->IsTable(*LivingSuccessor(successors[node], lives))) {
        node = *LivingSuccessor(successors[node], lives);
      }
      if (ways(node) < 2) continue;
      // Tables have no position in the text: lanes that diverge before one reconverge after it.
      do {
        node = meeting[node];
      } while (node != end_ && graph_->IsTable(node));
      const size_t last = graph_->blocks[block].last;
      if (node != end_) {
        flow_.reconvergence[last] = graph_->blocks[node].first;
      } else if (!function_.is_entry) {
        flow_.reconvergence[last] = function_.body.size();
      } else {
        continue;
      }
      flow_.is_reconvergence_point[flow_.reconvergence[last]] = true;
    }
  }

  template <typename Lives>
  static const int* LivingSuccessor(std::span<const int> successors, const Lives& lives) {
    for (const int& next : successors) {
      if (lives(next)) return &next;
    }
    return nullptr;
  }

  const ptx::Function& function_;
  const std::shared_ptr<const ControlFlowGraph> graph_;
  const int end_;
  std::vector<bool> done_;
  Flow flow_;
};

}  // namespace

Flow AnalyzeFlow(const FunctionOpcodes& opcodes) { return FlowAnalysis(opcodes).Run(); }

}  // namespace lockstep::vgpu
