// points: 100 + 10
// Half of a block's warps load tiles, the other half store them: two buffers pass between them, full and empty, with
// numbered barriers. Rung 5 keeps copies in flight by cp.async in PTX.
#include <cstdint>

#include "transpose.h"

namespace {

template <int kThreads>
__device__ __forceinline__ void Meet(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}
template <int kThreads>
__device__ __forceinline__ void Arrive(int barrier) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "n"(kThreads) : "memory");
}

struct Matrix {
  const float* in;
  float* out;
  unsigned width, height, across, tiles;
};

// Blocks of 32 × 8 threads, each of which moves one element.
__global__ void Naive(Matrix m) {
  const unsigned across = (m.width + 31) / 32;
  const unsigned x = blockIdx.x % across * 32 + threadIdx.x, y = blockIdx.x / across * 8 + threadIdx.y;
  if (x < m.width && y < m.height) m.out[size_t{x} * m.height + y] = m.in[size_t{y} * m.width + x];
}

template <int kPitch, int kRows>
struct Tile {
  float words[32][kPitch];

  __device__ void Load(const Matrix& m, unsigned tile, unsigned lane, unsigned row) {
    const unsigned x = tile % m.across * 32 + lane, y = tile / m.across * 32 + row;
    const float* from = m.in + size_t{y} * m.width + x;
    if (x < m.width && tile / m.across * 32 + 32 <= m.height) {
#pragma unroll
      for (unsigned r = 0; r < 32; r += kRows) words[row + r][lane] = from[size_t{r} * m.width];
    } else if (x < m.width) {
      for (unsigned r = 0; r < 32 && y + r < m.height; r += kRows) words[row + r][lane] = from[size_t{r} * m.width];
    }
  }
  __device__ void Store(const Matrix& m, unsigned tile, unsigned lane, unsigned row) const {
    const unsigned x = tile / m.across * 32 + lane, y = tile % m.across * 32 + row;
    float* to = m.out + size_t{y} * m.height + x;
    if (x < m.height && tile % m.across * 32 + 32 <= m.width) {
#pragma unroll
      for (unsigned r = 0; r < 32; r += kRows) to[size_t{r} * m.height] = words[lane][row + r];
    } else if (x < m.height) {
      for (unsigned r = 0; r < 32 && y + r < m.width; r += kRows) to[size_t{r} * m.height] = words[lane][row + r];
    }
  }
};

// Barriers 1 and 2: buffer 0 or 1 is full; 3 and 4: it is empty.
template <int kPitch, int kRows>
__global__ void __launch_bounds__(64 * kRows) Roles(Matrix m) {
  __shared__ Tile<kPitch, kRows> s_tiles[2];
  constexpr int kAll = 64 * kRows;
  const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 % kRows;
  const bool loads = threadIdx.x < 32 * kRows;
  int buffer = 0;
  unsigned round = 0;
  for (unsigned tile = blockIdx.x; tile < m.tiles; tile += gridDim.x, buffer ^= 1, ++round) {
    if (loads) {
      if (round >= 2) Meet<kAll>(3 + buffer);
      s_tiles[buffer].Load(m, tile, lane, row);
      Arrive<kAll>(1 + buffer);
    } else {
      Meet<kAll>(1 + buffer);
      s_tiles[buffer].Store(m, tile, lane, row);
      if (tile + 2 * gridDim.x < m.tiles) Arrive<kAll>(3 + buffer);
    }
  }
}

__device__ __forceinline__ void CopyFour(void* to, const void* from, unsigned bytes) {
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
}

// 64 × 64 elements: chunk c of row r lies at c ^ r / 4 % 16. Both sides are multiples of 4.
__global__ void __launch_bounds__(256) Wide(Matrix m) {
  __shared__ float4 s_chunks[64][16];
  const unsigned x0 = blockIdx.x % m.across * 64, y0 = blockIdx.x / m.across * 64;
  const unsigned c = threadIdx.x % 16, r0 = threadIdx.x / 16;
  for (unsigned r = r0; r < 64; r += 16) {
    const bool there = x0 + 4 * c < m.width && y0 + r < m.height;
    CopyFour(&s_chunks[r][c ^ (r / 4 % 16)], there ? m.in + size_t{y0 + r} * m.width + x0 + 4 * c : m.in,
             there ? 16 : 0);
  }
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  const unsigned out_chunk = c;  // rows 4 c to 4 c + 3 of the tile become a chunk of d_out
  float4 rows[4];
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) rows[k] = s_chunks[4 * out_chunk + k][r0 ^ out_chunk];
  const unsigned x = y0 + 4 * out_chunk, y = x0 + 4 * r0;
  if (x >= m.height || y >= m.width) return;
  float* const to = m.out + size_t{y} * m.height + x;
  asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(rows[0].x), "f"(rows[1].x), "f"(rows[2].x),
               "f"(rows[3].x)
               : "memory");
  asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to + m.height), "f"(rows[0].y), "f"(rows[1].y),
               "f"(rows[2].y), "f"(rows[3].y)
               : "memory");
  __stwt(reinterpret_cast<float4*>(to + 2 * size_t{m.height}), make_float4(rows[0].z, rows[1].z, rows[2].z, rows[3].z));
  *reinterpret_cast<float4*>(to + 3 * size_t{m.height}) = make_float4(rows[0].w, rows[1].w, rows[2].w, rows[3].w);
}

Matrix Of(const float* in, float* out, unsigned width, unsigned height, unsigned side) {
  const unsigned across = (width + side - 1) / side;
  return {in, out, width, height, across, across * ((height + side - 1) / side)};
}

template <int kPitch, int kRows>
void ByRoles(const float* in, float* out, unsigned width, unsigned height) {
  const Matrix m = Of(in, out, width, height, 32);
  if (m.tiles == 0) return;
  int processors = 0, blocks = 0;
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Roles<kPitch, kRows>, 64 * kRows, 0);
  blocks *= processors;
  const unsigned most = static_cast<unsigned>(blocks), grid = m.tiles > most ? most : m.tiles;
  Roles<kPitch, kRows><<<grid, 64 * kRows>>>(m);
}

}  // namespace

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  Naive<<<(width + 31) / 32 * ((height + 7) / 8), dim3(32, 8)>>>({d_in, d_out, width, height, 0, 0});
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  ByRoles<32, 16>(d_in, d_out, width, height);
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  ByRoles<33, 16>(d_in, d_out, width, height);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  ByRoles<33, 4>(d_in, d_out, width, height);
}
void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const auto bits = reinterpret_cast<uintptr_t>(d_in) | reinterpret_cast<uintptr_t>(d_out);
  if (bits % 16 != 0 || width % 4 != 0 || height % 4 != 0) {
    ByRoles<33, 4>(d_in, d_out, width, height);
    return;
  }
  const Matrix m = Of(d_in, d_out, width, height, 64);
  if (m.tiles != 0) Wide<<<m.tiles, 256>>>(m);
}
