// Loads that the compiler makes for all threads though only some need them: a thread that uses the value has read it.
#include "checker_pairs.h"

// A block's total, which only its own thread needs.

// Each tile's value gets the total before it, in threads for which `reads` holds; thread 0 keeps the total.
template <typename Reads>
__device__ __forceinline__ void add_total(const Buffers& b, int& total, const Reads& reads) {
  const int t = threadIdx.x;
  int sum = 0;
  for (int tile = 0; tile < 4; ++tile) {
    int v = b.in[tile * 64 + t];
    if (reads(t)) v += total;  // first, second
    sum += v;
    if (t == 0) total = v;  // first, second
  }
  b.out[t] = sum;
}

// expect: clean
extern "C" __global__ void one_thread_adds_its_total(Buffers b) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  add_total(b, total, [](int t) { return t == 0; });
}

// expect: race, shared
extern "C" __global__ void two_threads_add_one_total(Buffers b) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  add_total(b, total, [](int t) { return t % 32 == 0; });
}

// The condition is `<`, and the word is next to the thread's own.

// expect: clean
extern "C" __global__ void first_thread_adds_its_neighbour(Buffers b) {
  __shared__ int s[65];
  const unsigned t = threadIdx.x;
  s[t] = b.in[t];
  __syncthreads();
  int v = b.in[t] * 3;
  if (t < 1) v += s[t + 1];
  b.out[t] = v;
  if (t == b.in[0]) s[1] = v;
}

// expect: race, shared
extern "C" __global__ void another_thread_stores_the_neighbour(Buffers b) {
  __shared__ int s[65];
  const unsigned t = threadIdx.x;
  s[t] = b.in[t];
  __syncthreads();
  int v = b.in[t] * 3;
  if (t < 1) v += s[t + 1];  // first, second
  b.out[t] = v;
  if (t == b.in[9]) s[1] = v;  // first, second
}

// One condition within another.

// expect: clean
extern "C" __global__ void nested_conditions(Buffers b) {
  __shared__ int low, high;
  const int t = threadIdx.x;
  if (t == b.in[3]) low = b.in[1];
  if (t == b.in[40]) high = b.in[2];
  int v = b.in[t];
  if (b.n > 100) {
    if (t == 3) v += low;
    if (t >= 40) {
      if (t < 41) v -= high;
    }
  }
  b.out[t] = v;
}

// expect: race, shared
extern "C" __global__ void nested_conditions_of_another_thread(Buffers b) {
  __shared__ int low, high;
  const int t = threadIdx.x;
  if (t == b.in[3]) low = b.in[1];
  if (t == b.in[40]) high = b.in[2];  // first, second
  int v = b.in[t];
  if (b.n > 100) {
    if (t == 3) v += low;
    if (t >= 40) {
      if (t < 42) v -= high;  // first, second
    }
  }
  b.out[t] = v;
}

// A value that was chosen by a condition is used further: in a sum, a maximum, another choice.

// expect: clean
extern "C" __global__ void chosen_in_a_loop(Buffers b) {
  __shared__ int best, worst;
  const int t = threadIdx.x;
  if (t == b.in[5]) best = 7, worst = 3;
  int v = t;
  for (int k = 0; k < b.in[9]; ++k) {
    if ((t & 63) == 5) v = max(v, best + k);
    if (t > 4 && t < 6) v = min(v, worst * k);
    b.out[t] = v;
    if (t == b.in[5]) best = v;
  }
}

// expect: race, shared
extern "C" __global__ void chosen_in_a_loop_by_a_second(Buffers b) {
  __shared__ int best, worst;
  const int t = threadIdx.x;
  if (t == b.in[5]) best = 7, worst = 3;
  __syncthreads();
  int v = t;
  for (int k = 0; k < b.in[9]; ++k) {
    if ((t & 31) == 5) v = max(v, best + k);  // first, second
    if (t > 4 && t < 6) v = min(v, worst * k);
    b.out[t] = v;
    if (t == b.in[5]) best = v;  // first, second
  }
}

