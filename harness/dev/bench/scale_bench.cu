// Work of one kind and any size, for scale_bench.py: scale KIND SIZE.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

__global__ void Add(int* data) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) % 1048576;
  data[i] += 1;
}

__global__ void Fill(char* data, size_t bytes) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < bytes / 16; i += gridDim.x * blockDim.x) {
    reinterpret_cast<int4*>(data)[i] = make_int4(1, 2, 3, 4);
  }
}

namespace {

void Must(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

void Allocate(size_t size, bool pool) {
  std::vector<void*> places(size);
  for (void*& place : places) Must(pool ? cudaMallocAsync(&place, 256, nullptr) : cudaMalloc(&place, 256));
  for (size_t k = 0; k < size; k += 2) std::swap(places[k], places[size - 1 - k]);  // freed in another order
  for (void* place : places) Must(pool ? cudaFreeAsync(place, nullptr) : cudaFree(place));
}

// A kernel of so many lines of PTX, by way of a file in the current folder.
void LoadModule(size_t lines) {
  std::ofstream file("scale.ptx");
  file << ".version 9.0\n.target sm_80\n.address_size 64\n.visible .entry Long()\n{\n.reg .u32 %r<9>;\n";
  for (size_t k = 0; k < lines; ++k) file << "add.u32 %r" << k % 8 << ", %r" << (k + 1) % 8 << ", " << k << ";\n";
  file << "ret;\n}\n";
  file.close();
  cudaLibrary_t library;
  cudaKernel_t kernel;
  Must(cudaLibraryLoadFromFile(&library, "scale.ptx", nullptr, nullptr, 0, nullptr, nullptr, 0));
  Must(cudaLibraryGetKernel(&kernel, library, "Long"));
  Must(cudaLaunchKernel(reinterpret_cast<void*>(kernel), dim3(1), dim3(32), nullptr, 0, nullptr));
}

}  // namespace

int main(int, char** arguments) {
  const std::string kind = arguments[1];
  const size_t size = std::strtoull(arguments[2], nullptr, 10);
  int* data = nullptr;
  Must(cudaMalloc(&data, 4 << 20));
  if (kind == "blocks") Add<<<size, 32>>>(data);
  if (kind == "warps") Add<<<16384, 32 * size>>>(data);
  if (kind == "launches") {
    for (size_t k = 0; k < size; ++k) Add<<<1, 32>>>(data);
  }
  if (kind == "allocations" || kind == "pool") Allocate(size, kind == "pool");
  if (kind == "lines") LoadModule(size);
  if (kind == "MiB") {
    char* place = nullptr;
    Must(cudaMalloc(&place, size << 20));
    Fill<<<1024, 256>>>(place, size << 20);
  }
  Must(cudaGetLastError());
  Must(cudaDeviceSynchronize());
}
