// Graphs, as the runtime API has them.
#include "vgpu/cudart/driver/driver.h"

namespace lockstep::vgpu::cudart::driver {

namespace {

// The driver's form has two more members, for a kernel without a context.
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
  return Drive("cuGraphAddKernelNode", [&] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    const cudaKernelNodeParams same = Runtimes(*parameters);
    return cudaGraphAddKernelNode(node, graph, after, count, &same);
  });
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
  return Drive("cuGraphKernelNodeSetParams", [&] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    const cudaKernelNodeParams same = Runtimes(*parameters);
    return cudaGraphKernelNodeSetParams(node, &same);
  });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return Drive("cuGraphExecKernelNodeSetParams", [&] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    const cudaKernelNodeParams same = Runtimes(*parameters);
    return cudaGraphExecKernelNodeSetParams(executable, node, &same);
  });
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

// The parameters of a copy are the runtime's alone; a node of another type has none.
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* copy) {
  return Drive("cuGraphMemcpyNodeGetParams", [&] {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    const cudaError_t error = cudaGraphNodeGetType(node, &type);
    if (error != cudaSuccess || copy == nullptr || type != cudaGraphNodeTypeMemcpy) return cudaErrorInvalidValue;
    return Missing("cuGraphMemcpyNodeGetParams of a copy");
  });
}

}  // extern "C"
