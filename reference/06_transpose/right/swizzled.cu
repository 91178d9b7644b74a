// points: 100 + 10
// Tiles without padding: word c of row r lies in column c ^ r, so that a row and a column both meet all banks. The same
// kernel does rungs 3 and 4; a struct with the tile's place is passed from function to function.
#include "transpose.h"

struct Matrix {
  unsigned width, height;
  __host__ __device__ unsigned tilesAcross() const { return width / kTile + (width % kTile ? 1 : 0); }
  __host__ __device__ unsigned tilesDown() const { return height / kTile + (height % kTile ? 1 : 0); }
  __host__ __device__ unsigned tiles() const { return tilesAcross() * tilesDown(); }
  __host__ __device__ bool empty() const { return width == 0 || height == 0; }
};

struct Corner {
  unsigned x, y;
  bool inside;  // the whole tile
};

__device__ Corner cornerOf(const Matrix& m) {
  const unsigned across = m.tilesAcross();
  Corner c;
  c.y = blockIdx.x / across;
  c.x = (blockIdx.x - c.y * across) * kTile;
  c.y *= kTile;
  c.inside = c.x + kTile <= m.width && c.y + kTile <= m.height;
  return c;
}

__global__ void oneEach(const float* in, float* out, Matrix m) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m.width * m.height) return;
  // Neighbouring threads write neighbours, and read a column.
  const unsigned row = i / m.height, column = i % m.height;
  out[i] = in[column * m.width + row];
}

__global__ void plainTile(const float* in, float* out, Matrix m) {
  __shared__ float tile[kTile * kTile];
  const Corner c = cornerOf(m);
  for (unsigned i = threadIdx.y * kTile + threadIdx.x; i < kTile * kTile; i += kTile * kTileRows) {
    const unsigned x = c.x + i % kTile, y = c.y + i / kTile;
    if (x < m.width && y < m.height) tile[i] = in[y * m.width + x];
  }
  __syncthreads();
  for (unsigned i = threadIdx.y * kTile + threadIdx.x; i < kTile * kTile; i += kTile * kTileRows) {
    const unsigned x = c.y + i % kTile, y = c.x + i / kTile;
    if (x < m.height && y < m.width) out[y * m.height + x] = tile[i % kTile * kTile + i / kTile];
  }
}

template <unsigned kRows>
__global__ void swizzledTile(const float* in, float* out, Matrix m) {
  __shared__ float tile[kTile][kTile];
  const Corner c = cornerOf(m);
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  in += (c.y + ty) * m.width + c.x + tx;
  out += (c.x + ty) * m.height + c.y + tx;
#pragma unroll
  for (unsigned r = 0; r < kTile; r += kRows) {
    if (c.inside || (c.x + tx < m.width && c.y + ty + r < m.height)) tile[ty + r][tx ^ (ty + r)] = in[r * m.width];
  }
  __syncthreads();
#pragma unroll
  for (unsigned r = 0; r < kTile; r += kRows) {
    if (c.inside || (c.y + tx < m.height && c.x + ty + r < m.width)) out[r * m.height] = tile[tx][(ty + r) ^ tx];
  }
}

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const Matrix m{width, height};
  if (!m.empty()) oneEach<<<(width * height + 127) / 128, 128>>>(d_in, d_out, m);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const Matrix m{width, height};
  if (!m.empty()) plainTile<<<m.tiles(), dim3(kTile, kTileRows)>>>(d_in, d_out, m);
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const Matrix m{width, height};
  if (!m.empty()) swizzledTile<kTileRows><<<m.tiles(), dim3(kTile, kTileRows)>>>(d_in, d_out, m);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const Matrix m{width, height};
  if (!m.empty()) swizzledTile<4><<<m.tiles(), dim3(kTile, 4)>>>(d_in, d_out, m);
}

// Rung 5 needs no shared memory: a thread loads a square of 4 x 4 by four requests, turns it in registers, and stores
// it by four.
__global__ void squares(const float* in, float* out, Matrix m) {
  const unsigned across = m.width / 4, i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned down = m.height / 4;
  if (i >= across * down) return;
  // Neighbouring threads go down a column of squares: eight 16-byte stores fill four whole sectors of a row of d_out.
  const unsigned x = i / down * 4, y = i % down * 4;
  float4 row[4];
  for (int k = 0; k < 4; ++k) row[k] = *reinterpret_cast<const float4*>(in + (y + k) * m.width + x);
  float4* to = reinterpret_cast<float4*>(out + x * m.height + y);
  to[0] = make_float4(row[0].x, row[1].x, row[2].x, row[3].x);
  to[down] = make_float4(row[0].y, row[1].y, row[2].y, row[3].y);
  to[2 * down] = make_float4(row[0].z, row[1].z, row[2].z, row[3].z);
  to[3 * down] = make_float4(row[0].w, row[1].w, row[2].w, row[3].w);
}

void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const Matrix m{width, height};
  if (m.empty()) return;
  const unsigned long long bits = (unsigned long long)d_in | (unsigned long long)d_out | 4 * width | 4 * height;
  if (bits & 15) {
    swizzledTile<8><<<m.tiles(), dim3(kTile, 8)>>>(d_in, d_out, m);
  } else {
    squares<<<(width * height / 16 + 255) / 256, 256>>>(d_in, d_out, m);
  }
}
