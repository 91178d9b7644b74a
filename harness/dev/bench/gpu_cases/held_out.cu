// Kernels in the styles of public suites (Rodinia, PolyBench, SHOC, CUDA's samples, proxies of the exascale project),
// none of which the time model was fitted to. "NAME: before" and "NAME: after" are one computation, without and with an
// optimisation.
#include <cooperative_groups.h>

#include "cases.h"

namespace gpu_cases {
namespace {

constexpr unsigned kMillion = 1u << 20;

__device__ unsigned Id() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Device memory that holds f(0), f(1), …
template <typename T, typename F>
T* Filled(size_t n, F f) {
  std::vector<T> values(n);
  for (size_t k = 0; k < n; ++k) values[k] = f(static_cast<unsigned>(k));
  T* memory = nullptr;
  cudaMalloc(&memory, n * sizeof(T));
  cudaMemcpy(memory, values.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return memory;
}
unsigned Mixed(unsigned x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
float Unit(unsigned x) { return static_cast<float>(Mixed(x) >> 8) / 16777216.0f; }

// Rodinia: a step of heat on a chip, from global memory or from a tile with its border.
template <bool kTiled>
__global__ void Heat(const float* heat, const float* power, float* out, int n) {
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const auto at = [&](int i, int j) { return heat[min(max(j, 0), n - 1) * n + min(max(i, 0), n - 1)]; };
  float c, l, r, u, d;
  if constexpr (kTiled) {
    __shared__ float tile[18][18];
    for (int k = threadIdx.y * 16 + threadIdx.x; k < 18 * 18; k += 256)
      tile[k / 18][k % 18] = at(blockIdx.x * 16 + k % 18 - 1, blockIdx.y * 16 + k / 18 - 1);
    __syncthreads();
    const int i = threadIdx.x + 1, j = threadIdx.y + 1;
    c = tile[j][i], l = tile[j][i - 1], r = tile[j][i + 1], u = tile[j - 1][i], d = tile[j + 1][i];
  } else {
    c = at(x, y), l = at(x - 1, y), r = at(x + 1, y), u = at(x, y - 1), d = at(x, y + 1);
  }
  out[y * n + x] = c + 0.1f * (power[y * n + x] + (u + d - 2 * c) * 0.5f + (l + r - 2 * c) * 0.3f + (80 - c) * 0.01f);
}

// Rodinia: a breadth-first step over nodes with six edges each; after renumbering they lead to nearby nodes.
__global__ void Level(const int* edges, const int* level, int* next, int depth, int n) {
  const int node = Id();
  if (node >= n || level[node] != depth) return;
  for (int e = 0; e < 6; ++e) {
    const int to = edges[6 * node + e];
    if (level[to] < 0) next[to] = depth + 1;
  }
}

// Rodinia: the nearest of 8 centers; 16 features per point, stored point by point or feature by feature.
template <bool kTransposed>
__global__ void Nearest(const float* points, const float* centers, int* which, int n) {
  const int i = Id();
  if (i >= n) return;
  float best = 1e30f;
  int at = 0;
  for (int c = 0; c < 8; ++c) {
    float sum = 0;
    for (int f = 0; f < 16; ++f) {
      const float d = points[kTransposed ? f * n + i : i * 16 + f] - centers[c * 16 + f];
      sum += d * d;
    }
    if (sum < best) best = sum, at = c;
  }
  which[i] = at;
}

// Rodinia: a step of elimination, neighbouring threads down a column or along a row.
template <bool kRows>
__global__ void Eliminate(float* a, const float* factor, int n, int step) {
  const int p = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y * blockDim.y + threadIdx.y;
  const int row = kRows ? q : p, column = kRows ? p : q;
  if (row > step && column >= step) a[row * n + column] -= factor[row] * a[step * n + column];
}

// Rodinia: each of a box's 128 particles with those of four boxes, read from global or shared memory.
template <bool kShared>
__global__ void Boxes(const float4* particle, const int* neighbour, float4* force) {
  __shared__ float4 there[128];
  const float4 me = particle[Id()];
  float4 sum{};
  for (int b = 0; b < 4; ++b) {
    const float4* const box = particle + 128 * neighbour[4 * blockIdx.x + b];
    if (kShared) there[threadIdx.x] = box[threadIdx.x], __syncthreads();
    for (int k = 0; k < 128; ++k) {
      const float4 it = kShared ? there[k] : box[k];
      const float x = me.x - it.x, y = me.y - it.y, z = me.z - it.z, w = __expf(-0.5f * (x * x + y * y + z * z)) * it.w;
      sum.x += w * x, sum.y += w * y, sum.z += w * z, sum.w += w;
    }
    if (kShared) __syncthreads();
  }
  force[Id()] = sum;
}

// Rodinia: fluxes of five variables, stored as one struct per cell or one array per variable.
template <bool kArrays>
__global__ void Flux(const float* state, const int* neighbour, float* flux, int n) {
  const int i = Id();
  const auto get = [&](int cell, int v) { return state[kArrays ? v * n + cell : cell * 5 + v]; };
  float sum[5] = {};
  for (int k = 0; k < 4; ++k) {
    const int j = neighbour[k * n + i];
    const float rho = get(j, 0), speed = get(j, 1) / rho, pressure = 0.4f * (get(j, 4) - 0.5f * rho * speed * speed);
    for (int v = 0; v < 5; ++v) sum[v] += speed * get(j, v) + (v == 0 ? 0 : pressure);
  }
  for (int v = 0; v < 5; ++v) flux[kArrays ? v * n + i : i * 5 + v] = sum[v];
}

// Rodinia: finds the place of a number among 1024 running sums, by linear or binary search.
template <bool kHalves>
__global__ void FindIndex(const float* cdf, const float* u, int* index) {
  const float x = u[Id()];
  int at = 0;
  if constexpr (kHalves) {
    for (int step = 512; step > 0; step /= 2) at += cdf[at + step - 1] < x ? step : 0;
  } else {
    while (at < 1023 && cdf[at] < x) ++at;
  }
  index[Id()] = at;
}

// Rodinia: cheapest paths through a grid of costs, eight rows per launch in shared memory.
__global__ void Path(const int* wall, const int* from, int* to, int columns) {
  __shared__ int cost[2][256];
  const int x = static_cast<int>(blockIdx.x * 240 + threadIdx.x) - 8, at = min(max(x, 0), columns - 1);
  cost[0][threadIdx.x] = from[at];
  __syncthreads();
  for (int step = 0; step < 8; ++step) {
    const int l = max(static_cast<int>(threadIdx.x) - 1, 0), r = min(threadIdx.x + 1, 255u);
    const int* const old = cost[step & 1];
    cost[~step & 1][threadIdx.x] = min(old[threadIdx.x], min(old[l], old[r])) + wall[step * columns + at];
    __syncthreads();
  }
  if (threadIdx.x >= 8 && threadIdx.x < 248 && x < columns) to[x] = cost[0][threadIdx.x];
}

// PolyBench: a matrix times a vector, with a thread or a warp per row; the transposed matrix times a vector.
template <bool kWarp>
__global__ void RowSums(const float* a, const float* x, float* y, int n) {
  const int row = kWarp ? Id() / 32 : Id(), lane = kWarp ? threadIdx.x % 32 : 0;
  float sum = 0;
  for (int j = lane; j < n; j += kWarp ? 32 : 1) sum += a[row * n + j] * x[j];
  if (kWarp) {
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  }
  if (lane == 0) y[row] = sum;
}
__global__ void ColumnSums(const float* a, const float* x, float* y, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i * n + Id()] * x[i];
  y[Id()] = sum;
}

// PolyBench: A times its transpose, from global memory or by tiles.
template <bool kTiled>
__global__ void RankUpdate(const float* a, float* c, int n, int m) {
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  if constexpr (kTiled) {
    __shared__ float p[16][17], q[16][17];
    for (int k = 0; k < m; k += 16) {
      p[threadIdx.y][threadIdx.x] = a[i * m + k + threadIdx.x];
      q[threadIdx.y][threadIdx.x] = a[(blockIdx.x * 16 + threadIdx.y) * m + k + threadIdx.x];
      __syncthreads();
      for (int e = 0; e < 16; ++e) sum += p[threadIdx.y][e] * q[threadIdx.x][e];
      __syncthreads();
    }
  } else {
    for (int k = 0; k < m; ++k) sum += a[i * m + k] * a[j * m + k];
  }
  c[i * n + j] += sum;
}

// PolyBench: a matrix product; a thread computes one element, or 4 x 4 elements from tiles.
__global__ void Product(const float* a, const float* b, float* c, int n) {
  const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}
__global__ void ProductOfBlocks(const float* a, const float* b, float* c, int n) {
  __shared__ float p[16][64], q[16][64];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k = 0; k < n; k += 16) {
    for (int e = threadIdx.x; e < 1024; e += 256) {
      p[e % 16][e / 16] = a[(row + e / 16) * n + k + e % 16];
      q[e / 64][e % 64] = b[(k + e / 64) * n + column + e % 64];
    }
    __syncthreads();
    for (int e = 0; e < 16; ++e) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sum[i][j] += p[e][4 * y + i] * q[e][x + 16 * j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) c[(row + 4 * y + i) * n + column + x + 16 * j] = sum[i][j];
  }
}

// PolyBench: means of columns; a 3 x 3 convolution, neighbouring threads down a column or along a row; sweeps in which
// an element depends on the one before, a thread per row or column; electric and magnetic fields; Gram-Schmidt.
__global__ void Means(const float* a, float* mean, int n, int m) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i * m + Id()];
  mean[Id()] = sum / n;
}
template <bool kAlong>
__global__ void Convolve(const float* a, float* b, int n) {
  const int p = blockIdx.x * 32 + threadIdx.x, q = blockIdx.y * 8 + threadIdx.y, x = kAlong ? p : q, y = kAlong ? q : p;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const float* const c = a + y * n + x;
  b[y * n + x] = 0.2f * c[-n - 1] + 0.5f * c[-n] - 0.8f * c[1 - n] - 0.3f * c[-1] + 0.6f * c[0] - 0.9f * c[1] +
                 0.4f * c[n - 1] + 0.7f * c[n] + 0.1f * c[n + 1];
}
template <bool kColumns>
__global__ void Sweep(const float* a, float* x, int n) {
  const int t = Id();
  float before = 0;
  for (int k = 0; k < n; ++k) {
    const int at = kColumns ? k * n + t : t * n + k;
    before = x[at] - before * a[at] * 0.25f;
    x[at] = before;
  }
}
__global__ void Fields(const float* ex, const float* ey, float* hz, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < n - 1 && y < n - 1)
    hz[y * n + x] -= 0.7f * (ex[y * n + x + 1] - ex[y * n + x] + ey[(y + 1) * n + x] - ey[y * n + x]);
}
__global__ void Orthogonal(float* a, const float* q, const float* r, int n, int m, int k) {
  const int j = Id();
  if (j <= k || j >= m) return;
  float dot = 0;
  for (int i = 0; i < n; ++i) dot += q[i * m + k] * a[i * m + j];
  for (int i = 0; i < n; ++i) a[i * m + j] -= q[i * m + k] * dot * r[j];
}

