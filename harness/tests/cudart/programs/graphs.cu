// Graphs and stream capture: what each call returns, and what the graphs compute. graphs.expected.txt is what the
// documentation leads one to expect; it was not recorded on a GPU.
#include <cstdio>
#include <cstring>

#define SHOW(call) std::printf("  %s = %s\n", #call, cudaGetErrorName(call))

constexpr int kN = 1000;
int* d;
int host[kN], back[kN];

__global__ void add(int* p, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += by;
}

void CUDART_CB count_call(void* data) { ++*static_cast<int*>(data); }

int FirstOnDevice() {
  cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost);
  return back[0];
}

void capture() {
  cudaStream_t s, t;
  cudaEvent_t fork, join;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable;
  cudaStreamCaptureStatus status;
  size_t count = 0;
  int calls = 0;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  SHOW(cudaStreamEndCapture(s, &graph));
  SHOW(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  SHOW(cudaStreamIsCapturing(s, &status));
  std::printf("  status = %d\n", status);
  SHOW(cudaMemcpyAsync(d, host, sizeof host, cudaMemcpyHostToDevice, s));
  SHOW(cudaEventRecord(fork, s));
  SHOW(cudaStreamWaitEvent(t, fork, 0));
  add<<<8, 128, 0, t>>>(d, kN, 5);
  SHOW(cudaGetLastError());
  SHOW(cudaLaunchHostFunc(s, count_call, &calls));
  SHOW(cudaEventRecord(join, t));
  SHOW(cudaStreamWaitEvent(s, join, 0));
  add<<<8, 128, 0, s>>>(d, kN, 7);
  SHOW(cudaMemsetAsync(d + 1, 0, 4, s));
  SHOW(cudaStreamEndCapture(s, &graph));
  SHOW(cudaGraphGetNodes(graph, nullptr, &count));
  std::printf("  nodes = %zu, calls = %d, first = %d\n", count, calls, FirstOnDevice());
  SHOW(cudaGraphGetRootNodes(graph, nullptr, &count));
  std::printf("  roots = %zu\n", count);
  SHOW(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  std::printf("  edges = %zu\n", count);
  SHOW(cudaGraphInstantiate(&executable, graph, 0));
  SHOW(cudaGraphDestroy(graph));
  SHOW(cudaGraphLaunch(executable, s));
  SHOW(cudaGraphLaunch(executable, s));
  SHOW(cudaStreamSynchronize(s));
  std::printf("  calls = %d, first = %d, second = %d\n", calls, FirstOnDevice(), back[1]);
  SHOW(cudaGraphExecDestroy(executable));

  SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  SHOW(cudaStreamSynchronize(s));
  SHOW(cudaStreamEndCapture(s, &graph));
  std::printf("  graph = %s\n", graph == nullptr ? "null" : "a graph");
  SHOW(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  SHOW(cudaEventRecord(fork, s));
  SHOW(cudaStreamWaitEvent(t, fork, 0));
  add<<<8, 128, 0, t>>>(d, kN, 5);
  SHOW(cudaStreamEndCapture(s, &graph));
  SHOW(cudaStreamSynchronize(t));
  cudaGetLastError();
}

void by_hand() {
  cudaGraph_t graph, clone;
  cudaGraphExec_t executable;
  cudaGraphNode_t fill, first, second, call, found;
  cudaGraphNodeType type;
  cudaGraphExecUpdateResultInfo info;
  int n = kN, by = 3, calls = 0;
  void* arguments[] = {&d, &n, &by};
  cudaKernelNodeParams kernel = {}, read = {};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = dim3(8);
  kernel.blockDim = dim3(128);
  kernel.kernelParams = arguments;
  cudaMemsetParams set = {};
  set.dst = d;
  set.value = 0x01020304;
  set.elementSize = 4;
  set.width = kN;
  set.height = 1;
  cudaHostNodeParams host_call = {count_call, &calls};
  SHOW(cudaGraphCreate(&graph, 1));
  SHOW(cudaGraphCreate(&graph, 0));
  SHOW(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &kernel));
  SHOW(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &set));
  SHOW(cudaGraphAddDependencies(graph, &fill, &first, nullptr, 1));
  SHOW(cudaGraphAddDependencies(graph, &fill, &first, nullptr, 1));
  by = 4;
  SHOW(cudaGraphAddKernelNode(&second, graph, &first, 1, &kernel));
  SHOW(cudaGraphAddHostNode(&call, graph, &second, 1, &host_call));
  SHOW(cudaGraphNodeGetType(call, &type));
  std::printf("  type = %d\n", type);
  SHOW(cudaGraphKernelNodeGetParams(first, &read));
  std::printf("  grid = %u, by = %d\n", read.gridDim.x, *static_cast<int*>(read.kernelParams[2]));
  SHOW(cudaGraphClone(&clone, graph));
  SHOW(cudaGraphNodeFindInClone(&found, second, clone));
  SHOW(cudaGraphDestroyNode(found));
  SHOW(cudaGraphInstantiate(&executable, graph, 0));
  SHOW(cudaGraphLaunch(executable, 0));
  SHOW(cudaDeviceSynchronize());
  std::printf("  first = %d, calls = %d\n", FirstOnDevice() - 0x01020304, calls);
  by = 100;
  SHOW(cudaGraphExecKernelNodeSetParams(executable, second, &kernel));
  SHOW(cudaGraphLaunch(executable, 0));
  std::printf("  first = %d\n", FirstOnDevice() - 0x01020304);
  by = 1000;
  SHOW(cudaGraphKernelNodeSetParams(first, &kernel));
  SHOW(cudaGraphExecUpdate(executable, graph, &info));
  SHOW(cudaGraphLaunch(executable, 0));
  std::printf("  first = %d, result = %d\n", FirstOnDevice() - 0x01020304, info.result);
  SHOW(cudaGraphExecUpdate(executable, clone, &info));
  std::printf("  result = %d\n", info.result);
  SHOW(cudaGraphNodeSetEnabled(executable, first, 0));
  SHOW(cudaGraphLaunch(executable, 0));
  std::printf("  first = %d\n", FirstOnDevice() - 0x01020304);
  SHOW(cudaGraphExecDestroy(executable));
  SHOW(cudaGraphDestroy(clone));
  SHOW(cudaGraphDestroy(graph));
}

void children() {
  cudaGraph_t inner, outer;
  cudaGraphExec_t executable;
  cudaGraphNode_t node, before;
  int n = kN, by = 1;
  void* arguments[] = {&d, &n, &by};
  cudaKernelNodeParams kernel = {};
  kernel.func = reinterpret_cast<void*>(add);
  kernel.gridDim = dim3(8);
  kernel.blockDim = dim3(128);
  kernel.kernelParams = arguments;
  SHOW(cudaGraphCreate(&inner, 0));
  SHOW(cudaGraphAddKernelNode(&node, inner, nullptr, 0, &kernel));
  SHOW(cudaGraphCreate(&outer, 0));
  SHOW(cudaGraphAddMemcpyNode1D(&before, outer, nullptr, 0, d, host, sizeof host, cudaMemcpyHostToDevice));
  SHOW(cudaGraphAddChildGraphNode(&node, outer, &before, 1, inner));
  SHOW(cudaGraphAddChildGraphNode(&node, outer, &node, 1, inner));
  SHOW(cudaGraphInstantiateWithFlags(&executable, outer, 0));
  SHOW(cudaGraphLaunch(executable, 0));
  std::printf("  first = %d\n", FirstOnDevice());
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  cudaMalloc(&d, sizeof host);
  cudaMemset(d, 0, sizeof host);
  std::memset(host, 0, sizeof host);
  host[0] = 10;
  std::printf("capture\n");
  capture();
  std::printf("by hand\n");
  by_hand();
  std::printf("children\n");
  children();
}
