// What streams do: kernels, copies, fills, host functions, functions of libraries. Each kind is a type; a graph's node
// holds one, and a call on a stream makes one and submits it.
//
// Submit does the work at once or, if the stream is being captured, adds it as a node to the captured graph.
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "vgpu/cudart/graph_memory.h"
#include "vgpu/cudart/runtime.h"

namespace lockstep::vgpu::cudart {

struct Graph;            // graph.h
struct ExecutableGraph;  // graph.h

// A region of `height` rows of `width` bytes, rows `pitch` bytes apart; `depth` slices of `slice` bytes.
struct Region {
  uint64_t width = 0, height = 1, depth = 1;
  uint64_t Bytes() const { return width * height * depth; }
};
struct Layout {
  uint64_t pitch = 0, slice = 0;
};

struct KernelWork {
  Kernel* kernel = nullptr;
  LaunchConfiguration configuration;  // its stream is where the work is submitted
  std::vector<uint8_t> parameters;
  bool cooperative = false;
  dim3 cluster{0, 0, 0};  // blocks of a cluster; zeros: what the kernel itself asks for
  // A node's, as they were set.
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> attributes = {};
};
struct CopyWork {
  void* to = nullptr;
  Layout to_layout;
  const void* from = nullptr;
  Layout from_layout;
  Region region;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  bool waits = false;  // the call is of those that wait for the copy, unless it stays on the device
  std::shared_ptr<const std::vector<uint8_t>> staged = nullptr;  // what `from` points to, if it was read before
  bool of_arrays = false;                                        // made for an array at one end or both
};
struct FillWork {
  void* to = nullptr;
  Layout layout;
  unsigned value = 0;
  unsigned element_bytes = 1;  // 1, 2 or 4 bytes of value, over and over
  Region region;
  bool waits = false;  // the call is of those that wait where the memory is the host's
  bool box = false;    // asked for as rows and slices, whose pitch counts however few they are
};
struct HostWork {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
};
struct EmptyWork {};
struct RecordWork {
  cudaEvent_t event = nullptr;
};
struct WaitWork {
  cudaEvent_t event = nullptr;
};
struct ChildWork {
  std::shared_ptr<Graph> graph;
  std::shared_ptr<ExecutableGraph> executable = nullptr;  // once the graph around it was instantiated
};
// A call of a host library's function (libraries/library_call.h).
struct LibraryWork {
  LibraryFunction function;
  std::function<void(LibraryLaunch&)> body;                  // names the memory that it touches, and does the work
  std::optional<LibraryOperation> operation = std::nullopt;  // in its place: what the device's owner does
};
// Words that a stream writes or waits for, as a node.
struct WordsWork {
  std::vector<CUstreamBatchMemOpParams> operations;
};
// One of some graphs, or none, or one over and over: by the value of a handle (graph_condition.cc).
struct ConditionWork {
  cudaGraphConditionalHandle handle = 0;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::shared_ptr<std::vector<cudaGraph_t>> handles;               // as the program was given them
  std::vector<std::shared_ptr<ExecutableGraph>> executables = {};  // as a child's
};
using Work = std::variant<KernelWork, CopyWork, FillWork, HostWork, EmptyWork, RecordWork, WaitWork, ChildWork,
                          LibraryWork, AllocateWork, FreeWork, WordsWork, ConditionWork>;

// All throw ApiError. A fault of a kernel waits for a later call; then the work that follows is not done.
void Perform(Runtime& r, const Work& work, Stream& stream);
// The same if nothing before it in the stream pends (side_by_side.h); else it is done when that has ended.
void PerformInOrder(Runtime& r, const Work& work, Stream& stream);
void RecordInOrder(Runtime& r, Event& event, Stream& stream);
void WaitInOrder(Runtime& r, const Event& event, Stream& stream);
void Submit(Runtime& r, Work work, cudaStream_t stream);

// Work for a launch, checked as the launch call checks it: arguments[i] points to the i-th parameter's value.
KernelWork MakeLaunch(Runtime& r, const void* function, const LaunchConfiguration& configuration, void** arguments,
                      bool cooperative, const dim3& cluster = {0, 0, 0});
// A launch that fails ends the capture of its stream.
void SubmitLaunch(Runtime& r, KernelWork work, cudaStream_t stream);
void Launch(Runtime& r, const void* function, const LaunchConfiguration& configuration, void** arguments,
            bool cooperative);
// A copy that is not asynchronous by its name: in the default stream, and the host waits for it, unless it stays on the
// device.
void CopyNow(Runtime& r, CopyWork work);
CopyWork MakeCopy(void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind);
CopyWork MakeCopy3D(const cudaMemcpy3DParms* parms);
// array.cc: with an array at one end or both; the device was reset, its arrays and objects are gone.
CopyWork CopyArray3D(const cudaMemcpy3DParms& parms);
// Where a region of an array begins, x in bytes, and how the array lies.
void* PlaceInArray(cudaArray_t array, uint64_t x, uint64_t y, uint64_t z, const Region& region, Layout* layout);
void ResetArrays(int device);

// What a launch may ask for, in bytes: what was set, else what any kernel may have.
// What cudaFuncGetAttributes tells.
cudaFuncAttributes AttributesOf(Runtime& r, const Kernel& kernel, const KernelInfo& info);
uint64_t MaxDynamicShared(Runtime& r, const Kernel& kernel, const KernelInfo& info);

cudaError_t ErrorOf(LaunchError error);

// The kinds' own parts of Perform: launch.cc, copy.cc and libraries/library_call.cc.
void PerformKernel(Runtime& r, const KernelWork& work, Stream& stream);
void PerformCopy(Runtime& r, const CopyWork& work, Stream& stream);
void PerformFill(Runtime& r, const FillWork& work, Stream& stream);

// For work that is not done at its call. Errors of the call are thrown.
void CheckKernel(Runtime& r, const KernelWork& work);
// Whether the host comes back only when it is done.
bool HostWaits(Runtime& r, const CopyWork& work);
bool HostWaits(Runtime& r, const FillWork& work);
// Whether there is anything to copy. Throws what the copy would.
bool CheckCopy(Runtime& r, const CopyWork& work);
// What the copy reads of pageable memory is read now: into memory that the copy returned keeps.
CopyWork Staged(Runtime& r, const CopyWork& work);
void PerformLibrary(Runtime& r, const LibraryWork& work, Stream& stream);
// driver/stream.cc
void CheckWords(Runtime& r, const WordsWork& work);
void PerformWords(Runtime& r, const WordsWork& work, Stream& stream);
void PerformCondition(Runtime& r, const ConditionWork& work, Stream& stream);

}  // namespace lockstep::vgpu::cudart
