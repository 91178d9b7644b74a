// The driver API's graphs and links of several parts. driver_graphs.h100.txt is what it printed
// on an H100, built with
//   nvcc -arch=sm_90 driver_graphs.cu -lcuda
#include <cstring>
#include <vector>

#include "driver_show.h"

namespace {

const char kCaller[] = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) twice(.param .b32 given);
.visible .entry double_at(.param .u64 at) {
  .reg .b32 %v;
  .reg .b64 %a;
  ld.param.u64 %a, [at];
  ld.global.b32 %v, [%a];
  {
    .param .b32 given, result;
    st.param.b32 [given], %v;
    call (result), twice, (given);
    ld.param.b32 %v, [result];
  }
  st.global.b32 [%a], %v;
  ret;
}
)";

const char kCallee[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 result) twice(.param .b32 given) {
  .reg .b32 %v;
  ld.param.b32 %v, [given];
  add.s32 %v, %v, %v;
  st.param.b32 [result], %v;
  ret;
}
)";

CUdevice device;
CUcontext context;
CUstream stream;
CUfunction doubled;
CUdeviceptr word;

unsigned ValueOf(CUdeviceptr at) {
  unsigned value = 0;
  SHOW(cuMemcpyDtoH(&value, at, sizeof value));
  return value;
}

