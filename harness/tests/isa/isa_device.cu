// Arithmetic as nvcc compiles it, library functions included: one kernel a group, one result array an expression.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

extern "C" __global__ void integer_kernel(const int32_t* a, const int32_t* b, uint32_t* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int32_t x = a[i], y = b[i];
  const uint32_t u = static_cast<uint32_t>(x), v = static_cast<uint32_t>(y);
  const auto put = [&](int row, uint32_t value) { out[row * n + i] = value; };
  put(0, u * v + 7u);
  put(1, static_cast<uint32_t>(x / (y | 1)));
  put(2, static_cast<uint32_t>(x % (y | 1)));
  put(3, u / (v | 1u));
  put(4, u % (v | 1u));
  put(5, __umulhi(u, v));
  put(6, static_cast<uint32_t>(__mulhi(x, y)));
  put(7, static_cast<uint32_t>(__popc(u) + 100 * __clz(x) + 10000 * __ffs(x)));
  put(8, __brev(u) ^ __byte_perm(u, v, 0x5140));
  put(9, __funnelshift_l(u, v, v & 63));
  put(10, static_cast<uint32_t>(max(x, y) - min(x, y)));
  put(11, (u << (v & 31)) | (v >> (u & 31)));
  put(12, static_cast<uint32_t>((static_cast<int64_t>(x) * y) >> 17));
  put(13, static_cast<uint32_t>((static_cast<int64_t>(x) << 20) / (y | 1)));
  put(14, static_cast<uint32_t>((static_cast<uint64_t>(u) << 32 | v) % 1000003u));
  const __int128 wide = static_cast<__int128>(static_cast<int64_t>(x) << 30) * (static_cast<int64_t>(y) << 29);
  put(15, static_cast<uint32_t>(wide >> 64));
  put(16, static_cast<uint32_t>(static_cast<int8_t>(x)) + static_cast<uint16_t>(y));
  put(17, x > y && u < v ? 1u : x == y || (u & 1) != 0 ? 2u : 3u);
}

extern "C" __global__ void float_kernel(const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i];
  const auto put = [&](int row, float value) { out[row * n + i] = value; };
  put(0, sinf(x));
  put(1, cosf(x));
  put(2, expf(x));
  put(3, logf(fabsf(x)));
  put(4, sqrtf(fabsf(x)));
  put(5, powf(fabsf(x), 1.7f));
  put(6, tanhf(x));
  put(7, 1.0f / x);
  put(8, floorf(x) + ceilf(x) * 2 + rintf(x) * 4 + truncf(x) * 8);
  put(9, atan2f(x, 2.0f));
  put(10, erff(x));
  put(11, cbrtf(x));
}

extern "C" __global__ void double_kernel(const float* a, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = a[i];
  const auto put = [&](int row, double value) { out[row * n + i] = value; };
  put(0, sin(x));
  put(1, exp(x));
  put(2, log(fabs(x)));
  put(3, pow(fabs(x), 1.7));
  put(4, sqrt(fabs(x)));
  put(5, 1.0 / x);
  put(6, rsqrt(fabs(x)));
  put(7, tgamma(fabs(x)));
}

extern "C" __global__ void half_kernel(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half x = __float2half(a[i]), y = __float2half(b[i]);
  const __half2 pair = __hfma2(__halves2half2(x, y), __halves2half2(y, x), __halves2half2(x, x));
  const auto put = [&](int row, float value) { out[row * n + i] = value; };
  put(0, __half2float(__hadd(x, y)));
  put(1, __half2float(__hmul(x, y)));
  put(2, __low2float(pair));
  put(3, __high2float(pair));
  put(4, __hlt(x, y) ? 1.0f : 0.0f);
  put(5, __bfloat162float(__float2bfloat16(a[i])));
}
