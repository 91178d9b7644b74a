// Features other than launches and plain copies. This program prints the same on a GPU (features.h200.txt).
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>
#include <vector>

__constant__ int factors[2] = {3, 5};
__device__ int counter = 40;
__managed__ int managed_total = 7;

__global__ void scale(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factors[i % 2];
}
struct Big {
  char tag;
  double weights[10];
  short tail;
};
__global__ void take_struct(Big big, float* out) { *out = static_cast<float>(big.weights[9] + big.tag + big.tail); }
template <typename T, int kStep>
__global__ void add_step(T* p) {
  p[threadIdx.x] += kStep;
}
__global__ void count() { atomicAdd(&counter, 1), atomicAdd(&managed_total, 1); }
__global__ void greet() {
  if (threadIdx.x < 2) printf("thread %d of %d says %s %.2f %c\n", threadIdx.x, blockDim.x, "hello", 1.5f, 'x');
}
__global__ void all_wait(int* flags, int* sum) {
  auto grid = cooperative_groups::this_grid();
  flags[grid.thread_rank()] = 1;
  grid.sync();
  if (grid.thread_rank() == 0) {
    for (unsigned i = 0; i < grid.size(); ++i) *sum += flags[i];
  }
}

template <typename T>
T* device(size_t count) {
  void* p = nullptr;
  cudaMalloc(&p, count * sizeof(T));
  cudaMemset(p, 0, count * sizeof(T));
  return static_cast<T*>(p);
}
template <typename T>
T value(const T* d) {
  T h;
  cudaMemcpy(&h, d, sizeof h, cudaMemcpyDefault);
  return h;
}

void streams() {
  const int n = 1000;
  int *pinned_in, *pinned_out;
  cudaMallocHost(&pinned_in, n * sizeof(int));
  cudaHostAlloc(&pinned_out, n * sizeof(int), cudaHostAllocDefault);
  for (int i = 0; i < n; ++i) pinned_in[i] = i;
  int *in = device<int>(n), *out = device<int>(n);
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin, stream);
  cudaMemcpyAsync(in, pinned_in, n * sizeof(int), cudaMemcpyHostToDevice, stream);
  scale<<<(n + 127) / 128, 128, 0, stream>>>(in, out, n);
  cudaMemcpyAsync(pinned_out, out, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
  int called = 0;
  cudaLaunchHostFunc(stream, [](void* data) { *static_cast<int*>(data) = 1; }, &called);
  cudaEventRecord(end, stream);
  cudaStreamSynchronize(stream);
  float ms = -1;
  cudaEventElapsedTime(&ms, begin, end);
  std::printf("streams %d %d, host function %d, time passed %d\n", pinned_out[10], pinned_out[999], called, ms > 0);
  cudaStreamDestroy(stream);
  cudaFreeHost(pinned_in);
  cudaFreeHost(pinned_out);
}

void rows() {
  char host[6][8], back[6][8];
  std::memset(host, 'a', sizeof host);
  std::memset(back, '.', sizeof back);
  for (int y = 0; y < 6; ++y) host[y][0] = static_cast<char>('0' + y);
  void* p;
  size_t pitch;
  cudaMallocPitch(&p, &pitch, 8, 6);
  cudaMemcpy2D(p, pitch, host, 8, 8, 6, cudaMemcpyHostToDevice);
  cudaMemset2D(static_cast<char*>(p) + 2, pitch, 'z', 2, 3);
  cudaMemcpy2D(back, 8, static_cast<char*>(p) + pitch, pitch, 5, 4, cudaMemcpyDeviceToHost);
  for (const auto& row : back) std::printf("rows %.8s\n", row);

  cudaPitchedPtr box;
  cudaMalloc3D(&box, make_cudaExtent(4, 3, 2));
  cudaMemset3D(box, 'q', make_cudaExtent(4, 3, 2));
  char flat[24] = {};
  cudaMemcpy3DParms parms = {};
  parms.srcPtr = box;
  parms.dstPtr = make_cudaPitchedPtr(flat, 4, 4, 3);
  parms.extent = make_cudaExtent(2, 3, 2);
  parms.kind = cudaMemcpyDeviceToHost;
  std::printf("box %s ", cudaGetErrorName(cudaMemcpy3D(&parms)));
  for (const char c : flat) std::printf("%c", c == 0 ? '.' : c);
  std::printf("\n");
}

