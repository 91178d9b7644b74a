// Graphs of work: nodes and what they depend on, made by hand (cudaGraphAdd…Node) or by capturing streams.
//
// A graph is owned by the program until cudaGraphDestroy. An executable graph is a copy in topological order: each node
// comes after all that it depends on. A launch does the nodes' work in that order, in one stream. Handles that the
// program passes are looked up, never dereferenced.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "vgpu/cudart/work.h"

namespace lockstep::vgpu::cudart {

struct Node {
  Graph* graph = nullptr;
  Work work;
  std::vector<Node*> dependencies;
  const Node* original = nullptr;  // in the graph that cudaGraphClone copied; may be gone
  std::vector<void*> arguments;    // what cudaGraphKernelNodeGetParams handed out
};

// The program's memory that graphs hold (user_object.cc), and how many of its references.
using HeldObjects = std::map<cudaUserObject_t, std::pair<unsigned, std::shared_ptr<void>>>;
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;  // in the order in which they were added
  HeldObjects objects = {};
  bool memory_tried = false;                      // a node that allocates or frees was asked for, in vain perhaps
  std::shared_ptr<const Graph> around = nullptr;  // a conditional node's graph: the one with the node
  bool lost_condition = false;                    // a conditional node was destroyed
};

// Nodes behind all that they depend on; of several that may come next, the first that was added. Throws ApiError where
// dependencies form a circle.
std::vector<const Node*> InOrder(const Graph& graph);
// A copy; (*originals)[node] is what the copy's node was copied from.
std::shared_ptr<Graph> Clone(const Graph& graph, std::map<const Node*, const Node*>* originals = nullptr);

struct ExecutableNode {
  const Node* source = nullptr;  // of the graph that it was instantiated from; may be gone
  Work work;
  bool enabled = true;
  std::vector<size_t> after;  // the nodes that it depends on, by their place in the executable graph
};
// Of a graph's branches: what the streams' clocks know them by (graph_lanes.cc).
class Lanes {
 public:
  Lanes() = default;
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  // One more than there are is made.
  uint32_t At(StreamClocks& clocks, size_t lane, int device);

 private:
  std::vector<uint32_t> slots_;
};
struct ExecutableGraph {
  std::vector<ExecutableNode> nodes;
  std::weak_ptr<const Graph> of;  // what it was instantiated from
  unsigned long long flags = 0;
  Lanes lanes;
  Event done;  // its last launch: the next one comes behind it, in whatever stream
  HeldObjects objects;
};

// A capture under way. It ends when its first stream's does; that other streams have joined by then is for them to
// undo.
struct Capture {
  std::shared_ptr<Graph> graph;
  const Stream* origin = nullptr;
  unsigned long long id = 0;
  bool valid = true;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread = {};          // which began it
  bool blocking = false;                // a stream that waits for the legacy stream takes part
  std::vector<const Node*> aside = {};  // of other streams than `origin`
};

// What handles stand for.
struct Graphs {
  std::map<cudaGraph_t, std::shared_ptr<Graph>> graphs;
  std::map<cudaGraphExec_t, std::unique_ptr<ExecutableGraph>> executables;
  unsigned long long captures = 0;
  std::set<std::shared_ptr<Capture>> active;
};
Graphs& graphs();

// All throw ApiError for a handle that does not exist.
std::shared_ptr<Graph> GraphOf(cudaGraph_t handle);
Node& NodeOf(cudaGraphNode_t handle);
ExecutableGraph& ExecutableOf(cudaGraphExec_t handle);
ExecutableNode& NodeIn(ExecutableGraph& executable, cudaGraphNode_t node);

inline cudaGraphNode_t HandleOf(const Node* node) { return reinterpret_cast<cudaGraphNode_t>(const_cast<Node*>(node)); }

// capture.cc. The stream's capture can't go on: it fails when it ends. Throws ApiError.
[[noreturn]] void Spoil(const Stream& stream, cudaError_t error);
// The work becomes a node of the stream's capture, behind what the stream stands at.
void AddToCapture(Stream& stream, Work work);
// A stream takes part in a capture from now on.
void Join(Stream& stream, const CapturePoint& point);

Node* AddNode(Graph& graph, Work work, std::vector<Node*> dependencies);
cudaGraphNodeType TypeOf(const Work& work);

// What is done to the graph later does not change it.
std::unique_ptr<ExecutableGraph> MakeExecutable(const Graph& graph);
// The stream stands in the clocks where a lane does.
class InLane {
 public:
  InLane(Stream& stream, uint32_t lane, bool in_graph)
      : stream_(stream), slot_(stream.slot), in_graph_(stream.in_graph) {
    stream_.slot = lane;
    stream_.in_graph = in_graph;
  }
  ~InLane() {
    stream_.slot = slot_;
    stream_.in_graph = in_graph_;
  }
  InLane(const InLane&) = delete;
  InLane& operator=(const InLane&) = delete;

 private:
  Stream& stream_;
  const uint32_t slot_;
  const bool in_graph_;  // the graph is within another
};

void LaunchGraph(Runtime& r, ExecutableGraph& executable, Stream& stream);
// Does all the work of an executable graph, each branch as if in a stream of its own; the stream's other work comes
// before and behind all of it.
void PerformNodes(Runtime& r, ExecutableGraph& executable, Stream& stream);

// Work that a node can't have is refused when it is given: kernels that can't be launched, copies of nothing, fills of
// what is not the device's. Throws ApiError.
void CheckNode(Runtime& r, const Work& work);
// Of a graph's node with a condition, the graphs of which `params` then names; and before a launch.
inline constexpr unsigned kMostBodies = 1 << 16;
bool HasConditions(const Graph& graph);
// An executable graph's; throws ApiError where one's graph has what it can't.
bool HasUnusedCondition(const std::shared_ptr<const Graph>& graph);  // a handle without a node
void CheckConditions(const ExecutableGraph& executable);
ConditionWork MakeCondition(const std::shared_ptr<Graph>& graph, cudaConditionalNodeParams& params);
void StartConditions(Runtime& r, const ExecutableGraph& executable, Stream& stream);
// A kernel's. False: there is no such handle.
bool SetCondition(cudaGraphConditionalHandle handle, unsigned value);
// Whether a fill's memory is the device's, or what a graph may have allocated by then.
bool IsFillable(Runtime& r, const FillWork& fill);

// Between Work and the parameter structures of the graph API (graph_params.cc).
KernelWork MakeKernel(Runtime& r, const cudaKernelNodeParams* params);
void CheckKind(cudaMemcpyKind kind);  // of a node's copy
// Nodes of the driver's alone.
cudaError_t AddWords(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                     const WordsWork& words);
cudaError_t GetWords(cudaGraphNode_t node, WordsWork** words);
cudaError_t SetWords(cudaGraphNode_t node, const WordsWork& words);
void CheckSymbolKind(cudaMemcpyKind kind, bool to, size_t bytes);  // to or from a variable
CopyWork MakeNodeCopy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
FillWork MakeFill(const cudaMemsetParams* params);
HostWork MakeHost(const cudaHostNodeParams* params);
CopyWork MakeCopyToSymbol(Runtime& r, const void* symbol, const void* from, size_t bytes, size_t offset,
                          cudaMemcpyKind kind);
CopyWork MakeCopyFromSymbol(Runtime& r, void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind);

cudaKernelNodeParams ParamsOf(Node& node, const KernelWork& work);
cudaMemsetParams ParamsOf(const FillWork& work);
cudaMemcpy3DParms ParamsOf(const CopyWork& work);

}  // namespace lockstep::vgpu::cudart
