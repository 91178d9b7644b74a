// points: 100 + 10
// Elements are moved as unsigned words: nothing is computed with them. Blocks are numbered along the diagonals of the
// matrix of tiles, as one did against partition camping. Tiles are 32 wide and 64 high from rung 4 on.
#include "transpose.h"

typedef unsigned int word;

// Which tile a block has: block b of `down * across` is in row b % down, and as many tiles to the right of the diagonal
// as it has been round.
struct Tile {
  unsigned x, y;
  __device__ Tile(unsigned across, unsigned down) {
    y = blockIdx.x % down;
    x = (blockIdx.x / down + y) % across;
  }
};

static __host__ __device__ unsigned pieces(unsigned n, unsigned size) { return (n + size - 1) / size; }

__global__ void move_one(const word* from, word* to, unsigned width, unsigned height) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < width * height; i += gridDim.x * blockDim.x) {
    const uint2 place = make_uint2(i % width, i / width);
    to[place.x * height + place.y] = from[i];
  }
}

template <unsigned kPitch>
__global__ void move_tile(const word* from, word* to, unsigned width, unsigned height) {
  __shared__ word s_word[32 * kPitch];
  const Tile tile(pieces(width, 32), pieces(height, 32));
  const unsigned x = 32 * tile.x + threadIdx.x, y = 32 * tile.y + threadIdx.y;
  if (x < width && y < height) s_word[threadIdx.y * kPitch + threadIdx.x] = from[y * width + x];
  __syncthreads();
  const unsigned u = 32 * tile.y + threadIdx.x, v = 32 * tile.x + threadIdx.y;
  if (u < height && v < width) to[v * height + u] = s_word[threadIdx.x * kPitch + threadIdx.y];
}

// A tile of 32 x 64 words, by blocks of 32 x 8 threads: eight words a thread, all of them loaded before one is stored.
__global__ void move_tall(const word* __restrict__ from, word* __restrict__ to, unsigned width, unsigned height) {
  __shared__ word s_word[64][33];
  const Tile tile(pieces(width, 32), pieces(height, 64));
  const unsigned x = 32 * tile.x + threadIdx.x, y = 64 * tile.y + threadIdx.y;
  const word* source = from + y * width + x;
  if (32 * tile.x + 32 <= width && 64 * tile.y + 64 <= height) {
    word w[8];
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) w[k] = source[8 * k * width];
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) s_word[threadIdx.y + 8 * k][threadIdx.x] = w[k];
    __syncthreads();
    word* target = to + (32 * tile.x + threadIdx.y) * height + 64 * tile.y + threadIdx.x;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k, target += 8 * height) {
      target[0] = s_word[threadIdx.x][threadIdx.y + 8 * k];
      target[32] = s_word[threadIdx.x + 32][threadIdx.y + 8 * k];
    }
    return;
  }
  for (unsigned k = 0; k < 64; k += 8) {
    if (x < width && y + k < height) s_word[threadIdx.y + k][threadIdx.x] = source[k * width];
  }
  __syncthreads();
  for (unsigned k = 0; k < 32; k += 8) {
    const unsigned v = 32 * tile.x + threadIdx.y + k;
    for (unsigned u = threadIdx.x; u < 64 && v < width; u += 32) {
      if (64 * tile.y + u < height) to[v * height + 64 * tile.y + u] = s_word[u][threadIdx.y + k];
    }
  }
}

// Requests of 16 bytes, whose words go to shared memory one by one, with a word of padding for each row.
__global__ void move_fours(const uint4* from, uint4* to, unsigned width, unsigned height) {
  __shared__ word s_word[32][33];
  const Tile tile(pieces(width, 32), pieces(height, 32));
  const unsigned four = threadIdx.x & 7, row = threadIdx.x >> 3;
  if (32 * tile.x + 4 * four < width && 32 * tile.y + row < height) {
    const uint4 w = from[(32 * tile.y + row) * (width >> 2) + 8 * tile.x + four];
    word* place = &s_word[row][4 * four];
    place[0] = w.x, place[1] = w.y, place[2] = w.z, place[3] = w.w;
  }
  __syncthreads();
  if (32 * tile.y + 4 * four < height && 32 * tile.x + row < width) {
    uint4 w;
    w.x = s_word[4 * four][row];
    w.y = s_word[4 * four + 1][row];
    w.z = s_word[4 * four + 2][row];
    w.w = s_word[4 * four + 3][row];
    to[(32 * tile.x + row) * (height >> 2) + 8 * tile.y + four] = w;
  }
}

static const word* words(const float* d) { return reinterpret_cast<const word*>(d); }
static word* words(float* d) { return reinterpret_cast<word*>(d); }

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  move_one<<<1024, 64>>>(words(d_in), words(d_out), width, height);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned blocks = pieces(width, 32) * pieces(height, 32);
  if (blocks != 0) move_tile<32><<<blocks, dim3(32, 32)>>>(words(d_in), words(d_out), width, height);
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned blocks = pieces(width, 32) * pieces(height, 32);
  if (blocks != 0) move_tile<33><<<blocks, dim3(32, 32)>>>(words(d_in), words(d_out), width, height);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned blocks = pieces(width, 32) * pieces(height, 64);
  if (blocks != 0) move_tall<<<blocks, dim3(32, 8)>>>(words(d_in), words(d_out), width, height);
}
void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const bool fours = width % 4 == 0 && height % 4 == 0 && reinterpret_cast<size_t>(d_in) % 16 == 0 &&
                     reinterpret_cast<size_t>(d_out) % 16 == 0;
  if (!fours) return transpose4_rows(d_in, d_out, width, height);
  const unsigned blocks = pieces(width, 32) * pieces(height, 32);
  if (blocks == 0) return;
  move_fours<<<blocks, 256>>>(reinterpret_cast<const uint4*>(d_in), reinterpret_cast<uint4*>(d_out), width, height);
}
