// The branches of a graph, to order their work: each node runs in a lane, which StreamClocks treats as a stream.
// A node continues the lane of a node that it depends on, unless another node already has; then it takes a new lane.
// A launch of an executable graph comes after its previous launch, as documented.
#include <map>

#include "vgpu/cudart/graph.h"

namespace lockstep::vgpu::cudart {

namespace {

bool IsChain(const ExecutableGraph& executable) {
  for (size_t i = 1; i < executable.nodes.size(); ++i) {
    const std::vector<size_t>& after = executable.nodes[i].after;
    if (after.size() != 1 || after[0] != i - 1) return false;
  }
  return true;
}

void PerformEnabled(Runtime& r, const ExecutableNode& node, Stream& stream) {
  if (!node.enabled) return;
  PerformInOrder(r, node.work, stream);
  StartAsked(r, stream);
}

void PerformBranches(Runtime& r, ExecutableGraph& executable, Stream& stream) {
  StreamClocks& clocks = r.timeline().clocks();
  const StreamClocks::Clock begin = clocks.Record(stream.slot);
  std::vector<StreamClocks::Clock> done;
  std::map<size_t, size_t> last_in;  // node → lane, for nodes that are the last so far in their lane
  size_t used = 0;
  for (const ExecutableNode& node : executable.nodes) {
    size_t lane = used;
    for (const size_t before : node.after) {
      if (const auto found = last_in.find(before); found != last_in.end()) {
        lane = found->second;
        last_in.erase(found);
        break;
      }
    }
    if (lane == used) ++used;
    const uint32_t slot = executable.lanes.At(clocks, lane, stream.device);
    clocks.Wait(slot, begin);
    for (const size_t before : node.after) clocks.Wait(slot, done[before]);
    {
      const InLane in_lane(stream, slot, true, stream.graph);
      PerformEnabled(r, node, stream);
    }
    last_in[done.size()] = lane;
    done.push_back(clocks.Record(slot));
  }
  for (const StreamClocks::Clock& node : done) clocks.Wait(stream.slot, node);
}

}  // namespace

Lanes::~Lanes() {
  for (const uint32_t slot : slots_) runtime().timeline().clocks().Remove(slot);
}

uint32_t Lanes::At(StreamClocks& clocks, size_t lane, int device) {
  if (lane == slots_.size()) slots_.push_back(clocks.Add(device, StreamKind::kNonBlocking));
  return slots_[lane];
}

void PerformNodes(Runtime& r, ExecutableGraph& executable, Stream& stream) {
  if (!IsChain(executable)) return PerformBranches(r, executable, stream);
  for (const ExecutableNode& node : executable.nodes) PerformEnabled(r, node, stream);
}

}  // namespace lockstep::vgpu::cudart
