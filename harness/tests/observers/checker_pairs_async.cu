// Asynchronous copies to shared memory: what is read before its copy has been waited for, and what other threads
// copied.
#include <cuda_pipeline.h>

#include <cuda/barrier>

#include "checker_pairs.h"

#pragma nv_diag_suppress static_var_with_dynamic_init  // init() sets the barriers up

// expect: clean
extern "C" __global__ void copy_waited_for(Buffers b) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &b.in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  b.out[threadIdx.x] = s[threadIdx.x];
}

// expect: uninitialised read, shared
extern "C" __global__ void copy_not_waited_for(Buffers b) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &b.in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  b.out[threadIdx.x] = s[threadIdx.x];  // here
}

// A barrier waits for threads, not for their copies.
// expect: race, shared | uninitialised read, shared
// says: __syncthreads() alone does not wait for it
extern "C" __global__ void barrier_in_place_of_the_wait(Buffers b) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &b.in[threadIdx.x], sizeof(int));  // first, second
  __pipeline_commit();
  __syncthreads();
  b.out[threadIdx.x] = s[63 - threadIdx.x];  // here, first, second
}

// expect: clean
extern "C" __global__ void copy_of_others_after_wait_and_barrier(Buffers b) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &b.in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  b.out[threadIdx.x] = s[63 - threadIdx.x];
}

// A wait is for the thread's own copies.
// expect: race, shared | uninitialised read, shared
extern "C" __global__ void copy_of_others_after_the_wait_alone(Buffers b) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &b.in[threadIdx.x], sizeof(int));  // first, second
  __pipeline_commit();
  __pipeline_wait_prior(0);
  b.out[threadIdx.x] = s[63 - threadIdx.x];  // here, first, second
}

// The end of an array: 4 bytes of 16, the others zeros.
// expect: clean
extern "C" __global__ void copy_of_less_than_its_size(Buffers b) {
  __shared__ int4 s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &b.odd[4], 16, 12);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  b.out[threadIdx.x] = s[threadIdx.x].w;
}

// expect: uninitialised read, global
extern "C" __global__ void copy_of_less_than_its_size_unwritten(Buffers b) {
  __shared__ int4 s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &b.raw[4 * threadIdx.x], 16, 8);  // here
  __pipeline_commit();
  __pipeline_wait_prior(0);
  b.out[threadIdx.x] = s[threadIdx.x].w;
}

// expect: clean
extern "C" __global__ void first_of_two_stages(Buffers b) {
  __shared__ int s[2][64];
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][threadIdx.x], &b.in[64 * k + threadIdx.x], sizeof(int));
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  b.out[threadIdx.x] = s[0][threadIdx.x];
  __pipeline_wait_prior(0);
  b.out[64 + threadIdx.x] = s[1][threadIdx.x];
}

// expect: uninitialised read, shared
extern "C" __global__ void second_of_two_stages_too_early(Buffers b) {
  __shared__ int s[2][64];
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][threadIdx.x], &b.in[64 * k + threadIdx.x], sizeof(int));
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  b.out[threadIdx.x] = s[1][threadIdx.x];  // here
  __pipeline_wait_prior(0);
}

// expect: clean
extern "C" __global__ void copy_with_a_barrier_of_libcu(Buffers b) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) init(&bar, 64);
  __syncthreads();
  cuda::memcpy_async(&s[threadIdx.x], &b.in[threadIdx.x], sizeof(int), bar);
  bar.arrive_and_wait();
  b.out[threadIdx.x] = s[63 - threadIdx.x];
}

// expect: race, shared | uninitialised read, shared
extern "C" __global__ void arrival_without_the_wait(Buffers b) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int s[64];
  if (threadIdx.x == 0) init(&bar, 64);
  __syncthreads();
  cuda::memcpy_async(&s[threadIdx.x], &b.in[threadIdx.x], sizeof(int), bar);  // first, second
  (void)bar.arrive();
  b.out[threadIdx.x] = s[63 - threadIdx.x];  // here, first, second
}

// A plain store by one thread while another's copy to the element is in flight.
// expect: race, shared
extern "C" __global__ void store_beside_a_copy(Buffers b) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &b.in[threadIdx.x], sizeof(int));  // first, second
  __pipeline_commit();
  s[63 - threadIdx.x] = 1;  // first, second
  __pipeline_wait_prior(0);
}

// Two stages: the tile after this one is copied while this one is read.
__device__ void copy_tile(int (&stage)[64], const int* tile) {
  __pipeline_memcpy_async(&stage[threadIdx.x], &tile[threadIdx.x], sizeof(int));
  __pipeline_commit();
}

