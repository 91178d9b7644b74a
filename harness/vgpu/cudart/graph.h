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
  const Node* original = nullptr;                       // in the graph that cudaGraphClone copied; may be gone
  std::vector<void*> arguments;                         // returned by cudaGraphKernelNodeGetParams
  std::map<const Node*, cudaGraphEdgeData> edges = {};  // dependencies' data, if it is not the default
  cudaGraphEdgeData EdgeFrom(const Node* before) const {
    const auto found = edges.find(before);
    return found == edges.end() ? cudaGraphEdgeData{} : found->second;
  }
  void SetEdge(const Node* before, const cudaGraphEdgeData& data);
};

// User objects that graphs hold (user_object.cc), with their reference counts.
using HeldObjects = std::map<cudaUserObject_t, std::pair<unsigned, std::shared_ptr<void>>>;
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;  // in the order in which they were added
  HeldObjects objects = {};
  bool memory_tried = false;                      // a memory node was added, or the attempt failed
  std::shared_ptr<const Graph> around = nullptr;  // for a conditional node's body: the graph with the node
  bool lost_condition = false;                    // a conditional node was destroyed
};

// Nodes in topological order; among candidates, the first one added. Throws ApiError if dependencies are cyclic.
std::vector<const Node*> InOrder(const Graph& graph);
// A copy; (*originals)[node] is the original of the copy's node.
std::shared_ptr<Graph> Clone(const Graph& graph, std::map<const Node*, const Node*>* originals = nullptr);

struct ExecutableNode {
  const Node* source = nullptr;  // in the graph it was instantiated from; may be gone
  Work work;
  bool enabled = true;
  std::vector<size_t> after;  // its dependencies, as indices into the executable graph
};
// The branches of a graph, as identified in the streams' clocks (graph_lanes.cc).
class Lanes {
 public:
  Lanes() = default;
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  // The slot of this lane; created if it is the next one.
  uint32_t At(StreamClocks& clocks, size_t lane, int device);

 private:
  std::vector<uint32_t> slots_;
};
struct ExecutableGraph {
  std::vector<ExecutableNode> nodes;
  std::weak_ptr<const Graph> of;  // the graph it was instantiated from
  unsigned long long flags = 0;
  Lanes lanes;
  Event done;  // the end of its last launch: the next launch waits for it, in whichever stream
  HeldObjects objects;
};

// A capture in progress. It is ended in the stream where it began, after all other streams were joined back.
struct Capture {
  std::shared_ptr<Graph> graph;
  const Stream* origin = nullptr;
  unsigned long long id = 0;
  bool valid = true;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread = {};          // the thread that began it
  bool blocking = false;                // a participating stream synchronises with the legacy stream
  std::vector<const Node*> aside = {};  // nodes captured in streams other than `origin`
};

// The objects behind handles.
struct Graphs {
  std::map<cudaGraph_t, std::shared_ptr<Graph>> graphs;
  std::map<cudaGraphExec_t, std::unique_ptr<ExecutableGraph>> executables;
  unsigned long long captures = 0;
  std::set<std::shared_ptr<Capture>> active;
};
Graphs& graphs();

// All throw ApiError for an unknown handle.
std::shared_ptr<Graph> GraphOf(cudaGraph_t handle);
Node& NodeOf(cudaGraphNode_t handle);
ExecutableGraph& ExecutableOf(cudaGraphExec_t handle);
ExecutableNode& NodeIn(ExecutableGraph& executable, cudaGraphNode_t node);

inline cudaGraphNode_t HandleOf(const Node* node) { return reinterpret_cast<cudaGraphNode_t>(const_cast<Node*>(node)); }

// capture.cc. Invalidates the stream's capture, so that ending the capture fails. Throws ApiError.
[[noreturn]] void Spoil(const Stream& stream, cudaError_t error);
// Ends the capture that began in this stream, which is about to be destroyed. Its graph is dropped.
void AbandonCapture(Runtime& r, const Stream& stream);
// Adds the work as a node to the stream's capture, after the stream's current position.
void AddToCapture(Stream& stream, Work work);
// Makes a stream part of a capture.
void Join(Stream& stream, const CapturePoint& point);

Node* AddNode(Graph& graph, Work work, std::vector<Node*> dependencies);
// Whether an edge has the default data. CheckEdge: that it may have this data; throws ApiError.
bool IsPlain(const cudaGraphEdgeData& edge);
void CheckEdge(const cudaGraphEdgeData& edge, const Work& from, const Work& to);
cudaGraphNodeType TypeOf(const Work& work);

