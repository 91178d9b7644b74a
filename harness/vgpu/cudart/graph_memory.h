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

// An allocation node's. The address stays reserved as long as a node or an executable graph has it.
struct GraphMemory {
  int device = 0;
  uint64_t address = 0, bytes = 0;
  int file = -1;              // what is mapped there; -1: it is not allocated
  bool freed_within = false;  // a node of the same graph frees it
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
// The memory that a node of this graph allocates at the address, and none frees. Throws ApiError.
FreeWork MakeFree(const Graph& graph, const void* address);
// Whether the address is in what nodes allocate, at present or not.
bool IsOfGraph(Runtime& r, uint64_t address);
// The graph's memory there, allocated at present; nullptr: there is none.
std::shared_ptr<GraphMemory> AllocatedByGraph(uint64_t address);

void PerformAllocation(Runtime& r, const AllocateWork& work, const Stream& stream);
void PerformFree(Runtime& r, const FreeWork& work, const Stream& stream);
// The program frees what a graph has allocated. False: it is no such memory.
bool FreeGraphMemory(Runtime& r, void* pointer);

// The device was reset.
void ResetGraphMemory(int device);

// A graph with such nodes can be neither copied, nor lose nodes or edges. Throws ApiError.
void RequireNoMemoryNodes(const Graph& graph);
// Before a launch: what the last one allocated must be free, unless the launch is to free it.
void BeforeLaunch(Runtime& r, const ExecutableGraph& executable);

}  // namespace lockstep::vgpu::cudart
