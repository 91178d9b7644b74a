// Graphs, in terms of the runtime API.
#include "vgpu/cudart/graph.h"

#include <algorithm>
#include <climits>
#include <cstring>

#include "vgpu/cudart/driver/driver.h"
#include "vgpu/cudart/pointer.h"

namespace lockstep::vgpu::cudart::driver {

namespace {

// The driver's structure has two more members: `kern`, an alternative to `func`, and `ctx`.
cudaKernelNodeParams Runtimes(const CUDA_KERNEL_NODE_PARAMS& given) {
  cudaKernelNodeParams same{};
  same.func = given.func != nullptr ? static_cast<void*>(given.func) : static_cast<void*>(given.kern);
  same.gridDim = dim3(given.gridDimX, given.gridDimY, given.gridDimZ);
  same.blockDim = dim3(given.blockDimX, given.blockDimY, given.blockDimZ);
  same.sharedMemBytes = given.sharedMemBytes;
  same.kernelParams = given.kernelParams;
  same.extra = given.extra;
  return same;
}

// A copy's ends and region; the runtime counts an array's columns in elements.
cudaMemcpy3DParms Runtimes(const CUDA_MEMCPY3D& given) {
  cudaMemcpy3DParms same{};
  const auto element = [](CUmemorytype type, CUarray array) {
    cudaChannelFormatDesc of{};
    if (type != CU_MEMORYTYPE_ARRAY || cudaGetChannelDesc(&of, As<cudaArray_t>(array)) != cudaSuccess) return size_t{1};
    return static_cast<size_t>(of.x + of.y + of.z + of.w) / CHAR_BIT;
  };
  const size_t from_element = element(given.srcMemoryType, given.srcArray),
               to_element = element(given.dstMemoryType, given.dstArray);
  const auto pitched = [&](CUmemorytype type, const void* host, CUdeviceptr device, size_t x, size_t y, size_t pitch,
                           size_t rows) {
    void* const base = type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : Pointer(device);
    return cudaPitchedPtr{base, pitch != 0 ? pitch : x + given.WidthInBytes, given.WidthInBytes,
                          rows != 0 ? rows : y + given.Height};
  };
  if (given.srcMemoryType == CU_MEMORYTYPE_ARRAY)
    same.srcArray = As<cudaArray_t>(given.srcArray);
  else
    same.srcPtr = pitched(given.srcMemoryType, given.srcHost, given.srcDevice, given.srcXInBytes, given.srcY,
                          given.srcPitch, given.srcHeight);
  if (given.dstMemoryType == CU_MEMORYTYPE_ARRAY)
    same.dstArray = As<cudaArray_t>(given.dstArray);
  else
    same.dstPtr = pitched(given.dstMemoryType, given.dstHost, given.dstDevice, given.dstXInBytes, given.dstY,
                          given.dstPitch, given.dstHeight);
  same.srcPos = {given.srcXInBytes / from_element, given.srcY, given.srcZ};
  same.dstPos = {given.dstXInBytes / to_element, given.dstY, given.dstZ};
  same.extent = {given.WidthInBytes / std::max(from_element, to_element), given.Height, given.Depth};
  same.kind = KindOf(given.dstMemoryType, given.srcMemoryType);
  return same;
}
bool AreCopied(const CUDA_MEMCPY3D* copy) {
  const auto is_end = [](CUmemorytype type) { return type >= CU_MEMORYTYPE_HOST && type <= CU_MEMORYTYPE_UNIFIED; };
  return copy != nullptr && is_end(copy->srcMemoryType) && is_end(copy->dstMemoryType) &&
         copy->WidthInBytes * copy->Height * copy->Depth != 0;
}

// For a node of any type. Only the parameters of kernels and copies differ between the APIs.
cudaGraphNodeParams Runtimes(const CUgraphNodeParams& given) {
  cudaGraphNodeParams same{};
  static_assert(sizeof same == sizeof given);
  std::memcpy(static_cast<void*>(&same), &given, sizeof same);
  if (given.type == CU_GRAPH_NODE_TYPE_KERNEL && given.kernel.func == nullptr) same.kernel.func = given.kernel.kern;
  if (given.type == CU_GRAPH_NODE_TYPE_MEMCPY) {
    same.memcpy = {given.memcpy.flags, {}, Runtimes(given.memcpy.copyParams)};
  }
  return same;
}

// Calls a runtime function for a node with converted parameters; `given` may be nullptr.
template <typename Given, typename Body>
CUresult WithParams(const char* function, const Given* given, Body body) {
  return Drive(function, [&] {
    if (given == nullptr) return cudaErrorInvalidValue;
    auto same = Runtimes(*given);
    return body(&same);
  });
}

bool IsBatch(const CUDA_BATCH_MEM_OP_NODE_PARAMS* given) {
  return given != nullptr && given->ctx != nullptr && given->paramArray != nullptr && given->flags == 0;
}
WordsWork WordsOf(const CUDA_BATCH_MEM_OP_NODE_PARAMS& given) {
  return {{given.paramArray, given.paramArray + given.count}};
}

CUDA_MEMCPY3D Drivers(const cudaMemcpy3DParms& given) {
  CUDA_MEMCPY3D same;
  std::memset(&same, 0, sizeof same);  // not `{}`: CUmemorytype has no enumerator 0
  const auto type = [](const void* end) {
    Runtime& r = runtime();
    const std::lock_guard lock(r.mutex());
    const auto memory = MemoryAt(r, end);
    return memory && memory->type != cudaMemoryTypeHost ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  };
  same.srcMemoryType = type(given.srcPtr.ptr), same.dstMemoryType = type(given.dstPtr.ptr);
  if (same.srcMemoryType == CU_MEMORYTYPE_HOST)
    same.srcHost = given.srcPtr.ptr;
  else
    same.srcDevice = As<CUdeviceptr>(given.srcPtr.ptr);
  if (same.dstMemoryType == CU_MEMORYTYPE_HOST)
    same.dstHost = given.dstPtr.ptr;
  else
    same.dstDevice = As<CUdeviceptr>(given.dstPtr.ptr);
  same.srcPitch = given.srcPtr.pitch, same.srcHeight = given.srcPtr.ysize;
  same.dstPitch = given.dstPtr.pitch, same.dstHeight = given.dstPtr.ysize;
  same.WidthInBytes = given.extent.width, same.Height = given.extent.height, same.Depth = given.extent.depth;
  return same;
}

CUDA_KERNEL_NODE_PARAMS Drivers(const cudaKernelNodeParams& given) {
  CUDA_KERNEL_NODE_PARAMS same{};
  same.func = static_cast<CUfunction>(given.func);
  same.gridDimX = given.gridDim.x, same.gridDimY = given.gridDim.y, same.gridDimZ = given.gridDim.z;
  same.blockDimX = given.blockDim.x, same.blockDimY = given.blockDim.y, same.blockDimZ = given.blockDim.z;
  same.sharedMemBytes = given.sharedMemBytes;
  same.kernelParams = given.kernelParams;
  same.extra = given.extra;
  return same;
}

}  // namespace

}  // namespace lockstep::vgpu::cudart::driver

