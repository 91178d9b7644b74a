// One fault, in memory of the kind that the argument names.
#include <cstdio>
#include <cstdlib>
#include <string>

__device__ int symbol[16];

__global__ void store(int* p, int i) { p[i] = 1; }
__global__ void store_to_freed_heap(int** kept) {
  *kept = static_cast<int*>(malloc(64));
  free(*kept);
  (*kept)[3] = 1;
}

int main(int, char** argv) {
  const std::string kind = argv[1];
  const bool freed = kind.find("freed") == 0;
  const auto is = [&](const char* name) { return kind == name || kind == "freed_" + std::string(name); };
  int* p = nullptr;
  if (is("malloc")) {
    cudaMalloc(&p, 64);
    if (freed) cudaFree(p);
  } else if (is("async")) {
    cudaMallocAsync(&p, 64, nullptr);
    if (freed) cudaFreeAsync(p, nullptr);
  } else if (is("managed")) {
    cudaMallocManaged(&p, 64);
    if (freed) cudaFree(p);
  } else if (is("pinned")) {
    cudaMallocHost(&p, 64);
    if (freed) cudaFreeHost(p);
  } else if (is("symbol")) {
    cudaGetSymbolAddress(reinterpret_cast<void**>(&p), symbol);
  } else if (is("astray")) {
    int *first, *gone;
    cudaMalloc(&first, 64);
    cudaMalloc(&gone, 64);
    cudaFree(gone);
    store<<<1, 1>>>(first, static_cast<int>(gone - first));
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  } else if (is("host")) {
    p = static_cast<int*>(std::malloc(64));
  } else if (is("heap")) {
    int** kept;
    cudaMalloc(&kept, sizeof *kept);
    store_to_freed_heap<<<1, 1>>>(kept);
  } else if (is("twice")) {
    cudaMalloc(&p, 64);
    std::printf("%s ", cudaGetErrorName(cudaFree(p)));
    std::printf("%s\n", cudaGetErrorName(cudaFree(p)));
    return 0;
  } else if (is("middle")) {
    cudaMalloc(&p, 64);
    std::printf("%s\n", cudaGetErrorName(cudaFree(p + 4)));
    return 0;
  } else if (is("direction")) {
    int h[16];
    cudaMalloc(&p, 64);
    std::printf("%s\n", cudaGetErrorName(cudaMemcpy(p, h, 64, cudaMemcpyDeviceToHost)));
    return 0;
  }
  if (!is("heap")) store<<<1, 1>>>(p, freed ? 3 : 16);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
