// The ladder of scans: from one block that does too many additions to any number of blocks that touch each element of
// global memory once.
//
// Rungs 1 to 3 scan what one block can hold. Rung 4 puts rung 3's tiles together with two reads and a write an element,
// rung 5 with one read and one write.

#include <cuda/atomic>

#include "scan.h"

constexpr unsigned kAllLanes = 0xffffffff;

// Rung 1. Hillis and Steele: in step s, every element adds the one s places before it. Two buffers take turns, so that
// a step reads one and writes the other, and one barrier a step is enough.
__global__ void scan1_hillis_steele_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_data[2][kBlock];
  const unsigned tid = threadIdx.x;
  // Shifted by one place: the exclusive scan is the inclusive scan of 0, x[0], x[1], …
  s_data[0][tid] = tid > 0 && tid < n ? d_in[tid - 1] : 0;
  unsigned now = 0;
  for (unsigned s = 1; s < n; s *= 2) {
    __syncthreads();
    float sum = s_data[now][tid];
    if (tid >= s) sum += s_data[now][tid - s];
    now = 1 - now;
    s_data[now][tid] = sum;
  }
  // A thread writes out only what it has stored itself.
  if (tid < n) d_out[tid] = s_data[now][tid];
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) scan1_hillis_steele_kernel<<<1, kBlock>>>(d_in, d_out, n);
}

// Rung 2. Blelloch: the up-sweep builds a tree of sums in place; the down-sweep hands to each node the sum of all that
// lies left of it. kTile - 1 additions each, where rung 1 has kTile * log2(kTile).
__global__ void scan2_work_efficient_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_data[kTile];
  const unsigned tid = threadIdx.x;
  s_data[tid] = tid < n ? d_in[tid] : 0;
  s_data[tid + kBlock] = tid + kBlock < n ? d_in[tid + kBlock] : 0;
  for (unsigned s = 1; s < kTile; s *= 2) {
    __syncthreads();
    const unsigned right = 2 * s * (tid + 1) - 1;
    if (right < kTile) s_data[right] += s_data[right - s];
  }
  // The thread that summed the root clears it.
  if (tid == 0) s_data[kTile - 1] = 0;
  for (unsigned s = kTile / 2; s > 0; s /= 2) {
    __syncthreads();
    const unsigned right = 2 * s * (tid + 1) - 1;
    if (right < kTile) {
      const float left_sum = s_data[right - s];
      s_data[right - s] = s_data[right];
      s_data[right] += left_sum;
    }
  }
  __syncthreads();
  if (tid < n) d_out[tid] = s_data[tid];
  if (tid + kBlock < n) d_out[tid + kBlock] = s_data[tid + kBlock];
}

void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) scan2_work_efficient_kernel<<<1, kBlock>>>(d_in, d_out, n);
}

// Where element i lies in padded shared memory: a word is left out after each row of the 32 banks, so that elements a
// power of two apart fall in different banks.
constexpr unsigned kBanks = 32;
__host__ __device__ constexpr unsigned padded(unsigned i) { return i + i / kBanks; }

// A block's tile in padded shared memory, scanned in place from thread 0's `before` on; begins and ends with a barrier.
__device__ void scan_tile(float* s_data, float before) {
  const unsigned tid = threadIdx.x;
  for (unsigned s = 1; s < kTile; s *= 2) {
    __syncthreads();
    const unsigned right = 2 * s * (tid + 1) - 1;
    if (right < kTile) s_data[padded(right)] += s_data[padded(right - s)];
  }
  if (tid == 0) s_data[padded(kTile - 1)] = before;
  for (unsigned s = kTile / 2; s > 0; s /= 2) {
    __syncthreads();
    const unsigned right = 2 * s * (tid + 1) - 1;
    if (right < kTile) {
      const float left_sum = s_data[padded(right - s)];
      s_data[padded(right - s)] = s_data[padded(right)];
      s_data[padded(right)] += left_sum;
    }
  }
  __syncthreads();
}

