// Compaction, split and radix sort: a key's place is the number of keys that go before it, which is a scan.
//
// From rung 2 on a block takes a tile. It counts, the tiles' counts are scanned, and the scan says where the
// tile's keys begin in the result.

#include "sort.h"

namespace {

constexpr unsigned kAllLanes = ~0u, kLanes = 32;
constexpr unsigned kThreads = 256, kItems = 4, kTile = kThreads * kItems;
constexpr unsigned kGroups = kTile / kLanes;  // of 32 neighbours each: as many as a warp has lanes
constexpr unsigned kDigitBits = 4, kDigits = 1 << kDigitBits;
constexpr unsigned kScanItems = 4, kScanTile = kBlockKeys * kScanItems;

unsigned tiles_for(unsigned n, unsigned tile = kTile) { return (n - 1) / tile + 1; }

// Device memory for one call.
template <class T>
struct Scratch {
  explicit Scratch(size_t n) { cudaMallocAsync(&data, n * sizeof(T), nullptr); }
  ~Scratch() { cudaFreeAsync(data, nullptr); }
  T* data = nullptr;
};

// The inclusive scan of a warp's values.
__device__ unsigned scan_warp(unsigned value) {
  for (unsigned apart = 1; apart < kLanes; apart *= 2) {
    const unsigned other = __shfl_up_sync(kAllLanes, value, apart);
    if (threadIdx.x % kLanes >= apart) value += other;
  }
  return value;
}

// The sum of the values of all threads before this one, in a block of kBlockKeys; `total` is that of all threads.
__device__ unsigned scan_block(unsigned value, unsigned& total) {
  __shared__ unsigned s_warps[kLanes];
  const unsigned lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
  const unsigned inclusive = scan_warp(value);
  if (lane == kLanes - 1) s_warps[warp] = inclusive;
  __syncthreads();
  if (warp == 0) s_warps[lane] = scan_warp(s_warps[lane]);
  __syncthreads();
  total = s_warps[kLanes - 1];
  return inclusive - value + (warp > 0 ? s_warps[warp - 1] : 0);
}

__global__ void scan_tiles_kernel(unsigned* d_values, unsigned* d_totals, unsigned n) {
  const unsigned first = blockIdx.x * kScanTile + threadIdx.x * kScanItems;
  unsigned values[kScanItems], sum = 0, total;
  for (unsigned k = 0; k < kScanItems; ++k) {
    values[k] = first + k < n ? d_values[first + k] : 0;
    sum += values[k];
  }
  unsigned before = scan_block(sum, total);
  for (unsigned k = 0; k < kScanItems; before += values[k++]) {
    if (first + k < n) d_values[first + k] = before;
  }
  if (threadIdx.x == 0) d_totals[blockIdx.x] = total;
}

__global__ void add_totals_kernel(unsigned* d_values, const unsigned* d_totals, unsigned n) {
  for (unsigned k = 0; k < kScanItems; ++k) {
    const unsigned i = blockIdx.x * kScanTile + k * kBlockKeys + threadIdx.x;
    if (i < n) d_values[i] += d_totals[blockIdx.x];
  }
}

// The exclusive scan of an array in its place.
void scan(unsigned* d_values, unsigned n) {
  const unsigned tiles = tiles_for(n, kScanTile);
  const Scratch<unsigned> totals(tiles);
  scan_tiles_kernel<<<tiles, kBlockKeys>>>(d_values, totals.data, n);
  if (tiles == 1) return;
  scan(totals.data, tiles);
  add_totals_kernel<<<tiles, kBlockKeys>>>(d_values, totals.data, n);
}

// Where in its tile a thread's item k is.
__device__ unsigned place_of(unsigned k) { return k * kThreads + threadIdx.x; }

// How many flags are set before each of the thread's places in the tile, and in all of the tile. A warp's vote counts
// them for 32 places; one warp scans these counts. Between two calls there has to be a barrier.
__device__ void rank_tile(const bool (&flags)[kItems], unsigned (&ranks)[kItems], unsigned& total) {
  __shared__ unsigned s_groups[kGroups + 1];
  const unsigned lane = threadIdx.x % kLanes;
  for (unsigned k = 0; k < kItems; ++k) {
    const unsigned votes = __ballot_sync(kAllLanes, flags[k]);
    ranks[k] = __popc(votes & ((1u << lane) - 1));
    if (lane == 0) s_groups[place_of(k) / kLanes + 1] = __popc(votes);
  }
  __syncthreads();
  if (threadIdx.x < kGroups) {
    s_groups[lane + 1] = scan_warp(s_groups[lane + 1]);
    if (lane == 0) s_groups[0] = 0;
  }
  __syncthreads();
  for (unsigned k = 0; k < kItems; ++k) ranks[k] += s_groups[place_of(k) / kLanes];
  total = s_groups[kGroups];
}

// Which keys go to the front.
struct Below {
  unsigned limit;
  __device__ bool operator()(unsigned key) const { return key < limit; }
};
struct BitClear {
  unsigned bit;
  __device__ bool operator()(unsigned key) const { return (key >> bit & 1) == 0; }
};

}  // namespace

