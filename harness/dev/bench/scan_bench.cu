// An exclusive scan of any length in three passes: sums of tiles, a scan of the sums, scans of the tiles. A thread
// takes kItems neighbouring elements; warps scan by shuffles.
constexpr unsigned kThreads = 256, kItems = 8, kTile = kThreads * kItems, kWarps = kThreads / 32;

// The sum of the values of all threads before this one; *total: the sum over all threads.
__device__ float scan_block(float value, float* total) {
  __shared__ float s_sums[kWarps];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum = value;
  for (unsigned d = 1; d < 32; d *= 2) {
    const float left = __shfl_up_sync(0xffffffff, sum, d);
    if (lane >= d) sum += left;
  }
  if (lane == 31) s_sums[warp] = sum;
  __syncthreads();
  float before = 0, all = 0;
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w < warp) before += s_sums[w];
    all += s_sums[w];
  }
  __syncthreads();
  *total = all;
  return before + sum - value;
}

__device__ void load_items(const float* in, unsigned start, unsigned n, float items[kItems]) {
  if (start + kItems <= n) {
    for (unsigned k = 0; k < kItems; k += 4)
      *reinterpret_cast<float4*>(items + k) = *reinterpret_cast<const float4*>(in + start + k);
    return;
  }
  for (unsigned k = 0; k < kItems; ++k) items[k] = start + k < n ? in[start + k] : 0;
}

extern "C" __global__ void sum_tiles(const float* in, float* sums, unsigned n) {
  float items[kItems];
  load_items(in, blockIdx.x * kTile + threadIdx.x * kItems, n, items);
  float sum = 0;
  for (unsigned k = 0; k < kItems; ++k) sum += items[k];
  float total;
  scan_block(sum, &total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// One block; in place.
extern "C" __global__ void scan_sums(float* sums, unsigned n) {
  float carry = 0;
  for (unsigned start = 0; start < n; start += kThreads) {
    const unsigned i = start + threadIdx.x;
    const float value = i < n ? sums[i] : 0;
    float total;
    const float before = scan_block(value, &total);
    if (i < n) sums[i] = carry + before;
    carry += total;
  }
}

extern "C" __global__ void scan_tiles(const float* in, const float* sums, float* out, unsigned n) {
  const unsigned start = blockIdx.x * kTile + threadIdx.x * kItems;
  float items[kItems];
  load_items(in, start, n, items);
  float sum = 0;
  for (unsigned k = 0; k < kItems; ++k) {
    const float value = items[k];
    items[k] = sum;
    sum += value;
  }
  float total;
  const float before = sums[blockIdx.x] + scan_block(sum, &total);
  for (unsigned k = 0; k < kItems; ++k) items[k] += before;
  if (start + kItems <= n) {
    for (unsigned k = 0; k < kItems; k += 4)
      *reinterpret_cast<float4*>(out + start + k) = *reinterpret_cast<float4*>(items + k);
    return;
  }
  for (unsigned k = 0; k < kItems && start + k < n; ++k) out[start + k] = items[k];
}