// Rung 3. Padding: rung 2 without its bank conflicts.
__global__ void scan3_padded_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_data[padded(kTile)];
  const unsigned tid = threadIdx.x;
  s_data[padded(tid)] = tid < n ? d_in[tid] : 0;
  s_data[padded(tid + kBlock)] = tid + kBlock < n ? d_in[tid + kBlock] : 0;
  scan_tile(s_data, 0);
  if (tid < n) d_out[tid] = s_data[padded(tid)];
  if (tid + kBlock < n) d_out[tid + kBlock] = s_data[padded(tid + kBlock)];
}

void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) scan3_padded_kernel<<<1, kBlock>>>(d_in, d_out, n);
}

// An associative operation and its identity: rung 6 scans with another one than the sum.
struct Sum {
  static __device__ float identity() { return 0; }
  static __device__ float apply(float earlier, float later) { return earlier + later; }
};
struct Max {
  static __device__ float identity() { return -INFINITY; }
  static __device__ float apply(float earlier, float later) { return fmaxf(earlier, later); }
};

// All values of a warp in one, in all of its lanes. The order of the lanes is lost: the operation has to be
// commutative.
template <typename Op>
__device__ float reduce_warp(float value) {
#pragma unroll
  for (unsigned s = 16; s > 0; s /= 2) value = Op::apply(__shfl_xor_sync(kAllLanes, value, s), value);
  return value;
}

// Rung 4, first part: each block sums its tile, and scans nothing yet.
__global__ void scan4_sums_kernel(const float* d_in, float* d_sums, unsigned n) {
  __shared__ float s_warp[kBlock / 32];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * kTile + tid;
  float sum = i < n ? d_in[i] : 0;
  if (i + kBlock < n) sum += d_in[i + kBlock];
  sum = reduce_warp<Sum>(sum);
  if (tid % 32 == 0) s_warp[tid / 32] = sum;
  __syncthreads();
  if (tid < 32) {
    sum = reduce_warp<Sum>(tid < kBlock / 32 ? s_warp[tid] : 0);
    if (tid == 0) d_sums[blockIdx.x] = sum;
  }
}

// Rung 4, last part: each block scans its tile from the sum of the tiles before it; d_before may be null, for 0. May
// work in place: a block reads its tile before it writes it.
__global__ void scan4_blocks_kernel(const float* d_in, const float* d_before, float* d_out, unsigned n) {
  __shared__ float s_data[padded(kTile)];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * kTile + tid;
  s_data[padded(tid)] = i < n ? d_in[i] : 0;
  s_data[padded(tid + kBlock)] = i + kBlock < n ? d_in[i + kBlock] : 0;
  // Only thread 0 puts it at the tree's root: in the other 15 warps the load would be useless.
  scan_tile(s_data, tid == 0 && d_before != nullptr ? d_before[blockIdx.x] : 0);
  if (i < n) d_out[i] = s_data[padded(tid)];
  if (i + kBlock < n) d_out[i + kBlock] = s_data[padded(tid + kBlock)];
}

// Rung 4. Sum the tiles, scan their sums (by the same launcher), scan the tiles: three accesses per element, two of
// them reads. Scanning first and adding afterwards would take four.
void scan_tiles(const float* d_in, float* d_out, unsigned n, float* d_sums) {
  const auto tiles = static_cast<unsigned>(TilesFor(n));
  if (tiles > 1) {
    scan4_sums_kernel<<<tiles, kBlock>>>(d_in, d_sums, n);
    scan_tiles(d_sums, d_sums, tiles, d_sums + tiles);
  }
  scan4_blocks_kernel<<<tiles, kBlock>>>(d_in, tiles > 1 ? d_sums : nullptr, d_out, n);
}

void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n > 0) scan_tiles(d_in, d_out, n, reinterpret_cast<float*>(d_work));
}

// The inclusive scan of a warp's values, from register to register.
template <typename Op>
__device__ float scan_warp(float value, unsigned lane) {
#pragma unroll
  for (unsigned s = 1; s < 32; s *= 2) {
    const float other = __shfl_up_sync(kAllLanes, value, s);
    if (lane >= s) value = Op::apply(other, value);
  }
  return value;
}

