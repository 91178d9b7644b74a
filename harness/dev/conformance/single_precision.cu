// Single-precision functions, fast ones and those of half precision: hashes of results over operands of all magnitudes.
#define CONFORMANCE_CLASS "math"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "ask.h"

// clang-format off
#define ONE(F)                                                                                                         \
  F(sinf)                                                                                                              \
  F(cosf) F(tanf) F(asinf) F(acosf) F(atanf) F(sinhf) F(coshf) F(tanhf) F(asinhf) F(acoshf) F(atanhf) F(expf) F(exp2f) \
      F(exp10f) F(expm1f) F(logf) F(log2f) F(log10f) F(log1pf) F(sqrtf) F(rsqrtf) F(cbrtf) F(rcbrtf) F(erff) F(erfcf)  \
          F(erfinvf) F(erfcinvf) F(erfcxf) F(normcdff) F(normcdfinvf) F(tgammaf) F(lgammaf) F(j0f) F(j1f) F(y0f)       \
              F(y1f) F(sinpif) F(cospif) F(cyl_bessel_i0f) F(cyl_bessel_i1f) F(logbf) F(roundf) F(rintf) F(truncf)     \
                  F(floorf) F(ceilf) F(__sinf) F(__cosf) F(__tanf) F(__expf) F(__exp10f) F(__logf) F(__log2f)          \
                      F(__log10f) F(__frcp_rn) F(__frcp_ru) F(__frsqrt_rn) F(__fsqrt_rn) F(__fsqrt_rd) F(__saturatef)  \
                          F(tanh_fast)
#define TWO(F)                                                                                                \
  F(powf)                                                                                                     \
  F(atan2f) F(hypotf) F(rhypotf) F(fmodf) F(remainderf) F(fdimf) F(fmaxf) F(fminf) F(nextafterf) F(copysignf) \
      F(__powf) F(__fdividef) F(fdividef) F(__fdiv_rn) F(__fdiv_ru) F(divide_full)
#define HALF(F)                                                                                                        \
  F(hexp)                                                                                                              \
  F(hexp2) F(hexp10) F(hlog) F(hlog2) F(hlog10) F(hsin) F(hcos) F(hsqrt) F(hrsqrt) F(hrcp) F(hceil) F(hfloor) F(hrint) \
      F(htrunc) F(htanh) F(htanh_approx)
// clang-format on

__device__ float tanh_fast(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ float divide_full(float x, float y) {
  float z;
  asm("div.full.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
  return z;
}

__device__ unsigned Mixed(unsigned h) {
  h *= 0x85ebca6bu;
  h ^= h >> 15;
  h *= 0xc2b2ae35u;
  return h ^ h >> 13;
}
// All NaNs count as one.
__device__ unsigned Bits(float x) { return x == x ? __float_as_uint(x) : 0x7fffffffu; }
__device__ unsigned Bits(__half x) { return __hisnan(x) ? 0x7fffu : __half_as_ushort(x); }
__device__ unsigned Bits(__nv_bfloat16 x) { return __hisnan(x) ? 0x7fffu : __bfloat16_as_ushort(x); }

// kSmall: numbers from -16 to 16; else all encodings.
template <bool kSmall>
__device__ float Operand(unsigned i) {
  const unsigned bits = Mixed(i + 77u);
  return kSmall ? (static_cast<int>(bits) >> 8) * 0x1p-19f : __uint_as_float(bits);
}

#define KERNEL(f)                                                         \
  template <bool kSmall>                                                  \
  __global__ void One_##f(unsigned* sum) {                                \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;             \
    atomicAdd(sum, Mixed(Bits(f(Operand<kSmall>(i))) ^ i * 0x9e3779b1u)); \
  }
ONE(KERNEL)
#define KERNEL2(f)                                                                                          \
  template <bool kSmall>                                                                                    \
  __global__ void Two_##f(unsigned* sum) {                                                                  \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                               \
    atomicAdd(sum, Mixed(Bits(f(Operand<kSmall>(i), Operand<kSmall>(i ^ 0x5a5a5a5au))) ^ i * 0x9e3779b1u)); \
  }
TWO(KERNEL2)
#define KERNELH(f)                                                             \
  __global__ void Half_##f(unsigned* sum) {                                    \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                  \
    atomicAdd(sum, Mixed(Bits(f(__ushort_as_half(i))) ^ i * 0x9e3779b1u));     \
  }                                                                            \
  __global__ void Bfloat_##f(unsigned* sum) {                                  \
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                  \
    atomicAdd(sum, Mixed(Bits(f(__ushort_as_bfloat16(i))) ^ i * 0x9e3779b1u)); \
  }
HALF(KERNELH)

void Ask(const std::string& name, void (*kernel)(unsigned*)) {
  static unsigned* sum = nullptr;
  if (sum == nullptr) cudaMallocManaged(&sum, 4);
  *sum = 0;
  kernel<<<256, 256>>>(sum);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) return Say(name, error);
  Say(name, F("%08x", *sum));
}

void AddCases(Cases& cases) {
#define CASE(f) cases(#f, [] { Start(), Ask("all", One_##f<false>), Ask("small", One_##f<true>); });
  ONE(CASE)
#define CASE2(f) cases(#f, [] { Start(), Ask("all", Two_##f<false>), Ask("small", Two_##f<true>); });
  TWO(CASE2)
#define CASEH(f) cases("half_" #f, [] { Start(), Ask("half", Half_##f), Ask("bfloat", Bfloat_##f); });
  HALF(CASEH)
}
