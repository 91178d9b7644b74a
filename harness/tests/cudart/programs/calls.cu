// More of what calls return: pools, streams' attributes, peers, page-locked memory that kernels use, attributes of
// launches. calls.h200.txt is this program's output on a machine with one H200.
#include <cstdint>
#include <cstdio>
#include <cstring>

#define SHOW(call) std::printf("  %s = %s\n", #call, cudaGetErrorName(call))

__global__ void add_one(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += 1;
}

// What an inactive lane's value is in a shuffle: undefined by the documentation, 0 on the hardware.
__global__ void shuffle_from_outside(int* out) {
  int value = 100 + static_cast<int>(threadIdx.x);
  if (threadIdx.x < 4) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xf, value, offset);
  }
  out[threadIdx.x] = value;
}

void pools() {
  cudaMemPool_t pool, other, current;
  cudaStream_t stream;
  void *p = nullptr, *q = nullptr;
  uint64_t number = 0;
  int reuse = 7;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = 0;
  cudaStreamCreate(&stream);
  SHOW(cudaDeviceGetDefaultMemPool(&pool, 0));
  SHOW(cudaDeviceGetDefaultMemPool(&pool, 99));
  SHOW(cudaDeviceGetMemPool(&current, 0));
  std::printf("  default is current: %d\n", pool == current);
  SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &number));
  std::printf("  threshold = %llu\n", static_cast<unsigned long long>(number));
  number = UINT64_MAX;
  SHOW(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &number));
  SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
  std::printf("  reuse = %d\n", reuse);
  SHOW(cudaMallocAsync(&p, 1000, stream));
  SHOW(cudaMemsetAsync(p, 0, 1000, stream));
  SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &number));
  std::printf("  used something: %d\n", number >= 1000);
  SHOW(cudaFreeAsync(p, stream));
  SHOW(cudaStreamSynchronize(stream));
  SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &number));
  std::printf("  used = %llu\n", static_cast<unsigned long long>(number));
  SHOW(cudaFreeAsync(nullptr, stream));
  SHOW(cudaMallocAsync(&p, 0, stream));
  SHOW(cudaMemPoolCreate(&other, &properties));
  SHOW(cudaMallocFromPoolAsync(&q, 4096, other, stream));
  SHOW(cudaFree(q));
  SHOW(cudaMemPoolTrimTo(other, 0));
  SHOW(cudaMemPoolDestroy(other));
  SHOW(cudaMemPoolDestroy(pool));
  number = 5;
  SHOW(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &number));
  SHOW(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &number));
}

void peers() {
  int value = 5, device = 7;
  char id[32];
  SHOW(cudaDeviceCanAccessPeer(&value, 0, 0));
  std::printf("  can = %d\n", value);
  SHOW(cudaDeviceEnablePeerAccess(0, 0));
  SHOW(cudaDeviceEnablePeerAccess(1, 0));
  SHOW(cudaDeviceDisablePeerAccess(0));
  SHOW(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0));
  SHOW(cudaDeviceGetPCIBusId(id, sizeof id, 0));
  SHOW(cudaDeviceGetByPCIBusId(&device, id));
  std::printf("  device = %d\n", device);
  SHOW(cudaDeviceGetPCIBusId(id, sizeof id, 3));
  SHOW(cudaDeviceGetByPCIBusId(&device, "nonsense"));
  int *a, *b, back = 0;
  cudaMalloc(&a, 64);
  cudaMalloc(&b, 64);
  cudaMemset(a, 1, 64);
  SHOW(cudaMemcpyPeer(b, 0, a, 0, 64));
  SHOW(cudaMemcpyPeer(b, 1, a, 0, 64));
  SHOW(cudaMemcpy(&back, b, 4, cudaMemcpyDefault));
  std::printf("  back = %x\n", back);
}

void page_locked() {
  int *plain, *mapped, *device, registered[64] = {41};
  cudaPointerAttributes attributes;
  SHOW(cudaMallocHost(&plain, 256));
  SHOW(cudaHostAlloc(&mapped, 256, cudaHostAllocMapped));
  plain[0] = mapped[0] = 41;
  SHOW(cudaHostGetDevicePointer(&device, mapped, 0));
  std::printf("  same address: %d\n", device == mapped);
  add_one<<<1, 64>>>(plain, 64);
  add_one<<<1, 64>>>(device, 64);
  SHOW(cudaDeviceSynchronize());
  std::printf("  plain = %d, mapped = %d\n", plain[0], mapped[0]);
  SHOW(cudaPointerGetAttributes(&attributes, plain));
  std::printf("  type = %d, device pointer: %d\n", attributes.type, attributes.devicePointer == plain);
  SHOW(cudaHostRegister(registered, sizeof registered, 0));
  SHOW(cudaHostRegister(registered, sizeof registered, 0));
  SHOW(cudaHostUnregister(registered));
  SHOW(cudaHostUnregister(registered));
  SHOW(cudaMemcpy(mapped, plain, 256, cudaMemcpyHostToHost));
  SHOW(cudaMemcpy(mapped, plain, 256, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(mapped, plain, 256, cudaMemcpyDeviceToDevice));
  SHOW(cudaFreeHost(plain));
  SHOW(cudaFreeHost(plain));
}

void launches() {
  int* d;
  cudaMalloc(&d, 4096);
  cudaMemset(d, 0, 4096);
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attributes[2];
  config.gridDim = dim3(4);
  config.blockDim = dim3(128);
  config.attrs = attributes;
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  config.numAttrs = 1;
  SHOW(cudaLaunchKernelEx(&config, add_one, d, 512));
  config.gridDim = dim3(100000);
  SHOW(cudaLaunchKernelEx(&config, add_one, d, 512));
  SHOW(cudaGetLastError());
  config.gridDim = dim3(4);
  attributes[0] = attributes[1];
  SHOW(cudaLaunchKernelEx(&config, add_one, d, 512));
  int back[2];
  SHOW(cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost));
  std::printf("  back = %d\n", back[1]);
  cudaStream_t stream;
  cudaLaunchAttributeValue value = {};
  SHOW(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1));
  SHOW(cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, &value));
  std::printf("  priority = %d\n", value.priority);
  SHOW(cudaStreamGetAttribute(stream, cudaLaunchAttributeCooperative, &value));
  SHOW(cudaCtxResetPersistingL2Cache());
}

void shuffles() {
  int *d, back[32];
  cudaMalloc(&d, sizeof back);
  shuffle_from_outside<<<1, 32>>>(d);
  SHOW(cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost));
  std::printf("  outside the mask: %d %d %d %d\n", back[0], back[1], back[2], back[3]);
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("pools\n");
  pools();
  std::printf("peers\n");
  peers();
  std::printf("page-locked memory\n");
  page_locked();
  std::printf("launches\n");
  launches();
  shuffles();
}
