// More calls of the driver API, each at least once. driver_calls.h200.txt is what it printed on an H200, built with
//   nvcc -arch=sm_90 driver_calls.cu -lcuda
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "driver_show.h"

namespace {

const char kPtx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 8 .u64 pair[2];
.visible .entry mark(.param .u64 to, .param .u32 value) {
  .reg .u32 %v;
  .reg .u64 %a;
  ld.param.u64 %a, [to];
  ld.param.u32 %v, [value];
  st.global.u32 [%a], %v;
  ret;
}
)";

CUdevice device;
CUcontext context;

void Devices() {
  int version = 0, major = 0, minor = 0, can = -1, active = -1;
  SHOW(cuDriverGetVersion(nullptr));
  SHOW(cuDriverGetVersion(&version));
  std::printf("%d\n", version >= 13000);
  SHOW(cuInit(0));
  SHOW(cuDeviceGet(&device, 0));
  SHOW(cuDeviceComputeCapability(&major, &minor, device));
  std::printf("%d.%d\n", major, minor);
  char name[100] = "", bus[32] = "";
  SHOW(cuDeviceGetName(name, sizeof name, device));
  std::printf("%s\n", name);
  SHOW(cuDeviceGetName(name, sizeof name, 77));
  size_t bytes = 0;
  SHOW(cuDeviceTotalMem(&bytes, device));
  std::printf("%d\n", bytes > (size_t{1} << 30));
  CUuuid uuid, zero;
  std::memset(&zero, 0, sizeof zero);
  SHOW(cuDeviceGetUuid(&uuid, device));
  SHOW(cuDeviceGetPCIBusId(bus, sizeof bus, device));
  CUdevice found = 99;
  SHOW(cuDeviceGetByPCIBusId(&found, bus));
  std::printf("%d\n", found);
  SHOW(cuDeviceCanAccessPeer(&can, device, device));
  std::printf("%d\n", can);
  unsigned flags = 99;
  SHOW(cuDevicePrimaryCtxGetState(device, &flags, &active));
  std::printf("flags %u, active %d\n", flags, active);
  SHOW(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_YIELD));
  SHOW(cuDevicePrimaryCtxRelease(device));
  SHOW(cuDevicePrimaryCtxRetain(&context, device));
  SHOW(cuDevicePrimaryCtxGetState(device, &flags, &active));
  std::printf("flags %u, active %d\n", flags, active);
  SHOW(cuCtxSetCurrent(context));
}