// Instantiates the graph: later changes of the graph do not affect the result.
std::unique_ptr<ExecutableGraph> MakeExecutable(const Graph& graph);
// While this object lives, the stream's work uses another slot of StreamClocks, such as that of a graph's branch.
class InLane {
 public:
  InLane(Stream& stream, uint32_t slot, bool in_graph, const ExecutableGraph* graph)
      : stream_(stream), slot_(stream.slot), in_graph_(stream.in_graph), graph_(stream.graph) {
    stream_.slot = slot;
    stream_.in_graph = in_graph;
    stream_.graph = graph;
  }
  ~InLane() {
    stream_.slot = slot_;
    stream_.in_graph = in_graph_;
    stream_.graph = graph_;
  }
  InLane(const InLane&) = delete;
  InLane& operator=(const InLane&) = delete;

 private:
  Stream& stream_;
  const uint32_t slot_;
  // The former values: set if the graph is nested in another.
  const bool in_graph_;
  const ExecutableGraph* const graph_;
};

// graph_in_kernels.cc. Kernels may launch an executable graph for device launch once it is uploaded.
void OfferToKernels(const ExecutableGraph& executable);
void WithdrawFromKernels(const ExecutableGraph& executable);
void NoteUpload(const ExecutableGraph& executable);
// Called by a kernel of the graph `from`: the call's error; nullopt: the handle is of no such graph.
std::optional<uint32_t> AskForGraph(uint64_t graph, uint64_t stream, uint64_t from);
// Launches what the kernels that have run asked for, except for the tail.
void StartAsked(Runtime& r, Stream& stream);

void LaunchGraph(Runtime& r, ExecutableGraph& executable, Stream& stream);
// Does all work of an executable graph, each branch as if in a separate stream; the stream's other work comes entirely
// before or after it.
void PerformNodes(Runtime& r, ExecutableGraph& executable, Stream& stream);

// Refuses invalid work when a node is made: kernels that can't be launched, copies that are empty or exceed their
// allocation, fills of memory that is not the device's, invalid stream memory operations. Throws ApiError.
void CheckNode(Runtime& r, const Work& work);
// The same for a node's new work, which then replaces its own. Attributes stay.
void ReplaceWork(Runtime& r, Work& own, Work work);
// The same for an executable graph's node, which refuses more.
void ChangeWork(Runtime& r, ExecutableNode& node, Work work);
// Whether a kernel's node may be changed by kernels: then it can't be copied.
bool IsUpdatable(const KernelWork& work);
inline constexpr unsigned kMostBodies = 1 << 16;  // of a conditional node
bool HasConditions(const Graph& graph);
// Whether a device can start this work itself: no copies of arrays, nor of host memory that is pageable. Memory that a
// copy's kind calls the host's counts as pageable if it is managed.
bool DeviceCanStart(Runtime& r, const Work& work);
// Checks an executable graph's conditional bodies; throws ApiError for unsupported work.
void CheckConditions(Runtime& r, const ExecutableGraph& executable);
bool HasUnusedCondition(const std::shared_ptr<const Graph>& graph);  // a handle created for it that no node uses
// Creates the node's bodies, and stores their handles in `params`.
ConditionWork MakeCondition(const std::shared_ptr<Graph>& graph, cudaConditionalNodeParams& params);
void StartConditions(Runtime& r, const ExecutableGraph& executable, Stream& stream);
// Called by a kernel. False for an unknown handle.
bool SetCondition(cudaGraphConditionalHandle handle, unsigned value);
// Whether a fill's memory is the device's, or may be by the time of the fill because a graph allocates it.
bool IsFillable(Runtime& r, const FillWork& fill);

// Conversions between Work and the parameter structures of the graph API (graph_params.cc).
KernelWork MakeKernel(Runtime& r, const cudaKernelNodeParams* params);
// Nodes that only the driver API has.
cudaError_t AddWords(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                     const WordsWork& words);
cudaError_t GetWords(cudaGraphNode_t node, WordsWork** words);
cudaError_t SetWords(cudaGraphNode_t node, const WordsWork& words);
CopyWork MakeNodeCopy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
FillWork MakeFill(const cudaMemsetParams* params);
HostWork MakeHost(const cudaHostNodeParams* params);
cudaEvent_t EventOfNode(Runtime& r, cudaEvent_t event);  // the same event, if there is one
enum class SymbolIs { kTarget, kSource };
void CheckSymbolKind(SymbolIs role, cudaMemcpyKind kind);
CopyWork MakeSymbolCopy(Runtime& r, SymbolIs role, const void* symbol, const void* other, size_t bytes, size_t offset,
                        cudaMemcpyKind kind);
// The same for nodes, which check a copy of no bytes too.
CopyWork MakeNodeSymbolCopy(Runtime& r, SymbolIs role, const void* symbol, const void* other, size_t bytes,
                            size_t offset, cudaMemcpyKind kind);

cudaKernelNodeParams ParamsOf(Node& node, const KernelWork& work);
cudaMemsetParams ParamsOf(const FillWork& work);
cudaMemcpy3DParms ParamsOf(const CopyWork& work);

}  // namespace lockstep::vgpu::cudart
