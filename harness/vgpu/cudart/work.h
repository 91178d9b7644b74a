// The kinds of work in streams and graphs: kernels, copies, fills, host functions, library functions, events, nested
// graphs and so on. Each kind is a type; a graph's node holds one, and a call on a stream makes one and submits it.
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
  bool operator==(const Region&) const = default;
};
inline bool IsOneRow(const Region& region) { return region.height <= 1 && region.depth <= 1; }
struct Layout {
  uint64_t pitch = 0, slice = 0;
  bool operator==(const Layout&) const = default;
};

struct KernelWork {
  Kernel* kernel = nullptr;
  LaunchConfiguration configuration;  // its stream is the one the work is submitted to
  std::vector<uint8_t> parameters;
  bool cooperative = false;
  bool early = false;     // it may start before the kernel before it has ended
  dim3 cluster{0, 0, 0};  // blocks of a cluster; zeros: the kernel's own requirement
  // The attributes set for a graph node.
  std::map<cudaLaunchAttributeID, cudaLaunchAttributeValue> attributes = {};
};
struct CopyWork {
  void* to = nullptr;
  Layout to_layout;
  const void* from = nullptr;
  Layout from_layout;
  Region region;
  cudaMemcpyKind kind = cudaMemcpyDefault;
  bool waits = false;  // made by a call that waits for the copy, unless it stays on the device
  std::shared_ptr<const std::vector<uint8_t>> staged = nullptr;  // the contents of `from`, if they were read earlier
  bool of_arrays = false;                                        // involves an array at one end or both
};
struct FillWork {
  void* to = nullptr;
  Layout layout;
  unsigned value = 0;
  unsigned element_bytes = 1;  // 1, 2 or 4 bytes of value, repeated
  Region region;
  bool waits = false;       // made by a call that waits if the memory is the host's
  uint64_t told_pitch = 0;  // the pitch given for a single-row node: not used
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
  std::shared_ptr<ExecutableGraph> executable = nullptr;  // set once the enclosing graph was instantiated
};
// A call of a host library's function (libraries/library_call.h).
struct LibraryWork {
  LibraryFunction function;
  std::function<void(LibraryLaunch&)> body;                  // declares the memory that it accesses, and does the work
  std::optional<LibraryOperation> operation = std::nullopt;  // instead of `body`: done by the device's owner
};
// Stream memory operations as a node: words to write or to wait for.
struct WordsWork {
  std::vector<CUstreamBatchMemOpParams> operations;
};
// A conditional node: runs one of several graphs, none, or one repeatedly, depending on a handle's value
// (graph_condition.cc).
struct ConditionWork {
  cudaGraphConditionalHandle handle = 0;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<Graph>> bodies;
  std::shared_ptr<std::vector<cudaGraph_t>> handles;               // as passed to the program
  std::vector<std::shared_ptr<ExecutableGraph>> executables = {};  // as for a child graph
};
using Work = std::variant<KernelWork, CopyWork, FillWork, HostWork, EmptyWork, RecordWork, WaitWork, ChildWork,
                          LibraryWork, AllocateWork, FreeWork, WordsWork, ConditionWork>;

// All throw ApiError. A kernel's fault is reported by a later call; then the following work is not done.
void Perform(Runtime& r, const Work& work, Stream& stream);
// Does the work now if nothing earlier in the stream is pending (side_by_side.h); else queues it.
void PerformInOrder(Runtime& r, const Work& work, Stream& stream);
void RecordInOrder(Runtime& r, Event& event, Stream& stream);
void WaitInOrder(Runtime& r, const Event& event, Stream& stream);
void Submit(Runtime& r, Work work, cudaStream_t stream);

// Work for a launch, with the checks of the launch call: arguments[i] points to the i-th parameter's value.
KernelWork MakeLaunch(Runtime& r, const void* function, const LaunchConfiguration& configuration, void** arguments,
                      bool cooperative, const dim3& cluster = {0, 0, 0});
// A failing launch invalidates the capture of its stream.
void SubmitLaunch(Runtime& r, KernelWork work, cudaStream_t stream);
void Launch(Runtime& r, const void* function, const LaunchConfiguration& configuration, void** arguments,
            bool cooperative);
// A copy by a synchronous function: in the default stream, and the host waits for it, unless it stays on the device.
void CopyNow(Runtime& r, CopyWork work);
CopyWork MakeCopy(void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind);
CopyWork MakeCopy3D(const cudaMemcpy3DParms* parms);
// array.cc: copies with an array at one end or both; ResetArrays: the device was reset, so its arrays and objects are
// gone.
CopyWork CopyArray3D(const cudaMemcpy3DParms& parms);
// The start of a region in an array, with x in bytes, and the array's layout.
void* PlaceInArray(cudaArray_t array, uint64_t x, uint64_t y, uint64_t z, const Region& region, Layout* layout);
void ResetArrays(int device);

// A kernel's attributes, and its limit of dynamic shared memory in bytes: as set by the program, else the default.
cudaFuncAttributes AttributesOf(Runtime& r, const Kernel& kernel, const KernelInfo& info);
uint64_t MaxDynamicShared(Runtime& r, const Kernel& kernel, const KernelInfo& info);

cudaError_t ErrorOf(LaunchError error);

// The kinds' own parts of Perform: launch.cc, copy.cc and libraries/library_call.cc.
void PerformKernel(Runtime& r, const KernelWork& work, Stream& stream);
void PerformCopy(Runtime& r, const CopyWork& work, Stream& stream);
void PerformFill(Runtime& r, const FillWork& work, Stream& stream);

// Checks a launch that will run later (queued, captured, or in a graph). Throws what the launch call should return.
void CheckKernel(Runtime& r, const KernelWork& work);
// Whether the call returns only when the work is done.
bool HostWaits(Runtime& r, const CopyWork& work);
bool HostWaits(Runtime& r, const FillWork& work);
// Whether there is anything to copy. Throws the copy's errors.
bool CheckCopy(Runtime& r, const CopyWork& work);
// Reads the copy's pageable source now, into memory owned by the returned copy.
CopyWork Staged(Runtime& r, const CopyWork& work);
void PerformLibrary(Runtime& r, const LibraryWork& work, Stream& stream);
// driver/stream.cc
void CheckWords(Runtime& r, const WordsWork& work);
void PerformWords(Runtime& r, const WordsWork& work, Stream& stream);
void PerformCondition(Runtime& r, const ConditionWork& work, Stream& stream);

}  // namespace lockstep::vgpu::cudart