// CUDA samples: a dot product, an atomic per thread or per block; counts of bytes in global or shared memory; rows
// convolved with 17 weights; option prices, exact or fast; bitonic sort; Walsh transform; n-body; Mandelbrot.
template <bool kBlock>
__global__ void Dot(const float* a, const float* b, float* out, int n) {
  float sum = 0;
  for (int i = Id(); i < n; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
  if constexpr (kBlock) {
    __shared__ float part[256];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
      if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
      __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
  } else {
    atomicAdd(out, sum);
  }
}
template <bool kShared>
__global__ void Bytes(const unsigned* data, unsigned* count, int n) {
  __shared__ unsigned own[256];
  if (kShared) own[threadIdx.x] = 0, __syncthreads();
  unsigned* const to = kShared ? own : count;
  for (int i = Id(); i < n; i += gridDim.x * blockDim.x) {
    for (unsigned word = data[i], k = 0; k < 4; ++k, word >>= 8) atomicAdd(&to[word & 255], 1u);
  }
  if (kShared) __syncthreads(), atomicAdd(&count[threadIdx.x], own[threadIdx.x]);
}
__constant__ float weights[17];
template <bool kShared>
__global__ void RowFilter(const float* a, float* b, int n) {
  __shared__ float tile[256 + 16];
  const int x = blockIdx.x * 256 + threadIdx.x, row = blockIdx.y * n;
  const auto at = [&](int i) { return i < 0 || i >= n ? 0.0f : a[row + i]; };
  if (kShared) {
    tile[threadIdx.x] = at(x - 8);
    if (threadIdx.x < 16) tile[threadIdx.x + 256] = at(x + 248);
    __syncthreads();
  }
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 17; ++k) sum += weights[k] * (kShared ? tile[threadIdx.x + k] : at(x + k - 8));
  b[row + x] = sum;
}
template <bool kFast>
__global__ void Options(const float* price, const float* strike, const float* years, float* call) {
  const float s = price[Id()] + 5, k = strike[Id()] + 1, t = years[Id()] + 0.25f, root = sqrtf(t);
  const float d1 = ((kFast ? __logf(s / k) : logf(s / k)) + (0.02f + 0.045f) * t) / (0.3f * root),
              d2 = d1 - 0.3f * root;
  const auto normal = [](float d) {
    const float x = 1 / (1 + 0.2316419f * fabsf(d));
    const float e = kFast ? __expf(-0.5f * d * d) : expf(-0.5f * d * d);
    const float p =
        0.39894228f * e * (x * (0.31938153f + x * (-0.356563782f + x * (1.781477937f + x * -1.821255978f))));
    return d > 0 ? 1 - p : p;
  };
  call[Id()] = s * normal(d1) - k * (kFast ? __expf(-0.02f * t) : expf(-0.02f * t)) * normal(d2);
}
__global__ void Bitonic(unsigned* keys) {
  __shared__ unsigned s[1024];
  unsigned* const mine = keys + blockIdx.x * 1024;
  s[threadIdx.x] = mine[threadIdx.x], s[threadIdx.x + 512] = mine[threadIdx.x + 512];
  for (unsigned size = 2; size <= 1024; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const unsigned at = 2 * threadIdx.x - (threadIdx.x & (stride - 1)), a = s[at], b = s[at + stride];
      if ((a > b) == ((at & size) == 0)) s[at] = b, s[at + stride] = a;
    }
  }
  __syncthreads();
  mine[threadIdx.x] = s[threadIdx.x], mine[threadIdx.x + 512] = s[threadIdx.x + 512];
}
__global__ void Walsh(float* data) {
  __shared__ float s[2048];
  float* const mine = data + blockIdx.x * 2048;
  for (int k = threadIdx.x; k < 2048; k += 256) s[k] = mine[k];
  for (int stride = 1024; stride > 0; stride /= 2) {
    __syncthreads();
    for (int k = threadIdx.x; k < 1024; k += 256) {
      const int at = 2 * k - (k & (stride - 1));
      const float a = s[at], b = s[at + stride];
      s[at] = a + b, s[at + stride] = a - b;
    }
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 2048; k += 256) mine[k] = s[k];
}
template <bool kShared>
__global__ void Bodies(const float4* at, float4* pull, int n) {
  __shared__ float4 tile[256];
  const float4 me = at[Id()];
  float x = 0, y = 0, z = 0;
  const auto add = [&](const float4& it) {
    const float dx = it.x - me.x, dy = it.y - me.y, dz = it.z - me.z, r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    const float f = it.w * r * r * r;
    x += dx * f, y += dy * f, z += dz * f;
  };
  for (int k = 0; k < n; k += 256) {
    if (kShared) tile[threadIdx.x] = at[k + threadIdx.x], __syncthreads();
    for (int j = 0; j < 256; ++j) add(kShared ? tile[j] : at[k + j]);
    if (kShared) __syncthreads();
  }
  pull[Id()] = {x, y, z, 0};
}
template <typename T>
__global__ void Mandelbrot(int* out, int width) {
  const T cx = T(-2.2) + T(3.0) * (blockIdx.x * 16 + threadIdx.x) / width,
          cy = T(-1.5) + T(3.0) * (blockIdx.y * 16 + threadIdx.y) / width;
  T x = 0, y = 0;
  int k = 0;
  for (; k < 64 && x * x + y * y < T(4); ++k) {
    const T t = x * x - y * y + cx;
    y = 2 * x * y + cy, x = t;
  }
  out[(blockIdx.y * 16 + threadIdx.y) * width + blockIdx.x * 16 + threadIdx.x] = k;
}
// CUDA samples: a binomial tree of prices, one option per block; 8 x 8 cosine transforms; a window that slides along
// rows or columns; a sum whose last block adds the blocks' sums; a scan by shuffles; quasi-random numbers by xor.
__global__ void Binomial(const float* strike, float* value) {
  __shared__ float v[257];
  const int i = threadIdx.x;
  const float s = 30 * __expf(0.02f * (2 * i - 255)), k = strike[blockIdx.x] * 40;
  v[i] = fmaxf(s - k, 0);
  if (i == 0) v[256] = 0;
  for (int step = 255; step > 0; --step) {
    __syncthreads();
    const float next = 0.499f * v[i + 1] + 0.5f * v[i];
    __syncthreads();
    if (i < step) v[i] = next;
  }
  if (i == 0) value[blockIdx.x] = v[0];
}
__global__ void Cosines(const float* a, float* b, int n) {
  __shared__ float s[8][9], t[8][9];
  const int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * n + blockIdx.x * 8 + x;
  s[y][x] = a[at];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += s[y][k] * weights[(x * (2 * k + 1)) & 15];
  t[y][x] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += t[k][x] * weights[(y * (2 * k + 1)) & 15];
  b[at] = sum;
}
template <bool kColumns>
__global__ void Window(const float* a, float* b, int n) {
  const int t = Id(), step = kColumns ? n : 1, start = kColumns ? t : t * n;
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += a[start + k * step] - (k >= 8 ? a[start + (k - 8) * step] : 0);
    b[start + k * step] = sum;
  }
}
__device__ unsigned ticket;
__global__ void SumAtOnce(const float* a, float* parts, int n) {
  float sum = 0;
  for (int i = Id(); i < n; i += gridDim.x * blockDim.x) sum += a[i];
  __shared__ float s[8];
  __shared__ bool last;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int k = 1; k < 8; ++k) sum += s[k];
    parts[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    for (int k = 1; k < gridDim.x; ++k) sum += parts[k];
    parts[gridDim.x] = sum;
  }
}
__global__ void WarpScan(const int* a, int* b) {
  __shared__ int s[8];
  const int lane = threadIdx.x % 32;
  int x = a[Id()];
  for (int d = 1; d < 32; d *= 2) {
    const int y = __shfl_up_sync(~0u, x, d);
    x += lane >= d ? y : 0;
  }
  if (lane == 31) s[threadIdx.x / 32] = x;
  __syncthreads();
  for (int k = 0; k < threadIdx.x / 32; ++k) x += s[k];
  b[Id()] = x;
}
__global__ void Quasirandom(const unsigned* direction, float* out, int n) {
  for (unsigned i = Id(); i < n; i += gridDim.x * blockDim.x) {
    unsigned x = 0;
    for (int bit = 0; bit < 20; ++bit) x ^= (i >> bit) & 1 ? direction[bit] : 0;
    out[i] = x * 2.3283064e-10f;
  }
}