void ShowLinks() {
  CUlinkState link;
  SHOW(cuLinkCreate(0, nullptr, nullptr, &link));
  SHOW(
      cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kCaller), sizeof kCaller, "caller", 0, nullptr, nullptr));
  SHOW(
      cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kCallee), sizeof kCallee, "callee", 0, nullptr, nullptr));
  SHOW(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "no-such-file.ptx", 0, nullptr, nullptr));
  void* image = nullptr;
  size_t bytes = 0;
  SHOW(cuLinkComplete(link, &image, &bytes));
  CUmodule module;
  SHOW(cuModuleLoadData(&module, image));
  SHOW(cuLinkDestroy(link));
  SHOW(cuModuleGetFunction(&doubled, module, "double_at"));
  SHOW(cuMemAlloc(&word, 1024));
  SHOW(cuMemsetD32(word, 21, 1));
  void* arguments[] = {&word};
  SHOW(cuLaunchKernel(doubled, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  SHOW(cuCtxSynchronize());
  std::printf("%u\n", ValueOf(word));
}

void Add(void* to) { *static_cast<int*>(to) += 100; }

void ShowGraphs() {
  CUgraph graph, child, clone, found_child;
  SHOW(cuGraphCreate(&graph, 0));
  SHOW(cuGraphCreate(&child, 0));
  CUgraphNode fill, kernel, host, empty, record, wait, nested, found;
  CUDA_MEMSET_NODE_PARAMS filled{word, 4, 7, 4, 1, 1};
  SHOW(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &filled, context));
  void* arguments[] = {&word};
  CUDA_KERNEL_NODE_PARAMS launched{};
  launched.func = doubled;
  launched.gridDimX = launched.gridDimY = launched.gridDimZ = 1;
  launched.blockDimX = launched.blockDimY = launched.blockDimZ = 1;
  launched.kernelParams = arguments;
  SHOW(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &launched));
  int sum = 0;
  CUDA_HOST_NODE_PARAMS called{Add, &sum};
  SHOW(cuGraphAddHostNode(&host, graph, &kernel, 1, &called));
  SHOW(cuGraphAddEmptyNode(&empty, child, nullptr, 0));
  SHOW(cuGraphAddChildGraphNode(&nested, graph, &host, 1, child));
  SHOW(cuGraphChildGraphNodeGetGraph(nested, &found_child));
  CUevent event, other;
  SHOW(cuEventCreate(&event, 0));
  SHOW(cuEventCreate(&other, 0));
  SHOW(cuGraphAddEventRecordNode(&record, graph, &nested, 1, event));
  SHOW(cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, event));
  SHOW(cuGraphAddDependencies(graph, &record, &wait, nullptr, 1));
  CUevent got = nullptr;
  SHOW(cuGraphEventRecordNodeGetEvent(record, &got));
  std::printf("%d\n", got == event);
  SHOW(cuGraphEventRecordNodeSetEvent(record, other));
  SHOW(cuGraphEventWaitNodeSetEvent(wait, other));
  SHOW(cuGraphEventWaitNodeGetEvent(wait, &got));
  std::printf("%d\n", got == other);
  CUgraphNodeType type;
  for (const CUgraphNode node : {fill, kernel, host, nested, record, wait}) {
    SHOW(cuGraphNodeGetType(node, &type));
    std::printf("%d\n", type);
  }
  size_t count = 0;
  SHOW(cuGraphGetNodes(graph, nullptr, &count));
  std::printf("%zu nodes\n", count);
  SHOW(cuGraphGetRootNodes(graph, nullptr, &count));
  std::printf("%zu roots\n", count);
  SHOW(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  std::printf("%zu edges\n", count);
  SHOW(cuGraphNodeGetDependencies(kernel, nullptr, nullptr, &count));
  std::printf("%zu before\n", count);
  SHOW(cuGraphNodeGetDependentNodes(kernel, nullptr, nullptr, &count));
  std::printf("%zu after\n", count);
  SHOW(cuGraphRemoveDependencies(graph, &record, &wait, nullptr, 1));
  SHOW(cuGraphDestroyNode(wait));
  CUDA_KERNEL_NODE_PARAMS read{};
  SHOW(cuGraphKernelNodeGetParams(kernel, &read));
  std::printf("%d %u %u\n", read.func == doubled, read.gridDimX, read.blockDimZ);
  read.blockDimX = 1;
  SHOW(cuGraphKernelNodeSetParams(kernel, &read));
  CUDA_MEMSET_NODE_PARAMS read_fill{};
  SHOW(cuGraphMemsetNodeGetParams(fill, &read_fill));
  std::printf("%d %u %u\n", read_fill.dst == word, read_fill.value, read_fill.elementSize);
  read_fill.value = 8;
  SHOW(cuGraphMemsetNodeSetParams(fill, &read_fill));
  CUDA_HOST_NODE_PARAMS read_host{};
  SHOW(cuGraphHostNodeGetParams(host, &read_host));
  std::printf("%d\n", read_host.userData == &sum);
  SHOW(cuGraphHostNodeSetParams(host, &read_host));
  CUgraphNode twin;
  SHOW(cuGraphAddKernelNode(&twin, graph, &host, 1, &launched));
  SHOW(cuGraphKernelNodeCopyAttributes(twin, kernel));
  SHOW(cuGraphClone(&clone, graph));
  SHOW(cuGraphNodeFindInClone(&found, kernel, clone));
  std::printf("%d\n", found != kernel);
  CUgraphExec executable;
  CUDA_GRAPH_INSTANTIATE_PARAMS wishes{};
  SHOW(cuGraphInstantiateWithParams(&executable, graph, &wishes));
  cuuint64_t flags = 99;
  SHOW(cuGraphExecGetFlags(executable, &flags));
  std::printf("%llu\n", static_cast<unsigned long long>(flags));
  SHOW(cuGraphLaunch(executable, stream));
  SHOW(cuStreamSynchronize(stream));
  std::printf("%u %d\n", ValueOf(word), sum);
  read_fill.value = 9;
  SHOW(cuGraphExecMemsetNodeSetParams(executable, fill, &read_fill, context));
  SHOW(cuGraphExecKernelNodeSetParams(executable, kernel, &launched));
  SHOW(cuGraphExecHostNodeSetParams(executable, host, &called));
  SHOW(cuGraphExecChildGraphNodeSetParams(executable, nested, child));
  unsigned enabled = 9;
  SHOW(cuGraphNodeSetEnabled(executable, twin, 0));
  SHOW(cuGraphNodeGetEnabled(executable, twin, &enabled));
  std::printf("%u\n", enabled);
  SHOW(cuGraphLaunch(executable, stream));
  SHOW(cuStreamSynchronize(stream));
  std::printf("%u %d\n", ValueOf(word), sum);
  CUgraphExecUpdateResultInfo info{};
  SHOW(cuGraphExecUpdate(executable, graph, &info));
  std::printf("%d\n", info.result);
  SHOW(cuGraphExecUpdate(executable, child, &info));
  std::printf("%d\n", info.result);
  SHOW(cuGraphExecDestroy(executable));
  SHOW(cuGraphDestroy(clone));
  SHOW(cuGraphDestroy(child));
  SHOW(cuGraphDestroy(graph));
  SHOW(cuEventDestroy(event));
  SHOW(cuEventDestroy(other));
}

}  // namespace

int main() {
  SHOW(cuInit(0));
  SHOW(cuDeviceGet(&device, 0));
  SHOW(cuDevicePrimaryCtxRetain(&context, device));
  SHOW(cuCtxSetCurrent(context));
  SHOW(cuCtxSetFlags(CU_CTX_SCHED_AUTO));
  SHOW(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  ShowLinks();
  ShowGraphs();
  const void* table = nullptr;
  const CUuuid nobody{};
  SHOW(cuGetExportTable(&table, &nobody));
  SHOW(cuMemFree(word));
  SHOW(cuStreamDestroy(stream));
}
