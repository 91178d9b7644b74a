// The driver API: what each call returns and does, alone and with the runtime API. driver.h200.txt is what it printed
// on an H200, built with  nvcc -arch=sm_90 driver.cu -lcuda
#include <thread>
#include <vector>

#include "driver_show.h"

namespace {

const char kPtx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 5;
.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) .maxntid 512, 1, 1 {
  .reg .pred %p;
  .reg .u32 %i, %n, %t, %d;
  .reg .u64 %a, %b, %c, %o;
  .reg .f32 %x, %y;
  ld.param.u64 %a, [a];
  ld.param.u64 %b, [b];
  ld.param.u64 %c, [c];
  ld.param.u32 %n, [n];
  mov.u32 %t, %tid.x;
  mov.u32 %d, %ntid.x;
  mov.u32 %i, %ctaid.x;
  mad.lo.u32 %i, %i, %d, %t;
  setp.ge.u32 %p, %i, %n;
  @%p bra done;
  mul.wide.u32 %o, %i, 4;
  add.u64 %a, %a, %o;
  add.u64 %b, %b, %o;
  add.u64 %c, %c, %o;
  ld.global.f32 %x, [%a];
  ld.global.f32 %y, [%b];
  add.f32 %x, %x, %y;
  st.global.f32 [%c], %x;
done:
  ret;
}
.visible .entry store(.param .u64 to) {
  .reg .u64 %a;
  ld.param.u64 %a, [to];
  st.global.u32 [%a], 1;
  ret;
}
)";

CUdevice device;
CUcontext context;
CUmodule module;
CUfunction add;

void Begin() {
  int count = 0;
  SHOW(cuDeviceGetCount(&count));
  SHOW(cuInit(1));
  SHOW(cuInit(0));
  SHOW(cuDeviceGet(&device, 0));
  CUdevice none;
  SHOW(cuDeviceGet(&none, 99));
  CUdeviceptr p;
  SHOW(cuMemAlloc(&p, 4));
  SHOW(cuCtxGetCurrent(&context));
  std::printf("current %d\n", context != nullptr);
  SHOW(cuCtxCreate(&context, nullptr, 0, device));
  CUcontext current = nullptr, popped = nullptr;
  SHOW(cuCtxGetCurrent(&current));
  std::printf("the same %d\n", current == context);
  SHOW(cuCtxPopCurrent(&popped));
  std::printf("the same %d\n", popped == context);
  SHOW(cuCtxPopCurrent(&popped));
  SHOW(cuCtxSynchronize());
  SHOW(cuCtxSetCurrent(context));
  SHOW(cuCtxGetDevice(&none));
  int major = 0, threads = 0;
  SHOW(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  SHOW(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device));
  std::printf("%d %d\n", major, threads);
}

void Modules() {
  SHOW(cuModuleLoadData(&module, kPtx));
  SHOW(cuModuleGetFunction(&add, module, "add"));
  CUfunction other = nullptr;
  SHOW(cuModuleGetFunction(&other, module, "subtract"));
  SHOW(cuModuleGetFunction(&other, module, nullptr));
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  SHOW(cuModuleGetGlobal(&counter, &bytes, module, "counter"));
  SHOW(cuModuleGetGlobal(&counter, &bytes, module, "nothing"));
  int value = 0;
  SHOW(cuModuleGetGlobal(&counter, nullptr, module, "counter"));
  SHOW(cuMemcpyDtoH(&value, counter, 4));
  std::printf("counter %d, %zu bytes\n", value, bytes);
  CUmodule broken = nullptr;
  SHOW(cuModuleLoad(&broken, "/nowhere/module.ptx"));
  char log[100] = "untouched";
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  SHOW(cuModuleLoadDataEx(&broken, kPtx, 2, options, values));
  std::printf("log \"%s\"\n", log);
  SHOW(cuModuleUnload(broken));
  int threads = 0, shared = -1;
  SHOW(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
  SHOW(cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, add));
  std::printf("%d threads, %d bytes\n", threads, shared);
  size_t offset = 0, size = 0;
  SHOW(cuFuncGetParamInfo(add, 3, &offset, &size));
  std::printf("offset %zu, %zu bytes\n", offset, size);
  SHOW(cuFuncGetParamInfo(add, 4, &offset, &size));
  CUlinkState link;
  void* image = nullptr;
  size_t length = 0;
  SHOW(cuLinkCreate(0, nullptr, nullptr, &link));
  SHOW(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(kPtx), sizeof kPtx, "add.ptx", 0, nullptr, nullptr));
  SHOW(cuLinkComplete(link, &image, &length));
  std::printf("image %d %d\n", image != nullptr, length > 0);
  SHOW(cuModuleLoadData(&broken, image));
  SHOW(cuLinkDestroy(link));
  SHOW(cuModuleUnload(broken));
}

