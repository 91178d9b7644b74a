// The driver API's graphs, captures, memory pools and links of several parts. driver_graphs.h100.txt is what it printed
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

void ShowContexts() {
  CUdevice found = 99;
  SHOW(cuCtxGetDevice_v2(&found, nullptr));
  std::printf("%d\n", found);
  found = 99;
  SHOW(cuCtxGetDevice_v2(&found, context));
  std::printf("%d\n", found);
  SHOW(cuCtxSynchronize_v2(nullptr));
  SHOW(cuCtxSynchronize_v2(context));
  unsigned long long id = 0, same = 1;
  SHOW(cuCtxGetId(context, &id));
  SHOW(cuCtxGetId(nullptr, &same));
  std::printf("%d %d\n", id != 0, id == same);
  CUfunc_cache cache;
  SHOW(cuCtxGetCacheConfig(&cache));
  SHOW(cuCtxResetPersistingL2Cache());
  void* entry = nullptr;
  CUdriverProcAddressQueryResult status;
  for (const int version : {1000, 2000, 12040, 13000}) {
    SHOW(cuGetProcAddress("cuCtxGetDevice", &entry, version, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    const bool first = entry == reinterpret_cast<void*>(&cuCtxGetDevice);
    std::printf("status %d, first %d, second %d\n", status, first,
                entry == reinterpret_cast<void*>(&cuCtxGetDevice_v2) && !first);
  }
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

void ShowPointers() {
  CUdeviceptr base = 0;
  size_t bytes = 0;
  SHOW(cuMemGetAddressRange(&base, &bytes, word + 40));
  std::printf("%d %zu\n", base == word, bytes);
  SHOW(cuMemGetAddressRange(nullptr, &bytes, word));
  SHOW(cuMemGetAddressRange(&base, &bytes, 16));
  SHOW(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, word + 8));
  SHOW(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, word + 8));
  std::printf("%d %zu\n", base == word, bytes);
  CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                  CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                  CU_POINTER_ATTRIBUTE_MAPPED};
  unsigned type = 99, managed = 99, mapped = 99;
  int ordinal = 99;
  void* host = &type;
  void* values[] = {&type, &ordinal, &host, &managed, &mapped};
  SHOW(cuPointerGetAttributes(5, wanted, values, word));
  std::printf("%u %d %d %u %u\n", type, ordinal, host == nullptr, managed, mapped);
  int local = 0;
  SHOW(cuPointerGetAttributes(5, wanted, values, reinterpret_cast<CUdeviceptr>(&local)));
  std::printf("%u %d %d %u %u\n", type, ordinal, host == nullptr, managed, mapped);
  CUdeviceptr other = 0;
  SHOW(cuMemAlloc(&other, 64));
  SHOW(cuMemsetD32(other, 5, 16));
  SHOW(cuMemcpyPeer(word, context, other, context, 4));
  std::printf("%u\n", ValueOf(word));
  SHOW(cuMemsetD32(other, 6, 16));
  SHOW(cuMemcpyPeerAsync(word, context, other, context, 4, stream));
  SHOW(cuStreamSynchronize(stream));
  std::printf("%u\n", ValueOf(word));
  SHOW(cuMemFree(other));
}