// Rung 1.
__global__ void compact1_block_kernel(const unsigned* d_in, unsigned* d_out, unsigned* d_count, unsigned n,
                                      unsigned limit) {
  const unsigned i = threadIdx.x, key = i < n ? d_in[i] : 0;
  const bool is_kept = i < n && key < limit;
  unsigned count;
  const unsigned to = scan_block(is_kept, count);
  if (is_kept) d_out[to] = key;
  if (i == 0) *d_count = count;
}

void compact1_block(const unsigned* d_in, unsigned* d_out, unsigned* d_count, unsigned n, unsigned limit) {
  compact1_block_kernel<<<1, kBlockKeys>>>(d_in, d_out, d_count, n, limit);
}

// Rungs 2 and 3, first part: how many of each tile's keys go to the front. One more count, of 0, becomes the sum of all.
template <class IsFirst>
__global__ void count_kernel(const unsigned* d_in, unsigned* d_counts, unsigned n, IsFirst is_first) {
  bool flags[kItems];
  unsigned ranks[kItems], count;
  for (unsigned k = 0; k < kItems; ++k) {
    const unsigned i = blockIdx.x * kTile + place_of(k);
    flags[k] = i < n && is_first(d_in[i]);
  }
  rank_tile(flags, ranks, count);
  if (threadIdx.x == 0) d_counts[blockIdx.x] = count;
  if (threadIdx.x == 0 && blockIdx.x == 0) d_counts[gridDim.x] = 0;
}

