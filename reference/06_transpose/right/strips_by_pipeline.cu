// points: 100 + 10
// Blocks go down a column of tiles; while one tile is stored the next one comes by cuda::memcpy_async, in a pipeline of
// two stages. Rung 1's threads find their element by one division.
#include <algorithm>
#include <cuda/pipeline>

#include "transpose.h"

namespace {

struct Job {
  const float* in;
  float* out;
  unsigned width, height;

  unsigned columns() const { return (width + kTile - 1) / kTile; }
  unsigned rows() const { return static_cast<unsigned>((size_t{height} + kTile - 1) / kTile); }
  bool nothing() const { return width == 0 || height == 0; }
};

__global__ void one_each(Job job) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= job.width * job.height) return;
  const unsigned y = i / job.width, x = i - y * job.width;
  job.out[x * job.height + y] = job.in[i];
}

// A block's strip: tiles first, first + step, first + 2 step … of one column of tiles.
template <unsigned kPitch, unsigned kRows>
__global__ void __launch_bounds__(kTile* kRows) strips(Job job, unsigned columns, unsigned rows) {
  __shared__ float s_tile[2][kTile * kPitch];
  auto pipe = cuda::make_pipeline();
  const unsigned column = blockIdx.x % columns, first = blockIdx.x / columns, step = gridDim.x / columns;
  const unsigned x = column * kTile + threadIdx.x;
  const auto bring = [&](unsigned row, float* s) {
    pipe.producer_acquire();
    if (row < rows && x < job.width) {
      unsigned y = row * kTile + threadIdx.y;
      const float* from = job.in + (y * job.width + x);
      s += threadIdx.y * kPitch + threadIdx.x;
#pragma unroll
      for (unsigned k = 0; k < kTile; k += kRows) {
        if (y + k < job.height) cuda::memcpy_async(s + k * kPitch, from + k * job.width, sizeof(float), pipe);
      }
    }
    pipe.producer_commit();
  };
  unsigned stage = 0;
  bring(first, s_tile[0]);
  for (unsigned row = first; row < rows; row += step, stage ^= 1) {
    bring(row + step, s_tile[stage ^ 1]);
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    __syncthreads();
    const unsigned u = row * kTile + threadIdx.x, v = column * kTile + threadIdx.y;
    float* to = job.out + (v * job.height + u);
    const float* s = s_tile[stage] + threadIdx.x * kPitch + threadIdx.y;
    if (u < job.height) {
#pragma unroll
      for (unsigned k = 0; k < kTile; k += kRows) {
        if (v + k < job.width) to[k * job.height] = s[k];
      }
    }
    pipe.consumer_release();
    __syncthreads();
  }
}

// A warp has 32 × 32 elements and waits for no other: four loads of eight rows each, four stores of eight columns. Lane
// 8 q + p loads the float4 of column 4 p in row 4 k + q; float (r, c) is at r * 32 + (c ^ r).
__global__ void __launch_bounds__(128) warps(Job job, unsigned columns, unsigned tiles) {
  __shared__ float s_all[4][kTile * kTile];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, tile = blockIdx.x * 4 + warp;
  if (tile >= tiles) return;
  float* s = s_all[warp];
  const unsigned x0 = tile % columns * kTile, y0 = tile / columns * kTile, p = lane % 8 * 4, q = lane / 8;
  const bool wide = job.width % 4 == 0 && job.height % 4 == 0 && reinterpret_cast<size_t>(job.in) % 16 == 0 &&
                    reinterpret_cast<size_t>(job.out) % 16 == 0;
  if (wide) {
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      const unsigned r = 4 * k + q;
      if (x0 + p >= job.width || y0 + r >= job.height) continue;
      const float4 f = *reinterpret_cast<const float4*>(job.in + ((y0 + r) * job.width + x0 + p));
      s[r * kTile + (p ^ r)] = f.x;
      s[r * kTile + ((p + 1) ^ r)] = f.y;
      s[r * kTile + ((p + 2) ^ r)] = f.z;
      s[r * kTile + ((p + 3) ^ r)] = f.w;
    }
    __syncwarp();
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      const unsigned c = 4 * k + q;
      if (y0 + p >= job.height || x0 + c >= job.width) continue;
      const float4 f = make_float4(s[p * kTile + (c ^ p)], s[(p + 1) * kTile + (c ^ (p + 1))],
                                   s[(p + 2) * kTile + (c ^ (p + 2))], s[(p + 3) * kTile + (c ^ (p + 3))]);
      *reinterpret_cast<float4*>(job.out + ((x0 + c) * job.height + y0 + p)) = f;
    }
    return;
  }
  for (unsigned r = 0; r < kTile && y0 + r < job.height; ++r) {
    if (x0 + lane < job.width) s[r * kTile + (lane ^ r)] = job.in[(y0 + r) * job.width + x0 + lane];
  }
  __syncwarp();
  for (unsigned c = 0; c < kTile && x0 + c < job.width; ++c) {
    if (y0 + lane < job.height) job.out[(x0 + c) * job.height + y0 + lane] = s[lane * kTile + (c ^ lane)];
  }
}

template <unsigned kPitch, unsigned kRows>
void go_down(const Job& job) {
  if (job.nothing()) return;
  const unsigned columns = job.columns(), rows = job.rows();
  const unsigned strips_a_column = std::max(1u, (rows + 1) / 2);
  strips<kPitch, kRows><<<columns * strips_a_column, dim3(kTile, kRows)>>>(job, columns, rows);
}

}  // namespace

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const Job job{d_in, d_out, width, height};
  if (!job.nothing()) one_each<<<(width * height + 255) / 256, 256>>>(job);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  go_down<kTile, kTileRows>({d_in, d_out, width, height});
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  go_down<kTile + 1, kTileRows>({d_in, d_out, width, height});
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  go_down<kTile + 1, kFewRows>({d_in, d_out, width, height});
}
void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const Job job{d_in, d_out, width, height};
  if (job.nothing()) return;
  const unsigned tiles = job.columns() * job.rows();
  warps<<<(tiles + 3) / 4, 128>>>(job, job.columns(), tiles);
}