// expect: clean
extern "C" __global__ void two_stages_in_turn(Buffers b) {
  __shared__ int s[2][64];
  copy_tile(s[0], b.in);
  for (int k = 0; k < 4; ++k) {
    if (k < 3) {
      copy_tile(s[(k + 1) % 2], b.in + 64 * (k + 1));
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    b.out[64 * k + threadIdx.x] = s[k % 2][63 - threadIdx.x];
    __syncthreads();
  }
}

// The next round's copy goes into the stage that slower threads still read.
// expect: race, shared
// says: between the last read and the copy
extern "C" __global__ void two_stages_without_the_last_barrier(Buffers b) {
  __shared__ int s[2][64];
  __pipeline_memcpy_async(&s[0][threadIdx.x], &b.in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  for (int k = 0; k < 4; ++k) {
    if (k < 3) {
      __pipeline_memcpy_async(&s[(k + 1) % 2][threadIdx.x], &b.in[64 * (k + 1) + threadIdx.x], sizeof(int));  // second
      __pipeline_commit();
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    b.out[64 * k + threadIdx.x] = s[k % 2][63 - threadIdx.x];  // first
  }
}

// Three stages need one barrier a round: the stage that is filled was read before it.
// expect: clean
extern "C" __global__ void three_stages_in_turn(Buffers b) {
  __shared__ int s[3][64];
  for (int k = 0; k < 2; ++k) copy_tile(s[k], b.in + 64 * k);
  for (int k = 0; k < 6; ++k) {
    __pipeline_wait_prior(1);
    __syncthreads();
    if (k < 4) {
      copy_tile(s[(k + 2) % 3], b.in + 64 * (k + 2));
    } else {
      __pipeline_commit();
    }
    b.out[64 * k + threadIdx.x] = s[k % 3][63 - threadIdx.x];
  }
}

// The copy into the previous round's stage is issued before the barrier.
// expect: race, shared
// says: between the last read and the copy
extern "C" __global__ void three_stages_filled_ahead_of_the_barrier(Buffers b) {
  __shared__ int s[3][64];
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&s[k][threadIdx.x], &b.in[64 * k + threadIdx.x], sizeof(int));
    __pipeline_commit();
  }
  for (int k = 0; k < 6; ++k) {
    __pipeline_wait_prior(1);
    if (k < 4) {
      __pipeline_memcpy_async(&s[(k + 2) % 3][threadIdx.x], &b.in[64 * (k + 2) + threadIdx.x], sizeof(int));  // second
    }
    __pipeline_commit();
    __syncthreads();
    b.out[64 * k + threadIdx.x] = s[k % 3][63 - threadIdx.x];  // first
  }
}

// Barriers on both sides of the read don't help if the copy is issued before the first and waited for after the second.
// expect: race, shared
extern "C" __global__ void read_between_issue_and_wait(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  __pipeline_memcpy_async(&s[threadIdx.x], &b.in[threadIdx.x], sizeof(int));  // first
  __pipeline_commit();
  __syncthreads();
  b.out[threadIdx.x] = s[63 - threadIdx.x];  // second
  __syncthreads();
  __pipeline_wait_prior(0);
}

// expect: race, shared
extern "C" __global__ void store_between_issue_and_wait(Buffers b) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &b.in[threadIdx.x], sizeof(int));  // first
  __pipeline_commit();
  __syncthreads();
  s[63 - threadIdx.x] = 1;  // second
  __syncthreads();
  __pipeline_wait_prior(0);
}

// Two threads copy to one element, with a barrier between the issues; no thread has waited for its copy.
// expect: race, shared
extern "C" __global__ void copies_of_two_threads_under_way(Buffers b) {
  __shared__ int s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &b.in[threadIdx.x], sizeof(int));  // first
  __pipeline_commit();
  __syncthreads();
  __pipeline_memcpy_async(&s[63 - threadIdx.x], &b.in[threadIdx.x], sizeof(int));  // second
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
}

// While even words are being copied, threads read the odd words between them: no race.
// expect: clean
extern "C" __global__ void half_of_the_array_under_way(Buffers b) {
  __shared__ int s[128];
  s[threadIdx.x] = s[64 + threadIdx.x] = 1;
  __syncthreads();
  __pipeline_memcpy_async(&s[2 * threadIdx.x], &b.in[threadIdx.x], sizeof(int));
  __pipeline_commit();
  __syncthreads();
  b.out[threadIdx.x] = s[2 * (63 - threadIdx.x) + 1];
  __syncthreads();
  __pipeline_wait_prior(0);
  b.out[64 + threadIdx.x] = s[2 * threadIdx.x];
}

// One stage is used again once all have waited for its copy and read it.
// expect: clean
extern "C" __global__ void one_stage_again_and_again(Buffers b) {
  __shared__ int s[64];
  for (int k = 0; k < 4; ++k) {
    copy_tile(s, b.in + 64 * k);
    __pipeline_wait_prior(0);
    __syncthreads();
    b.out[64 * k + threadIdx.x] = s[63 - threadIdx.x];
    __syncthreads();
  }
}
