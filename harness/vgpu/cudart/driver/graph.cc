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

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return PassOnInit("cuGraphCreate", cudaGraphCreate, graph, flags);
}
CUresult cuGraphDestroy(CUgraph graph) { return PassOnInit("cuGraphDestroy", cudaGraphDestroy, graph); }
CUresult cuGraphDestroyNode(CUgraphNode node) { return Pass("cuGraphDestroyNode", cudaGraphDestroyNode, node); }
CUresult cuUserObjectCreate(CUuserObject* object, void* memory, CUhostFn destroy, unsigned count, unsigned flags) {
  return PassOnInit("cuUserObjectCreate", cudaUserObjectCreate, object, memory, destroy, count, flags);
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return PassOnInit("cuUserObjectRetain", cudaUserObjectRetain, object, count);
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return PassOnInit("cuUserObjectRelease", cudaUserObjectRelease, object, count);
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags) {
  return PassOnInit("cuGraphRetainUserObject", cudaGraphRetainUserObject, graph, object, count, flags);
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return PassOnInit("cuGraphReleaseUserObject", cudaGraphReleaseUserObject, graph, object, count);
}
CUresult cuGraphClone(CUgraph* clone, CUgraph graph) { return Pass("cuGraphClone", cudaGraphClone, clone, graph); }
CUresult cuGraphNodeFindInClone(CUgraphNode* found, CUgraphNode node, CUgraph clone) {
  return Pass("cuGraphNodeFindInClone", cudaGraphNodeFindInClone, found, node, clone);
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return Pass("cuGraphNodeGetType", cudaGraphNodeGetType, node, type);
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return Pass("cuGraphGetNodes", cudaGraphGetNodes, graph, nodes, count);
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return Pass("cuGraphGetRootNodes", cudaGraphGetRootNodes, graph, nodes, count);
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  return Pass("cuGraphGetEdges", cudaGraphGetEdges, graph, from, to, data, count);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count) {
  return Pass("cuGraphNodeGetDependencies", cudaGraphNodeGetDependencies, node, nodes, data, count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data, size_t* count) {
  return Pass("cuGraphNodeGetDependentNodes", cudaGraphNodeGetDependentNodes, node, nodes, data, count);
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                const CUgraphEdgeData* data, size_t count) {
  return Pass("cuGraphAddDependencies", cudaGraphAddDependencies, graph, from, to, data, count);
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, size_t count) {
  return Pass("cuGraphRemoveDependencies", cudaGraphRemoveDependencies, graph, from, to, data, count);
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count) {
  return Pass("cuGraphAddEmptyNode", cudaGraphAddEmptyNode, node, graph, after, count);
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                  CUgraph child) {
  return Pass("cuGraphAddChildGraphNode", cudaGraphAddChildGraphNode, node, graph, after, count, child);
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* child) {
  return Pass("cuGraphChildGraphNodeGetGraph", cudaGraphChildGraphNodeGetGraph, node, child);
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                   CUevent event) {
  return Pass("cuGraphAddEventRecordNode", cudaGraphAddEventRecordNode, node, graph, after, count, event);
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return Pass("cuGraphEventRecordNodeGetEvent", cudaGraphEventRecordNodeGetEvent, node, event);
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return Pass("cuGraphEventRecordNodeSetEvent", cudaGraphEventRecordNodeSetEvent, node, event);
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                 CUevent event) {
  return Pass("cuGraphAddEventWaitNode", cudaGraphAddEventWaitNode, node, graph, after, count, event);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return Pass("cuGraphEventWaitNodeGetEvent", cudaGraphEventWaitNodeGetEvent, node, event);
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return Pass("cuGraphEventWaitNodeSetEvent", cudaGraphEventWaitNodeSetEvent, node, event);
}
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                            const CUDA_HOST_NODE_PARAMS* parameters) {
  return Pass("cuGraphAddHostNode", cudaGraphAddHostNode, node, graph, after, count, parameters);
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* parameters) {
  return Pass("cuGraphHostNodeGetParams", cudaGraphHostNodeGetParams, node, parameters);
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* parameters) {
  return Pass("cuGraphHostNodeSetParams", cudaGraphHostNodeSetParams, node, parameters);
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* parameters) {
  return Pass("cuGraphMemsetNodeGetParams", cudaGraphMemsetNodeGetParams, node, parameters);
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* parameters) {
  return Pass("cuGraphMemsetNodeSetParams", cudaGraphMemsetNodeSetParams, node, parameters);
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return Pass("cuGraphKernelNodeCopyAttributes", cudaGraphKernelNodeCopyAttributes, to, from);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  return Pass("cuGraphInstantiateWithParams", cudaGraphInstantiateWithParams, executable, graph, parameters);
}
CUresult cuGraphExecGetFlags(CUgraphExec executable, cuuint64_t* flags) {
  return Pass("cuGraphExecGetFlags", cudaGraphExecGetFlags, executable, flags);
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* parameters) {
  return Pass("cuGraphExecHostNodeSetParams", cudaGraphExecHostNodeSetParams, executable, node, parameters);
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node, CUgraph child) {
  return Pass("cuGraphExecChildGraphNodeSetParams", cudaGraphExecChildGraphNodeSetParams, executable, node, child);
}
CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned enabled) {
  return Pass("cuGraphNodeSetEnabled", cudaGraphNodeSetEnabled, executable, node, enabled);
}
CUresult cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode node, unsigned* enabled) {
  return Pass("cuGraphNodeGetEnabled", cudaGraphNodeGetEnabled, executable, node, enabled);
}
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  return Pass("cuGraphExecUpdate", cudaGraphExecUpdate, executable, graph, info);
}
CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  return Pass("cuGraphUpload", cudaGraphUpload, executable, stream);
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return Pass("cuGraphLaunch", cudaGraphLaunch, executable, stream);
}
CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return Pass("cuGraphExecDestroy", cudaGraphExecDestroy, executable);
}

