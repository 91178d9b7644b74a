// Kernels that must fail: each has one fault.
#include <cstdio>

__device__ __noinline__ int endless(int n) { return n == 0 ? 0 : endless(n + 1) * endless(n + 2) + n; }
extern "C" __global__ void runaway_recursion(int* out) { out[threadIdx.x] = endless(1 + threadIdx.x) + endless(2); }

extern "C" __global__ void wrong_mask(int* out) {
  const int t = threadIdx.x;
  int v = t;
  if (t < 8)
    v = __shfl_down_sync(0xffffffffu, t, 1);
  else
    while (((volatile int*)out)[0] == 0) {
    }
  out[t] = v;
}

extern "C" __global__ void missing_warp(int* out) {
  asm volatile("bar.sync 1, 96;");
  out[threadIdx.x] = 1;
}

extern "C" __global__ void out_of_bounds(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = in[i];
}

extern "C" __global__ void null_pointer(int* out) { out[threadIdx.x] = 1; }

extern "C" __global__ void misaligned(char* p) { *(int*)(p + 1 + 4 * threadIdx.x) = 1; }

extern "C" __global__ void endless_loop(volatile int* p) {
  while (*p == 0) {
  }
}

extern "C" __global__ void reads_strings(const char* text, int times) {
  for (int k = 0; k < times; ++k) printf("%.0s%.0s%.0s%.0s", text, text, text, text);
}

extern "C" __global__ void trap(int* p) {
  if (threadIdx.x == 5 && *p == 0) __trap();
}

// Block 0 goes through many barriers while the others wait for it.
extern "C" __global__ void waits_for_barriers(volatile int* d_flag, int barriers) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < barriers; ++i) __syncthreads();
    __threadfence();
    if (threadIdx.x == 0) *d_flag = 1;
  } else if (threadIdx.x == 0) {
    while (*d_flag == 0) {
    }
  }
}

// Waits as cuda::barrier does: after some rounds it reads the clock in each, to sleep after a long wait.
extern "C" __global__ void waits_by_the_clock(volatile int* d_flag, int barriers) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < barriers; ++i) __syncthreads();
    __threadfence();
    if (threadIdx.x == 0) *d_flag = 1;
  } else if (threadIdx.x == 0) {
    unsigned long long begin = 0, now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    while (*d_flag == 0) {
      asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
      if (now - begin > 1000000000000) break;
    }
  }
}

// Works, reading the clock now and then, and waits only at the end: all before that is work.
extern "C" __global__ void works_by_the_clock(volatile int* d_flag, int steps) {
  if (threadIdx.x != 0) return;
  unsigned value = 1;
  for (int i = 0; i < steps; ++i) {
    value = value * 1664525u + 1013904223u;
    if (i % 16 == 0) asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(value));
  }
  if (blockIdx.x == gridDim.x - 1) {
    __threadfence();
    *d_flag = static_cast<int>(value | 1);
  } else {
    while (*d_flag == 0) {
    }
  }
}

extern "C" __global__ void waits_for_ever(volatile int* d_flag) {
  while (*d_flag == 0) {
  }
}