void Launches() {
  int n = 1000;
  std::vector<float> x(n, 1.5f), y(n, 2.f), z(n);
  CUdeviceptr a = 0, b = 0, c = 0;
  SHOW(cuMemAlloc(&a, 0));
  SHOW(cuMemAlloc(&a, 4 * n));
  SHOW(cuMemAlloc(&b, 4 * n));
  SHOW(cuMemAlloc(&c, 4 * n));
  SHOW(cuMemcpyHtoD(a, x.data(), 4 * n));
  SHOW(cuMemcpyHtoD(b, y.data(), 4 * n));
  void* parameters[] = {&a, &b, &c, &n};
  SHOW(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, nullptr, parameters, nullptr));
  SHOW(cuCtxSynchronize());
  SHOW(cuMemcpyDtoH(z.data(), c, 4 * n));
  std::printf("%g %g\n", z[0], z[n - 1]);
  struct {
    CUdeviceptr a, b, c;
    int n;
  } packed = {b, b, c, n};
  size_t size = 28;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  SHOW(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
  SHOW(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, nullptr, parameters, extra));
  SHOW(cuMemcpyDtoH(z.data(), c, 4 * n));
  std::printf("%g %g\n", z[0], z[n - 1]);
  SHOW(cuLaunchKernel(add, 1, 1, 1, 1024, 1, 1, 0, nullptr, parameters, nullptr));
  SHOW(cuLaunchKernel(add, 0, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  SHOW(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 1 << 20, nullptr, parameters, nullptr));
  CUlaunchConfig config{};
  config.gridDimX = 4, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 256, config.blockDimY = config.blockDimZ = 1;
  SHOW(cuLaunchKernelEx(&config, add, parameters, nullptr));
  SHOW(cuLaunchCooperativeKernel(add, 4, 1, 1, 256, 1, 1, 0, nullptr, parameters));
  SHOW(cuMemsetD32(c, 0x40400000, n));
  SHOW(cuMemsetD16(c, 0x4000, 2));
  SHOW(cuMemsetD32(c + 1, 0, 1));
  SHOW(cuMemcpyDtoH(z.data(), c, 4 * n));
  std::printf("%g %g\n", z[0], z[n - 1]);
  SHOW(cuMemFree(b));
  SHOW(cuMemFree(b));
  SHOW(cuMemFree(0));
  SHOW(cuMemFree(a));
  SHOW(cuMemFree(c));
}

void Rows() {
  CUdeviceptr rows = 0;
  size_t pitch = 0;
  SHOW(cuMemAllocPitch(&rows, &pitch, 40, 8, 4));
  std::printf("pitch %d\n", pitch >= 40 && pitch % 32 == 0);
  SHOW(cuMemsetD2D8(rows, pitch, 7, 40, 8));
  std::vector<unsigned char> host(40 * 8);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = rows, copy.srcPitch = pitch;
  copy.srcXInBytes = 8, copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = host.data(), copy.dstPitch = 40, copy.dstY = 2;
  copy.WidthInBytes = 16, copy.Height = 3;
  SHOW(cuMemcpy2D(&copy));
  int sum = 0;
  for (unsigned char byte : host) sum += byte;
  std::printf("sum %d, %d %d\n", sum, host[80], host[79]);
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  SHOW(cuMemcpy2DUnaligned(&copy));
  SHOW(cuMemFree(rows));
}

void CUDA_CB Called(CUstream, CUresult result, void* data) { *static_cast<int*>(data) += 1 + result; }
void CUDA_CB CalledAsHost(void* data) { *static_cast<int*>(data) += 10; }

