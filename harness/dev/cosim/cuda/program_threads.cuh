// What the threads of a random program share, and how the host simulates them. A kernel is a sequence of phases, with
// barriers where threads exchange data. The device runs a phase in every thread; the host runs it thread by thread.
#pragma once

#include <vector>

#include "program_intrinsics.cuh"

namespace cosim {

// The same for every program; every size is a power of two.
struct Input {
  u64 words[128];
  i64 longs[64];
  u32 ints[128];
  i32 signeds[128];
  i16 shorts[128];
  u8 bytes[256];
  f32 floats[128];
  f64 doubles[64];
  uint4 quads[32];
  int2 pairs[64];
  float4 vectors[32];
  uchar4 colours[64];
  short2 halves[64];
};

// A thread's own part of global memory, and of shared memory.
struct Own {
  u64 words[4];
  i32 ints[8];
  i16 shorts[8];
  u8 bytes[16];
  f32 floats[4];
  f64 doubles[2];
};
struct Row {
  u64 longs[2];
  u32 ints[8];
  u8 bytes[16];
  f32 floats[4];
};
constexpr int kAccumulators = 16;
// Totals over all threads, changed by atomics whose order doesn't matter.
struct Totals {
  u32 added[kAccumulators], most[kAccumulators], least[kAccumulators], flipped[kAccumulators];
  u64 sums[kAccumulators], highest[kAccumulators];
  i32 lowest[kAccumulators];
};

struct Env {
  u32 thread, block, lane;
  u32 mask;  // the lanes that the warp has
  const Input* in;
  Own* own;
  Row* row;
};

template <typename T>
HD void Clear(T* record) {
  memset(record, 0, sizeof(T));
}

HD inline u32 WarpMask(int thread, int threads) {
  const int lanes = threads - thread / 32 * 32;
  return lanes >= 32 ? 0xffffffff : (1u << lanes) - 1;
}
// The n-th lane in the mask, counting from 0 and wrapping around.
HD inline u32 NthLane(u32 mask, u32 n) {
  for (n %= Popc(mask); n > 0; --n) mask &= mask - 1;
  return Ffs(mask) - 1;
}

HD inline u64 Low(u32 value) { return value; }
HD inline u64 Low(i32 value) { return u32(value); }
HD inline u64 Low(i16 value) { return u16(value); }
HD inline u64 Low(u16 value) { return value; }
HD inline u64 Low(i8 value) { return u8(value); }
HD inline u64 Low(u8 value) { return value; }
HD inline u64 Low(i64 value) { return u64(value); }
HD inline u64 Low(u64 value) { return value; }
HD inline u64 Low(i128 value) { return u64(value) ^ u64(value >> 64) * 0x9e3779b97f4a7c15; }
HD inline u64 Low(u128 value) { return u64(value) ^ u64(value >> 64) * 0x9e3779b97f4a7c15; }
HD inline u64 Low(f32 value) { return Bits(value); }
HD inline u64 Low(f64 value) { return Bits(value); }

// A thread's results, one word each.
struct Writer {
  u64* at;
  template <typename T>
  HD void Put(T value) {
    *at++ = Low(value);
  }
  template <typename T, int n>
  HD void PutAll(const T (&values)[n]) {
    for (int k = 0; k < n; ++k) Put(values[k]);
  }
  HD void PutAll(const Own& own) {
    PutAll(own.words), PutAll(own.ints), PutAll(own.shorts), PutAll(own.bytes), PutAll(own.floats), PutAll(own.doubles);
  }
  HD void PutAll(const Row& row) { PutAll(row.longs), PutAll(row.ints), PutAll(row.bytes), PutAll(row.floats); }
};
constexpr int kOwnWords = 4 + 8 + 8 + 16 + 4 + 2, kRowWords = 2 + 8 + 16 + 4;

// Atomics; the host's threads come one after another.
#define COSIM_ATOMIC(name, intrinsic, expression)         \
  template <typename T>                                   \
  HD void name(T* at, T value) {                          \
    COSIM_BOTH(intrinsic(at, value), *at = (expression)); \
  }
COSIM_ATOMIC(AtomicAdd, atomicAdd, Add(*at, value))
COSIM_ATOMIC(AtomicMin, atomicMin, *at < value ? *at : value)
COSIM_ATOMIC(AtomicMax, atomicMax, *at > value ? *at : value)
COSIM_ATOMIC(AtomicAnd, atomicAnd, *at& value)
COSIM_ATOMIC(AtomicOr, atomicOr, *at | value)
COSIM_ATOMIC(AtomicXor, atomicXor, *at ^ value)
#undef COSIM_ATOMIC

#ifdef __CUDACC__
__device__ inline Env MakeEnv(const Input* in, Own* own, Row* rows) {
  const u32 index = blockIdx.x * blockDim.x + threadIdx.x;
  Clear(&rows[threadIdx.x]);
  return {threadIdx.x, blockIdx.x,  threadIdx.x % 32,  WarpMask(int(threadIdx.x), int(blockDim.x)),
          in,          own + index, rows + threadIdx.x};
}
#endif

// One block on the host.
template <typename State>
struct HostBlock {
  std::vector<State> states;
  std::vector<Env> envs;
  std::vector<Row> rows;

  HostBlock(int threads, int block, const Input* in, Own* own) : states(threads), envs(threads), rows(threads) {
    for (int t = 0; t < threads; ++t) {
      Clear(&rows[t]);
      envs[t] = {u32(t), u32(block), u32(t % 32), WarpMask(t, threads), in, own + block * threads + t, &rows[t]};
    }
  }
  template <typename Phase>
  void Each(Phase phase) {
    for (size_t t = 0; t < states.size(); ++t) phase(states[t], envs[t]);
  }
  // Warp by warp: calls takes(state, env) and value(state, env) for every lane, then give(state, env, values, mask) for
  // each lane for which `takes` was true; these lanes are the mask.
  template <typename Takes, typename Value, typename Give>
  void Warps(Takes takes, Value value, Give give) {
    using T = decltype(value(states[0], envs[0]));
    for (size_t first = 0; first < states.size(); first += 32) {
      const size_t lanes = states.size() - first < 32 ? states.size() - first : 32;
      T values[32] = {};
      u32 mask = 0;
      for (size_t lane = 0; lane < lanes; ++lane) {
        mask |= u32(takes(states[first + lane], envs[first + lane])) << lane;
        values[lane] = value(states[first + lane], envs[first + lane]);
      }
      for (size_t lane = 0; lane < lanes; ++lane)
        if (mask >> lane & 1) give(states[first + lane], envs[first + lane], values, mask);
    }
  }
};

// The operation's result over the values of the lanes in the mask.
template <typename T, typename Operation>
T ReducedOnHost(const T* values, u32 mask, Operation operation) {
  u32 lane = NthLane(mask, 0);
  T result = values[lane];
  for (mask &= mask - 1; mask != 0; mask &= mask - 1) result = operation(result, values[NthLane(mask, 0)]);
  return result;
}
template <typename T>
u32 EqualOnHost(const T* values, u32 mask, T value) {
  u32 equal = 0;
  for (u32 lane = 0; lane < 32; ++lane) equal |= u32(mask >> lane & 1 && values[lane] == value) << lane;
  return equal;
}
inline u32 BallotOnHost(const bool* values, u32 mask) { return EqualOnHost(values, mask, true); }

}  // namespace cosim
