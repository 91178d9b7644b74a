// What the driver API's copies and fills do. driver_calls.h200.txt is what it printed on an H200, built with
//   nvcc -arch=sm_90 driver_calls.cu -lcuda
#include <cstring>
#include <vector>

#include "driver_show.h"

namespace {

int Sum(const unsigned char* bytes, size_t count) {
  int sum = 0;
  for (size_t k = 0; k < count; ++k) sum += bytes[k];
  return sum;
}

void Memory() {
  size_t pitch = 0;
  void* pinned = nullptr;
  cuMemAllocHost(&pinned, 4096);
  auto* const host = static_cast<unsigned char*>(pinned);
  std::vector<unsigned char> pageable(8192);
  CUdeviceptr a = 0, b = 0, managed = 0;
  CUstream stream = nullptr;
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
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

int main() {
  CUcontext context = nullptr;
  cuInit(0);
  cuDevicePrimaryCtxRetain(&context, 0);
  cuCtxSetCurrent(context);
  Memory();
  SHOW(cuProfilerStart());
  SHOW(cuProfilerStop());
  SHOW(cuDevicePrimaryCtxReset(0));
}
