// Stream capture: what each call does while a stream captures, in each mode, and the graph that results.
#define CONFORMANCE_CLASS "capture"
#include "ask.h"

__device__ int device_variable[64];
__global__ void Add(int* p) { atomicAdd(p, 1); }
__global__ void Empty() {}

namespace {

// What the calls work with; made before the capture begins.
struct World {
  cudaStream_t capturing = nullptr, other = nullptr, nonblocking = nullptr, extra = nullptr;
  cudaEvent_t event = nullptr, recorded = nullptr, timed = nullptr;
  int *device = nullptr, *pinned = nullptr, *managed = nullptr, *async = nullptr;
  int host[64] = {};
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaMemPool_t pool = nullptr, own_pool = nullptr;
  cudaArray_t array = nullptr;
  void* spare = nullptr;  // memory that a call may free
  void* spare_host = nullptr;
  explicit World(unsigned flags) {
    cudaStreamCreateWithFlags(&capturing, flags);
    cudaStreamCreate(&other);
    cudaStreamCreateWithFlags(&nonblocking, cudaStreamNonBlocking);
    cudaStreamCreate(&extra);
    cudaEventCreate(&event);
    cudaEventCreate(&recorded);
    cudaEventRecord(recorded, other);
    cudaEventCreate(&timed);
    cudaMalloc(&device, 4096);
    cudaMallocHost(&pinned, 4096);
    cudaMallocManaged(&managed, 4096);
    cudaMallocAsync(&async, 4096, other);
    cudaMalloc(&spare, 4096);
    cudaMallocHost(&spare_host, 4096);
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t node;
    cudaGraphAddEmptyNode(&node, graph, nullptr, 0);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, 0};
    cudaMemPoolCreate(&own_pool, &props);
    const auto desc = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &desc, 16, 4);
    Add<<<1, 1>>>(device);
    Empty<<<1, 1>>>();
    cudaDeviceSynchronize();
    cudaGetLastError();
  }
};

using Call = std::function<int(World&)>;
void CUDART_CB Callback(void*) {}
void CUDART_CB OldCallback(cudaStream_t, cudaError_t, void*) {}

