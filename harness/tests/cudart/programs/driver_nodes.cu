// The driver's forms of memory nodes, attributes of kernel nodes and changes of event nodes: prints "ok", or the line
// that failed.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

#define EXPECT(condition)                        \
  do {                                           \
    if (!(condition)) {                          \
      std::printf("line %d failed\n", __LINE__); \
      return 1;                                  \
    }                                            \
  } while (false)

__global__ void Add(int* p) { *p += 5; }

int main() {
  int *memory = nullptr, value = 0;
  cudaMalloc(&memory, sizeof(int));
  cudaMemset(memory, 0, sizeof(int));
  cudaIpcMemHandle_t handle;
  EXPECT(cudaIpcGetMemHandle(&handle, memory) == cudaSuccess);
  EXPECT(cudaIpcGetMemHandle(&handle, &value) == cudaErrorInvalidValue);
  // A process can't open a handle of its own memory, nor bytes that are no handle.
  void* opened = nullptr;
  CUdeviceptr opened_too = 0;
  CUipcMemHandle same;
  std::memcpy(&same, &handle, sizeof same);
  EXPECT(cudaIpcOpenMemHandle(&opened, handle, cudaIpcMemLazyEnablePeerAccess) == cudaErrorDeviceUninitialized);
  EXPECT(cuIpcOpenMemHandle(&opened_too, same, 0) == CUDA_ERROR_INVALID_VALUE);
  cudaEvent_t event, other;
  cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming);
  cudaIpcEventHandle_t shared = {}, none = {};
  CUipcEventHandle nobodys = {};
  EXPECT(cudaIpcGetEventHandle(&shared, event) == cudaSuccess);
  EXPECT(cudaIpcOpenEventHandle(&other, shared) == cudaErrorDeviceUninitialized);
  EXPECT(cudaIpcOpenEventHandle(&other, none) == cudaErrorMapBufferObjectFailed);
  EXPECT(cuIpcOpenEventHandle(&other, nobodys) == CUDA_ERROR_MAP_FAILED);
  CUgraph graph;
  CUgraphNode alloc, kernel, record, wait, release;
  EXPECT(cuGraphCreate(&graph, 0) == CUDA_SUCCESS);
  CUDA_MEM_ALLOC_NODE_PARAMS allocation = {}, told = {};
  allocation.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  allocation.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  allocation.bytesize = 4096;
  EXPECT(cuGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &allocation) == CUDA_SUCCESS && allocation.dptr != 0);
  EXPECT(cuGraphMemAllocNodeGetParams(alloc, &told) == CUDA_SUCCESS && told.dptr == allocation.dptr);
  cudaFunction_t function;
  cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(Add));
  void* arguments[] = {&memory};
  CUDA_KERNEL_NODE_PARAMS launch = {};
  launch.func = function;
  launch.gridDimX = launch.gridDimY = launch.gridDimZ = launch.blockDimX = launch.blockDimY = launch.blockDimZ = 1;
  launch.kernelParams = arguments;
  EXPECT(cuGraphAddKernelNode(&kernel, graph, &alloc, 1, &launch) == CUDA_SUCCESS);
  CUlaunchAttributeValue attribute = {}, now = {};
  attribute.priority = -2;
  EXPECT(cuGraphKernelNodeSetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, &attribute) == CUDA_SUCCESS);
  EXPECT(cuGraphKernelNodeGetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_PRIORITY, &now) == CUDA_SUCCESS &&
         now.priority == -2);
  CUDA_MEMCPY3D copy = {};
  EXPECT(cuGraphMemcpyNodeGetParams(kernel, &copy) == CUDA_ERROR_INVALID_VALUE);
  CUevent first, second;
  cuEventCreate(&first, 0);
  cuEventCreate(&second, 0);
  EXPECT(cuGraphAddEventRecordNode(&record, graph, &kernel, 1, first) == CUDA_SUCCESS);
  EXPECT(cuGraphAddEventWaitNode(&wait, graph, &record, 1, first) == CUDA_SUCCESS);
  CUdeviceptr freed = 0;
  EXPECT(cuGraphAddMemFreeNode(&release, graph, &wait, 1, allocation.dptr) == CUDA_SUCCESS);
  EXPECT(cuGraphMemFreeNodeGetParams(release, &freed) == CUDA_SUCCESS && freed == allocation.dptr);
  EXPECT(cuGraphDebugDotPrint(graph, "/dev/null", 0) == CUDA_SUCCESS);
  CUgraphExec executable;
  EXPECT(cuGraphInstantiate(&executable, graph, 0) == CUDA_SUCCESS);
  EXPECT(cuGraphExecEventRecordNodeSetEvent(executable, record, second) == CUDA_SUCCESS);
  EXPECT(cuGraphExecEventWaitNodeSetEvent(executable, wait, second) == CUDA_SUCCESS);
  EXPECT(cuGraphLaunch(executable, nullptr) == CUDA_SUCCESS && cuCtxSynchronize() == CUDA_SUCCESS);
  EXPECT(cuEventQuery(second) == CUDA_SUCCESS);
  cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost);
  EXPECT(value == 5);
  EXPECT(cuGraphUpload(executable, nullptr) == CUDA_SUCCESS);
  EXPECT(cuGraphBatchMemOpNodeSetParams(kernel, nullptr) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuLogsDumpToFile(nullptr, nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cudaLogsUnregisterCallback(nullptr) == cudaErrorInvalidValue);
  int blocks = 0;
  EXPECT(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, 32, 0, 0) == CUDA_SUCCESS);
  CUDA_MEMCPY3D_PEER peer = {};
  peer.srcMemoryType = CU_MEMORYTYPE_DEVICE, peer.srcDevice = reinterpret_cast<CUdeviceptr>(memory);
  peer.dstMemoryType = CU_MEMORYTYPE_HOST, peer.dstHost = &value;
  peer.WidthInBytes = sizeof value, peer.Height = peer.Depth = 1;
  value = 0;
  EXPECT(cuMemcpy3DPeer(&peer) == CUDA_SUCCESS && value == 5);
  EXPECT(cuMemcpy3DPeerAsync(&peer, nullptr) == CUDA_SUCCESS);
  EXPECT(cuLaunchCooperativeKernelMultiDevice(nullptr, 1, 0) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuTensorMapEncodeIm2colWide(nullptr, {}, 3, memory, nullptr, nullptr, 0, 0, 16, 1, nullptr, {}, {}, {}, {},
                                     {}) == CUDA_ERROR_INVALID_VALUE);
  std::printf("ok\n");
  return 0;
}
