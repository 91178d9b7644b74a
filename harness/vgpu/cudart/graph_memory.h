// Memory that graphs allocate: an address that is fixed when the node is added, and memory there while it is allocated.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

namespace lockstep::vgpu::cudart {

class Runtime;
struct Graph;
struct ExecutableGraph;
struct Stream;

// An allocation node's memory. The address stays reserved as long as a node or an executable graph refers to it.
struct GraphMemory {
  int device = 0;
  uint64_t address = 0, bytes = 0;
  int file = -1;                          // the mapped file; -1: not allocated
  bool freed_within = false;              // a node of the same graph frees it
  std::weak_ptr<const Graph> graph = {};  // the graph that was launched last with it
  ~GraphMemory();
};
struct AllocateWork {
  std::shared_ptr<GraphMemory> memory;
};
struct FreeWork {
  std::shared_ptr<GraphMemory> memory;
};

AllocateWork MakeAllocation(Runtime& r, cudaMemAllocNodeParams* params);
AllocateWork MakeAllocation(Runtime& r, uint64_t bytes);
// Frees memory that a node of this graph allocates and no node frees yet. Throws ApiError.
FreeWork MakeFree(const Graph& graph, const void* address);
// Whether the address is in a range that the current device reserves, as it does for memory of graph nodes.
bool IsOfGraph(Runtime& r, uint64_t address);
// The allocated graph memory that begins at this address; else nullptr.
std::shared_ptr<GraphMemory> AllocatedByGraph(uint64_t address);

void PerformAllocation(Runtime& r, const AllocateWork& work, const Stream& stream);
void PerformFree(Runtime& r, const FreeWork& work, const Stream& stream);
// Frees a graph's allocation for the program. False if it is not such memory.
bool FreeGraphMemory(Runtime& r, void* pointer);

// The device was reset.
void ResetGraphMemory(int device);

// Graphs with memory nodes can't be copied, nor lose nodes or edges. Throws ApiError.
void RequireNoMemoryNodes(const Graph& graph);
// Before a launch: allocations of the last one must have been freed, unless the launch frees them.
void BeforeLaunch(Runtime& r, const ExecutableGraph& executable);

}  // namespace lockstep::vgpu::cudart