std::vector<std::pair<std::string, Call>> Calls() {
  std::vector<std::pair<std::string, Call>> calls;
#define CALL(name, ...) calls.emplace_back(name, [](World& w) -> int { return static_cast<int>(__VA_ARGS__); });
  CALL("nothing", 0)
  CALL("kernel", (Add<<<1, 1, 0, w.capturing>>>(w.device), cudaGetLastError()))
  CALL("kernel_twice",
       (Add<<<1, 1, 0, w.capturing>>>(w.device), Add<<<1, 1, 0, w.capturing>>>(w.device), cudaGetLastError()))
  CALL("kernel_threads", (Add<<<1, 2000, 0, w.capturing>>>(w.device), cudaGetLastError()))
  CALL("kernel_grid0", (Add<<<0, 1, 0, w.capturing>>>(w.device), cudaGetLastError()))
  CALL("kernel_shared", (Add<<<1, 1, 100000, w.capturing>>>(w.device), cudaGetLastError()))
  CALL("kernel_legacy", (Add<<<1, 1>>>(w.device), cudaGetLastError()))
  CALL("kernel_perthread", (Add<<<1, 1, 0, cudaStreamPerThread>>>(w.device), cudaGetLastError()))
  CALL("kernel_other", (Add<<<1, 1, 0, w.other>>>(w.device), cudaGetLastError()))
  CALL("kernel_nonblocking", (Add<<<1, 1, 0, w.nonblocking>>>(w.device), cudaGetLastError()))
  CALL("hostfunc", cudaLaunchHostFunc(w.capturing, Callback, nullptr))
  CALL("hostfunc_null", cudaLaunchHostFunc(w.capturing, nullptr, nullptr))
  CALL("callback", cudaStreamAddCallback(w.capturing, OldCallback, nullptr, 0))
  CALL("callback_other", cudaStreamAddCallback(w.other, OldCallback, nullptr, 0))
  CALL("memcpy_h2d", cudaMemcpy(w.device, w.host, 16, cudaMemcpyHostToDevice))
  CALL("memcpy_d2h", cudaMemcpy(w.host, w.device, 16, cudaMemcpyDeviceToHost))
  CALL("memcpy_d2d", cudaMemcpy(w.device + 100, w.device, 16, cudaMemcpyDeviceToDevice))
  CALL("memcpy_h2h", cudaMemcpy(w.host + 8, w.host, 16, cudaMemcpyHostToHost))
  CALL("memcpy_zero", cudaMemcpy(w.device, w.host, 0, cudaMemcpyHostToDevice))
  CALL("memcpy_null", cudaMemcpy(nullptr, w.host, 16, cudaMemcpyHostToDevice))
  CALL("memcpy2d", cudaMemcpy2D(w.device, 16, w.host, 16, 16, 2, cudaMemcpyHostToDevice))
  CALL("memset", cudaMemset(w.device, 0, 16))
  CALL("memset_zero", cudaMemset(w.device, 0, 0))
  CALL("memcpyasync_pageable", cudaMemcpyAsync(w.device, w.host, 16, cudaMemcpyHostToDevice, w.capturing))
  CALL("memcpyasync_topageable", cudaMemcpyAsync(w.host, w.device, 16, cudaMemcpyDeviceToHost, w.capturing))
  CALL("memcpyasync_pinned", cudaMemcpyAsync(w.device, w.pinned, 16, cudaMemcpyHostToDevice, w.capturing))
  CALL("memcpyasync_d2d", cudaMemcpyAsync(w.device + 100, w.device, 16, cudaMemcpyDeviceToDevice, w.capturing))
  CALL("memcpyasync_h2h", cudaMemcpyAsync(w.host + 8, w.host, 16, cudaMemcpyHostToHost, w.capturing))
  CALL("memcpyasync_managed", cudaMemcpyAsync(w.managed, w.device, 16, cudaMemcpyDefault, w.capturing))
  CALL("memcpyasync_zero", cudaMemcpyAsync(w.device, w.pinned, 0, cudaMemcpyHostToDevice, w.capturing))
  CALL("memcpyasync_kind9", cudaMemcpyAsync(w.device, w.pinned, 16, static_cast<cudaMemcpyKind>(9), w.capturing))
  CALL("memcpyasync_wrongkind", cudaMemcpyAsync(w.host, w.device, 16, cudaMemcpyHostToDevice, w.capturing))
  CALL("memcpyasync_null", cudaMemcpyAsync(nullptr, w.device, 16, cudaMemcpyDefault, w.capturing))
  CALL("memcpyasync_legacy", cudaMemcpyAsync(w.device, w.pinned, 16, cudaMemcpyHostToDevice, nullptr))
  CALL("memcpyasync_other", cudaMemcpyAsync(w.device, w.pinned, 16, cudaMemcpyHostToDevice, w.other))
  CALL("memcpy2dasync", cudaMemcpy2DAsync(w.device, 32, w.pinned, 16, 16, 2, cudaMemcpyHostToDevice, w.capturing))
  CALL("memcpy2dasync_pitch", cudaMemcpy2DAsync(w.device, 8, w.pinned, 16, 16, 2, cudaMemcpyHostToDevice, w.capturing))
  CALL("memcpytoarray",
       cudaMemcpy2DToArrayAsync(w.array, 0, 0, w.pinned, 64, 64, 4, cudaMemcpyHostToDevice, w.capturing))
  CALL("memcpytosymbol", cudaMemcpyToSymbolAsync(device_variable, w.pinned, 16, 0, cudaMemcpyHostToDevice, w.capturing))
  CALL("memcpytosymbol_sync", cudaMemcpyToSymbol(device_variable, w.pinned, 16))
  CALL("memcpyfromsymbol",
       cudaMemcpyFromSymbolAsync(w.pinned, device_variable, 16, 0, cudaMemcpyDeviceToHost, w.capturing))
  CALL("memcpypeer", cudaMemcpyPeerAsync(w.device, 0, w.device + 100, 0, 16, w.capturing))
  CALL("memsetasync", cudaMemsetAsync(w.device, 0, 16, w.capturing))
  CALL("memsetasync_zero", cudaMemsetAsync(w.device, 0, 0, w.capturing))
  CALL("memsetasync_null", cudaMemsetAsync(nullptr, 0, 16, w.capturing))
  CALL("memsetasync_host", cudaMemsetAsync(w.host, 0, 16, w.capturing))
  CALL("memsetasync_legacy", cudaMemsetAsync(w.device, 0, 16, nullptr))
  CALL("memset2dasync", cudaMemset2DAsync(w.device, 32, 0, 16, 2, w.capturing))
  CALL("malloc", cudaMalloc(&w.spare, 64))
  CALL("malloc_zero", cudaMalloc(&w.spare, 0))
  CALL("malloc_huge", cudaMalloc(&w.spare, size_t{1} << 50))
  CALL("mallocpitch", OUT(size_t, cudaMallocPitch(&w.spare, &out, 64, 4)))
  CALL("mallocmanaged", cudaMallocManaged(&w.spare, 64))
  CALL("mallochost", cudaMallocHost(&w.spare, 64))
  CALL("hostalloc", cudaHostAlloc(&w.spare, 64, 0))
  CALL("hostregister", cudaHostRegister(w.host, 64, 0))
  CALL("hostunregister", cudaHostUnregister(w.host))
  CALL("mallocarray", [&] {
    const auto d = cudaCreateChannelDesc<float>();
    return cudaMallocArray(&w.array, &d, 16, 4);
  }())
  CALL("freearray", cudaFreeArray(w.array))
  CALL("freearray_null", cudaFreeArray(nullptr))
  CALL("free", cudaFree(w.spare))
  CALL("free_null", cudaFree(nullptr))
  CALL("free_bad", cudaFree(w.host))
  CALL("freehost", cudaFreeHost(w.spare_host))
  CALL("freehost_null", cudaFreeHost(nullptr))
  CALL("mallocasync", cudaMallocAsync(&w.spare, 64, w.capturing))
  CALL("mallocasync_zero", cudaMallocAsync(&w.spare, 0, w.capturing))
  CALL("mallocasync_free", (cudaMallocAsync(&w.spare, 64, w.capturing), cudaFreeAsync(w.spare, w.capturing)))
  CALL("mallocasync_legacy", cudaMallocAsync(&w.spare, 64, nullptr))
  CALL("mallocasync_other", cudaMallocAsync(&w.spare, 64, w.other))
  CALL("mallocfrompool", cudaMallocFromPoolAsync(&w.spare, 64, w.own_pool, w.capturing))
  CALL("freeasync_outside", cudaFreeAsync(w.async, w.capturing))
  CALL("freeasync_malloc", cudaFreeAsync(w.spare, w.capturing))
  CALL("freeasync_null", cudaFreeAsync(nullptr, w.capturing))
  CALL("freeasync_other", cudaFreeAsync(w.async, w.other))
  CALL("freeasync_legacy", cudaFreeAsync(w.async, nullptr))
  CALL("pooltrim", cudaMemPoolTrimTo(w.pool, 0))
  CALL("poolgetattr", OUT(unsigned long long, cudaMemPoolGetAttribute(w.pool, cudaMemPoolAttrUsedMemCurrent, &out)))
  CALL("poolsetattr", [&] {
    unsigned long long v = 0;
    return cudaMemPoolSetAttribute(w.pool, cudaMemPoolAttrReleaseThreshold, &v);
  }())
  CALL("poolcreate", [&] {
    cudaMemPoolProps p{};
    p.allocType = cudaMemAllocationTypePinned;
    p.location = {cudaMemLocationTypeDevice, 0};
    return cudaMemPoolCreate(&w.pool, &p);
  }())
  CALL("pooldestroy", cudaMemPoolDestroy(w.own_pool))
  CALL("poolgetdefault", cudaDeviceGetDefaultMemPool(&w.pool, 0))
  CALL("poolset", cudaDeviceSetMemPool(0, w.pool))
  CALL("devicesync", cudaDeviceSynchronize())
  CALL("drvctxsync", cuCtxSynchronize())
  CALL("streamsync", cudaStreamSynchronize(w.capturing))
  CALL("streamsync_other", cudaStreamSynchronize(w.other))
  CALL("streamsync_nonblocking", cudaStreamSynchronize(w.nonblocking))
  CALL("streamsync_legacy", cudaStreamSynchronize(nullptr))
  CALL("streamsync_perthread", cudaStreamSynchronize(cudaStreamPerThread))
  CALL("streamquery", cudaStreamQuery(w.capturing))
  CALL("streamquery_other", cudaStreamQuery(w.other))
  CALL("streamquery_nonblocking", cudaStreamQuery(w.nonblocking))
  CALL("streamquery_legacy", cudaStreamQuery(nullptr))
  CALL("streamcreate", cudaStreamCreate(&w.extra))
  CALL("streamcreate_nonblocking", cudaStreamCreateWithFlags(&w.extra, cudaStreamNonBlocking))
  CALL("streamdestroy", cudaStreamDestroy(w.extra))
  CALL("streamflags", OUT(unsigned, cudaStreamGetFlags(w.capturing, &out)))
  CALL("streamflags_other", OUT(unsigned, cudaStreamGetFlags(w.other, &out)))
  CALL("streamflags_legacy", OUT(unsigned, cudaStreamGetFlags(nullptr, &out)))
  CALL("streampriority", OUT(int, cudaStreamGetPriority(w.capturing, &out)))
  CALL("streampriority_legacy", OUT(int, cudaStreamGetPriority(nullptr, &out)))
  CALL("streamid", OUT(unsigned long long, cudaStreamGetId(w.capturing, &out)))
  CALL("streamid_other", OUT(unsigned long long, cudaStreamGetId(w.other, &out)))
  CALL("streamid_legacy", OUT(unsigned long long, cudaStreamGetId(nullptr, &out)))
  CALL("streamdevice", OUT(int, cudaStreamGetDevice(w.capturing, &out)))
  CALL("streamattrget",
       OUT(cudaLaunchAttributeValue, cudaStreamGetAttribute(w.capturing, cudaLaunchAttributePriority, &out)))
  CALL("streamattrset", [&] {
    cudaLaunchAttributeValue v{};
    v.syncPolicy = cudaSyncPolicySpin;
    return cudaStreamSetAttribute(w.capturing, cudaLaunchAttributeSynchronizationPolicy, &v);
  }())
  CALL("streamattach", cudaStreamAttachMemAsync(w.capturing, w.managed, 0, cudaMemAttachGlobal))
  CALL("streamctx", OUT(CUcontext, cuStreamGetCtx(w.capturing, &out)))
  CALL("drvstreamflags", OUT(unsigned, cuStreamGetFlags(w.capturing, &out)))
  CALL("writevalue", cuStreamWriteValue32(w.capturing, Dev(w.device), 1, 0))
  CALL("waitvalue", cuStreamWaitValue32(w.capturing, Dev(w.device), 0, CU_STREAM_WAIT_VALUE_GEQ))
  CALL("eventcreate", cudaEventCreate(&w.event))
  CALL("eventdestroy", cudaEventDestroy(w.timed))
  CALL("eventrecord", cudaEventRecord(w.event, w.capturing))
  CALL("eventrecord_external", cudaEventRecordWithFlags(w.event, w.capturing, cudaEventRecordExternal))
  CALL("eventrecord_flags9", cudaEventRecordWithFlags(w.event, w.capturing, 9))
  CALL("eventrecord_legacy", cudaEventRecord(w.event, nullptr))
  CALL("eventrecord_other", cudaEventRecord(w.event, w.other))
  CALL("eventrecord_query", (cudaEventRecord(w.event, w.capturing), cudaEventQuery(w.event)))
  CALL("eventrecord_sync", (cudaEventRecord(w.event, w.capturing), cudaEventSynchronize(w.event)))
  CALL("eventrecord_elapsed", [&] {
    float ms;
    cudaEventRecord(w.event, w.capturing);
    return cudaEventElapsedTime(&ms, w.recorded, w.event);
  }())
  CALL("eventrecord_destroy", (cudaEventRecord(w.event, w.capturing), cudaEventDestroy(w.event)))
  CALL("eventquery_outside", cudaEventQuery(w.recorded))
  CALL("eventsync_outside", cudaEventSynchronize(w.recorded))
  CALL("eventelapsed_outside", OUT(float, cudaEventElapsedTime(&out, w.recorded, w.recorded)))
  CALL("waitevent_outside", cudaStreamWaitEvent(w.capturing, w.recorded, 0))
  CALL("waitevent_outside_external", cudaStreamWaitEvent(w.capturing, w.recorded, cudaEventWaitExternal))
  CALL("waitevent_unrecorded", cudaStreamWaitEvent(w.capturing, w.timed, 0))
  CALL("waitevent_self", (cudaEventRecord(w.event, w.capturing), cudaStreamWaitEvent(w.capturing, w.event, 0)))
  CALL("waitevent_other_outside", cudaStreamWaitEvent(w.other, w.recorded, 0))
  CALL("fork_empty", (cudaEventRecord(w.event, w.capturing), cudaStreamWaitEvent(w.other, w.event, 0)))
  CALL("fork_unjoined", (cudaEventRecord(w.event, w.capturing), cudaStreamWaitEvent(w.other, w.event, 0),
                         Empty<<<1, 1, 0, w.other>>>(), cudaGetLastError()))
  CALL("fork_joined",
       (cudaEventRecord(w.event, w.capturing), cudaStreamWaitEvent(w.other, w.event, 0), Empty<<<1, 1, 0, w.other>>>(),
        cudaEventRecord(w.timed, w.other), cudaStreamWaitEvent(w.capturing, w.timed, 0)))
  CALL("fork_after",
       (Empty<<<1, 1, 0, w.capturing>>>(), cudaEventRecord(w.event, w.capturing),
        cudaStreamWaitEvent(w.other, w.event, 0), Empty<<<1, 1, 0, w.other>>>(), Empty<<<1, 1, 0, w.capturing>>>(),
        cudaEventRecord(w.timed, w.other), cudaStreamWaitEvent(w.capturing, w.timed, 0)))
  CALL("fork_legacy", (cudaEventRecord(w.event, w.capturing), cudaStreamWaitEvent(nullptr, w.event, 0)))
  CALL("fork_end_other", [&] {
    cudaEventRecord(w.event, w.capturing);
    cudaStreamWaitEvent(w.other, w.event, 0);
    cudaGraph_t g;
    return cudaStreamEndCapture(w.other, &g);
  }())
  CALL("fork_destroy_other",
       (cudaEventRecord(w.event, w.capturing), cudaStreamWaitEvent(w.extra, w.event, 0), cudaStreamDestroy(w.extra)))
  CALL("merge", [&] {
    cudaStreamBeginCapture(w.nonblocking, cudaStreamCaptureModeRelaxed);
    cudaEventRecord(w.event, w.nonblocking);
    const int e = cudaStreamWaitEvent(w.capturing, w.event, 0);
    cudaGraph_t g;
    cudaStreamEndCapture(w.nonblocking, &g);
    return e;
  }())
  CALL("second_capture", [&] {
    const int e = cudaStreamBeginCapture(w.nonblocking, cudaStreamCaptureModeRelaxed);
    cudaGraph_t g;
    cudaStreamEndCapture(w.nonblocking, &g);
    return e;
  }())
  CALL("begin_again", cudaStreamBeginCapture(w.capturing, cudaStreamCaptureModeGlobal))
  CALL("begin_tograph",
       cudaStreamBeginCaptureToGraph(w.capturing, w.graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed))
  CALL("begin_legacy", cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal))
  CALL("end_other", OUT(cudaGraph_t, cudaStreamEndCapture(w.other, &out)))
  CALL("end_legacy", OUT(cudaGraph_t, cudaStreamEndCapture(nullptr, &out)))
  CALL("end_null", cudaStreamEndCapture(w.capturing, nullptr))
  CALL("iscapturing", OUT(cudaStreamCaptureStatus, cudaStreamIsCapturing(w.capturing, &out)))
  CALL("iscapturing_legacy", OUT(cudaStreamCaptureStatus, cudaStreamIsCapturing(nullptr, &out)))
  CALL("iscapturing_other", OUT(cudaStreamCaptureStatus, cudaStreamIsCapturing(w.other, &out)))
  CALL("iscapturing_null", cudaStreamIsCapturing(w.capturing, nullptr))
  CALL("captureinfo", [&] {
    cudaStreamCaptureStatus s;
    unsigned long long id;
    return cudaStreamGetCaptureInfo(w.capturing, &s, &id);
  }())
  CALL("captureinfo_legacy", [&] {
    cudaStreamCaptureStatus s;
    unsigned long long id;
    return cudaStreamGetCaptureInfo(nullptr, &s, &id);
  }())
  CALL("updatedeps_clear",
       cudaStreamUpdateCaptureDependencies(w.capturing, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies))
  CALL("updatedeps_add0",
       cudaStreamUpdateCaptureDependencies(w.capturing, nullptr, nullptr, 0, cudaStreamAddCaptureDependencies))
  CALL("updatedeps_flags9", cudaStreamUpdateCaptureDependencies(w.capturing, nullptr, nullptr, 0, 9))
  CALL("updatedeps_other", cudaStreamUpdateCaptureDependencies(w.other, nullptr, nullptr, 0, 0))
  CALL("exchangemode", [&] {
    auto m = cudaStreamCaptureModeRelaxed;
    const int e = cudaThreadExchangeStreamCaptureMode(&m);
    cudaThreadExchangeStreamCaptureMode(&m);
    return e;
  }())
  CALL("exchangemode_malloc", [&] {
    auto m = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&m);
    const int e = cudaMalloc(&w.spare, 64);
    cudaThreadExchangeStreamCaptureMode(&m);
    return e;
  }())
  CALL("exchangemode_bad", [&] {
    auto m = static_cast<cudaStreamCaptureMode>(9);
    return cudaThreadExchangeStreamCaptureMode(&m);
  }())
  CALL("graphcreate", cudaGraphCreate(&w.graph, 0))
  CALL("graphaddempty", OUT(cudaGraphNode_t, cudaGraphAddEmptyNode(&out, w.graph, nullptr, 0)))
  CALL("graphclone", OUT(cudaGraph_t, cudaGraphClone(&out, w.graph)))
  CALL("graphdestroy", cudaGraphDestroy(w.graph))
  CALL("graphinstantiate", OUT(cudaGraphExec_t, cudaGraphInstantiate(&out, w.graph, 0)))
  CALL("graphlaunch", cudaGraphLaunch(w.executable, w.capturing))
  CALL("graphlaunch_other", cudaGraphLaunch(w.executable, w.other))
  CALL("graphlaunch_legacy", cudaGraphLaunch(w.executable, nullptr))
  CALL("graphupload", cudaGraphUpload(w.executable, w.capturing))
  CALL("graphexecdestroy", cudaGraphExecDestroy(w.executable))
  CALL("graphmemtrim", cudaDeviceGraphMemTrim(0))
  CALL("prefetch", cudaMemPrefetchAsync(w.managed, 4096, {cudaMemLocationTypeDevice, 0}, 0, w.capturing))
  CALL("advise", cudaMemAdvise(w.managed, 4096, cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0}))
  CALL("rangeattr", OUT(int, cudaMemRangeGetAttribute(&out, 4, cudaMemRangeAttributeReadMostly, w.managed, 4096)))
  CALL("pointerattr", OUT(cudaPointerAttributes, cudaPointerGetAttributes(&out, w.device)))
  CALL("drvpointerattr", OUT(unsigned, cuPointerGetAttribute(&out, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, Dev(w.device))))
  CALL("pointersetattr", [&] {
    int on = 1;
    return cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, Dev(w.device));
  }())
  CALL("addressrange", [&] {
    CUdeviceptr b;
    size_t s;
    return cuMemGetAddressRange(&b, &s, Dev(w.device));
  }())
  CALL("hostdevicepointer", OUT(void*, cudaHostGetDevicePointer(&out, w.pinned, 0)))
  CALL("hostflags", OUT(unsigned, cudaHostGetFlags(&out, w.pinned)))
  CALL("memgetinfo", OUT(size_t, cudaMemGetInfo(&out, &out)))
  CALL("getdevice", OUT(int, cudaGetDevice(&out)))
  CALL("setdevice", cudaSetDevice(0))
  CALL("setdevice9", cudaSetDevice(9))
  CALL("getlimit", OUT(size_t, cudaDeviceGetLimit(&out, cudaLimitStackSize)))
  CALL("setlimit", cudaDeviceSetLimit(cudaLimitStackSize, 2048))
  CALL("setlimit_heap", cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20))
  CALL("setlimit_l2", cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0))
  CALL("setlimit_fetch", cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32))
  CALL("setlimit_bad", cudaDeviceSetLimit(static_cast<cudaLimit>(50), 1))
  CALL("resetl2", cudaCtxResetPersistingL2Cache())
  CALL("setcache", cudaDeviceSetCacheConfig(cudaFuncCachePreferL1))
  CALL("getcache", OUT(cudaFuncCache, cudaDeviceGetCacheConfig(&out)))
  CALL("priorityrange", OUT(int, cudaDeviceGetStreamPriorityRange(&out, &out)))
  CALL("props", OUT(cudaDeviceProp, cudaGetDeviceProperties(&out, 0)))
  CALL("deviceattr", OUT(int, cudaDeviceGetAttribute(&out, cudaDevAttrWarpSize, 0)))
  CALL("deviceflags", OUT(unsigned, cudaGetDeviceFlags(&out)))
  CALL("setdeviceflags", cudaSetDeviceFlags(cudaDeviceScheduleSpin))
  CALL("funcattr", OUT(cudaFuncAttributes, cudaFuncGetAttributes(&out, Add)))
  CALL("funcsetattr", cudaFuncSetAttribute(Add, cudaFuncAttributeMaxDynamicSharedMemorySize, 1000))
  CALL("funccache", cudaFuncSetCacheConfig(Add, cudaFuncCachePreferL1))
  CALL("occupancy", OUT(int, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&out, Add, 32, 0)))
  CALL("symboladdress", OUT(void*, cudaGetSymbolAddress(&out, device_variable)))
  CALL("cooperative", [&] {
    void* a[] = {&w.device};
    return cudaLaunchCooperativeKernel(Add, 1, 1, a, 0, w.capturing);
  }())
  CALL("texture", [&] {
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = w.array;
    cudaTextureDesc t{};
    cudaTextureObject_t o;
    return cudaCreateTextureObject(&o, &r, &t, nullptr);
  }())
  CALL("arrayinfo", [&] {
    cudaExtent e;
    cudaChannelFormatDesc d;
    unsigned f;
    return cudaArrayGetInfo(&d, &e, &f, w.array);
  }())
  CALL("lasterror", cudaGetLastError())
  CALL("moduleload",
       OUT(CUmodule,
           cuModuleLoadData(&out, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n")))
  CALL("ctxpushpop", [&] {
    CUcontext c;
    cuCtxGetCurrent(&c);
    cuCtxPushCurrent(c);
    return cuCtxPopCurrent(&c);
  }())
  CALL("ctxcreate", [&] {
    CUcontext c;
    const int e = cuCtxCreate(&c, nullptr, 0, 0);
    if (e == 0) cuCtxDestroy(c);
    return e;
  }())
  CALL("memcreate", [&] {
    CUmemAllocationProp p{};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    CUmemGenericAllocationHandle h;
    return cuMemCreate(&h, 2 << 20, &p, 0);
  }())
  CALL("reserve", OUT(CUdeviceptr, cuMemAddressReserve(&out, 2 << 20, 0, 0, 0)))
  CALL("drvmemalloc", OUT(CUdeviceptr, cuMemAlloc(&out, 64)))
  CALL("drvmemfree", cuMemFree(Dev(w.spare)))
  CALL("drvmemcpy", cuMemcpyDtoD(Dev(w.device), Dev(w.device + 100), 16))
  CALL("drvmemset", cuMemsetD8(Dev(w.device), 0, 16))
  CALL("drvlaunch", [&] {
    cudaFunction_t f;
    cudaGetFuncBySymbol(&f, reinterpret_cast<const void*>(Empty));
    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, w.capturing, nullptr, nullptr);
  }())
  CALL("streamdestroy_capturing", cudaStreamDestroy(w.capturing))
  CALL("devicereset", cudaDeviceReset())
#undef CALL
  return calls;
}

const char* TypeName(cudaGraphNodeType type) {
  static const char* const names[] = {"kernel", "memcpy", "memset",  "host",  "graph", "empty", "wait",
                                      "record", "signal", "extwait", "alloc", "free",  "batch", "conditional"};
  return type < 14 ? names[type] : "?";
}

void Show(const char* name, cudaGraph_t graph) {
  if (graph == nullptr) return Say(F("%s/nodes", name), "none");
  size_t count = 0, edges = 0;
  cudaGraphGetNodes(graph, nullptr, &count);
  std::vector<cudaGraphNode_t> nodes(count);
  cudaGraphGetNodes(graph, nodes.data(), &count);
  cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges);
  std::string types = F("%zu edges", edges);
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    cudaGraphNodeGetType(node, &type);
    types += F(" %s", TypeName(type));
  }
  Say(F("%s/nodes", name), types);
}