// A condition that the compiler also loads early.

// expect: clean
extern "C" __global__ void condition_of_one_thread(Buffers b) {
  __shared__ int ready;
  const int t = threadIdx.x;
  if (t == 0) ready = b.in[1];
  int v = b.in[t];
  if (t == 0 && ready == 1) v += 5;
  if (t == 0) ready = v;
  b.out[t] = v;
}

// expect: race, shared
extern "C" __global__ void condition_of_every_thread(Buffers b) {
  __shared__ int ready;
  const int t = threadIdx.x;
  if (t == 0) ready = b.in[1];
  __syncthreads();
  int v = b.in[t];
  if (t >= 0 && ready == 1) v += 5;  // first, second
  if (t == 0) ready = v;             // first, second
  b.out[t] = v;
}

// Global memory: the compiler knows of a variable that it may be loaded at any time.

__device__ int running_total;

// expect: clean
extern "C" __global__ void total_in_a_variable(Buffers b) {
  if (threadIdx.x == 0) running_total = 0;
  add_total(b, running_total, [](int t) { return t == 0; });
}

// expect: race, global
extern "C" __global__ void total_in_a_variable_of_two(Buffers b) {
  if (threadIdx.x == 0) running_total = 0;
  __syncthreads();
  add_total(b, running_total, [](int t) { return t % 32 == 0; });
}

// A word that one thread writes and reads.

// expect: clean
extern "C" __global__ void a_word_of_one_thread(Buffers b) {
  __shared__ int last;
  const int t = threadIdx.x;
  if (t == b.in[31]) last = b.in[t];
  int v = b.in[t];
  if (t == 31) v += last * 2;
  b.out[t] = v;
}

// expect: uninitialised read, shared
extern "C" __global__ void a_word_that_nobody_wrote(Buffers b) {
  __shared__ int last;
  const int t = threadIdx.x;
  if (t == b.in[100]) last = b.in[t];
  int v = b.in[t];
  if (t == 31) v += last * 2;  // here
  b.out[t] = v;
}

// Words of a vector.

// expect: clean
extern "C" __global__ void three_words_of_four(Buffers b) {
  const int t = threadIdx.x;
  for (int k = 0; k < 3; ++k) b.raw[4 * t + k] = b.in[t];
  const int4 x = reinterpret_cast<const int4*>(b.raw)[t];
  b.out[t] = x.x + x.y * 2 + x.z * 3;
}

// expect: uninitialised read, global
extern "C" __global__ void the_fourth_word_by_one_thread(Buffers b) {
  const int t = threadIdx.x;
  for (int k = 0; k < 3; ++k) b.raw[4 * t + k] = b.in[t];
  const int4 x = reinterpret_cast<const int4*>(b.raw)[t];  // here
  int v = x.x + x.y * 2 + x.z * 3;
  if (t == 7) v += x.w;
  b.out[t] = v;
}

// expect: clean
extern "C" __global__ void words_of_others_in_a_vector(Buffers b) {
  __shared__ int4 s[32];
  const int t = threadIdx.x;
  int* words = reinterpret_cast<int*>(s);
  words[t] = t;
  words[t + 64] = t;
  __syncthreads();
  const int4 x = s[t & 31];
  if (t < 32) words[4 * t + 3] = x.x;
  b.out[t] = x.x + x.y * 2 + x.z * 3;
}

// expect: race, shared
extern "C" __global__ void words_of_others_in_a_vector_used(Buffers b) {
  __shared__ int4 s[32];
  const int t = threadIdx.x;
  int* words = reinterpret_cast<int*>(s);
  words[t] = t;
  words[t + 64] = t;
  __syncthreads();
  const int4 x = s[t & 31];            // first, second
  if (t < 32) words[4 * t + 3] = x.x;  // first, second
  b.out[t] = x.x + x.y * 2 + x.z * 3 + x.w * 5;
}