// SHOC: a triad; forces from lists of 32 neighbours, stored atom by atom or place by place; sparse products, a thread
// or a warp per row; 512-point transforms; counts of digits; a sum of doubles; exponentials of reaction rates.
template <typename T>
__global__ void Triad(const T* a, const T* b, T* c, float s) {
  if constexpr (sizeof(T) == 4) {
    c[Id()] = a[Id()] + s * b[Id()];
  } else {
    const T x = a[Id()], y = b[Id()];
    c[Id()] = {x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w};
  }
}
template <bool kTransposed>
__global__ void Molecules(const float4* at, const int* list, float4* force, int n) {
  const float4 me = at[Id()];
  float x = 0, y = 0, z = 0;
  for (int k = 0; k < 32; ++k) {
    const float4 it = at[list[kTransposed ? k * n + Id() : Id() * 32 + k]];
    const float dx = me.x - it.x, dy = me.y - it.y, dz = me.z - it.z, r2 = 1 / (dx * dx + dy * dy + dz * dz + 0.1f);
    const float r6 = r2 * r2 * r2, f = r2 * r6 * (1.5f * r6 - 2.0f);
    x += dx * f, y += dy * f, z += dz * f;
  }
  force[Id()] = {x, y, z, 0};
}
template <bool kWarp>
__global__ void Sparse(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
  const int row = kWarp ? Id() / 32 : Id(), lane = kWarp ? threadIdx.x % 32 : 0;
  if (row >= rows) return;
  float sum = 0;
  for (int k = start[row] + lane; k < start[row + 1]; k += kWarp ? 32 : 1) sum += value[k] * x[column[k]];
  if (kWarp) {
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  }
  if (lane == 0) y[row] = sum;
}
__global__ void Transform(float2* data) {
  __shared__ float2 s[512];
  float2* const mine = data + blockIdx.x * 512;
  s[threadIdx.x] = mine[threadIdx.x], s[threadIdx.x + 256] = mine[threadIdx.x + 256];
  for (int half = 256; half > 0; half /= 2) {
    __syncthreads();
    const int k = threadIdx.x & (half - 1), at = 2 * threadIdx.x - k;
    const float2 a = s[at], b = s[at + half], d = {a.x - b.x, a.y - b.y};
    float sine, cosine;
    __sincosf(-3.14159265f * k / half, &sine, &cosine);
    s[at] = {a.x + b.x, a.y + b.y}, s[at + half] = {d.x * cosine - d.y * sine, d.x * sine + d.y * cosine};
  }
  __syncthreads();
  mine[threadIdx.x] = s[threadIdx.x], mine[threadIdx.x + 256] = s[threadIdx.x + 256];
}
__global__ void Digits(const unsigned* keys, unsigned* counts, int n, int shift) {
  __shared__ unsigned s[16 * 256];
  for (int d = 0; d < 16; ++d) s[d * 256 + threadIdx.x] = 0;
  for (int i = Id(); i < n; i += gridDim.x * blockDim.x) ++s[(keys[i] >> shift & 15) * 256 + threadIdx.x];
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    for (int k = threadIdx.x; k < 16 * half; k += 256)
      s[k / half * 256 + k % half] += s[k / half * 256 + k % half + half];
  }
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = s[threadIdx.x * 256];
}
__global__ void DoubleSum(const double* a, double* out, int n) {
  __shared__ double s[256];
  double sum = 0;
  for (int i = Id(); i < n; i += 2 * gridDim.x * blockDim.x) sum += a[i] + a[i + gridDim.x * blockDim.x];
  s[threadIdx.x] = sum;
  for (int d = 128; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
__global__ void Chemistry(const float* temperature, float* rate, int n) {
  const float t = temperature[Id()] * 1000 + 300, l = logf(t), inverse = 1 / t;
#pragma unroll
  for (int k = 0; k < 12; ++k) rate[k * n + Id()] = expf(10 + k - 0.1f * k * l - (300.0f + 17 * k) * inverse);
}

// Proxies: cross sections looked up at energies in random or sorted order; complex poles; application of a mass matrix
// with a tensor product, from global or shared memory; fourth-order waves, one thread per cell or per column; photons,
// those of a warp with different numbers of steps or with the same; charge added to cells, particles in random or
// sorted order; 3 x 3 complex matrices, stored together or apart; a hydrodynamic step in double precision.
__global__ void Lookup(const float* grid, const float* table, const float* energy, float* out, int n) {
  const float e = energy[Id()];
  int low = 0;
  for (int step = n / 2; step > 0; step /= 2) low += grid[low + step] <= e ? step : 0;
  const float f = (e - grid[low]) / (grid[low + 1] - grid[low]);
  float sum = 0;
  for (int k = 0; k < 5; ++k) sum += table[low * 5 + k] * (1 - f) + table[low * 5 + 5 + k] * f;
  out[Id()] = sum;
}
__global__ void Poles(const double2* pole, const float* energy, double* out) {
  const double e = energy[Id()];
  double re = 0, im = 0;
  for (int k = 0; k < 24; ++k) {
    const double a = pole[k].x - e, b = pole[k].y, inverse = 1 / (a * a + b * b + 0.1);
    re += a * inverse, im -= b * inverse;
  }
  out[Id()] = re + im;
}
template <bool kShared>
__global__ void Mass(const float* basis, const float* u, float* v, float* scratch) {
  __shared__ float own[2][512];
  const int t = threadIdx.x, x = t % 8, y = t / 8 % 8, z = t / 64, base = blockIdx.x * 512;
  float* const from = kShared ? own[0] : scratch + 2 * base;
  float* const to = kShared ? own[1] : scratch + 2 * base + 512;
  from[t] = u[base + t];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += basis[x * 8 + k] * from[z * 64 + y * 8 + k];
  to[t] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += basis[y * 8 + k] * to[z * 64 + k * 8 + x];
  from[t] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < 8; ++k) sum += basis[z * 8 + k] * from[k * 64 + y * 8 + x];
  v[base + t] = sum;
}
__device__ float Wave(const float* u, int at, int n, float below2, float below, float c, float above, float above2) {
  const int plane = n * n;
  (void)plane;
  const float x = u[at - 2] + u[at + 2] - 16 * (u[at - 1] + u[at + 1]) + 30 * c;
  const float y = u[at - 2 * n] + u[at + 2 * n] - 16 * (u[at - n] + u[at + n]) + 30 * c;
  return c - 0.01f * (x + y + below2 + above2 - 16 * (below + above) + 30 * c);
}
template <bool kColumn>
__global__ void Waves(const float* u, float* v, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, plane = n * n;
  if (x < 2 || y < 2 || x >= n - 2 || y >= n - 2) return;
  if constexpr (kColumn) {
    const int base = y * n + x;
    float a = u[base], b = u[base + plane], c = u[base + 2 * plane], d = u[base + 3 * plane];
    for (int z = 2; z < n - 2; ++z) {
      const float e = u[base + (z + 2) * plane];
      v[base + z * plane] = Wave(u, base + z * plane, n, a, b, c, d, e);
      a = b, b = c, c = d, d = e;
    }
  } else {
    const int z = blockIdx.z + 2, at = z * plane + y * n + x;
    v[at] = Wave(u, at, n, u[at - 2 * plane], u[at - plane], u[at], u[at + plane], u[at + 2 * plane]);
  }
}
__global__ void Photons(const unsigned* seeds, float* out) {
  unsigned state = seeds[Id()];
  float weight = 1, depth = 0;
  int hits = 0;
  const int limit = 4 + (state >> 27) * 2;
  for (; hits < limit; ++hits) {
    state = state * 1664525u + 1013904223u;
    depth -= __logf((state >> 8) * 5.9604645e-8f + 1e-7f);
    if (state & 0x80000000u)
      weight *= 0.9f;
    else
      depth *= 0.7f;
  }
  out[Id()] = weight + depth;
}
__global__ void Deposit(const float* at, float* cells, int n) {
  const float x = at[Id()] * (n - 2);
  const int cell = static_cast<int>(x);
  const float f = x - cell;
  atomicAdd(&cells[cell], 1 - f), atomicAdd(&cells[cell + 1], f);
}
template <bool kApart>
__global__ void Links(const float2* a, const float2* b, float2* c, int n) {
  const int i = Id();
  const auto at = [&](int e) { return kApart ? e * n + i : i * 9 + e; };
  for (int r = 0; r < 3; ++r) {
    for (int s = 0; s < 3; ++s) {
      float2 sum{};
      for (int k = 0; k < 3; ++k) {
        const float2 x = a[at(3 * r + k)], y = b[at(3 * k + s)];
        sum.x += x.x * y.x - x.y * y.y, sum.y += x.x * y.y + x.y * y.x;
      }
      c[at(3 * r + s)] = sum;
    }
  }
}
__global__ void Hydro(const double* density, const double* energy, const double* speed, double* pressure, double* work,
                      int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, at = y * n + x;
  if (x >= n - 1 || y >= n - 1) return;
  const double p = 0.4 * density[at] * energy[at], flux = speed[at] + speed[at + 1] + speed[at + n] + speed[at + n + 1];
  pressure[at] = p;
  work[at] = energy[at] - flux * p / (density[at] + 1.0);
}

void AddHeldOut(const std::string& name, std::function<void(const Memory&)> launch) { Add(name, kHeldOut, launch); }

// Both versions of a kernel.
#define PAIR(name, before, after, ...)                                      \
  AddHeldOut(name ": before", [](const Memory& m) { before __VA_ARGS__; }); \
  AddHeldOut(name ": after", [](const Memory& m) { after __VA_ARGS__; })
#define ONE(name, ...) AddHeldOut(name, [](const Memory& m) { __VA_ARGS__; })

int* Edges(unsigned nodes, bool near) {
  return Filled<int>(6 * nodes, [=](unsigned k) { return (near ? k / 6 + Mixed(k) % 64 : Mixed(k)) % nodes; });
}
float* Energies(bool sorted) {
  return Filled<float>(kMillion, [=](unsigned k) { return sorted ? k / 1048577.0f : Unit(k); });
}

const Registration registration([] {
  constexpr dim3 k16(16, 16), k32(32, 8);
  PAIR("heat", Heat<false>, Heat<true>, <<<dim3(64, 64), k16>>>(m.in, m.in + kMillion, m.out, 1024));
  for (const bool near : {false, true}) {
    AddHeldOut(near ? "breadth-first: after" : "breadth-first: before", [near](const Memory& m) {
      static int* edges[2];
      static int* const level = Filled<int>(kMillion, [](unsigned k) { return Mixed(k + 99) % 3 == 0 ? 4 : -1; });
      if (edges[near] == nullptr) edges[near] = Edges(kMillion, near);
      Level<<<kMillion / 256, 256>>>(edges[near], level, m.Out<int>(), 4, kMillion);
    });
    AddHeldOut(near ? "lookup: after" : "lookup: before", [near](const Memory& m) {
      static float* energy[2];
      static float* const grid = Filled<float>(kMillion + 1, [](unsigned k) { return k / 1048576.0f; });
      if (energy[near] == nullptr) energy[near] = Energies(near);
      Lookup<<<kMillion / 2048, 256>>>(grid, m.in, energy[near], m.out, kMillion);
    });
    AddHeldOut(near ? "deposit: after" : "deposit: before", [near](const Memory& m) {
      static float* at[2];
      if (at[near] == nullptr) at[near] = Energies(near);
      Deposit<<<kMillion / 256, 256>>>(at[near], m.out, 65536);
    });
    AddHeldOut(near ? "photons: after" : "photons: before", [near](const Memory& m) {
      static unsigned* seeds[2];
      if (seeds[near] == nullptr)
        seeds[near] = Filled<unsigned>(kMillion, [=](unsigned k) { return near ? k * 4096u : Mixed(k); });
      Photons<<<kMillion / 256, 256>>>(seeds[near], m.out);
    });
  }
  PAIR("nearest center", Nearest<false>, Nearest<true>,
       <<<1024, 256>>>(m.in, m.in + 16 * kMillion, m.Out<int>(), 262144));
  PAIR("elimination", Eliminate<false>, Eliminate<true>, <<<dim3(32, 128), k32>>>(m.out, m.in, 1024, 7));
  static const auto boxes = [] { return Filled<int>(2048, [](unsigned k) { return Mixed(k) % 512; }); };
  PAIR("boxes", static int* const b = boxes(); Boxes<false>, static int* const b = boxes();
       Boxes<true>, <<<512, 128>>>(m.In<float4>(), b, m.Out<float4>()));
  static const auto cells = [] {
    return Filled<int>(4 * 262144, [](unsigned k) { return (k % 262144 + Mixed(k) % 512) % 262144; });
  };
  PAIR("fluxes", static int* const c = cells(); Flux<false>, static int* const c = cells();
       Flux<true>, <<<1024, 256>>>(m.in, c, m.out, 262144));
  static const auto sums = [] { return Filled<float>(1024, [](unsigned k) { return (k + 1) / 1024.0f; }); };
  static const auto units = [] { return Filled<float>(kMillion, Unit); };
  PAIR("index", static float* const s = sums(); static float* const u = units();
       FindIndex<false>, static float* const s = sums(); static float* const u = units();
       FindIndex<true>, <<<512, 256>>>(s, u, m.Out<int>()));
  ONE("path", Path<<<4370, 256>>>(m.In<int>(), m.In<int>() + 16 * kMillion, m.Out<int>(), kMillion));
  AddHeldOut("matrix-vector: before",
             [](const Memory& m) { RowSums<false><<<32, 128>>>(m.in, m.in + 16 * kMillion, m.out, 4096); });
  AddHeldOut("matrix-vector: after",
             [](const Memory& m) { RowSums<true><<<512, 256>>>(m.in, m.in + 16 * kMillion, m.out, 4096); });
  ONE("transposed matrix-vector", ColumnSums<<<32, 128>>>(m.in, m.in + 16 * kMillion, m.out, 4096));
  PAIR("rank update", RankUpdate<false>, RankUpdate<true>, <<<dim3(32, 32), k16>>>(m.in, m.out, 512, 256));
  AddHeldOut("product: before",
             [](const Memory& m) { Product<<<dim3(20, 80), k32>>>(m.in, m.in + kMillion, m.out, 640); });
  AddHeldOut("product: after",
             [](const Memory& m) { ProductOfBlocks<<<dim3(10, 10), 256>>>(m.in, m.in + kMillion, m.out, 640); });
  ONE("means", Means<<<64, 64>>>(m.in, m.out, 2048, 4096));
  PAIR("convolution", Convolve<false>, Convolve<true>, <<<dim3(64, 256), k32>>>(m.in, m.out, 2048));
  PAIR("sweep", Sweep<false>, Sweep<true>, <<<16, 128>>>(m.in, m.out, 2048));
  ONE("fields", Fields<<<dim3(64, 256), k32>>>(m.in, m.in + 4 * kMillion, m.out, 2048));
  ONE("orthogonal", Orthogonal<<<8, 256>>>(m.out, m.in, m.in + 4 * kMillion, 1024, 2048, 3));
  PAIR("dot", Dot<false>, Dot<true>, <<<1024, 256>>>(m.in, m.in + 4 * kMillion, m.out, 4 * kMillion));
  static const auto words = [] { return Filled<unsigned>(kMillion, [](unsigned k) { return Mixed(k); }); };
  PAIR("bytes", static unsigned* const w = words(); Bytes<false>, static unsigned* const w = words();
       Bytes<true>, <<<264, 256>>>(w, m.Out<unsigned>(), kMillion));
  PAIR("row filter", RowFilter<false>, RowFilter<true>, <<<dim3(8, 1024), 256>>>(m.in, m.out, 2048));
  PAIR("options", static float* const u = units(); Options<false>, static float* const u = units();
       Options<true>, <<<4096, 256>>>(u, u, u, m.out));
  ONE("bitonic sort", Bitonic<<<512, 512>>>(m.Out<unsigned>()));
  ONE("Walsh transform", Walsh<<<1024, 256>>>(m.out));
  PAIR("bodies", Bodies<false>, Bodies<true>, <<<32, 256>>>(m.In<float4>(), m.Out<float4>(), 8192));
  PAIR("Mandelbrot", Mandelbrot<double>, Mandelbrot<float>, <<<dim3(64, 64), k16>>>(m.Out<int>(), 1024));
  ONE("binomial options", Binomial<<<512, 256>>>(m.in, m.out));
  ONE("cosines", Cosines<<<dim3(128, 128), dim3(8, 8)>>>(m.in, m.out, 1024));
  PAIR("window", Window<false>, Window<true>, <<<16, 128>>>(m.in, m.out, 2048));
  ONE("sum at once", SumAtOnce<<<264, 256>>>(m.in, m.out, 8 * kMillion));
  ONE("scan by shuffles", WarpScan<<<8192, 256>>>(m.In<int>(), m.Out<int>()));
  ONE("quasirandom", Quasirandom<<<264, 256>>>(m.In<unsigned>(), m.out, kMillion));
  AddHeldOut("triad: before",
             [](const Memory& m) { Triad<float><<<32768, 256>>>(m.in, m.in + 8 * kMillion, m.out, 3); });
  AddHeldOut("triad: after", [](const Memory& m) {
    Triad<float4><<<8192, 256>>>(m.In<float4>(), m.In<float4>() + 2 * kMillion, m.Out<float4>(), 3);
  });
  static const auto lists = [] { return Filled<int>(32 * 65536, [](unsigned k) { return Mixed(k) % 65536; }); };
  PAIR("molecules", static int* const l = lists(); Molecules<false>, static int* const l = lists();
       Molecules<true>, <<<512, 128>>>(m.In<float4>(), l, m.Out<float4>(), 65536));
  static int *starts, *columns;
  static const auto matrix = [] {
    if (starts != nullptr) return;
    starts = Filled<int>(65537, [](unsigned k) { return 48 * k; });
    columns = Filled<int>(48 * 65536, [](unsigned k) { return Mixed(k) % 65536; });
  };
  AddHeldOut("sparse product: before", [](const Memory& m) {
    matrix(), Sparse<false><<<512, 128>>>(starts, columns, m.in, m.in + 8 * kMillion, m.out, 65536);
  });
  AddHeldOut("sparse product: after", [](const Memory& m) {
    matrix(), Sparse<true><<<16384, 128>>>(starts, columns, m.in, m.in + 8 * kMillion, m.out, 65536);
  });
  ONE("transform of 512", Transform<<<2048, 256>>>(m.Out<float2>()));
  ONE("digits", static unsigned* const w = words(); Digits<<<256, 256>>>(w, m.Out<unsigned>(), kMillion, 8));
  ONE("double sum", DoubleSum<<<264, 256>>>(m.In<double>(), m.Out<double>(), 4 * kMillion / 67584 / 2 * 67584 * 2));
  ONE("chemistry", static float* const u = units(); Chemistry<<<2048, 256>>>(u, m.out, kMillion));
  ONE("poles", static float* const u = units(); Poles<<<1024, 256>>>(m.In<double2>(), u, m.Out<double>()));
  PAIR("mass matrix", Mass<false>, Mass<true>, <<<1024, 512>>>(m.in, m.in + kMillion, m.out, m.out + 16 * kMillion));
  AddHeldOut("waves: before", [](const Memory& m) { Waves<false><<<dim3(6, 24, 188), k32>>>(m.in, m.out, 192); });
  AddHeldOut("waves: after", [](const Memory& m) { Waves<true><<<dim3(6, 24), k32>>>(m.in, m.out, 192); });
  PAIR("links", Links<false>, Links<true>,
       <<<1024, 256>>>(m.In<float2>(), m.In<float2>() + 9 * 262144, m.Out<float2>(), 262144));
  ONE("hydrodynamics",
      Hydro<<<dim3(32, 128), k32>>>(m.In<double>(), m.In<double>() + kMillion, m.In<double>() + 2 * kMillion,
                                    m.Out<double>(), m.Out<double>() + kMillion, 1024));
});

}  // namespace
}  // namespace gpu_cases
