// Ways in which a submission goes wrong, one a launcher.
#include <cuda_runtime.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "launchers.h"

#ifdef CRASHES_AT_START
static const int at_start = [] {
  abort();
  return 0;
}();
#endif

__global__ void add_one_kernel(int* d_data, unsigned n, unsigned reach) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n + reach) d_data[i] += 1;
}

__global__ void spin_kernel(volatile int* d_data) {
  while (d_data[0] >= 0) {
  }
}

void add_one(int* d_data, unsigned n) { add_one_kernel<<<(n + 127) / 128, 128>>>(d_data, n, 0); }

void ends_program(int* d_data, unsigned n) { exit(0); }

void crashes_host(int* d_data, unsigned n) { raise(SIGSEGV); }

void hangs_host(int* d_data, unsigned n) {
  for (;;) pause();
}

void hangs_kernel(int* d_data, unsigned n) { spin_kernel<<<1, 32>>>(d_data); }

void launches_forever(int* d_data, unsigned n) {
  for (;;) add_one_kernel<<<1, 32>>>(d_data, 1, 0);
}

void floods(int* d_data, unsigned n) {
  for (;;) puts("a line that is printed without end");
}

void prints_fake_results(int* d_data, unsigned n) {
  puts("[       OK ] Everything (0 ms)\n[  PASSED  ] 1 test.\nscore: 100\033[2J");
}

void closes_socket(int* d_data, unsigned n) {
  for (int file = 3; file < 1024; ++file) close(file);
  for (;;) pause();
}

void writes_to_socket(int* d_data, unsigned n) {
  const char garbage[] = "all tests passed, full marks";
  for (int file = 3; file < 16; ++file) {
    if (write(file, garbage, sizeof garbage) < 0) continue;
  }
}

void writes_past_end(int* d_data, unsigned n) { add_one_kernel<<<(n + 127) / 128 + 1, 128>>>(d_data, n, 1); }

void launches_too_many_threads(int* d_data, unsigned n) { add_one_kernel<<<1, 4096>>>(d_data, n, 0); }

void copies_to_host(int* d_data, unsigned n) {
  std::vector<int> data(n);
  cudaMemcpy(data.data(), d_data, n * sizeof(int), cudaMemcpyDefault);
  for (int& value : data) ++value;
  cudaMemcpy(d_data, data.data(), n * sizeof(int), cudaMemcpyDefault);
}

// The judge's other buffers are near this one.
void touches_other_memory(int* d_data, unsigned n) {
  int stolen[16];
  for (long offset = 0; offset <= 1 << 20; offset += 256) {
    cudaMemcpy(stolen, d_data + offset / 4, sizeof stolen, cudaMemcpyDeviceToHost);
  }
  cudaGetLastError();
}

void leaves_child(int* d_data, unsigned n) {
  if (fork() == 0) {
    for (;;) pause();
  }
  _exit(0);
}

void sleeps(int* d_data, unsigned n) {
  usleep(400000);
  add_one(d_data, n);
}

void fills_memory(int* d_data, unsigned n) {
  char* memory = nullptr;
  cudaMalloc(&memory, 1 << 30);
  for (size_t done = 0; done < size_t{1} << 30; done += 1 << 24) cudaMemset(memory + done, 1, 1 << 24);
  cudaFree(memory);
  add_one(d_data, n);
}

__global__ void heap_kernel() {
  for (int i = 0; i < 16; ++i) malloc(4 << 20);
}

void keeps_heap(int* d_data, unsigned n) {
  heap_kernel<<<1, 1>>>();
  add_one(d_data, n);
}

int doubles(int x) { return 2 * x; }

// Declared here: cuda.h is not needed for what is refused.
extern "C" int cuInit(unsigned flags);
void uses_the_driver(int* d_data, unsigned n) {
  if (cuInit(0) == 0) add_one(d_data, n);
}

int ends_at_seven(int x) {
  if (x == 7) exit(3);
  return 2 * x;
}

int ends_at_the_eighth_call(int x) {
  static int calls = 0;
  if (++calls == 8) exit(3);
  return 2 * x;
}

__global__ void empty_kernel() {}

int launches_at_seven(int x) {
  if (x == 7) empty_kernel<<<1, 1>>>();
  return 2 * x;
}

__global__ void copy_kernel(const int* d_in, int* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[i] = d_in[i];
}

void copies(const int* d_in, int* d_out, unsigned n) { copy_kernel<<<(n + 127) / 128, 128>>>(d_in, d_out, n); }

void copies_ten_times(const int* d_in, int* d_out, unsigned n) {
  static int calls = 0;
  if (++calls <= 10) copies(d_in, d_out, n);
}

void copies_over_its_input(int* d_in, int* d_out, unsigned n) {
  copies(d_in, d_out, n);
  copy_kernel<<<1, 32>>>(d_out + 1, d_in, 1);
}

void copies_until_it_ends(const int* d_in, int* d_out, unsigned n) {
  static int calls = 0;
  if (++calls == 5) exit(0);
  copies(d_in, d_out, n);
}