void symbols() {
  const int doubled[2] = {6, 10};
  cudaMemcpyToSymbol(factors, doubled, sizeof doubled);
  int *in = device<int>(2), *out = device<int>(2);
  const int ones[2] = {1, 1};
  cudaMemcpy(in, ones, sizeof ones, cudaMemcpyHostToDevice);
  scale<<<1, 2>>>(in, out, 2);
  std::printf("symbols %d %d\n", value(out), value(out + 1));
  count<<<2, 32>>>();
  cudaDeviceSynchronize();
  int host = 0;
  cudaMemcpyFromSymbol(&host, counter, sizeof host);
  void* address = nullptr;
  cudaGetSymbolAddress(&address, counter);
  std::printf("counter %d %d, managed %d\n", host, value(static_cast<int*>(address)), managed_total);
}

void managed_and_mapped() {
  int* shared;
  cudaMallocManaged(&shared, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) shared[i] = i;
  add_step<int, 100><<<1, 64>>>(shared);
  cudaDeviceSynchronize();
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, shared + 5);
  std::printf("managed %d %d, type %d\n", shared[0], shared[63], attributes.type);
  int *mapped, *mapped_device;
  cudaHostAlloc(&mapped, 64 * sizeof(int), cudaHostAllocMapped);
  mapped[63] = 1;
  cudaHostGetDevicePointer(&mapped_device, mapped, 0);
  add_step<int, 7><<<1, 64>>>(mapped_device);
  cudaDeviceSynchronize();
  std::printf("mapped %d\n", mapped[63]);
  cudaFreeHost(mapped);
  cudaFree(shared);
}

void host_pool() {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeHost;
  cudaMemPool_t pool;
  cudaMemPoolCreate(&pool, &properties);
  cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, {0}}, cudaMemAccessFlagsProtReadWrite};
  cudaMemPoolSetAccess(pool, &access, 1);
  int* memory;
  cudaMallocFromPoolAsync(&memory, 64 * sizeof(int), pool, 0);
  cudaDeviceSynchronize();
  for (int i = 0; i < 64; ++i) memory[i] = i;
  add_step<int, 5><<<1, 64>>>(memory);
  cudaDeviceSynchronize();
  cudaPointerAttributes attributes;
  cudaPointerGetAttributes(&attributes, memory);
  std::printf("host pool %d, type %d, ", memory[63], attributes.type);
  std::printf("free %s\n", cudaGetErrorName(cudaFreeAsync(memory, 0)));
}

void launches() {
  Big big = {};
  big.tag = 1;
  big.weights[9] = 2.5;
  big.tail = 3;
  float* out = device<float>(1);
  take_struct<<<1, 1>>>(big, out);
  std::printf("struct %g\n", value(out));

  float* one = device<float>(1);
  void* arguments[] = {&one};
  cudaLaunchKernel(reinterpret_cast<const void*>(&add_step<float, 3>), dim3(1), dim3(1), arguments, 0, nullptr);
  cudaLaunchConfig_t config = {};
  config.gridDim = config.blockDim = dim3(1);
  cudaLaunchKernelEx(&config, add_step<float, 4>, one);
  std::printf("launches %g\n", value(one));

  int *flags = device<int>(512), *sum = device<int>(1);
  void* cooperative[] = {&flags, &sum};
  std::printf("cooperative %s ",
              cudaGetErrorName(cudaLaunchCooperativeKernel(all_wait, dim3(4), dim3(128), cooperative)));
  std::printf("%s %d\n", cudaGetErrorName(cudaDeviceSynchronize()), value(sum));
  std::printf("too many %s\n",
              cudaGetErrorName(cudaLaunchCooperativeKernel(all_wait, dim3(100000), dim3(128), cooperative)));
  greet<<<1, 64>>>();
  cudaDeviceSynchronize();
  int blocks = 0, block_size = 0;
  cudaOccupancyMaxPotentialBlockSize(&blocks, &block_size, add_step<int, 7>);
  std::printf("potential %d %d\n", blocks, block_size);
  void* async;
  cudaMallocAsync(&async, 64, 0);
  cudaMemsetAsync(async, 1, 64, 0);
  std::printf("async %d\n", value(static_cast<int*>(async)));
  std::printf("free %s\n", cudaGetErrorName(cudaFreeAsync(async, 0)));
}

int main() {
  streams();
  rows();
  symbols();
  managed_and_mapped();
  host_pool();
  launches();
  std::printf("last %s\n", cudaGetErrorName(cudaGetLastError()));
}
