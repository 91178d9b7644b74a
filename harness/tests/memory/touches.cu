// Every form of access to global memory; each takes a different path through the virtual GPU.
#include <cuda_pipeline.h>

#include <cstdint>

extern "C" __global__ void touches(const int* in, int* out, int form) {
  __shared__ __align__(16) int s_part[256 * 4];
  const int t = static_cast<int>(threadIdx.x), i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  switch (form) {
    case 0:  // side by side
      out[i] = in[i];
      break;
    case 1:  // side by side, not aligned
      out[i + 3] = in[i + 5];
      break;
    case 2:  // some lanes in a row
      if (t % 32 >= 7 && t % 32 < 20) out[i] = in[i];
      break;
    case 3:  // lanes with gaps
      if (t % 3 != 1) out[i] = in[i];
      break;
    case 4:  // a stride
      out[i * 9] = in[i * 17];
      break;
    case 5:  // half-warps side by side, in separate rows
      out[t % 16 + i / 16 * 100] = in[t % 16 + i / 16 * 72];
      break;
    case 6:  // half-warps that all want one element
      out[i / 16 * 40] = in[i / 16 * 24];
      break;
    case 7:  // vectors
      reinterpret_cast<int4*>(out)[i] = reinterpret_cast<const int4*>(in)[i + 1];
      break;
    case 8:  // bytes
      reinterpret_cast<uint8_t*>(out)[i] = reinterpret_cast<const uint8_t*>(in)[i * 5];
      break;
    case 9:  // atomics
      atomicAdd(&out[in[i] & 1023], 1);
      break;
    case 10:  // an address that may be shared or global
      *(t < 100 ? &out[i] : &s_part[t]) = in[i ^ 21];
      break;
    case 11:  // asynchronous copies
      __pipeline_memcpy_async(&s_part[4 * t], &in[4 * (i + 2)], 16);
      __pipeline_commit();
      __pipeline_wait_prior(0);
      out[i * 2] = s_part[4 * t];
      break;
  }
}