using namespace lockstep::vgpu::cudart;
using namespace lockstep::vgpu::cudart::driver;

extern "C" {

LOCKSTEP_FORWARD2(PassOnInit, cuGraphCreate, cudaGraphCreate, CUgraph*, unsigned)
LOCKSTEP_FORWARD1(PassOnInit, cuGraphDestroy, cudaGraphDestroy, CUgraph)
LOCKSTEP_FORWARD1(Pass, cuGraphDestroyNode, cudaGraphDestroyNode, CUgraphNode)
LOCKSTEP_FORWARD5(PassOnInit, cuUserObjectCreate, cudaUserObjectCreate, CUuserObject*, void*, CUhostFn, unsigned,
                  unsigned)
LOCKSTEP_FORWARD2(PassOnInit, cuUserObjectRetain, cudaUserObjectRetain, CUuserObject, unsigned)
LOCKSTEP_FORWARD2(PassOnInit, cuUserObjectRelease, cudaUserObjectRelease, CUuserObject, unsigned)
LOCKSTEP_FORWARD4(PassOnInit, cuGraphRetainUserObject, cudaGraphRetainUserObject, CUgraph, CUuserObject, unsigned,
                  unsigned)
LOCKSTEP_FORWARD3(PassOnInit, cuGraphReleaseUserObject, cudaGraphReleaseUserObject, CUgraph, CUuserObject, unsigned)
LOCKSTEP_FORWARD2(Pass, cuGraphClone, cudaGraphClone, CUgraph*, CUgraph)
LOCKSTEP_FORWARD3(Pass, cuGraphNodeFindInClone, cudaGraphNodeFindInClone, CUgraphNode*, CUgraphNode, CUgraph)
LOCKSTEP_FORWARD2(Pass, cuGraphNodeGetType, cudaGraphNodeGetType, CUgraphNode, CUgraphNodeType*)
LOCKSTEP_FORWARD3(Pass, cuGraphGetNodes, cudaGraphGetNodes, CUgraph, CUgraphNode*, size_t*)
LOCKSTEP_FORWARD3(Pass, cuGraphGetRootNodes, cudaGraphGetRootNodes, CUgraph, CUgraphNode*, size_t*)
LOCKSTEP_FORWARD5(Pass, cuGraphGetEdges, cudaGraphGetEdges, CUgraph, CUgraphNode*, CUgraphNode*, CUgraphEdgeData*,
                  size_t*)
LOCKSTEP_FORWARD4(Pass, cuGraphNodeGetDependencies, cudaGraphNodeGetDependencies, CUgraphNode, CUgraphNode*,
                  CUgraphEdgeData*, size_t*)
LOCKSTEP_FORWARD4(Pass, cuGraphNodeGetDependentNodes, cudaGraphNodeGetDependentNodes, CUgraphNode, CUgraphNode*,
                  CUgraphEdgeData*, size_t*)
LOCKSTEP_FORWARD5(Pass, cuGraphAddDependencies, cudaGraphAddDependencies, CUgraph, const CUgraphNode*,
                  const CUgraphNode*, const CUgraphEdgeData*, size_t)
LOCKSTEP_FORWARD5(Pass, cuGraphRemoveDependencies, cudaGraphRemoveDependencies, CUgraph, const CUgraphNode*,
                  const CUgraphNode*, const CUgraphEdgeData*, size_t)

LOCKSTEP_FORWARD4(Pass, cuGraphAddEmptyNode, cudaGraphAddEmptyNode, CUgraphNode*, CUgraph, const CUgraphNode*, size_t)
LOCKSTEP_FORWARD5(Pass, cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode, CUgraphNode*, CUgraph, const CUgraphNode*,
                  size_t, CUgraph)
LOCKSTEP_FORWARD2(Pass, cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph, CUgraphNode, CUgraph*)
LOCKSTEP_FORWARD5(Pass, cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode, CUgraphNode*, CUgraph,
                  const CUgraphNode*, size_t, CUevent)
LOCKSTEP_FORWARD2(Pass, cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent, CUgraphNode, CUevent*)
LOCKSTEP_FORWARD2(Pass, cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent, CUgraphNode, CUevent)
LOCKSTEP_FORWARD5(Pass, cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode, CUgraphNode*, CUgraph, const CUgraphNode*,
                  size_t, CUevent)
LOCKSTEP_FORWARD2(Pass, cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent, CUgraphNode, CUevent*)
LOCKSTEP_FORWARD2(Pass, cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent, CUgraphNode, CUevent)
LOCKSTEP_FORWARD5(Pass, cuGraphAddHostNode, cudaGraphAddHostNode, CUgraphNode*, CUgraph, const CUgraphNode*, size_t,
                  const CUDA_HOST_NODE_PARAMS*)
LOCKSTEP_FORWARD2(Pass, cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams, CUgraphNode, CUDA_HOST_NODE_PARAMS*)
LOCKSTEP_FORWARD2(Pass, cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams, CUgraphNode, const CUDA_HOST_NODE_PARAMS*)
LOCKSTEP_FORWARD2(Pass, cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams, CUgraphNode, CUDA_MEMSET_NODE_PARAMS*)
LOCKSTEP_FORWARD2(Pass, cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams, CUgraphNode,
                  const CUDA_MEMSET_NODE_PARAMS*)
LOCKSTEP_FORWARD2(Pass, cuGraphKernelNodeCopyAttributes, cudaGraphKernelNodeCopyAttributes, CUgraphNode, CUgraphNode)

LOCKSTEP_FORWARD3(Pass, cuGraphInstantiateWithParams, cudaGraphInstantiateWithParams, CUgraphExec*, CUgraph,
                  CUDA_GRAPH_INSTANTIATE_PARAMS*)
LOCKSTEP_FORWARD2(Pass, cuGraphExecGetFlags, cudaGraphExecGetFlags, CUgraphExec, cuuint64_t*)
LOCKSTEP_FORWARD3(Pass, cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams, CUgraphExec, CUgraphNode,
                  const CUDA_HOST_NODE_PARAMS*)
LOCKSTEP_FORWARD3(Pass, cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams, CUgraphExec,
                  CUgraphNode, CUgraph)
LOCKSTEP_FORWARD3(Pass, cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled, CUgraphExec, CUgraphNode, unsigned)
LOCKSTEP_FORWARD3(Pass, cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled, CUgraphExec, CUgraphNode, unsigned*)
LOCKSTEP_FORWARD3(Pass, cuGraphExecUpdate, cudaGraphExecUpdate, CUgraphExec, CUgraph, CUgraphExecUpdateResultInfo*)
LOCKSTEP_FORWARD2(Pass, cuGraphUpload, cudaGraphUpload, CUgraphExec, CUstream)
LOCKSTEP_FORWARD2(Pass, cuGraphLaunch, cudaGraphLaunch, CUgraphExec, CUstream)
LOCKSTEP_FORWARD1(Pass, cuGraphExecDestroy, cudaGraphExecDestroy, CUgraphExec)

LOCKSTEP_FORWARD3(Pass, cuGraphInstantiate, cudaGraphInstantiateWithFlags, CUgraphExec*, CUgraph, unsigned long long)

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  return Pass("cuGraphAddMemsetNode", cudaGraphAddMemsetNode, node, graph, after, count, parameters);
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  return Pass("cuGraphExecMemsetNodeSetParams", cudaGraphExecMemsetNodeSetParams, executable, node, parameters);
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return WithParams("cuGraphAddKernelNode", parameters,
                    [&](auto* same) { return cudaGraphAddKernelNode(node, graph, after, count, same); });
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters) {
  return Drive("cuGraphKernelNodeGetParams", [&] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    cudaKernelNodeParams same{};
    const cudaError_t error = cudaGraphKernelNodeGetParams(node, &same);
    if (error == cudaSuccess) *parameters = Drivers(same);
    return error;
  });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return WithParams("cuGraphKernelNodeSetParams", parameters,
                    [&](auto* same) { return cudaGraphKernelNodeSetParams(node, same); });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return WithParams("cuGraphExecKernelNodeSetParams", parameters,
                    [&](auto* same) { return cudaGraphExecKernelNodeSetParams(executable, node, same); });
}

CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, const CUgraphEdgeData* data,
                        size_t count, CUgraphNodeParams* parameters) {
  if (parameters != nullptr && parameters->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
    const auto& words = parameters->memOp;
    const CUDA_BATCH_MEM_OP_NODE_PARAMS same = {words.ctx, words.count, words.paramArray, words.flags};
    return cuGraphAddBatchMemOpNode(node, graph, after, count, &same);
  }
  return WithParams("cuGraphAddNode", parameters, [&](auto* same) {
    const cudaError_t error = cudaGraphAddNode(node, graph, after, As<const cudaGraphEdgeData*>(data), count, same);
    if (error == cudaSuccess && same->type == cudaGraphNodeTypeMemAlloc)
      parameters->alloc.dptr = As<CUdeviceptr>(same->alloc.dptr);
    if (error == cudaSuccess && same->type == cudaGraphNodeTypeConditional)
      parameters->conditional.phGraph_out = same->conditional.phGraph_out;
    return error;
  });
}
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph, CUcontext context,
                                        unsigned first, unsigned flags) {
  return Drive("cuGraphConditionalHandleCreate", [&] {
    const bool valid = graph != nullptr && flags <= CU_GRAPH_COND_ASSIGN_DEFAULT;
    if (valid && context == nullptr) return cudaErrorDeviceUninitialized;
    return valid ? cudaGraphConditionalHandleCreate(As<cudaGraphConditionalHandle*>(handle), graph, first, flags)
                 : cudaErrorInvalidValue;
  });
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* parameters) {
  return WithParams("cuGraphNodeSetParams", parameters, [&](auto* same) { return cudaGraphNodeSetParams(node, same); });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraphNodeParams* parameters) {
  return WithParams("cuGraphExecNodeSetParams", parameters,
                    [&](auto* same) { return cudaGraphExecNodeSetParams(executable, node, same); });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                              const CUDA_MEMCPY3D* copy, CUcontext) {
  return WithParams("cuGraphAddMemcpyNode", AreCopied(copy) ? copy : nullptr,
                    [&](auto* same) { return cudaGraphAddMemcpyNode(node, graph, after, count, same); });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* copy) {
  return WithParams("cuGraphMemcpyNodeSetParams", AreCopied(copy) ? copy : nullptr,
                    [&](auto* same) { return cudaGraphMemcpyNodeSetParams(node, same); });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node, const CUDA_MEMCPY3D* copy,
                                        CUcontext) {
  return WithParams("cuGraphExecMemcpyNodeSetParams", AreCopied(copy) ? copy : nullptr,
                    [&](auto* same) { return cudaGraphExecMemcpyNodeSetParams(executable, node, same); });
}