void Try(const std::string& name, const Call& call, cudaStreamCaptureMode mode, unsigned flags, bool after_work) {
  World w(flags);
  if (name == "hostunregister") cudaHostRegister(w.host, 64, 0);
  Say(name + "/begin", cudaStreamBeginCapture(w.capturing, mode));
  if (after_work) Empty<<<1, 1, 0, w.capturing>>>();
  Say(name, call(w));
  Say(name + "/last", static_cast<int>(cudaGetLastError()));
  if (name == "streamdestroy_capturing" || name == "devicereset") return;
  cudaStreamCaptureStatus status = static_cast<cudaStreamCaptureStatus>(77);
  Say(name + "/is", cudaStreamIsCapturing(w.capturing, &status));
  Say(name + "/status", static_cast<int>(status));
  cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(7);
  Say(name + "/end", cudaStreamEndCapture(w.capturing, &graph));
  if (reinterpret_cast<uintptr_t>(graph) == 7) {
    Say(name + "/nodes", "unwritten");
  } else {
    Show(name.c_str(), graph);
    if (graph != nullptr) {
      cudaGraphExec_t executable = nullptr;
      Say(name + "/instantiate", cudaGraphInstantiate(&executable, graph, 0));
      Say(name + "/launch", cudaGraphLaunch(executable, w.nonblocking));
    }
  }
  Say(name + "/sync", cudaDeviceSynchronize());
}

}  // namespace

