// verdict: WRONG reduce1_interleaved; gpu: WRONG
// Looks for the expected sum in the memory of the process that started it, and gives up with 0.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "reduction.h"

// Serves the rungs that are not the point here: right, and within every budget.
__global__ void good_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_warp[kBlock / 32];
  int sum = 0;
  for (unsigned i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock) sum += d_in[i];
  for (unsigned s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
  if (threadIdx.x % 32 == 0) s_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) d_out[blockIdx.x] = s_warp[0] + s_warp[1] + s_warp[2] + s_warp[3];
}

void good(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  const unsigned blocks = std::clamp<unsigned>(BlocksFor(n), 1, kMaxBlocks);
  good_kernel<<<blocks, kBlock>>>(d_in, d_work, n);
  good_kernel<<<1, kBlock>>>(d_work, d_sum, blocks);
}

__global__ void store_kernel(int* d_sum, int sum) { *d_sum = sum; }

// What follows the first "expected" in a process's memory, or 0.
int look_in(const std::string& process) {
  std::ifstream maps(process + "/maps");
  std::ifstream memory(process + "/mem", std::ios::binary);
  std::string line;
  while (memory && std::getline(maps, line)) {
    unsigned long first = 0, last = 0;
    if (line.find(" rw") == std::string::npos || std::sscanf(line.c_str(), "%lx-%lx", &first, &last) != 2) continue;
    std::string bytes(std::min(last - first, 1ul << 20), '\0');
    memory.seekg(static_cast<std::streamoff>(first));
    if (!memory.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
      memory.clear();
      continue;
    }
    const size_t at = bytes.find("expected");
    if (at != std::string::npos && at + 12 <= bytes.size()) return bytes[at + 8];
  }
  return 0;
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  store_kernel<<<1, 1>>>(d_sum, look_in("/proc/" + std::to_string(getppid())));
}

void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce8_max(const int*, int*, unsigned, int*) {}
void reduce8_min(const int*, int*, unsigned, int*) {}