LOCKSTEP_FORWARD3(Pass, cuGraphKernelNodeGetAttribute, cudaGraphKernelNodeGetAttribute, CUgraphNode,
                  CUlaunchAttributeID, CUlaunchAttributeValue*)
LOCKSTEP_FORWARD3(Pass, cuGraphKernelNodeSetAttribute, cudaGraphKernelNodeSetAttribute, CUgraphNode,
                  CUlaunchAttributeID, const CUlaunchAttributeValue*)
LOCKSTEP_FORWARD5(Pass, cuGraphAddMemAllocNode, cudaGraphAddMemAllocNode, CUgraphNode*, CUgraph, const CUgraphNode*,
                  size_t, CUDA_MEM_ALLOC_NODE_PARAMS*)
LOCKSTEP_FORWARD2(Pass, cuGraphMemAllocNodeGetParams, cudaGraphMemAllocNodeGetParams, CUgraphNode,
                  CUDA_MEM_ALLOC_NODE_PARAMS*)
CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                               CUdeviceptr pointer) {
  return Pass("cuGraphAddMemFreeNode", cudaGraphAddMemFreeNode, node, graph, after, count, Pointer(pointer));
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* pointer) {
  return Pass("cuGraphMemFreeNodeGetParams", cudaGraphMemFreeNodeGetParams, node, static_cast<void*>(pointer));
}
LOCKSTEP_FORWARD3(Pass, cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent, CUgraphExec,
                  CUgraphNode, CUevent)