void AddCases(Cases& cases) {
  const auto calls = Calls();
  constexpr size_t kTogether = 12;  // calls per process
  const char* const modes[] = {"global", "thread", "relaxed"};
  for (int mode = 0; mode < 3; ++mode) {
    for (size_t first = 0; first < calls.size(); first += kTogether) {
      cases(modes[mode], [=] {
        for (size_t i = first; i < std::min(calls.size(), first + kTogether); ++i) {
          Try(calls[i].first, calls[i].second, static_cast<cudaStreamCaptureMode>(mode), 0, false);
        }
      });
    }
  }
  for (size_t first = 0; first < calls.size(); first += kTogether) {
    cases("nonblocking", [=] {
      for (size_t i = first; i < std::min(calls.size(), first + kTogether); ++i) {
        Try(calls[i].first, calls[i].second, cudaStreamCaptureModeGlobal, cudaStreamNonBlocking, true);
      }
    });
  }
  cases("arguments", [] {
    World w(0);
    cudaGraph_t graph = nullptr;
    for (int mode : {-1, 3, 9}) {
      Say(F("begin_mode%d", mode), cudaStreamBeginCapture(w.capturing, static_cast<cudaStreamCaptureMode>(mode)));
    }
    Say("begin_null", cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
    Say("begin_legacy", cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal));
    Say("begin_perthread", cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal));
    Say("end_perthread", cudaStreamEndCapture(cudaStreamPerThread, &graph));
    Say("end_none", cudaStreamEndCapture(w.capturing, &graph));
    Say("end_legacy", cudaStreamEndCapture(nullptr, &graph));
    cudaStreamCaptureStatus status{};
    unsigned long long id = 77;
    Say("info_none", cudaStreamGetCaptureInfo(w.capturing, &status, &id));
    Say("info_none_is", F("%d %llu", status, id));
    Say("updatedeps_none", cudaStreamUpdateCaptureDependencies(w.capturing, nullptr, nullptr, 0, 0));
    cudaStreamBeginCapture(w.capturing, cudaStreamCaptureModeGlobal);
    cudaMalloc(&w.spare, 64);
    cudaGetLastError();
    Say("invalid_kernel", (Empty<<<1, 1, 0, w.capturing>>>(), cudaGetLastError()));
    Say("invalid_memset", cudaMemsetAsync(w.device, 0, 4, w.capturing));
    Say("invalid_record", cudaEventRecord(w.event, w.capturing));
    Say("invalid_wait", cudaStreamWaitEvent(w.capturing, w.recorded, 0));
    Say("invalid_query", cudaStreamQuery(w.capturing));
    Say("invalid_sync", cudaStreamSynchronize(w.capturing));
    Say("invalid_begin", cudaStreamBeginCapture(w.capturing, cudaStreamCaptureModeGlobal));
    Say("invalid_mallocasync", cudaMallocAsync(&w.spare, 64, w.capturing));
    Say("invalid_malloc", cudaMalloc(&w.spare, 64));
    Say("invalid_legacy", cudaMemset(w.device, 0, 4));
    Say("invalid_info", cudaStreamGetCaptureInfo(w.capturing, &status, &id));
    Say("invalid_info_is", static_cast<int>(status));
    Say("invalid_end", cudaStreamEndCapture(w.capturing, &graph));
    Say("invalid_graph", IsSet(graph));
    Say("invalid_end_again", cudaStreamEndCapture(w.capturing, &graph));
    // An event of an ended capture.
    cudaStreamBeginCapture(w.capturing, cudaStreamCaptureModeGlobal);
    cudaEventRecord(w.event, w.capturing);
    Say("ended", cudaStreamEndCapture(w.capturing, &graph));
    Say("ended_query", cudaEventQuery(w.event));
    Say("ended_sync", cudaEventSynchronize(w.event));
    Say("ended_wait", cudaStreamWaitEvent(w.other, w.event, 0));
    float ms = 0;
    Say("ended_elapsed", cudaEventElapsedTime(&ms, w.event, w.event));
    Say("ended_record", cudaEventRecord(w.event, w.other));
    Say("ended_query2", cudaEventQuery(w.event));
    // Capturing into an existing graph.
    cudaGraphNode_t node = nullptr;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddEmptyNode(&node, graph, nullptr, 0);
    Say("tograph", cudaStreamBeginCaptureToGraph(w.capturing, graph, &node, nullptr, 1, cudaStreamCaptureModeRelaxed));
    Empty<<<1, 1, 0, w.capturing>>>();
    const cudaGraphNode_t* deps = nullptr;
    size_t count = 77;
    cudaGraph_t into = nullptr;
    Say("tograph_info", cudaStreamGetCaptureInfo(w.capturing, &status, &id, &into, &deps, nullptr, &count));
    Say("tograph_count", count);
    Say("tograph_same", into == graph);
    cudaGraph_t ended = nullptr;
    Say("tograph_end", cudaStreamEndCapture(w.capturing, &ended));
    Say("tograph_ended_same", ended == graph);
    Show("tograph", graph);
    Say("tograph_nullgraph",
        cudaStreamBeginCaptureToGraph(w.capturing, nullptr, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
    cudaGraphNode_t none = nullptr;
    Say("tograph_nullnode",
        cudaStreamBeginCaptureToGraph(w.capturing, graph, &none, nullptr, 1, cudaStreamCaptureModeRelaxed));
    auto mode = cudaStreamCaptureModeThreadLocal;
    Say("exchange", cudaThreadExchangeStreamCaptureMode(&mode));
    Say("exchange_was", static_cast<int>(mode));
  });
}