// Last part: the keys go where the scan says. The other keys follow, or with a d_count are left out.
template <class IsFirst>
__global__ void partition_kernel(const unsigned* d_in, const unsigned* d_before, unsigned* d_out, unsigned* d_count,
                                 unsigned n, IsFirst is_first) {
  unsigned keys[kItems], ranks[kItems], total;
  bool flags[kItems];
  for (unsigned k = 0; k < kItems; ++k) {
    const unsigned i = blockIdx.x * kTile + place_of(k);
    keys[k] = i < n ? d_in[i] : 0;
    flags[k] = i < n && is_first(keys[k]);
  }
  rank_tile(flags, ranks, total);
  const unsigned before = d_before[blockIdx.x], all = d_before[gridDim.x];
  for (unsigned k = 0; k < kItems; ++k) {
    const unsigned i = blockIdx.x * kTile + place_of(k), firsts = before + ranks[k];
    if (flags[k]) d_out[firsts] = keys[k];
    if (i < n && !flags[k] && d_count == nullptr) d_out[all + i - firsts] = keys[k];
  }
  if (d_count != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *d_count = all;
}

template <class IsFirst>
void partition(const unsigned* d_in, unsigned* d_out, unsigned* d_count, unsigned n, IsFirst is_first) {
  const unsigned tiles = tiles_for(n);
  const Scratch<unsigned> counts(tiles + 1);
  count_kernel<<<tiles, kThreads>>>(d_in, counts.data, n, is_first);
  scan(counts.data, tiles + 1);
  partition_kernel<<<tiles, kThreads>>>(d_in, counts.data, d_out, d_count, n, is_first);
}

// Rung 2.
void compact2_blocks(const unsigned* d_in, unsigned* d_out, unsigned* d_count, unsigned n, unsigned limit) {
  if (n == 0) {
    cudaMemsetAsync(d_count, 0, sizeof *d_count);
  } else {
    partition(d_in, d_out, d_count, n, Below{limit});
  }
}

// Rung 3.
void split3_bit(const unsigned* d_in, unsigned* d_out, unsigned n, unsigned bit) {
  if (n > 0) partition(d_in, d_out, nullptr, n, BitClear{bit});
}

template <class Key>
__device__ unsigned digit_of(Key key, unsigned shift) {
  return static_cast<unsigned>(key >> shift) % kDigits;
}

// Rungs 4 and 5, first part: how often a tile has each digit. The tiles' counts of one digit are neighbours, so that
// the scan of all counts says where each tile's keys with each digit begin.
template <class Key>
__global__ void count_digits_kernel(const Key* d_keys, unsigned* d_counts, unsigned n, unsigned shift) {
  __shared__ unsigned s_counts[kDigits];
  if (threadIdx.x < kDigits) s_counts[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned k = 0; k < kItems; ++k) {
    const unsigned i = blockIdx.x * kTile + place_of(k);
    if (i < n) atomicAdd(&s_counts[digit_of(d_keys[i], shift)], 1u);
  }
  __syncthreads();
  if (threadIdx.x < kDigits) d_counts[threadIdx.x * gridDim.x + blockIdx.x] = s_counts[threadIdx.x];
}

// Last part: a block sorts its tile by the digit, by a split for each bit. Then neighbours go to neighbouring addresses.
template <class Key, bool kPairs>
__global__ void scatter_kernel(const Key* d_keys, const unsigned* d_values, const unsigned* d_before, Key* d_keys_out,
                               unsigned* d_values_out, unsigned n, unsigned shift) {
  __shared__ Key s_keys[kTile];
  __shared__ unsigned s_values[kPairs ? kTile : 1], s_begin[kDigits];
  const unsigned begin = blockIdx.x * kTile, size = min(kTile, n - begin);
  Key keys[kItems];
  unsigned values[kItems] = {};
  for (unsigned k = 0; k < kItems; ++k) {
    const unsigned place = place_of(k);
    keys[k] = place < size ? d_keys[begin + place] : ~Key{0};  // behind all others, because a split is stable
    if (kPairs && place < size) values[k] = d_values[begin + place];
  }
  for (unsigned bit = shift; bit < shift + kDigitBits; ++bit) {
    bool flags[kItems];
    unsigned ranks[kItems], zeros;
    for (unsigned k = 0; k < kItems; ++k) flags[k] = (keys[k] >> bit & 1) == 0;
    rank_tile(flags, ranks, zeros);
    for (unsigned k = 0; k < kItems; ++k) {
      const unsigned to = flags[k] ? ranks[k] : zeros + place_of(k) - ranks[k];
      s_keys[to] = keys[k];
      if (kPairs) s_values[to] = values[k];
    }
    __syncthreads();
    for (unsigned k = 0; k < kItems; ++k) {
      keys[k] = s_keys[place_of(k)];
      if (kPairs) values[k] = s_values[place_of(k)];
    }
  }
  for (unsigned k = 0; k < kItems; ++k) {
    const unsigned place = place_of(k), digit = digit_of(keys[k], shift);
    const bool is_begin = place == 0 || digit_of(s_keys[place - 1], shift) != digit;
    if (is_begin) s_begin[digit] = d_before[digit * gridDim.x + blockIdx.x] - place;
  }
  __syncthreads();
  for (unsigned k = 0; k < kItems; ++k) {
    const unsigned place = place_of(k), to = s_begin[digit_of(keys[k], shift)] + place;
    if (place < size) d_keys_out[to] = keys[k];
    if (kPairs && place < size) d_values_out[to] = values[k];
  }
}

// A pass for each digit, from the last to the first; their number is even, and every other pass stores to the result.
template <class Key, bool kPairs>
void sort(const Key* d_keys, const unsigned* d_values, Key* d_keys_out, unsigned* d_values_out, unsigned n) {
  if (n == 0) return;
  const unsigned tiles = tiles_for(n);
  const Scratch<unsigned> counts(kDigits * tiles), other_values(kPairs ? n : 1);
  const Scratch<Key> other_keys(n);
  for (unsigned shift = 0; shift < 8 * sizeof(Key); shift += kDigitBits) {
    const bool is_even = shift / kDigitBits % 2 == 0;
    Key* const d_keys_to = is_even ? other_keys.data : d_keys_out;
    unsigned* const d_values_to = is_even ? other_values.data : d_values_out;
    count_digits_kernel<<<tiles, kThreads>>>(d_keys, counts.data, n, shift);
    scan(counts.data, kDigits * tiles);
    scatter_kernel<Key, kPairs><<<tiles, kThreads>>>(d_keys, d_values, counts.data, d_keys_to, d_values_to, n, shift);
    d_keys = d_keys_to, d_values = d_values_to;
  }
}

// Rung 4.
void sort4_radix(const unsigned* d_in, unsigned* d_out, unsigned n) {
  sort<unsigned, false>(d_in, nullptr, d_out, nullptr, n);
}

// Rung 5.
void sort5_pairs(const unsigned long long* d_keys, const unsigned* d_values, unsigned long long* d_keys_out,
                 unsigned* d_values_out, unsigned n) {
  sort<unsigned long long, true>(d_keys, d_values, d_keys_out, d_values_out, n);
}