// The exclusive scan that goes with an inclusive one: the lane before has it.
template <typename Op>
__device__ float exclusive_of(float inclusive, unsigned lane) {
  const float before = __shfl_up_sync(kAllLanes, inclusive, 1);
  return lane == 0 ? Op::identity() : before;
}

// Rungs 5 and 6 take larger tiles: a thread has kChunks times four elements, the lanes' fours side by side. The larger
// the tiles, the fewer the words that are looked at; four of these just fit the registers of an SM.
constexpr unsigned kThreads = 256;
constexpr unsigned kChunks = 12;
constexpr unsigned kPassTile = kThreads * kChunks * 4;

// A tile of this size has twelve words of d_work and uses one. With the tiles' words next to each other, many SMs would
// read and write the same few sectors at the same time, and wait for each other: 5 to 15 % on an H200.
constexpr unsigned kWordsApart = kPassTile / kTile;

// What a tile has published: its own total, later the total of everything up to its end. Kind and value share a word of
// 64 bits, which is read and written as a whole: nobody can see the one without the other, so that the accesses need to
// order nothing else (memory_order_relaxed). A word of zeros: nothing has been published.
enum Known : unsigned { kNothing = 0, kTotal = 1, kPrefix = 2 };
using WordRef = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;

__device__ void publish(unsigned long long& word, Known known, float value) {
  const unsigned long long kind = known;
  WordRef(word).store(kind << 32 | __float_as_uint(value), cuda::memory_order_relaxed);
}

// The total of all tiles before `tile`, found by one warp: lane l looks at the tile l + 1 places back, and waits until
// it has made something known. The nearest tile that knows its prefix ends the search; without one, all 32 totals count
// and the window moves on. It ends, because a tile publishes its total before it waits, and the tiles before it have
// begun earlier (their numbers come from a counter).
template <typename Op>
__device__ float look_back(unsigned long long* d_words, unsigned tile, unsigned lane) {
  float total = Op::identity();
  for (unsigned end = tile; end > 0; end = end > 32 ? end - 32 : 0) {
    unsigned long long word = __float_as_uint(Op::identity());  // where there is no tile
    if (lane < end) {
      do {
        word = WordRef(d_words[(end - 1 - lane) * kWordsApart]).load(cuda::memory_order_relaxed);
      } while (word >> 32 == kNothing);
    }
    const unsigned prefixes = __ballot_sync(kAllLanes, word >> 32 == kPrefix);
    const bool counts = (prefixes & ((1u << lane) - 1)) == 0;
    const float value = counts ? __uint_as_float(static_cast<unsigned>(word)) : Op::identity();
    total = Op::apply(reduce_warp<Op>(value), total);
    if (prefixes != 0) break;
  }
  return total;
}

// Four elements from i on. `whole`: all of them exist, at an address that allows one load. No element is used again, so
// none need stay in a cache: __ldcs and __stcs leave the room to the words.
template <typename Op>
__device__ float4 load_four(const float* d_in, unsigned i, unsigned n, bool whole) {
  if (whole) return __ldcs(reinterpret_cast<const float4*>(d_in + i));
  float4 four;
  four.x = i < n ? d_in[i] : Op::identity();
  four.y = i + 1 < n ? d_in[i + 1] : Op::identity();
  four.z = i + 2 < n ? d_in[i + 2] : Op::identity();
  four.w = i + 3 < n ? d_in[i + 3] : Op::identity();
  return four;
}

__device__ void store_four(float* d_out, unsigned i, unsigned n, bool whole, float4 four) {
  if (whole) {
    __stcs(reinterpret_cast<float4*>(d_out + i), four);
    return;
  }
  if (i < n) d_out[i] = four.x;
  if (i + 1 < n) d_out[i + 1] = four.y;
  if (i + 2 < n) d_out[i + 2] = four.z;
  if (i + 3 < n) d_out[i + 3] = four.w;
}

