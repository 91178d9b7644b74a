// Virtual memory management in the driver API: what calls return, and what kernels and copies find.
// driver_virtual.h100.txt is what it printed on an H100, built with
//   nvcc -arch=sm_90 driver_virtual.cu -lcuda
#include <cstring>
#include <vector>

#include "driver_show.h"

namespace {

constexpr size_t kUnit = 2 << 20;  // on an H100

__global__ void Add(unsigned* words, size_t count, unsigned what) {
  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i < count) words[i] += what;
}

CUmemAllocationProp OnDevice() {
  CUmemAllocationProp properties;
  std::memset(&properties, 0, sizeof properties);
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = 0;
  return properties;
}
CUmemAccessDesc Access(CUmemAccess_flags flags) {
  CUmemAccessDesc access;
  std::memset(&access, 0, sizeof access);
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = flags;
  return access;
}
const CUmemAllocationProp properties = OnDevice();
const CUmemAccessDesc all = Access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
const CUmemAccessDesc none = Access(CU_MEM_ACCESS_FLAGS_PROT_NONE);

unsigned ValueOf(CUdeviceptr at) {
  unsigned value = 0;
  SHOW(cuMemcpyDtoH(&value, at, sizeof value));
  return value;
}

void ShowSizes() {
  size_t least = 0, recommended = 0;
  SHOW(cuMemGetAllocationGranularity(&least, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  SHOW(cuMemGetAllocationGranularity(&recommended, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  std::printf("%zu %zu\n", least, recommended);
  SHOW(cuMemGetAllocationGranularity(nullptr, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  int supported = 0;
  SHOW(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  std::printf("%d\n", supported);

  CUdeviceptr address = 0;
  SHOW(cuMemAddressReserve(&address, 0, 0, 0, 0));
  SHOW(cuMemAddressReserve(&address, kUnit + 4096, 0, 0, 0));
  SHOW(cuMemAddressReserve(&address, kUnit, 0, 0, 1));
  SHOW(cuMemAddressReserve(nullptr, kUnit, 0, 0, 0));
  CUmemGenericAllocationHandle handle = 0;
  SHOW(cuMemCreate(&handle, 0, &properties, 0));
  SHOW(cuMemCreate(&handle, 4096, &properties, 0));
  SHOW(cuMemCreate(&handle, kUnit, &properties, 1));
  SHOW(cuMemCreate(nullptr, kUnit, &properties, 0));
  SHOW(cuMemCreate(&handle, kUnit, nullptr, 0));
  SHOW(cuMemCreate(&handle, size_t{1} << 50, &properties, 0));
}

void ShowMappings() {
  CUdeviceptr address = 0;
  SHOW(cuMemAddressReserve(&address, 4 * kUnit, 0, 0, 0));
  std::printf("%d\n", static_cast<int>(address % kUnit));
  CUmemGenericAllocationHandle first = 0, second = 0;
  SHOW(cuMemCreate(&first, kUnit, &properties, 0));
  SHOW(cuMemCreate(&second, 2 * kUnit, &properties, 0));

  SHOW(cuMemMap(address, kUnit, 4096, first, 0));
  SHOW(cuMemMap(address + 4096, kUnit, 0, first, 0));
  SHOW(cuMemMap(address, 2 * kUnit, 0, first, 0));
  SHOW(cuMemMap(address, kUnit, 0, first, 1));
  SHOW(cuMemMap(kUnit, kUnit, 0, first, 0));
  SHOW(cuMemMap(address, kUnit, 0, first, 0));
  SHOW(cuMemMap(address, kUnit, 0, first, 0));
  SHOW(cuMemMap(address + kUnit, 2 * kUnit, 0, second, 0));

  unsigned long long access = 99;
  SHOW(cuMemGetAccess(&access, &all.location, address));
  std::printf("%llu\n", access);
  unsigned value = 0;
  SHOW(cuMemcpyDtoH(&value, address, sizeof value));
  SHOW(cuMemSetAccess(address, kUnit + 4096, &all, 1));
  SHOW(cuMemSetAccess(address, 4 * kUnit, &all, 1));
  SHOW(cuMemSetAccess(address, kUnit, &all, 0));
  SHOW(cuMemSetAccess(address, 3 * kUnit, &all, 1));
  SHOW(cuMemGetAccess(&access, &all.location, address + kUnit + 4096));
  std::printf("%llu\n", access);

  // One array over two handles.
  const size_t words = 3 * kUnit / sizeof(unsigned);
  SHOW(cuMemsetD32(address, 5, words));
  Add<<<static_cast<unsigned>((words + 255) / 256), 256>>>(reinterpret_cast<unsigned*>(address), words, 2);
  SHOW(cuCtxSynchronize());
  std::vector<unsigned> back(words);
  SHOW(cuMemcpyDtoH(back.data(), address, words * sizeof(unsigned)));
  size_t right = 0;
  for (const unsigned word : back) right += word == 7 ? 1 : 0;
  std::printf("%zu of %zu\n", right, words);

  CUdeviceptr base = 0;
  size_t bytes = 0;
  SHOW(cuMemGetAddressRange(&base, &bytes, address + kUnit + 64));
  std::printf("%lld %zu\n", static_cast<long long>(base - address), bytes);
  SHOW(cuMemFree(address));
  SHOW(cuMemAddressFree(address, 4 * kUnit));

  // The bytes stay with the handle.
  SHOW(cuMemUnmap(address, 4096));
  SHOW(cuMemUnmap(address, kUnit));
  SHOW(cuMemUnmap(address, kUnit));
  SHOW(cuMemMap(address + 3 * kUnit, kUnit, 0, first, 0));
  SHOW(cuMemSetAccess(address + 3 * kUnit, kUnit, &all, 1));
  std::printf("%u\n", ValueOf(address + 3 * kUnit));

  // At two places.
  CUdeviceptr other = 0;
  SHOW(cuMemAddressReserve(&other, kUnit, 0, 0, 0));
  SHOW(cuMemMap(other, kUnit, 0, first, 0));
  SHOW(cuMemSetAccess(other, kUnit, &all, 1));
  Add<<<1, 1>>>(reinterpret_cast<unsigned*>(other), 1, 30);
  SHOW(cuCtxSynchronize());
  std::printf("%u\n", ValueOf(address + 3 * kUnit));

  CUmemGenericAllocationHandle again = 0;
  SHOW(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(other + 64)));
  std::printf("%s\n", again == first ? "the same handle" : "another handle");
  CUmemAllocationProp found;
  std::memset(&found, 0, sizeof found);
  SHOW(cuMemGetAllocationPropertiesFromHandle(&found, again));
  std::printf("%d %d %d\n", found.type, found.location.type, found.location.id);
  SHOW(cuMemRelease(again));
  SHOW(cuMemRelease(first));
  std::printf("%u\n", ValueOf(other));
  SHOW(cuMemSetAccess(other, kUnit, &none, 1));
  SHOW(cuMemcpyDtoH(&value, other, sizeof value));
  SHOW(cuMemSetAccess(other, kUnit, &all, 1));
  std::printf("%u\n", ValueOf(other));

  SHOW(cuMemUnmap(other, kUnit));
  SHOW(cuMemAddressFree(other, kUnit / 2));
  SHOW(cuMemAddressFree(other, kUnit));
  SHOW(cuMemAddressFree(other, kUnit));
  SHOW(cuMemUnmap(address + kUnit, 3 * kUnit));
  SHOW(cuMemRelease(second));
  SHOW(cuMemAddressFree(address, 4 * kUnit));
  SHOW(cuMemUnmap(address, kUnit));
}

}  // namespace

int main() {
  SHOW(cuInit(0));
  CUcontext context;
  SHOW(cuDevicePrimaryCtxRetain(&context, 0));
  SHOW(cuCtxSetCurrent(context));
  ShowSizes();
  ShowMappings();
  return 0;
}