void ShowPools() {
  CUmemoryPool first = nullptr, second = nullptr, own = nullptr;
  SHOW(cuDeviceGetDefaultMemPool(&first, device));
  SHOW(cuDeviceGetMemPool(&second, device));
  std::printf("%d\n", first == second);
  SHOW(cuDeviceGetMemPool(&second, 77));
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  SHOW(cuMemPoolCreate(&own, &properties));
  cuuint64_t threshold = 1 << 20;
  SHOW(cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  threshold = 0;
  SHOW(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  std::printf("%llu\n", static_cast<unsigned long long>(threshold));
  SHOW(cuDeviceSetMemPool(device, own));
  SHOW(cuDeviceGetMemPool(&second, device));
  std::printf("%d\n", second == own);
  SHOW(cuDeviceSetMemPool(device, first));
  CUdeviceptr pooled = 0;
  SHOW(cuMemAllocFromPoolAsync(&pooled, 4096, own, stream));
  SHOW(cuMemsetD8Async(pooled, 3, 4096, stream));
  SHOW(cuStreamSynchronize(stream));
  std::printf("%x\n", ValueOf(pooled));
  SHOW(cuMemFreeAsync(pooled, stream));
  SHOW(cuStreamSynchronize(stream));
  SHOW(cuMemPoolTrimTo(own, 0));
  CUmemAccess_flags flags;
  CUmemLocation place{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  SHOW(cuMemPoolGetAccess(&flags, own, &place));
  std::printf("%d\n", flags);
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  SHOW(cuMemPoolSetAccess(own, &access, 1));
  SHOW(cuMemGetDefaultMemPool(&second, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
  std::printf("%d\n", second == first);
  SHOW(cuMemGetMemPool(&second, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
  std::printf("%d\n", second == first);
  SHOW(cuMemSetMemPool(&place, CU_MEM_ALLOCATION_TYPE_PINNED, first));
  SHOW(cuMemPoolDestroy(own));
}

void ShowCapture() {
  CUstreamCaptureStatus status;
  SHOW(cuStreamIsCapturing(stream, &status));
  std::printf("%d\n", status);
  SHOW(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  void* arguments[] = {&word};
  SHOW(cuMemsetD32Async(word, 1, 1, stream));
  SHOW(cuLaunchKernel(doubled, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  SHOW(cuStreamIsCapturing(stream, &status));
  std::printf("%d\n", status);
  cuuint64_t id = 0;
  CUgraph inside = nullptr, captured = nullptr;
  const CUgraphNode* last = nullptr;
  size_t count = 0;
  SHOW(cuStreamGetCaptureInfo(stream, &status, &id, &inside, &last, nullptr, &count));
  std::printf("%d %zu\n", id != 0, count);
  SHOW(cuStreamUpdateCaptureDependencies(stream, const_cast<CUgraphNode*>(last), nullptr, count,
                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  SHOW(cuThreadExchangeStreamCaptureMode(&mode));
  std::printf("%d\n", mode);
  SHOW(cuThreadExchangeStreamCaptureMode(&mode));
  SHOW(cuStreamEndCapture(stream, &captured));
  SHOW(cuGraphGetNodes(captured, nullptr, &count));
  std::printf("%zu\n", count);
  CUgraphExec executable;
  SHOW(cuGraphInstantiate(&executable, captured, 0));
  SHOW(cuGraphUpload(executable, stream));
  SHOW(cuGraphLaunch(executable, stream));
  SHOW(cuStreamSynchronize(stream));
  std::printf("%u\n", ValueOf(word));
  SHOW(cuGraphExecDestroy(executable));
  CUgraph to = nullptr;
  SHOW(cuGraphCreate(&to, 0));
  SHOW(cuStreamBeginCaptureToGraph(stream, to, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
  SHOW(cuMemsetD32Async(word, 1, 1, stream));
  SHOW(cuStreamEndCapture(stream, &captured));
  std::printf("%d\n", captured == to);
  SHOW(cuGraphDestroy(to));
  SHOW(cuStreamEndCapture(stream, &captured));
  CUdevice found = 99;
  SHOW(cuStreamGetDevice(stream, &found));
  std::printf("%d\n", found);
  CUstream second;
  SHOW(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  SHOW(cuStreamCopyAttributes(second, stream));
  CUstreamAttrValue value{};
  SHOW(cuStreamGetAttribute(second, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  value.syncPolicy = CU_SYNC_POLICY_SPIN;
  SHOW(cuStreamSetAttribute(second, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  CUdeviceptr shared = 0;
  SHOW(cuMemAllocManaged(&shared, 4096, CU_MEM_ATTACH_GLOBAL));
  SHOW(cuStreamAttachMemAsync(second, shared, 0, CU_MEM_ATTACH_SINGLE));
  SHOW(cuStreamSynchronize(second));
  SHOW(cuMemFree(shared));
  SHOW(cuStreamDestroy(second));
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
  ShowContexts();
  ShowLinks();
  ShowPointers();
  ShowPools();
  ShowCapture();
  ShowGraphs();
  const void* table = nullptr;
  const CUuuid nobody{};
  SHOW(cuGetExportTable(&table, &nobody));
  SHOW(cuMemFree(word));
  SHOW(cuStreamDestroy(stream));
}