// Rung 5. A single pass with decoupled look-back (Merrill and Garland): a block scans a tile in registers, publishes
// its total, and looks back for the total of all before it. Each element is read once and written once.
template <typename Op, bool kInclusive>
__global__ void __launch_bounds__(kThreads, 4)
    scan5_lookback_kernel(const float* d_in, float* d_out, unsigned n, unsigned long long* d_counter,
                          unsigned long long* d_words, bool aligned) {
  constexpr unsigned kWarps = kThreads / 32;
  __shared__ unsigned s_tile;
  __shared__ float s_warp[kWarps];
  const unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  // Blocks may start in any order; a block that has taken a number is running.
  if (tid == 0) s_tile = static_cast<unsigned>(atomicAdd(d_counter, 1));
  __syncthreads();
  const unsigned tile = s_tile;
  const unsigned first = tile * kPassTile + warp * (32 * 4 * kChunks) + lane * 4;
  const bool whole = aligned && n - tile * kPassTile >= kPassTile;

  float4 four[kChunks];
#pragma unroll
  for (unsigned c = 0; c < kChunks; ++c) four[c] = load_four<Op>(d_in, first + c * (32 * 4), n, whole);
  float total = Op::identity();  // of the warp's elements so far
#pragma unroll
  for (unsigned c = 0; c < kChunks; ++c) {
    const float4 in = four[c];
    const float inclusive = scan_warp<Op>(Op::apply(Op::apply(in.x, in.y), Op::apply(in.z, in.w)), lane);
    const float before = Op::apply(total, exclusive_of<Op>(inclusive, lane));
    // The scan within the warp takes the elements' place.
    four[c].x = kInclusive ? Op::apply(before, in.x) : before;
    four[c].y = Op::apply(four[c].x, kInclusive ? in.y : in.x);
    four[c].z = Op::apply(four[c].y, kInclusive ? in.z : in.y);
    four[c].w = Op::apply(four[c].z, kInclusive ? in.w : in.z);
    total = Op::apply(total, __shfl_sync(kAllLanes, inclusive, 31));
  }
  if (lane == 0) s_warp[warp] = total;
  __syncthreads();

  if (warp == 0) {
    const float inclusive = scan_warp<Op>(lane < kWarps ? s_warp[lane] : Op::identity(), lane);
    const float tile_total = __shfl_sync(kAllLanes, inclusive, 31);
    if (lane == 0) publish(d_words[tile * kWordsApart], kTotal, tile_total);
    const float tile_before = look_back<Op>(d_words, tile, lane);
    if (lane == 0) publish(d_words[tile * kWordsApart], kPrefix, Op::apply(tile_before, tile_total));
    const float before = Op::apply(tile_before, exclusive_of<Op>(inclusive, lane));
    if (lane < kWarps) s_warp[lane] = before;
  }
  __syncthreads();

  const float warp_before = s_warp[warp];
#pragma unroll
  for (unsigned c = 0; c < kChunks; ++c) {
    float4 out;
    out.x = Op::apply(warp_before, four[c].x);
    out.y = Op::apply(warp_before, four[c].y);
    out.z = Op::apply(warp_before, four[c].z);
    out.w = Op::apply(warp_before, four[c].w);
    store_four(d_out, first + c * (32 * 4), n, whole, out);
  }
}

template <typename Op, bool kInclusive>
void scan_in_one_pass(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  const unsigned tiles = (n - 1) / kPassTile + 1;
  // Clears the counter, and the words of all tiles except the last, which no tile reads: an earlier call's words would
  // look like a fresh result.
  cudaMemsetAsync(d_work, 0, (1 + (tiles - 1) * kWordsApart) * sizeof(*d_work));
  const bool aligned = (reinterpret_cast<size_t>(d_in) | reinterpret_cast<size_t>(d_out)) % sizeof(float4) == 0;
  scan5_lookback_kernel<Op, kInclusive><<<tiles, kThreads>>>(d_in, d_out, n, d_work, d_work + 1, aligned);
}

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  scan_in_one_pass<Sum, false>(d_in, d_out, n, d_work);
}

// Rung 6. The same for an inclusive scan, and for another operation.
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  scan_in_one_pass<Sum, true>(d_in, d_out, n, d_work);
}

void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  scan_in_one_pass<Max, true>(d_in, d_out, n, d_work);
}