LOCKSTEP_FORWARD3(Pass, cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent, CUgraphExec, CUgraphNode,
                  CUevent)
LOCKSTEP_FORWARD3(Pass, cuGraphDebugDotPrint, cudaGraphDebugDotPrint, CUgraph, const char*, unsigned)
LOCKSTEP_FORWARD3(Pass, cuDeviceGetGraphMemAttribute, cudaDeviceGetGraphMemAttribute, CUdevice, CUgraphMem_attribute,
                  void*)
LOCKSTEP_FORWARD3(Pass, cuDeviceSetGraphMemAttribute, cudaDeviceSetGraphMemAttribute, CUdevice, CUgraphMem_attribute,
                  void*)
LOCKSTEP_FORWARD1(Pass, cuDeviceGraphMemTrim, cudaDeviceGraphMemTrim, CUdevice)

// Only for copies between addresses: the runtime refuses copies of arrays.
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* copy) {
  return Drive("cuGraphMemcpyNodeGetParams", [&] {
    if (copy == nullptr) return cudaErrorInvalidValue;
    cudaMemcpy3DParms same{};
    const cudaError_t error = cudaGraphMemcpyNodeGetParams(node, &same);
    if (error == cudaSuccess) *copy = Drivers(same);
    return error;
  });
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                  const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return Drive("cuGraphAddBatchMemOpNode", [&] {
    return IsBatch(parameters) ? AddWords(node, graph, after, count, WordsOf(*parameters)) : cudaErrorInvalidValue;
  });
}
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return Drive("cuGraphBatchMemOpNodeGetParams", [&] {
    WordsWork* words = nullptr;
    const cudaError_t error = parameters != nullptr ? GetWords(node, &words) : cudaErrorInvalidValue;
    if (error != cudaSuccess) return error;
    *parameters = {reinterpret_cast<CUcontext>(CurrentContext()), static_cast<unsigned>(words->operations.size()),
                   words->operations.data(), 0};
    return cudaSuccess;
  });
}
CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS* parameters) {
  return Drive("cuGraphBatchMemOpNodeSetParams",
               [&] { return IsBatch(parameters) ? SetWords(node, WordsOf(*parameters)) : cudaErrorInvalidValue; });
}

}  // extern "C"