void Contexts() {
  unsigned flags = 99, version = 0;
  SHOW(cuCtxGetFlags(&flags));
  std::printf("flags %u\n", flags & CU_CTX_SCHED_MASK);
  SHOW(cuCtxGetApiVersion(context, &version));
  std::printf("%d\n", version >= 3020);
  size_t limit = 0;
  SHOW(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
  std::printf("stack %zu\n", limit);
  SHOW(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  SHOW(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
  std::printf("stack %zu\n", limit);
  SHOW(cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE));
  int least = 99, greatest = 99;
  SHOW(cuCtxGetStreamPriorityRange(&least, &greatest));
  std::printf("priorities %d to %d\n", least, greatest);
  SHOW(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
  SHOW(cuCtxEnablePeerAccess(context, 0));
  SHOW(cuCtxDisablePeerAccess(context));
  SHOW(cuCtxDestroy(context));
  CUcontext made = nullptr;
  SHOW(cuCtxCreate(&made, nullptr, CU_CTX_SCHED_SPIN, device));
  SHOW(cuCtxGetFlags(&flags));
  std::printf("flags %u\n", flags & CU_CTX_SCHED_MASK);
  SHOW(cuCtxDestroy(made));
  SHOW(cuCtxSynchronize());
  SHOW(cuCtxSetCurrent(context));
}

void Libraries(const std::string& file) {
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr, first = nullptr;
  CUfunction function = nullptr;
  unsigned count = 0;
  const char* name = nullptr;
  size_t offset = 0, bytes = 0;
  SHOW(cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  SHOW(cuLibraryGetKernelCount(&count, library));
  std::printf("%u\n", count);
  SHOW(cuLibraryEnumerateKernels(&first, 1, library));
  SHOW(cuLibraryGetKernel(&kernel, library, "mark"));
  std::printf("the same %d\n", kernel == first);
  SHOW(cuLibraryGetKernel(&kernel, library, "miss"));
  SHOW(cuKernelGetName(&name, first));
  std::printf("%s\n", name);
  SHOW(cuKernelGetParamInfo(first, 1, &offset, &bytes));
  std::printf("%zu, %zu\n", offset, bytes);
  int value = -1;
  SHOW(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, first, device));
  std::printf("%d\n", value);
  SHOW(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10, first, device));
  SHOW(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 4 << 20, first, device));
  if (cuKernelSetCacheConfig(first, CU_FUNC_CACHE_PREFER_NONE, device) != CUDA_SUCCESS) std::puts("no cache");
  SHOW(cuKernelGetFunction(&function, first));
  SHOW(cuFuncGetName(&name, function));
  std::printf("%s\n", name);
  SHOW(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 32 << 10));
  SHOW(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
  std::printf("%d\n", value);
  SHOW(cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_SHARED));
  CUdeviceptr global = 0;
  SHOW(cuLibraryGetGlobal(&global, &bytes, library, "pair"));
  std::printf("%zu\n", bytes);
  SHOW(cuLibraryGetModule(&module, library));
  SHOW(cuModuleGetFunctionCount(&count, module));
  std::printf("%u\n", count);
  SHOW(cuModuleEnumerateFunctions(&function, 1, module));
  int grid = 0, block = 0, blocks = 0;
  SHOW(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, 128, 0, CU_OCCUPANCY_DEFAULT));
  std::printf("%d\n", blocks);
  SHOW(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, function, nullptr, 0, 96, CU_OCCUPANCY_DEFAULT));
  std::printf("%d\n", block);
  SHOW(cuLibraryUnload(library));
  std::ofstream(file) << kPtx;
  SHOW(cuLibraryLoadFromFile(&library, file.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  SHOW(cuLibraryUnload(library));
  SHOW(cuLibraryLoadFromFile(&library, "/nowhere.ptx", nullptr, nullptr, 0, nullptr, nullptr, 0));
  SHOW(cuModuleLoadFatBinary(&module, kPtx));
  SHOW(cuModuleUnload(module));
  CUmoduleLoadingMode mode;
  SHOW(cuModuleGetLoadingMode(&mode));
}

int Sum(const unsigned char* bytes, size_t count) {
  int sum = 0;
  for (size_t k = 0; k < count; ++k) sum += bytes[k];
  return sum;
}

void Memory() {
  size_t free = 0, total = 0, pitch = 0;
  SHOW(cuMemGetInfo(&free, &total));
  std::printf("%d\n", free <= total && free > 0);
  void* pinned = nullptr;
  SHOW(cuMemAllocHost(&pinned, 4096));
  unsigned flags = 99;
  SHOW(cuMemHostGetFlags(&flags, pinned));
  std::printf("flags %u\n", flags);
  auto* const host = static_cast<unsigned char*>(pinned);
  std::vector<unsigned char> pageable(8192);
  SHOW(cuMemHostRegister(pageable.data(), 8192, 0));
  SHOW(cuMemHostRegister(pageable.data(), 8192, 0));
  SHOW(cuMemHostUnregister(pageable.data()));
  SHOW(cuMemHostUnregister(pageable.data()));
  CUdeviceptr a = 0, b = 0, managed = 0;
  CUstream stream = nullptr;
  int least = 0, greatest = 0, priority = 99;
  SHOW(cuCtxGetStreamPriorityRange(&least, &greatest));
  SHOW(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest));
  SHOW(cuStreamGetPriority(stream, &priority));
  std::printf("%d\n", priority == greatest);
  unsigned long long id = 0;
  SHOW(cuStreamGetId(stream, &id));
  SHOW(cuMemAlloc(&a, 4096));
  SHOW(cuMemAlloc(&b, 4096));
  SHOW(cuMemsetD8(a, 1, 4096));
  SHOW(cuMemcpyDtoD(b, a, 4096));
  SHOW(cuMemsetD16Async(b, 0x0203, 8, stream));
  SHOW(cuMemsetD32Async(b + 16, 0x01010102, 4, stream));
  SHOW(cuMemsetD32Async(b + 2, 0, 4, stream));
  SHOW(cuMemcpyDtoDAsync(a, b, 64, stream));
  SHOW(cuMemcpyDtoHAsync(host, a, 4096, stream));
  SHOW(cuStreamSynchronize(stream));
  std::printf("%d\n", Sum(host, 4096));
  SHOW(cuMemcpyHtoDAsync(a, pageable.data(), 4096, stream));
  SHOW(cuMemcpyAsync(b, a, 1024, stream));
  SHOW(cuStreamSynchronize(stream));
  SHOW(cuMemcpy(reinterpret_cast<CUdeviceptr>(host), b, 4096));
  std::printf("%d\n", Sum(host, 4096));
  SHOW(cuMemcpy(a, b, 5000));
  SHOW(cuMemFree(b));
  SHOW(cuMemAllocManaged(&managed, 256, CU_MEM_ATTACH_GLOBAL));
  SHOW(cuMemsetD8(managed, 9, 256));
  SHOW(cuCtxSynchronize());
  std::printf("%d\n", *reinterpret_cast<unsigned char*>(managed));
  unsigned is_managed = 0;
  SHOW(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
  std::printf("%u\n", is_managed);
  SHOW(cuMemFree(managed));
  CUdeviceptr rows = 0;
  SHOW(cuMemAllocPitch(&rows, &pitch, 64, 8, 16));
  SHOW(cuMemsetD2D16(rows, pitch, 0x0101, 32, 8));
  SHOW(cuMemsetD2D32(rows, pitch, 0x02020202, 8, 4));
  std::memset(host, 0, 4096);
  CUDA_MEMCPY2D plane{};
  plane.srcMemoryType = CU_MEMORYTYPE_DEVICE, plane.srcDevice = rows, plane.srcPitch = pitch;
  plane.dstMemoryType = CU_MEMORYTYPE_HOST, plane.dstHost = host;
  plane.WidthInBytes = 64, plane.Height = 8;
  SHOW(cuMemcpy2DAsync(&plane, stream));
  SHOW(cuStreamSynchronize(stream));
  std::printf("%d\n", Sum(host, 4096));
  plane.WidthInBytes = pitch + 1;
  SHOW(cuMemcpy2D(&plane));
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE, box.srcDevice = rows, box.srcPitch = pitch, box.srcHeight = 4;
  box.srcXInBytes = 16, box.srcY = 1, box.srcZ = 0;
  box.dstMemoryType = CU_MEMORYTYPE_HOST, box.dstHost = host, box.dstPitch = 32, box.dstHeight = 3;
  box.WidthInBytes = 32, box.Height = 3, box.Depth = 2;
  std::memset(host, 0, 4096);
  SHOW(cuMemcpy3D(&box));
  std::printf("%d\n", Sum(host, 4096));
  box.Depth = 1;
  std::memset(host, 0, 4096);
  SHOW(cuMemcpy3DAsync(&box, stream));
  SHOW(cuStreamSynchronize(stream));
  std::printf("%d\n", Sum(host, 4096));
  CUevent event = nullptr;
  SHOW(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  SHOW(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT));
  SHOW(cuEventSynchronize(event));
  float milliseconds = 0;
  SHOW(cuEventElapsedTime(&milliseconds, event, event));
  SHOW(cuEventDestroy(event));
  SHOW(cuStreamDestroy(stream));
  SHOW(cuMemFree(rows));
  SHOW(cuMemFree(a));
  SHOW(cuMemFreeHost(pinned));
}

}  // namespace

extern "C" CUresult cuProfilerStart();
extern "C" CUresult cuProfilerStop();

int main(int, char** argv) {
  Devices();
  Contexts();
  Libraries(std::string(argv[0]) + ".ptx");
  Memory();
  SHOW(cuProfilerStart());
  SHOW(cuProfilerStop());
  SHOW(cuDevicePrimaryCtxReset(device));
}