void Streams() {
  CUstream stream = nullptr;
  CUevent first = nullptr, last = nullptr;
  int calls = 0;
  SHOW(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  SHOW(cuEventCreate(&first, CU_EVENT_DEFAULT));
  SHOW(cuEventCreate(&last, CU_EVENT_DEFAULT));
  float milliseconds = -1;
  SHOW(cuEventElapsedTime(&milliseconds, first, last));
  SHOW(cuEventRecord(first, stream));
  SHOW(cuStreamAddCallback(stream, Called, &calls, 0));
  SHOW(cuLaunchHostFunc(stream, CalledAsHost, &calls));
  SHOW(cuEventRecord(last, stream));
  SHOW(cuStreamWaitEvent(nullptr, last, 0));
  SHOW(cuStreamSynchronize(stream));
  SHOW(cuStreamQuery(stream));
  SHOW(cuEventQuery(last));
  SHOW(cuEventElapsedTime(&milliseconds, first, last));
  std::printf("%d, %d calls\n", milliseconds >= 0, calls);
  CUcontext of = nullptr;
  SHOW(cuStreamGetCtx(stream, &of));
  std::printf("the same %d\n", of == context);
  unsigned flags = 99;
  SHOW(cuStreamGetFlags(stream, &flags));
  std::printf("flags %u\n", flags);
  void* pinned = nullptr;
  SHOW(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
  CUdeviceptr mapped = 0;
  SHOW(cuMemHostGetDevicePointer(&mapped, pinned, 0));
  unsigned type = 0;
  SHOW(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, mapped));
  std::printf("type %u\n", type);
  SHOW(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&type)));
  CUdeviceptr async = 0;
  SHOW(cuMemAllocAsync(&async, 256, stream));
  SHOW(cuMemsetD8Async(async, 3, 256, stream));
  SHOW(cuMemcpyDtoHAsync(pinned, async, 64, stream));
  SHOW(cuStreamSynchronize(stream));
  std::printf("byte %d\n", static_cast<unsigned char*>(pinned)[63]);
  SHOW(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, async));
  std::printf("type %u\n", type);
  SHOW(cuMemFreeAsync(async, stream));
  SHOW(cuMemFreeHost(pinned));
  SHOW(cuEventDestroy(first));
  SHOW(cuEventDestroy(last));
  SHOW(cuStreamDestroy(stream));
}

void Occupancy() {
  int blocks = 0, grid = 0, block = 0;
  SHOW(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
  std::printf("%d blocks\n", blocks);
  SHOW(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, nullptr, 0, 0));
  std::printf("%d threads\n", block);
}

void FindFunctions() {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status;
  SHOW(cuGetProcAddress("cuMemAlloc", &function, 12000, 0, &status));
  std::printf("%d %d\n", status, function != nullptr);
  SHOW(cuGetProcAddress("cuNothing", &function, 12000, 0, &status));
  std::printf("%d %d\n", status, function != nullptr);
}

__global__ void Increment(int* p) { ++*p; }

// The runtime API works on the primary context, or on the one that is current.
void Mixed() {
  int value = 41, *p = nullptr;
  SHOW(cudaMalloc(&p, 4));
  SHOW(cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(p), &value, 4));
  Increment<<<1, 1>>>(p);
  SHOW(cudaGetLastError());
  SHOW(cuMemcpyDtoH(&value, reinterpret_cast<CUdeviceptr>(p), 4));
  std::printf("value %d\n", value);
  SHOW(cuMemFree(reinterpret_cast<CUdeviceptr>(p)));
  SHOW(cudaFree(p));
  SHOW(cuMemFree(reinterpret_cast<CUdeviceptr>(p)));
  SHOW(cudaGetLastError());
  CUcontext primary = nullptr, current = nullptr;
  SHOW(cuDevicePrimaryCtxRetain(&primary, device));
  SHOW(cuCtxPushCurrent(primary));
  SHOW(cuCtxGetCurrent(&current));
  std::printf("the same %d\n", current == primary);
  SHOW(cudaMalloc(&p, 4));
  SHOW(cudaFree(p));
  CUevent event = nullptr;
  SHOW(cuEventCreate(&event, CU_EVENT_DEFAULT));
  SHOW(cuCtxPopCurrent(nullptr));
  SHOW(cuEventRecord(event, nullptr));
  SHOW(cuCtxRecordEvent(primary, event));
  SHOW(cuDevicePrimaryCtxRelease(device));
  std::thread([] {
    CUcontext mine = context;
    SHOW(cuCtxGetCurrent(&mine));
    std::printf("in a thread %d\n", mine != nullptr);
    CUdeviceptr q = 0;
    SHOW(cuMemAlloc(&q, 4));
    SHOW(cudaSetDevice(0));
    SHOW(cuMemAlloc(&q, 4));
    SHOW(cuMemFree(q));
  }).join();
}

void End() {
  CUfunction store = nullptr;
  SHOW(cuModuleGetFunction(&store, module, "store"));
  CUdeviceptr nowhere = 64;
  void* parameters[] = {&nowhere};
  SHOW(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  SHOW(cuCtxSynchronize());
  SHOW(cuMemAlloc(&nowhere, 4));
}

}  // namespace

int main() {
  Begin();
  Modules();
  Launches();
  Rows();
  Streams();
  Occupancy();
  FindFunctions();
  Mixed();
  End();
}