CUresult cuGraphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
  return Pass("cuGraphInstantiate", cudaGraphInstantiateWithFlags, executable, graph, flags);
}

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

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUlaunchAttributeID attribute, CUlaunchAttributeValue* value) {
  return Pass("cuGraphKernelNodeGetAttribute", cudaGraphKernelNodeGetAttribute, node, attribute, value);
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID attribute,
                                       const CUlaunchAttributeValue* value) {
  return Pass("cuGraphKernelNodeSetAttribute", cudaGraphKernelNodeSetAttribute, node, attribute, value);
}
CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return Pass("cuGraphAddMemAllocNode", cudaGraphAddMemAllocNode, node, graph, after, count, parameters);
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return Pass("cuGraphMemAllocNodeGetParams", cudaGraphMemAllocNodeGetParams, node, parameters);
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                               CUdeviceptr pointer) {
  return Pass("cuGraphAddMemFreeNode", cudaGraphAddMemFreeNode, node, graph, after, count, Pointer(pointer));
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* pointer) {
  return Pass("cuGraphMemFreeNodeGetParams", cudaGraphMemFreeNodeGetParams, node, static_cast<void*>(pointer));
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return Pass("cuGraphExecEventRecordNodeSetEvent", cudaGraphExecEventRecordNodeSetEvent, executable, node, event);
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return Pass("cuGraphExecEventWaitNodeSetEvent", cudaGraphExecEventWaitNodeSetEvent, executable, node, event);
}
CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  return Pass("cuGraphDebugDotPrint", cudaGraphDebugDotPrint, graph, path, flags);
}
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  return Pass("cuDeviceGetGraphMemAttribute", cudaDeviceGetGraphMemAttribute, device, attribute, value);
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  return Pass("cuDeviceSetGraphMemAttribute", cudaDeviceSetGraphMemAttribute, device, attribute, value);
}
CUresult cuDeviceGraphMemTrim(CUdevice device) { return Pass("cuDeviceGraphMemTrim", cudaDeviceGraphMemTrim, device); }

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
